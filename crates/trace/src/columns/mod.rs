//! Tables in memory, column by column, as Arrow lays them out.
//!
//! [`Columns`] is a sink that turns the records of a run into the tables below. Every buffer is contiguous and has the
//! layout of the Arrow columnar format (validity and booleans as bits from the lowest on, text as codes into a list of
//! words with 32-bit offsets), so that the Arrow C data interface hands them out without copying.
//!
//! | table | columns |
//! |---|---|
//! | `connection` | time_s, connection, side, cwnd_bytes, bytes_in_flight, ssthresh_bytes?, latest_rtt_ms?, smoothed_rtt_ms, min_rtt_ms?, rtt_variance_ms, pacing_rate_mbps?, delivery_rate_mbps?, pto_count |
//! | `loss` | time_s, connection, side, kind, number, trigger |
//! | `event` | time_s, connection, side, event, detail |
//! | `gauge` | time_s, connection, side, gauge, value |
//! | `packet` | time_s, connection, side, direction, kind, number?, length_bytes, frames |
//! | `stream` | connection, side, stream, opened_s?, closed_s?, sent_bytes?, received_bytes? |
//! | `message` | connection, side, part, message, stream?, bytes, written_s, delivered_s?, delay_ms?, deadline_ms?, missed? |
//! | `object` | connection, page, object, stream?, size_bytes, urgency, wanted_s?, asked_s?, first_byte_s?, complete_s? |
//! | `queue` | time_s, link, packets, bytes |
//! | `drop` | time_s, link, length_bytes, reason |
//! | `rate` | time_s, subject, kind, mbps |
//! | `node` | time_s, node, gauge, value |
//!
//! Rates are of `kind` sent (UDP payload that a connection end sent), delivered (bytes on the wire that a link took to
//! its far end) and capacity (what the link could have taken), each over the bin that starts at `time_s`.
//!
//! The `side` of a message is that of its writer. `missed` says whether it came after its deadline; it is null without a
//! deadline, and while the message has not come.
//!
//! A question mark stands for a column that can be null. `packet` is kept only if asked for.
//!
//! No table grows past [`Options::rows`]. The series (`connection`, `queue`, `gauge`, `node`) are thinned evenly from there on,
//! every second row of each subject going whenever the table is full; the other tables keep their first rows.
//! [`Table::left_out`] counts what is missing and [`Table::note`] says it.

mod bounded;
mod data;
mod message;
mod rate;
mod recorder;
mod schema;
mod stream;
mod table;

pub use data::{Bitmap, Column, Data, Text, Words};
pub use recorder::{Columns, Options};
pub use table::Table;
