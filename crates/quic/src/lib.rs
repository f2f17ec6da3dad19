//! A sans-IO QUIC endpoint: RFC 9000, 9001 and 9002.
//!
//! The inputs are datagrams and the current time, the outputs are datagrams and the time of the next timer; there is
//! no socket, no thread and no clock. The same endpoint runs in the simulator, over an emulated network and on a UDP
//! socket.

mod ack_frequency;
mod ack_history;
mod ack_policy;
mod address_token;
mod announced;
mod application;
mod assemble;
mod bdp_frame;
pub mod config;
mod connection;
mod control;
mod datagrams;
mod defaults;
mod delivery;
mod endpoint;
mod error;
mod event;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod handshake;
mod idle;
mod ids;
mod key_phase;
mod key_set;
pub mod loss;
mod opening;
mod path;
mod probing;
mod ranges;
mod recovery;
mod resume;
mod sent;
mod space;
mod stack;
mod stats;
mod stream;
mod tokens;
mod variety;
mod version;
mod waiting;

pub use application::QuicTransport;
pub use config::Config;
pub use connection::{Connection, Datagram, Transmit};
pub use datagrams::DatagramStats;
pub use endpoint::{Endpoint, EndpointOptions, EndpointStats, Handle, Places};
pub use error::{CloseReason, TransportError};
pub use key_phase::AeadLimits;
pub use opening::Opening;
pub use path::{MIN_PAYLOAD, MigrateError, Migration};
pub use ranges::RangeSet;
pub use resume::Memory;
pub use schedule;
pub use stats::Stats;
pub use stream::StreamStats;
pub use transport::{Data, DatagramError, Event, Priority, Read, StreamError};
