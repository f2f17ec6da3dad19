//! An entry point for fuzzing: any text is a scenario or is refused in one line, and what is accepted can be written, read
//! again, built, and run. The property tests of this crate and the fuzz target call the same function.

use crate::scenario::{Scenario, Template};
use crate::{RunError, Stepper, check};
use std::path::Path;
use units::{Duration, Time};

/// The virtual time for which a run is tried, unless more than 20,000 timers and packets are in it.
const SPAN: Duration = Duration::from_millis(100);
/// The longest document that is tried: longer ones are slow, and find no more.
const LONGEST: usize = 20_000;

/// The outcome for a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// There is a mistake in it.
    Refused,
    /// It was read, and cannot be built (files or certificates do not fit, say), or its run fails.
    Failed,
    /// It ran for the time that is tried.
    Ran,
}

/// Reads a document, whose files are beside `origin`, and does with it what a command would.
///
/// # Panics
/// If an error has more than one line, or what was accepted is not the same when it is written and read again.
pub fn scenario(text: &str, origin: &Path) -> Verdict {
    if text.len() > LONGEST {
        return Verdict::Refused;
    }
    let scenario = match Scenario::parse(text, origin, &[]) {
        Ok(scenario) => scenario,
        Err(error) => return refused(&error.to_string()),
    };
    let again = Scenario::parse(&scenario.to_toml(), origin, &[]);
    assert_eq!(again.as_ref(), Ok(&scenario), "read again, it is another");
    if let Err(error) = Template::parse(text, origin, &[]) {
        refused(&error.to_string());
    }
    if let Err(error) = check(&scenario) {
        refused(&error.to_string());
        return Verdict::Failed;
    }
    match run(&scenario) {
        Ok(()) | Err(RunError::Interrupted) => Verdict::Ran,
        Err(error) => {
            refused(&error.to_string());
            Verdict::Failed
        }
    }
}

fn run(scenario: &Scenario) -> Result<(), RunError> {
    let mut run = Stepper::new(scenario, scenario.seed)?;
    run.run_until(Time::ZERO + SPAN, || false)
}

/// An error is one line, of a length that can be read.
fn refused(said: &str) -> Verdict {
    assert!(!said.is_empty() && !said.chars().any(char::is_control), "{said:?}");
    assert!(said.len() < 4_000, "{said}");
    Verdict::Refused
}
