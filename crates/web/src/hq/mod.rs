//! hq-interop: HTTP/0.9 over QUIC, as used in interoperability tests of QUIC stacks.
//!
//! A request is `GET <path>` and a line end on a bidirectional stream; the response consists of the bytes of the
//! object; the end of the stream ends both. There is no status: a request that cannot be answered is reset.

mod client;
mod server;

pub(crate) use client::HqClient;
pub(crate) use server::HqServer;

/// The protocol name (ALPN).
pub const ALPN: &[u8] = b"hq-interop";
/// The code for closing a connection after all requests.
pub(crate) const NO_ERROR: u64 = 0;
/// The code for resetting a request that is malformed or has no object.
const REFUSED: u64 = 1;
/// The code for aborting a response.
const ABORTED: u64 = 2;
