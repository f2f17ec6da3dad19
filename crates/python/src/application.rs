//! Applications written in Python: the application of `transport` that calls an end of them.
//!
//! Python is called for the events of the connection for which the class has a method, and when its timer expires.

use crate::connection::{Connection, Link};
use crate::error::Error;
use crate::outside::{self, Code, Object, Wake, nonsense, one_line, place_of_method, start, wake_of};
use lab::outside::PlugError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use random::Generator;
use std::collections::BTreeSet;
use traffic::{Ends, OptionError, Profile};
use transport::{Application, Event, MAX_CONNECTIONS, Progress, Report, Transport};
use units::parameter::{Arguments, Row};
use units::{Duration, Time, fault};
use wire::{Side, StreamId};

/// The most calls of an end within [`WINDOW`]. One that goes on and on would stop the time.
const MOST_CALLS: u32 = 100_000;
const WINDOW: Duration = Duration::from_millis(1);

/// Adds a class to the applications.
pub(crate) fn plug(code: Code, face: Row<()>) -> Result<(), PlugError> {
    let code: &'static Code = Box::leak(Box::new(code));
    let build = Box::leak(Box::new(move |arguments: &Arguments, stream| {
        ends(code, arguments, stream).unwrap_or_else(|problem| {
            fault::raise(fault::Fault { problem, cause: Box::new(()) });
            let [client, server] = [Side::Client, Side::Server].map(|side| Box::new(PythonEnd::failed(side)));
            Ends { client, server }
        })
    }));
    let check = Box::leak(Box::new(move |arguments: &Arguments| {
        traits(code, arguments).map_err(|problem| ("", problem))?;
        ends(code, arguments, Generator::new(0, "check")).map(drop).map_err(|problem| ("", problem))
    }));
    let over_tcp = Box::leak(Box::new(move |arguments: &Arguments| tcp_connections(code, arguments)));
    // The check has found what is wrong with the class.
    let datagrams = Box::leak(Box::new(move |arguments: &Arguments| {
        traits(code, arguments).is_ok_and(|traits| traits.datagrams)
    }));
    let profile = Profile { over_tcp: Some(over_tcp), check, datagrams, shares: true, ..Profile::of(build) };
    traffic::plug(face.built_by(profile))
}

/// What an application says of itself before it runs.
struct Traits {
    datagrams: bool,
    tcp_connections: usize,
}

fn traits(code: &Code, arguments: &Arguments) -> Result<Traits, String> {
    Python::attach(|py| {
        let (object, _) = code.make(py, arguments)?;
        let given = object.getattr(intern!(py, "datagrams"))?;
        let expected = |what: &str, given: &Bound<'_, PyAny>, expected: &str| {
            let found = given.repr().map_or_else(|_| "what has no text".to_owned(), |text| text.to_string());
            let place = place_of_method(&object, what);
            Error::new_err(format!("{place}{what} is {found}; expected {expected}"))
        };
        let datagrams = given.extract().map_err(|_| expected("datagrams", &given, "True or False"))?;
        let given = object.getattr(intern!(py, "tcp_connections"))?;
        let tcp_connections = given.extract().ok().filter(|count| *count <= MAX_CONNECTIONS);
        let tcp_connections = tcp_connections.ok_or_else(|| {
            expected("tcp_connections", &given, &format!("a whole number from 0 to {MAX_CONNECTIONS}"))
        })?;
        Ok(Traits { datagrams, tcp_connections })
    })
    .map_err(|error: PyErr| one_line(&error, None))
}

fn tcp_connections(code: &Code, arguments: &Arguments) -> Result<usize, OptionError> {
    let refused = |why: &str| Err(("", format!("{why}; expected protocol = \"quic\"")));
    match traits(code, arguments).map_err(|problem| ("", problem))? {
        Traits { datagrams: true, .. } => refused("sends datagrams, which TCP does not have"),
        Traits { tcp_connections: 0, .. } => refused("does not go over TCP, as tcp_connections is 0"),
        Traits { tcp_connections, .. } => Ok(tcp_connections),
    }
}

