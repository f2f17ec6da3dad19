//! The server's certificates, derived from the seed and padded to an exact size.

use crate::error::Error;
use random::Generator;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CustomExtension, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose, SerialNumber, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// The longest chain in bytes: rustls gives the length of the Certificate message around it 16 bits.
pub const LARGEST_CHAIN: u64 = 64_000;

/// An unknown, non-critical extension, which every reader ignores (RFC 5280 section 4.2). The number is below the
/// enterprise that RFC 5612 reserves for examples.
const PADDING: &[u64] = &[1, 3, 6, 1, 4, 1, 32473, 1];

/// Serial numbers have at most 20 bytes (RFC 5280 section 4.1.2.2). Their length makes the fine adjustment of the
/// size, because padding alone skips a size wherever a length field grows.
const SERIAL: std::ops::RangeInclusive<usize> = 6..=20;

/// Ed25519 private key, PKCS #8 (RFC 8410 section 7), in front of its 32 bytes.
const PKCS8_ED25519: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// The certificates that a server sends and a client trusts.
#[derive(Debug)]
pub(crate) struct Chain {
    /// The server's own certificate, followed by the authority's.
    pub(crate) certificates: Vec<CertificateDer<'static>>,
    /// The server's private key.
    pub(crate) key: PrivateKeyDer<'static>,
}

impl Chain {
    /// Creates a chain for `server_name` whose DER encodings have `size` bytes in total.
    ///
    /// All keys are Ed25519: its signatures have a fixed size and need no random numbers, unlike those of ECDSA.
    pub(crate) fn new(server_name: &str, size: u64, seed: u64) -> Result<Chain, Error> {
        if size > LARGEST_CHAIN {
            return Err(Error::ChainTooLarge { wanted: size, largest: LARGEST_CHAIN });
        }
        let authority_key = key(seed, "tls authority key")?;
        let authority_params = authority(seed);
        let authority = authority_params.self_signed(&authority_key.pair).map_err(library)?;
        let server_key = key(seed, "tls server key")?;
        let issuer = Issuer::from_params(&authority_params, &authority_key.pair);
        let mut serial = [0; 20];
        Generator::new(seed, "tls server serial").fill(&mut serial);
        let builder = CertificateBuilder { server_name, serial, issuer, key: &server_key.pair };
        let taken = authority.der().len();
        let server = builder.with_size(size as usize, taken)?;
        let certificates = vec![server.der().clone(), authority.der().clone()];
        Ok(Chain { certificates, key: server_key.der })
    }

    /// The certificate that clients trust.
    pub(crate) fn authority(&self) -> CertificateDer<'static> {
        self.certificates[self.certificates.len() - 1].clone()
    }
}

/// Builds the server's certificate in any size.
struct CertificateBuilder<'a> {
    server_name: &'a str,
    serial: [u8; 20],
    issuer: Issuer<'a, &'a KeyPair>,
    key: &'a KeyPair,
}

impl CertificateBuilder<'_> {
    /// Builds a certificate such that the chain has `size` bytes, of which others take up `taken`.
    fn with_size(&self, size: usize, taken: usize) -> Result<Certificate, Error> {
        let smallest = taken + self.make(*SERIAL.start(), 0)?.der().len();
        let Some(wanted) = size.checked_sub(taken).filter(|_| size >= smallest) else {
            return Err(Error::ChainTooSmall { wanted: size as u64, smallest: smallest as u64 });
        };
        for serial in SERIAL {
            // Each step corrects the error of the previous one; several are needed when a length field grew.
            let mut padding = 0;
            for _ in 0..4 {
                let certificate = self.make(serial, padding)?;
                let length = certificate.der().len();
                if length == wanted {
                    return Ok(certificate);
                }
                padding = (padding + wanted).saturating_sub(length);
            }
        }
        Err(Error::Library(format!("no certificate of {wanted} B")))
    }

    fn make(&self, serial: usize, padding: usize) -> Result<Certificate, Error> {
        let mut params = CertificateParams::new([self.server_name.to_owned()])
            .map_err(|_| Error::ServerName(self.server_name.to_owned()))?;
        describe(&mut params, "quiclab server", &self.serial[..serial]);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        params.custom_extensions = vec![CustomExtension::from_oid_content(PADDING, vec![0; padding])];
        params.signed_by(self.key, &self.issuer).map_err(library)
    }
}

