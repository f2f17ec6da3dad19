//! Stream schedulers written in Python: the classes `Priority` and `SchedulerView` passed to them, and the scheduler of `quic`
//! that calls them.
//!
//! Python is called once per turn while more than one stream is ready, and for the optional methods of its class. The
//! dictionary `ready` is maintained here.

use crate::error::Error;
use crate::outside::{self, Code, fail};
use lab::outside::PlugError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use schedule::{Head, PathView, Scheduler, StreamKey};
use std::collections::{BTreeMap, BTreeSet};
use units::parameter::{Arguments, Row};
use units::{Duration, Time};

/// The priority of a stream as set by the application: see quiclab.Scheduler.ready.
#[pyclass(frozen, get_all, module = "quiclab._quiclab")]
pub(crate) struct Priority {
    /// The urgency from 0, the most urgent; 3 by default.
    urgency: u8,
    /// Whether the reader can use parts of the stream (RFC 9218 section 4.2).
    incremental: bool,
    /// The share relative to other streams; 1 by default.
    weight: u16,
    /// The time by which the whole stream should be sent, in seconds of virtual time.
    deadline_s: Option<f64>,
    /// The time within which data should be sent after it was written, in seconds.
    latency_s: Option<f64>,
}

impl From<quic::Priority> for Priority {
    fn from(priority: quic::Priority) -> Priority {
        let quic::Priority { urgency, incremental, weight, deadline, latency } = priority;
        Priority {
            urgency,
            incremental,
            weight: weight.max(1),
            deadline_s: deadline.map(Time::as_secs_f64),
            latency_s: latency.map(Duration::as_secs_f64),
        }
    }
}

/// The state of the path for a scheduler: see quiclab.Scheduler.next.
#[pyclass(frozen, get_all, module = "quiclab._quiclab")]
pub(crate) struct SchedulerView {
    /// The current time, in seconds of virtual time.
    now_s: f64,
    /// The congestion window.
    window_bytes: u64,
    /// The smoothed RTT in seconds.
    smoothed_rtt_s: f64,
}

/// The optional methods that a class defines.
#[derive(Debug, Default)]
struct OptionalMethods {
    ready: bool,
    idle: bool,
    sent: bool,
    out_of_turn: bool,
    head: bool,
    priority: bool,
    lost: bool,
    repaired: bool,
    closed: bool,
}

/// The Python objects: the scheduler, its dictionary of ready streams, and the priorities other than the default.
struct Objects {
    object: Py<PyAny>,
    ready: Py<PyDict>,
    default: Py<Priority>,
    priorities: BTreeMap<u64, Py<Priority>>,
}

/// Adds a class to the stream schedulers.
pub(crate) fn plug(code: Code, face: Row<()>) -> Result<(), PlugError> {
    schedule::plug(face.built_by(Box::leak(Box::new(move |arguments: &Arguments| -> Box<dyn Scheduler> {
        Python::attach(|py| Box::new(PythonScheduler::new(py, &code, arguments)))
    }))))
}

/// A scheduler that calls a Python object.
pub(crate) struct PythonScheduler {
    /// `None` after an error, which ends the run.
    objects: Option<Objects>,
    methods: OptionalMethods,
    /// The ready streams by id.
    ready: BTreeMap<u64, StreamKey>,
    /// The choice since the last change.
    answer: Option<StreamKey>,
}

impl PythonScheduler {
    fn new(py: Python<'_>, code: &Code, arguments: &Arguments) -> PythonScheduler {
        let mut scheduler = PythonScheduler {
            objects: None,
            methods: OptionalMethods::default(),
            ready: BTreeMap::new(),
            answer: None,
        };
        match make(py, code, arguments) {
            Ok((objects, own)) => {
                let has = |name: &str| own.contains(name);
                scheduler.methods = OptionalMethods {
                    ready: has("on_ready"),
                    idle: has("on_idle"),
                    sent: has("on_sent"),
                    out_of_turn: has("on_sent_out_of_turn"),
                    head: has("on_head"),
                    priority: has("on_priority"),
                    lost: has("on_lost"),
                    repaired: has("on_repaired"),
                    closed: has("on_closed"),
                };
                scheduler.objects = Some(objects);
            }
            Err(error) => fail(error, None),
        }
        scheduler
    }

