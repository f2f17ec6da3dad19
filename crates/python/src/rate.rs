//! Rates written in Python: the server of `network` that calls them, once for each packet.

use crate::error::Error;
use crate::outside::{Code, Object, nonsense, place_of_method, started};
use lab::outside::PlugError;
use network::rate::{self, RateError, Serve, Server};
use pyo3::intern;
use pyo3::prelude::*;
use random::Generator;
use std::fmt;
use units::parameter::{Arguments, Row};
use units::{Rate, Time};

/// Adds a class to the rates.
pub(crate) fn plug(code: Code, face: Row<()>) -> Result<(), PlugError> {
    let build = move |arguments: &Arguments, stream| {
        let server = PythonRate::new(&code, arguments, stream).map_err(RateError::Outside)?;
        Ok(Server::Outside(Box::new(server)))
    };
    rate::plug(face.built_by(Box::leak(Box::new(build))))
}

/// A server that calls a Python object.
struct PythonRate {
    object: Object,
    mean: Rate,
}

impl fmt::Debug for PythonRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonRate").field("mean", &self.mean).finish_non_exhaustive()
    }
}

impl PythonRate {
    fn new(code: &Code, arguments: &Arguments, stream: Generator) -> Result<PythonRate, String> {
        let mut object = started(code, arguments, stream, |_, _| Ok(()))?;
        let mean = object.try_call(|py, object| {
            let given = object.getattr(intern!(py, "mean_bps"))?;
            let mean = given.extract::<f64>().ok().filter(|rate| rate.is_finite() && *rate >= 1.0);
            mean.ok_or_else(|| {
                let found =
                    given.repr().map_or_else(|_| "what has no text".to_owned(), |text| text.to_string());
                let place = place_of_method(object, "serve");
                let expected = "expected a finite rate of 1 bit/s at least";
                Error::new_err(format!("{place}mean_bps is {found}; {expected}"))
            })
        })?;
        Ok(PythonRate { object, mean: Rate::from_bits_per_sec(mean as u64) })
    }

    /// Asks a method for a time that is not before `least`; after an error, until the run ends, it is `least`.
    fn ask(&mut self, method: &str, given: (f64, Option<u32>), least: Time) -> Time {
        let at = self.object.call(|_, object| {
            let answer = match given {
                (at, Some(size)) => object.call_method1(method, (at, size))?,
                (at, None) => object.call_method1(method, (at,))?,
            };
            let at = answer.extract::<f64>().ok().and_then(|seconds| time(seconds, least));
            let expected = || format!("a time in seconds from {} on, or math.inf", least.as_secs_f64());
            at.ok_or_else(|| nonsense(object, method, &answer, &expected()))
        });
        at.unwrap_or(least)
    }
}

/// A time that is not before another; never if it is infinite.
fn time(seconds: f64, least: Time) -> Option<Time> {
    if seconds == f64::INFINITY || seconds * 1e9 >= Time::NEVER.as_nanos() as f64 {
        return Some(Time::NEVER);
    }
    // A time that Python has as a double is the same nanosecond again for the first 104 days.
    let at = Time::from_nanos((seconds * 1e9).round() as u64);
    (seconds >= 0.0 && at >= least).then_some(at)
}

impl Serve for PythonRate {
    fn ready(&mut self, at: Time) -> Time {
        self.ask("ready", (at.as_secs_f64(), None), at)
    }

    fn serve(&mut self, start: Time, size: u32) -> Time {
        self.ask("serve", (start.as_secs_f64(), Some(size)), start)
    }

    fn mean_rate(&self) -> Rate {
        self.mean
    }
}
