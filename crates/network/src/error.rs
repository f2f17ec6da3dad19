//! Why a carrier or a middlebox cannot be made from its options.

use crate::course::CourseError;
use crate::queue::QueueError;
use crate::rate::RateError;
use std::fmt;

/// Why a carrier or a middlebox cannot be made from its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildError {
    /// The room has no such row.
    Unknown {
        /// The room.
        room: &'static str,
        /// The name that was asked for.
        name: String,
    },
    /// The options of the rate do not do.
    Rate(RateError),
    /// The options of the queue do not do.
    Queue(QueueError),
    /// An option of a medium or a middlebox that cannot be used.
    Option {
        /// The option.
        option: &'static str,
        /// What is wrong, and what is expected.
        problem: String,
    },
    /// A loss or a delay over time that makes no sense.
    Course {
        /// The file, as the scenario names it, if it is in one.
        path: Option<String>,
        /// What is wrong with it.
        error: CourseError,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Unknown { room, name } => write!(f, "there is no {name:?} among the {room}"),
            BuildError::Rate(error) => error.fmt(f),
            BuildError::Queue(error) => error.fmt(f),
            BuildError::Option { problem, .. } => f.write_str(problem),
            BuildError::Course { path: Some(path), error } => write!(f, "{path}:{error}"),
            BuildError::Course { path: None, error } => error.fmt(f),
        }
    }
}
impl std::error::Error for BuildError {}

impl From<RateError> for BuildError {
    fn from(error: RateError) -> BuildError {
        BuildError::Rate(error)
    }
}

impl From<QueueError> for BuildError {
    fn from(error: QueueError) -> BuildError {
        BuildError::Queue(error)
    }
}
