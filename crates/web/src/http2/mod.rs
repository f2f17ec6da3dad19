//! HTTP/2 (RFC 9113) over one stream of a [`transport::Transport`], a TCP connection: the client's end and the server's.

mod client;
mod credit;
mod server;
mod session;
mod turns;

use http::http2::DEFAULT_WINDOW;

pub(crate) use client::Http2Client;
pub(crate) use server::Http2Server;

/// The protocol's name (ALPN; RFC 9113 section 3.1).
pub const ALPN: &[u8] = b"h2";
/// The largest field section that is taken, as RFC 9113 section 6.5.2 counts, and the largest field block.
const MAX_FIELD_SECTION: u32 = 32_768;
/// The windows that a client has unless it is told others, as [`Windows`]: those of Chromium.
const CLIENT_WINDOWS: Windows = Windows { stream: 6 << 20, connection: 15 << 20 };
/// Those of a server, for the content of requests: what RFC 9113 section 6.9.2 begins with.
const SERVER_WINDOWS: Windows = Windows { stream: DEFAULT_WINDOW, connection: DEFAULT_WINDOW };
/// Streams that a client may have open at a time (RFC 9113 section 6.5.2 recommends 100 at least).
const MAX_STREAMS: u32 = 100;

/// How many bytes of content one side lets the other send before they were read (RFC 9113 section 6.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// On each stream (SETTINGS_INITIAL_WINDOW_SIZE): 0 to 2^31 - 1.
    pub stream: u32,
    /// On all streams together: 65,535 to 2^31 - 1.
    pub connection: u32,
}

impl Default for Windows {
    fn default() -> Windows {
        CLIENT_WINDOWS
    }
}

#[cfg(test)]
mod tests;