    /// Calls a function with the objects. An exception discards them.
    fn with<T>(&mut self, call: impl FnOnce(Python<'_>, &mut Objects) -> PyResult<T>) -> Option<T> {
        let objects = self.objects.as_mut()?;
        match Python::attach(|py| call(py, objects)) {
            Ok(value) => Some(value),
            Err(error) => {
                fail(error, self.objects.take().map(|objects| objects.object).as_ref());
                None
            }
        }
    }

    /// Calls a method with a stream.
    fn call(&mut self, method: &'static str, stream: StreamKey) {
        self.answer = None;
        let id = stream.id.value();
        self.with(|py, objects| objects.object.call_method1(py, method, (id,)).map(drop));
    }

    /// The stream chosen by Python.
    fn choose(&mut self, view: &PathView) -> Option<StreamKey> {
        let path = SchedulerView {
            now_s: view.now.as_secs_f64(),
            window_bytes: view.window,
            smoothed_rtt_s: view.smoothed_rtt.as_secs_f64(),
        };
        let ready = std::mem::take(&mut self.ready);
        let answer = self.with(|py, objects| {
            let given = objects.object.call_method1(py, intern!(py, "next"), (path,))?.into_bound(py);
            let known = given.extract::<u64>().ok().and_then(|id| ready.get(&id).copied());
            known.ok_or_else(|| {
                let found =
                    given.repr().map_or_else(|_| "what has no text".to_owned(), |text| text.to_string());
                let place = outside::place_of_method(objects.object.bind(py), "next");
                let problem = format!("next gave {found}; expected one of the streams in self.ready");
                Error::new_err(format!("{place}{problem}"))
            })
        });
        self.ready = ready;
        answer
    }
}

fn make(py: Python<'_>, code: &Code, arguments: &Arguments) -> PyResult<(Objects, BTreeSet<String>)> {
    let (object, own) = code.make(py, arguments)?;
    let ready = outside::ready(py)?;
    object.setattr(intern!(py, "ready"), &ready)?;
    object.call_method0(intern!(py, "start"))?;
    let default = Py::new(py, Priority::from(quic::Priority::default()))?;
    let objects =
        Objects { object: object.unbind(), ready: ready.unbind(), default, priorities: BTreeMap::new() };
    Ok((objects, own))
}

impl Scheduler for PythonScheduler {
    fn wants_heads(&self) -> bool {
        self.methods.head
    }

    fn on_ready(&mut self, stream: StreamKey, now: Time) {
        let id = stream.id.value();
        self.ready.insert(id, stream);
        self.answer = None;
        let defined = self.methods.ready;
        self.with(|py, objects| {
            let priority = objects.priorities.get(&id).unwrap_or(&objects.default);
            objects.ready.bind(py).set_item(id, priority)?;
            if defined {
                let given = (id, now.as_secs_f64());
                objects.object.call_method1(py, intern!(py, "on_ready"), given)?;
            }
            Ok(())
        });
    }

    fn on_head(&mut self, stream: StreamKey, head: Head) {
        if self.methods.head {
            self.answer = None;
            let given = (stream.id.value(), head.written.as_secs_f64(), head.order);
            self.with(|py, objects| objects.object.call_method1(py, intern!(py, "on_head"), given).map(drop));
        }
    }

    fn on_sent(&mut self, stream: StreamKey, bytes: u64) {
        self.answer = None;
        if self.methods.sent {
            let given = (stream.id.value(), bytes);
            self.with(|py, objects| objects.object.call_method1(py, intern!(py, "on_sent"), given).map(drop));
        }
    }

    fn on_sent_out_of_turn(&mut self, stream: StreamKey, bytes: u64) {
        if self.methods.out_of_turn {
            self.answer = None;
            let given = (stream.id.value(), bytes);
            self.with(|py, objects| {
                objects.object.call_method1(py, intern!(py, "on_sent_out_of_turn"), given).map(drop)
            });
        }
    }

    fn on_idle(&mut self, stream: StreamKey) {
        let id = stream.id.value();
        if self.ready.remove(&id).is_none() {
            return;
        }
        self.answer = None;
        let defined = self.methods.idle;
        self.with(|py, objects| {
            objects.ready.bind(py).del_item(id)?;
            if defined {
                objects.object.call_method1(py, intern!(py, "on_idle"), (id,))?;
            }
            Ok(())
        });
    }

    fn on_priority(&mut self, stream: StreamKey, priority: quic::Priority) {
        let id = stream.id.value();
        let (is_ready, defined) = (self.ready.contains_key(&id), self.methods.priority);
        self.answer = None;
        self.with(|py, objects| {
            let priority = Py::new(py, Priority::from(priority))?;
            if is_ready {
                objects.ready.bind(py).set_item(id, &priority)?;
            }
            if defined {
                objects.object.call_method1(py, intern!(py, "on_priority"), (id, &priority))?;
            }
            objects.priorities.insert(id, priority);
            Ok(())
        });
    }

    fn on_lost(&mut self, stream: StreamKey) {
        if self.methods.lost {
            self.call("on_lost", stream);
        }
    }

    fn on_repaired(&mut self, stream: StreamKey) {
        if self.methods.repaired {
            self.call("on_repaired", stream);
        }
    }

    fn on_closed(&mut self, stream: StreamKey) {
        let id = stream.id.value();
        if self.methods.closed {
            self.call("on_closed", stream);
        }
        if let Some(objects) = &mut self.objects {
            objects.priorities.remove(&id);
        }
    }

    fn next(&mut self, view: &PathView) -> Option<StreamKey> {
        // A single stream needs no choice; after an error any stream will do, since the run ends.
        if self.ready.len() <= 1 || self.objects.is_none() {
            return self.ready.values().next().copied();
        }
        if self.answer.is_none() {
            self.answer = self.choose(view);
        }
        self.answer.or_else(|| self.ready.values().next().copied())
    }
}
