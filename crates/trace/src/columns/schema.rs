//! The names and types of the columns of every table.

use super::data::{Bitmap, Column, Data, Text, Words};
use super::table::Table;
use crate::event::{BlockFate, LossTrigger};
use crate::{PacketKind, Wait};
use std::sync::LazyLock;

/// The values of the column `side`, by the discriminant of [`crate::Side`].
const SIDES: [&str; 2] = ["client", "server"];
/// The values of the column `direction` of the table `packet`.
const DIRECTIONS: [&str; 3] = ["sent", "received", "dropped"];
pub(super) const SENT: u32 = 0;
pub(super) const RECEIVED: u32 = 1;
pub(super) const DROPPED: u32 = 2;
/// The values of the column `kind` of the table `rate`.
const RATES: [&str; 3] = ["sent", "delivered", "capacity"];
pub(super) const DELIVERED: u32 = 1;
pub(super) const CAPACITY: u32 = 2;

/// The fixed dictionaries, which all runs share.
static SIDE_WORDS: LazyLock<Words> = LazyLock::new(|| Words::of(SIDES));
static DIRECTION_WORDS: LazyLock<Words> = LazyLock::new(|| Words::of(DIRECTIONS));
static RATE_WORDS: LazyLock<Words> = LazyLock::new(|| Words::of(RATES));
static KIND_WORDS: LazyLock<Words> = LazyLock::new(|| Words::of(PacketKind::ALL.map(PacketKind::name)));
static TRIGGER_WORDS: LazyLock<Words> = LazyLock::new(|| Words::of(LossTrigger::ALL.map(LossTrigger::name)));
static WAIT_WORDS: LazyLock<Words> = LazyLock::new(|| Words::of(Wait::ALL.map(Wait::name)));
static FATE_WORDS: LazyLock<Words> = LazyLock::new(|| Words::of(BlockFate::ALL.map(BlockFate::name)));

pub(super) const CONNECTION: &str = "connection";
pub(super) const SIDE: &str = "side";
pub(super) const LINK: &str = "link";
pub(super) const NODE: &str = "node";
pub(super) const SUBJECT: &str = "subject";

/// The names of the columns of a series that tell whose row it is.
pub(super) fn subject(table: &Table) -> Vec<&'static str> {
    let names = table.columns.iter().map(|column| column.name);
    names.filter(|name| [CONNECTION, SIDE, LINK, NODE].contains(name)).collect()
}

fn column(name: &'static str, data: Data) -> Column {
    Column { name, data, validity: None }
}
fn f64(name: &'static str) -> Column {
    column(name, Data::F64(Vec::new()))
}
fn u64(name: &'static str) -> Column {
    column(name, Data::U64(Vec::new()))
}
fn u32(name: &'static str) -> Column {
    column(name, Data::U32(Vec::new()))
}
fn flag(name: &'static str) -> Column {
    column(name, Data::Bool(Bitmap::default()))
}
fn text(name: &'static str) -> Column {
    column(name, Data::Text(Text::default()))
}
fn words(name: &'static str, words: &Words) -> Column {
    column(name, Data::Text(Text { codes: Vec::new(), words: words.clone() }))
}
fn optional(column: Column) -> Column {
    Column { validity: Some(Bitmap::default()), ..column }
}
fn table<const N: usize>(name: &'static str, columns: [Column; N]) -> Table {
    Table { columns: columns.into(), ..Table::empty(name) }
}
/// The columns for the time and the connection end.
fn end() -> [Column; 3] {
    [f64("time_s"), text(CONNECTION), words(SIDE, &SIDE_WORDS)]
}
fn of_end<const N: usize>(name: &'static str, columns: [Column; N]) -> Table {
    Table { columns: end().into_iter().chain(columns).collect(), ..Table::empty(name) }
}
fn kinds() -> Column {
    words("kind", &KIND_WORDS)
}

pub(super) fn connection() -> Table {
    of_end(
        "connection",
        [
            u64("cwnd_bytes"),
            u64("bytes_in_flight"),
            optional(u64("ssthresh_bytes")),
            optional(f64("latest_rtt_ms")),
            f64("smoothed_rtt_ms"),
            optional(f64("min_rtt_ms")),
            f64("rtt_variance_ms"),
            optional(f64("pacing_rate_mbps")),
            optional(f64("delivery_rate_mbps")),
            u32("pto_count"),
        ],
    )
}
pub(super) fn loss() -> Table {
    of_end("loss", [kinds(), u64("number"), words("trigger", &TRIGGER_WORDS)])
}
pub(super) fn event() -> Table {
    of_end("event", [text("event"), text("detail")])
}
pub(super) fn wait() -> Table {
    of_end(
        "wait",
        [
            words("wait", &WAIT_WORDS),
            flag("in_gap"),
            f64("handshake_s"),
            f64("validation_s"),
            f64("slow_start_s"),
            f64("window_s"),
            f64("recovery_s"),
            f64("timeout_s"),
            f64("pacer_s"),
            f64("stream_credit_s"),
            f64("connection_credit_s"),
            f64("stream_count_s"),
            f64("send_queue_s"),
            f64("delivery_s"),
            f64("application_s"),
            f64("gap_s"),
        ],
    )
}
pub(super) fn gauge() -> Table {
    of_end("gauge", [text("gauge"), f64("value")])
}
pub(super) fn packet() -> Table {
    of_end(
        "packet",
        [
            words("direction", &DIRECTION_WORDS),
            kinds(),
            optional(u64("number")),
            u32("length_bytes"),
            text("frames"),
        ],
    )
}
/// The columns of the table `stream` that are filled when a stream is closed.
pub(super) const CLOSED: usize = 4;
pub(super) const STREAM_SENT: usize = 5;
pub(super) const STREAM_RECEIVED: usize = 6;

