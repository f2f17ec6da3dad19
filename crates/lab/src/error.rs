//! Why a run gives no outcome.

use std::path::PathBuf;
use std::{fmt, io};

/// Why there is no outcome.
#[derive(Debug)]
pub enum RunError {
    /// The network of the scenario is none.
    Topology(network::TopologyError),
    /// A part of the scenario cannot be built.
    Component {
        /// Which part.
        place: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A component from outside of the lab failed.
    Outside {
        /// What it said.
        problem: String,
    },
    /// The simulation cannot go on.
    Network(network::RunError),
    /// The TLS options cannot be used.
    Tls(tls::Error),
    /// A result could not be written.
    Output {
        /// Where to.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The caller asked to stop.
    Interrupted,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Topology(error) => error.fmt(f),
            RunError::Component { place, problem } => write!(f, "{place}: {problem}"),
            RunError::Outside { problem } => f.write_str(problem),
            RunError::Network(error) => error.fmt(f),
            RunError::Tls(error) => write!(f, "tls: {error}"),
            RunError::Output { path, error } => write!(f, "{}: {error}", path.display()),
            RunError::Interrupted => f.write_str("interrupted"),
        }
    }
}
impl std::error::Error for RunError {}
