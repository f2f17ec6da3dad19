//! Processes received datagrams.

use super::tracing::TracedPacket;
use super::{Connection, Datagram, Progress};
use crate::error::TransportError;
use crate::ids::LOCAL_ID_LENGTH;
use crate::path::{MIN_PAYLOAD, is_probing};
use crate::space::SpaceKind;
use trace::PacketKind;
use trace::event::DropReason;
use transport::Arrival;
use units::Time;
use wire::{Code, ConnectionId, Damage, Ecn, FirstByte, Frame, Frames, Header, Hole, Side, TypedPacket};

/// The maximum number of packets kept until their keys are available: about a first flight.
const MAX_EARLY: usize = 16;
/// How often an endpoint asks for missing parts of the handshake (RFC 9002 section 6.2.3: "for a limited number
/// of times per connection"; the number is ours).
const MAX_ASKED: u8 = 8;

/// The packets that wait for keys.
#[derive(Debug, Default)]
pub(super) struct EarlyPackets {
    waiting: Vec<WaitingPacket>,
    /// How often the peer was asked for what this endpoint waits for.
    asked: u8,
}

impl EarlyPackets {
    /// Whether none waits, and none has waited whose memory is not given back yet.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.capacity() == 0
    }
}

/// A packet as it arrived, kept as a datagram of its own.
#[derive(Debug)]
struct WaitingPacket {
    kind: PacketKind,
    bytes: Vec<u8>,
    hole: Option<Hole>,
    damage: Option<Damage>,
    ecn: Ecn,
}

/// One packet of a datagram before decryption.
struct SealedPacket<'a> {
    header: &'a Header,
    kind: SpaceKind,
    bytes: &'a mut [u8],
    /// The virtual bytes that belong to it.
    hole: Option<Hole>,
    damaged: bool,
    ecn: Ecn,
}

impl Connection {
    /// Processes a datagram for this connection.
    pub(crate) fn receive(&mut self, now: Time, datagram: &mut Datagram<'_>) {
        let length = datagram.length();
        self.now = now;
        if !self.arrive(datagram.local, datagram.remote, length) {
            // RFC 9000 section 9: a client must drop packets from unknown addresses. Section 18.2: an endpoint that
            // has sent disable_active_migration may do so.
            return self.drop_packet(now, PacketKind::Unknown, length, DropReason::Invalid);
        }
        self.stats.datagrams_received += 1;
        self.stats.bytes_received += length as u64;
        self.trace_datagram_received(now, length);
        if self.is_over() {
            // RFC 9000-10.2.1-2: "discard packets received from an unvalidated address".
            if !self.end_arrival() {
                self.answer_while_closing(length as u64);
            }
            return;
        }
        self.process(now, datagram);
        self.end_arrival();
        if !self.early.is_empty() {
            self.process_early(now);
        }
    }

    /// Processes a typed packet. Returns `false`, and does nothing, if its bytes are needed.
    #[inline]
    pub(crate) fn receive_typed(&mut self, now: Time, arrival: Arrival<'_>, packet: &TypedPacket) -> bool {
        let (number, header) = (packet.number, &packet.header);
        let received = &self.spaces.data.received;
        let plain = self.progress >= Progress::Complete
            && !self.is_over()
            && self.takes_typed()
            && self.is_in_use(arrival.local, arrival.remote)
            && header.key_phase == self.keys.phases.bit
            && !packet.asks_for_ack
            && self.keys.get(SpaceKind::Data).is_some_and(|keys| keys.remote.has_null_key(packet.key))
            && packet.is_expanded(received.ranges.max())
            && !received.is_duplicate(number);
        if !plain {
            return false;
        }
        self.now = now;
        let length = packet.size as usize;
        self.note_arrival(length);
        self.stats.datagrams_received += 1;
        self.stats.bytes_received += length as u64;
        self.trace_datagram_received(now, length);
        self.keys.phases.on_received(number);
        self.keys.phases.opened_previous = false;
        self.stats.packets_received += 1;
        self.idle.on_received(now);
        match self.process_typed(now, &packet.frame) {
            Ok(ack_eliciting) => self.note_received(now, SpaceKind::Data, number, ack_eliciting, arrival.ecn),
            Err(error) => self.fail(now, error),
        }
        true
    }

    /// Whether nothing looks at each packet as it arrives.
    #[inline]
    fn takes_typed(&self) -> bool {
        !self.traces_packets() && self.variety.is_none() && self.zero_rtt.is_none() && self.early.is_empty()
    }

