//! Stacks that others wrote, as [`transport::Stack`]: quinn-proto.
//!
//! quinn-proto has no IO either: it takes bytes and a time. Here it gets virtual time (`clock`), draws everything from a named
//! stream (`seeds`), and has its TLS from the crate `tls` (`session`, `keys`), as the endpoints of the crate `quic` do, with which
//! it so speaks under either protection. Equal seeds give equal bytes.

mod attend;
mod clock;
mod connection;
mod endpoint;
mod keys;
mod options;
mod seeds;
mod session;
mod stats;
mod view;

pub use endpoint::Endpoint;
pub use options::{Acknowledgements, Controller, Options};
