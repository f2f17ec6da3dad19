//! Conversion between bytes and values: varints, packets, frames, transport parameters, and the IP, UDP and TCP headers
//! around them.
//!
//! Decoding is strict: every error in the RFC is an error here, with the error code in the RFC. Decoders borrow from
//! the bytes, allocate nothing, and never panic on any input.

mod ecn;
pub mod error;
pub mod frame;
#[cfg(feature = "fuzz")]
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
mod typed;
pub mod varint;
mod version;

pub use ecn::Ecn;
pub use error::Code;
pub use frame::{Ack, Data, EcnCounts, Frame, FrameError, FrameProblem, Frames, LowerRanges, ShortLists};
pub use header::{FirstByte, Header, HeaderError};
pub use hole::{Damage, Hole};
pub use id::ConnectionId;
pub use number::Truncated;
pub use packet_kind::PacketKind;
pub use parameters::{
    ParameterError, ParameterProblem, PreferredAddress, TransportParameters, VersionInformation, VersionList,
};
pub use stream_id::{Direction, Side, StreamId};
pub use typed::{TypedFrame, TypedPacket, null_tag};
pub use varint::{Reader, UnexpectedEnd};
pub use version::Version;
