//! The version of HTTP that an application's client speaks: the option `over`, and what follows from it.

use crate::OptionError;
use crate::http2_options::Http2Options;
use units::parameter::{Arguments, Choice, Options};
use web::alpn as protocols;

/// The option.
#[derive(Debug, Clone, Copy, Options)]
pub(crate) struct VersionOptions {
    /// version of HTTP: the first two over TCP, the third over QUIC
    #[option(default = "http3")]
    pub(crate) over: Version,
}

/// A version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub(crate) enum Version {
    #[word("http1.1")]
    Http1,
    Http2,
    Http3,
}

/// The negotiated protocol.
pub(crate) fn alpn(arguments: &Arguments) -> &'static [u8] {
    match VersionOptions::of(arguments).over {
        Version::Http1 => protocols::HTTP1,
        Version::Http2 => protocols::HTTP2,
        Version::Http3 => protocols::HTTP3,
    }
}

/// Checks that the version runs over QUIC.
pub(crate) fn goes_over_quic(arguments: &Arguments) -> Result<(), OptionError> {
    match VersionOptions::of(arguments).over {
        Version::Http3 => Ok(()),
        _ => Err(("over", "goes over TCP; expected \"http3\", or protocol = \"tcp\"".to_owned())),
    }
}

impl Version {
    /// The maximum number of TCP connections, where HTTP/1.1 opens at most this many.
    pub(crate) fn tcp_connections(self, of_http1: usize) -> Result<usize, OptionError> {
        match self {
            Version::Http1 => Ok(of_http1),
            Version::Http2 => Ok(1),
            Version::Http3 => Err((
                "over",
                "HTTP/3 goes over QUIC; expected \"http1.1\", \"http2\", or protocol = \"quic\"".to_owned(),
            )),
        }
    }

    /// Checks that the options of HTTP/2 fit the version.
    pub(crate) fn check(self, http2: &Http2Options) -> Result<(), OptionError> {
        if self == Version::Http2 {
            return http2.check();
        }
        if http2.scheduler.is_some() {
            let problem =
                "is an option of HTTP/2; expected over = \"http2\", or transport.scheduler for HTTP/3";
            return Err(("scheduler", problem.to_owned()));
        }
        let windows =
            [("stream_window", http2.stream_window), ("connection_window", http2.connection_window)];
        match windows.into_iter().find(|(_, given)| given.is_some()) {
            Some((name, _)) => Err((name, "is an option of HTTP/2; expected over = \"http2\"".to_owned())),
            None => Ok(()),
        }
    }
}
