//! Tables in memory, in Arrow's columnar layout.
//!
//! [`Columns`] is a sink that converts the records of a run to the tables below. Every buffer is contiguous and has the
//! layout of the Arrow columnar format (validity and booleans as bitmaps, lowest bit first; text as codes into a
//! dictionary with 32-bit offsets), so that the Arrow C data interface can export it without copying.
//!
//! | table | columns |
//! |---|---|
//! | `connection` | time_s, connection, side, cwnd_bytes, bytes_in_flight, ssthresh_bytes?, latest_rtt_ms?, smoothed_rtt_ms, min_rtt_ms?, rtt_variance_ms, pacing_rate_mbps?, delivery_rate_mbps?, pto_count |
//! | `loss` | time_s, connection, side, kind, number, trigger |
//! | `event` | time_s, connection, side, event, detail |
//! | `gauge` | time_s, connection, side, gauge, value |
//! | `wait` | time_s, connection, side, wait, in_gap, handshake_s, validation_s, slow_start_s, window_s, recovery_s, timeout_s, pacer_s, stream_credit_s, connection_credit_s, stream_count_s, send_queue_s, delivery_s, application_s, gap_s |
//! | `packet` | time_s, connection, side, direction, kind, number?, length_bytes, frames |
//! | `stream` | connection, side, stream, opened_s?, closed_s?, sent_bytes?, received_bytes? |
//! | `message` | connection, side, part, message, stream?, bytes, written_s, delivered_s?, delay_ms?, deadline_ms?, missed? |
//! | `object` | connection, page, object, stream?, size_bytes, urgency, wanted_s?, asked_s?, first_byte_s?, complete_s? |
//! | `segment` | connection, kind, segment?, representation, bitrate_mbps, duration_s, size_bytes, received_bytes, beside_bytes, urgency, stream?, asked_s, first_byte_s?, ended_s?, buffer_before_s, buffer_after_s?, estimate_mbps?, outcome |
//! | `playback` | time_s, connection, event, position_s, buffer_s, representation?, bitrate_mbps?, playback_rate, latency_s? |
//! | `queue` | time_s, link, packets, bytes |
//! | `drop` | time_s, link, length_bytes, reason |
//! | `rate` | time_s, subject, kind, mbps |
//! | `node` | time_s, node, gauge, value |
//! | `air` | time_s, link, sent_blocks, again_blocks, lost_blocks, block_bytes, air_share, packets, queue_delay_ms?, access_delay_ms?, transfer_delay_ms?, order_delay_ms?, handovers |
//! | `block` | time_s, link, bytes, airtime_us, attempt, mcs, resource_blocks, fate |
//! | `lateness` | element, kind, events, median_us?, p99_us?, max_us? |
//!
//! The `kind` of a rate is sent (UDP payload sent by a connection end), delivered (bytes on the wire delivered by a
//! link) or capacity (what the link could have delivered), each over the bin that starts at `time_s`.
//!
//! The `side` of a message is that of its writer. `missed` is whether it was delivered after its deadline; it is null
//! without a deadline and for undelivered messages.
//!
//! `air` has a row for each bin in which a lane of a link layer was active: its blocks, its share of the medium, and the
//! mean delays of the packets that it handed over.
//!
//! `lateness` has a row for each element of a world that runs in real time ([`lateness`]), and no other run has it.
//!
//! A question mark denotes a nullable column. `packet` and `block` are optional.
//!
//! With a [`Store`], long tables leave memory part by part while they grow.
//!
//! No table exceeds [`Options::rows`], in memory or in a store. The series (`connection`, `queue`, `gauge`, `wait`, `node`) are thinned evenly: whenever
//! such a table is full, it drops every second row of each subject. The other tables keep their first rows.
//! [`Table::left_out`] is the number of missing rows, and [`Table::note`] describes them.

mod air;
mod bounded;
mod data;
mod lateness;
mod message;
mod rate;
mod recorder;
mod schema;
mod series;
mod store;
mod stream;
mod table;
mod video;

pub use data::{Bitmap, Column, Data, Text, Words};
pub use lateness::lateness;
pub use recorder::{Columns, Options, RARE};
pub use store::{PART, Store};
pub use table::Table;
