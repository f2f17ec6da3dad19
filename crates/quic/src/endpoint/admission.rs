//! Admission of clients: first packets, and responses that need no connection (RFC 9000 sections 5.2.2, 6.1 and 8.1).

use super::Endpoint;
use crate::address_token::{self, Credential, Presentation, Presented, TokenLifetimes};
use crate::config::{Config, RetryPolicy};
use crate::connection::{Connection, Datagram, Origin, can_decrypt};
use crate::error::TransportError;
use crate::ids::{LOCAL_ID_LENGTH, MAX_SLOTS, MIN_INITIAL_ID};
use crate::path::MIN_PAYLOAD;
use std::net::SocketAddr;
use std::sync::Arc;
use trace::PacketKind;
use units::Time;
use wire::header::{Invariants, LongHeader};
use wire::{Code, ConnectionId, FirstByte, Frame, Header, Side, Truncated, Version};

/// The tag of every AEAD of QUIC (RFC 9001 section 5.3).
const TAG: usize = 16;

/// A client's first packet, its token's presentation, and the configuration for its connection.
struct FirstPacket<'a> {
    header: &'a Header,
    config: Arc<Config>,
    presentation: Presentation,
}

impl Endpoint {
    /// Sets whether new clients are refused with CONNECTION_REFUSED (RFC 9000 section 5.2.2); existing connections
    /// continue. For a graceful shutdown of a server.
    pub fn refuse_new(&mut self, refuse: bool) {
        self.refusing = refuse;
    }

    /// Handles a client's first packet (RFC 9000 sections 7.2 and 14.1).
    pub(super) fn admit(&mut self, now: Time, header: &Header, datagram: &mut Datagram<'_>) {
        // RFC 9000-17.2-1: "Packets containing a zero value for this bit are not valid packets", before the
        // handshake has negotiated otherwise.
        let acceptable = header.kind == PacketKind::Initial
            && FirstByte(datagram.bytes[0]).fixed_bit()
            && header.destination.len() >= MIN_INITIAL_ID
            && datagram.length() >= usize::from(MIN_PAYLOAD);
        let Some(config) = self.options.accept.clone().filter(|_| acceptable) else {
            // RFC 9000-5.2.2-2: "Servers MUST drop incoming packets under all other circumstances."
            self.stats.dropped += 1;
            return;
        };
        let date_ms = self.options.tls.date(now).as_millis() as u64;
        let (remote, version, destination) = (datagram.remote, header.version, header.destination);
        let first_packet = FirstPacket {
            header,
            config,
            presentation: Presentation { remote, version, destination, date_ms },
        };
        let lifetimes = TokenLifetimes {
            retry: first_packet.config.retry_token_lifetime,
            new: first_packet.config.new_token_lifetime,
        };
        let token = header.token(datagram.bytes);
        let resumes = first_packet.config.resume.token;
        let presented = resumes.then(|| self.spent.presented(&self.key, token, &first_packet.presentation));
        let credential = self.spent.check(&self.key, token, &first_packet.presentation, lifetimes);
        match credential {
            // RFC 9000 section 8.1.2: the client does not accept another Retry, so the connection is refused
            // immediately.
            Credential::Invalid => return self.refuse(Code::INVALID_TOKEN, &first_packet, datagram),
            Credential::Known => self.stats.new_tokens_accepted += 1,
            Credential::Retried(_) => self.stats.retry_tokens_accepted += 1,
            Credential::Ignored => self.stats.tokens_ignored += 1,
            Credential::None => {}
        }
        let validated = matches!(credential, Credential::Known | Credential::Retried(_));
        let limited = self.door.is_limited();
        let full = self.len() >= MAX_SLOTS || limited && !self.door.has_place(now, remote);
        let busy = !limited && self.half_open >= self.options.max_half_open;
        if self.refusing || full {
            self.refuse(Code::CONNECTION_REFUSED, &first_packet, datagram);
        } else if !validated && self.asks_for_retry(&first_packet.config, remote) {
            self.retry(&first_packet, datagram);
        } else if busy {
            self.refuse(Code::CONNECTION_REFUSED, &first_packet, datagram);
        } else {
            self.accept(now, first_packet, credential, presented.flatten(), datagram);
        }
    }