    /// Handles a stateless reset: the peer has lost all state, so nothing more is sent.
    // RFC 9000-10.3.1-4: "MUST enter the draining period and not send any further packets on this connection".
    pub(crate) fn on_stateless_reset(&mut self, now: Time) {
        self.begin_draining(now, crate::CloseReason::StatelessReset);
    }

    /// Processes the waiting packets whose keys are available now.
    #[cold]
    fn process_early(&mut self, now: Time) {
        while !self.is_over() && !self.early.waiting.is_empty() {
            let ready = self.early.waiting.iter().position(|packet| self.can_open(packet.kind));
            let Some(at) = ready else { break };
            let WaitingPacket { mut bytes, hole, damage, ecn, .. } = self.early.waiting.remove(at);
            let bytes = &mut bytes[..];
            let (local, remote) = (self.local(), self.remote());
            self.process(now, &mut Datagram { local, remote, ecn, bytes, hole, damage });
        }
        if self.progress == Progress::Confirmed {
            // No more packets will wait for keys; this also frees the memory.
            self.early = EarlyPackets::default();
        } else if self.peer.is_some() {
            // The server has rejected 0-RTT: its packets are dropped (RFC 9001 section 4.6.2).
            let unwanted = |packet: &WaitingPacket| packet.kind == PacketKind::ZeroRtt;
            let count = self.early.waiting.iter().filter(|packet| unwanted(packet)).count();
            self.stats.packets_dropped += count as u64;
            self.early.waiting.retain(|packet| !unwanted(packet));
        }
        if self.early.waiting.iter().any(|packet| packet.kind == PacketKind::OneRtt) {
            self.ask_for_handshake(SpaceKind::Handshake);
        }
        if self.early.waiting.iter().any(|packet| packet.kind == PacketKind::Handshake) {
            // Only at a client: a server that opens Initial packets has the keys of the handshake.
            self.ask_for_handshake(SpaceKind::Initial);
        }
    }

    /// Sends a PING with an ACK in this space if the peer owes a message of the handshake, and nothing that was sent
    /// there within a probe timeout makes it answer: without it, one lost ACK would leave the peer with its own timeouts,
    /// which double, as do those here. The answers are acknowledged with the next PING, so that the peer learns what was
    /// lost even if its own probes do not repeat it (RFC 9002 section 6.2.3).
    #[cold]
    fn ask_for_handshake(&mut self, kind: SpaceKind) {
        let owes = match kind {
            SpaceKind::Initial => self.crypto.level() == SpaceKind::Initial,
            _ => self.progress < Progress::Complete && self.keys.get(kind).is_some(),
        };
        let answer_time = self.answer_time();
        if let Some(space) = self.spaces.get_mut(kind)
            && owes
            && self.early.asked < MAX_ASKED
            && space.probing.left == 0
            && (space.sent.ack_eliciting() == 0 || space.last_eliciting_at + answer_time <= self.now)
        {
            space.probing.left = 1;
            space.received.report();
            self.early.asked += 1;
        }
    }

    /// Notes a packet of the handshake. One that carries no CRYPTO frame and asks for an answer is a probe, of a peer that
    /// misses an answer. So is one that answers after the peer was asked.
    fn note_handshake_packet(&mut self, kind: SpaceKind, payload: &[u8], ack_eliciting: bool) {
        let advances = || Frames::new(payload, 0).any(|frame| matches!(frame, Ok(Frame::Crypto { .. })));
        if (ack_eliciting || self.early.asked > 0) && !advances() {
            self.ask_for_handshake(kind);
        }
    }

    fn can_open(&self, packet: PacketKind) -> bool {
        if packet == PacketKind::ZeroRtt {
            return self.zero_rtt.as_ref().is_some_and(|early| early.opener.is_some());
        }
        let Some(kind) = space_of(packet) else { return false };
        // RFC 9001 section 5.7: no 1-RTT packet is processed before the handshake is complete.
        self.keys.get(kind).is_some() && (kind != SpaceKind::Data || self.progress >= Progress::Complete)
    }

    /// Processes the packets of a datagram. If none can be decrypted, it may be a stateless reset.
    #[inline]
    fn process(&mut self, now: Time, datagram: &mut Datagram<'_>) {
        // Read first, because decryption alters the datagram.
        let tail = wire::header::reset_token(datagram.bytes);
        let opened = self.stats.packets_received;
        self.process_packets(now, datagram);
        // RFC 9000-10.3.1-1, 9000-10.3-5: "cannot be associated with a connection or cannot be decrypted".
        if self.stats.packets_received == opened
            && tail.is_some_and(|token| self.is_reset_by(datagram.remote, token))
        {
            self.on_stateless_reset(now);
        }
    }