pub(super) fn stream() -> Table {
    table(
        "stream",
        [
            text(CONNECTION),
            words(SIDE, &SIDE_WORDS),
            u64("stream"),
            optional(f64("opened_s")),
            optional(f64("closed_s")),
            optional(u64("sent_bytes")),
            optional(u64("received_bytes")),
        ],
    )
}
pub(super) fn object() -> Table {
    table(
        "object",
        [
            text(CONNECTION),
            u32("page"),
            u32("object"),
            optional(u64("stream")),
            u64("size_bytes"),
            u32("urgency"),
            optional(f64("wanted_s")),
            optional(f64("asked_s")),
            optional(f64("first_byte_s")),
            optional(f64("complete_s")),
        ],
    )
}

pub(super) fn segment() -> Table {
    table(
        "segment",
        [
            text(CONNECTION),
            text("kind"),
            optional(u64("segment")),
            u32("representation"),
            f64("bitrate_mbps"),
            f64("duration_s"),
            u64("size_bytes"),
            u64("received_bytes"),
            u64("beside_bytes"),
            u32("urgency"),
            optional(u64("stream")),
            f64("asked_s"),
            optional(f64("first_byte_s")),
            optional(f64("ended_s")),
            f64("buffer_before_s"),
            optional(f64("buffer_after_s")),
            optional(f64("estimate_mbps")),
            text("outcome"),
        ],
    )
}
pub(super) fn playback() -> Table {
    table(
        "playback",
        [
            f64("time_s"),
            text(CONNECTION),
            text("event"),
            f64("position_s"),
            f64("buffer_s"),
            optional(u64("representation")),
            optional(f64("bitrate_mbps")),
            f64("playback_rate"),
            optional(f64("latency_s")),
        ],
    )
}

/// The columns of the table `message` that are filled when a message is delivered.
pub(super) const DELIVERED_AT: usize = 7;
pub(super) const DELAY: usize = 8;
pub(super) const MISSED: usize = 10;

pub(super) fn message() -> Table {
    table(
        "message",
        [
            text(CONNECTION),
            words(SIDE, &SIDE_WORDS),
            u32("part"),
            u64("message"),
            optional(u64("stream")),
            u64("bytes"),
            f64("written_s"),
            optional(f64("delivered_s")),
            optional(f64("delay_ms")),
            optional(f64("deadline_ms")),
            optional(flag("missed")),
        ],
    )
}
pub(super) fn queue() -> Table {
    table("queue", [f64("time_s"), text(LINK), u32("packets"), u64("bytes")])
}
pub(super) fn drop() -> Table {
    table("drop", [f64("time_s"), text(LINK), u32("length_bytes"), text("reason")])
}
pub(super) fn node() -> Table {
    table("node", [f64("time_s"), text(NODE), text("gauge"), f64("value")])
}
pub(super) fn air() -> Table {
    table(
        "air",
        [
            f64("time_s"),
            text(LINK),
            u64("sent_blocks"),
            u64("again_blocks"),
            u64("lost_blocks"),
            u64("block_bytes"),
            f64("air_share"),
            u64("packets"),
            optional(f64("queue_delay_ms")),
            optional(f64("access_delay_ms")),
            optional(f64("transfer_delay_ms")),
            optional(f64("order_delay_ms")),
            u64("handovers"),
        ],
    )
}
pub(super) fn block() -> Table {
    table(
        "block",
        [
            f64("time_s"),
            text(LINK),
            u32("bytes"),
            f64("airtime_us"),
            u32("attempt"),
            u32("mcs"),
            u32("resource_blocks"),
            words("fate", &FATE_WORDS),
        ],
    )
}
pub(super) fn lateness() -> Table {
    table(
        "lateness",
        [
            text("element"),
            text("kind"),
            u64("events"),
            optional(f64("median_us")),
            optional(f64("p99_us")),
            optional(f64("max_us")),
        ],
    )
}
pub(super) fn rate() -> Table {
    table("rate", [f64("time_s"), text(SUBJECT), words("kind", &RATE_WORDS), f64("mbps")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Side;

    #[test]
    fn codes_are_the_discriminants() {
        for (at, kind) in PacketKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, at);
        }
        for (at, trigger) in LossTrigger::ALL.into_iter().enumerate() {
            assert_eq!(trigger as usize, at);
        }
        for (at, fate) in BlockFate::ALL.into_iter().enumerate() {
            assert_eq!(fate as usize, at);
        }
        for side in [Side::Client, Side::Server] {
            assert_eq!(SIDES[side as usize], side.name());
        }
    }

    #[test]
    fn the_positions_of_cells_filled_later_are_correct() {
        let names: Vec<&str> = stream().columns.iter().map(|column| column.name).collect();
        assert_eq!(names[CLOSED], "closed_s");
        assert_eq!((names[STREAM_SENT], names[STREAM_RECEIVED]), ("sent_bytes", "received_bytes"));
        let names: Vec<&str> = message().columns.iter().map(|column| column.name).collect();
        assert_eq!((names[DELIVERED_AT], names[DELAY], names[MISSED]), ("delivered_s", "delay_ms", "missed"));
    }
}
