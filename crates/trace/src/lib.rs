//! Typed events and gauges of a run, and the sinks that consume them.
//!
//! An endpoint or an element writes [`Event`]s into its [`Log`]; the host drains the log into the sinks. Events are
//! independent of protocols: they consist of numbers and words, and packets as encoded on the wire, whose frames are
//! decoded by the sinks. A log without sinks costs one test of a flag.
//!
//! A [`Sink`] takes every [`Record`] together with its [`Subject`], such as a connection end or a link direction.
//! [`columns`] keeps tables in memory, [`qlog`] writes one file per connection end, and [`Fan`] feeds several sinks at
//! once.

pub mod columns;
pub mod event;
mod log;
pub mod qlog;
mod sink;
mod subject;
mod wait;
mod waits;

pub use event::{
    Block, BlockFate, Contents, Event, Message, Metrics, ObjectLoaded, Packet, PlaybackChange, SegmentData,
    Stages, VideoSegment,
};
pub use log::{Interest, Log, Logged, Record};
pub use sink::{Fan, Sink};
pub use subject::{Direction, Role, Side, Subject, Subjects};
pub use wait::{Wait, Waited};
pub use waits::Waits;
pub use wire::PacketKind;
