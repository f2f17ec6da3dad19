//! Records of a qlog in their usual form, from text to columns.
//!
//! The reader takes a record only if there is no doubt about it. Of any other it takes nothing and says so: whoever
//! called it reads the record in its own time, and knows what is wrong with it. So there is one place that decides
//! what a wrong record is, and one that is fast.

mod data;
mod frames;
mod number;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::log::Log;
use crate::packets::Packet;
use data::{Lost, Metrics, Moved, PacketSeed};
use frames::Scratch;
use number::{Integer, Milliseconds};

/// In milliseconds since 1970, the year 2096: what fits into nanoseconds of 64 bits, and twice.
const LATEST_MS: f64 = 4e12;

/// How a trace tells the time.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    /// Whether times are those since the event before.
    is_delta: bool,
    /// Added to all times, in nanoseconds.
    reference: i64,
    /// The time of the last event, without the reference.
    last: i64,
}

impl Clock {
    /// A time in nanoseconds, and the clock after it; none if it is beyond all clocks.
    fn after(self, time: Milliseconds) -> Option<(i64, Self)> {
        let time = time.nanoseconds().checked_add(if self.is_delta { self.last } else { 0 })?;
        let absolute = time.checked_add(self.reference)?;
        let next = Self { last: time, ..self };
        ((absolute as f64).abs() < LATEST_MS * 1e6).then_some((absolute, next))
    }
}

/// What became of the text that a reader was fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fed {
    /// How many bytes are done.
    pub bytes: usize,
    /// How many lines are done.
    pub lines: usize,
    /// Whether the line behind them is not of the usual form.
    pub is_stuck: bool,
}

/// Adds the events of a trace to a log.
#[derive(Debug, Default)]
pub struct Reader {
    clock: Clock,
    packet: Packet,
    scratch: Scratch,
    /// Whether all records are left to the caller: their times are in other units.
    is_unusual: bool,
    /// The JSON of the group that records may belong to; those of others are left to the caller.
    group: String,
}

#[derive(Deserialize)]
struct Event<'a> {
    time: Milliseconds,
    #[serde(borrow)]
    name: &'a str,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
    #[serde(borrow, default)]
    group_id: Option<&'a RawValue>,
    /// What some stacks write instead.
    #[serde(borrow, default, rename = "ODCID")]
    odcid: Option<&'a RawValue>,
    /// What says how its own time is read.
    #[serde(
        borrow,
        default,
        alias = "time_unit",
        alias = "timeUnits",
        alias = "timeUnit",
        alias = "TIME_UNITS",
        alias = "units",
        alias = "unit",
        alias = "time_format",
        alias = "timeFormat",
        alias = "TIME_FORMAT"
    )]
    time_units: Option<&'a RawValue>,
}

impl Reader {
    /// A reader of times since the event before, or of times from a reference on, which is in nanoseconds.
    #[must_use]
    pub fn new(is_delta: bool, reference: i64) -> Self {
        Self { clock: Clock { is_delta, reference, last: 0 }, ..Self::default() }
    }

    /// The reader, which takes no record if `is_unusual`.
    #[must_use]
    pub fn leaving(self, is_unusual: bool) -> Self {
        Self { is_unusual, ..self }
    }

    /// Sets the group, as JSON, that records may name; without it they may name none.
    pub fn set_group(&mut self, group: &str) {
        group.clone_into(&mut self.group);
    }

    /// The time of the last event, in nanoseconds, before the reference is added.
    #[must_use]
    pub fn last(&self) -> i64 {
        self.clock.last
    }

    /// Sets the time of the last event, where somebody else has read it.
    pub fn set_last(&mut self, last: i64) {
        self.clock.last = last;
    }

