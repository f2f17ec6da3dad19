//! The keys of the crate `tls` for quinn-proto.

use bytes::BytesMut;
use quinn_proto::crypto::{self, CryptoError, KeyPair};
use tls::{HeaderKey, Keys, PacketKey, PacketKeys, SAMPLE_LENGTH, TAG_LENGTH};

struct Header(HeaderKey);
struct Packet(PacketKey);

pub(crate) fn keys(keys: Keys) -> crypto::Keys {
    let ((local_header, local), (remote_header, remote)) =
        (keys.local.into_parts(), keys.remote.into_parts());
    crypto::Keys {
        header: KeyPair { local: Box::new(Header(local_header)), remote: Box::new(Header(remote_header)) },
        packet: packet_keys(PacketKeys { local, remote }),
    }
}

pub(crate) fn packet_keys(keys: PacketKeys) -> KeyPair<Box<dyn crypto::PacketKey>> {
    KeyPair { local: Box::new(Packet(keys.local)), remote: Box::new(Packet(keys.remote)) }
}

impl crypto::HeaderKey for Header {
    fn decrypt(&self, number_offset: usize, packet: &mut [u8]) {
        self.0.unprotect(packet, number_offset);
    }
    fn encrypt(&self, number_offset: usize, packet: &mut [u8]) {
        self.0.protect(packet, number_offset);
    }
    fn sample_size(&self) -> usize {
        SAMPLE_LENGTH
    }
}

impl crypto::PacketKey for Packet {
    fn encrypt(&self, number: u64, packet: &mut [u8], header_length: usize) {
        // quinn-proto leaves room for the tag.
        let _ = self.0.seal(number, packet, header_length);
    }
    fn decrypt(&self, number: u64, header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let length = self.0.open_apart(number, header, payload).map_err(|_| CryptoError)?;
        payload.truncate(length);
        Ok(())
    }
    fn tag_len(&self) -> usize {
        TAG_LENGTH
    }
    fn confidentiality_limit(&self) -> u64 {
        self.0.confidentiality_limit()
    }
    fn integrity_limit(&self) -> u64 {
        self.0.integrity_limit()
    }
}
