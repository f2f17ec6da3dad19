//! Schedulers of a cell: which terminals get the resource blocks of a slot.
//!
//! In each slot the scheduler ranks the terminals that have something to send, and says how many of the resource
//! blocks that are left the first of them may have; it gets no more than its backlog needs.

mod max_rate;
mod proportional_fair;
mod round_robin;

use crate::error::BuildError;
use units::parameter::{Arguments, Room, Row};
use units::plugged::Plugged;

pub use units::plugged::PlugError;

/// A terminal that has something to send in a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The terminal, by its number.
    pub terminal: u16,
    /// The bits of all resource blocks at its modulation and coding scheme.
    pub bits: f64,
    /// Higher ones are served first, equal ones in the order of their numbers.
    pub priority: f64,
}

/// Shares the resource blocks of a slot.
pub trait Scheduler {
    /// Gives the terminals their priorities in this slot. They come in the order of their numbers.
    fn rank(&mut self, slot: u64, candidates: &mut [Candidate]);
    /// Puts the next terminal to be served at the place `at`; those before have been served.
    fn select(&self, candidates: &mut [Candidate], at: usize) {
        select_by_priority(candidates, at);
    }
    /// The most resource blocks that the next of `candidates` terminals may have, of those that are `left`.
    fn share(&self, left: u16, candidates: usize) -> u16 {
        let _ = candidates;
        left
    }
    /// Notes that a terminal gets this many bits in this slot.
    fn note(&mut self, slot: u64, terminal: u16, bits: u32);
}

/// Most slots are used up by one terminal, so that the first is searched, and only then the others are sorted.
fn select_by_priority(candidates: &mut [Candidate], at: usize) {
    let before = |one: &Candidate, other: &Candidate| {
        other.priority.total_cmp(&one.priority).then(one.terminal.cmp(&other.terminal))
    };
    match at {
        0 => {
            let mut best = 0;
            for (place, candidate) in candidates.iter().enumerate().skip(1) {
                if candidate.priority > candidates[best].priority {
                    best = place;
                }
            }
            if best > 0 {
                candidates.swap(0, best);
            }
        }
        1 => candidates[1..].sort_unstable_by(before),
        _ => {}
    }
}

/// The constructor of a scheduler for a number of terminals, and for slots of this many nanoseconds.
pub type Build = &'static (dyn Fn(&Arguments, usize, u64) -> Box<dyn Scheduler> + Send + Sync);

/// The schedulers of cells.
static CELL_SCHEDULERS: &[Row<Build>] = &[round_robin::ROW, proportional_fair::ROW, max_rate::ROW];

/// The schedulers of cells added by the program.
static PLUGGED: Plugged<Build> = Plugged::none();

/// Adds a scheduler of cells from outside of this crate, which scenarios then find by name like any other. It replaces
/// an added scheduler of the same name.
///
/// # Errors
/// See [`PlugError`].
pub fn plug(row: Row<Build>) -> Result<(), PlugError> {
    PLUGGED.add(CELL_SCHEDULERS, row)
}

/// The room of the schedulers of cells.
pub(super) fn room() -> Room {
    PLUGGED.extend(Room::of(
        "cell_schedulers",
        "which terminals of a cell get the resource blocks of a slot",
        CELL_SCHEDULERS,
        None,
    ))
}

/// Builds the scheduler with this name.
///
/// # Errors
/// If the table has no such row.
pub(super) fn build(
    name: &str,
    arguments: &Arguments,
    terminals: usize,
    slot_ns: u64,
) -> Result<Box<dyn Scheduler>, BuildError> {
    match PLUGGED.find(CELL_SCHEDULERS, name) {
        Some(row) => Ok((row.build)(arguments, terminals, slot_ns)),
        None => Err(BuildError::Unknown { room: "cell_schedulers", name: name.to_owned() }),
    }
}
