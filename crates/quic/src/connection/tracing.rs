//! The trace events of a connection. Every function first checks whether they are wanted.

use super::Connection;
use crate::error::CloseReason;
use crate::space::SpaceKind;
use crate::stats::Stats;
use std::net::SocketAddr;
use trace::event::{DropReason, EcnState, LossTrigger, MigrationState};
use trace::{Contents, Event, Interest, Log, Packet, PacketKind, Wait, Waits};
use units::Time;
use wire::{ConnectionId, Header, Side, StreamId, TransportParameters, Version, VersionList};

/// What was traced last.
pub(super) struct Traced {
    /// The state of the controller.
    pub(super) state: &'static str,
    /// What this end waits for, if that is of interest.
    waits: Option<Box<Waits>>,
}

impl Traced {
    /// Nothing yet.
    pub(super) fn new(now: Time, interest: Interest) -> Traced {
        Traced { state: "", waits: interest.metrics.then(|| Box::new(Waits::new(now))) }
    }
}

/// A packet as its trace shows it.
pub(super) struct TracedPacket<'a> {
    pub number: u64,
    pub destination: ConnectionId,
    /// Its size in bytes.
    pub length: usize,
    /// Its encoded frames, without the virtual bytes behind them.
    pub payload: &'a [u8],
    pub virtual_tail: usize,
}

impl Connection {
    /// The log of events that wait for a sink.
    pub fn log(&mut self) -> &mut Log {
        &mut self.log
    }
    /// The counters except those of streams.
    pub(super) fn counters(&self) -> Stats {
        self.with_path_stats(self.with_datagram_stats(self.stats.clone()))
    }
    /// Whether no packet has been decrypted yet.
    pub(crate) fn is_blank(&self) -> bool {
        self.stats.packets_received == 0
    }

    pub(super) fn trace_start(&mut self, now: Time) {
        if self.log.interest().lifecycle {
            let event = Event::ConnectionStarted {
                local: self.origin.local,
                remote: self.origin.remote,
                source: self.origin.source.as_bytes().to_vec(),
                original_destination: self.origin.original_destination.as_bytes().to_vec(),
            };
            self.log.push(now, event);
            let values = self.local_parameters.integers();
            self.log.push(now, Event::ParametersSet { local: true, values });
            self.trace_keys(now, SpaceKind::Initial);
        }
    }

    /// Traces the peer's versions, and the negotiated one, if any.
    pub(super) fn trace_versions(&mut self, now: Time, peer: VersionList, chosen: Option<Version>) {
        let silent = self.local_parameters.version_information.is_none();
        if self.log.interest().lifecycle && !silent {
            let list = |versions: VersionList| versions.iter().map(|version| version.0).collect::<Vec<_>>();
            let (own, peer) = (list(self.config.versions), list(peer));
            let (client, server) = if self.origin.side == Side::Client { (own, peer) } else { (peer, own) };
            let chosen = chosen.map(|version| version.0);
            self.log.push(now, Event::VersionInformation { server, client, chosen });
        }
    }

    pub(super) fn trace_parameters(&mut self, now: Time, peer: &TransportParameters) {
        if self.log.interest().lifecycle {
            self.log.push(now, Event::ParametersSet { local: false, values: peer.integers() });
        }
    }

    pub(super) fn trace_lifecycle(&mut self, now: Time, event: Event) {
        if self.log.interest().lifecycle {
            self.log.push(now, event);
        }
    }

    pub(super) fn trace_state(&mut self, now: Time, state: &'static str) {
        if self.log.interest().lifecycle {
            self.log.push(now, Event::ConnectionState { state });
        }
    }

    pub(super) fn trace_migration(
        &mut self,
        now: Time,
        state: MigrationState,
        local: SocketAddr,
        remote: SocketAddr,
    ) {
        if self.log.interest().lifecycle {
            self.log.push(now, Event::MigrationState { state, local, remote });
        }
    }

    pub(super) fn trace_ecn_state(&mut self, now: Time, state: EcnState) {
        if self.log.interest().lifecycle {
            self.log.push(now, Event::EcnState { state });
        }
    }

