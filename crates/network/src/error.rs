//! Why a part of the network cannot be made from its options.

use crate::rate::{ChangesError, TraceError};
use std::fmt;

/// Why a part of the network cannot be made from its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildError {
    /// The room has no such row.
    Unknown {
        /// The room.
        room: &'static str,
        /// The name that was asked for.
        name: String,
    },
    /// A fixed rate of zero.
    ZeroRate,
    /// A list of rates that makes no sense.
    Changes(ChangesError),
    /// A trace that cannot be read.
    Trace {
        /// The file, as the scenario names it.
        path: String,
        /// What is wrong with it, and where.
        error: TraceError,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Unknown { room, name } => write!(f, "{room} has no {name:?}"),
            BuildError::ZeroRate => {
                f.write_str("a rate of zero never sends anything; say a rate above zero, like \"10 Mbit/s\"")
            }
            BuildError::Changes(error) => error.fmt(f),
            BuildError::Trace { path, error } => write!(f, "{path}:{error}"),
        }
    }
}
impl std::error::Error for BuildError {}

impl From<ChangesError> for BuildError {
    fn from(error: ChangesError) -> BuildError {
        BuildError::Changes(error)
    }
}
