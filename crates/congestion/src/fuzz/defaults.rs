//! The options of a row as they are when nobody says.

use units::parameter::{Arguments, Parameter};

/// The values of these options: those named, written as in a scenario, and the defaults of all others.
///
/// # Panics
/// For an option that is none, one without a default, and a text that is no value.
pub fn arguments(parameters: &[Parameter], changed: &[(&str, &str)]) -> Arguments {
    Arguments::written(parameters, changed, &[]).unwrap_or_else(|unfilled| panic!("{unfilled}"))
}
