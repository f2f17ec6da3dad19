//! Tables in memory, in Arrow's columnar layout.
//!
//! [`Columns`] is a sink that converts the records of a run to tables. Every buffer is contiguous and has the
//! layout of the Arrow columnar format (validity and booleans as bitmaps, lowest bit first; text as codes into a
//! dictionary with 32-bit offsets), so that the Arrow C data interface can export it without copying.
//!
//! `schema.rs` has the tables, their columns and what they mean ([`TABLES`]). `docs/results.md` lists them as users see them; a test
//! compares the two.
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
//! `packet` and `block` are optional.
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
mod value;
mod video;

pub use data::{Bitmap, Column, Data, Text, Words};
pub use lateness::lateness;
pub use recorder::{Columns, Options, RARE};
pub use schema::TABLES;
pub use store::{PART, Store};
pub use table::Table;
pub use value::{ColumnSchema, Kind, TableSchema};
