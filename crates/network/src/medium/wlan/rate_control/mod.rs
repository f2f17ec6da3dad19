//! Rate controls: at which rate a station sends to another.

mod fixed;
mod minstrel;

use crate::error::BuildError;
use random::Generator;
use units::Time;
use units::parameter::{Arguments, Room, Row};

/// The rates for one receiver. Rates are numbered by their place in a list that ascends.
pub(super) trait RateControl {
    /// The rate of an attempt, counted from 1.
    fn rate(&mut self, now: Time, attempt: u8) -> usize;
    /// The rate that it always chooses, if there is one.
    fn only(&self) -> Option<usize> {
        None
    }
    /// Of `sent` frames at a rate this many were acknowledged.
    fn note(&mut self, rate: usize, sent: u32, received: u32);
}

/// The inputs for building a rate control.
pub(super) struct RateControlInputs<'a> {
    /// How long a frame of 1500 bytes takes at each rate, with its overhead and its response, in ns.
    pub durations: &'a [u64],
    /// The place of the fixed rate in the list.
    pub fixed: usize,
    pub stream: Generator,
}

/// The constructor of a row.
type Build = fn(&Arguments, RateControlInputs<'_>) -> Box<dyn RateControl>;

static RATE_CONTROLS: &[Row<Build>] = &[fixed::ROW, minstrel::ROW];

/// The room of the rate controls.
pub(super) fn room() -> Room {
    Room::of("rate_controls", "at which rate a station of a WLAN sends", RATE_CONTROLS, None)
}

pub(super) fn build(
    name: &str,
    arguments: &Arguments,
    setup: RateControlInputs<'_>,
) -> Result<Box<dyn RateControl>, BuildError> {
    match RATE_CONTROLS.iter().find(|row| row.name == name) {
        Some(row) => Ok((row.build)(arguments, setup)),
        None => Err(BuildError::Unknown { room: "rate_controls", name: name.to_owned() }),
    }
}
