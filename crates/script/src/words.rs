//! The vocabulary of the language: frames, events, calls, gauges and header fields, with their fields. The reader,
//! the matcher, the printer and the page `docs/scripts.md` use these tables.

use Absent::{Free, Missing, Required};
use FieldKind::{Bytes, Choice, Code, Flag, Int, Outcome, Ranges, Span, Text};

/// The values that a field accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldKind {
    /// A whole number.
    Int,
    /// A whole number, or the name of an error code of RFC 9000 section 20.1.
    Code,
    /// A duration with its unit.
    Span,
    /// `0x` and hexadecimal digits.
    Bytes,
    /// A quoted text.
    Text,
    /// The field's name alone, or nothing.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Packet numbers and ranges.
    Ranges,
    /// The result of a call: a whole number, or the name of an error.
    Outcome,
}

/// The meaning of a field that is not named, without `..`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// It is required.
    Required,
    /// It may have any value; in injected packets it has its default.
    Free,
    /// It is absent.
    Missing,
}

/// A field: its name, its values, and the meaning of its absence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: FieldKind,
    pub(crate) absent: Absent,
}

/// A word and its fields.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) fields: &'static [Field],
}

const fn field(name: &'static str, kind: FieldKind, absent: Absent) -> Field {
    Field { name, kind, absent }
}
const fn entry(name: &'static str, fields: &'static [Field]) -> Entry {
    Entry { name, fields }
}

const DIRECTION: FieldKind = Choice(&["bidi", "uni"]);

/// CONNECTION_CLOSE of type 0x1d, which has a word of its own.
pub(crate) const APPLICATION_CLOSE: &str = "APPLICATION_CLOSE";

/// The frames of RFC 9000 section 19 and RFC 9221, under their names.
pub(crate) static FRAMES: &[Entry] = &[
    entry("PADDING", &[field("length", Int, Free)]),
    entry("PING", &[]),
    entry(
        "ACK",
        &[
            field("ranges", Ranges, Required),
            field("delay", Span, Free),
            field("ect0", Int, Missing),
            field("ect1", Int, Missing),
            field("ce", Int, Missing),
        ],
    ),
    entry(
        "RESET_STREAM",
        &[field("stream", Int, Required), field("code", Int, Required), field("final_size", Int, Required)],
    ),
    entry(
        "RESET_STREAM_AT",
        &[
            field("stream", Int, Required),
            field("code", Int, Required),
            field("final_size", Int, Required),
            field("reliable_size", Int, Required),
        ],
    ),
    entry("STOP_SENDING", &[field("stream", Int, Required), field("code", Int, Required)]),
    entry("CRYPTO", &[field("offset", Int, Free), field("length", Int, Free)]),
    entry("NEW_TOKEN", &[field("token", Bytes, Required)]),
    entry(
        "STREAM",
        &[
            field("stream", Int, Required),
            field("offset", Int, Required),
            field("length", Int, Required),
            field("fin", Flag, Missing),
        ],
    ),
    entry("MAX_DATA", &[field("maximum", Int, Required)]),
    entry("MAX_STREAM_DATA", &[field("stream", Int, Required), field("maximum", Int, Required)]),
    entry("MAX_STREAMS", &[field("direction", DIRECTION, Required), field("maximum", Int, Required)]),
    entry("DATA_BLOCKED", &[field("limit", Int, Required)]),
    entry("STREAM_DATA_BLOCKED", &[field("stream", Int, Required), field("limit", Int, Required)]),
    entry("STREAMS_BLOCKED", &[field("direction", DIRECTION, Required), field("limit", Int, Required)]),
    entry(
        "NEW_CONNECTION_ID",
        &[
            field("sequence", Int, Required),
            field("retire_prior_to", Int, Free),
            field("id", Bytes, Free),
            field("token", Bytes, Free),
        ],
    ),
    entry("RETIRE_CONNECTION_ID", &[field("sequence", Int, Required)]),
    entry("PATH_CHALLENGE", &[field("data", Bytes, Required)]),
    entry("PATH_RESPONSE", &[field("data", Bytes, Required)]),
    entry(
        "CONNECTION_CLOSE",
        &[field("code", Code, Required), field("frame_type", Int, Free), field("reason", Text, Free)],
    ),
    entry(APPLICATION_CLOSE, &[field("code", Int, Required), field("reason", Text, Free)]),
    entry("HANDSHAKE_DONE", &[]),
    entry("DATAGRAM", &[field("length", Int, Required)]),
    entry(
        "ACK_FREQUENCY",
        &[
            field("sequence", Int, Required),
            field("threshold", Int, Required),
            field("max_ack_delay", Span, Required),
            field("reordering_threshold", Int, Required),
        ],
    ),
    entry("IMMEDIATE_ACK", &[]),
    entry(
        "BDP_FRAME",
        &[
            field("lifetime", Span, Required),
            field("capacity", Int, Required),
            field("min_rtt", Span, Required),
            field("address", Bytes, Required),
        ],
    ),
];

/// The fields in brackets after the kind of a packet.
pub(crate) static HEADER: Entry = entry(
    "packet",
    &[
        field("size", Int, Free),
        field("ecn", Choice(&["not_ect", "ect0", "ect1", "ce"]), Free),
        field("key_phase", Int, Free),
        field("spin", Int, Free),
        field("immediate_ack", Int, Free),
        field("destination", Bytes, Free),
        field("source", Bytes, Free),
        field("version", Int, Free),
        field("token", Bytes, Free),
        field("from", Text, Free),
        field("to", Text, Free),
        field("lost", Flag, Free),
    ],
);

