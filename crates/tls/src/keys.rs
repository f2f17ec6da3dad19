//! Packet protection (RFC 9001 section 5): sealing and opening with the keys of one level.

mod parts;

pub use parts::HeaderKey;

use rustls::crypto::ring::cipher_suite;
use rustls::quic;
use std::fmt;
use wire::Side;

use crate::options::Protection;

/// Length in bytes of the authentication tag of every packet, with every AEAD and with null (RFC 9001 section 5.3).
pub const TAG_LENGTH: usize = 16;
/// Length in bytes of the ciphertext sample for the header protection mask (RFC 9001 section 5.4.2).
pub const SAMPLE_LENGTH: usize = 16;
/// Offset of the sample from the start of the packet number, which is taken to have 4 bytes (RFC 9001 section 5.4.2).
const SAMPLE_OFFSET: usize = 4;

/// Keys of one level that the handshake has made available.
#[derive(Debug)]
pub enum KeyChange {
    /// For Handshake packets.
    Handshake(Keys),
    /// For 1-RTT packets. Later ones come from [`Session::next_keys`](crate::Session::next_keys).
    OneRtt(Keys),
}

/// Both directions of one level.
#[derive(Debug)]
pub struct Keys {
    /// Protects what this end sends.
    pub local: Sealer,
    /// Opens what the peer sent.
    pub remote: Opener,
}

/// The keys of a key update (RFC 9001 section 6): header protection stays as it is.
#[derive(Debug)]
pub struct PacketKeys {
    /// For [`Sealer::update`].
    pub local: PacketKey,
    /// For [`Opener::update`], and to open packets of the next key phase before that.
    pub remote: PacketKey,
}

/// The packet key of one direction: that of the AEAD, or null's.
pub struct PacketKey(Key);

enum Key {
    Null(NullKey),
    Tls(Box<dyn quic::PacketKey>),
}

/// The null counterpart of a key: a number that both ends derive from the data they exchange.
///
/// The tag of each packet contains it and the packet number, so a packet opens exactly where it would open under TLS:
/// with the keys of its own connection, level, direction and key phase, and under its own number. Nothing is secret,
/// and the payload is not covered: see [`wire::Damage`]. A tag of zeros matches every key, which lets tests and
/// scripts write packets by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NullKey(u64);

/// Protects the packets of one level and direction.
pub enum Sealer {
    /// No cryptography.
    Null(NullKey),
    /// AEAD and header protection.
    Tls(DirectionalKeys),
}

/// Opens the packets of one level and direction.
pub enum Opener {
    /// No cryptography.
    Null(NullKey),
    /// AEAD and header protection.
    Tls(DirectionalKeys),
}

/// The two keys of one direction: header protection and AEAD.
pub struct DirectionalKeys {
    header: Box<dyn quic::HeaderProtectionKey>,
    packet: Box<dyn quic::PacketKey>,
}

/// The packet ends before the sample of header protection, so it is not a valid packet (RFC 9001 section 5.4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooShort;

/// The packet was changed on the way, or belongs to other keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenError;

impl Sealer {
    /// The number of bytes that sealing needs after the payload: always [`TAG_LENGTH`].
    #[inline]
    pub fn tag_length(&self) -> usize {
        TAG_LENGTH
    }

