//! The class `Emulator`: a scenario in real time with real packets at its gates.

use crate::error::{self, RunError};
use crate::relay::distribution;
use crate::scenario::Scenario;
use crate::table::Table;
use live::emulate::{self, EmulateError, EmulateStatus};
use pyo3::exceptions::PyPermissionError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;

/// The TUN devices of a scenario's gates, in the network namespace of the process. They vanish with it.
#[pyclass(frozen)]
pub(crate) struct Emulator {
    scenario: lab::Scenario,
    /// `None` once it has run.
    inner: Mutex<Option<emulate::Emulator>>,
}

#[pymethods]
impl Emulator {
    /// Makes the devices, down and without addresses.
    #[new]
    fn new(scenario: &Scenario) -> PyResult<Emulator> {
        let inner = emulate::Emulator::new(&scenario.inner()).map_err(failed)?;
        Ok(Emulator { scenario: scenario.inner().into_owned(), inner: Mutex::new(Some(inner)) })
    }

    /// The gates: of each its name, its addresses, its MTU in bytes, and its device.
    fn gates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let gates = PyList::empty(py);
        let inner = self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for gate in inner.iter().flat_map(emulate::Emulator::gates) {
            let entry = PyDict::new(py);
            entry.set_item("name", &gate.gate.name)?;
            entry.set_item("addresses", gate.gate.addresses.map(|address| address.to_string()))?;
            entry.set_item("mtu", gate.gate.mtu.min(65_535))?;
            entry.set_item("device", &gate.device)?;
            gates.append(entry)?;
        }
        Ok(gates)
    }

    /// The names by which all nodes can be found, with their addresses: the gates first.
    fn names(&self) -> Vec<(String, [String; 2])> {
        let names = lab::emulation::names(&self.scenario).into_iter();
        names.map(|(name, addresses)| (name, addresses.map(|address| address.to_string()))).collect()
    }

    /// Runs the scenario by the clock, without holding the GIL, until its duration is over or `progress` returns false. Returns
    /// the summary as JSON, the tables if requested, and the last status.
    ///
    /// `pcap_at` names nodes beside the gates at which packets are captured as they reach them. `progress` is called with a
    /// status every 50 ms; an exception from it ends the run. The other arguments are those of `Scenario.run`.
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    #[pyo3(signature = (*, seed=None, tables=true, qlog=None, pcap=None, pcap_at=None, progress))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        seed: Option<u64>,
        tables: bool,
        qlog: Option<PathBuf>,
        pcap: Option<PathBuf>,
        pcap_at: Option<Vec<String>>,
        progress: Py<PyAny>,
    ) -> PyResult<(String, Vec<Table>, Bound<'py, PyDict>)> {
        let captured = pcap_at.iter().flatten().map(|name| lab::emulation::captured(&self.scenario, name));
        let captured = captured.collect::<Result<Vec<usize>, String>>().map_err(RunError::new_err)?;
        let taken = self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let Some(emulator) = taken else { return Err(RunError::new_err("it has run already")) };
        let options = lab::Options { seed, tables, qlog, pcap };
        let mut stopped = None;
        let mut report = |status: &EmulateStatus| {
            let asked = Python::attach(|py| {
                py.check_signals()?;
                progress.call1(py, (self::status(py, status)?,))?.is_truthy(py)
            });
            match asked {
                Ok(true) => ControlFlow::Continue(()),
                Ok(false) => ControlFlow::Break(()),
                Err(error) => {
                    stopped = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let result = py.detach(|| emulator.run(&self.scenario, &options, &captured, &mut report));
        if let Some(stopped) = stopped {
            return Err(stopped);
        }
        let (outcome, last) = result.map_err(failed)?;
        let tables = outcome.tables.into_iter().map(Table::new).collect();
        Ok((outcome.summary.into_text(), tables, status(py, &last)?))
    }
}

fn failed(error: EmulateError) -> PyErr {
    match error {
        EmulateError::Run(error) => error::run(error),
        EmulateError::Device(_, ref why) if why.kind() == ErrorKind::PermissionDenied => {
            PyPermissionError::new_err(error.to_string())
        }
        error => RunError::new_err(error.to_string()),
    }
}

fn status<'py>(py: Python<'py>, status: &EmulateStatus) -> PyResult<Bound<'py, PyDict>> {
    let report = PyDict::new(py);
    report.set_item("now_s", status.now.as_nanos() as f64 / 1e9)?;
    let gates = PyList::empty(py);
    for (gate, device) in status.gates.iter().zip(&status.devices) {
        let entry = PyDict::new(py);
        for (name, count) in [
            ("entered", gate.entered),
            ("entered_bytes", gate.entered_bytes),
            ("left", gate.left),
            ("left_bytes", gate.left_bytes),
            ("altered", gate.altered),
            ("overflowed", gate.overflowed),
            ("unreadable", device.unreadable),
            ("not_sent", device.not_sent),
        ] {
            entry.set_item(name, count)?;
        }
        entry.set_item("device_deleted", device.is_deleted)?;
        gates.append(entry)?;
    }
    report.set_item("gates", gates)?;
    let network = PyDict::new(py);
    for (name, count) in [
        ("echoes_answered", status.answers.echoes),
        ("expired_packets", status.answers.expired),
        ("unreachable_packets", status.answers.unreachable),
        ("too_big_packets", status.answers.too_big),
        ("unroutable_packets", status.unroutable),
    ] {
        network.set_item(name, count)?;
    }
    report.set_item("network", network)?;
    report.set_item("lateness", distribution(py, &status.lateness)?)?;
    report.set_item("tolerance_us", status.tolerance.as_nanos() as f64 / 1000.0)?;
    Ok(report)
}
