//! Stacks from other projects as [`transport::Stack`]: quinn-proto.
//!
//! quinn-proto has no IO: it takes bytes and the time. Here it runs in virtual time (`clock`), draws all random
//! numbers from a named stream (`seeds`), and uses the TLS of the crate `tls` (`session`, `keys`), like the
//! endpoints of the crate `quic`, with which it therefore communicates under either protection. Equal seeds
//! give equal bytes.

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
