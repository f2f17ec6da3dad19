//! The vocabulary of stacks, applications and hosts, for any protocol.
//!
//! A stack (crates `quic`, `tcp`, `foreign`) presents its connections as [`Transport`] and reports [`Event`]s. An [`Application`]
//! depends on these alone, so that it runs over any stack. A host sees an endpoint as a [`Stack`] and drives it by [`serve`].

mod application;
mod counters;
mod data;
mod datagram;
mod error;
mod event;
mod measurements;
mod path;
mod priority;
mod program;
mod report;
mod serve;
mod stack;
mod streams;
mod tally;

pub use application::{Application, Opening};
pub use counters::{Counters, StreamBooks};
pub use data::{Data, Read};
pub use datagram::{Arrival, Datagram, Datagrams, Outgoing, Transmit, WithoutDatagrams};
pub use error::{DatagramError, StreamError};
pub use event::Event;
pub use measurements::Measurements;
pub use path::PathView;
pub use priority::Priority;
pub use program::{Owned, Program};
pub use report::{Load, Number, ObjectLoad, PageLoad, Part, Playback, PlaybackBooks, Progress, Report};
pub use serve::{Environment, serve};
pub use stack::{Connection, Handle, Notified, Snapshot, Stack};
pub use streams::{FlowControl, Streams, UnknownLimits};
pub use tally::Tally;

/// The maximum number of connections of a flow over TCP, where each stream is a connection.
pub const MAX_CONNECTIONS: usize = 256;

/// A connection with streams, of any protocol, as its application sees it.
///
/// No method of it or of its parts has a default: a stack, and whatever stands between a stack and an application, says what each
/// does. What a whole protocol lacks has one name: [`WithoutDatagrams`], [`UnknownLimits`].
pub trait Transport: Streams + FlowControl + Datagrams + Measurements {
    /// The negotiated application protocol (RFC 7301), once it is known.
    fn alpn(&self) -> Option<&[u8]>;
    /// Closes the connection with a code of the application.
    fn close(&mut self, code: u64, reason: &str);
}
