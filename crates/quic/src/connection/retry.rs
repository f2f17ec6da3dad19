//! The Retry packet, with which a server validates a client's address (RFC 9000 sections 8.1.2 and 17.2.5).

use super::Connection;
use trace::PacketKind;
use trace::event::DropReason;
use units::Time;
use wire::{Header, Side};

/// The longest token accepted from a Retry packet. A longer one would leave too little room for the ClientHello in
/// Initial packets.
const MAX_TOKEN: usize = 1000;

impl Connection {
    /// Handles a Retry packet (RFC 9000 section 17.2.5.2).
    #[cold]
    pub(super) fn on_retry(&mut self, now: Time, header: &Header, packet: &[u8]) {
        if !self.admits_retry(header, packet) {
            return self.drop_packet(now, PacketKind::Retry, packet.len(), DropReason::Invalid);
        }
        self.note_retry_received(now, header, packet.len());
        // RFC 9000-8.1.2-1, 9000-8.1.3-6, 9000-8.1.3-1: the token replaces one from NEW_TOKEN. 9000-8.1.3-2: it is
        // not used for other connections.
        self.tokens.on_retry(header.token(packet));
        self.origin.retry_source = Some(header.source);
        // RFC 9000-17.2.5.1-3: "the value from the Source Connection ID field of the Retry packet"; it also
        // determines the Initial keys (RFC 9001 section 5.2).
        self.origin.initial_destination = header.source;
        self.set_peer_id(header.source);
        self.renew_initial_keys();
        self.restart(now);
    }

    /// Whether a Retry packet is valid and arrives in time.
    fn admits_retry(&self, header: &Header, packet: &[u8]) -> bool {
        let length = packet.len() - wire::header::RETRY_TAG_LENGTH;
        let original = self.origin.original_destination;
        self.origin.side == Side::Client
            // RFC 9000-17.2.5.2-1, 9000-17.2.5.2-2: "at most one Retry packet for each connection attempt", and
            // before any other packet.
            && self.is_blank()
            && header.destination == self.origin.source
            // RFC 9369 section 4.1: only in the version of the client's first packet.
            && header.version == self.versions.first()
            // RFC 9000-17.2.5.1-2: "identical to the Destination Connection ID field of its Initial packet".
            && header.source != original
            // RFC 9000-17.2.5.2-4: "a zero-length Retry Token field": the parser refuses it.
            && header.token_range().len() <= MAX_TOKEN
            // RFC 9000-17.2.5.2-3: "a Retry Integrity Tag that cannot be validated".
            && header.retry_tag(packet)
                == Some(tls::retry_integrity_tag(
                    self.versions.first().0,
                    original.as_bytes(),
                    &packet[..length],
                ))
    }
}
