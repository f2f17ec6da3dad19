//! The secret of an endpoint and the keys derived from it, for address tokens that only the endpoint can create and
//! read, stateless reset tokens that survive the loss of all other state, and the masking of connection ids.

use crate::siphash::SipKey;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hmac;
use std::sync::OnceLock;

/// Length in bytes of the salt that makes each sealed text different.
const SALT_LENGTH: usize = 16;
/// Length in bytes of the authentication tag of AES-256-GCM.
const TAG_LENGTH: usize = 16;

/// The keys of an endpoint. Endpoints with equal secrets can read each other's tokens, for example after a restart or
/// within a group of servers.
#[derive(Clone)]
pub struct EndpointKey {
    root: hmac::Key,
    // Derived when they are first needed, which most endpoints do not.
    tokens: OnceLock<hmac::Key>,
    resets: OnceLock<hmac::Key>,
    codes: OnceLock<hmac::Key>,
    ids: SipKey,
}

impl EndpointKey {
    /// The number of bytes that sealing adds.
    pub const OVERHEAD: usize = SALT_LENGTH + TAG_LENGTH;

    /// Derives the keys from a secret of 32 bytes, which must stay private.
    pub fn new(secret: &[u8; 32]) -> EndpointKey {
        let root = hmac::Key::new(hmac::HMAC_SHA256, secret);
        let ids = hmac::sign(&root, b"quiclab connection ids");
        let ids = SipKey::new(ids.as_ref().first_chunk().copied().unwrap_or_default());
        let [tokens, resets, codes] = [const { OnceLock::new() }; 3];
        EndpointKey { root, tokens, resets, codes, ids }
    }

    /// A key of this endpoint.
    fn key<'k>(&'k self, key: &'k OnceLock<hmac::Key>, label: &str) -> &'k hmac::Key {
        key.get_or_init(|| {
            let secret = hmac::sign(&self.root, label.as_bytes());
            hmac::Key::new(hmac::HMAC_SHA256, secret.as_ref())
        })
    }

    /// The stateless reset token of a connection id: its HMAC-SHA256 under a key of this endpoint, truncated to 16
    /// bytes (RFC 9000 section 10.3.2).
    pub fn reset_token(&self, id: &[u8]) -> [u8; 16] {
        let key = self.key(&self.resets, "quiclab stateless resets");
        hmac::sign(key, id).as_ref().first_chunk().copied().unwrap_or_default()
    }

    /// The authentication code of a text that others can read: its HMAC-SHA256 under a key of this endpoint.
    pub fn authenticate(&self, text: &[u8]) -> [u8; 32] {
        let key = self.key(&self.codes, "quiclab authentication codes");
        hmac::sign(key, text).as_ref().first_chunk().copied().unwrap_or_default()
    }

    /// The key that masks the contents of connection ids.
    pub fn ids(&self) -> SipKey {
        self.ids
    }

    /// Seals a text, so that only holders of the secret can read it or create one that [`open`](EndpointKey::open)
    /// accepts.
    ///
    /// Uses AES-256-GCM with a fresh key per text: the HMAC-SHA256 of `salt`, 16 random bytes that are never reused.
    /// `context` is authenticated but not part of the result; `open` needs the same one.
    pub fn seal(&self, salt: [u8; SALT_LENGTH], context: &[u8], text: &[u8]) -> Vec<u8> {
        let mut sealed = Vec::with_capacity(text.len() + EndpointKey::OVERHEAD);
        sealed.extend_from_slice(&salt);
        sealed.extend_from_slice(text);
        let tag = self.key_of(&salt).seal_in_place_separate_tag(
            nonce(),
            Aad::from(context),
            &mut sealed[SALT_LENGTH..],
        );
        sealed.extend_from_slice(tag.expect("a token is far below the limit of the AEAD").as_ref());
        sealed
    }

    /// Opens a text sealed with this secret and context; `None` for anything else.
    pub fn open(&self, context: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (salt, rest) = sealed.split_first_chunk::<SALT_LENGTH>()?;
        let mut rest = rest.to_vec();
        let text = self.key_of(salt).open_in_place(nonce(), Aad::from(context), &mut rest).ok()?;
        Some(text.to_vec())
    }

    fn key_of(&self, salt: &[u8; SALT_LENGTH]) -> LessSafeKey {
        let key = hmac::sign(self.key(&self.tokens, "quiclab address tokens"), salt);
        LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key.as_ref()).expect("a key of 32 bytes"))
    }
}

/// A fixed nonce, because each key seals only one text.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

impl std::fmt::Debug for EndpointKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EndpointKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> EndpointKey {
        EndpointKey::new(&[byte; 32])
    }

    #[test]
    fn only_the_same_secret_and_context_open() {
        let sealed = key(1).seal([7; 16], b"10.0.0.1", b"text");
        assert_eq!(sealed.len(), 4 + EndpointKey::OVERHEAD);
        assert_eq!(key(1).open(b"10.0.0.1", &sealed).as_deref(), Some(&b"text"[..]));
        assert_eq!(key(1).open(b"10.0.0.2", &sealed), None);
        assert_eq!(key(2).open(b"10.0.0.1", &sealed), None);
        assert!(!sealed.windows(4).any(|part| part == b"text"), "hidden");
        assert_ne!(key(1).seal([8; 16], b"10.0.0.1", b"text")[16..], sealed[16..]);
    }

    #[test]
    fn every_changed_or_missing_byte_is_detected() {
        let sealed = key(1).seal([7; 16], b"", b"text");
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(key(1).open(b"", &changed), None, "{at}");
            assert_eq!(key(1).open(b"", &sealed[..at]), None, "{at}");
        }
    }

    #[test]
    fn reset_tokens_depend_on_id_and_secret() {
        let token = key(1).reset_token(&[1; 8]);
        assert_eq!(token, key(1).reset_token(&[1; 8]));
        assert_ne!(token, key(1).reset_token(&[2; 8]));
        assert_ne!(token, key(2).reset_token(&[1; 8]));
        assert_ne!(key(1).ids().hash(b"id"), key(2).ids().hash(b"id"));
    }
}