/// The events that a connection reports to its application, under the endpoint's names.
pub(crate) static EVENTS: &[Entry] = &[
    entry("Connected", &[]),
    entry("Opened", &[field("stream", Int, Required)]),
    entry("Readable", &[field("stream", Int, Required)]),
    entry("Writable", &[field("stream", Int, Required)]),
    entry("Delivered", &[field("stream", Int, Required)]),
    entry("Stopped", &[field("stream", Int, Required), field("code", Int, Required)]),
    entry("Reset", &[field("stream", Int, Required), field("code", Int, Required)]),
    entry(
        "Closed",
        &[field("stream", Int, Required), field("sent", Int, Free), field("received", Int, Free)],
    ),
    entry("DatagramReadable", &[]),
    entry("DatagramWritable", &[]),
    entry("DatagramAcked", &[field("number", Int, Required)]),
    entry("DatagramLost", &[field("number", Int, Required)]),
    entry("StreamsAvailable", &[field("direction", DIRECTION, Required)]),
    entry("Migrated", &[field("local", Text, Free), field("remote", Text, Free)]),
    entry("PathFailed", &[field("local", Text, Free), field("remote", Text, Free)]),
    entry("Ended", &[]),
];

/// The calls of the endpoint's application.
pub(crate) static CALLS: &[Entry] = &[
    entry("connect", &[]),
    entry("open", &[field("direction", DIRECTION, Required)]),
    entry("write", &[field("stream", Int, Required), field("length", Int, Required)]),
    entry("finish", &[field("stream", Int, Required)]),
    entry(
        "reset",
        &[field("stream", Int, Required), field("code", Int, Required), field("reliable", Int, Missing)],
    ),
    entry("stop", &[field("stream", Int, Required), field("code", Int, Required)]),
    entry("read", &[field("stream", Int, Required), field("length", Int, Required)]),
    entry("send_datagram", &[field("length", Int, Required)]),
    entry("close", &[field("code", Int, Required), field("reason", Text, Free)]),
    entry("update_keys", &[]),
    entry(
        "migrate",
        &[
            field("local", Text, Required),
            field("how", Choice(&["probe", "at_once", "rebound", "silent"]), Required),
        ],
    ),
];

/// The errors of calls.
pub(crate) const ERRORS: &[&str] = &[
    "unknown",
    "wrong_direction",
    "finished",
    "stopped",
    "reset",
    "limit_reached",
    "blocked",
    "closed",
    "refused",
];

/// The result of a call, as a field.
pub(crate) static RESULT: Field = field("result", Outcome, Free);

/// The gauges that `check` can query.
pub(crate) static GAUGES: Entry = entry(
    "check",
    &[
        field("cwnd", Int, Free),
        field("bytes_in_flight", Int, Free),
        field("latest_rtt", Span, Free),
        field("min_rtt", Span, Free),
        field("smoothed_rtt", Span, Free),
        field("rtt_variance", Span, Free),
        field("packets_lost", Int, Free),
        field("packets_spuriously_lost", Int, Free),
        field("packets_dropped", Int, Free),
        field("probe_timeouts", Int, Free),
        field("key_updates", Int, Free),
        field("ce_reported", Int, Free),
        field("open_streams", Int, Free),
        field("state", Choice(&["none", "handshake", "established", "closing", "gone"]), Free),
        field("reason", Choice(REASONS), Free),
        field("code", Code, Free),
    ],
);

/// The reasons why a connection is closed.
pub(crate) const REASONS: &[&str] = &[
    "none",
    "local",
    "transport_error",
    "peer_application",
    "peer_transport",
    "idle_timeout",
    "version_mismatch",
    "stateless_reset",
    "other",
];

/// The kinds of packets.
pub(crate) const PACKETS: &[&str] =
    &["initial", "0rtt", "handshake", "1rtt", "retry", "version_negotiation", "stateless_reset"];

impl Entry {
    pub(crate) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// The entry of this name.
pub(crate) fn find(table: &'static [Entry], name: &str) -> Option<&'static Entry> {
    table.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entry as written in docs/scripts.md.
    fn signature(entry: &Entry, is_call: bool) -> String {
        let fields: Vec<String> = entry
            .fields
            .iter()
            .map(|field| match field.absent {
                Required => field.name.to_owned(),
                Free => format!("{}?", field.name),
                Missing => format!("[{}]", field.name),
            })
            .collect();
        match (fields.is_empty(), is_call) {
            (true, false) => entry.name.to_owned(),
            _ => format!("{}({})", entry.name, fields.join(", ")),
        }
    }

    #[test]
    fn the_reference_has_every_word() {
        let document = include_str!("../../../docs/scripts.md");
        let reference =
            document.split("\n## Reference").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
        let rows =
            |table: &'static [Entry], is_call| table.iter().map(move |entry| signature(entry, is_call));
        let rows = rows(FRAMES, false).chain(rows(EVENTS, false)).chain(rows(CALLS, true));
        for row in rows {
            assert!(reference.contains(&format!("\n| `{row}` | ")), "{row}");
        }
        let mut words: Vec<&str> = ERRORS.iter().chain(REASONS).chain(PACKETS).copied().collect();
        words.extend(HEADER.fields.iter().chain(GAUGES.fields).map(|field| field.name));
        for field in FRAMES.iter().chain(CALLS).chain([&HEADER, &GAUGES]).flat_map(|entry| entry.fields) {
            if let Choice(choices) = field.kind {
                words.extend(choices);
            }
        }
        for word in words {
            assert!(reference.contains(&format!("`{word}`")), "{word}");
        }
    }
}
