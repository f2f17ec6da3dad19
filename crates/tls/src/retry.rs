//! The integrity tag of Retry packets (RFC 9001 section 5.8).

use crate::keys::TAG_LENGTH;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

/// Key and nonce of version 1 (RFC 9001 section 5.8).
const V1: ([u8; 16], [u8; 12]) = (
    [0xbe, 0x0c, 0x69, 0x0b, 0x9f, 0x66, 0x57, 0x5a, 0x1d, 0x76, 0x6b, 0x54, 0xe3, 0x68, 0xc8, 0x4e],
    [0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb],
);
/// Key and nonce of version 2 (RFC 9369 section 3.3.3).
const V2: ([u8; 16], [u8; 12]) = (
    [0x8f, 0xb4, 0xb0, 0x1b, 0x56, 0xac, 0x48, 0xe2, 0x60, 0xfb, 0xcb, 0xce, 0xad, 0x7c, 0xcc, 0x92],
    [0xd8, 0x69, 0x69, 0xbc, 0x2d, 0x7c, 0x6d, 0x99, 0x90, 0xef, 0xb0, 0x4a],
);

/// The tag that ends a Retry packet. A client drops a packet with any other tag.
///
/// `original_destination` is the destination connection id of the client's first Initial packet, and
/// `retry_without_tag` is the Retry packet up to its tag. `version` is 1 or 2; any other gets the tag of version 1.
pub fn retry_integrity_tag(
    version: u32,
    original_destination: &[u8],
    retry_without_tag: &[u8],
) -> [u8; TAG_LENGTH] {
    let (key, nonce) = if version == 0x6b33_43cf { V2 } else { V1 };
    // The pseudo-packet of figure 8; a connection id has at most 20 bytes (RFC 9000 section 17.2).
    let mut pseudo = Vec::with_capacity(1 + original_destination.len() + retry_without_tag.len());
    pseudo.push(original_destination.len() as u8);
    pseudo.extend_from_slice(original_destination);
    pseudo.extend_from_slice(retry_without_tag);
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).expect("a key of 16 bytes"));
    let nonce = Nonce::assume_unique_for_key(nonce);
    let tag = key.seal_in_place_separate_tag(nonce, Aad::from(pseudo), &mut []);
    let mut bytes = [0; TAG_LENGTH];
    bytes.copy_from_slice(tag.expect("an empty plaintext is never too long").as_ref());
    bytes
}
