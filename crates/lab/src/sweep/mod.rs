//! Sweeps: many runs of a scenario with other values and seeds, on all cores, kept in a folder.
//!
//! A [`Sweep`] is a scenario with its `[sweep]` table. [`run`] makes the runs that its folder does not have yet; a run
//! is known there by the hash of its resolved scenario, its seed and the [`PROGRAM`], so that an interrupted sweep goes
//! on where it ended and an extended one runs what is new. [`Finished`] gives the tables: they depend on the sweep alone,
//! and neither on the number of threads nor on when what was run. A [`Session`] is the same for runs that are made on
//! other machines.

mod bytes;
mod columns;
mod engine;
mod expand;
mod foresee;
mod kept;
mod key;
mod record;
mod schema;
mod session;
mod store;
mod table;

pub use crate::scenario::Keep;
pub use columns::{Column, Table};
pub use engine::{Failure, Finished, MAX_JOBS, Progress, SweepError, run};
pub use expand::{Planned, Sweep};
pub use session::{Maker, Order, Session};

/// The version of quiclab and a hash of the simulator's sources: two programs in which it is the same make the same runs.
pub const PROGRAM: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("QUICLAB_SOURCES"));
