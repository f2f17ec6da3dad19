//! The HTTP/2 options of scenarios.

use crate::OptionError;
use http::http2::{DEFAULT_WINDOW, MAX_WINDOW};
use units::Size;
use units::parameter::{Component, Options};
use web::Windows;

/// The options of HTTP/2. All are absent by default, so that they can be refused with another version.
#[derive(Debug, Clone, Default, Options)]
pub(crate) struct Http2Options {
    /// which response the server sends next, frame by frame, over HTTP/2
    #[option(room = "schedulers")]
    pub(crate) scheduler: Option<Component>,
    /// flow-control window of an HTTP/2 stream in bytes (RFC 9113: 65535 by default; Chromium: 6 MiB)
    pub(crate) stream_window: Option<Size>,
    /// flow-control window of an HTTP/2 connection in bytes, at least 65535 (Chromium: 15 MiB)
    pub(crate) connection_window: Option<Size>,
}

impl Http2Options {
    /// The windows granted by a client. The defaults are those of Chromium.
    pub(crate) fn client_windows(&self) -> Windows {
        let usual = Windows::default();
        let bytes = |size: Size| u32::try_from(size.as_bytes()).unwrap_or(MAX_WINDOW);
        Windows {
            stream: self.stream_window.map_or(usual.stream, bytes),
            connection: self.connection_window.map_or(usual.connection, bytes),
        }
    }

    /// Checks the window sizes.
    ///
    /// # Errors
    /// The invalid option, and a description.
    pub(crate) fn check(&self) -> Result<(), OptionError> {
        // RFC 9113 sections 6.5.2 and 6.9.2: the connection window starts with 65,535 and only grows.
        for (name, given, least) in [
            ("stream_window", self.stream_window, 1),
            ("connection_window", self.connection_window, DEFAULT_WINDOW),
        ] {
            let Some(bytes) = given.map(Size::as_bytes) else { continue };
            if !(u64::from(least)..=MAX_WINDOW.into()).contains(&bytes) {
                return Err((name, format!("found {bytes} bytes; expected {least} to {MAX_WINDOW}")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9113 sections 6.5.2 and 6.9.2.
    #[test]
    fn windows_have_bounds() {
        let of = |name, bytes: u64| Http2Options::written(&[(name, &format!("{bytes} B"))]).unwrap();
        for (name, bytes, fine) in [
            ("stream_window", 0, false),
            ("stream_window", 1, true),
            ("stream_window", 1 << 31, false),
            ("connection_window", 65_534, false),
            ("connection_window", 65_535, true),
            ("connection_window", (1 << 31) - 1, true),
        ] {
            assert_eq!(
                of(name, bytes).check().map_err(|(name, _)| name),
                if fine { Ok(()) } else { Err(name) },
                "{bytes}"
            );
        }
        assert_eq!(Http2Options::default().check(), Ok(()));
        assert_eq!(
            of("stream_window", 70_000).client_windows(),
            Windows { stream: 70_000, connection: 15 << 20 }
        );
    }
}
