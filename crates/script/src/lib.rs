//! Packet-level script tests: what packetdrill is for TCP.
//!
//! A script states which packets arrive at an endpoint and when, what its application does, and which packets the
//! endpoint must send, with their times and frames. The endpoint is [`quic::Endpoint`] under null protection, in
//! virtual time; the script plays the peer. The language is described in `docs/scripts.md`.
//!
//! ```
//! let text = "
//!     option role = client
//!     handshake rtt 40ms
//!     +0      open(bidi) = 0
//!     +0      write(0, 1000)
//!     +0      > 1rtt #$n STREAM(0, 0, 1000)
//!     +40ms   < 1rtt ACK($n)
//! ";
//! let script = script::Script::parse("example.quic", text)?;
//! assert!(matches!(script.run()?, script::Verdict::Passed { packets: 1, .. }));
//! # Ok::<(), script::ScriptError>(())
//! ```

mod error;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod handshake;
mod lexer;
mod options;
mod peer;
mod read;
mod report;
mod run;
mod shape;
mod subject;
mod syntax;
mod value;
mod words;

pub use error::ScriptError;
pub use report::Failure;
pub use run::Verdict;
pub use syntax::Script;
