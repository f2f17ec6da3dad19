//! Keys derived from a secret of the key log, for tests only: those of an attacker who has obtained it.

use crate::key_log::Secret;
use crate::keys::{DirectionalKeys, Sealer};
use crate::options::Cipher;
use crate::provider::suite;
use rustls::crypto::cipher::{AeadKey, Iv};
use rustls::crypto::tls13::{HkdfExpander, OkmBlock};

impl Secret {
    /// Derives the packet protection of the owner of this traffic secret (RFC 9001 section 5.1) after a number of key
    /// updates (section 6.1): what an attacker with the secret can do.
    ///
    /// `cipher` and `version` (1 or 2) are those of the connection. Returns `None` for AES-128-GCM, because the
    /// library does not import keys of 16 bytes.
    #[doc(hidden)]
    pub fn sealer(&self, cipher: Cipher, version: u32, updates: u32) -> Option<Sealer> {
        let suite = suite(cipher).tls13()?;
        let quic = suite.quic.filter(|quic| quic.aead_key_len() == KEY_LENGTH)?;
        // RFC 9369 section 3.3.2.
        let prefix = if version == 1 { "quic" } else { "quicv2" };
        let first = suite.hkdf_provider.expander_for_okm(&OkmBlock::new(&self.secret));
        let header = expand(&*first, prefix, "hp");
        let mut newest = first;
        for _ in 0..updates {
            let next = expand_label(&*newest, &format!("{prefix} ku"), newest.hash_len());
            newest = suite.hkdf_provider.expander_for_okm(&OkmBlock::new(&next));
        }
        let packet = AeadKey::from(expand::<KEY_LENGTH>(&*newest, prefix, "key"));
        let packet = quic.packet_key(packet, Iv::from(expand::<IV_LENGTH>(&*newest, prefix, "iv")));
        let header = quic.header_protection_key(AeadKey::from(header));
        Some(Sealer::Tls(DirectionalKeys::new(header, packet)))
    }
}

/// Length in bytes of the keys that the library imports.
const KEY_LENGTH: usize = 32;
/// Length in bytes of the initialization vector of every AEAD in TLS 1.3 (RFC 8446 section 5.3).
const IV_LENGTH: usize = 12;

fn expand<const LENGTH: usize>(secret: &dyn HkdfExpander, prefix: &str, what: &str) -> [u8; LENGTH] {
    let mut out = [0; LENGTH];
    out.copy_from_slice(&expand_label(secret, &format!("{prefix} {what}"), LENGTH));
    out
}

/// HKDF-Expand-Label (RFC 8446 section 7.1) with an empty context.
pub(crate) fn expand_label(secret: &dyn HkdfExpander, label: &str, length: usize) -> Vec<u8> {
    let label = [b"tls13 ", label.as_bytes()].concat();
    let info: [&[u8]; 4] = [&(length as u16).to_be_bytes(), &[label.len() as u8], &label, &[0]];
    let mut out = vec![0; length];
    secret.expand_slice(&info, &mut out).expect("a key is far below the limit of HKDF");
    out
}
