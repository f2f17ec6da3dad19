//! Components written in Python: how to find, describe and build them, and the handling of their exceptions.

use crate::error;
use lab::outside::{Part, SOURCE, Wanted};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt};
use random::Generator;
use std::collections::BTreeSet;
use units::Time;
use units::fault::{self, Fault};
use units::parameter::{Arguments, Value};

/// The module of the package that loads code.
const MODULE: &str = "quiclab.values.components.plugged";

/// The arguments of the package's functions: the part, the location, the text of the file if there is one, and the
/// name.
type Place = (&'static str, Option<String>, Option<String>, String);

fn place(part: &Part, wanted: &Wanted) -> Place {
    let file = wanted.file.as_ref();
    let module = (!wanted.module.is_empty()).then(|| wanted.module.clone());
    let path = file.map(|file| file.path.clone()).or(module);
    (part.word, path, file.map(|file| file.text.to_string()), wanted.class.clone())
}

pub(crate) fn describe<'py>(py: Python<'py>, part: &Part, wanted: &Wanted) -> PyResult<Bound<'py, PyAny>> {
    py.import(MODULE)?.call_method1("describe_", place(part, wanted))
}

/// The class of a component.
pub(crate) struct Code {
    part: &'static Part,
    wanted: Wanted,
}

impl Code {
    pub(crate) fn new(part: &'static Part, wanted: &Wanted) -> Code {
        Code { part, wanted: wanted.clone() }
    }

    /// Builds an object with its options. Returns it, and which optional methods it defines.
    pub(crate) fn make<'py>(
        &self,
        py: Python<'py>,
        arguments: &Arguments,
    ) -> PyResult<(Bound<'py, PyAny>, BTreeSet<String>)> {
        let options = PyDict::new(py);
        for (name, value) in arguments.0.iter().filter(|(name, _)| !self.is_of_lab(name)) {
            match value {
                Value::Flag(value) => options.set_item(name, value)?,
                Value::Integer(value) => options.set_item(name, value)?,
                Value::Number(value) => options.set_item(name, value)?,
                Value::Text(value) => options.set_item(name, value)?,
                _ => unreachable!("the options of a class are flags, numbers and texts"),
            }
        }
        let (part, path, text, class) = place(self.part, &self.wanted.with(arguments));
        py.import(MODULE)?.call_method1("make_", (part, path, text, class, options))?.extract()
    }

    /// Whether an option is one of the lab, not of the class.
    fn is_of_lab(&self, option: &str) -> bool {
        option == SOURCE || self.part.options.iter().any(|own| own.name == option)
    }
}

/// The object of a component. It is gone after an error, which ends the run.
pub(crate) struct Object(Option<Py<PyAny>>);

impl Object {
    pub(crate) fn of(object: Bound<'_, PyAny>) -> Object {
        Object(Some(object.unbind()))
    }

    /// None: the run ends with an error.
    pub(crate) fn failed() -> Object {
        Object(None)
    }