    /// Splits a datagram into its coalesced packets (RFC 9000 section 12.2).
    fn process_packets(&mut self, now: Time, datagram: &mut Datagram<'_>) {
        let (ecn, mut hole, damage) = (datagram.ecn, datagram.hole, datagram.damage);
        let (mut rest, mut start) = (&mut *datagram.bytes, 0usize);
        let mut first_destination: Option<ConnectionId> = None;
        // RFC 9000-12.2-1, 9000-12.2-3: "MUST individually process each QUIC packet".
        while !rest.is_empty() && !self.is_over() {
            // By reference, because moving the header costs more than reading it in place.
            let parsed = if self.config.grease_quic_bit {
                // RFC 9287-3-2: "MUST accept packets with the QUIC Bit set to a value of 0".
                Header::parse_with_any_quic_bit(rest, LOCAL_ID_LENGTH, hole)
            } else {
                Header::parse_with_hole(rest, LOCAL_ID_LENGTH, hole)
            };
            let Ok(header) = &parsed else {
                self.drop_packet(now, PacketKind::Unknown, rest.len(), DropReason::HeaderParse);
                return;
            };
            // RFC 9000 section 12.2: all packets of a datagram are for one connection.
            if first_destination.is_some_and(|first| first != header.destination) {
                self.drop_packet(now, header.kind, rest.len(), DropReason::UnknownConnection);
                return;
            }
            let (packet, following) = rest.split_at_mut(header.end);
            if !following.is_empty() {
                first_destination = Some(header.destination);
            }
            let own_hole = hole.filter(|hole| hole.at as usize <= header.end);
            let length = header.end + own_hole.map_or(0, |hole| hole.length as usize);
            let damaged = damage.is_some_and(|damage| damage.touches(start, start + length));
            let whole =
                || start + packet.len() + following.len() + hole.map_or(0, |hole| hole.length as usize);
            // RFC 9000-14-4: "MUST NOT close a connection when it receives a datagram that does not meet size
            // constraints".
            if header.kind != PacketKind::OneRtt && !self.is_acceptable(header, packet, whole()) {
                self.drop_packet(now, header.kind, length, DropReason::Invalid);
            } else if let Some(kind) = space_of(header.kind) {
                let sealed = SealedPacket { header, kind, bytes: packet, hole: own_hole, damaged, ecn };
                self.open_packet(now, sealed);
            } else if header.kind == PacketKind::Retry {
                self.on_retry(now, header, packet);
            } else if header.kind == PacketKind::VersionNegotiation {
                self.on_version_negotiation(now, header, packet);
            } else {
                self.drop_packet(now, header.kind, length, DropReason::Invalid);
            }
            start += length;
            hole = hole
                .filter(|_| own_hole.is_none())
                .map(|hole| Hole { at: hole.at - header.end as u32, ..hole });
            rest = following;
        }
    }

    /// Whether the long header of a packet permits processing it.
    #[cold]
    fn is_acceptable(&self, header: &Header, packet: &[u8], datagram_length: usize) -> bool {
        // RFC 9000-7.2-3, 9000-7.2-6: "discard any subsequent packet it receives on that connection with a
        // different Source Connection ID".
        let known =
            self.origin.peer_id.is_none_or(|id| id == header.source) || space_of(header.kind).is_none();
        // RFC 9000-5.2.1-1: a client discards packets that use "a different version than it initially selected".
        if !self.admits_version(header) {
            return false;
        }
        let initial = match self.origin.side {
            // RFC 9000-14.1-3: a client's Initial packets arrive in datagrams of at least 1200 bytes. 9000-8.2.1-4:
            // other packets need not.
            Side::Server => datagram_length >= usize::from(MIN_PAYLOAD),
            // RFC 9000-17.2.2-2: a server's Initial packets have no token.
            Side::Client => header.token(packet).is_empty(),
        };
        // RFC 9000 section 17.2.3: only clients send 0-RTT packets.
        let early = header.kind != PacketKind::ZeroRtt || self.origin.side == Side::Server;
        known && early && (initial || header.kind != PacketKind::Initial)
    }

