//! The state that events are written against: the side, and the previously written values.

use super::json::Json;
use crate::Side;
use crate::event::Metrics;

/// The state of a file.
#[derive(Debug, Clone)]
pub(super) struct State {
    side: Side,
    own_fields: bool,
    metrics: Option<Metrics>,
    connection: Option<&'static str>,
    congestion: Option<&'static str>,
}

impl State {
    pub(super) fn new(side: Side, own_fields: bool) -> State {
        State { side, own_fields, metrics: None, connection: None, congestion: None }
    }
    pub(super) fn side(&self) -> Side {
        self.side
    }
    /// Whether to write fields beyond the schema.
    pub(super) fn own_fields(&self) -> bool {
        self.own_fields
    }
    /// Whether this end opened a stream (RFC 9000 section 2.1: the lowest bit is 1 for the server's).
    pub(super) fn is_own(&self, stream: u64) -> bool {
        (stream & 1 == 1) == (self.side == Side::Server)
    }
    /// Writes the new state of the connection and the previous one.
    pub(super) fn connection(&mut self, json: &mut Json, state: &'static str) {
        transition(json, self.connection.replace(state), state);
    }
    /// Writes the new state of the controller and the previous one.
    pub(super) fn congestion(&mut self, json: &mut Json, state: &'static str) {
        transition(json, self.congestion.replace(state), state);
    }

    /// Writes the metrics that have changed since the last call. Names and units are the same in both schemas.
    pub(super) fn metrics(&mut self, json: &mut Json, now: &Metrics) {
        let is_first = self.metrics.is_none();
        let last = self.metrics.replace(*now).unwrap_or_default();
        for (name, was, is) in [
            ("min_rtt", last.min_rtt.unwrap_or_default(), now.min_rtt),
            ("smoothed_rtt", last.smoothed_rtt, Some(now.smoothed_rtt)),
            ("latest_rtt", last.latest_rtt.unwrap_or_default(), now.latest_rtt),
            ("rtt_variance", last.rtt_variance, Some(now.rtt_variance)),
        ] {
            if let Some(is) = is.filter(|is| *is != was) {
                json.span(name, is);
            }
        }
        if last.pto_count != now.pto_count {
            // A 16-bit field in both schemas.
            json.number("pto_count", u64::from(now.pto_count.min(u32::from(u16::MAX))));
        }
        if last.cwnd != now.cwnd || is_first {
            json.number("congestion_window", now.cwnd);
        }
        if last.bytes_in_flight != now.bytes_in_flight || is_first {
            json.number("bytes_in_flight", now.bytes_in_flight);
        }
        // These three cannot be reset to unknown.
        if let Some(ssthresh) = now.ssthresh.filter(|_| last.ssthresh != now.ssthresh) {
            json.number("ssthresh", ssthresh);
        }
        if let Some(rate) = now.pacing_rate.filter(|_| last.pacing_rate != now.pacing_rate) {
            json.number("pacing_rate", rate.as_bits_per_sec());
        }
        let delivery_rate =
            now.delivery_rate.filter(|_| self.own_fields && last.delivery_rate != now.delivery_rate);
        if let Some(rate) = delivery_rate {
            json.number("delivery_rate", rate.as_bits_per_sec());
        }
    }
}

fn transition(json: &mut Json, old: Option<&'static str>, new: &'static str) {
    if let Some(old) = old {
        json.word("old", old);
    }
    json.word("new", new);
}

/// Whether a stream has one direction only (RFC 9000 section 2.1).
pub(super) const fn is_unidirectional(stream: u64) -> bool {
    stream & 2 == 2
}

/// `"unidirectional"` or `"bidirectional"`.
pub(super) const fn stream_type(stream: u64) -> &'static str {
    if is_unidirectional(stream) { "unidirectional" } else { "bidirectional" }
}
