//! Traces of capacity, and series of rate, delay and loss: recorded ones as read by the simulator, and generated ones.

use network::rate::{OPPORTUNITY, Trace, generated};
use network::series::{self, Series};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use units::parameter::{Arguments, Kind, Value};
use units::{Duration, Rate, Time};

use crate::error::Error;

/// The times in nanoseconds from which the rates in bit/s hold, the rates, and the end of the last one.
type Steps = (Vec<u64>, Vec<u64>, u64);

/// The times in nanoseconds from which the values of a series hold; its rates in bit/s, delays in nanoseconds and losses, as
/// far as it has them; and the end of the last ones.
type Columns = (Vec<u64>, Option<Vec<u64>>, Option<Vec<u64>>, Option<Vec<f64>>, u64);

/// Reads a Mahimahi trace, or the rates of a table, by the readers of the simulator.
///
/// A Mahimahi trace becomes one step for each run of milliseconds with equally many opportunities. Opportunities at a
/// time belong to the millisecond that ends there, those at 0 to the last one.
///
/// # Errors
/// `Error`: `ORIGIN:LINE: description`.
#[pyfunction]
#[pyo3(signature = (origin, text))]
pub(crate) fn read_trace(py: Python<'_>, origin: &str, text: &str) -> PyResult<Steps> {
    let wrong = |error: String| Error::new_err(format!("{origin}:{error}"));
    if !Trace::is_form_of(text) {
        let series = py.detach(|| Series::parse(text)).map_err(|error| wrong(error.to_string()))?;
        let (times, rates, _, _, end) = columns(&series);
        let rates = rates.ok_or_else(|| wrong("1: no column rate_mbps; expected one".to_owned()))?;
        return Ok((times, rates, end));
    }
    let trace = py.detach(|| Trace::parse(text)).map_err(|error| wrong(error.to_string()))?;
    let (mut times, mut rates) = (Vec::new(), Vec::new());
    let mut step = |from_ms: u64, count: u64| {
        let rate = count * u64::from(OPPORTUNITY) * 8 * 1000;
        if rates.last() != Some(&rate) {
            times.push(from_ms * 1_000_000);
            rates.push(rate);
        }
    };
    let first = trace.counts().next().filter(|(ms, _)| *ms == 0).map_or(0, |(_, count)| count);
    let last = trace.duration().as_millis();
    let mut end = 0;
    for (ms, count) in trace.counts().filter(|(ms, _)| *ms > 0) {
        if ms - 1 > end {
            step(end, 0);
        }
        step(ms - 1, if ms == last { count + first } else { count });
        end = ms;
    }
    Ok((times, rates, trace.duration().as_nanos()))
}

/// What was skipped, joined and rounded in a file that [`read_trace`] reads.
#[pyfunction]
pub(crate) fn trace_notes(py: Python<'_>, text: &str) -> Vec<String> {
    py.detach(|| if Trace::is_form_of(text) { Vec::new() } else { Series::notes(text) })
}

/// The text of a file.
///
/// # Errors
/// `ValueError` if it is not UTF-8, with what it is instead.
#[pyfunction]
pub(crate) fn file_text(bytes: Vec<u8>) -> PyResult<String> {
    units::file::text(bytes)
        .map_err(|wrong| PyValueError::new_err(format!("{}; expected {}", wrong.found, wrong.expected)))
}

fn numbers(steps: &[(Time, Rate)], lasts: Duration) -> Steps {
    let times = steps.iter().map(|(at, _)| at.as_nanos()).collect();
    let rates = steps.iter().map(|(_, rate)| rate.as_bits_per_sec()).collect();
    (times, rates, lasts.as_nanos())
}

/// A seed. Python's own error for a negative number would not say what is right.
fn whole(seed: &Bound<'_, PyAny>) -> PyResult<u64> {
    let number = if seed.is_instance_of::<PyBool>() { None } else { seed.extract().ok() };
    let wrong = || {
        let found = seed.repr().map_or_else(|_| "what has no text".to_owned(), |text| text.to_string());
        Error::new_err(format!("seed is {found}; expected a whole number from 0 to {}", u64::MAX))
    };
    number.ok_or_else(wrong)
}

