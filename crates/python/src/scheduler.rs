//! Stream schedulers written in Python: the classes `Priority` and `View` that they are told with, and the scheduler of `quic`
//! that asks them.
//!
//! Python is asked once for each turn while more than one stream is ready, and told what its class has a method of its own
//! for. The dictionary `ready` is kept from here.

use crate::error::Error;
use crate::outside::{self, fail};
use lab::outside::{Part, Wanted};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use schedule::{Head, PathView, Scheduler, StreamKey};
use std::collections::{BTreeMap, BTreeSet};
use units::parameter::Arguments;
use units::{Duration, Time};

/// What the application says of a stream: see quiclab.Scheduler.ready.
#[pyclass(frozen, get_all, module = "quiclab._quiclab")]
pub(crate) struct Priority {
    /// From 0, the most urgent; 3 where nobody says.
    urgency: u8,
    /// Whether the reader can use parts of the stream (RFC 9218 section 4.2).
    incremental: bool,
    /// Share in relation to the other streams: 1 where nobody says.
    weight: u16,
    /// When all of the stream should have been sent, in seconds of virtual time.
    deadline_s: Option<f64>,
    /// How long after it was written data should have been sent, in seconds.
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

/// What a scheduler may know of the path: see quiclab.Scheduler.next.
#[pyclass(frozen, get_all, module = "quiclab._quiclab")]
pub(crate) struct View {
    /// Now, in seconds of virtual time.
    now_s: f64,
    /// The congestion window.
    window_bytes: u64,
    /// The smoothed RTT in seconds.
    smoothed_rtt_s: f64,
}

/// The methods that a class need not have.
#[derive(Debug, Default)]
struct Wants {
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

/// What is kept for Python: the object, its dictionary of ready streams, the priorities that are not the default.
struct Objects {
    object: Py<PyAny>,
    ready: Py<PyDict>,
    default: Py<Priority>,
    priorities: BTreeMap<u64, Py<Priority>>,
}

/// A scheduler that asks an object of Python.
pub(crate) struct Plugged {
    /// `None` once something went wrong: the run is over.
    objects: Option<Objects>,
    wants: Wants,
    /// The ready streams by id.
    ready: BTreeMap<u64, StreamKey>,
    /// What was answered since something changed.
    answer: Option<StreamKey>,
}

impl Plugged {
    pub(crate) fn new(py: Python<'_>, wanted: &Wanted, arguments: &Arguments) -> Plugged {
        let mut plugged =
            Plugged { objects: None, wants: Wants::default(), ready: BTreeMap::new(), answer: None };
        match make(py, wanted, arguments) {
            Ok((objects, own)) => {
                let has = |name: &str| own.contains(name);
                plugged.wants = Wants {
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
                plugged.objects = Some(objects);
            }
            Err(error) => fail(error),
        }
        plugged
    }

    /// Does something with the objects. An exception is the end of them.
    fn with<T>(&mut self, call: impl FnOnce(Python<'_>, &mut Objects) -> PyResult<T>) -> Option<T> {
        let objects = self.objects.as_mut()?;
        match Python::attach(|py| call(py, objects)) {
            Ok(value) => Some(value),
            Err(error) => {
                self.objects = None;
                fail(error);
                None
            }
        }
    }

    /// Calls a method with a stream.
    fn tell(&mut self, method: &'static str, stream: StreamKey) {
        self.answer = None;
        let id = stream.id.value();
        self.with(|py, objects| objects.object.call_method1(py, method, (id,)).map(drop));
    }

    /// The stream that Python chooses.
    fn ask(&mut self, view: &PathView) -> Option<StreamKey> {
        let told = View {
            now_s: view.now.as_secs_f64(),
            window_bytes: view.window,
            smoothed_rtt_s: view.smoothed_rtt.as_secs_f64(),
        };
        let ready = std::mem::take(&mut self.ready);
        let answer = self.with(|py, objects| {
            let given = objects.object.call_method1(py, intern!(py, "next"), (told,))?.into_bound(py);
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

fn make(py: Python<'_>, wanted: &Wanted, arguments: &Arguments) -> PyResult<(Objects, BTreeSet<String>)> {
    let (object, own) = outside::make(py, Part::Scheduler, wanted, arguments)?;
    let ready = PyDict::new(py);
    object.setattr(intern!(py, "ready"), &ready)?;
    object.call_method0(intern!(py, "start"))?;
    let default = Py::new(py, Priority::from(quic::Priority::default()))?;
    let objects =
        Objects { object: object.unbind(), ready: ready.unbind(), default, priorities: BTreeMap::new() };
    Ok((objects, own))
}

impl Scheduler for Plugged {
    fn wants_heads(&self) -> bool {
        self.wants.head
    }

    fn on_ready(&mut self, stream: StreamKey, now: Time) {
        let id = stream.id.value();
        self.ready.insert(id, stream);
        self.answer = None;
        let told = self.wants.ready;
        self.with(|py, objects| {
            let priority = objects.priorities.get(&id).unwrap_or(&objects.default);
            objects.ready.bind(py).set_item(id, priority)?;
            if told {
                let given = (id, now.as_secs_f64());
                objects.object.call_method1(py, intern!(py, "on_ready"), given)?;
            }
            Ok(())
        });
    }

    fn on_head(&mut self, stream: StreamKey, head: Head) {
        if self.wants.head {
            self.answer = None;
            let given = (stream.id.value(), head.written.as_secs_f64(), head.order);
            self.with(|py, objects| objects.object.call_method1(py, intern!(py, "on_head"), given).map(drop));
        }
    }

    fn on_sent(&mut self, stream: StreamKey, bytes: u64) {
        self.answer = None;
        if self.wants.sent {
            let given = (stream.id.value(), bytes);
            self.with(|py, objects| objects.object.call_method1(py, intern!(py, "on_sent"), given).map(drop));
        }
    }

    fn on_sent_out_of_turn(&mut self, stream: StreamKey, bytes: u64) {
        if self.wants.out_of_turn {
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
        let told = self.wants.idle;
        self.with(|py, objects| {
            objects.ready.bind(py).del_item(id)?;
            if told {
                objects.object.call_method1(py, intern!(py, "on_idle"), (id,))?;
            }
            Ok(())
        });
    }

    fn on_priority(&mut self, stream: StreamKey, priority: quic::Priority) {
        let id = stream.id.value();
        let (is_ready, told) = (self.ready.contains_key(&id), self.wants.priority);
        self.answer = None;
        self.with(|py, objects| {
            let priority = Py::new(py, Priority::from(priority))?;
            if is_ready {
                objects.ready.bind(py).set_item(id, &priority)?;
            }
            if told {
                objects.object.call_method1(py, intern!(py, "on_priority"), (id, &priority))?;
            }
            objects.priorities.insert(id, priority);
            Ok(())
        });
    }

    fn on_lost(&mut self, stream: StreamKey) {
        if self.wants.lost {
            self.tell("on_lost", stream);
        }
    }

    fn on_repaired(&mut self, stream: StreamKey) {
        if self.wants.repaired {
            self.tell("on_repaired", stream);
        }
    }

    fn on_closed(&mut self, stream: StreamKey) {
        let id = stream.id.value();
        if self.wants.closed {
            self.tell("on_closed", stream);
        }
        if let Some(objects) = &mut self.objects {
            objects.priorities.remove(&id);
        }
    }

    fn next(&mut self, view: &PathView) -> Option<StreamKey> {
        // One stream is no choice; and after a failure any will do, for the run ends.
        if self.ready.len() <= 1 || self.objects.is_none() {
            return self.ready.values().next().copied();
        }
        if self.answer.is_none() {
            self.answer = self.ask(view);
        }
        self.answer.or_else(|| self.ready.values().next().copied())
    }
}
