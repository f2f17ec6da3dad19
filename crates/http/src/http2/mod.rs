//! HTTP/2 wire format (RFC 9113): frames, settings, error codes. [`crate::hpack`] compresses the fields.

mod code;
mod frame;
mod message;
mod settings;

pub use code::{Code, Error};
pub use frame::{FRAME_HEAD, Flags, Frame, FrameHead, Kind};
pub use message::{check_trailers, read_request, read_response};
pub use settings::Settings;

/// The connection preface of a client (section 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The largest payload that every endpoint accepts, which is also the limit here (section 4.2,
/// SETTINGS_MAX_FRAME_SIZE).
pub const MAX_FRAME: u32 = 16_384;
/// The initial flow-control window of streams and the connection (section 6.9.2).
pub const DEFAULT_WINDOW: u32 = 65_535;
/// The maximum flow-control window (section 6.9.1) and stream identifier (section 5.1.1).
pub const MAX_WINDOW: u32 = (1 << 31) - 1;
