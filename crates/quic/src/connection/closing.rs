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

/// Where a connection stands between open and forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Phase {
    /// In use.
    Open,
    /// This side closed it: CONNECTION_CLOSE answers what still comes (10.2.1).
    Closing {
        until: Time,
        /// Whether CONNECTION_CLOSE is to be sent.
        pending: bool,
        /// Datagrams that came since.
        received: u64,
        /// How many bytes may answer them; `None` until the first CONNECTION_CLOSE was sent, which answers nothing.
        credit: Option<u64>,
    },
    /// The other side closed it: nothing is sent any more (10.2.2).
    Draining { until: Time },
    /// Nothing is left to do.
    Gone,
}

/// The end of a connection.
#[derive(Debug)]
pub(super) struct Closing {
    phase: Phase,
    reason: Option<CloseReason>,
}

impl Closing {
    /// It is not in sight.
    pub(super) fn new() -> Closing {
        Closing { phase: Phase::Open, reason: None }
    }
    /// Until when closing or draining lasts: never ends what is open, or gone.
    #[inline]
    pub(super) fn until(&self) -> Option<Time> {
        match self.phase {
            Phase::Closing { until, .. } | Phase::Draining { until } => Some(until),
            Phase::Open | Phase::Gone => None,
        }
    }
    /// Nothing is left to do.
    pub(super) fn finish(&mut self) {
        self.phase = Phase::Gone;
    }
}

impl Connection {
    /// Whether the connection takes no more from the application: closing, draining or gone.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.closing.phase != Phase::Open
    }
    /// Whether nothing is left to do: the endpoint can forget it (RFC 9000 section 10.2).
    pub fn is_gone(&self) -> bool {
        self.closing.phase == Phase::Gone
    }
    /// Why it is over.
    pub fn close_reason(&self) -> Option<&CloseReason> {
        self.closing.reason.as_ref()
    }

    /// 10.2: closing and draining last three probe timeouts.
    fn lingering(&self) -> Duration {
        self.probe_timeout() * 3
    }

    /// The peer broke a rule, or something failed here.
    pub(super) fn fail(&mut self, now: Time, error: TransportError) {
        // RFC 9000-11.1-1, 9000-10.3-1, 9000-11-1: by CONNECTION_CLOSE, for there is state to send it.
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

    /// The connection is over at once, and the peer is not told.
    pub(super) fn end_silently(&mut self, now: Time, reason: CloseReason) {
        self.end(now, reason);
        self.closing.finish();
    }

    /// The application hears of the end, with its reason.
    fn end(&mut self, now: Time, reason: CloseReason) {
        self.trace_closed(now, &reason);
        self.closing.reason = Some(reason);
        self.events.push_back(Event::Ended);
    }

    /// 10.2.1: CONNECTION_CLOSE again, for the 1st, 2nd, 4th, 8th ... datagram that still comes.
    pub(super) fn answer_while_closing(&mut self, length: u64) {
        if let Phase::Closing { pending, received, credit, .. } = &mut self.closing.phase {
            *received += 1;
            *pending |= received.is_power_of_two();
            // RFC 9000-10.2.1-1: it is not opened, so anybody may have sent it.
            *credit = credit.map(|credit| credit + AMPLIFICATION * length);
        }
    }

    /// How large a datagram with CONNECTION_CLOSE may be, if one is to be sent.
    pub(super) fn closing_limit(&self) -> Option<u64> {
        match self.closing.phase {
            Phase::Closing { pending: true, credit, .. } => Some(credit.unwrap_or(u64::MAX)),
            _ => None,
        }
    }
    /// CONNECTION_CLOSE was sent, in so many bytes.
    pub(super) fn note_close_sent(&mut self, length: u64) {
        if let Phase::Closing { pending, credit, .. } = &mut self.closing.phase {
            *pending = false;
            *credit = Some(credit.map_or(0, |credit| credit.saturating_sub(length)));
        }
    }

    /// Appends CONNECTION_CLOSE as the packet type demands: in Initial and Handshake packets an application's reason
    /// stays hidden (10.2.3). There is `room` for the reason.
    pub(super) fn encode_close(&self, kind: SpaceKind, room: usize, out: &mut Vec<u8>) {
        let cut = |reason: &str| {
            let most = reason.len().min(MAX_REASON).min(room);
            let end = (0..=most).rev().find(|end| reason.is_char_boundary(*end)).unwrap_or(0);
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
            // RFC 9000-10.2.3-2, 9000-10.2.3-3, 9000-12.5-1: neither code nor reason of the application.
            _ => Frame::ConnectionClose { code: Code::APPLICATION_ERROR, frame_type: 0, reason: &[] }
                .encode(out),
        }
    }

    /// The spaces in which CONNECTION_CLOSE is sent: those whose packets the peer may be able to open (10.2.3). Where the
    /// handshake is confirmed there are no other keys than those of 1-RTT packets.
    pub(super) fn closing_spaces(&self) -> impl Iterator<Item = SpaceKind> + '_ {
        // RFC 9000-10.2.3-1.
        SpaceKind::ALL.into_iter().filter(|kind| self.has_keys(*kind))
    }
}
