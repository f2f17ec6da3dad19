//! Time, rate and size as integers, parsed and printed as people write them; sets of timers; and the table rows with
//! which components of the lab describe their options.
//!
//! All quantities are integers: nanoseconds, bits per second, bytes. A value that is printed and read again is
//! unchanged, so a resolved scenario reproduces its run.

// What is derived names this crate, also within it.
extern crate self as units;

pub mod cache;
pub mod fault;
pub mod file;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod histogram;
mod lateness;
mod number;
pub mod parameter;
pub mod plugged;
mod rate;
mod size;
pub mod table;
mod time;
mod timers;

pub use histogram::Histogram;
pub use lateness::Lateness;
pub use number::{ParseError, scaled};
pub use rate::Rate;
pub use size::Size;
pub use time::{Duration, Time};
pub use timers::Timers;
