//! The tables of a run: the columns of each, their types, and what they mean. Whatever shows or reads tables has it from here:
//! `quiclab explain`, the page of the tables, the checks of tables that are read back.

use super::data::Words;
use super::table::{Row, Table};
use super::value::{Code, ColumnSchema, Dictionary, TableSchema, Value, Word};
use crate::event::{BlockFate, LossTrigger};
use crate::{PacketKind, Side, Wait};
use std::sync::LazyLock;

/// What happened to a packet: the column `direction` of the table `packet`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Happened {
    Sent,
    Received,
    Dropped,
}

/// What a rate is the rate of: the column `kind` of the table `rate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RateKind {
    Sent,
    Delivered,
    Capacity,
}

/// The words of a type in the order of its discriminants.
macro_rules! dictionary {
    ($type:ty, $words:expr) => {
        impl Dictionary for $type {
            fn words() -> &'static Words {
                static WORDS: LazyLock<Words> = LazyLock::new(|| Words::of($words));
                &WORDS
            }
            #[inline]
            fn code(self) -> u32 {
                self as u32
            }
        }
    };
}
dictionary!(Side, [Side::Client, Side::Server].map(Side::name));
dictionary!(Happened, ["sent", "received", "dropped"]);
dictionary!(RateKind, ["sent", "delivered", "capacity"]);
dictionary!(PacketKind, PacketKind::ALL.map(PacketKind::name));
dictionary!(LossTrigger, LossTrigger::ALL.map(LossTrigger::name));
dictionary!(Wait, Wait::ALL.map(Wait::name));
dictionary!(BlockFate, BlockFate::ALL.map(BlockFate::name));

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

/// Makes a module of each table: its `Row`, with a field for each column, and the position of each column, `At`.
macro_rules! tables {
    ($($about:literal $table:ident $(<$life:lifetime>)? { $($column:ident: $value:ty = $means:expr,)+ })+) => {
        $(
            pub(super) mod $table {
                use super::*;

                #[doc = $about]
                #[derive(Debug, Clone, Copy)]
                pub(in super::super) struct Row $(<$life>)? {
                    $(pub(in super::super) $column: $value,)+
                }

                /// The positions of the columns.
                #[derive(Debug, Clone, Copy)]
                #[allow(non_camel_case_types, dead_code)]
                pub(in super::super) enum At {
                    $($column,)+
                }

                impl $(<$life>)? super::Row for Row $(<$life>)? {
                    const SCHEMA: TableSchema = TableSchema {
                        name: stringify!($table),
                        about: $about,
                        columns: &[$(ColumnSchema {
                            name: stringify!($column),
                            about: $means,
                            kind: <$value as Value>::KIND,
                            is_optional: <$value as Value>::IS_OPTIONAL,
                        },)+],
                    };
                    fn table() -> Table {
                        let columns = vec![$(<$value as Value>::column(stringify!($column)),)+];
                        Table { columns, ..Table::empty(stringify!($table)) }
                    }
                    #[inline]
                    fn append(rows: &[Self], table: &mut Table) {
                        let [$($column),+] = &mut table.columns[..] else {
                            unreachable!("a table has the columns of its schema")
                        };
                        $(<$value as Value>::extend($column, rows.iter().map(|row| row.$column));)+
                    }
                }
            }
        )+

        /// The tables that a run can have.
        pub static TABLES: &[TableSchema] = &[$(<$table::Row as Row>::SCHEMA),+];
    };
}

/// What columns of several tables mean.
mod about {
    pub(super) const TIME_S: &str = "virtual time since the start of the run";
    pub(super) const CONNECTION: &str =
        "the name of the connection: that of its flow, with `#1`, `#2` ... where a flow has several";
    pub(super) const SIDE: &str = "the end of the connection";
    pub(super) const LINK: &str = "the direction of a link (`cell forward`), the attachment of a medium (`air phone`), or the node of a middlebox";
    pub(super) const LENGTH_BYTES: &str = "length of the packet";
    pub(super) const URGENCY: &str = "urgency of the request: 0 is the most urgent";
    pub(super) const SIZE_BYTES: &str = "size of the content";
    pub(super) const FIRST_BYTE_S: &str = "when the first byte of the content was read; null if none arrived";
    pub(super) const ASKED_S: &str = "when the request was sent; null if it was not";
    pub(super) const KIND: &str = "kind of the packet";
    pub(super) const GAUGE: &str = "name of the value";
    pub(super) const VALUE: &str = "the value, in the unit at the end of its name";
}

