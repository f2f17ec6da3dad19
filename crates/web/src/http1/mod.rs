//! HTTP/1.1 (RFC 9112) over a [`transport::Transport`] whose streams are connections: the client's end and the server's.

mod body;
mod client;
mod server;

pub(crate) use client::Http1Client;
pub(crate) use server::Http1Server;

/// The protocol's name (ALPN; RFC 7301 section 6).
pub const ALPN: &[u8] = b"http/1.1";
/// The code with which a connection is closed when nothing is wrong; nobody but this side hears of it.
pub(crate) const NO_ERROR: u64 = 0;
/// The code with which a connection is broken off.
pub(crate) const BROKEN: u64 = 1;
/// What is read at once where a head is expected.
const PIECE: usize = 1024;

#[cfg(test)]
mod tests;
