//! Errors in the options of a carrier or a middlebox.

use crate::course::CourseError;
use crate::queue::QueueError;
use crate::rate::RateError;
use std::fmt;

/// An error in the options of a carrier or a middlebox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildError {
    /// The room has no such row.
    Unknown {
        /// The room.
        room: &'static str,
        /// The requested name.
        name: String,
    },
    /// The options of the rate are invalid.
    Rate(RateError),
    /// The options of the queue are invalid.
    Queue(QueueError),
    /// A component from outside of this crate cannot be made: the problem, and what is expected.
    Outside(String),
    /// An option of a medium or a middlebox is invalid.
    Option {
        /// The option.
        option: &'static str,
        /// The problem, and what is expected.
        problem: String,
    },
    /// A loss or a delay over time is invalid.
    Course {
        /// The file, as named in the scenario, if there is one.
        path: Option<String>,
        /// The problem.
        error: CourseError,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Unknown { room, name } => write!(f, "there is no {name:?} among the {room}"),
            BuildError::Rate(error) => error.fmt(f),
            BuildError::Queue(error) => error.fmt(f),
            BuildError::Option { problem, .. } | BuildError::Outside(problem) => f.write_str(problem),
            BuildError::Course { path: Some(path), error: CourseError::File(error) } => {
                write!(f, "{path}:{error}")
            }
            BuildError::Course { path: Some(path), error } => write!(f, "{path}: {error}"),
            BuildError::Course { path: None, error } => error.fmt(f),
        }
    }
}
impl std::error::Error for BuildError {}

impl BuildError {
    /// The option of a loss or a jitter at fault, as the room's check returns it.
    pub(crate) fn of_option(self) -> (&'static str, String) {
        let option = match &self {
            BuildError::Option { option, .. } => option,
            BuildError::Course { error: CourseError::RepeatTooShort { .. }, .. } => "repeat",
            BuildError::Course { path: Some(_), .. } => "file",
            BuildError::Course { .. } => "steps",
            _ => "",
        };
        (option, self.to_string())
    }
}

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