    /// Traces the old and the new maximum datagram size.
    pub(super) fn trace_mtu(&mut self, now: Time, old: u16, new: u16, done: bool) {
        if self.log.interest().lifecycle {
            self.log.push(now, Event::MtuUpdated { old: u32::from(old), new: u32::from(new), done });
        }
    }

    pub(super) fn trace_stream_opened(&mut self, stream: StreamId) {
        if self.log.interest().lifecycle {
            let local = stream.initiator() == self.origin.side;
            self.log.push(self.now, Event::StreamOpened { stream: stream.value(), local });
        }
    }

    #[inline]
    pub(super) fn trace_stream_event(&mut self, event: &crate::Event) {
        if self.log.interest().lifecycle {
            match *event {
                crate::Event::Opened(stream) => self.trace_stream_opened(stream),
                crate::Event::Closed { stream, sent, received } => {
                    let stream = stream.value();
                    self.log.push(self.now, Event::StreamClosed { stream, sent, received });
                }
                _ => {}
            }
        }
    }

    pub(super) fn trace_closed(&mut self, now: Time, reason: &CloseReason) {
        if self.log.interest().lifecycle {
            let (application, code) = reason.code();
            let event = Event::ConnectionClosed {
                local: reason.is_local(),
                application,
                code,
                reason: reason.to_string(),
            };
            self.log.push(now, event);
        }
    }

    pub(super) fn trace_keys(&mut self, now: Time, kind: SpaceKind) {
        if self.log.interest().lifecycle {
            let phase = (kind == SpaceKind::Data).then_some(0);
            for key in key_names(kind) {
                self.log.push(now, Event::KeyUpdated { key, phase });
            }
        }
    }

    /// Counts and traces an update of the 1-RTT keys of both directions.
    pub(super) fn note_key_update(&mut self, now: Time) {
        self.stats.key_updates += 1;
        if self.log.interest().lifecycle {
            let phase = Some(self.stats.key_updates);
            for key in key_names(SpaceKind::Data) {
                self.log.push(now, Event::KeyUpdated { key, phase });
            }
        }
    }

    /// Traces the remembered parameters for 0-RTT.
    pub(super) fn trace_restored(&mut self, now: Time, remembered: &TransportParameters) {
        if self.log.interest().lifecycle {
            let kept = |(name, _): &(&str, u64)| !matches!(*name, "ack_delay_exponent" | "max_ack_delay");
            let values = remembered.integers().into_iter().filter(kept).collect();
            self.log.push(now, Event::ParametersRestored { values });
        }
    }

    /// Traces that the 0-RTT keys were installed or discarded. Only clients send 0-RTT packets.
    pub(super) fn trace_early_keys(&mut self, now: Time, installed: bool) {
        if self.log.interest().lifecycle {
            let key = "client_0rtt_secret";
            self.log.push(
                now,
                if installed { Event::KeyUpdated { key, phase: None } } else { Event::KeyDiscarded { key } },
            );
        }
    }

    pub(super) fn trace_keys_discarded(&mut self, now: Time, kind: SpaceKind) {
        if self.log.interest().lifecycle {
            for key in key_names(kind) {
                self.log.push(now, Event::KeyDiscarded { key });
            }
        }
    }

    /// Traces what this end waits for from now on.
    #[inline]
    pub(super) fn trace_wait(&mut self, now: Time, wait: Wait) {
        if let Some(waits) = &mut self.traced.waits {
            waits.note(now, wait, &mut self.log);
        }
    }
    /// Traces whether received data waits for data before it.
    #[inline]
    pub(super) fn trace_gap(&mut self, now: Time, in_gap: bool) {
        if let Some(waits) = &mut self.traced.waits {
            waits.note_gap(now, in_gap, &mut self.log);
        }
    }
    /// Whether it is traced what this end waits for.
    #[inline]
    pub(super) fn traces_waits(&self) -> bool {
        self.traced.waits.is_some()
    }

    /// Whether each packet is traced.
    #[inline]
    pub(super) fn traces_packets(&self) -> bool {
        self.log.interest().packets
    }
    /// Whether events were traced that the sinks have to take now.
    #[inline]
    pub(crate) fn records_are_due(&self) -> bool {
        self.log.is_due() || (self.is_over() && !self.log.is_empty())
    }

