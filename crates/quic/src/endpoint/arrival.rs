//! Assigns received datagrams to connections (RFC 9000 section 5.2), and handles those that belong to none.

use super::{Endpoint, resets};
use crate::connection::Datagram;
use crate::ids::{IdMaker, LOCAL_ID_LENGTH};
use std::net::SocketAddr;
use trace::PacketKind;
use transport::Arrival;
use units::Time;
use wire::{ConnectionId, FirstByte, Header, HeaderError, TypedPacket};

impl Endpoint {
    /// Processes a received datagram.
    #[inline]
    pub fn receive(&mut self, now: Time, mut datagram: Datagram<'_>) {
        let Some(&first) = datagram.bytes.first() else { return };
        let short = !FirstByte(first).is_long();
        let id = if short { datagram.bytes.get(1..1 + LOCAL_ID_LENGTH) } else { None };
        if let Some(slot) = id.and_then(|id| self.slot_of(id)) {
            return self.deliver(now, slot, &mut datagram);
        }
        if short {
            return self.receive_unknown(now, &datagram);
        }
        self.receive_long(now, &mut datagram);
    }

    /// Processes a received typed packet. Returns `false`, and does nothing, if its bytes are needed.
    #[inline]
    pub fn receive_typed(&mut self, now: Time, arrival: Arrival<'_>, packet: &TypedPacket) -> bool {
        let Some(slot) = self.slot_of(packet.header.destination.as_bytes()) else { return false };
        let connection = self.slots[slot as usize].connection.as_deref_mut();
        let connection = connection.expect("a slot that was found by an ID has its connection");
        let done = connection.receive_typed(now, arrival, packet);
        if done {
            self.touch(slot);
        }
        done
    }

    /// Handles a datagram with a short header for an unknown id: it may be a stateless reset; otherwise it may be
    /// answered with one.
    #[cold]
    fn receive_unknown(&mut self, now: Time, datagram: &Datagram<'_>) {
        if self.take_reset(now, datagram) {
            return;
        }
        let reset = match datagram.bytes.get(1..1 + LOCAL_ID_LENGTH) {
            Some(id) => resets::reset(&self.key, &mut self.random, id, datagram.length()),
            None => None,
        };
        match reset {
            None => self.stats.dropped += 1,
            Some(reset) if self.answers.has_room() && self.reset_rate.take(now) => {
                self.answers.push(datagram, reset);
                self.stats.resets_sent += 1;
            }
            Some(_) => self.stats.answers_withheld += 1,
        }
    }

    /// Checks whether a datagram with an unknown id is a stateless reset (RFC 9000 section 10.3.1), and if so ends
    /// its connection.
    #[cold]
    fn take_reset(&mut self, now: Time, datagram: &Datagram<'_>) -> bool {
        // RFC 9000-10.3.1-1: "when the first packet in an incoming datagram" has no connection.
        let Some(token) = wire::header::reset_token(datagram.bytes) else { return false };
        let Some(slot) = self.resets.find(token) else { return false };
        let connection = self.slots[slot as usize].connection.as_deref_mut();
        let Some(connection) = connection.filter(|known| known.is_reset_by(datagram.remote, token)) else {
            return false;
        };
        connection.on_stateless_reset(now);
        self.stats.resets_received += 1;
        self.touch(slot);
        true
    }

    /// The connection that issued this id.
    #[inline]
    fn slot_of(&mut self, id: &[u8]) -> Option<u32> {
        let id = <[u8; LOCAL_ID_LENGTH]>::try_from(id).ok()?;
        if id != self.last_id.0 {
            self.last_id = (id, IdMaker::slot_of(self.id_key, id));
        }
        let slot = self.last_id.1;
        let connection = self.slots.get(slot as usize)?.connection.as_deref()?;
        if self.slots.len() > 1 {
            connection.prefetch();
        }
        connection.owns(&id).then_some(slot)
    }

    #[inline]
    pub(super) fn deliver(&mut self, now: Time, slot: u32, datagram: &mut Datagram<'_>) {
        let connection = self.slots[slot as usize].connection.as_deref_mut();
        connection.expect("a slot that was found by an ID has its connection").receive(now, datagram);
        self.touch(slot);
    }

    fn receive_long(&mut self, now: Time, datagram: &mut Datagram<'_>) {
        let header = match Header::parse_with_any_quic_bit(datagram.bytes, LOCAL_ID_LENGTH, datagram.hole) {
            Ok(header) => header,
            Err(HeaderError::UnsupportedVersion(version)) => return self.negotiate(version, datagram),
            Err(_) => {
                // RFC 9000-10.3-5: "any packet ending in a valid stateless reset token", also with a long
                // header.
                let reset = self.take_reset(now, datagram);
                self.stats.dropped += u64::from(!reset);
                return;
            }
        };
        let known = self.slot_of(header.destination.as_bytes());
        let known = known.or_else(|| self.initial_ids.get(&(datagram.remote, header.destination)).copied());
        if let Some(slot) = known {
            return self.deliver(now, slot, datagram);
        }
        if self.take_reset(now, datagram) {
            return;
        }
        let accept = self.options.accept.as_ref();
        if !accept.is_some_and(|config| config.versions.contains(header.version)) {
            return self.negotiate(header.version, datagram);
        }
        // RFC 9000 section 5.2.2.
        let early = header.kind == PacketKind::ZeroRtt && self.tickets.is_some();
        if !(early && self.waiting.keep(now, header.destination, datagram)) {
            self.admit(now, &header, datagram);
        }
    }

    /// Delivers the 0-RTT packets that arrived before the Initial packet of this connection.
    pub(super) fn deliver_waiting(
        &mut self,
        now: Time,
        slot: u32,
        remote: SocketAddr,
        destination: ConnectionId,
    ) {
        for mut waiting in self.waiting.take(now, remote, destination) {
            let mut datagram = Datagram {
                local: waiting.local,
                remote: waiting.remote,
                ecn: waiting.ecn,
                bytes: &mut waiting.bytes,
                hole: waiting.hole,
                damage: waiting.damage,
            };
            self.deliver(now, slot, &mut datagram);
        }
    }
}