/// The trace of a model and a seed, as played by the rate `generated`.
///
/// # Errors
/// `Error` if there is no such model, or if the trace would be too short or too long.
#[pyfunction]
#[pyo3(signature = (model, seed, duration_ns))]
pub(crate) fn generate_trace(
    py: Python<'_>,
    model: &str,
    seed: &Bound<'_, PyAny>,
    duration_ns: u64,
) -> PyResult<Steps> {
    let seed = whole(seed)?;
    let steps = py.detach(|| generated::generate(model, Duration::from_nanos(duration_ns), seed));
    let steps = steps.map_err(|error| Error::new_err(error.to_string()))?;
    Ok(numbers(&steps, generated::STEP * steps.len() as u64))
}

/// The trace models: name, description, and the seconds of the shortest trace.
#[pyfunction]
pub(crate) fn trace_models() -> Vec<(&'static str, &'static str, f64)> {
    generated::MODELS.iter().map(|model| (model.name, model.about, model.shortest.as_secs_f64())).collect()
}

/// Reads a series: a CSV of times, and of rates, delays or losses.
///
/// # Errors
/// `Error`: `ORIGIN:LINE: description`.
#[pyfunction]
#[pyo3(signature = (origin, text))]
pub(crate) fn read_series(py: Python<'_>, origin: &str, text: &str) -> PyResult<Columns> {
    let series = py.detach(|| Series::parse(text));
    let series = series.map_err(|error| Error::new_err(format!("{origin}:{error}")))?;
    Ok(columns(&series))
}

fn columns(series: &Series) -> Columns {
    let rates = |rates: &[Rate]| rates.iter().map(|rate| rate.as_bits_per_sec()).collect();
    let delays = |delays: &[Duration]| delays.iter().map(|delay| delay.as_nanos()).collect();
    (
        series.times().iter().map(|at| at.as_nanos()).collect(),
        series.rates().map(rates),
        series.delays().map(delays),
        series.losses().map(<[f64]>::to_vec),
        series.duration().as_nanos(),
    )
}

/// The series of a model and a seed as CSV, as played by the row of its name. Options are pairs of names and texts.
///
/// # Errors
/// `Error` if there is no such model or option, or a value is out of range.
#[pyfunction]
#[pyo3(signature = (model, seed, duration_ns, options))]
pub(crate) fn generate_series(
    py: Python<'_>,
    model: &str,
    seed: &Bound<'_, PyAny>,
    duration_ns: u64,
    options: Vec<(String, String)>,
) -> PyResult<String> {
    let seed = whole(seed)?;
    let wrong = |problem: String| Error::new_err(problem);
    let rows = series::MODELS.iter().find(|known| known.name == model).map_or(&[][..], |row| row.parameters);
    let mut given = vec![("duration", Value::Duration(Duration::from_nanos(duration_ns)))];
    for (name, text) in &options {
        let known =
            rows.iter().find(|row| row.name == name && !["duration", "seed", "offset"].contains(&row.name));
        let row = known.ok_or_else(|| wrong(format!("{model}: no option {name:?}")))?;
        let value = row.kind.read(text, &[]).filter(|value| is_in_range(&row.kind, value));
        let value = value.ok_or_else(|| wrong(format!("{name}: {text:?} is out of range: {}", row.about)))?;
        given.push((row.name, value));
    }
    let arguments = Arguments::filled(rows, &given, &network::rooms());
    let arguments = arguments.map_err(|error| wrong(error.to_string()))?;
    let made = py.detach(|| series::generate(model, &arguments, seed));
    let made = made.map_err(|error| match error {
        network::BuildError::Option { option, problem } => wrong(format!("{option}: {problem}")),
        error => wrong(error.to_string()),
    })?;
    Ok(made.to_csv())
}

/// Whether a number is in the range of its option.
fn is_in_range(kind: &Kind, value: &Value) -> bool {
    match (kind, value) {
        (Kind::Number(from, to), Value::Number(number)) => (*from..=*to).contains(number),
        (Kind::Probability, Value::Number(number)) => (0.0..=1.0).contains(number),
        _ => true,
    }
}

/// The models of series: name, description, the seconds of the shortest series and of the usual one, and what is wrong with a
/// shorter one.
#[pyfunction]
pub(crate) fn series_models() -> Vec<(&'static str, &'static str, f64, f64, &'static str)> {
    let usual = |model: &series::Model| {
        let row = model.parameters.iter().find(|row| row.name == "duration");
        match row.and_then(|row| row.default_value(&[])) {
            Some(Value::Duration(duration)) => duration.as_secs_f64(),
            _ => model.shortest.0.as_secs_f64(),
        }
    };
    let models = series::MODELS.iter();
    models
        .map(|model| {
            (model.name, model.about, model.shortest.0.as_secs_f64(), usual(model), model.shortest.1)
        })
        .collect()
}