    /// Opens one packet and processes its frames.
    #[inline]
    fn open_packet(&mut self, now: Time, packet: SealedPacket<'_>) {
        let SealedPacket { header, kind, bytes, hole, damaged, ecn } = packet;
        let length = bytes.len() + hole.map_or(0, |hole| hole.length as usize);
        let largest = self.spaces.get(kind).map(|space| space.received.ranges.max());
        if kind == SpaceKind::Initial
            && header.version != self.versions.in_use()
            && self.versions.former_keys().is_none()
            && !self.follow(header, bytes, largest.flatten(), damaged)
        {
            return self.drop_packet(now, header.kind, length, DropReason::DecryptionFailure);
        }
        if !self.can_open(header.kind) {
            return self.put_aside(now, SealedPacket { header, kind, bytes, hole, damaged, ecn });
        }
        let largest = largest.expect("a space whose keys are there is not discarded");
        let opened = self.unprotect(now, header, bytes, largest, damaged);
        let (number, payload) = match opened {
            Ok(opened) => opened,
            // RFC 9000-12.2-4: "MUST attempt to process the remaining packets".
            Err(reason) => {
                if reason == DropReason::DecryptionFailure {
                    self.note_open_failure(now);
                }
                self.drop_packet(now, header.kind, length, reason);
                return;
            }
        };
        // RFC 9000-12.3-4, 9000-12.3-5: "unless it is certain that it has not processed another packet with the
        // same packet number", after decryption, so that an attacker learns nothing.
        let received = self.spaces.get(kind).is_some_and(|space| space.received.is_duplicate(number));
        if received {
            return self.drop_packet(now, header.kind, length, DropReason::Duplicate);
        }
        // RFC 9000-17.2-7, 9000-17.3.1-3: "a non-zero value for these bits" is a PROTOCOL_VIOLATION.
        if !FirstByte(bytes[0]).reserved_bits_are_zero() {
            if !self.acks.admits_bit(FirstByte(bytes[0])) {
                let error = TransportError::new(Code::PROTOCOL_VIOLATION, "reserved bits set");
                return self.fail(now, error);
            }
            self.ack_immediately();
        }
        self.stats.packets_received += 1;
        if self.zero_rtt.is_some() && header.kind == PacketKind::OneRtt {
            self.on_one_rtt_packet(now);
        }
        if header.kind == PacketKind::OneRtt
            && let Some(variety) = &mut self.variety
            && largest.is_none_or(|largest| number > largest)
        {
            variety.on_newest(self.origin.side, bytes[0]);
        }
        self.on_authenticated(now, kind, header);
        let virtual_tail = hole.map_or(0, |hole| hole.length as usize);
        let payload = &bytes[payload.0..payload.1];
        let destination = header.destination;
        let traced = TracedPacket { number, destination, length, payload, virtual_tail };
        self.trace_packet_received(now, header, &traced);
        match self.process_frames(now, kind, header, payload, virtual_tail) {
            // RFC 9000-13.1-1: not "until packet protection has been successfully removed and all frames
            // contained in the packet have been processed".
            Ok(ack_eliciting) => {
                self.note_received(now, kind, number, ack_eliciting, ecn);
                if self.progress < Progress::Complete && kind != SpaceKind::Data {
                    self.note_handshake_packet(kind, payload, ack_eliciting);
                }
            }
            Err(error) => self.fail(now, error),
        }
        if self.came_on_other_path() && kind == SpaceKind::Data {
            let newest = largest.is_none_or(|largest| number > largest);
            let probing = is_probing(payload, virtual_tail);
            self.on_packet_of_other_path(now, header.destination, newest, probing);
        }
    }

    /// Removes header and packet protection. Returns the packet number and the range of the frames.
    #[inline]
    fn unprotect(
        &mut self,
        now: Time,
        header: &Header,
        bytes: &mut [u8],
        largest: Option<u64>,
        damaged: bool,
    ) -> Result<(u64, (usize, usize)), DropReason> {
        let opener = self.opener(header).ok_or(DropReason::KeyUnavailable)?;
        // RFC 9000-10.3-3: "packets that are too small to be valid QUIC packets".
        opener.unprotect(bytes, header.number_offset).map_err(|_| DropReason::HeaderParse)?;
        let truncated = header.number(bytes).map_err(|_| DropReason::HeaderParse)?;
        let number = truncated.expand(largest);
        let start = header.number_offset + truncated.length();
        if damaged && opener.is_null() {
            return Err(DropReason::DecryptionFailure);
        }
        // RFC 9000 section 17.3.1 and RFC 9001 section 6.2.
        if header.kind == PacketKind::OneRtt {
            if FirstByte(bytes[0]).key_phase() != self.keys.phases.bit {
                let length = self.open_other_phase(now, number, bytes, start)?;
                return Ok((number, (start, start + length)));
            }
            let length = opener.open(number, bytes, start).map_err(|_| DropReason::DecryptionFailure)?;
            self.keys.phases.on_received(number);
            self.keys.phases.opened_previous = false;
            return Ok((number, (start, start + length)));
        }
        let length = opener.open(number, bytes, start).map_err(|_| DropReason::DecryptionFailure)?;
        Ok((number, (start, start + length)))
    }

