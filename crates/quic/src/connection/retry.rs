//! The Retry packet, by which a server asks a client to show that it receives what is sent to its address (RFC 9000
//! sections 8.1.2 and 17.2.5).

use super::Connection;
use trace::PacketKind;
use trace::event::DropReason;
use units::Time;
use wire::{Header, Side};

/// The longest token that is taken from a Retry packet: behind a longer one an Initial packet has no room for a
/// ClientHello in pieces worth sending.
const MAX_TOKEN: usize = 1000;

impl Connection {
    /// A Retry packet: the server wants to see that we receive what is sent to our address (RFC 9000 section 17.2.5.2).
    #[cold]
    pub(super) fn on_retry(&mut self, now: Time, header: &Header, packet: &[u8]) {
        if !self.admits_retry(header, packet) {
            return self.drop_packet(now, PacketKind::Retry, packet.len(), DropReason::Invalid);
        }
        self.note_retry_received(now, header, packet.len());
        // RFC 9000-8.1.2-1, 9000-8.1.3-6, 9000-8.1.3-1: in the place of a token of NEW_TOKEN. 9000-8.1.3-2: it is gone with
        // the connection.
        self.tokens.on_retry(header.token(packet));
        self.origin.retry_source = Some(header.source);
        // RFC 9000-17.2.5.1-3: and the keys of Initial packets follow from it (RFC 9001 section 5.2).
        self.origin.initial_destination = header.source;
        self.set_peer_id(header.source);
        self.renew_initial_keys();
        self.begin_again(now);
    }

    /// Whether a Retry packet is one of the server, and comes in time.
    fn admits_retry(&self, header: &Header, packet: &[u8]) -> bool {
        let length = packet.len() - wire::header::RETRY_TAG_LENGTH;
        let original = self.origin.original_destination;
        self.origin.side == Side::Client
            // RFC 9000-17.2.5.2-1, 9000-17.2.5.2-2: once, and before any other packet.
            && self.is_blank()
            && header.destination == self.origin.source
            // RFC 9369 section 4.1: only in the version that this side began with.
            && header.version == self.versions.first()
            // RFC 9000-17.2.5.1-2.
            && header.source != original
            // RFC 9000-17.2.5.2-4: one without a token is no header at all.
            && header.token_range().len() <= MAX_TOKEN
            // RFC 9000-17.2.5.2-3: only who has seen our first packet can make the tag.
            && header.retry_tag(packet)
                == Some(tls::retry_integrity_tag(
                    self.versions.first().0,
                    original.as_bytes(),
                    &packet[..length],
                ))
    }
}
