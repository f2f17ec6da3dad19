//! What happened in a run: typed events and gauges, and the sinks that take them.
//!
//! An endpoint or an element writes [`Event`]s into its [`Log`]; the host drains the log into the sinks. Nothing here
//! knows a protocol: an event is plain numbers and words, and a packet is kept as it was on the wire; the sinks that show its
//! frames decode it. A log that nobody listens to costs one test of a flag.
//!
//! A [`Sink`] takes every [`Record`] with the [`Subject`] it belongs to, a connection end or a link direction.
//! [`columns`] keeps tables in memory, [`qlog`] writes one file per connection end, and [`Fan`] feeds several at once.

pub mod columns;
pub mod event;
mod log;
pub mod qlog;
mod sink;
mod subject;

pub use event::{Contents, Event, Message, Metrics, ObjectLoaded, Packet, SegmentData};
pub use log::{Interest, Log, Record};
pub use sink::{Fan, Sink};
pub use subject::{Direction, Role, Side, Subject, Subjects};
pub use wire::PacketKind;
