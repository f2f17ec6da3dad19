//! Congestion controllers written in Python: the class `Ack` and others passed to them, and the controller of
//! `congestion` that calls them.
//!
//! Python is called once per ACK frame, and for the optional methods of its class.

use crate::error::Error;
use crate::outside::{Code, fail, place_of_method};
use congestion::{AckSample, Allowance, Controller, Limit, Sent, Setup, Signal};
use lab::outside::PlugError;
use pyo3::exceptions::PyAttributeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use units::parameter::{Arguments, Row};
use units::{Rate, Time};

/// The maximum number of distinct state names per process.
const MAX_STATES: usize = 1000;
/// The maximum window: sums of sizes cannot overflow.
const UNLIMITED: u64 = 1 << 62;

/// The least window that Careful Resume asks for, in packets.
const LEAST_PACKETS: u64 = 2;

/// The contents of one ACK frame: see quiclab.Controller.on_ack.
#[pyclass(frozen, get_all, module = "quiclab._quiclab")]
pub(crate) struct Ack {
    /// The time of arrival, in seconds of virtual time.
    now_s: f64,
    /// The newly acknowledged bytes.
    acked_bytes: u64,
    /// The newly acknowledged packets.
    acked_packets: u64,
    /// The bytes declared lost because of it.
    lost_bytes: u64,
    /// The increase of the number of packets with the CE mark.
    marked_packets: u64,
    /// The total of delivered bytes.
    delivered_bytes: u64,
    /// Bytes in flight after it.
    bytes_in_flight: u64,
    /// Bytes in flight before it.
    prior_in_flight: u64,
    /// The send time of the newest acknowledged packet, in seconds.
    newest_sent_s: f64,
    /// The latest RTT sample, in seconds.
    rtt_s: f64,
    /// The smoothed RTT, in seconds.
    smoothed_rtt_s: f64,
    /// The minimum RTT, in seconds.
    min_rtt_s: f64,
    /// The delivery rate over the newest packet's flight, in bit/s; None if unknown.
    delivery_rate_bps: Option<f64>,
    /// Whether the application limited that rate.
    rate_app_limited: bool,
    /// The total of delivered bytes when that packet was sent, which distinguishes round trips.
    prior_delivered_bytes: u64,
    /// The bytes lost during that packet's flight.
    flight_lost_bytes: u64,
    /// What last limited the sender: "application", "window" or "pacer".
    limit: &'static str,
}

impl Ack {
    fn new(ack: &AckSample<'_>) -> Ack {
        let rate = ack.rate.as_ref();
        Ack {
            now_s: seconds(ack.now),
            acked_bytes: ack.acked_bytes,
            acked_packets: ack.acked_packets,
            lost_bytes: ack.lost_bytes,
            marked_packets: ack.marked_packets,
            delivered_bytes: ack.delivered,
            bytes_in_flight: ack.bytes_in_flight,
            prior_in_flight: ack.prior_in_flight,
            newest_sent_s: seconds(ack.newest_sent_at),
            rtt_s: ack.rtt.latest().as_secs_f64(),
            smoothed_rtt_s: ack.rtt.smoothed().as_secs_f64(),
            min_rtt_s: ack.rtt.min().as_secs_f64(),
            delivery_rate_bps: rate.and_then(|rate| rate.rate).map(|rate| rate.as_bits_per_sec() as f64),
            rate_app_limited: rate.is_some_and(|rate| rate.app_limited),
            prior_delivered_bytes: rate.map_or(0, |rate| rate.prior_delivered),
            flight_lost_bytes: rate.map_or(0, |rate| rate.lost),
            limit: match ack.limit {
                Limit::Application => "application",
                Limit::Window => "window",
                Limit::Pacer => "pacer",
            },
        }
    }
}

/// Packets that were lost, marked, or spuriously declared lost: see the methods of quiclab.Controller.
#[pyclass(frozen, get_all, module = "quiclab._quiclab")]
pub(crate) struct CongestionSignal {
    /// The time of detection, in seconds of virtual time.
    now_s: f64,
    /// The number of packets.
    packets: u64,
    /// Their bytes; 0 for marks.
    bytes: u64,
    /// The send time of the newest of them, in seconds.
    newest_sent_s: f64,
}

/// What Careful Resume asks for: see quiclab.Controller.on_resume.
#[pyclass(frozen, get_all, module = "quiclab._quiclab")]
pub(crate) struct ResumeAdjustment {
    /// The time, in seconds of virtual time.
    now_s: f64,
    /// "jump", "seed", "limit", "retreat" or "settle".
    kind: &'static str,
    /// The window to set, in bytes, two packets at least; None if it stays as it is.
    window_bytes: Option<u64>,
    /// The slow start threshold to set, in bytes, two packets at least; None if it stays as it is.
    ssthresh_bytes: Option<u64>,
    /// The current RTT, in seconds, over which a jump is paced; None for other kinds.
    rtt_s: Option<f64>,
}

