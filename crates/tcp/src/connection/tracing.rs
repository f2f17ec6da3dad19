//! Trace events of a connection. Each function first checks that somebody subscribed to them.

use super::Connection;
use crate::event::CloseReason;
use trace::{Contents, Event, Packet, PacketKind, SegmentData, Wait, Waits};
use units::Time;
use wire::tcp::{Flags, Header};

/// The stream number of a TCP connection in tables.
const STREAM: u64 = 0;

impl Connection {
    pub(super) fn trace_start(&mut self, now: Time) {
        if self.log.interest().metrics {
            let mut waits = Box::new(Waits::new(now));
            waits.note(now, Wait::Handshake, &mut self.log);
            self.traced.waits = Some(waits);
        }
        if self.log.interest().lifecycle
            && let Some(remote) = self.ends.remote
        {
            let (source, original_destination) = (Vec::new(), Vec::new());
            self.log.push(
                now,
                Event::ConnectionStarted { local: self.ends.local, remote, source, original_destination },
            );
            self.log.push(
                now,
                Event::StreamOpened { stream: STREAM, local: self.ends.side == wire::Side::Client },
            );
        }
    }

    pub(super) fn trace_state(&mut self, now: Time, state: &'static str) {
        if self.log.interest().lifecycle {
            self.log.push(now, Event::ConnectionState { state });
        }
    }

    pub(super) fn trace_closed(&mut self, now: Time, reason: &CloseReason) {
        if self.log.interest().lifecycle {
            let (application, code) = match reason {
                CloseReason::Application { code, .. } => (true, *code),
                _ => (false, 0),
            };
            let local = !matches!(reason, CloseReason::PeerReset | CloseReason::Refused);
            let (sent, received) = (self.stats.sent_bytes, self.incoming.next() - 1);
            self.log.push(now, Event::StreamClosed { stream: STREAM, sent, received });
            self.log
                .push(now, Event::ConnectionClosed { local, application, code, reason: reason.to_string() });
        }
    }

    #[inline]
    pub(super) fn trace_sent(&mut self, now: Time, header: &Header, payload: u64, size: u64) {
        let interest = self.log.interest();
        if interest.datagrams() {
            let number = self.stats.segments_sent - 1;
            self.log.push_datagram_sent(now, number, size as u32);
            if interest.packets {
                let number = self.numbers.ours.number(header.sequence, self.recovery.una).unwrap_or(0);
                let packet = self.packet(header, number, payload, size);
                self.log.push(now, Event::PacketSent(Box::new(packet)));
            }
        }
    }

    #[inline]
    pub(super) fn trace_received(&mut self, now: Time, header: &Header, payload: u64, size: u64) {
        if self.log.interest().packets {
            let number = self.stats.segments_received - 1;
            self.log.push(now, Event::DatagramReceived { number, length: size as u32 });
            let number = self.numbers.theirs.number(header.sequence, self.incoming.next()).unwrap_or(0);
            let packet = self.packet(header, number, payload, size);
            self.log.push(now, Event::PacketReceived(Box::new(packet)));
        }
    }

    /// A segment as a trace packet. Its number is that of its first byte, counted from the SYN.
    fn packet(&self, header: &Header, number: u64, payload: u64, size: u64) -> Packet {
        let fin = header.flags.has(Flags::FIN);
        let offset = number.saturating_sub(1);
        let data =
            (payload > 0 || fin).then_some(SegmentData { stream: STREAM, offset, length: payload, fin });
        Packet {
            kind: PacketKind::Segment,
            number: Some(number),
            length: size as u32,
            destination: Vec::new(),
            source: Vec::new(),
            contents: Contents::Segment { data, acknowledges: header.flags.has(Flags::ACK) },
            datagram: 0,
        }
    }

    pub(super) fn trace_losses(&mut self, now: Time) {
        self.stats.segments_declared_lost += self.recovery.losses.len() as u64;
        if self.log.interest().losses() {
            for loss in &self.recovery.losses {
                let (kind, number) = (PacketKind::Segment, loss.start);
                self.log.push(now, Event::PacketLost { kind, number, trigger: loss.trigger });
            }
        }
        self.recovery.losses.clear();
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
    pub(super) fn trace_gap(&mut self, now: Time) {
        if let Some(waits) = &mut self.traced.waits {
            waits.note_gap(now, self.incoming.has_gaps(), &mut self.log);
        }
    }

    #[inline]
    pub(super) fn trace_metrics(&mut self, now: Time) {
        if self.log.interest().metrics {
            self.recovery.trace(now, &mut self.traced.state, &mut self.log);
        }
    }
}
