//! A modern sans-IO TCP endpoint to compare QUIC with: RFC 9293 with MSS, window scale and timestamps (RFC 7323), SACK
//! and DSACK (RFC 2018, RFC 2883), RACK-TLP (RFC 8985), ECN (RFC 3168), Fast Open (RFC 7413), and the framing of TLS
//! 1.3.
//!
//! Segments and the time go in, segments and the time of the next timer come out; there is no socket, no thread and no
//! clock. The controllers, the pacer and the delivery-rate samples are those of the crate `congestion`, as for QUIC.

mod ack_policy;
pub mod config;
mod connection;
mod data;
mod defaults;
mod ecn;
mod endpoint;
mod event;
mod fast_open;
mod flow;
mod handshake;
mod outgoing;
mod ports;
mod rack;
mod ranges;
mod ready;
mod reassembly;
mod records;
mod recovery;
mod rto;
mod scoreboard;
mod sequence;
mod state;
mod stats;
mod timestamps;
mod tlp;
mod window;

pub use config::{Config, FastOpen, Layer};
pub use connection::{Arrival, Connection, ConnectionInputs, Transmit};
pub use endpoint::Endpoint;
pub use event::{CloseReason, Event};
pub use flow::{ConnectionFactory, TCP_STREAM, TcpConnections, TcpTransport};
pub use ports::Ports;
pub use records::TlsSizes;
pub use recovery::DatedPaths;
pub use state::State;
pub use stats::Stats;
pub use transport::{Data, Read, StreamError};