impl ResumeAdjustment {
    fn new(now: Time, given: congestion::Adjustment, setup: &Setup) -> ResumeAdjustment {
        use congestion::Adjustment as Given;
        let (kind, rtt) = match given {
            Given::Jump { rtt, .. } => ("jump", Some(rtt)),
            Given::Seed { rtt, .. } => ("seed", Some(rtt)),
            Given::Limit { .. } => ("limit", None),
            Given::Retreat { .. } => ("retreat", None),
            Given::Settle { .. } => ("settle", None),
        };
        // RFC 9002 section 7.2: kMinimumWindow.
        let least = LEAST_PACKETS * setup.max_datagram_size;
        ResumeAdjustment {
            now_s: seconds(now),
            kind,
            window_bytes: given.window().map(|bytes| bytes.max(least)),
            ssthresh_bytes: given.ssthresh().map(|bytes| bytes.max(least)),
            rtt_s: rtt.map(|rtt| rtt.as_secs_f64()),
        }
    }
}

fn seconds(at: Time) -> f64 {
    at.as_secs_f64()
}

/// The optional methods that a class defines.
#[derive(Debug, Default)]
struct OptionalMethods {
    sent: bool,
    loss: bool,
    mark: bool,
    spurious: bool,
    persistent_congestion: bool,
    resume: bool,
}

/// Adds a class to the controllers.
pub(crate) fn plug(code: Code, face: Row<()>) -> Result<(), PlugError> {
    congestion::plug(face.built_by(Box::leak(Box::new(
        move |arguments: &Arguments, setup| -> Box<dyn Controller> {
            Python::attach(|py| Box::new(PythonController::new(py, &code, arguments, setup)))
        },
    ))))
}

/// A controller that calls a Python object.
pub(crate) struct PythonController {
    /// `None` after an error, which ends the run.
    object: Option<Py<PyAny>>,
    methods: OptionalMethods,
    setup: Setup,
    allowance: Allowance,
    state: &'static str,
}

impl PythonController {
    pub(crate) fn new(py: Python<'_>, code: &Code, arguments: &Arguments, setup: Setup) -> PythonController {
        let allowance = Allowance::new(setup.initial_window, None);
        let mut controller = PythonController {
            object: None,
            methods: OptionalMethods::default(),
            setup,
            allowance,
            state: "unknown",
        };
        match make(py, code, arguments) {
            Ok((object, methods)) => {
                controller.object = Some(object.unbind());
                controller.methods = methods;
                controller.start();
            }
            Err(error) => fail(error, None),
        }
        controller
    }

    /// Starts the connection, or restarts it on another path.
    fn start(&mut self) {
        let setup = self.setup;
        let given = (setup.max_datagram_size, setup.initial_window, setup.initial_rtt.as_secs_f64());
        self.call(|py, object| {
            object.setattr(intern!(py, "datagram_bytes"), given.0)?;
            object.setattr(intern!(py, "window_bytes"), given.1)?;
            object.setattr(intern!(py, "pacing_bps"), py.None())?;
            object.call_method1(intern!(py, "start"), given).map(drop)
        });
    }

    /// Calls the object, and then reads its allowance.
    fn call(&mut self, call: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<()>) {
        let Some(object) = &self.object else { return };
        let answer = Python::attach(|py| {
            let object = object.bind(py);
            call(py, object)?;
            let allowance = read_allowance(object, self.setup.max_datagram_size)?;
            Ok((allowance, read_state(object, self.state)?))
        });
        match answer {
            Ok((allowance, state)) => (self.allowance, self.state) = (allowance, state),
            Err(error) => fail(error, self.object.take().as_ref()),
        }
    }

    fn report(&mut self, method: &'static str, signal: CongestionSignal) {
        self.call(|_, object| object.call_method1(method, (signal,)).map(drop));
    }
}

fn make<'py>(
    py: Python<'py>,
    code: &Code,
    arguments: &Arguments,
) -> PyResult<(Bound<'py, PyAny>, OptionalMethods)> {
    let (object, own) = code.make(py, arguments)?;
    let has = |name: &str| own.contains(name);
    let methods = OptionalMethods {
        sent: has("on_sent"),
        loss: has("on_loss"),
        mark: has("on_mark"),
        spurious: has("on_spurious"),
        persistent_congestion: has("on_persistent_congestion"),
        resume: has("on_resume"),
    };
    Ok((object, methods))
}

/// The error for an attribute with a wrong value, with the place of the class.
fn wrong(object: &Bound<'_, PyAny>, name: &str, found: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let found = found.repr().map_or_else(|_| "what has no text".to_owned(), |text| text.to_string());
    let (place, class) = named(object);
    Error::new_err(format!("{place}{class}{name} is {found}; expected {expected}"))
}