    /// Whether there is no cryptography.
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self, Sealer::Null(_))
    }

    /// What stands for the key under null protection: see [`wire::null_tag`].
    #[inline]
    pub fn null_key(&self) -> Option<u64> {
        match self {
            Sealer::Null(NullKey(key)) => Some(*key),
            Sealer::Tls(_) => None,
        }
    }

    /// Encrypts a packet in place and then protects its header (RFC 9001 sections 5.3 and 5.4). Null only writes its
    /// tag.
    ///
    /// `packet` begins with the first byte of the header and ends with [`TAG_LENGTH`] spare bytes. The packet number
    /// `number` is at `number_offset` and the frames are at `payload_offset`.
    ///
    /// # Panics
    /// If the packet is too short for a sample: the sender must pad the packet number and the payload to 4 bytes in
    /// total (RFC 9001 section 5.4.2).
    #[inline]
    pub fn seal(&self, number: u64, packet: &mut [u8], number_offset: usize, payload_offset: usize) {
        match self {
            Sealer::Null(key) => key.seal(number, packet),
            Sealer::Tls(keys) => keys.seal(number, packet, number_offset, payload_offset),
        }
    }

    /// The number of packets that may be sealed before the keys must be updated (RFC 9001 section 6.6).
    pub fn confidentiality_limit(&self) -> u64 {
        match self {
            Sealer::Null(_) => u64::MAX,
            Sealer::Tls(keys) => keys.packet.confidentiality_limit(),
        }
    }

    /// Installs the key of a key update and returns the previous one. A key of the other kind of protection is
    /// returned unused.
    pub fn update(&mut self, key: PacketKey) -> PacketKey {
        match self {
            Sealer::Null(present) => present.update(key),
            Sealer::Tls(keys) => keys.update(key),
        }
    }
}

impl Opener {
    /// Whether there is no cryptography.
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self, Opener::Null(_))
    }

    /// Whether it opens packets whose sender has this key: see [`Sealer::null_key`].
    #[inline]
    pub fn has_null_key(&self, key: u64) -> bool {
        matches!(self, Opener::Null(NullKey(own)) if *own == key)
    }

    /// Removes header protection in place (RFC 9001 section 5.4), which reveals the first byte and the packet number.
    /// Null leaves the packet as it is.
    ///
    /// # Errors
    /// [`TooShort`]; the packet is then unchanged.
    #[inline]
    pub fn unprotect(&self, packet: &mut [u8], number_offset: usize) -> Result<(), TooShort> {
        match self {
            Opener::Null(_) => Ok(()),
            Opener::Tls(keys) => keys.unprotect(packet, number_offset),
        }
    }

    /// Decrypts a packet with a plain header in place and returns the length of its payload without the tag. Null
    /// only checks the tag.
    ///
    /// # Errors
    /// [`OpenError`]; the payload is then unspecified, and the packet must be dropped.
    #[inline]
    pub fn open(&self, number: u64, packet: &mut [u8], payload_offset: usize) -> Result<usize, OpenError> {
        match self {
            Opener::Null(key) => key.open(number, packet, payload_offset),
            Opener::Tls(keys) => open(&*keys.packet, number, packet, payload_offset),
        }
    }

    /// The number of packets that may fail to open before the connection must be closed (RFC 9001 section 6.6).
    pub fn integrity_limit(&self) -> u64 {
        match self {
            Opener::Null(_) => u64::MAX,
            Opener::Tls(keys) => keys.packet.integrity_limit(),
        }
    }

    /// As [`Sealer::update`].
    pub fn update(&mut self, key: PacketKey) -> PacketKey {
        match self {
            Opener::Null(present) => present.update(key),
            Opener::Tls(keys) => keys.update(key),
        }
    }
}

impl PacketKey {
    /// Like [`Opener::open`] with this key, for packets of the previous or the next key phase.
    ///
    /// # Errors
    /// [`OpenError`].
    #[inline]
    pub fn open(&self, number: u64, packet: &mut [u8], payload_offset: usize) -> Result<usize, OpenError> {
        match &self.0 {
            Key::Null(key) => key.open(number, packet, payload_offset),
            Key::Tls(key) => open(&**key, number, packet, payload_offset),
        }
    }
}

impl DirectionalKeys {
    pub(crate) fn new(
        header: Box<dyn quic::HeaderProtectionKey>,
        packet: Box<dyn quic::PacketKey>,
    ) -> DirectionalKeys {
        DirectionalKeys { header, packet }
    }

    fn seal(&self, number: u64, packet: &mut [u8], number_offset: usize, payload_offset: usize) {
        let (header, rest) = packet.split_at_mut(payload_offset);
        let (payload, room) = rest.split_at_mut(rest.len() - TAG_LENGTH);
        let tag = self.packet.encrypt_in_place(number, header, payload);
        let tag = tag.expect("a datagram is far below the limit of every AEAD");
        room.copy_from_slice(tag.as_ref());
        let (first, number, sample) = split(packet, number_offset).expect("the sender pads up to the sample");
        self.header
            .encrypt_in_place(sample, first, number)
            .expect("the sample has the length that it must have");
    }

