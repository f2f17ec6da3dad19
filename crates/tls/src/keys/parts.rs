//! Keys in parts, for endpoints that protect headers and payloads by themselves.

use super::{DirectionalKeys, Key, OpenError, Opener, PacketKey, Sealer, TAG_LENGTH, split};
use rustls::quic;

/// Protects headers, or takes the protection off; nothing happens under null.
pub struct HeaderKey(Option<Box<dyn quic::HeaderProtectionKey>>);

impl HeaderKey {
    /// Protects the header of a packet whose packet number begins at `number_offset`; without effect on one that is too short.
    pub fn protect(&self, packet: &mut [u8], number_offset: usize) {
        if let Some(key) = &self.0
            && let Some((first, number, sample)) = split(packet, number_offset)
        {
            // The sample has the length that it must have.
            let _ = key.encrypt_in_place(sample, first, number);
        }
    }
    /// Takes the protection off; without effect on a packet that is too short.
    pub fn unprotect(&self, packet: &mut [u8], number_offset: usize) {
        if let Some(key) = &self.0
            && let Some((first, number, sample)) = split(packet, number_offset)
        {
            let _ = key.decrypt_in_place(sample, first, number);
        }
    }
}

impl From<DirectionalKeys> for (HeaderKey, PacketKey) {
    fn from(keys: DirectionalKeys) -> (HeaderKey, PacketKey) {
        (HeaderKey(Some(keys.header)), PacketKey(Key::Tls(keys.packet)))
    }
}

impl Sealer {
    /// The keys of headers and of payloads.
    pub fn into_parts(self) -> (HeaderKey, PacketKey) {
        match self {
            Sealer::Null(key) => (HeaderKey(None), PacketKey(Key::Null(key))),
            Sealer::Tls(keys) => keys.into(),
        }
    }
}

impl Opener {
    /// The keys of headers and of payloads.
    pub fn into_parts(self) -> (HeaderKey, PacketKey) {
        match self {
            Opener::Null(key) => (HeaderKey(None), PacketKey(Key::Null(key))),
            Opener::Tls(keys) => keys.into(),
        }
    }
}

impl PacketKey {
    /// Protects the payload of a packet, which ends with room for the tag; its header has no protection yet.
    ///
    /// # Errors
    /// If it has no room for the tag.
    pub fn seal(&self, number: u64, packet: &mut [u8], payload_offset: usize) -> Result<(), OpenError> {
        let key = match &self.0 {
            Key::Null(key) => {
                key.seal(number, packet);
                return Ok(());
            }
            Key::Tls(key) => key,
        };
        let (header, rest) = packet.split_at_mut_checked(payload_offset).ok_or(OpenError)?;
        let end = rest.len().checked_sub(TAG_LENGTH).ok_or(OpenError)?;
        let (payload, room) = rest.split_at_mut(end);
        let tag = key.encrypt_in_place(number, header, payload).map_err(|_| OpenError)?;
        room.copy_from_slice(tag.as_ref());
        Ok(())
    }

    /// Opens a payload that does not stand behind its header; gives its length.
    ///
    /// # Errors
    /// [`OpenError`] if it does not open.
    pub fn open_apart(&self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<usize, OpenError> {
        match &self.0 {
            Key::Null(key) => key.open(number, payload, 0),
            Key::Tls(key) => {
                key.decrypt_in_place(number, header, payload).map(<[u8]>::len).map_err(|_| OpenError)
            }
        }
    }

    /// How many packets it may protect (RFC 9001 section 6.6).
    pub fn confidentiality_limit(&self) -> u64 {
        match &self.0 {
            Key::Null(_) => u64::MAX,
            Key::Tls(key) => key.confidentiality_limit(),
        }
    }
    /// How many packets may fail to open (RFC 9001 section 6.6).
    pub fn integrity_limit(&self) -> u64 {
        match &self.0 {
            Key::Null(_) => u64::MAX,
            Key::Tls(key) => key.integrity_limit(),
        }
    }
}
