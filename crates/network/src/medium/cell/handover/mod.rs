//! Handovers: which site of a cell's network serves a terminal.

mod sinr;
mod times;

use crate::error::BuildError;
use units::Time;
use units::parameter::{Arguments, OptionError, Room, Row};

/// Decides which site serves a terminal.
pub(super) trait Trigger {
    /// The site at the start of the run. `sinr_db` tells the signal-to-noise ratio of a site.
    fn start(&mut self, sinr_db: &mut dyn FnMut(usize) -> f64) -> usize {
        let _ = sinr_db;
        0
    }
    /// When it decides next; `None` if it never does again.
    fn next(&self) -> Option<Time>;
    /// Decides at that time, and says which site serves the terminal from then on. `is_away` says that the interruption by
    /// the last handover goes on.
    fn decide(&mut self, serving: usize, is_away: bool, sinr_db: &mut dyn FnMut(usize) -> f64) -> usize;
}

/// A row: the constructor for a number of sites, and a check of options that depend on their number and on the channel
/// of the terminal, by its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Build {
    build: fn(&Arguments, usize) -> Option<Box<dyn Trigger>>,
    check: fn(&Arguments, usize, &str) -> Result<(), String>,
}

static HANDOVERS: &[Row<Build>] = &[
    Row {
        name: "none",
        about: "none: the first site always serves the terminal",
        parameters: &[],
        build: Build { build: |_, _| None, check: |_, _, _| Ok(()) },
    },
    times::ROW,
    sinr::ROW,
];

/// The room of the handovers.
pub(super) fn room() -> Room {
    Room::of("handovers", "which site of a cell's network serves a terminal", HANDOVERS, None)
}

/// Checks the handover of a terminal with a channel of this name.
pub(super) fn check(
    name: &str,
    arguments: &Arguments,
    sites: usize,
    channel: &str,
) -> Result<(), OptionError> {
    let Some(row) = HANDOVERS.iter().find(|row| row.name == name) else { return Ok(()) };
    (row.build.check)(arguments, sites, channel).map_err(|problem| ("handover", problem))
}

pub(super) fn build(
    name: &str,
    arguments: &Arguments,
    sites: usize,
) -> Result<Option<Box<dyn Trigger>>, BuildError> {
    match HANDOVERS.iter().find(|row| row.name == name) {
        Some(row) => Ok((row.build.build)(arguments, sites)),
        None => Err(BuildError::Unknown { room: "handovers", name: name.to_owned() }),
    }
}
