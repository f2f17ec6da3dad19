//! A sans-IO TCP endpoint of today, to compare QUIC with: RFC 9293 with MSS, window scale and timestamps (RFC 7323), SACK and
//! DSACK (RFC 2018, RFC 2883), RACK-TLP (RFC 8985), ECN (RFC 3168), Fast Open (RFC 7413), and the framing of TLS 1.3.
//!
//! Bytes and the time go in, bytes and "wake me at" come out; there is no socket, no thread, no clock. Controllers, pacer
//! and delivery-rate samples are those of crate `congestion`, which QUIC uses too.

mod ack_policy;
pub mod config;
mod connection;
mod data;
mod defaults;
mod ecn;
mod event;
mod fast_open;
mod flow;
mod handshake;
mod outgoing;
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

pub use config::{Config, FastOpen, PARAMETERS};
pub use connection::{Arrival, Connection, Setup, Transmit};
pub use event::{CloseReason, Event};
pub use flow::{MakeTcp, TCP_STREAM, TcpConnections, TcpTransport};
pub use records::TlsSizes;
pub use state::State;
pub use stats::Stats;
pub use transport::{Data, Read, StreamError};