    /// Calls a function with the object while it is made.
    ///
    /// # Errors
    /// The problem in one line.
    pub(crate) fn try_call<T>(
        &mut self,
        call: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, String> {
        let object = self.0.as_ref().expect("an object that is being made has not failed");
        Python::attach(|py| call(py, object.bind(py))).map_err(|error| one_line(&error, Some(object)))
    }

    /// Calls a function with the object; `None` after an error, with which the run ends.
    pub(crate) fn call<T>(
        &mut self,
        call: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let object = self.0.as_ref()?;
        match Python::attach(|py| call(py, object.bind(py))) {
            Ok(value) => Some(value),
            Err(error) => {
                fail(error, self.0.take().as_ref());
                None
            }
        }
    }
}

/// Makes an object, gives it what `set` gives it and a generator of random numbers, and starts it.
///
/// # Errors
/// The problem in one line, with the place of the class.
pub(crate) fn started(
    code: &Code,
    arguments: &Arguments,
    stream: Generator,
    set: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<()>,
) -> Result<Object, String> {
    Python::attach(|py| {
        let (object, _) = code.make(py, arguments).map_err(|error| one_line(&error, None))?;
        start(object, stream, set)
    })
}

/// Gives an object what `set` gives it and a generator of random numbers, and starts it.
///
/// # Errors
/// The problem in one line, with the place of the class.
pub(crate) fn start(
    object: Bound<'_, PyAny>,
    mut stream: Generator,
    set: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<()>,
) -> Result<Object, String> {
    let py = object.py();
    // Its numbers depend on the seed of the run and on the component's place.
    let random =
        py.import("random").and_then(|module| module.getattr("Random")?.call1((stream.below(1 << 53),)));
    let started = random
        .and_then(|random| object.setattr("random", random))
        .and_then(|()| set(py, &object))
        .and_then(|()| object.call_method0("start"));
    match started {
        Ok(_) => Ok(Object::of(object)),
        Err(error) => Err(one_line(&error, Some(&object.unbind()))),
    }
}

/// The error for what a method gave, with the place of the method.
pub(crate) fn nonsense(
    object: &Bound<'_, PyAny>,
    method: &str,
    given: &Bound<'_, PyAny>,
    expected: &str,
) -> PyErr {
    let found = given.repr().map_or_else(|_| "what has no text".to_owned(), |text| text.to_string());
    let place = place_of_method(object, method);
    error::Error::new_err(format!("{place}{method} gave {found}; expected {expected}"))
}

/// A time that Python asked for: as it said it, and in nanoseconds. It is told the first, which it may compare with what
/// it noted.
#[derive(Clone, Copy)]
pub(crate) struct Wake {
    pub(crate) seconds: f64,
    pub(crate) at: Time,
}

/// Reads when the object wants to be called, which is not before `least`.
pub(crate) fn wake_of(object: &Bound<'_, PyAny>, method: &str, least: Time) -> PyResult<Option<Wake>> {
    let given = object.getattr(intern!(object.py(), "wake_s"))?;
    let Some(seconds) = given.extract::<Option<f64>>().map_err(|_| past(object, method, &given, least))?
    else {
        return Ok(None);
    };
    let at = Time::from_nanos((seconds * 1e9).round() as u64);
    if !seconds.is_finite() || seconds < 0.0 || at < least {
        return Err(past(object, method, &given, least));
    }
    Ok(Some(Wake { seconds, at }))
}

fn past(object: &Bound<'_, PyAny>, method: &str, given: &Bound<'_, PyAny>, least: Time) -> PyErr {
    let found = given.repr().map_or_else(|_| "what has no text".to_owned(), |text| text.to_string());
    let (place, least) = (place_of_method(object, method), least.as_secs_f64());
    error::Error::new_err(format!(
        "{place}wake_s is {found} after {method}; expected None, or a time from {least} on"
    ))
}

pub(crate) fn read_value(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_instance_of::<PyBool>() {
        return value.extract().map(Value::Flag);
    }
    if value.is_instance_of::<PyInt>() {
        // Negative numbers are not valid options, and are rejected later.
        return Ok(value.extract().map_or(Value::Integer(u64::MAX), Value::Integer));
    }
    if value.is_instance_of::<PyFloat>() {
        return value.extract().map(Value::Number);
    }
    value.extract().map(Value::Text)
}

/// An end of an application: an object of one of its classes, and which optional methods it defines.
pub(crate) fn end<'py>(
    application: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<(Bound<'py, PyAny>, BTreeSet<String>)> {
    application.py().import(MODULE)?.call_method1("end_", (application, name))?.extract()
}

/// The dictionary of ready streams, which only this crate changes.
pub(crate) fn ready(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    Ok(py.import(MODULE)?.getattr("Ready")?.call0()?.cast_into()?)
}

/// An exception in one line, which names the class of `object` if no line of code raised it.
pub(crate) fn one_line(error: &PyErr, object: Option<&Py<PyAny>>) -> String {
    Python::attach(|py| {
        let given = (error.value(py), error.traceback(py), object);
        let one_line = py.import(MODULE).and_then(|module| module.call_method1("told_", given));
        one_line.and_then(|one_line| one_line.extract()).unwrap_or_else(|_| error.to_string())
    })
}

/// The location of an object's method as a message prefix: `mine.py:7: `; empty if unknown.
pub(crate) fn place_of_method(object: &Bound<'_, PyAny>, name: &str) -> String {
    let place = || -> PyResult<String> {
        object.py().import(MODULE)?.call_method1("place_", (object, name))?.extract()
    };
    place().map_or_else(|_| String::new(), |place| format!("{place}: "))
}

/// The exception for a failed run, with the one behind it if that came from a component in Python.
pub(crate) fn with_cause(py: Python<'_>, error: lab::RunError) -> PyErr {
    let cause = match &error {
        lab::RunError::Outside(fault) => fault.cause.downcast_ref::<PyErr>().map(|cause| cause.clone_ref(py)),
        _ => None,
    };
    let error = error::run(error);
    if cause.is_some() {
        error.set_cause(py, cause);
    }
    error
}

/// Ends the run with this exception, which came from this object.
pub(crate) fn fail(error: PyErr, object: Option<&Py<PyAny>>) {
    fault::raise(Fault { problem: one_line(&error, object), cause: Box::new(error) });
}
