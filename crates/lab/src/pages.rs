//! The random numbers behind the pages of a flow, to compare a model with its distributions.

use crate::error::RunError;
use crate::scenario::Scenario;
use crate::world::application_stream;
use pages::Quantity;
use units::parameter::{Component, Value};

/// The maximum number of draws of a quantity.
pub const MAX_DRAWS: usize = 100_000_000;

/// The first `count` draws of each quantity in the model of a flow's web pages, before rounding: bytes, objects or seconds.
/// A run of the scenario draws the same numbers. Pages from a file have no quantities.
///
/// # Errors
/// [`RunError::Component`] if no flow has this name, if its application has no web pages, or for more than
/// [`MAX_DRAWS`].
pub fn page_draws(
    scenario: &Scenario,
    flow: &str,
    count: usize,
) -> Result<Vec<(&'static str, Vec<f64>)>, RunError> {
    let wrong = |problem: String| RunError::Component { place: format!("flow {flow}"), problem };
    if count > MAX_DRAWS {
        return Err(wrong(format!("{count} draws, and {MAX_DRAWS} is the most")));
    }
    let found = scenario.flows.iter().find(|known| known.name == flow);
    let found = found.ok_or_else(|| wrong("no flow has this name".to_owned()))?;
    let pages = found.application.arguments.0.iter().find_map(|(_, value)| match value {
        Value::Component(component) if component.room == pages::room().name => Some(component),
        _ => None,
    });
    let Component { name, arguments, .. } =
        pages.ok_or_else(|| wrong(format!("{:?} has no web pages", found.application.name)))?;
    let laws = pages::laws(name, arguments)
        .transpose()
        .map_err(|(option, problem)| wrong(format!("{option}: {problem}")))?;
    let laws = laws.unwrap_or_default();
    let drawn = pages::draws(&laws, &mut application_stream(scenario.seed, flow), count);
    Ok(laws.iter().map(|Quantity { name, .. }| *name).zip(drawn).collect())
}
