//! The cryptography and the clock for rustls, which depend on nothing but the seed.

use crate::key_log::Secret;
use crate::key_share::{X25519, X25519_MLKEM768};
use crate::lent;
use crate::options::{Cipher, KeyShare};
use rustls::crypto::ring::{self, cipher_suite};
use rustls::crypto::{CryptoProvider, GetRandomFailed, SecureRandom, SupportedKxGroup};
use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;
use rustls::{KeyLog, SupportedCipherSuite};

/// ring's cipher suites and signatures (Ed25519 draws nothing, RFC 8032 section 5.1.6) with our own random numbers
/// and key exchanges, because ring draws from the operating system.
pub(crate) fn provider(cipher: Cipher, key_share: KeyShare) -> CryptoProvider {
    let kx_groups: Vec<&'static dyn SupportedKxGroup> = match key_share {
        KeyShare::X25519 => vec![&X25519],
        KeyShare::X25519MlKem768 => vec![&X25519_MLKEM768, &X25519],
    };
    CryptoProvider {
        cipher_suites: ordered_suites(cipher),
        kx_groups,
        secure_random: &SessionRandom,
        ..ring::default_provider()
    }
}

/// All suites in order of preference, the chosen one first.
pub(crate) fn ordered_suites(cipher: Cipher) -> Vec<SupportedCipherSuite> {
    let chosen = suite(cipher);
    let ciphers = [Cipher::Aes128Gcm, Cipher::Aes256Gcm, Cipher::ChaCha20Poly1305];
    let others = ciphers.map(suite).into_iter().filter(|other| *other != chosen);
    std::iter::once(chosen).chain(others).collect()
}

/// The suite of this AEAD.
pub(crate) fn suite(cipher: Cipher) -> SupportedCipherSuite {
    match cipher {
        Cipher::Aes128Gcm => cipher_suite::TLS13_AES_128_GCM_SHA256,
        Cipher::Aes256Gcm => cipher_suite::TLS13_AES_256_GCM_SHA384,
        Cipher::ChaCha20Poly1305 => cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
    }
}

/// Random bytes from the stream of the active session.
#[derive(Debug)]
pub(crate) struct SessionRandom;

impl SecureRandom for SessionRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        if lent::draw(bytes) { Ok(()) } else { Err(GetRandomFailed) }
    }
}

/// The key log of the active session.
#[derive(Debug)]
pub(crate) struct SessionKeyLog;

impl KeyLog for SessionKeyLog {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        if let Ok(client_random) = client_random.try_into() {
            lent::note(Secret { label: label.to_owned(), client_random, secret: secret.to_vec() });
        }
    }
}

/// The date of the active session.
#[derive(Debug)]
pub(crate) struct SessionTime;

impl TimeProvider for SessionTime {
    fn current_time(&self) -> Option<UnixTime> {
        lent::date().map(UnixTime::since_unix_epoch)
    }
}
