//! The HTTP/2 options of scenarios.

use crate::OptionError;
use http::http2::{DEFAULT_WINDOW, MAX_WINDOW};
use units::parameter::{Arguments, Component, Default, Kind, Parameter};
use web::Windows;

pub(crate) const SCHEDULER: Parameter = Parameter {
    name: "scheduler",
    kind: Kind::Component("schedulers"),
    default: Default::Is("\"rfc9218\""),
    about: "which response the server sends next, frame by frame, over HTTP/2",
};
pub(crate) const STREAM_WINDOW: Parameter = Parameter {
    name: "stream_window",
    kind: Kind::Size,
    default: Default::Is("\"6 MiB\""),
    about: "flow-control window of an HTTP/2 stream in bytes (RFC 9113: 65535 by default; Chromium: 6 MiB)",
};
pub(crate) const CONNECTION_WINDOW: Parameter = Parameter {
    name: "connection_window",
    kind: Kind::Size,
    default: Default::Is("\"15 MiB\""),
    about: "flow-control window of an HTTP/2 connection in bytes, at least 65535 (Chromium: 15 MiB)",
};

/// The windows granted by a client. The defaults are those of Chromium.
pub(crate) fn client_windows(arguments: &Arguments) -> Windows {
    let usual = Windows::default();
    let size = |name, usual| {
        if arguments.has(name) {
            u32::try_from(arguments.size(name).as_bytes()).unwrap_or(MAX_WINDOW)
        } else {
            usual
        }
    };
    Windows {
        stream: size(STREAM_WINDOW.name, usual.stream),
        connection: size(CONNECTION_WINDOW.name, usual.connection),
    }
}

/// The scheduler of the server, if given.
pub(crate) fn scheduler(arguments: &Arguments) -> Option<Component> {
    arguments.has(SCHEDULER.name).then(|| arguments.component(SCHEDULER.name).clone())
}

/// Checks the window sizes.
///
/// # Errors
/// The invalid option, and a description.
pub(crate) fn check(arguments: &Arguments) -> Result<(), OptionError> {
    // RFC 9113 sections 6.5.2 and 6.9.2: the connection window starts with 65,535 and only grows.
    for (name, least) in [(STREAM_WINDOW.name, 1), (CONNECTION_WINDOW.name, DEFAULT_WINDOW)] {
        if arguments.has(name) {
            let bytes = arguments.size(name).as_bytes();
            if !(u64::from(least)..=MAX_WINDOW.into()).contains(&bytes) {
                return Err((name, format!("found {bytes} bytes; expected {least} to {MAX_WINDOW}")));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Size;
    use units::parameter::Value;

    /// RFC 9113 sections 6.5.2 and 6.9.2.
    #[test]
    fn windows_have_bounds() {
        let of = |name, bytes| Arguments(vec![(name, Value::Size(Size::from_bytes(bytes)))]);
        for (name, bytes, fine) in [
            ("stream_window", 0, false),
            ("stream_window", 1, true),
            ("stream_window", 1 << 31, false),
            ("connection_window", 65_534, false),
            ("connection_window", 65_535, true),
            ("connection_window", (1 << 31) - 1, true),
        ] {
            assert_eq!(
                check(&of(name, bytes)).map_err(|(name, _)| name),
                if fine { Ok(()) } else { Err(name) },
                "{bytes}"
            );
        }
        assert_eq!(check(&Arguments::default()), Ok(()));
        assert_eq!(
            client_windows(&of("stream_window", 70_000)),
            Windows { stream: 70_000, connection: 15 << 20 }
        );
        assert_eq!(scheduler(&Arguments::default()), None);
    }
}
