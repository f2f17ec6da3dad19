//! The books of a run, which are balanced at its end: every packet, every byte of a stream and all time of a playback is
//! somewhere.
//!
//! The counts come from different components, which do not know of each other. A run whose books do not balance is an error.

mod packets;
mod playback;
mod streams;

use crate::end::EndReport;
use crate::error::RunError;
use crate::host::Host;
use crate::scenario::Scenario;
use network::{Books, World};

/// Balances the books of a world and of its ends up to its current time. The reports are those of the ends, by flow and side.
///
/// # Errors
/// [`RunError::Books`] with the first account that is off.
pub(crate) fn balance(
    scenario: &Scenario,
    world: &mut World<Host<'_>>,
    reports: &[EndReport],
) -> Result<Books, RunError> {
    let books = world.books();
    packets::balance(scenario, world, &books).map_err(RunError::Books)?;
    streams::balance(scenario, reports).map_err(RunError::Books)?;
    for report in reports {
        let flow = &scenario.flows[report.flow].name;
        let playback = report.playback.as_ref();
        playback.map_or(Ok(()), |played| playback::balance(flow, &played.books)).map_err(RunError::Books)?;
    }
    Ok(books)
}
