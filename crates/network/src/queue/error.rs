//! Errors in the options of a queue.

use std::fmt;

/// An error in the options of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueError {
    /// The table has no row with this name.
    Unknown(String),
    /// An option must be greater than another one, but is not.
    NotAbove {
        /// The option that must be greater.
        option: &'static str,
        /// The other option.
        than: &'static str,
    },
    /// An option must not be zero.
    Zero(&'static str),
    /// The scenario has neither a flow nor cross traffic with this name.
    NoFlow(String),
    /// There are more lists of classes than this.
    TooManyClasses(usize),
    /// A queue from outside of this crate cannot be made: the problem, and what is expected.
    Outside(String),
}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueError::Unknown(name) => write!(f, "there is no queue {name:?}"),
            QueueError::NotAbove { option, than } => {
                write!(f, "{option} is not above {than}; expected a larger {option}")
            }
            QueueError::NoFlow(name) => {
                write!(
                    f,
                    "classes: no flow or cross traffic is named {name:?}; expected names of the scenario"
                )
            }
            QueueError::TooManyClasses(most) => write!(f, "classes: more than {most} lists; expected fewer"),
            QueueError::Outside(problem) => f.write_str(problem),
            QueueError::Zero(option) => write!(f, "{option} is zero; expected more"),
        }
    }
}
impl std::error::Error for QueueError {}
