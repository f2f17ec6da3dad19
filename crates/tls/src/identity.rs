//! The identity of a real server: its certificates and private key, read from PEM or generated.

use crate::error::Error;
use crate::library::Credentials;
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::ParsedCertificate;
use std::fmt;
use std::time::Duration;

/// The validity of a generated certificate. Browsers that trust a key by its hash reject certificates valid for more
/// than two weeks (W3C WebTransport section 6.9); one day of that is left for clocks that are behind.
const VALIDITY: Duration = Duration::from_secs(13 * 24 * 3600);
/// The tolerated lag of other clocks.
const CLOCK_SKEW: Duration = Duration::from_secs(12 * 3600);

/// The longest chain accepted, in certificates.
const MAX_CHAIN: usize = 16;

/// A server's certificates and its private key.
#[derive(PartialEq, Eq)]
pub struct Identity {
    /// The server's own certificate first.
    certificates: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    /// SubjectPublicKeyInfo of the server's own certificate (RFC 5280 section 4.1.2.7).
    public_key: Vec<u8>,
}

impl Identity {
    /// Reads PEM (RFC 7468): the chain, with the server's own certificate first, and its key in PKCS #8, PKCS #1 or
    /// SEC 1. Other sections are skipped, so both may be in one file.
    ///
    /// # Errors
    /// [`Error::Certificate`], [`Error::Key`]. Whether certificate and key match is checked by
    /// [`Context::real`](crate::Context::real).
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Identity, Error> {
        let mut certificates = Vec::new();
        for certificate in CertificateDer::pem_slice_iter(chain) {
            certificates.push(certificate.map_err(|error| Error::Certificate(error.to_string()))?);
            if certificates.len() > MAX_CHAIN {
                return Err(Error::Certificate(format!("more than {MAX_CHAIN} certificates")));
            }
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| Error::Key(error.to_string()))?;
        Identity::new(certificates, key)
    }

    /// Generates an ECDSA P-256 key, which every browser supports, and a self-signed certificate for these host names
    /// or IP addresses. It is valid from half a day before `date` (time since 1970) until 13 days later. The key is
    /// drawn from the operating system.
    ///
    /// # Errors
    /// [`Error::ServerName`] for an invalid name.
    pub fn self_signed(names: &[String], date: Duration) -> Result<Identity, Error> {
        let library = |error: rcgen::Error| Error::Library(error.to_string());
        let mut params = CertificateParams::new(names).map_err(|_| Error::ServerName(names.join(", ")))?;
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "quiclab");
        let begin = date.saturating_sub(CLOCK_SKEW);
        params.not_before = rcgen::date_time_ymd(1970, 1, 1) + begin;
        params.not_after = params.not_before + VALIDITY;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let pair = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).map_err(library)?;
        let certificate = params.self_signed(&pair).map_err(library)?;
        let key = PrivatePkcs8KeyDer::from(pair.serialize_der());
        Identity::new(vec![certificate.der().clone()], key.into())
    }

    fn new(
        certificates: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Identity, Error> {
        let first =
            certificates.first().ok_or_else(|| Error::Certificate("no certificate found".to_owned()))?;
        let public_key = public_key(first).map_err(|error| Error::Certificate(error.to_string()))?;
        Ok(Identity { certificates, key, public_key })
    }

    /// The credentials in the library's types.
    pub(crate) fn credentials(&self) -> Credentials {
        Credentials { certificates: self.certificates.clone(), key: self.key.clone_key() }
    }

    /// SHA-256 of the server's own certificate in DER.
    pub fn fingerprint(&self) -> [u8; 32] {
        self.certificates.first().map(|first| sha256(first)).unwrap_or_default()
    }

    /// SHA-256 of the public key in the server's own certificate: of its SubjectPublicKeyInfo in DER (RFC 7469
    /// section 2.4).
    pub fn key_fingerprint(&self) -> [u8; 32] {
        sha256(&self.public_key)
    }

    /// The chain in PEM, for clients that should trust it.
    pub fn to_pem(&self) -> String {
        let pem = |der: &CertificateDer<'_>| {
            let text = base64(der);
            let lines: Vec<&str> =
                (0..text.len()).step_by(64).map(|at| &text[at..text.len().min(at + 64)]).collect();
            format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
        };
        self.certificates.iter().map(pem).collect()
    }
}

impl fmt::Debug for Identity {
    /// Omits the private key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("certificates", &self.certificates.len()).finish_non_exhaustive()
    }
}

/// SubjectPublicKeyInfo in DER.
pub(crate) fn public_key(certificate: &CertificateDer<'_>) -> Result<Vec<u8>, rustls::Error> {
    Ok(ParsedCertificate::try_from(certificate)?.subject_public_key_info().to_vec())
}

/// SHA-256 (FIPS 180-4).
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(ring::digest::digest(&ring::digest::SHA256, bytes).as_ref());
    out
}

/// Base 64 with padding (RFC 4648 section 4).
pub fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().enumerate().fold(0, |all, (i, byte)| all | u32::from(*byte) << (16 - 8 * i));
        for i in 0..4 {
            let letter = ALPHABET[(group >> (18 - 6 * i)) as usize & 63];
            text.push(if i <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-01.
    const DATE: Duration = Duration::from_secs(1_767_225_600);

    fn identity() -> Identity {
        Identity::self_signed(&["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()], DATE)
            .unwrap()
    }
    fn key_pem(identity: &Identity) -> String {
        let text = base64(identity.key.secret_der());
        format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n")
    }

    /// The examples of RFC 4648 section 10.
    #[test]
    fn base64_of_the_rfc() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn pem_round_trips_even_from_one_file() {
        let made = identity();
        let both = key_pem(&made) + &made.to_pem();
        let read = Identity::from_pem(both.as_bytes(), both.as_bytes()).unwrap();
        assert_eq!(read, made);
        assert_eq!(
            (read.fingerprint(), read.key_fingerprint()),
            (made.fingerprint(), made.key_fingerprint())
        );
        assert_ne!(made.fingerprint(), made.key_fingerprint());
    }

    #[test]
    fn errors_name_the_invalid_part_of_an_identity() {
        let made = identity();
        let (chain, key) = (made.to_pem(), key_pem(&made));
        let read = |chain: &str, key: &str| Identity::from_pem(chain.as_bytes(), key.as_bytes()).unwrap_err();
        assert!(matches!(read("", &key), Error::Certificate(_)));
        assert!(matches!(read(&key, &key), Error::Certificate(_)));
        assert!(matches!(read(&chain, &chain), Error::Key(_)));
        assert!(matches!(read(&chain.replace('M', "!"), &key), Error::Certificate(_)));
        assert!(matches!(read(&chain.repeat(MAX_CHAIN + 1), &key), Error::Certificate(_)));
        let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(matches!(read(garbage, &key), Error::Certificate(_)));
        let names = ["not a name".to_owned(), "\u{e9}".to_owned()];
        assert!(matches!(Identity::self_signed(&names, DATE), Err(Error::ServerName(_))));
    }

    #[test]
    fn debug_omits_the_private_key() {
        assert_eq!(format!("{:?}", identity()), "Identity { certificates: 1, .. }");
    }
}
