//! Capacity traces: recorded ones as read by the simulator, and generated ones.

use network::rate::{OPPORTUNITY, Series, Trace, generated};
use pyo3::prelude::*;
use units::{Duration, Rate, Time};

use crate::error::Error;

/// The times in nanoseconds from which the rates in bit/s hold, the rates, and the end of the last one.
type Steps = (Vec<u64>, Vec<u64>, u64);

/// Reads a Mahimahi trace, or a CSV of times and rates if its first line is such a header.
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
    if text.starts_with("time_") {
        let series = py.detach(|| Series::parse(text)).map_err(|error| wrong(error.to_string()))?;
        return Ok(numbers(series.steps(), series.duration()));
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

fn numbers(steps: &[(Time, Rate)], lasts: Duration) -> Steps {
    let times = steps.iter().map(|(at, _)| at.as_nanos()).collect();
    let rates = steps.iter().map(|(_, rate)| rate.as_bits_per_sec()).collect();
    (times, rates, lasts.as_nanos())
}

/// The trace of a model and a seed, as played by the rate `generated`.
///
/// # Errors
/// `Error` if there is no such model, or if the trace would be too short or too long.
#[pyfunction]
#[pyo3(signature = (model, seed, duration_ns))]
pub(crate) fn generate_trace(py: Python<'_>, model: &str, seed: u64, duration_ns: u64) -> PyResult<Steps> {
    let steps = py.detach(|| generated::generate(model, Duration::from_nanos(duration_ns), seed));
    let steps = steps.map_err(|error| Error::new_err(error.to_string()))?;
    Ok(numbers(&steps, generated::STEP * steps.len() as u64))
}

/// The trace models: name, description, and the seconds of the shortest trace.
#[pyfunction]
pub(crate) fn trace_models() -> Vec<(&'static str, &'static str, f64)> {
    generated::MODELS.iter().map(|model| (model.name, model.about, model.shortest.as_secs_f64())).collect()
}
