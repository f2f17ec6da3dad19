//! HTTP/2 (RFC 9113) over one stream of a [`transport::Transport`], a TCP connection: client and server.

mod client;
mod credit;
mod server;
mod session;
mod turns;

use http::http2::DEFAULT_WINDOW;

pub(crate) use client::Http2Client;
pub(crate) use server::Http2Server;

/// The protocol name (ALPN; RFC 9113 section 3.1).
pub const ALPN: &[u8] = b"h2";
/// The maximum size of a received field section, as counted in RFC 9113 section 6.5.2, and of a field block.
const MAX_FIELD_SECTION: u32 = 32_768;
/// The default windows of a client, which are those of Chromium.
const CLIENT_WINDOWS: Windows = Windows { stream: 6 << 20, connection: 15 << 20 };
/// The windows of a server for request content: the initial values of RFC 9113 section 6.9.2.
const SERVER_WINDOWS: Windows = Windows { stream: DEFAULT_WINDOW, connection: DEFAULT_WINDOW };
/// The maximum number of concurrent streams (RFC 9113 section 6.5.2 recommends at least 100).
const MAX_STREAMS: u32 = 100;

/// The flow-control windows granted to the peer (RFC 9113 section 6.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// The window of each stream (SETTINGS_INITIAL_WINDOW_SIZE): 0 to 2^31 - 1.
    pub stream: u32,
    /// The window of the connection: 65,535 to 2^31 - 1.
    pub connection: u32,
}

impl Default for Windows {
    fn default() -> Windows {
        CLIENT_WINDOWS
    }
}

#[cfg(test)]
mod tests;
