//! The function `relay`, which runs a relay of the crate `live` until Ctrl-C.

use crate::error::{self, RunError};
use crate::scenario::Scenario;
use live::relay::{Lateness, Pair, Rebind, Relay, RelayError, RelayOptions, RelayStats};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::net::SocketAddr;
use std::path::PathBuf;
use units::Duration;

/// The maximum delay before Ctrl-C takes effect.
const TURN: Duration = Duration::from_millis(20);

/// Relays UDP datagrams between clients and servers through the network of a scenario, until it is interrupted. Returns
/// its statistics.
///
/// `pairs` are addresses to listen on, each with the server that it represents. `blackouts` are (from, until),
/// `rebinds` are (when, "port" or "address"), counted from the first packet of a client. `capture` is a folder. `ready`
/// is called once with the actual pairs, when the sockets are open.
#[pyfunction]
#[pyo3(signature = (scenario, pairs, *, seed, ready, blackouts, rebinds, capture))]
#[allow(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn relay<'py>(
    py: Python<'py>,
    scenario: &Scenario,
    pairs: Vec<(String, String)>,
    seed: u64,
    ready: Py<PyAny>,
    blackouts: Vec<(String, String)>,
    rebinds: Vec<(String, String)>,
    capture: Option<PathBuf>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = RelayOptions {
        pairs: read(pairs, |(listen, to)| Ok(Pair { listen: address(&listen)?, to: address(&to)? }))?,
        scenario: scenario.inner().clone(),
        seed,
        blackouts: read(blackouts, |(from, until)| Ok((duration(&from)?, duration(&until)?)))?,
        rebinds: read(rebinds, |(at, what)| Ok((duration(&at)?, rebind(&what)?)))?,
        capture,
    };
    let stats = py.detach(|| run(&options, &ready))?;
    report(py, &stats)
}

/// Runs without the GIL, except for short calls.
fn run(options: &RelayOptions, ready: &Py<PyAny>) -> PyResult<RelayStats> {
    let mut relay = Relay::new(options).map_err(failed)?;
    let pairs: Vec<(String, String)> =
        relay.pairs().iter().map(|pair| (pair.listen.to_string(), pair.to.to_string())).collect();
    Python::attach(|py| ready.call1(py, (pairs,)).map(drop))?;
    loop {
        relay.run_for(TURN).map_err(failed)?;
        let Err(stopped) = Python::attach(|py| py.check_signals()) else { continue };
        let stats = relay.finish().map_err(failed)?;
        let is_asked = Python::attach(|py| stopped.is_instance_of::<PyKeyboardInterrupt>(py));
        return if is_asked { Ok(stats) } else { Err(stopped) };
    }
}

fn read<T, U>(given: Vec<T>, one: impl Fn(T) -> PyResult<U>) -> PyResult<Vec<U>> {
    given.into_iter().map(one).collect()
}

fn address(text: &str) -> PyResult<SocketAddr> {
    let expected = "expected an address with a port, as 127.0.0.1:4433 or [::1]:4433";
    text.parse().map_err(|_| PyValueError::new_err(format!("{text:?} is not an address: {expected}")))
}

fn duration(text: &str) -> PyResult<Duration> {
    text.parse().map_err(|error: units::ParseError| PyValueError::new_err(error.to_string()))
}

fn rebind(text: &str) -> PyResult<Rebind> {
    match text {
        "port" => Ok(Rebind::Port),
        "address" => Ok(Rebind::Address),
        _ => Err(PyValueError::new_err(format!("{text:?} is no way to move: \"port\" or \"address\""))),
    }
}

fn failed(error: RelayError) -> PyErr {
    match error {
        RelayError::Scenario(error) => error::run(error),
        error => RunError::new_err(error.to_string()),
    }
}

fn report<'py>(py: Python<'py>, stats: &RelayStats) -> PyResult<Bound<'py, PyDict>> {
    let report = PyDict::new(py);
    for (name, count) in [
        ("from_clients", stats.from_clients),
        ("from_servers", stats.from_servers),
        ("to_servers", stats.to_servers),
        ("to_clients", stats.to_clients),
        ("blacked_out", stats.blacked_out),
        ("astray", stats.astray),
        ("not_sent", stats.not_sent),
        ("clients", stats.clients),
        ("rebinds", stats.rebinds),
    ] {
        report.set_item(name, count)?;
    }
    report.set_item("lateness", distribution(py, &stats.lateness)?)?;
    report.set_item("waiting", distribution(py, &stats.waiting)?)?;
    let links = PyList::empty(py);
    for (name, link) in &stats.links {
        let report = PyDict::new(py);
        report.set_item("link", name)?;
        for (name, count) in [
            ("accepted", link.accepted.packets),
            ("delivered", link.delivered.packets),
            ("dropped_mtu", link.dropped_mtu.packets),
            ("dropped_queue", link.dropped_queue.packets),
            ("lost", link.lost.packets),
            ("duplicated", link.duplicated.packets),
            ("corrupted", link.corrupted),
            ("marked", link.marked),
        ] {
            report.set_item(name, count)?;
        }
        links.append(report)?;
    }
    report.set_item("links", links)?;
    Ok(report)
}

/// A distribution of durations in microseconds.
pub(crate) fn distribution<'py>(py: Python<'py>, lateness: &Lateness) -> PyResult<Bound<'py, PyDict>> {
    let report = PyDict::new(py);
    let us = |duration: Duration| duration.as_nanos() as f64 / 1000.0;
    report.set_item("median_us", us(lateness.quantile(0.5)))?;
    report.set_item("p99_us", us(lateness.quantile(0.99)))?;
    report.set_item("max_us", us(lateness.max()))?;
    Ok(report)
}
