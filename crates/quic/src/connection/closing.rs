//! How a connection ends (RFC 9000 section 10).

use super::Connection;
use crate::error::{CloseReason, TransportError};
use crate::event::Event;
use crate::path::AMPLIFICATION;
use crate::space::SpaceKind;
use units::{Duration, Time};
use wire::{Code, Frame};

/// The longest reason that is sent.
const MAX_REASON: usize = 256;

/// The state of a connection between open and gone.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Phase {
    /// In use.
    Open,
    /// Closed by this endpoint: CONNECTION_CLOSE answers incoming packets (10.2.1).
    Closing {
        until: Time,
        /// Whether CONNECTION_CLOSE is to be sent.
        pending: bool,
        /// The number of datagrams received since then.
        received: u64,
        /// The number of bytes that may be sent in response; `None` before the first CONNECTION_CLOSE, which is not a
        /// response.
        credit: Option<u64>,
    },
    /// Closed by the peer: nothing is sent any more (10.2.2).
    Draining { until: Time },
    /// The endpoint can remove the connection.
    Gone,
}

/// The end of a connection.
#[derive(Debug)]
pub(super) struct Closing {
    phase: Phase,
    reason: Option<CloseReason>,
}

impl Closing {
    /// The state of an open connection.
    pub(super) fn new() -> Closing {
        Closing { phase: Phase::Open, reason: None }
    }
    /// The end of the closing or draining period; `None` if the connection is open or gone.
    #[inline]
    pub(super) fn until(&self) -> Option<Time> {
        match self.phase {
            Phase::Closing { until, .. } | Phase::Draining { until } => Some(until),
            Phase::Open | Phase::Gone => None,
        }
    }
    /// Ends the closing or draining period.
    pub(super) fn finish(&mut self) {
        self.phase = Phase::Gone;
    }
}

impl Connection {
    /// Whether the connection is closing, draining or gone: it accepts nothing more from the application.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.closing.phase != Phase::Open
    }
    /// Whether the endpoint can remove the connection (RFC 9000 section 10.2).
    pub fn is_gone(&self) -> bool {
        self.closing.phase == Phase::Gone
    }
    /// Why the connection ended, or is ending.
    pub fn close_reason(&self) -> Option<&CloseReason> {
        self.closing.reason.as_ref()
    }

    /// RFC 9000 section 10.2: the closing and draining states last three probe timeouts.
    fn lingering(&self) -> Duration {
        self.probe_timeout() * 3
    }

    /// Closes the connection because of a protocol violation or an internal error.
    pub(super) fn fail(&mut self, now: Time, error: TransportError) {
        // RFC 9000-11.1-1, 9000-10.3-1, 9000-11-1: "MUST be signaled using a CONNECTION_CLOSE frame", since the
        // connection state exists.
        self.begin_closing(now, CloseReason::Transport(error));
    }

    pub(super) fn begin_closing(&mut self, now: Time, reason: CloseReason) {
        if self.is_over() {
            return;
        }
        self.end(now, reason);
        self.closing.phase =
            Phase::Closing { until: now + self.lingering(), pending: true, received: 0, credit: None };
        self.trace_state(now, "closing");
    }

    pub(super) fn begin_draining(&mut self, now: Time, reason: CloseReason) {
        if self.is_over() {
            return;
        }
        self.end(now, reason);
        self.closing.phase = Phase::Draining { until: now + self.lingering() };
        self.trace_state(now, "draining");
    }

    /// Ends the connection with one CONNECTION_CLOSE and without a closing period: the endpoint needs its place.
    pub(crate) fn give_way(&mut self, now: Time, error: TransportError) {
        self.fail(now, error);
        if let Phase::Closing { until, .. } | Phase::Draining { until } = &mut self.closing.phase {
            *until = now;
        }
    }

    /// Ends the connection immediately, without notifying the peer.
    pub(super) fn end_silently(&mut self, now: Time, reason: CloseReason) {
        self.end(now, reason);
        self.closing.finish();
    }

    /// Reports the end and its reason to the application.
    fn end(&mut self, now: Time, reason: CloseReason) {
        self.learn(now, true);
        self.trace_closed(now, &reason);
        self.closing.reason = Some(reason);
        self.events.push_back(Event::Ended);
    }

    /// RFC 9000 section 10.2.1: repeats CONNECTION_CLOSE for the 1st, 2nd, 4th, 8th ... datagram received.
    pub(super) fn answer_while_closing(&mut self, length: u64) {
        if let Phase::Closing { pending, received, credit, .. } = &mut self.closing.phase {
            *received += 1;
            *pending |= received.is_power_of_two();
            // RFC 9000-10.2.1-1: "three times the cumulative size of the packets that are received": the
            // datagram is not decrypted.
            *credit = credit.map(|credit| credit + AMPLIFICATION * length);
        }
    }

    /// The maximum size of the CONNECTION_CLOSE datagram to send, if any.
    pub(super) fn closing_limit(&self) -> Option<u64> {
        match self.closing.phase {
            Phase::Closing { pending: true, credit, .. } => Some(credit.unwrap_or(u64::MAX)),
            _ => None,
        }
    }
    /// Notes that a CONNECTION_CLOSE datagram of this length was sent.
    pub(super) fn note_close_sent(&mut self, length: u64) {
        if let Phase::Closing { pending, credit, .. } = &mut self.closing.phase {
            *pending = false;
            *credit = Some(credit.map_or(0, |credit| credit.saturating_sub(length)));
        }
    }

    /// Appends the CONNECTION_CLOSE frame for a packet type: Initial and Handshake packets do not reveal an
    /// application's reason (10.2.3). The reason takes at most `room` bytes.
    pub(super) fn encode_close(&self, kind: SpaceKind, room: usize, out: &mut Vec<u8>) {
        let cut = |reason: &str| {
            let most = reason.len().min(MAX_REASON).min(room);
            let end = (0..=most).rev().find(|end| reason.is_char_boundary(*end));
            let end = end.expect("every text may be cut before its first letter");
            reason.as_bytes()[..end].to_vec()
        };
        match &self.closing.reason {
            Some(CloseReason::Local { code, reason }) if kind == SpaceKind::Data => {
                Frame::ApplicationClose { code: *code, reason: &cut(reason) }.encode(out);
            }
            Some(CloseReason::Transport(error)) => {
                let frame_type = error.frame_type.unwrap_or(0);
                Frame::ConnectionClose { code: error.code, frame_type, reason: &cut(&error.reason) }
                    .encode(out);
            }
            // RFC 9000-10.2.3-2, 9000-10.2.3-3, 9000-12.5-1: a "type 0x1d MUST be replaced by a
            // CONNECTION_CLOSE of type 0x1c", without its reason.
            _ => Frame::ConnectionClose { code: Code::APPLICATION_ERROR, frame_type: 0, reason: &[] }
                .encode(out),
        }
    }

    /// The spaces in which CONNECTION_CLOSE is sent: those whose packets the peer may be able to decrypt (10.2.3).
    /// Once the handshake is confirmed, only 1-RTT keys are left.
    pub(super) fn closing_spaces(&self) -> impl Iterator<Item = SpaceKind> + '_ {
        // RFC 9000-10.2.3-1: after confirmation, "an endpoint MUST send any CONNECTION_CLOSE frames in a 1-RTT
        // packet".
        SpaceKind::ALL.into_iter().filter(|kind| self.has_keys(*kind))
    }
}