tables! {
    "the state of one end of a connection after an acknowledgement, a loss or a timeout"
    connection {
        time_s: f64 = about::TIME_S,
        connection: Code = about::CONNECTION,
        side: Word<Side> = about::SIDE,
        cwnd_bytes: u64 = "congestion window",
        bytes_in_flight: u64 = "bytes sent that are neither acknowledged nor declared lost",
        ssthresh_bytes: Option<u64> = "slow start threshold; null before the first reduction",
        latest_rtt_ms: Option<f64> = "latest RTT sample; null before the first",
        smoothed_rtt_ms: f64 = "smoothed RTT; the initial RTT before the first sample",
        min_rtt_ms: Option<f64> = "minimum RTT of the path; null before the first sample",
        rtt_variance_ms: f64 = "mean deviation of the RTT",
        pacing_rate_mbps: Option<f64> = "rate at which packets are released; null without pacing",
        delivery_rate_mbps: Option<f64> = "latest sample of the delivery rate; null before the first",
        pto_count: u32 = "probe timeouts in a row",
    }
    "a packet that its sender declared lost"
    loss {
        time_s: f64 = about::TIME_S,
        connection: Code = about::CONNECTION,
        side: Word<Side> = about::SIDE,
        kind: Word<PacketKind> = about::KIND,
        number: u64 = "packet number; over TCP the number of the first byte, counted from the SYN",
        trigger: Word<LossTrigger> = "why it was declared lost",
    }
    "an event of a connection: handshake, path, migration, close"
    event {
        time_s: f64 = about::TIME_S,
        connection: Code = about::CONNECTION,
        side: Word<Side> = about::SIDE,
        event: &'static str = "what happened",
        detail: Code = "the event's details",
    }
    "a value inside a controller, or of another part of an endpoint, when it changed"
    gauge {
        time_s: f64 = about::TIME_S,
        connection: Code = about::CONNECTION,
        side: Word<Side> = about::SIDE,
        gauge: &'static str = about::GAUGE,
        value: f64 = about::VALUE,
    }
    "what one end of a connection now waits for before it sends more, and how long it has waited so far for each cause: a row when that changes, for the same cause at most every 10 ms ([why](../docs/why.md))"
    wait {
        time_s: f64 = about::TIME_S,
        connection: Code = about::CONNECTION,
        side: Word<Side> = about::SIDE,
        wait: Word<Wait> = "what it waits for",
        in_gap: bool = "whether received data waits for data before it on its stream",
        handshake_s: f64 = "the handshake",
        validation_s: f64 = "the validation of the peer's address (RFC 9000 section 8.1)",
        slow_start_s: f64 = "its congestion window, or the pacer, in slow start",
        window_s: f64 = "its congestion window otherwise",
        recovery_s: f64 = "its congestion window, while its controller was in recovery from a loss",
        timeout_s: f64 = "an acknowledgement, since a timer expired",
        pacer_s: f64 = "the pacer",
        stream_credit_s: f64 = "flow control of a stream; over TCP the peer's receive window",
        connection_credit_s: f64 = "flow control of the connection",
        stream_count_s: f64 = "the limit on the number of streams",
        send_queue_s: f64 = "room in the send queue",
        delivery_s: f64 = "the delivery of everything that was written",
        application_s: f64 = "the application",
        gap_s: f64 = "received data waited for data before it",
    }
    "a packet at one end of a connection; only with `record.packets`"
    packet {
        time_s: f64 = about::TIME_S,
        connection: Code = about::CONNECTION,
        side: Word<Side> = about::SIDE,
        direction: Word<Happened> = "what happened to it there",
        kind: Word<PacketKind> = about::KIND,
        number: Option<u64> = "packet number; null if the packet has none, or was dropped before it was read",
        length_bytes: u32 = about::LENGTH_BYTES,
        frames: Code = "kinds of its frames",
    }
    "a stream, as one end sees it"
    stream {
        connection: Code = about::CONNECTION,
        side: Word<Side> = about::SIDE,
        stream: u64 = "the stream's id",
        opened_s: Option<f64> = "when it was opened; null if it was not",
        closed_s: Option<f64> = "when both halves were over at this side; null if they were not",
        sent_bytes: Option<u64> = "bytes of its data that this side sent, each counted once; null while it is open",
        received_bytes: Option<u64> = "bytes of its data that this side received; null while it is open",
    }
    "a message of an application"
    message {
        connection: Code = about::CONNECTION,
        side: Word<Side> = "the end that wrote it",
        part: u32 = "the application among those that share the connection, counted from 0",
        message: u64 = "number of the message, counted from 0",
        stream: Option<u64> = "the stream that carried it; null for a datagram",
        bytes: u64 = "its size",
        written_s: f64 = "when the application wrote it",
        delivered_s: Option<f64> = "when the other application had all of it; null if it had not",
        delay_ms: Option<f64> = "the time between the two",
        deadline_ms: Option<f64> = "the delay that it may have; null without a deadline",
        missed: Option<bool> = "whether it arrived too late; null without a deadline, and while it has not arrived",
    }
    "an object of a web page, a file of a list, or something that an application in Python has measured"
    object {
        connection: Code = about::CONNECTION,
        page: u32 = "number of the page, counted from 0",
        object: u32 = "number of the object on its page, counted from 0",
        stream: Option<u64> = "the stream that carried it; null if it was not requested",
        size_bytes: u64 = about::SIZE_BYTES,
        urgency: u32 = about::URGENCY,
        wanted_s: Option<f64> = "when the client knew that it needed the object",
        asked_s: Option<f64> = about::ASKED_S,
        first_byte_s: Option<f64> = about::FIRST_BYTE_S,
        complete_s: Option<f64> = "when the last byte was read; null if it was not",
    }
    "a download of a video player, in the order of the requests"
    segment {
        connection: Code = about::CONNECTION,
        kind: &'static str = "`video` or `audio`",
        segment: Option<u64> = "number of the segment, from 0 over all periods; null for an initialization segment",
        representation: u32 = "representation, counted from 0 by rising bitrate",
        bitrate_mbps: f64 = "declared bitrate of the representation",
        duration_s: f64 = "duration of the media; 0 for an initialization segment",
        size_bytes: u64 = about::SIZE_BYTES,
        received_bytes: u64 = "bytes that the client read",
        beside_bytes: u64 = "bytes of the player's other track that were read during the download",
        urgency: u32 = about::URGENCY,
        stream: Option<u64> = "the stream of the request; over HTTP/1.1 four times the number of the connection",
        asked_s: f64 = about::ASKED_S,
        first_byte_s: Option<f64> = about::FIRST_BYTE_S,
        ended_s: Option<f64> = "when the last byte was read, or when the download ended without it",
        buffer_before_s: f64 = "media in the buffer of its track at the request",
        buffer_after_s: Option<f64> = "media in the buffer of its track at the end",
        estimate_mbps: Option<f64> = "throughput that the rate adaptation estimated; null if it does not estimate it",
        outcome: &'static str = "`complete`, `abandoned`, `cancelled`, `cut`, `failed` or `underway`",
    }
    "an event of a video player, and its state after it"
    playback {
        time_s: f64 = about::TIME_S,
        connection: Code = about::CONNECTION,
        event: &'static str = "`start`, `stall`, `resume`, `seek`, `switch`, `rate` or `end`",
        position_s: f64 = "position in the media",
        buffer_s: f64 = "media in the buffer of the track that has the least",
        representation: Option<u64> = "representation shown, counted from 0 by rising bitrate; null before the first picture",
        bitrate_mbps: Option<f64> = "declared bitrate of the representation shown; null before the first picture",
        playback_rate: f64 = "rate of playback: 1 is normal, 0 while it is stopped",
        latency_s: Option<f64> = "live: how far playback is behind the camera; else null",
    }
    "the length of a queue when it changed"
    queue {
        time_s: f64 = about::TIME_S,
        link: Code = about::LINK,
        packets: u32 = "packets that wait",
        bytes: u64 = "bytes that wait",
    }
    "a packet that the network dropped"
    drop {
        time_s: f64 = about::TIME_S,
        link: Code = about::LINK,
        length_bytes: u32 = about::LENGTH_BYTES,
        reason: &'static str = "why: the queue, a loss, the size, a middlebox",
    }
    "a rate in a bin of time (`record.bin`)"
    rate {
        time_s: f64 = about::TIME_S,
        subject: Code = "a connection, a direction of a link, or a medium",
        kind: Word<RateKind> = "what it is the rate of",
        mbps: f64 = "the mean over the bin, in Mbit/s",
    }
    "a value of a middlebox when it changed"
    node {
        time_s: f64 = about::TIME_S,
        node: Code = "the name of the node",
        gauge: &'static str = about::GAUGE,
        value: f64 = about::VALUE,
    }
    "what a lane of a link layer did in a bin of time (`record.bin`)"
    air {
        time_s: f64 = about::TIME_S,
        link: Code = about::LINK,
        sent_blocks: u64 = "blocks sent for the first time",
        again_blocks: u64 = "blocks sent again, which are not in `sent_blocks`",
        lost_blocks: u64 = "blocks that were given up",
        block_bytes: u64 = "payload of both",
        air_share: f64 = "share of the medium's time that the lane had",
        packets: u64 = "packets delivered",
        queue_delay_ms: Option<f64> = "mean time of these packets in the queue; null without packets",
        access_delay_ms: Option<f64> = "mean time until they had the medium",
        transfer_delay_ms: Option<f64> = "mean time of their transfer, repetitions included",
        order_delay_ms: Option<f64> = "mean time until they were in order",
        handovers: u64 = "handovers of the terminal",
    }
    "a block that a link layer sent: a transport block of a cell, a frame of a WLAN; only with `record.blocks`"
    block {
        time_s: f64 = about::TIME_S,
        link: Code = about::LINK,
        bytes: u32 = "its payload, with the headers of the link layer",
        airtime_us: f64 = "how long it had the medium; for a part of the medium, that part of the time",
        attempt: u32 = "number of the attempt, counted from 1",
        mcs: u32 = "number of the modulation and coding scheme",
        resource_blocks: u32 = "resource blocks that it had; 0 where the medium is not divided",
        fate: Word<BlockFate> = "what happened to it",
    }
    "an element of a run in real time, and how late it was"
    lateness<'a> {
        element: &'a str = "the name of the element",
        kind: &'a str = "what it is",
        events: u64 = "how often it acted",
        median_us: Option<f64> = "median of how late it was; null if it never acted",
        p99_us: Option<f64> = "99th percentile of how late it was; null if it never acted",
        max_us: Option<f64> = "how late it was at most; null if it never acted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_the_discriminants() {
        fn agree<W: Dictionary + std::fmt::Debug>(all: &[W]) {
            let words = all.iter().zip(0..).map(|(word, at)| (word.code(), at));
            assert!(words.clone().all(|(code, at)| code == at), "{all:?}");
            assert_eq!(W::words().len(), all.len());
        }
        agree(&PacketKind::ALL);
        agree(&LossTrigger::ALL);
        agree(&BlockFate::ALL);
        agree(&Wait::ALL);
        agree(&[Side::Client, Side::Server]);
        agree(&[Happened::Sent, Happened::Received, Happened::Dropped]);
        agree(&[RateKind::Sent, RateKind::Delivered, RateKind::Capacity]);
    }

    #[test]
    fn a_column_is_described_once_and_without_a_full_stop() {
        for table in TABLES {
            let mut names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), table.columns.len(), "{}", table.name);
            let said = table.columns.iter().map(|column| column.about).chain([table.about]);
            said.for_each(|about| {
                assert!(!about.is_empty() && !about.ends_with('.'), "{}: {about:?}", table.name)
            });
        }
    }
}
