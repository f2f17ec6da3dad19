//! The errors of runs.

use crate::account::Imbalance;
use std::path::PathBuf;
use std::{fmt, io};
use units::fault::Fault;

/// The reason why a run has no outcome.
#[derive(Debug)]
pub enum RunError {
    /// The network of the scenario is invalid.
    Topology(network::TopologyError),
    /// A part of the scenario cannot be built.
    Component {
        /// The part: `link cell forward`.
        place: String,
        /// The problem, in one line.
        problem: String,
    },
    /// A component from outside the lab failed.
    Outside(Fault),
    /// The simulation cannot continue.
    Network(network::RunError),
    /// The TLS options cannot be used.
    Tls(tls::Error),
    /// A result could not be written.
    Output {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The books of the run do not balance, which is an error of this program: its results cannot be trusted.
    Books(Imbalance),
    /// The caller asked to stop.
    Interrupted,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Topology(error) => error.fmt(f),
            RunError::Component { place, problem } => write!(f, "{place}: {problem}"),
            RunError::Outside(fault) => fault.fmt(f),
            RunError::Network(error) => error.fmt(f),
            RunError::Tls(error) => write!(f, "tls: {error}"),
            RunError::Output { path, error } => write!(f, "{}: {error}", path.display()),
            RunError::Books(imbalance) => imbalance.fmt(f),
            RunError::Interrupted => f.write_str("interrupted"),
        }
    }
}
impl std::error::Error for RunError {}
