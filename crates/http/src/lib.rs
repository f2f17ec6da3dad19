//! HTTP/3 as bytes and values: what stands on its streams (RFC 9114), how fields are packed (RFC 9204), how urgent a
//! response is (RFC 9218), and which object a request is for.
//!
//! Nothing here knows a connection; the applications that speak HTTP/3 are in `traffic`.

mod code;
pub mod frame;
pub mod fuzz;
mod huffman;
pub mod message;
mod priority;
pub mod qpack;
mod settings;
mod target;

pub use code::{Code, Violation};
pub use priority::Priority;
pub use settings::Settings;
pub use target::{BadTarget, MAX_TARGET, Target};