    /// The keys that open a packet.
    #[inline]
    fn opener(&self, header: &Header) -> Option<&tls::Opener> {
        if header.kind == PacketKind::ZeroRtt {
            return self.zero_rtt.as_ref()?.opener.as_ref();
        }
        if header.kind == PacketKind::Initial && header.version != self.versions.in_use() {
            return self.versions.former_keys().map(|keys| &keys.remote);
        }
        Some(&self.keys.get(space_of(header.kind)?)?.remote)
    }

    /// Handles a successfully decrypted packet, which authenticates the peer.
    #[inline]
    fn on_authenticated(&mut self, now: Time, kind: SpaceKind, header: &Header) {
        self.idle.on_received(now);
        if kind == SpaceKind::Data {
            return;
        }
        self.versions.on_seen(header.version);
        // RFC 9000-7.2-2, 9000-7.2-4: "in response to only the first received Initial or Retry packet".
        if self.origin.peer_id.is_none() {
            // RFC 9000 section 7.2: the server chooses its id with its first packet.
            self.origin.peer_id = Some(header.source);
            self.set_peer_id(header.source);
        }
        if kind == SpaceKind::Handshake && self.origin.side == Side::Server {
            // RFC 9000 section 8.1: a Handshake packet validates the client's address. RFC 9001 section 4.9.1:
            // Initial packets are discarded.
            self.on_address_validated();
            self.discard_space(now, SpaceKind::Initial);
        }
    }

    #[inline]
    pub(super) fn note_received(
        &mut self,
        now: Time,
        kind: SpaceKind,
        number: u64,
        ack_eliciting: bool,
        ecn: Ecn,
    ) {
        match kind {
            SpaceKind::Data => {
                let policy = Some(&mut self.acks.policy);
                self.spaces.data.received.note(now, number, ack_eliciting, ecn, policy);
            }
            early => {
                // The packet itself may have completed the handshake, and discarded its space.
                if let Some(space) = self.spaces.get_mut(early) {
                    space.received.note(now, number, ack_eliciting, ecn, None);
                }
            }
        }
    }

    /// Requests an immediate acknowledgement of the packet being read (draft-ietf-quic-ack-frequency section 5).
    #[cold]
    pub(super) fn ack_immediately(&mut self) {
        self.spaces.data.received.ack_immediately();
    }

    /// Whether keys for packets of this type may still become available.
    fn may_come(&self, packet: PacketKind) -> bool {
        if packet == PacketKind::ZeroRtt {
            // The complete ClientHello decides it.
            return self.origin.side == Side::Server && self.peer.is_none();
        }
        let space = space_of(packet).and_then(|kind| self.spaces.get(kind));
        self.progress < Progress::Complete && space.is_some()
    }

    /// Keeps a packet whose keys may still become available.
    fn put_aside(&mut self, now: Time, packet: SealedPacket<'_>) {
        let SealedPacket { header, bytes, hole, damaged, ecn, .. } = packet;
        let kind = header.kind;
        if !self.may_come(kind) || self.early.waiting.len() >= MAX_EARLY {
            let length = bytes.len() + hole.map_or(0, |hole| hole.length as usize);
            return self.drop_packet(now, kind, length, DropReason::KeyUnavailable);
        }
        let damage = damaged.then_some(Damage { first: 0, last: u32::MAX });
        self.early.waiting.push(WaitingPacket { kind, bytes: bytes.to_vec(), hole, damage, ecn });
    }
}

/// Whether a packet can be decrypted with these keys, given the largest number so far and whether it was damaged in
/// transit. Alters the packet.
pub(crate) fn can_decrypt(
    keys: &tls::Keys,
    header: &Header,
    packet: &mut [u8],
    largest: Option<u64>,
    damaged: bool,
) -> bool {
    if damaged && keys.remote.is_null() || keys.remote.unprotect(packet, header.number_offset).is_err() {
        return false;
    }
    let Ok(number) = header.number(packet) else { return false };
    let payload = header.number_offset + number.length();
    keys.remote.open(number.expand(largest), packet, payload).is_ok()
}

#[inline]
fn space_of(kind: PacketKind) -> Option<SpaceKind> {
    match kind {
        PacketKind::OneRtt | PacketKind::ZeroRtt => Some(SpaceKind::Data),
        PacketKind::Initial => Some(SpaceKind::Initial),
        PacketKind::Handshake => Some(SpaceKind::Handshake),
        _ => None,
    }
}