    fn asks_for_retry(&self, config: &Config, remote: SocketAddr) -> bool {
        match config.retry {
            RetryPolicy::Never => false,
            RetryPolicy::Always => true,
            RetryPolicy::Busy => {
                self.half_open as u64 >= config.retry_above
                    || self.door.is_limited() && self.door.is_crowded(remote)
            }
        }
    }

    /// Creates a connection.
    fn accept(
        &mut self,
        now: Time,
        first_packet: FirstPacket<'_>,
        credential: Credential,
        presented: Option<Presented>,
        datagram: &mut Datagram<'_>,
    ) {
        let FirstPacket { header, config, .. } = first_packet;
        let destination = header.destination;
        let retried = match credential {
            Credential::Retried(original) => Some(original),
            _ => None,
        };
        let origin = Origin {
            side: Side::Server,
            local: datagram.local,
            remote: datagram.remote,
            version: header.version,
            initial_destination: destination,
            original_destination: retried.unwrap_or(destination),
            retry_source: retried.map(|_| destination),
            validated: retried.is_some() || credential == Credential::Known,
            source: ConnectionId::EMPTY,
            // RFC 9000-7.2-5: "based on the first received Initial packet".
            peer_id: Some(header.source),
        };
        let Ok(slot) = self.insert(now, origin, config, presented, None) else {
            self.stats.dropped += 1;
            return;
        };
        self.initial_ids.insert((datagram.remote, destination), slot);
        self.deliver(now, slot, datagram);
        let entry = &mut self.slots[slot as usize];
        if entry.connection.as_deref().is_some_and(Connection::is_blank) {
            // No packet could be decrypted: the datagram is not a client's first, or it was altered in transit.
            self.remove(slot);
            self.stats.dropped += 1;
            return;
        }
        entry.half_open = true;
        self.half_open += 1;
        self.stats.accepted += 1;
        if self.door.is_limited()
            && let Some(out) = self.door.begin(now, datagram.remote, slot)
        {
            self.stats.handshakes_gave_way += 1;
            self.give_way(now, out, "another handshake needs the place");
        }
        self.deliver_waiting(now, slot, datagram.remote, destination);
    }

    /// Gives a client whose handshake is complete its place, and notes what one with a place does.
    #[cold]
    pub(super) fn look_at_the_door(&mut self, now: Time, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        let connection = entry.connection.as_deref().expect("only a connection stands at the door");
        if entry.admitted {
            return self.door.note(now, slot, connection.work());
        }
        if !connection.is_established() {
            return;
        }
        entry.half_open = false;
        self.half_open -= 1;
        if !self.door.is_limited() {
            return;
        }
        entry.admitted = true;
        match self.door.establish(now, slot, connection.work()) {
            None => {}
            Some(own) if own == slot => {
                self.stats.refused += 1;
                self.give_way(now, slot, "the server has no place for another client");
            }
            Some(out) => {
                self.stats.clients_gave_way += 1;
                self.give_way(now, out, "another client needs the place");
            }
        }
    }

    /// Ends a connection for the sake of others: it is told once, and then gone.
    #[cold]
    pub(super) fn give_way(&mut self, now: Time, slot: u32, why: &'static str) {
        let entry = &mut self.slots[slot as usize];
        self.half_open -= usize::from(std::mem::take(&mut entry.half_open));
        entry.admitted = false;
        self.door.leave(slot);
        if let Some(connection) = entry.connection.as_deref_mut() {
            connection.give_way(now, TransportError::new(Code::CONNECTION_REFUSED, why));
        }
        self.touch(slot);
    }

    /// Requests address validation by a Retry packet (RFC 9000 section 8.1.2). No state is kept.
    fn retry(&mut self, first_packet: &FirstPacket<'_>, datagram: &Datagram<'_>) {
        if !self.answers.has_room_for_retry() {
            self.stats.answers_withheld += 1;
            return;
        }
        // RFC 9000-17.2.5.1-1: "MUST NOT be equal to the Destination Connection ID": a random id is not.
        let source = self.stateless_id();
        let token =
            address_token::retry_token(&self.key, &mut self.random, &first_packet.presentation, source);
        let Presentation { version, destination, .. } = first_packet.presentation;
        let mut packet = Vec::with_capacity(128);
        // RFC 9369 section 4.1: in the version of the client's first packet.
        wire::header::retry(&mut packet, version, first_packet.header.source, source, &token);
        let tag = tls::retry_integrity_tag(version.0, destination.as_bytes(), &packet);
        packet.extend_from_slice(&tag);
        // RFC 9000-17.2.5.1-4: not "more than one Retry packet in response to a single UDP datagram".
        self.answers.push(datagram, packet);
        self.stats.retries_sent += 1;
    }

