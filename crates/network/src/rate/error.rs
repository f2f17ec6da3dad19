//! Errors in the options of a rate.

use std::fmt;
use units::{Duration, Time};

/// An error in the options of a rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RateError {
    /// The table has no row with this name.
    Unknown(String),
    /// A rate from outside of this crate cannot be made: the problem, and what is expected.
    Outside(String),
    /// A fixed rate is zero.
    Zero,
    /// A list of changes is invalid.
    Changes(ChangesError),
    /// A trace is malformed.
    Trace {
        /// The file, as named in the scenario.
        path: String,
        /// The problem, and its place.
        error: TraceError,
    },
    /// A run would start after the end of the recording.
    Offset {
        /// The start.
        at: Duration,
        /// The duration of the recording.
        lasts: Duration,
    },
    /// There is no model of traces with this name.
    Model {
        /// The unknown name.
        name: String,
        /// The names of all models.
        known: &'static [&'static str],
    },
    /// A generated trace is too short or too long.
    Length {
        /// The requested length.
        duration: Duration,
        /// The model.
        model: &'static str,
        /// The shortest trace of this model.
        shortest: Duration,
        /// The longest trace of any.
        longest: Duration,
    },
    /// A file of rates over time is malformed.
    Series {
        /// The file, as named in the scenario.
        path: String,
        /// The problem, and its place.
        error: SeriesError,
    },
    /// An option is out of range.
    Option {
        /// The option.
        option: &'static str,
        /// The problem, and what is expected.
        problem: String,
    },
}

impl fmt::Display for RateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RateError::Outside(problem) => f.write_str(problem),
            RateError::Unknown(name) => write!(f, "there is no rate {name:?}"),
            RateError::Zero => f.write_str(
                "a rate of zero never sends anything; expected a rate above zero, like \"10 Mbit/s\"",
            ),
            RateError::Changes(error) => error.fmt(f),
            RateError::Trace { path, error } => write!(f, "{path}:{error}"),
            RateError::Series { path, error } => write!(f, "{path}:{error}"),
            RateError::Option { problem, .. } => f.write_str(problem),
            RateError::Offset { at, lasts } => {
                write!(f, "{at}; expected less than {lasts}, the length of the recording")
            }
            RateError::Model { name, known } => {
                write!(f, "no model {name:?}; expected one of {}", known.join(", "))
            }
            RateError::Length { duration, model, shortest, longest } => {
                write!(f, "{duration}; expected from {shortest} to {longest} for {model}")
            }
        }
    }
}
impl std::error::Error for RateError {}

impl RateError {
    /// The option at fault, if it is neither the file nor the first one.
    pub fn option(&self) -> Option<&'static str> {
        match self {
            RateError::Offset { .. } => Some("offset"),
            RateError::Length { .. } => Some("duration"),
            RateError::Option { option, .. } => Some(option),
            _ => None,
        }
    }
}

/// An error in a list of rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangesError {
    /// There are no steps.
    Empty,
    /// The first step is at this time, not at zero.
    FirstStep(Time),
    /// A step does not follow the previous one in time.
    NotRising {
        /// The previous step.
        before: Time,
        /// The step.
        at: Time,
    },
    /// Every rate is zero.
    AllZero,
    /// The list repeats before its last step.
    RepeatTooShort {
        /// The period of the repetition.
        repeat: Duration,
        /// The last step.
        last: Time,
    },
}

impl fmt::Display for ChangesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChangesError::Empty => f.write_str("no steps; expected at least [[\"0 s\", \"2 Mbit/s\"]]"),
            ChangesError::FirstStep(at) => write!(f, "the first step is at {at}, not at \"0 s\""),
            ChangesError::NotRising { before, at } => {
                write!(f, "the step at {at} does not come after the one at {before}")
            }
            ChangesError::AllZero => f.write_str("all rates are zero: nothing is ever sent"),
            ChangesError::RepeatTooShort { repeat, last } => {
                write!(f, "repeat {repeat} is not after the last step at {last}")
            }
        }
    }
}
impl std::error::Error for ChangesError {}

/// An error in a file of rates over time, with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesError {
    /// The line, counted from 1.
    pub line: usize,
    /// The line found, and what is expected.
    pub problem: String,
}

impl fmt::Display for SeriesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.problem)
    }
}
impl std::error::Error for SeriesError {}

/// An error in a trace, with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceError {
    /// The line, counted from 1.
    pub line: usize,
    /// The problem in that line.
    pub problem: TraceProblem,
}

/// What is wrong with a line of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceProblem {
    /// A comment states another unit, in quotes, than milliseconds.
    Unit(String),
    /// This is no whole number of milliseconds.
    NotANumber(String),
    /// This is more than 2^32 - 1 ms, or the trace begins so late that it has times of a clock.
    TooLate(String),
    /// The time is before that of the line above.
    Decreasing {
        /// The line above, in milliseconds.
        before: u32,
        /// The line, in milliseconds.
        at: u32,
    },
    /// There is no line at all.
    Empty,
    /// The last time is zero: the trace would start again without end.
    NoDuration,
    /// More lines than this.
    TooLong(usize),
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.line)?;
        match &self.problem {
            TraceProblem::NotANumber(found) => {
                write!(f, "found {found:?}, expected a whole number of milliseconds")?;
                // Columns: somebody's CSV in the place of a Mahimahi trace.
                let hint = "; CSV is for type = \"series\", and begins with the line time_ms,rate_mbps";
                if found.trim().contains([',', ';', '|', ' ', '\t', '_', '(']) {
                    f.write_str(hint)
                } else {
                    Ok(())
                }
            }
            TraceProblem::TooLate(found) => {
                write!(
                    f,
                    "found {found:?}; expected milliseconds from the start of the trace, up to {}",
                    u32::MAX
                )
            }
            TraceProblem::Unit(unit) => write!(f, "the comment has {unit}; expected milliseconds"),
            TraceProblem::Decreasing { before, at } => {
                write!(f, "{at} ms comes after {before} ms; times must not decrease")
            }
            TraceProblem::Empty => {
                f.write_str("the trace is empty; expected one whole number of milliseconds per line")
            }
            TraceProblem::NoDuration => f.write_str("the last time is 0 ms: a trace must last at least 1 ms"),
            TraceProblem::TooLong(limit) => write!(f, "more than {limit} opportunities"),
        }
    }
}
impl std::error::Error for TraceError {}