    fn unprotect(&self, packet: &mut [u8], number_offset: usize) -> Result<(), TooShort> {
        let (first, number, sample) = split(packet, number_offset).ok_or(TooShort)?;
        self.header.decrypt_in_place(sample, first, number).map_err(|_| TooShort)
    }

    fn update(&mut self, key: PacketKey) -> PacketKey {
        match key.0 {
            Key::Null(key) => PacketKey(Key::Null(key)),
            Key::Tls(key) => PacketKey(Key::Tls(std::mem::replace(&mut self.packet, key))),
        }
    }
}

/// The first byte, the four bytes that contain the packet number, and the sample.
#[inline]
fn split(packet: &mut [u8], number_offset: usize) -> Option<(&mut u8, &mut [u8], &[u8])> {
    let (header, rest) = packet.split_at_mut_checked(number_offset)?;
    let (number, rest) = rest.split_at_mut_checked(SAMPLE_OFFSET)?;
    Some((header.first_mut()?, number, rest.get(..SAMPLE_LENGTH)?))
}

fn open(
    key: &dyn quic::PacketKey,
    number: u64,
    packet: &mut [u8],
    payload_offset: usize,
) -> Result<usize, OpenError> {
    let (header, payload) = packet.split_at_mut_checked(payload_offset).ok_or(OpenError)?;
    key.decrypt_in_place(number, header, payload).map(<[u8]>::len).map_err(|_| OpenError)
}

impl NullKey {
    /// Derives a key from texts that both ends know, with FNV-1a: keys need to differ, not to resist attacks.
    pub(crate) fn derive(texts: &[&[u8]]) -> NullKey {
        const PRIME: u64 = 0x0000_0100_0000_01b3;
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for text in texts {
            for byte in text.iter().copied().chain([text.len() as u8]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(PRIME);
            }
        }
        NullKey(hash)
    }

    /// The key as bytes, which can be derived from in turn.
    pub(crate) fn to_bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }

    /// The keys of this side and of the peer.
    fn both(side: Side, texts: &[&[u8]]) -> (NullKey, NullKey) {
        let NullKey(all) = NullKey::derive(texts);
        let of = |side: Side| NullKey::derive(&[&all.to_be_bytes(), &[u8::from(side.is_client())]]);
        (of(side), of(side.peer()))
    }

    /// The tag of a packet: its number and the key.
    #[inline]
    fn tag(self, number: u64) -> [u8; TAG_LENGTH] {
        wire::null_tag(self.0, number)
    }

    #[inline]
    fn seal(self, number: u64, packet: &mut [u8]) {
        if let Some(room) = packet.last_chunk_mut() {
            *room = self.tag(number);
        }
    }

    #[inline]
    fn open(self, number: u64, packet: &[u8], payload_offset: usize) -> Result<usize, OpenError> {
        let length = packet.len().checked_sub(payload_offset + TAG_LENGTH).ok_or(OpenError)?;
        let fits = packet.last_chunk().is_some_and(|tag| *tag == self.tag(number) || *tag == [0; TAG_LENGTH]);
        if fits { Ok(length) } else { Err(OpenError) }
    }

    fn update(&mut self, key: PacketKey) -> PacketKey {
        match key.0 {
            Key::Null(key) => PacketKey(Key::Null(std::mem::replace(self, key))),
            Key::Tls(key) => PacketKey(Key::Tls(key)),
        }
    }
}

/// The rustls version with the labels and the salt of this QUIC version.
pub(crate) fn known_version(version: u32) -> Option<quic::Version> {
    match version {
        1 => Some(quic::Version::V1),
        // RFC 9369 section 3.1.
        0x6b33_43cf => Some(quic::Version::V2),
        _ => None,
    }
}

