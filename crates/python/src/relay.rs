//! The function `relay`, which runs a relay of the crate `live` until it is asked to end.

use crate::error::{self, RunError};
use crate::scenario::Scenario;
use crate::table::Table;
use live::relay::{Pair, Rebind, Relay, RelayError, RelayOptions, RelayStats};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::path::PathBuf;
use units::{Duration, Lateness};

/// Relays UDP datagrams between clients and servers through the world of a scenario, until `goes_on`, which is asked every 20 ms,
/// denies it or `duration` is over. Returns its statistics, the summary as JSON, and the tables if requested.
///
/// `pairs` are addresses to listen on, each with the server that it represents. `blackouts` are (from, until),
/// `rebinds` are (when, "port" or "address"), counted from the first packet of a client. `capture` is a folder. `ready`
/// is called once with the actual pairs, when the world begins. `gates` are the names of those of clients and of servers.
#[pyfunction]
#[pyo3(signature = (
    scenario, pairs, *, seed, ready, goes_on, blackouts, rebinds, capture, gates, duration, tables
))]
#[allow(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn relay<'py>(
    py: Python<'py>,
    scenario: &Scenario,
    pairs: Vec<(String, String)>,
    seed: u64,
    ready: Py<PyAny>,
    goes_on: Py<PyAny>,
    blackouts: Vec<(String, String)>,
    rebinds: Vec<(String, String)>,
    capture: Option<PathBuf>,
    gates: (Option<String>, Option<String>),
    duration: Option<String>,
    tables: bool,
) -> PyResult<(Bound<'py, PyDict>, String, Vec<Table>)> {
    let options = RelayOptions {
        pairs: read(pairs, |(listen, to)| Ok(Pair { listen: address(&listen)?, to: address(&to)? }))?,
        scenario: scenario.inner().into_owned(),
        gates: [gates.0, gates.1],
        duration: duration.as_deref().map(span).transpose()?,
        blackouts: read(blackouts, |(from, until)| blackout(&from, &until))?,
        rebinds: read(rebinds, |(at, what)| Ok((span(&at)?, rebind(&what)?)))?,
        capture,
    };
    let run_options = lab::Options { seed: Some(seed), tables, ..lab::Options::default() };
    let (outcome, stats) = py.detach(|| run(&options, &run_options, &ready, &goes_on))?;
    let tables = outcome.tables.into_iter().map(Table::new).collect();
    Ok((report(py, &stats)?, outcome.summary.into_text(), tables))
}

/// Runs without the GIL, except for short calls.
fn run(
    options: &RelayOptions,
    run_options: &lab::Options,
    ready: &Py<PyAny>,
    goes_on: &Py<PyAny>,
) -> PyResult<(lab::Outcome, RelayStats)> {
    let relay = Relay::new(options).map_err(failed)?;
    let pairs: Vec<(String, String)> =
        relay.pairs().iter().map(|pair| (pair.listen.to_string(), pair.to.to_string())).collect();
    let mut told = Some(pairs);
    let mut stopped = None;
    let mut progress = |_: &RelayStats| {
        let asked = Python::attach(|py| {
            told.take().map_or(Ok(()), |pairs| ready.call1(py, (pairs,)).map(drop))?;
            py.check_signals()?;
            goes_on.call0(py)?.is_truthy(py)
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
    let result = relay.run(run_options, &mut progress).map_err(failed);
    stopped.map_or(result, Err)
}

fn read<T, U>(given: Vec<T>, one: impl Fn(T) -> PyResult<U>) -> PyResult<Vec<U>> {
    given.into_iter().map(one).collect()
}

fn address(text: &str) -> PyResult<SocketAddr> {
    let expected = "expected an address with a port, as 127.0.0.1:4433 or [::1]:4433";
    text.parse().map_err(|_| PyValueError::new_err(format!("{text:?} is not an address: {expected}")))
}

fn blackout(from: &str, until: &str) -> PyResult<(Duration, Duration)> {
    let (start, end) = (span(from)?, span(until)?);
    if start >= end {
        return Err(PyValueError::new_err(format!(
            "blackout {from}-{until}: expected an end after the beginning"
        )));
    }
    Ok((start, end))
}

fn span(text: &str) -> PyResult<Duration> {
    text.parse().map_err(|error: units::ParseError| PyValueError::new_err(error.to_string()))
}

fn rebind(text: &str) -> PyResult<Rebind> {
    match text {
        "port" => Ok(Rebind::Port),
        "address" => Ok(Rebind::Address),
        _ => Err(PyValueError::new_err(format!(
            "{text:?} is not a way to move: expected \"port\" or \"address\""
        ))),
    }
}

fn failed(error: RelayError) -> PyErr {
    match error {
        RelayError::Run(error) => error::run(error),
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
    report.set_item("world", distribution(py, &stats.world)?)?;
    report.set_item("tolerance_us", stats.tolerance.as_nanos() as f64 / 1000.0)?;
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