    #[inline]
    pub(super) fn trace_datagram_sent(&mut self, now: Time, length: usize) {
        if self.log.interest().datagrams() {
            let number = self.stats.datagrams_sent - 1;
            self.log.push_datagram_sent(now, number, length as u32);
        }
    }
    #[inline]
    pub(super) fn trace_datagram_received(&mut self, now: Time, length: usize) {
        if self.log.interest().packets {
            let number = self.stats.datagrams_received - 1;
            self.log.push(now, Event::DatagramReceived { number, length: length as u32 });
        }
    }

    /// Traces a packet with its encoded frames, so that the trace shows exactly what is sent.
    #[inline]
    pub(super) fn trace_packet_sent(&mut self, now: Time, kind: SpaceKind, sent: &TracedPacket<'_>) {
        if self.log.interest().packets {
            let kind = self.packet_kind(kind);
            let long = kind != PacketKind::OneRtt;
            let source = if long { self.origin.source } else { ConnectionId::EMPTY };
            let mut packet = self.log.packet();
            (packet.kind, packet.number, packet.length) = (kind, Some(sent.number), sent.length as u32);
            packet.datagram = self.stats.datagrams_sent;
            packet.set_ids(sent.destination.as_bytes(), source.as_bytes());
            packet.set_frames(sent.payload, sent.virtual_tail as u32, self.config.ack_delay_exponent);
            self.log.push(now, Event::PacketSent(packet));
        }
    }

    #[inline]
    pub(super) fn trace_packet_received(&mut self, now: Time, header: &Header, received: &TracedPacket<'_>) {
        if self.log.interest().packets {
            let exponent = self.peer.as_ref().map_or(3, |peer| peer.ack_delay_exponent as u8);
            let mut packet = self.log.packet();
            (packet.kind, packet.number, packet.length) =
                (header.kind, Some(received.number), received.length as u32);
            packet.datagram = self.stats.datagrams_received - 1;
            packet.set_ids(received.destination.as_bytes(), header.source.as_bytes());
            packet.set_frames(received.payload, received.virtual_tail as u32, exponent);
            self.log.push(now, Event::PacketReceived(packet));
        }
    }

    pub(super) fn note_retry_received(&mut self, now: Time, header: &Header, length: usize) {
        self.stats.packets_received += 1;
        if self.log.interest().packets {
            let packet = Packet {
                kind: header.kind,
                number: None,
                length: length as u32,
                destination: header.destination.as_bytes().to_vec(),
                source: header.source.as_bytes().to_vec(),
                contents: Contents::NONE,
                datagram: self.stats.datagrams_received - 1,
            };
            self.log.push(now, Event::PacketReceived(Box::new(packet)));
        }
    }

    #[cold]
    pub(super) fn drop_packet(&mut self, now: Time, kind: PacketKind, length: usize, reason: DropReason) {
        self.stats.packets_dropped += 1;
        if self.log.interest().packets {
            self.log.push(now, Event::PacketDropped { kind, length: length as u32, reason });
        }
    }

    pub(super) fn trace_losses(&mut self, now: Time, kind: SpaceKind) {
        let interest = self.log.interest();
        if interest.packets || interest.metrics {
            let first_one_rtt = self.first_one_rtt();
            for loss in &self.losses {
                let early = kind == SpaceKind::Data && loss.number < first_one_rtt;
                let kind = if early { PacketKind::ZeroRtt } else { kind.packet_kind() };
                let trigger: LossTrigger = loss.trigger;
                self.log.push(now, Event::PacketLost { kind, number: loss.number, trigger });
            }
        }
    }
}

fn key_names(kind: SpaceKind) -> [&'static str; 2] {
    match kind {
        SpaceKind::Initial => ["client_initial_secret", "server_initial_secret"],
        SpaceKind::Handshake => ["client_handshake_secret", "server_handshake_secret"],
        SpaceKind::Data => ["client_1rtt_secret", "server_1rtt_secret"],
    }
}
