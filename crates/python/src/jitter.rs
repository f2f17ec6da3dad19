//! Jitters written in Python: the jitter of `network` that calls them, once for each packet.

use crate::outside::{Code, Object, nonsense, started};
use lab::outside::PlugError;
use network::BuildError;
use network::jitter::{self, Jitter};
use pyo3::intern;
use pyo3::prelude::*;
use units::parameter::{Arguments, Row};
use units::{Duration, Time};

/// Adds a class to the jitters.
pub(crate) fn plug(code: Code, face: Row<()>) -> Result<(), PlugError> {
    let build = move |arguments: &Arguments, stream| -> Result<Option<Box<dyn Jitter>>, BuildError> {
        let object = started(&code, arguments, stream, |_, _| Ok(())).map_err(BuildError::Outside)?;
        Ok(Some(Box::new(PythonJitter { object })))
    };
    jitter::plug(face.built_by(Box::leak(Box::new(build))))
}

/// A jitter that calls a Python object.
struct PythonJitter {
    object: Object,
}

impl Jitter for PythonJitter {
    fn shift(&mut self, done: Time) -> i64 {
        let shift = self.object.call(|py, object| {
            let answer = object.call_method1(intern!(py, "shift"), (done.as_secs_f64(),))?;
            let longest = Duration::MAX.as_secs_f64() / 4.0;
            let shift = answer.extract::<f64>().ok().filter(|shift| shift.abs() <= longest);
            shift.ok_or_else(|| nonsense(object, "shift", &answer, "a finite number of seconds"))
        });
        // After an error the delay stays as it is until the run ends.
        shift.map_or(0, |shift| (shift * 1e9).round() as i64)
    }
}