/// Both ends of an application, which know the same object of its class.
fn ends(code: &Code, arguments: &Arguments, mut stream: Generator) -> Result<Ends, String> {
    Python::attach(|py| {
        let (application, _) = code.make(py, arguments).map_err(|error| one_line(&error, None))?;
        let mut end = |side, name| PythonEnd::new(&application, side, name, stream.fork(name));
        let (client, of_client) = end(Side::Client, "client")?;
        let (server, of_server) = end(Side::Server, "server")?;
        let of_server = of_server.unwrap_or(false);
        client.link.set_receives(of_client.unwrap_or(!of_server));
        server.link.set_receives(of_server);
        Ok(Ends { client: Box::new(client), server: Box::new(server) })
    })
}

/// What a method is told.
enum Given<'g> {
    Nothing,
    Stream(StreamId),
    Code(StreamId, u64),
    Bytes(&'g [u8]),
}

/// An end that calls a Python object.
struct PythonEnd {
    object: Object,
    link: Link,
    /// The methods that its class has.
    own: BTreeSet<String>,
    /// When Python wants to be called.
    wake: Option<Wake>,
    /// From when calls are counted, and how many there were since.
    calls: (Time, u32),
}

impl PythonEnd {
    /// The end, and what it says of [`Progress::receives`].
    fn new(
        application: &Bound<'_, PyAny>,
        side: Side,
        name: &str,
        stream: Generator,
    ) -> Result<(PythonEnd, Option<bool>), String> {
        let (object, own) = outside::end(application, name).map_err(|error| one_line(&error, None))?;
        let link = Link::new(side);
        let connection = Connection::new(link.clone());
        let mut object = start(object, stream, |py, object| {
            object.setattr(intern!(py, "application"), application)?;
            object.setattr(intern!(py, "connection"), Py::new(py, connection)?)
        })?;
        let (wake, receives) = object.try_call(|py, object| {
            let given = object.getattr(intern!(py, "receives"))?;
            let receives = given.extract::<Option<bool>>();
            let receives =
                receives.map_err(|_| nonsense(object, "receives", &given, "True, False or None"))?;
            Ok((wake_of(object, "start", Time::ZERO)?, receives))
        })?;
        Ok((PythonEnd { object, link, own, wake, calls: (Time::ZERO, 0) }, receives))
    }

    /// The run ends with an error.
    fn failed(side: Side) -> PythonEnd {
        PythonEnd {
            object: Object::failed(),
            link: Link::new(side),
            own: BTreeSet::new(),
            wake: None,
            calls: (Time::ZERO, 0),
        }
    }

    /// Calls a method, if the class has it.
    fn tell(&mut self, now: Time, method: &'static str, given: Given<'_>, transport: &mut dyn Transport) {
        if !self.own.contains(method) {
            return;
        }
        let link = self.link.clone();
        self.call(now, method, now, transport, |py, object| {
            let at = now.as_secs_f64();
            let arguments = match given {
                Given::Nothing => (at,).into_pyobject(py)?,
                Given::Stream(stream) => (link.stream(stream), at).into_pyobject(py)?,
                Given::Code(stream, code) => (link.stream(stream), code, at).into_pyobject(py)?,
                Given::Bytes(bytes) => (PyBytes::new(py, bytes), at).into_pyobject(py)?,
            };
            object.call_method1(method, arguments).map(drop)
        });
    }