/// The keys of Initial packets (RFC 9001 section 5.2), derived from the destination connection id of the client's
/// first packet.
///
/// `version` is 1 or 2 (RFC 9369). Any other version gets the keys of version 1; versions are negotiated before keys
/// are made.
pub fn initial_keys(protection: Protection, version: u32, client_destination: &[u8], side: Side) -> Keys {
    let suite = match protection {
        Protection::Null => None,
        Protection::Tls => {
            cipher_suite::TLS13_AES_128_GCM_SHA256.tls13().and_then(|suite| suite.quic_suite())
        }
    };
    let Some(suite) = suite else {
        return Keys::null(side, &[b"initial", &version.to_be_bytes(), client_destination]);
    };
    let side = match side {
        Side::Client => rustls::Side::Client,
        Side::Server => rustls::Side::Server,
    };
    suite.keys(client_destination, side, known_version(version).unwrap_or_default()).into()
}

impl Keys {
    /// Null keys of a level, derived from what both ends know.
    pub(crate) fn null(side: Side, texts: &[&[u8]]) -> Keys {
        let (local, remote) = NullKey::both(side, texts);
        Keys { local: Sealer::Null(local), remote: Opener::Null(remote) }
    }
}
impl PacketKeys {
    /// Like [`Keys::null`], for one key phase.
    pub(crate) fn null(side: Side, texts: &[&[u8]]) -> PacketKeys {
        let (local, remote) = NullKey::both(side, texts);
        PacketKeys { local: PacketKey(Key::Null(local)), remote: PacketKey(Key::Null(remote)) }
    }
}

impl From<quic::DirectionalKeys> for DirectionalKeys {
    fn from(keys: quic::DirectionalKeys) -> DirectionalKeys {
        DirectionalKeys::new(keys.header, keys.packet)
    }
}
impl From<quic::Keys> for Keys {
    fn from(keys: quic::Keys) -> Keys {
        Keys { local: Sealer::Tls(keys.local.into()), remote: Opener::Tls(keys.remote.into()) }
    }
}
impl From<quic::PacketKeySet> for PacketKeys {
    fn from(keys: quic::PacketKeySet) -> PacketKeys {
        PacketKeys { local: PacketKey(Key::Tls(keys.local)), remote: PacketKey(Key::Tls(keys.remote)) }
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_null() { "Sealer::Null" } else { "Sealer::Tls" })
    }
}
impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_null() { "Opener::Null" } else { "Opener::Tls" })
    }
}
impl fmt::Debug for PacketKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self.0, Key::Null(_)) { "PacketKey::Null" } else { "PacketKey::Tls" })
    }
}
impl fmt::Debug for DirectionalKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DirectionalKeys")
    }
}

