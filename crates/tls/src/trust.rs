//! Which servers a client trusts.

use crate::error::Error;
use crate::identity::{base64, public_key, sha256};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, OtherError, RootCertStore, SignatureScheme};
use std::fmt;
use std::sync::Arc;

/// The servers that a client trusts.
#[derive(Debug, Clone)]
pub enum Trust {
    /// A server with a valid certificate for the host name from one of these authorities (RFC 5280, RFC 9525).
    Roots(Vec<CertificateDer<'static>>),
    /// A server with the key of the certificate or public key (SubjectPublicKeyInfo) that has this SHA-256. Name and
    /// dates are not checked.
    Pin([u8; 32]),
    /// Any server, including an attacker on the path.
    Anyone,
}

impl Trust {
    /// Reads the authorities of a PEM file; sections that are not certificates are skipped.
    ///
    /// # Errors
    /// [`Error::Certificate`] if there is none, or one cannot be read.
    pub fn from_pem(pem: &[u8]) -> Result<Trust, Error> {
        let roots: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let roots = roots.map_err(|error| Error::Certificate(error.to_string()))?;
        if roots.is_empty() {
            return Err(Error::Certificate("no certificate found".to_owned()));
        }
        Ok(Trust::Roots(roots))
    }

    /// The verifier for rustls.
    pub(crate) fn verifier(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<dyn ServerCertVerifier>, Error> {
        let pin = match self {
            Trust::Roots(roots) => {
                let mut trusted = RootCertStore::empty();
                let (added, _) = trusted.add_parsable_certificates(roots.iter().cloned());
                if added == 0 {
                    return Err(Error::Certificate("no trusted authority found".to_owned()));
                }
                let builder =
                    WebPkiServerVerifier::builder_with_provider(Arc::new(trusted), provider.clone());
                return match builder.build() {
                    Ok(verifier) => Ok(verifier),
                    Err(error) => Err(Error::Library(error.to_string())),
                };
            }
            Trust::Pin(pin) => Some(*pin),
            Trust::Anyone => None,
        };
        Ok(Arc::new(KeyVerifier { pin, provider: provider.clone() }))
    }
}

/// Trusts the holder of one key, or of any key.
#[derive(Debug)]
struct KeyVerifier {
    pin: Option<[u8; 32]>,
    provider: Arc<CryptoProvider>,
}

/// The server's key is not the pinned one.
#[derive(Debug)]
struct Mismatch {
    certificate: [u8; 32],
    key: [u8; 32],
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hexadecimal = |hash: [u8; 32]| hash.map(|byte| format!("{byte:02x}")).concat();
        write!(
            f,
            "pin mismatch: got the certificate {} with the public key {}",
            hexadecimal(self.certificate),
            base64(&self.key)
        )
    }
}
impl std::error::Error for Mismatch {}

impl ServerCertVerifier for KeyVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(expected) = self.pin {
            let hash = sha256(certificate);
            // A pinned certificate need not be parseable.
            if hash != expected {
                let key = sha256(&public_key(certificate)?);
                if key != expected {
                    let mismatch = Mismatch { certificate: hash, key };
                    return Err(CertificateError::Other(OtherError(Arc::new(mismatch))).into());
                }
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    /// RFC 9001 section 4.2: QUIC has no TLS 1.2.
    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("TLS 1.2".to_owned()))
    }

    /// Possession of the key is always checked, because a certificate alone is public.
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pin matches whatever the certificate contains.
    #[test]
    fn a_pinned_certificate_need_not_be_readable() {
        let unreadable = CertificateDer::from(vec![0x30, 3, 1, 2, 3]);
        let verify = |pin| {
            let known =
                KeyVerifier { pin: Some(pin), provider: Arc::new(rustls::crypto::ring::default_provider()) };
            let name = ServerName::try_from("localhost").unwrap();
            let now = UnixTime::since_unix_epoch(std::time::Duration::ZERO);
            known.verify_server_cert(&unreadable, &[], &name, &[], now).map(|_| ())
        };
        assert_eq!(verify(sha256(&unreadable)), Ok(()));
        assert!(verify([0; 32]).is_err());
    }
}
