//! Stacks from other projects as [`transport::Stack`]: a file and a row of [`STACKS`] for each.
//!
//! A stack has no IO: it takes bytes and the time. It runs in virtual time, draws all random numbers from the [`Generator`] that it is
//! given, and uses the TLS of the crate `tls`, like the endpoints of the crate `quic`, with which it therefore communicates under either
//! protection. Equal seeds give equal bytes.
//!
//! [`Generator`]: random::Generator

mod options;
mod quinn;
mod row;

pub use options::{Acknowledgements, Options};
pub use row::{Build, Endpoint, Foreign, Maker, ROOM, Setup, foreign, room};

use units::parameter::Row;

/// The stacks. A host for which a scenario names none has the first.
pub static STACKS: &[Row<Maker>] = &[
    Row { name: "quiclab", about: "the endpoints of quiclab", parameters: &[], build: Maker::Own },
    quinn::ROW,
];