    /// Answers a client's first packet, if it is authentic, with CONNECTION_CLOSE in an Initial packet, without
    /// keeping state (RFC 9000 sections 5.2.2 and 8.1.2).
    fn refuse(&mut self, code: Code, first_packet: &FirstPacket<'_>, datagram: &mut Datagram<'_>) {
        if !self.answers.has_room() {
            self.stats.answers_withheld += 1;
            return;
        }
        let Presentation { version, destination, .. } = first_packet.presentation;
        let protection = self.options.tls.protection();
        let keys = tls::initial_keys(protection, version.0, destination.as_bytes(), Side::Server);
        let end = first_packet.header.end;
        let damaged = datagram.damage.is_some_and(|damage| damage.touches(0, end));
        let packet = datagram.bytes.get_mut(..end).expect("a packet that was parsed lies in its datagram");
        if !can_decrypt(&keys, first_packet.header, packet, None, damaged) {
            self.stats.dropped += 1;
            return;
        }
        let header = LongHeader {
            kind: PacketKind::Initial,
            version,
            destination: first_packet.header.source,
            source: self.stateless_id(),
            token: &[],
            number: Truncated::new(0, None),
        };
        let mut packet = Vec::with_capacity(128);
        let written = header.write(&mut packet);
        let payload = packet.len();
        Frame::ConnectionClose { code, frame_type: 0, reason: &[] }.encode(&mut packet);
        packet.resize(packet.len().max(written.number_offset + 4) + TAG, 0);
        let length = packet.len() - payload;
        let number_offset = written.number_offset;
        written.set_length(&mut packet, length);
        keys.local.seal(0, &mut packet, number_offset, payload);
        self.answers.push(datagram, packet);
        match code {
            Code::INVALID_TOKEN => self.stats.invalid_tokens += 1,
            _ => self.stats.refused += 1,
        }
    }

    /// A random id that belongs to no connection.
    fn stateless_id(&mut self) -> ConnectionId {
        let id = self.random.bits().to_be_bytes();
        ConnectionId::new(&id[..LOCAL_ID_LENGTH]).expect("a connection ID may have 8 bytes")
    }

    /// RFC 9000 section 6.1: answers a sufficiently large datagram of an unsupported version with the server's
    /// versions.
    pub(super) fn negotiate(&mut self, version: Version, datagram: &Datagram<'_>) {
        // RFC 9000-6.1-1, 9000-5.2.2-1: not "in response to receiving a Version Negotiation packet", nor to
        // small datagrams.
        let answerable = self.options.accept.is_some()
            && version != Version::NEGOTIATION
            && datagram.length() >= usize::from(MIN_PAYLOAD);
        // RFC 9000-17.2.1-5: "MUST NOT influence a decision about whether to send a Version Negotiation
        // packet".
        let Some(invariants) = Invariants::parse(datagram.bytes).ok().filter(|_| answerable) else {
            self.stats.dropped += 1;
            return;
        };
        if !self.answers.has_room() {
            self.stats.answers_withheld += 1;
            return;
        }
        let mut packet = Vec::new();
        let unused = self.random.bits() as u8 & 0x7f;
        // RFC 9000-17.2.1-3, 9000-17.2.1-4: "the value from the Source Connection ID field of the packet it
        // receives", and the reverse.
        let (destination, source) = (invariants.source, invariants.destination);
        let spoken: Vec<_> = self.options.accept.iter().flat_map(|config| config.versions.iter()).collect();
        wire::header::version_negotiation(&mut packet, unused, destination, source, &spoken);
        // RFC 9000-17.2.1-6: not "more than one Version Negotiation packet in response to a single UDP
        // datagram".
        self.answers.push(datagram, packet);
        self.stats.version_negotiations_sent += 1;
    }
}