    /// Reads lines as far as they are records of the usual form. Empty lines and record separators (RFC 7464) count as
    /// part of a line.
    pub fn feed(&mut self, log: &mut Log, text: &[u8]) -> Fed {
        let mut fed = Fed { bytes: 0, lines: 0, is_stuck: false };
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let record = trimmed(line);
            if !record.is_empty() && self.record(log, record).is_none() {
                fed.is_stuck = true;
                break;
            }
            fed.bytes += line.len();
            fed.lines += 1;
        }
        fed
    }

    /// Adds one record; none, and nothing is added, if it is not of the usual form.
    pub fn record(&mut self, log: &mut Log, record: &[u8]) -> Option<()> {
        // A row of an old draft is a list, which serde would take for an object.
        if self.is_unusual || record.first() != Some(&b'{') {
            return None;
        }
        let event: Event<'_> = serde_json::from_str(std::str::from_utf8(record).ok()?).ok()?;
        if event.time_units.is_some() {
            return None;
        }
        if event.group_id.or(event.odcid).is_some_and(|group| group.get() != self.group) {
            return None;
        }
        let (time, clock) = self.clock.after(event.time)?;
        // "quic:packet_sent", "transport:packet_sent".
        let name = event.name.rsplit_once(':').map_or(event.name, |(_, name)| name);
        let data = || event.data.map(RawValue::get);
        match name {
            "packet_sent" | "packet_received" => {
                let packets = if name == "packet_sent" { &mut log.sent } else { &mut log.received };
                self.packet.time = time;
                PacketSeed::read(data()?, &mut self.packet, &mut self.scratch)?;
                packets.push(&self.packet);
            }
            "packet_lost" => {
                let lost: Lost<'_> = serde_json::from_str(data()?).ok()?;
                let (kind, number, trigger) = lost.known()?;
                log.lose(time, kind, number, trigger);
            }
            "recovery_metrics_updated" | "metrics_updated" => {
                let metrics: Metrics<'_> = serde_json::from_str(data()?).ok()?;
                metrics.values()?.for_each(|(gauge, value)| log.gauge(gauge, time, value));
            }
            "stream_data_moved" | "data_moved" => {
                let moved: Moved<'_> = serde_json::from_str(data()?).ok()?;
                if let Some((stream, end)) = moved.written() {
                    log.write(time, stream, end);
                }
            }
            // Names of other drafts and stacks are left to the caller.
            _ if is_other(name) => return None,
            _ => {}
        }
        self.clock = clock;
        Some(())
    }
}

/// Whether this may be what another draft or stack calls an event that is needed.
fn is_other(name: &str) -> bool {
    let plural = |name: &str| name.starts_with("packets_") && !name.ends_with("acked");
    plural(name) || name.ends_with("metric_update") || name.bytes().any(|byte| byte.is_ascii_uppercase())
}

fn trimmed(mut line: &[u8]) -> &[u8] {
    let is_outside = |byte: &u8| matches!(byte, 0x1e | b' ' | b'\t' | b'\r' | b'\n');
    while line.first().is_some_and(is_outside) {
        line = &line[1..];
    }
    while line.last().is_some_and(is_outside) {
        line = &line[..line.len() - 1];
    }
    line
}

/// A type of packets as it is compared; none if it is not one of the schema's words, or "unknown".
fn kind(text: &str) -> Option<&'static str> {
    KINDS.iter().find(|kind| kind.eq_ignore_ascii_case(text)).copied()
}

/// The types of packets of the schema. Other spellings are left to the caller.
const KINDS: [&str; 7] =
    ["1rtt", "initial", "handshake", "0rtt", "retry", "version_negotiation", "stateless_reset"];

