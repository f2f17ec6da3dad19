//! The acknowledged mode of RLC (TS 36.322 section 5.2): what was lost is sent again until it is reported as received.
//!
//! The sender asks for a report (polls) after a number of PDUs or bytes, and with the last PDU that it has; the far
//! end reports when it is asked to, and when t-Reordering expires. A report has the first PDU that is not known at
//! the far end, and what is missing before it.

use std::collections::VecDeque;
use units::{Duration, Time};

/// A part of the stream of a bearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Span {
    /// Its first position.
    pub from: u64,
    /// The position behind its last byte.
    pub to: u64,
}

impl Span {
    /// Its length in bytes.
    pub(super) fn bytes(self) -> u64 {
        self.to - self.from
    }
}

/// The parameters of the acknowledged mode (TS 36.331 section 6.3.2, RLC-Config).
#[derive(Debug, Clone, Copy)]
pub(super) struct ArqOptions {
    /// pollPDU: PDUs from one poll to the next.
    pub poll_pdus: u32,
    /// pollByte: bytes from one poll to the next.
    pub poll_bytes: u64,
    /// t-PollRetransmit: from a poll without an answer to the next one.
    pub poll_again: Duration,
    /// t-StatusProhibit: from one report to the next.
    pub prohibit: Duration,
    /// maxRetxThreshold: repetitions of a PDU.
    pub repeats: u32,
    /// PDUs that may be unacknowledged: half of the numbers.
    pub window: u64,
}

/// A report of the far end.
#[derive(Debug, Clone)]
pub(super) struct Status {
    /// Everything below is received or missing.
    pub edge: u64,
    /// The number of the PDU there.
    pub number: u64,
    pub missing: Vec<Span>,
}

impl Status {
    /// The size of a report in bytes (TS 36.322 section 6.2.1.6): 15 bits, and 12 for each missing PDU.
    pub(super) fn size(missing: usize) -> u32 {
        (15 + 12 * missing as u32).div_ceil(8)
    }
    /// The missing PDUs that a report of at most this many bytes has places for; `None` if there is no place for a report.
    pub(super) fn places(bytes: u32) -> Option<usize> {
        (8 * bytes).checked_sub(15).map(|bits| (bits / 12) as usize)
    }
}

/// Both ends of the acknowledged mode of a bearer.
#[derive(Debug)]
pub(super) struct Arq {
    pub(super) options: ArqOptions,
    /// The sender: parts to be sent again.
    again: VecDeque<Span>,
    again_bytes: u64,
    /// All PDUs below this number are acknowledged.
    acknowledged: u64,
    pdus_since_poll: u32,
    bytes_since_poll: u64,
    /// The poll without an answer: the end of its PDU, and when the sender asks again.
    asked: Option<(u64, Time)>,
    ask_now: bool,
    /// The last new PDU.
    pub(super) last: Span,
    /// The far end: the end of the PDU with a poll.
    polled: Option<u64>,
    report: bool,
    not_before: Time,
}

impl Arq {
    pub(super) fn new(options: ArqOptions) -> Arq {
        Arq {
            options,
            again: VecDeque::new(),
            again_bytes: 0,
            acknowledged: 0,
            pdus_since_poll: 0,
            bytes_since_poll: 0,
            asked: None,
            ask_now: false,
            last: Span::default(),
            polled: None,
            report: false,
            not_before: Time::ZERO,
        }
    }

    /// Begins anew: all PDUs below a number are acknowledged, these parts are to be sent again, and the last PDU is `last`.
    pub(super) fn begin(&mut self, number: u64, again: VecDeque<Span>, last: Span) {
        let again_bytes = again.iter().map(|span| span.bytes()).sum();
        *self = Arq { again, again_bytes, acknowledged: number, last, ..Arq::new(self.options) };
    }

