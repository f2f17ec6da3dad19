//! Congestion controllers written in Python: the class `Ack` and others that they are told with, and the controller of
//! `congestion` that asks them.
//!
//! Python is asked once for each ACK frame, and for what its class has a method of its own for.

use crate::outside::{self, fail};
use congestion::{AckSample, Allowance, Controller, Limit, Sent, Setup, Signal};
use lab::outside::{Part, Wanted};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use units::parameter::Arguments;
use units::{Rate, Time};

/// The most words for states that a process keeps.
const MAX_STATES: usize = 1000;
/// The largest window: no sum of sizes comes near it.
const UNLIMITED: u64 = 1 << 62;

/// What one ACK frame told: see quiclab.Controller.on_ack.
#[pyclass(frozen, get_all, module = "quiclab._quiclab")]
pub(crate) struct Ack {
    /// When it came, in seconds of virtual time.
    now_s: f64,
    /// Bytes that it newly acknowledged.
    acked_bytes: u64,
    /// Packets that it newly acknowledged.
    acked_packets: u64,
    /// Bytes that were declared lost on account of it.
    lost_bytes: u64,
    /// More packets with the CE mark than the one before told of.
    marked_packets: u64,
    /// Bytes delivered so far.
    delivered_bytes: u64,
    /// Bytes in flight after it.
    bytes_in_flight: u64,
    /// Bytes in flight before it.
    prior_in_flight: u64,
    /// When the newest of the packets that it acknowledged was sent, in seconds.
    newest_sent_s: f64,
    /// The latest RTT sample, in seconds.
    rtt_s: f64,
    /// The smoothed RTT, in seconds.
    smoothed_rtt_s: f64,
    /// The least RTT, in seconds.
    min_rtt_s: f64,
    /// The delivery rate over the newest packet's flight, in bit/s; None if it cannot be told.
    delivery_rate_bps: Option<f64>,
    /// Whether the application held that rate down.
    rate_app_limited: bool,
    /// Bytes that had been delivered when that packet was sent: tells round trips apart.
    prior_delivered_bytes: u64,
    /// Bytes lost during that packet's flight.
    flight_lost_bytes: u64,
    /// What the sender stopped at last: "application", "window" or "pacer".
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

/// What was lost, marked, or lost by mistake: see the methods of quiclab.Controller.
#[pyclass(frozen, get_all, module = "quiclab._quiclab")]
pub(crate) struct Trouble {
    /// When it was found, in seconds of virtual time.
    now_s: f64,
    /// How many packets.
    packets: u64,
    /// Their bytes; 0 for marks.
    bytes: u64,
    /// When the newest of them was sent, in seconds.
    newest_sent_s: f64,
}

fn seconds(at: Time) -> f64 {
    at.as_secs_f64()
}

/// The methods that a class need not have.
#[derive(Debug, Default)]
struct Wants {
    sent: bool,
    loss: bool,
    mark: bool,
    spurious: bool,
    persistent_congestion: bool,
}

/// A controller that asks an object of Python.
pub(crate) struct Plugged {
    /// `None` once something went wrong: the run is over.
    object: Option<Py<PyAny>>,
    wants: Wants,
    setup: Setup,
    allowance: Allowance,
    state: &'static str,
}

impl Plugged {
    pub(crate) fn new(py: Python<'_>, wanted: &Wanted, arguments: &Arguments, setup: Setup) -> Plugged {
        let allowance = Allowance::new(setup.initial_window, None);
        let mut plugged =
            Plugged { object: None, wants: Wants::default(), setup, allowance, state: "unknown" };
        match make(py, wanted, arguments) {
            Ok((object, wants)) => {
                plugged.object = Some(object.unbind());
                plugged.wants = wants;
                plugged.begin();
            }
            Err(error) => fail(error),
        }
        plugged
    }

    /// The connection begins, or begins anew on another path.
    fn begin(&mut self) {
        let setup = self.setup;
        let given = (setup.max_datagram_size, setup.initial_window, setup.initial_rtt.as_secs_f64());
        self.ask(|py, object| {
            object.setattr(intern!(py, "datagram_bytes"), given.0)?;
            object.setattr(intern!(py, "window_bytes"), given.1)?;
            object.setattr(intern!(py, "pacing_bps"), py.None())?;
            object.call_method1(intern!(py, "start"), given).map(drop)
        });
    }

    /// Calls the object, and reads what it allows then.
    fn ask(&mut self, call: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<()>) {
        let Some(object) = &self.object else { return };
        let answer = Python::attach(|py| {
            let object = object.bind(py);
            call(py, object)?;
            let allowance = read_allowance(py, object, self.setup.max_datagram_size)?;
            Ok((allowance, read_state(py, object, self.state)?))
        });
        match answer {
            Ok((allowance, state)) => (self.allowance, self.state) = (allowance, state),
            Err(error) => {
                self.object = None;
                fail(error);
            }
        }
    }