/// Reads a value that must not be null where it stands.
fn present<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::{Ack, Credit, Other, StreamFrame};

    fn read(lines: &str) -> (Log, Fed) {
        let mut log = Log::default();
        let fed = Reader::new(false, 0).feed(&mut log, lines.as_bytes());
        (log, fed)
    }

    #[test]
    fn a_packet_is_read_with_its_frames() {
        let line = r#"{"time":1.5,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":7},"raw":{"length":99},"frames":[{"frame_type":"stream","stream_id":4,"offset":10,"raw":{"length":20},"fin":true},{"frame_type":"ack","ack_delay":0.25,"acked_ranges":[[7,9],[1]]},{"frame_type":"max_stream_data","stream_id":4,"maximum":500},{"frame_type":"reset_stream","stream_id":8,"error_code":1,"final_size":0},{"frame_type":"datagram","raw":{"length":3}}]}}"#;
        let (log, fed) = read(&format!("\x1e{line}\n\n"));
        assert_eq!(fed, Fed { bytes: line.len() + 3, lines: 2, is_stuck: false });
        let packet = log.sent.get(0);
        let data = |stream, offset, length, fin| StreamFrame { stream, offset, length, fin };
        let other = |text: &str, values: &[i64]| Other { text: text.to_owned(), values: values.to_vec() };
        assert_eq!(
            (packet.time, packet.kind.as_str(), packet.number, packet.size),
            (1_500_000, "1rtt", 7, 99)
        );
        assert_eq!(packet.streams, [data(4, 10, 20, true), data(-1, 0, 3, false)]);
        assert_eq!(packet.acks, [Ack { delay: 250_000, ranges: vec![(7, 9), (1, 1)] }]);
        assert_eq!(packet.resets, [8]);
        assert_eq!(packet.credit, [Credit { is_blocked: false, stream: 4, limit: 500 }]);
        let reset = other("RESET_STREAM stream_id {}, error_code {}, final_size {}", &[8, 1, 0]);
        assert_eq!(packet.others, [other("MAX_STREAM_DATA stream_id {}, maximum {}", &[4, 500]), reset]);
    }

    #[test]
    fn a_record_of_another_form_is_left_with_all_behind_it() {
        let good = r#"{"time":1,"name":"x","data":null}"#;
        for odd in [
            r#"{"time":"soon","name":"x","data":{}}"#,
            r#"{"time":1,"name":"quic:packet_sent"}"#,
            r#"{"time":1,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT"}}}"#,
            r#"{"time":1,"name":"quic:packet_lost","data":{"header":{"packet_type":"1RTT","packet_number":-1}}}"#,
            r#"{"time":1,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1},"frames":[{"frame_type":"max_data","maximum":{"packet_number":1}}]}}"#,
            r#"{"time":1,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1},"frames":[{"frame_type":"reset_stream","stream_id":{"raw":4}}]}}"#,
            r#"{"time":NaN,"name":"x","data":{}}"#,
            r#"{"time":1,"name":"x","data":{}"#,
            r#"{"time":1,"name":"x","data":{},"time_units":"us"}"#,
            r#"{"time":1,"name":"x","data":{},"timeFormat":"delta"}"#,
            r#"{"time":1,"name":"quic:packet_sent","data":{"header":{"packet_type":"unknown","packet_number":1}}}"#,
            r#"[1,"packet_lost",{"packet_type":"1RTT","packet_number":1}]"#,
        ] {
            let (log, fed) = read(&format!("{good}\n{odd}\n{good}\n"));
            assert_eq!(fed, Fed { bytes: good.len() + 1, lines: 1, is_stuck: true }, "{odd}");
            assert!(log.sent.is_empty());
        }
    }

    #[test]
    fn a_reader_of_other_units_takes_nothing() {
        let mut log = Log::default();
        let fed = Reader::new(false, 0).leaving(true).feed(&mut log, br#"{"time":1,"name":"x","data":null}"#);
        assert_eq!((fed.lines, fed.is_stuck), (0, true));
    }

    #[test]
    fn times_since_the_event_before_are_added_up() {
        let line = r#"{"time":2,"name":"metrics_updated","data":{"cwnd":10,"bytes_in_flight":1e300,"min_rtt":null}}"#;
        let mut log = Log::default();
        Reader::new(true, 5).feed(&mut log, format!("{line}\n{line}\n").as_bytes());
        assert_eq!(log.series(0), (&[2_000_005, 4_000_005][..], &[10.0, 10.0][..]));
        assert_eq!(log.gauges(), [0]);
    }
}
