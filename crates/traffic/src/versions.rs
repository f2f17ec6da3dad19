//! The version of HTTP that an application's client speaks: the option `over`, and what follows from it.

use crate::{OptionError, http2_options};
use units::parameter::{Arguments, Default, Kind, Parameter};
use web::alpn as protocols;

/// The option.
pub(crate) const OVER: Parameter = Parameter {
    name: "over",
    kind: Kind::Choice(&["http1.1", "http2", "http3"]),
    default: Default::Is("\"http3\""),
    about: "version of HTTP: the first two over TCP, the third over QUIC",
};

/// A version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    Http1,
    Http2,
    Http3,
}

impl Version {
    pub(crate) fn of(arguments: &Arguments) -> Version {
        match arguments.text("over").as_str() {
            "http1.1" => Version::Http1,
            "http2" => Version::Http2,
            _ => Version::Http3,
        }
    }
}

/// The negotiated protocol.
pub(crate) fn alpn(arguments: &Arguments) -> &'static [u8] {
    match Version::of(arguments) {
        Version::Http1 => protocols::HTTP1,
        Version::Http2 => protocols::HTTP2,
        Version::Http3 => protocols::HTTP3,
    }
}

/// The maximum number of TCP connections.
pub(crate) fn tcp_connections(arguments: &Arguments) -> Result<usize, OptionError> {
    match Version::of(arguments) {
        Version::Http1 => Ok(arguments.integer("connections") as usize),
        Version::Http2 => Ok(1),
        Version::Http3 => Err((
            "over",
            "HTTP/3 goes over QUIC; expected \"http1.1\", \"http2\", or protocol = \"quic\"".to_owned(),
        )),
    }
}

/// Checks that the version runs over QUIC.
pub(crate) fn goes_over_quic(arguments: &Arguments) -> Result<(), OptionError> {
    match Version::of(arguments) {
        Version::Http3 => Ok(()),
        _ => Err(("over", "goes over TCP; expected \"http3\", or protocol = \"tcp\"".to_owned())),
    }
}

/// Checks that the options are consistent.
pub(crate) fn check(arguments: &Arguments) -> Result<(), OptionError> {
    if Version::of(arguments) == Version::Http2 {
        return http2_options::check(arguments);
    }
    let of_http2 = [http2_options::SCHEDULER, http2_options::STREAM_WINDOW, http2_options::CONNECTION_WINDOW]
        .map(|row| row.name);
    match of_http2.into_iter().find(|name| arguments.has(name)) {
        Some(name @ "scheduler") => Err((
            name,
            "is an option of HTTP/2; expected over = \"http2\", or transport.scheduler for HTTP/3".to_owned(),
        )),
        Some(name) => Err((name, "is an option of HTTP/2; expected over = \"http2\"".to_owned())),
        None => Ok(()),
    }
}