    fn trouble(&mut self, method: &'static str, trouble: Trouble) {
        self.ask(|_, object| object.call_method1(method, (trouble,)).map(drop));
    }
}

fn make<'py>(
    py: Python<'py>,
    wanted: &Wanted,
    arguments: &Arguments,
) -> PyResult<(Bound<'py, PyAny>, Wants)> {
    let (object, own) = outside::make(py, Part::Controller, wanted, arguments)?;
    let has = |name: &str| own.contains(name);
    let wants = Wants {
        sent: has("on_sent"),
        loss: has("on_loss"),
        mark: has("on_mark"),
        spurious: has("on_spurious"),
        persistent_congestion: has("on_persistent_congestion"),
    };
    Ok((object, wants))
}

/// `window_bytes` and `pacing_bps`, checked.
fn read_allowance(py: Python<'_>, object: &Bound<'_, PyAny>, least: u64) -> PyResult<Allowance> {
    let wrong = |name: &str, found: &Bound<'_, PyAny>, expected: String| {
        let found = found.repr().map_or_else(|_| "what has no text".to_owned(), |text| text.to_string());
        pyo3::exceptions::PyValueError::new_err(format!("{name} is {found}; expected {expected}"))
    };
    let given = object.getattr(intern!(py, "window_bytes"))?;
    let window = match given.extract::<f64>() {
        Ok(window) if window >= least as f64 => (window as u64).min(UNLIMITED),
        _ => {
            let expected = format!("a number of bytes, of one packet ({least}) at least");
            return Err(wrong("window_bytes", &given, expected));
        }
    };
    let given = object.getattr(intern!(py, "pacing_bps"))?;
    let pacing = match given.extract::<Option<f64>>() {
        Ok(None) => None,
        Ok(Some(rate)) if rate >= 1.0 => Some(Rate::from_bits_per_sec(rate as u64)),
        _ => return Err(wrong("pacing_bps", &given, "None, or 1 bit/s at least".to_owned())),
    };
    Ok(Allowance::new(window, pacing))
}

/// `state`, as a word that lasts.
fn read_state(py: Python<'_>, object: &Bound<'_, PyAny>, before: &'static str) -> PyResult<&'static str> {
    static STATES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let given = object.getattr(intern!(py, "state"))?;
    let text = given.cast::<PyString>()?;
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

impl Controller for Plugged {
    fn on_sent(&mut self, sent: &Sent) {
        if self.wants.sent {
            let told = (seconds(sent.now), sent.bytes, sent.bytes_in_flight);
            self.ask(|py, object| object.call_method1(intern!(py, "on_sent"), told).map(drop));
        }
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let told = Ack::new(ack);
        self.ask(|py, object| object.call_method1(intern!(py, "on_ack"), (told,)).map(drop));
    }

    fn on_signal(&mut self, signal: &Signal<'_>) {
        match *signal {
            Signal::Lost { now, bytes, newest_sent_at, packets, .. } if self.wants.loss => {
                let packets = packets.len() as u64;
                let (now_s, newest_sent_s) = (seconds(now), seconds(newest_sent_at));
                self.trouble("on_loss", Trouble { now_s, packets, bytes, newest_sent_s });
            }
            Signal::Marked { now, packets, newest_sent_at } if self.wants.mark => {
                let (now_s, newest_sent_s) = (seconds(now), seconds(newest_sent_at));
                self.trouble("on_mark", Trouble { now_s, packets, bytes: 0, newest_sent_s });
            }
            Signal::Spurious { now, packets, bytes, newest_sent_at } if self.wants.spurious => {
                let (now_s, newest_sent_s) = (seconds(now), seconds(newest_sent_at));
                self.trouble("on_spurious", Trouble { now_s, packets, bytes, newest_sent_s });
            }
            Signal::PersistentCongestion if self.wants.persistent_congestion => {
                self.ask(|_, object| object.call_method0("on_persistent_congestion").map(drop));
            }
            Signal::DatagramSize { bytes } => {
                self.setup.resize(bytes);
                self.ask(|py, object| {
                    object.setattr(intern!(py, "datagram_bytes"), bytes)?;
                    // A window of one packet is one of the new size.
                    let window: f64 = object.getattr(intern!(py, "window_bytes"))?.extract()?;
                    if window < bytes as f64 {
                        object.setattr(intern!(py, "window_bytes"), bytes)
                    } else {
                        Ok(())
                    }
                });
            }
            // RFC 9000 section 9.4: as at the start.
            Signal::PathChanged => self.begin(),
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