    /// Stops unless what is to be sent again is counted; `next` is the number of the next PDU.
    pub(super) fn check(&self, next: u64) {
        let again: u64 = self.again.iter().map(|span| span.bytes()).sum();
        assert_eq!(self.again_bytes, again, "the bytes to be sent again are those of the parts");
        assert!(self.acknowledged <= next, "only what was sent is acknowledged");
    }
    /// The bytes that are to be sent again.
    pub(super) fn backlog(&self) -> u64 {
        self.again_bytes
    }
    /// Whether the window has room for the PDU of this number.
    pub(super) fn may_send(&self, number: u64) -> bool {
        number - self.acknowledged < self.options.window
    }
    /// The next part to be sent again that fits into `room` bytes with a header; it may be a part of a PDU.
    pub(super) fn next_again(&mut self, room: u32, header: u32) -> Option<Span> {
        let fits = u64::from(room.checked_sub(header + 1)?) + 1;
        let Span { from, to } = self.again.pop_front()?;
        let end = to.min(from + fits);
        if end < to {
            self.again.push_front(Span { from: end, to });
        }
        self.again_bytes -= end - from;
        Some(Span { from, to: end })
    }
    /// Queues a part to be sent again, unless it is queued already.
    pub(super) fn repeat(&mut self, span: Span) {
        if !self.again.iter().any(|other| other.from < span.to && span.from < other.to) {
            self.again.push_back(span);
            self.again_bytes += span.bytes();
        }
    }
    /// Whether a block with these bytes asks for a report; `empty` if nothing is left to send behind it, or the window
    /// is full.
    pub(super) fn wants_poll(&mut self, now: Time, bytes: u64, empty: bool) -> bool {
        self.pdus_since_poll += 1;
        self.bytes_since_poll += bytes;
        let ArqOptions { poll_pdus, poll_bytes, poll_again, .. } = self.options;
        let due = self.pdus_since_poll >= poll_pdus || self.bytes_since_poll >= poll_bytes;
        let asks = due || empty && self.again.is_empty() || self.ask_now;
        if asks {
            (self.pdus_since_poll, self.bytes_since_poll, self.ask_now) = (0, 0, false);
            // TS 36.322 section 5.2.2.1: the answer has to cover the last new PDU, whichever PDU has the poll.
            self.asked = Some((self.last.to, now + poll_again));
        }
        asks
    }
    /// Takes what a report acknowledges: all PDUs below `first`. Above `edge` nothing is known.
    pub(super) fn acknowledge(&mut self, edge: u64, first: u64) {
        self.acknowledged = self.acknowledged.max(first);
        self.asked = self.asked.filter(|(end, _)| *end > edge);
    }

    /// Notes a poll at the far end.
    pub(super) fn note_poll(&mut self, end: u64) {
        self.polled = self.polled.max(Some(end));
    }
    /// Makes the far end report as soon as it may.
    pub(super) fn want_report(&mut self) {
        self.report = true;
    }
    /// Whether the far end has a report to send; everything below `known` is received or missing for it.
    pub(super) fn reports(&self, now: Time, known: u64) -> bool {
        self.has_report(known) && self.not_before <= now
    }
    fn has_report(&self, known: u64) -> bool {
        self.report || self.polled.is_some_and(|end| end <= known)
    }
    /// Notes that a report was sent.
    pub(super) fn reported(&mut self, now: Time) {
        (self.report, self.polled) = (false, None);
        self.not_before = now + self.options.prohibit;
    }

    /// When the sender asks again, or the far end may report, after `now`; everything below `known` is received or missing
    /// there.
    #[inline]
    pub(super) fn next_timer(&self, now: Time, known: u64) -> Option<Time> {
        let asks = self.asked.map(|(_, at)| at);
        let reports = (self.not_before > now && self.has_report(known)).then_some(self.not_before);
        [asks, reports].into_iter().flatten().min()
    }
    /// Whether the sender asks again.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.asked.is_some_and(|(_, at)| at <= now)
    }
    /// Asks again if a poll was not answered in time: with what there is to send, or else with the last PDU.
    pub(super) fn wake(&mut self, now: Time, idle: bool) {
        if self.asked.take_if(|(_, at)| *at <= now).is_some() {
            self.ask_now = true;
            if idle && self.again.is_empty() {
                self.repeat(self.last);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TS 36.322 section 5.2.3: no report is sent until t-StatusProhibit expires.
    #[test]
    fn a_report_waits_for_the_prohibit_timer() {
        let ms = Duration::from_millis;
        let mut arq = Arq::new(ArqOptions {
            poll_pdus: 32,
            poll_bytes: 25_000,
            poll_again: ms(45),
            prohibit: ms(10),
            repeats: 32,
            window: 512,
        });
        let at = |span| Time::ZERO + ms(span);
        arq.want_report();
        assert!(arq.reports(at(3), 0), "the first report waits for nothing");
        arq.reported(at(3));
        arq.want_report();
        assert_eq!([4, 12, 13].map(|now| arq.reports(at(now), 0)), [false, false, true]);
    }
}
