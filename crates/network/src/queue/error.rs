//! Why a queue cannot be made from its options.

use std::fmt;

/// Why a queue cannot be made from its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueError {
    /// The table has no row of this name.
    Unknown(String),
    /// An option must be greater than another one, and is not.
    NotAbove {
        /// The greater one.
        option: &'static str,
        /// The other one.
        than: &'static str,
    },
    /// An option must not be zero.
    Zero(&'static str),
    /// The scenario has no flow and no cross traffic of this name.
    NoFlow(String),
    /// There are more lists of classes than this.
    TooManyClasses(usize),
}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueError::Unknown(name) => write!(f, "there is no queue {name:?}"),
            QueueError::NotAbove { option, than } => {
                write!(f, "{option} is not above {than}; say a larger {option}")
            }
            QueueError::NoFlow(name) => {
                write!(
                    f,
                    "classes: no flow and no cross traffic is named {name:?}; say names of the scenario"
                )
            }
            QueueError::TooManyClasses(most) => write!(f, "classes: more than {most} lists; say fewer"),
            QueueError::Zero(option) => write!(f, "{option} is zero; say more"),
        }
    }
}
impl std::error::Error for QueueError {}
