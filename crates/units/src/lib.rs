//! Time, rate and size as integers, parsed and printed as people write them, timers of many, and the table rows by
//! which a component of the lab describes its options.
//!
//! Everything is an integer: nanoseconds, bits per second, bytes. A value that is printed and read again is the
//! same value, so that a resolved scenario gives the same run.

pub mod cache;
pub mod fault;
pub mod fuzz;
mod histogram;
mod number;
pub mod parameter;
pub mod plugged;
mod rate;
mod size;
mod time;
mod timers;

pub use histogram::Histogram;
pub use number::ParseError;
pub use rate::Rate;
pub use size::Size;
pub use time::{Duration, Time};
pub use timers::Timers;
