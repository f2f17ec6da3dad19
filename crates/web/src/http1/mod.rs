//! HTTP/1.1 (RFC 9112) over a [`transport::Transport`] whose streams are connections: client and server.

mod body;
mod client;
mod server;

pub(crate) use client::Http1Client;
pub(crate) use server::Http1Server;

/// The protocol name (ALPN; RFC 7301 section 6).
pub const ALPN: &[u8] = b"http/1.1";
/// The code for a normal close, which stays local.
pub(crate) const NO_ERROR: u64 = 0;
/// The code for aborting a connection, which stays local.
pub(crate) const ABORTED: u64 = 1;
/// The number of bytes read at once while expecting a head.
const PIECE: usize = 1024;

#[cfg(test)]
mod tests;
