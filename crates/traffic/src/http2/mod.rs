//! HTTP/2 (RFC 9113) over one stream of a [`crate::Transport`], a TCP connection: the client's end and the server's.

mod client;
mod server;
mod session;

pub(crate) use client::Http2Client;
pub(crate) use server::Http2Server;

/// The protocol's name (ALPN; RFC 9113 section 3.1).
pub(crate) const ALPN: &[u8] = b"h2";
/// The largest field section that is taken, as RFC 9113 section 6.5.2 counts, and the largest field block.
const MAX_FIELD_SECTION: u32 = 32_768;
/// What the client lets the server send on a stream before it was read: as Chromium does.
const STREAM_WINDOW: u32 = 6 << 20;
/// The same of all streams together.
const CONNECTION_WINDOW: u32 = 15 << 20;
/// Streams that a client may have open at a time (RFC 9113 section 6.5.2 recommends 100 at least).
const MAX_STREAMS: u32 = 100;

#[cfg(test)]
mod tests;