impl fmt::Display for TooShort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the packet is too short for header protection")
    }
}
impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the packet does not open with these keys")
    }
}
impl std::error::Error for TooShort {}
impl std::error::Error for OpenError {}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &[u8] = &[1, 2, 3, 4, 5, 6, 7, 8];
    /// A header of 20 bytes with a packet number of 2 at 18, a payload of 40, and room for the tag.
    fn packet() -> Vec<u8> {
        let mut packet = vec![0xc1; 20];
        packet.extend_from_slice(&[7; 40]);
        packet.extend_from_slice(&[0; TAG_LENGTH]);
        packet
    }
    fn keys(protection: Protection) -> (Keys, Keys) {
        (initial_keys(protection, 1, ID, Side::Client), initial_keys(protection, 1, ID, Side::Server))
    }

    #[test]
    fn each_end_opens_packets_of_the_other() {
        for protection in [Protection::Tls, Protection::Null] {
            let (client, server) = keys(protection);
            for (sealer, opener) in [(&client.local, &server.remote), (&server.local, &client.remote)] {
                let plain = packet();
                let mut bytes = plain.clone();
                sealer.seal(9, &mut bytes, 18, 20);
                assert_eq!(bytes[..60] == plain[..60], sealer.is_null());
                opener.unprotect(&mut bytes, 18).unwrap();
                assert_eq!(bytes[..20], plain[..20]);
                assert_eq!(opener.open(9, &mut bytes, 20), Ok(40));
                assert_eq!(bytes[..60], plain[..60]);
            }
        }
    }

    #[test]
    fn every_changed_bit_is_detected() {
        let (client, server) = keys(Protection::Tls);
        let mut sealed = packet();
        client.local.seal(9, &mut sealed, 18, 20);
        for at in 0..sealed.len() {
            let mut bytes = sealed.clone();
            bytes[at] ^= 1;
            server.remote.unprotect(&mut bytes, 18).unwrap();
            assert_eq!(server.remote.open(9, &mut bytes, 20), Err(OpenError), "{at}");
        }
        server.remote.unprotect(&mut sealed, 18).unwrap();
        assert_eq!(server.remote.open(10, &mut sealed.clone(), 20), Err(OpenError));
        assert_eq!(server.remote.open(9, &mut sealed, 20), Ok(40));
    }

    #[test]
    fn packets_that_are_too_short_are_errors() {
        let (_, server) = keys(Protection::Tls);
        for length in 0..40 {
            let mut bytes = vec![0x40; length];
            assert_eq!(server.remote.unprotect(&mut bytes, 1).is_ok(), length >= 21);
            assert!(server.remote.open(0, &mut bytes, 25).is_err());
            let mut zeros = vec![0; length];
            let null = keys(Protection::Null).1.remote;
            assert_eq!(null.open(0, &mut zeros, 20).ok(), length.checked_sub(36), "zeros fit every key");
        }
    }

    #[test]
    fn keys_depend_on_version_and_id() {
        let sealed = |version, id: &[u8]| {
            let mut bytes = packet();
            initial_keys(Protection::Tls, version, id, Side::Client).local.seal(9, &mut bytes, 18, 20);
            bytes
        };
        assert_ne!(sealed(1, ID), sealed(0x6b33_43cf, ID));
        assert_ne!(sealed(1, ID), sealed(1, &ID[1..]));
        assert_eq!(sealed(1, ID), sealed(0x1a2a_3a4a, ID));
    }

    /// RFC 9001 section 6.6.
    #[test]
    fn the_limits_of_aes_128_gcm() {
        let (client, _) = keys(Protection::Tls);
        assert_eq!(client.local.confidentiality_limit(), 1 << 23);
        assert_eq!(client.remote.integrity_limit(), 1 << 52);
    }

    /// Under null a packet opens where it would open under TLS.
    #[test]
    fn null_keys_differ_when_real_ones_do() {
        let sealed = |keys: &Keys, number| {
            let mut bytes = packet();
            keys.local.seal(number, &mut bytes, 18, 20);
            bytes
        };
        for protection in [Protection::Tls, Protection::Null] {
            let (client, server) = keys(protection);
            let bytes = || {
                let mut bytes = sealed(&client, 9);
                server.remote.unprotect(&mut bytes, 18).unwrap();
                bytes
            };
            assert_eq!(server.remote.open(9, &mut bytes(), 20), Ok(40));
            assert_eq!(server.remote.open(265, &mut bytes(), 20), Err(OpenError), "another number");
            assert_eq!(client.remote.open(9, &mut bytes(), 20), Err(OpenError), "another direction");
            for (version, id) in [(0x6b33_43cf, ID), (1, &ID[1..])] {
                let other = initial_keys(protection, version, id, Side::Server);
                assert_eq!(other.remote.open(9, &mut bytes(), 20), Err(OpenError), "another connection");
            }
        }
    }

    #[test]
    fn a_null_key_is_exchanged_for_the_next() {
        let key = |phase: u8| PacketKeys::null(Side::Client, &[&[phase]]);
        let (mut client, server) = keys(Protection::Null);
        let old = client.local.update(key(1).local);
        let mut bytes = packet();
        client.local.seal(9, &mut bytes, 18, 20);
        assert_eq!(server.remote.open(9, &mut bytes, 20), Err(OpenError));
        assert_eq!(PacketKeys::null(Side::Server, &[&[1]]).remote.open(9, &mut bytes, 20), Ok(40));
        client.local.update(old);
        client.local.seal(9, &mut bytes, 18, 20);
        assert_eq!(server.remote.open(9, &mut bytes, 20), Ok(40));
        assert_eq!(client.local.tag_length(), 16);
    }
}