/// An attribute that the class may not delete.
fn attribute<'py>(object: &Bound<'py, PyAny>, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
    object.getattr(name).map_err(|error| {
        if !error.is_instance_of::<PyAttributeError>(object.py()) || object.hasattr(name).unwrap_or(true) {
            return error;
        }
        let (place, class) = named(object);
        Error::new_err(format!("{place}{class}{name} is gone; expected that the class keeps it"))
    })
}

/// Where the class of an object is, and its name, as they begin a message.
fn named(object: &Bound<'_, PyAny>) -> (String, String) {
    let class = object.get_type().qualname().map_or_else(|_| String::new(), |class| format!("{class}."));
    (place_of_method(object, "on_ack"), class)
}

/// Reads and checks `window_bytes` and `pacing_bps`.
fn read_allowance(object: &Bound<'_, PyAny>, least: u64) -> PyResult<Allowance> {
    let wrong =
        |name: &str, found: &Bound<'_, PyAny>, expected: String| wrong(object, name, found, &expected);
    let given = attribute(object, intern!(object.py(), "window_bytes"))?;
    let window = match given.extract::<f64>() {
        Ok(window) if window.is_finite() && window >= least as f64 => (window as u64).min(UNLIMITED),
        _ => {
            let expected = format!("a finite number of bytes, of one packet ({least}) at least");
            return Err(wrong("window_bytes", &given, expected));
        }
    };
    let given = attribute(object, intern!(object.py(), "pacing_bps"))?;
    let pacing = match given.extract::<Option<f64>>() {
        Ok(None) => None,
        Ok(Some(rate)) if rate.is_finite() && rate >= 1.0 => Some(Rate::from_bits_per_sec(rate as u64)),
        _ => {
            return Err(wrong("pacing_bps", &given, "None, or a finite rate of 1 bit/s at least".to_owned()));
        }
    };
    Ok(Allowance::new(window, pacing))
}

/// Reads `state` as a static string.
fn read_state(object: &Bound<'_, PyAny>, before: &'static str) -> PyResult<&'static str> {
    static STATES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let given = attribute(object, intern!(object.py(), "state"))?;
    let Ok(text) = given.cast::<PyString>() else {
        return Err(wrong(object, "state", &given, "a text"));
    };
    if text == before {
        return Ok(before);
    }
    let text = text.to_string();
    let mut states = STATES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = states.get(text.as_str()) {
        return Ok(known);
    }
    if states.len() >= MAX_STATES {
        return Ok("other");
    }
    let lasting: &'static str = String::leak(text);
    states.insert(lasting);
    Ok(lasting)
}

impl Controller for PythonController {
    fn on_sent(&mut self, sent: &Sent) {
        if self.methods.sent {
            let given = (seconds(sent.now), sent.bytes, sent.bytes_in_flight);
            self.call(|py, object| object.call_method1(intern!(py, "on_sent"), given).map(drop));
        }
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let given = Ack::new(ack);
        self.call(|py, object| object.call_method1(intern!(py, "on_ack"), (given,)).map(drop));
    }

    fn on_signal(&mut self, signal: &Signal<'_>) {
        match *signal {
            Signal::Lost { now, bytes, newest_sent_at, packets, .. } if self.methods.loss => {
                let packets = packets.len() as u64;
                let (now_s, newest_sent_s) = (seconds(now), seconds(newest_sent_at));
                self.report("on_loss", CongestionSignal { now_s, packets, bytes, newest_sent_s });
            }
            Signal::Marked { now, packets, newest_sent_at } if self.methods.mark => {
                let (now_s, newest_sent_s) = (seconds(now), seconds(newest_sent_at));
                self.report("on_mark", CongestionSignal { now_s, packets, bytes: 0, newest_sent_s });
            }
            Signal::Spurious { now, packets, bytes, newest_sent_at } if self.methods.spurious => {
                let (now_s, newest_sent_s) = (seconds(now), seconds(newest_sent_at));
                self.report("on_spurious", CongestionSignal { now_s, packets, bytes, newest_sent_s });
            }
            Signal::PersistentCongestion if self.methods.persistent_congestion => {
                self.call(|_, object| object.call_method0("on_persistent_congestion").map(drop));
            }
            Signal::DatagramSize { bytes } => {
                self.setup.resize(bytes);
                self.call(|py, object| {
                    object.setattr(intern!(py, "datagram_bytes"), bytes)?;
                    // A window of one packet follows the new size.
                    let window: f64 = object.getattr(intern!(py, "window_bytes"))?.extract()?;
                    if window < bytes as f64 {
                        object.setattr(intern!(py, "window_bytes"), bytes)
                    } else {
                        Ok(())
                    }
                });
            }
            Signal::Resume { now, adjustment } if self.methods.resume => {
                let given = ResumeAdjustment::new(now, adjustment, &self.setup);
                self.call(|_, object| object.call_method1("on_resume", (given,)).map(drop));
            }
            // RFC 9000 section 9.4: restarts on a new path.
            Signal::PathChanged => self.start(),
            _ => {}
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        self.allowance
    }

    fn state(&self) -> &'static str {
        self.state
    }
}
