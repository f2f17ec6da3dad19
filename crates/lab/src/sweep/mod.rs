//! Sweeps: many runs of a scenario with different values and seeds, on all cores, with results in a folder.
//!
//! A [`Sweep`] is a scenario with its `[sweep]` table. [`run`] makes the runs that are missing in its folder. The key of a
//! run there is a hash of its resolved scenario, its seed and the [`PROGRAM`], so that an interrupted sweep continues, and
//! an extended one makes only its new runs. [`Finished`] has the tables, which depend neither on the number of threads nor
//! on the order of runs. An [`OngoingSweep`] makes the runs on other machines.

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
pub use session::{Maker, OngoingSweep, Order};

/// The version of quiclab and a hash of the simulator's sources. Programs with equal values make equal runs.
pub const PROGRAM: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("QUICLAB_SOURCES"));