/// The authority's parameters.
fn authority(seed: u64) -> CertificateParams {
    let mut serial = [0; 8];
    Generator::new(seed, "tls authority serial").fill(&mut serial);
    let mut params = CertificateParams::default();
    // The name contains the seed, so that a client recognizes another context's authority as untrusted.
    describe(&mut params, &format!("quiclab authority {seed:016x}"), &serial);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params
}

/// Sets what both certificates have: fixed dates (13 bytes each until 2049, RFC 5280 section 4.1.2.5), a name, a
/// serial number.
fn describe(params: &mut CertificateParams, name: &str, serial: &[u8]) {
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2049, 12, 31);
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    // Positive and without a leading zero, so that the encoding always has the same length.
    let mut serial = serial.to_vec();
    serial[0] = serial[0] & 0x7f | 0x40;
    params.serial_number = Some(SerialNumber::from_slice(&serial));
}

struct Key {
    pair: KeyPair,
    der: PrivateKeyDer<'static>,
}

/// The Ed25519 key with this name.
fn key(seed: u64, name: &str) -> Result<Key, Error> {
    let mut secret = [0; 32];
    Generator::new(seed, name).fill(&mut secret);
    let der = PrivatePkcs8KeyDer::from([&PKCS8_ED25519[..], &secret[..]].concat());
    let pair = KeyPair::from_pkcs8_der_and_sign_algo(&der, &rcgen::PKCS_ED25519).map_err(library)?;
    Ok(Key { pair, der: der.into() })
}

fn library(error: rcgen::Error) -> Error {
    Error::Library(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(chain: &Chain) -> u64 {
        chain.certificates.iter().map(|certificate| certificate.len() as u64).sum()
    }
    fn smallest(server_name: &str) -> u64 {
        match Chain::new(server_name, 0, 1).unwrap_err() {
            Error::ChainTooSmall { wanted: 0, smallest } => smallest,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn every_size_is_reached_exactly() {
        let smallest = smallest("server.example");
        assert!(smallest < 1000, "{smallest}");
        // Length fields grow below 300 and a little below 65536, and nowhere in between.
        for wanted in
            (smallest..smallest + 400).chain([2_000, 16_000, 20_000, LARGEST_CHAIN - 1, LARGEST_CHAIN])
        {
            assert_eq!(size(&Chain::new("server.example", wanted, 1).unwrap()), wanted);
        }
        let error = Chain::new("server.example", smallest - 1, 1).unwrap_err();
        assert_eq!(error, Error::ChainTooSmall { wanted: smallest - 1, smallest });
        let error = Chain::new("server.example", LARGEST_CHAIN + 1, 1).unwrap_err();
        assert_eq!(error, Error::ChainTooLarge { wanted: LARGEST_CHAIN + 1, largest: LARGEST_CHAIN });
    }

    #[test]
    fn sizes_do_not_depend_on_the_seed_and_bytes_do() {
        let chains = [1, 2, 3, 1].map(|seed| Chain::new("a.example", 1_500, seed).unwrap());
        for chain in &chains {
            assert_eq!(chain.certificates.each_length(), chains[0].certificates.each_length());
        }
        assert_eq!(chains[0].certificates, chains[3].certificates);
        assert_ne!(chains[0].certificates[0], chains[1].certificates[0]);
        assert_ne!(chains[0].authority(), chains[1].authority());
    }

    trait Lengths {
        fn each_length(&self) -> Vec<usize>;
    }
    impl Lengths for Vec<CertificateDer<'static>> {
        fn each_length(&self) -> Vec<usize> {
            self.iter().map(|certificate| certificate.len()).collect()
        }
    }

    #[test]
    fn long_names_and_addresses_have_certificates() {
        let long = format!("{}.example", ["abcdefghij"; 20].join("."));
        for name in [long.as_str(), "192.0.2.1", "2001:db8::1"] {
            let wanted = smallest(name) + 100;
            assert_eq!(size(&Chain::new(name, wanted, 1).unwrap()), wanted);
        }
    }
}
