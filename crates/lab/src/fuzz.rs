//! An entry point for fuzzing: any text is a scenario or an error of one line, and a scenario can be written, read again,
//! built, and run. The property tests of this crate and the fuzz target call the same function.

use crate::scenario::{Scenario, Template};
use crate::{RunError, Stepper, check};
use std::path::Path;
use units::{Duration, Time};

/// The virtual time of a run, which ends after 20,000 timers and packets at the latest.
const SPAN: Duration = Duration::from_millis(100);
/// The longest document: longer ones are slow, and find no more mistakes.
const LONGEST: usize = 20_000;

/// The outcome for a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It has a mistake.
    Refused,
    /// It is valid, but cannot be built, for example because of its certificates, or its run fails.
    Failed,
    /// It ran.
    Ran,
}

/// Reads, writes, builds and runs a document, whose files are beside `origin`.
///
/// # Panics
/// If an error has more than one line, or if a scenario that is written and read again differs.
pub fn scenario(text: &str, origin: &Path) -> Verdict {
    if text.len() > LONGEST {
        return Verdict::Refused;
    }
    let scenario = match Scenario::parse(text, origin, &[]) {
        Ok(scenario) => scenario,
        Err(error) => return refused(&error.to_string()),
    };
    let again = Scenario::parse(&scenario.to_toml(), origin, &[]);
    assert_eq!(again.as_ref(), Ok(&scenario), "written and read again");
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

/// Checks that an error is one line of readable length.
fn refused(error: &str) -> Verdict {
    assert!(!error.is_empty() && !error.chars().any(char::is_control), "{error:?}");
    assert!(error.len() < 4_000, "{error}");
    Verdict::Refused
}
