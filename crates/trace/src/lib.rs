//! What happened in a run: typed events and gauges, and the sinks that take them.
//!
//! An endpoint or an element writes [`Event`]s into its [`Log`]; the host drains the log into the sinks. Nothing here
//! knows a protocol: an event is plain numbers and words. A log that nobody listens to costs one test of a flag.
//!
//! A [`Sink`] takes every [`Record`] with the [`Subject`] it belongs to, a connection end or a link direction.
//! [`columns`] keeps tables in memory, [`qlog`] writes one file per connection end, and [`Fan`] feeds several at once.

pub mod columns;
pub mod event;
mod log;
pub mod qlog;
mod sink;
mod subject;

pub use event::{Event, Frame, Message, Metrics, ObjectLoaded, Packet, PacketKind};
pub use log::{Interest, Log, Record};
pub use sink::{Fan, Sink};
pub use subject::{Direction, Role, Side, Subject, Subjects};
