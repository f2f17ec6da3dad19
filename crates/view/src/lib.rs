//! What `quiclab view` shows: the logs of both ends of a connection as columns, and what waited for what.
//!
//! A [`Log`] is filled record by record, from the text of a qlog by a [`Reader`] or value by value. A [`Direction`] is
//! what one end sent and what became of it; [`pack`] makes the columns of the page from it. Everything is kept in
//! columns, since a log of 1 GB has millions of packets.

mod direction;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod log;
mod packets;
mod ranges;
mod record;
mod sending;
mod sequence;
mod split;
mod varint;
mod waiting;
mod words;

pub mod pack;

pub use direction::{Direction, Stream, UNKNOWN, shortest};
pub use log::{GAUGES, Log};
pub use packets::{Ack, Credit, DATAGRAMS, Other, Packet, Packets, StreamFrame};
pub use ranges::{Owners, Ranges};
pub use record::{Fed, Reader};
pub use split::{Splitter, Stop};
pub use waiting::{NOBODY, Spans};
