//! hq-interop: HTTP/0.9 over QUIC, as the interoperability tests of QUIC stacks speak it.
//!
//! A request is `GET <path>` and the end of a line on a bidirectional stream, the response is the bytes of the object,
//! and the end of the stream is the end of both. There is no status: what cannot be answered is reset.

mod client;
mod server;

pub(crate) use client::HqClient;
pub(crate) use server::HqServer;

/// The protocol's name (ALPN).
pub const ALPN: &[u8] = b"hq-interop";
/// The code with which the client closes when it has all it wanted.
pub(crate) const NO_ERROR: u64 = 0;
/// The code with which a request is reset that is none, or for which there is nothing.
const REFUSED: u64 = 1;
/// The code with which a response is broken off.
const BROKEN: u64 = 2;
