//! Default options of a row, with overrides.

use units::parameter::{Arguments, Parameter};

/// Returns the named values, written as in a scenario, and defaults for the rest.
///
/// # Panics
/// For an unknown option, one without a default, or an invalid text.
pub fn arguments(parameters: &[Parameter], changed: &[(&str, &str)]) -> Arguments {
    Arguments::written(parameters, changed, &[]).unwrap_or_else(|unfilled| panic!("{unfilled}"))
}
