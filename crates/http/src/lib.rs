//! HTTP wire formats and values: heads of HTTP/1.1 (RFC 9112), frames of HTTP/2 (RFC 9113) and HTTP/3 (RFC 9114),
//! field compression (RFC 7541, RFC 9204), priorities of responses (RFC 9218), and request targets.
//!
//! Items without a version in their path belong to HTTP/3. This crate knows no connections; the applications that
//! speak HTTP are in `traffic`.

mod code;
mod codes;
pub mod frame;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod hpack;
pub mod http1;
pub mod http2;
mod huffman;
mod integer;
pub mod message;
mod priority;
pub mod qpack;
mod settings;
mod target;

pub use code::{Code, Violation};
pub use priority::Priority;
pub use settings::Settings;
pub use target::{BadTarget, MAX_TARGET, Target};