    /// Lends the transport to a call, after which the object may want to be called again, at `least` at the earliest.
    fn call(
        &mut self,
        now: Time,
        method: &'static str,
        least: Time,
        transport: &mut dyn Transport,
        call: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<()>,
    ) {
        let (since, count) = self.calls;
        self.calls = if now < since + WINDOW { (since, count + 1) } else { (now, 1) };
        let count = self.calls.1;
        let PythonEnd { object, link, wake, .. } = self;
        // One that is due now stays what it is.
        let least = wake.map_or(least, |wake| wake.at.min(least));
        let wake = link.lend(now, transport, || {
            object.call(|py, object| {
                if count > MOST_CALLS {
                    let (place, at) = (place_of_method(object, method), now.as_secs_f64());
                    return Err(Error::new_err(format!(
                        "{place}{method} at {at} s: this end was called {count} times within {WINDOW}; expected fewer calls, or a later wake_s"
                    )));
                }
                call(py, object)?;
                wake_of(object, method, least)
            })
        });
        // After an error the timer is off until the run ends.
        self.wake = wake.flatten();
        self.tell_ends(now, transport);
    }

    /// Says which streams were read to their ends.
    fn tell_ends(&mut self, now: Time, transport: &mut dyn Transport) {
        while let Some(stream) = self.link.take_ended() {
            self.tell(now, "on_ended", Given::Stream(stream), transport);
        }
    }

    fn on_datagrams(&mut self, now: Time, transport: &mut dyn Transport) {
        let mut bytes = Vec::new();
        while let Some(length) = transport.read_datagram(Some(&mut bytes)) {
            self.link.note(now, length);
            self.tell(now, "on_datagram", Given::Bytes(&bytes), transport);
            bytes.clear();
        }
    }
}

impl Application for PythonEnd {
    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport) {
        match *event {
            Event::Connected => self.tell(now, "on_connected", Given::Nothing, transport),
            Event::Opened(stream) => self.tell(now, "on_opened", Given::Stream(stream), transport),
            Event::Readable(stream) if self.own.contains("on_readable") => {
                self.tell(now, "on_readable", Given::Stream(stream), transport);
            }
            Event::Readable(stream) => {
                self.link.skip_all(now, stream, transport);
                self.tell_ends(now, transport);
            }
            Event::Writable(stream) => {
                if self.link.resume(stream, transport) {
                    self.tell(now, "on_writable", Given::Stream(stream), transport);
                }
            }
            Event::Delivered(stream) => self.tell(now, "on_delivered", Given::Stream(stream), transport),
            Event::Stopped { stream, code } => {
                self.link.forget(stream);
                self.tell(now, "on_stopped", Given::Code(stream, code), transport);
            }
            Event::Reset { stream, code } => {
                self.tell(now, "on_reset", Given::Code(stream, code), transport);
                // It gives back the credit of what was not read.
                let _ = transport.stop(stream, 0);
            }
            Event::DatagramReadable => self.on_datagrams(now, transport),
            Event::DatagramWritable => self.tell(now, "on_datagram_writable", Given::Nothing, transport),
            Event::StreamsAvailable(_) => self.tell(now, "on_streams", Given::Nothing, transport),
            Event::Ended => self.tell(now, "on_closed", Given::Nothing, transport),
            // Nothing is sent before the handshake is complete, and one path is like another.
            Event::EarlyDataReady
            | Event::EarlyDataAccepted
            | Event::EarlyDataRejected { .. }
            | Event::Closed { .. }
            | Event::DatagramAcked(_)
            | Event::DatagramLost(_)
            | Event::Migrated { .. }
            | Event::PathFailed { .. } => {}
        }
    }

    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        let Some(Wake { seconds, .. }) = self.wake.take_if(|wake| wake.at <= now) else { return };
        // One that expires again and again would stop the time.
        let least = now + Duration::from_nanos(1);
        self.call(now, "on_wake", least, transport, |py, object| {
            object.setattr(intern!(py, "wake_s"), py.None())?;
            object.call_method1(intern!(py, "on_wake"), (seconds,)).map(drop)
        });
    }

    fn wake_at(&self) -> Option<Time> {
        self.wake.map(|wake| wake.at)
    }

    fn progress(&self) -> Progress {
        self.link.progress()
    }

    fn report(&mut self, _now: Time) -> Report {
        self.link.report()
    }
}
