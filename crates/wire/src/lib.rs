//! Bytes to values and back: varints, packets, frames, transport parameters, and the IP, UDP and TCP headers around them.
//!
//! Everything is strict: what the RFC calls an error is one here, with the error code that it names. Decoders borrow
//! from the bytes, allocate nothing, and never panic, whatever the bytes are.

mod ecn;
pub mod error;
pub mod frame;
pub mod fuzz;
pub mod header;
mod hole;
mod id;
pub mod ip;
pub mod number;
mod packet_kind;
pub mod parameters;
pub mod pattern;
mod stream_id;
pub mod tcp;
pub mod varint;
mod version;

pub use ecn::Ecn;
pub use error::Code;
pub use frame::{Ack, Data, EcnCounts, Frame, FrameError, FrameProblem, Frames};
pub use header::{FirstByte, Header, HeaderError};
pub use hole::{Damage, Hole};
pub use id::ConnectionId;
pub use number::Truncated;
pub use packet_kind::PacketKind;
pub use parameters::{
    ParameterError, ParameterProblem, PreferredAddress, TransportParameters, VersionInformation, VersionList,
};
pub use stream_id::{Direction, Side, StreamId};
pub use varint::{Reader, UnexpectedEnd};
pub use version::Version;
