//! The module `quiclab._quiclab`: Python bindings for the crate `lab`, without further functionality.
//!
//! It contains scenarios, runs, their tables and the exceptions. Conveniences are in the Python package `quiclab`; the
//! simulator is in `lab`.

mod abr;
mod application;
mod cell_scheduler;
mod connection;
mod controller;
mod document;
#[cfg(target_os = "linux")]
mod emulate;
mod error;
mod jitter;
mod loader;
mod loss;
mod middlebox;
mod outside;
mod packet;
mod queue;
mod rate;
#[cfg(target_os = "linux")]
mod relay;
mod scenario;
mod scheduler;
mod script;
mod stepper;
mod store;
mod summary;
mod sweep;
mod table;
mod traces;
mod view;
mod watch;
#[cfg(target_os = "linux")]
mod web;

use pyo3::prelude::*;

/// The bindings between the package quiclab and its simulator. Use the package instead.
#[pymodule]
mod _quiclab {
    #[pymodule_export]
    use crate::abr::{AbrView, Download, PartialDownload, experience, segment_quality, stall_cost};
    #[pymodule_export]
    use crate::connection::{Connection, Measurement, Stream};
    #[pymodule_export]
    use crate::controller::{Ack, CongestionSignal, ResumeAdjustment};
    #[pymodule_export]
    use crate::document::{document_to_toml, value_to_toml};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::emulate::Emulator;
    #[pymodule_export]
    use crate::error::{Error, OutputError, RunError, ScenarioError};
    #[pymodule_export]
    use crate::packet::PythonPacket;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::relay::relay;
    #[pymodule_export]
    use crate::scenario::Scenario;
    #[pymodule_export]
    use crate::scheduler::{Priority, SchedulerView};
    #[pymodule_export]
    use crate::script::{ScriptError, run_script};
    #[pymodule_export]
    use crate::stepper::Stepper;
    #[pymodule_export]
    use crate::summary::Summary;
    #[pymodule_export]
    use crate::sweep::{FinishedSweep, Sweep, SweepSession, carry_out};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::traces::{
        file_text, generate_series, generate_trace, read_series, read_trace, series_models, trace_models,
        trace_notes,
    };
    #[pymodule_export]
    use crate::view::{ViewDirection, ViewLog, ViewSplitter};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::web::{fetch, serve, server_memory};
    use pyo3::prelude::*;

    /// The version of quiclab.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// The version and a hash of the simulator's sources: with the same value, equal scenarios give equal runs.
    #[pymodule_export]
    const PROGRAM: &str = lab::sweep::PROGRAM;

    #[pymodule_init]
    #[allow(clippy::unnecessary_wraps, reason = "as PyO3 wants it")]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::loader::register();
        Ok(())
    }

    /// The options of a scenario as JSON: tables with their components, and their options, units and defaults.
    #[pyfunction]
    fn rooms_json() -> String {
        lab::rooms_json()
    }

    /// The word that a mistyped one probably stands for; None if no word is near.
    #[pyfunction]
    fn nearest(word: &str, words: Vec<String>) -> Option<String> {
        lab::scenario::nearest(word, words.iter().map(String::as_str)).map(str::to_owned)
    }

    /// The letters to insert, remove, replace, or swap with their neighbour to make one word of another.
    #[pyfunction]
    fn edits(one: &str, other: &str) -> usize {
        lab::scenario::edits(one, other)
    }

    /// A number with its unit, in the base unit of its kind: seconds (`s`), `bit/s`, bytes (`B`), `packets`, `BDP`, or
    /// none for a percentage. None for any other text.
    #[pyfunction]
    fn quantity(text: &str) -> Option<(f64, &'static str)> {
        lab::scenario::quantity(text)
    }

    /// The tables of a run with their columns, and the numbers of its summary, as JSON: what they are and mean.
    #[pyfunction]
    fn tables_json() -> String {
        lab::tables_json()
    }

    /// The JSON schema of scenario files, as text.
    #[pyfunction]
    fn schema_json() -> String {
        lab::schema_json()
    }
}
