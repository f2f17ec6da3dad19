//! The connection of an application written in Python: the classes `Connection`, `Stream` and `Measurement`.
//!
//! The transport belongs to the endpoint, and is lent to Python while a method of the application's end is called. What
//! an end writes beyond the room of a stream waits here.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyInt, PyString};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use transport::{
    Data, DatagramError, Load, ObjectLoad, Part, Priority, Progress, Read, Report, StreamError, Tally,
    Transport,
};
use units::{Duration, Time};
use wire::{Direction, Side, StreamId};

/// The most bytes that one write or one measurement has.
const MOST_BYTES: u64 = 1 << 60;
/// Bytes that are read at a time.
const PIECE: usize = 1 << 16;
/// The longest name of a measurement, in characters.
const LONGEST_NAME: usize = 100;
/// The largest code of an application (RFC 9000 section 16).
const MOST_CODE: u64 = (1 << 62) - 1;
/// The longest time in seconds that a priority has.
const LONGEST_S: f64 = 1e9;

scoped_tls_hkt::scoped_thread_local! {
    static mut TRANSPORT: for<'a> &'a mut (dyn Transport + 'a)
}

thread_local! {
    /// The time of the call of an end on this thread.
    static NOW: Cell<Option<Time>> = const { Cell::new(None) };
}

/// A part of what waits to be written.
enum Piece {
    Bytes(VecDeque<u8>),
    Virtual(u64),
}

/// What waits to be written on a stream, in order, and whether the stream ends behind it.
#[derive(Default)]
struct Waiting {
    pieces: VecDeque<Piece>,
    ends: bool,
}

impl Waiting {
    fn bytes(&self) -> u64 {
        let bytes = |piece: &Piece| match piece {
            Piece::Bytes(bytes) => bytes.len() as u64,
            Piece::Virtual(bytes) => *bytes,
        };
        self.pieces.iter().map(bytes).sum()
    }

    /// Writes what there is room for. Returns whether nothing waits any more.
    fn flush(&mut self, stream: StreamId, transport: &mut dyn Transport) -> Result<bool, StreamError> {
        while let Some(piece) = self.pieces.front_mut() {
            let (data, left) = match piece {
                Piece::Bytes(bytes) => {
                    let bytes = bytes.make_contiguous();
                    (Data::Bytes(bytes), bytes.len() as u64)
                }
                Piece::Virtual(bytes) => (Data::Virtual(*bytes), *bytes),
            };
            let taken = if left == 0 { 0 } else { transport.write(stream, data)? };
            assert!(taken <= left, "a stream takes no more than it is given");
            match piece {
                _ if taken == left => drop(self.pieces.pop_front()),
                // A stream of the maximum length takes no more.
                _ if taken == 0 => return Ok(false),
                Piece::Bytes(bytes) => drop(bytes.drain(..taken as usize)),
                Piece::Virtual(bytes) => *bytes -= taken,
            }
        }
        if self.ends {
            transport.finish(stream)?;
        }
        Ok(true)
    }
}

/// Something that took time.
struct Measured {
    name: Option<String>,
    stream: Option<StreamId>,
    bytes: u64,
    started_at: Time,
    finished_at: Option<Time>,
}

/// What is known of the connection beside its transport.
struct State {
    side: Side,
    /// Whether a method of the end is being called.
    is_called: bool,
    waiting: BTreeMap<StreamId, Waiting>,
    /// The streams that this end has finished or reset.
    over: BTreeSet<StreamId>,
    /// The streams whose end was read, and whose end was not told of it.
    ended: VecDeque<StreamId>,
    progress: Progress,
    measured: Vec<Measured>,
}

impl State {
    /// Writes on a stream, or lets it wait. An error is not one of the end: the peer does not want it, or is gone.
    fn write(
        &mut self,
        stream: StreamId,
        transport: &mut dyn Transport,
        add: impl FnOnce(&mut Waiting),
    ) -> u64 {
        let is_blocked = self.waiting.contains_key(&stream);
        let mut waiting = self.waiting.remove(&stream).unwrap_or_default();
        add(&mut waiting);
        let left = match if is_blocked { Ok(false) } else { waiting.flush(stream, transport) } {
            Ok(false) | Err(StreamError::Blocked) => waiting.bytes(),
            Ok(true) | Err(_) => return 0,
        };
        self.waiting.insert(stream, waiting);
        left
    }

    /// Counts what was read. After an error that is nothing: the end was read before, or the peer has reset the stream, of
    /// which the end is told.
    fn take(&mut self, stream: StreamId, now: Time, read: Result<Read, StreamError>) -> Read {
        let read = read.unwrap_or_default();
        self.progress.note(now, read.bytes);
        if read.finished {
            self.ended.push_back(stream);
        }
        read
    }

    /// This end can write on the stream, or reset it.
    fn expect_own(&self, stream: StreamId, wanted: &str) -> PyResult<()> {
        let is_own = stream.direction() == Direction::Bidirectional || stream.initiator() == self.side;
        if is_own { Ok(()) } else { Err(not_possible(stream, wanted, "it only comes from the peer")) }
    }

    /// The peer can write on the stream.
    fn expect_peers(&self, stream: StreamId, wanted: &str) -> PyResult<()> {
        let is_peers = stream.direction() == Direction::Bidirectional || stream.initiator() != self.side;
        if is_peers { Ok(()) } else { Err(not_possible(stream, wanted, "it only goes to the peer")) }
    }

    /// The half of this end is open. That the peer has ended it is no mistake: nobody reads what is written.
    fn expect_open(&self, stream: StreamId, wanted: &str) -> PyResult<()> {
        self.expect_own(stream, wanted)?;
        let is_open = !self.over.contains(&stream);
        if is_open { Ok(()) } else { Err(not_possible(stream, wanted, "it was finished or reset")) }
    }
}

/// The connection as its end knows it.
#[derive(Clone)]
pub(crate) struct Link(Arc<Mutex<State>>);

impl Link {
    pub(crate) fn new(side: Side) -> Link {
        Link(Arc::new(Mutex::new(State {
            side,
            is_called: false,
            waiting: BTreeMap::new(),
            over: BTreeSet::new(),
            ended: VecDeque::new(),
            progress: Progress::default(),
            measured: Vec::new(),
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic cannot leave it in an inconsistent state.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lends the transport to Python during a call of the end.
    pub(crate) fn lend<T>(&self, now: Time, transport: &mut dyn Transport, call: impl FnOnce() -> T) -> T {
        self.state().is_called = true;
        NOW.set(Some(now));
        let answer = TRANSPORT.set(transport, call);
        NOW.set(None);
        self.state().is_called = false;
        answer
    }

    fn with<T>(&self, act: impl FnOnce(&mut State, &mut dyn Transport, Time) -> PyResult<T>) -> PyResult<T> {
        let mut state = self.state();
        let now = NOW.get().filter(|_| state.is_called && TRANSPORT.is_set());
        let problem =
            "the connection cannot be used now; expected a use in a method of its own end, but start";
        let now = now.ok_or_else(|| PyValueError::new_err(problem))?;
        TRANSPORT.with(|transport| act(&mut state, transport, now))
    }

    /// Writes what has waited for room on a stream. Returns whether something has, and more can be written now.
    pub(crate) fn resume(&self, stream: StreamId, transport: &mut dyn Transport) -> bool {
        let state = &mut *self.state();
        let Some(waiting) = state.waiting.get_mut(&stream) else { return false };
        match waiting.flush(stream, transport) {
            Ok(false) | Err(StreamError::Blocked) => false,
            flushed => {
                let more = flushed.is_ok() && !waiting.ends;
                state.waiting.remove(&stream);
                more
            }
        }
    }

    /// Nothing is written on a stream any more.
    pub(crate) fn forget(&self, stream: StreamId) {
        self.state().waiting.remove(&stream);
    }

    /// Reads all of a stream.
    pub(crate) fn skip_all(&self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        let read = transport.skip(stream, u64::MAX);
        self.state().take(stream, now, read);
    }

    /// A stream whose end was read, once.
    pub(crate) fn take_ended(&self) -> Option<StreamId> {
        self.state().ended.pop_front()
    }

    /// Counts a datagram that has arrived.
    pub(crate) fn note(&self, now: Time, bytes: u64) {
        self.state().progress.note(now, bytes);
    }

    pub(crate) fn set_receives(&self, receives: bool) {
        self.state().progress.receives = receives;
    }

    pub(crate) fn progress(&self) -> Progress {
        self.state().progress
    }

    pub(crate) fn stream(&self, id: StreamId) -> Stream {
        Stream { id, link: self.clone() }
    }

    /// What the end has to say at the end of the run: all measurements together, and those with a name by their names.
    pub(crate) fn report(&self) -> Report {
        let State { progress, measured, .. } = &*self.state();
        let objects: Vec<ObjectLoad> =
            (0..).zip(measured.iter()).map(|(number, measured)| object(number, measured)).collect();
        let mut names: Vec<&str> = Vec::new();
        for name in measured.iter().filter_map(|one| one.name.as_deref()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let part = |name: &&str| {
            let of: Vec<&Measured> =
                measured.iter().filter(|one| one.name.as_deref() == Some(*name)).collect();
            let finished = || of.iter().map(|one| one.finished_at);
            Part {
                name: (*name).to_owned(),
                progress: Progress {
                    receives: true,
                    bytes: of.iter().map(|one| one.bytes).sum(),
                    finished_at: finished().collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max()),
                    ..Progress::default()
                },
                tally: Some(tally(of.iter().copied())),
            }
        };
        Report {
            progress: *progress,
            tally: (!measured.is_empty()).then(|| tally(measured.iter())),
            parts: names.iter().map(part).collect(),
            load: (!objects.is_empty()).then(|| Load { objects, pages: Vec::new() }),
            ..Report::default()
        }
    }
}

fn object(number: usize, measured: &Measured) -> ObjectLoad {
    ObjectLoad {
        page: 0,
        object: number,
        connection: 0,
        stream: measured.stream.map(StreamId::value),
        bytes: measured.bytes,
        urgency: Priority::default().urgency,
        requestable_at: Some(measured.started_at),
        requested_at: Some(measured.started_at),
        first_at: None,
        complete_at: measured.finished_at,
    }
}

fn tally<'m>(measured: impl Iterator<Item = &'m Measured>) -> Tally {
    let mut tally = Tally::of("requests", false);
    for one in measured {
        tally.started += 1;
        if let Some(at) = one.finished_at {
            tally.add(at.since(one.started_at), None);
        }
    }
    tally
}

/// What cannot be done with a stream.
fn not_possible(stream: StreamId, wanted: &str, why: &str) -> PyErr {
    let (id, expected) = (stream.value(), "expected a stream that is open in that direction");
    PyValueError::new_err(format!("stream {id} cannot be {wanted}: {why}; {expected}"))
}

/// A whole number from 0 to `most`; False and True are none.
fn whole(given: &Bound<'_, PyAny>, what: &str, most: u64) -> PyResult<u64> {
    let is_number = given.is_instance_of::<PyInt>() && !given.is_instance_of::<PyBool>();
    let number = is_number.then(|| given.extract::<u64>().ok()).flatten();
    number.filter(|number| *number <= most).ok_or_else(|| wrong(given, what, &format!("0 to {most}")))
}

/// A number from 0 to `most`.
fn within(given: i64, what: &str, most: u64) -> PyResult<u64> {
    let number = u64::try_from(given).ok().filter(|number| *number <= most);
    number.ok_or_else(|| PyValueError::new_err(format!("{what} is {given}; expected 0 to {most}")))
}

fn wrong(given: &Bound<'_, PyAny>, what: &str, expected: &str) -> PyErr {
    let found = given.repr().map_or_else(|_| "what has no text".to_owned(), |text| text.to_string());
    PyValueError::new_err(format!("{what} is {found}; expected {expected}"))
}

/// What is to be written: bytes, or a number of bytes whose contents do not matter.
fn piece(data: &Bound<'_, PyAny>) -> PyResult<Piece> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(Piece::Bytes(bytes.as_bytes().to_vec().into()));
    }
    if let Ok(bytes) = data.cast::<PyByteArray>() {
        return Ok(Piece::Bytes(bytes.to_vec().into()));
    }
    if data.is_instance_of::<PyInt>() {
        return whole(data, "a number of bytes", MOST_BYTES).map(Piece::Virtual);
    }
    Err(wrong(data, "what is written", "bytes, or a whole number of them"))
}

/// A time of a priority.
fn seconds(given: Option<f64>, what: &str) -> PyResult<Option<Duration>> {
    match given {
        None => Ok(None),
        Some(seconds) if (0.0..=LONGEST_S).contains(&seconds) => Ok(Some(Duration::from_secs_f64(seconds))),
        Some(seconds) => {
            Err(PyValueError::new_err(format!("{what} is {seconds}; expected 0.0 to {LONGEST_S} s")))
        }
    }
}

/// A stream of a connection: see quiclab.Stream.
#[pyclass(frozen, eq, hash, module = "quiclab._quiclab")]
#[derive(Clone)]
pub(crate) struct Stream {
    id: StreamId,
    link: Link,
}

impl PartialEq for Stream {
    fn eq(&self, other: &Stream) -> bool {
        self.id == other.id && Arc::ptr_eq(&self.link.0, &other.link.0)
    }
}

impl Hash for Stream {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.value().hash(state);
    }
}

#[pymethods]
impl Stream {
    /// Its id (RFC 9000 section 2.1).
    #[getter]
    fn id(&self) -> u64 {
        self.id.value()
    }

    /// Writes bytes, or a number of bytes whose contents do not matter. Returns how many wait for room.
    fn write(&self, data: &Bound<'_, PyAny>) -> PyResult<u64> {
        let piece = piece(data)?;
        self.link.with(|state, transport, _| {
            state.expect_open(self.id, "written to")?;
            Ok(state.write(self.id, transport, |waiting| waiting.pieces.push_back(piece)))
        })
    }

    /// Ends the stream behind what was written.
    fn finish(&self) -> PyResult<()> {
        self.link.with(|state, transport, _| {
            state.expect_open(self.id, "finished")?;
            state.over.insert(self.id);
            state.write(self.id, transport, |waiting| waiting.ends = true);
            Ok(())
        })
    }

    /// Gives up what was written and did not arrive.
    #[pyo3(signature = (code=0))]
    fn reset(&self, code: i64) -> PyResult<()> {
        let code = within(code, "the code", MOST_CODE)?;
        self.link.with(|state, transport, _| {
            state.expect_own(self.id, "reset")?;
            state.waiting.remove(&self.id);
            state.over.insert(self.id);
            // What has arrived already, or is not wanted, needs no reset.
            let _ = transport.reset(self.id, code);
            Ok(())
        })
    }

    /// Asks the peer to send no more.
    #[pyo3(signature = (code=0))]
    fn stop(&self, code: i64) -> PyResult<()> {
        let code = within(code, "the code", MOST_CODE)?;
        self.link.with(|state, transport, _| {
            state.expect_peers(self.id, "stopped")?;
            // The peer may have ended it.
            let _ = transport.stop(self.id, code);
            Ok(())
        })
    }

    /// Reads what has arrived, at most this many bytes.
    #[pyo3(signature = (most=None))]
    fn read<'py>(&self, py: Python<'py>, most: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyBytes>> {
        let most = most.map_or(Ok(MOST_BYTES), |most| whole(most, "the most to read", MOST_BYTES))?;
        let bytes = self.link.with(|state, transport, now| {
            state.expect_peers(self.id, "read")?;
            let mut bytes = Vec::new();
            while (bytes.len() as u64) < most {
                let begin = bytes.len();
                bytes.resize(begin + PIECE.min((most - begin as u64) as usize), 0);
                let read = transport.read(self.id, &mut bytes[begin..]);
                let read = state.take(self.id, now, read);
                bytes.truncate(begin + read.bytes as usize);
                if read.bytes == 0 || read.finished {
                    break;
                }
            }
            Ok(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads what has arrived, at most this many bytes, without a look at them. Returns their number.
    #[pyo3(signature = (most=None))]
    fn skip(&self, most: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let most = most.map_or(Ok(u64::MAX), |most| whole(most, "the most to read", MOST_BYTES))?;
        self.link.with(|state, transport, now| {
            state.expect_peers(self.id, "read")?;
            let read = transport.skip(self.id, most);
            Ok(state.take(self.id, now, read).bytes)
        })
    }

    /// Sets its priority for sending.
    #[pyo3(signature = (urgency=3, incremental=false, weight=1, deadline_s=None, latency_s=None))]
    fn prioritize(
        &self,
        urgency: i64,
        incremental: bool,
        weight: i64,
        deadline_s: Option<f64>,
        latency_s: Option<f64>,
    ) -> PyResult<()> {
        let urgency = within(urgency, "urgency", u8::MAX.into())?;
        let weight = within(weight, "weight", u16::MAX.into())?;
        let priority = Priority {
            urgency: urgency as u8,
            incremental,
            weight: weight as u16,
            deadline: seconds(deadline_s, "deadline_s")?.map(|after| Time::ZERO + after),
            latency: seconds(latency_s, "latency_s")?,
        };
        self.link.with(|_, transport, _| {
            // A stream that is over needs no priority.
            let _ = transport.set_priority(self.id, priority);
            Ok(())
        })
    }

    fn __repr__(&self) -> String {
        format!("<stream {}>", self.id.value())
    }
}

/// The connection of an end of an application: see quiclab.Connection.
#[pyclass(frozen, module = "quiclab._quiclab")]
pub(crate) struct Connection {
    link: Link,
}

impl Connection {
    pub(crate) fn new(link: Link) -> Connection {
        Connection { link }
    }
}

#[pymethods]
impl Connection {
    /// Opens a stream; None if the peer allows no more of them now.
    #[pyo3(signature = (*, one_way=false))]
    fn open(&self, one_way: bool) -> PyResult<Option<Stream>> {
        let direction = if one_way { Direction::Unidirectional } else { Direction::Bidirectional };
        self.link.with(|_, transport, _| {
            // Without a connection there are no streams.
            Ok(transport.open(direction).ok().map(|id| self.link.stream(id)))
        })
    }

    /// Sends a datagram. Returns False if too many wait to be sent, or the connection is closed.
    fn send_datagram(&self, data: &Bound<'_, PyAny>) -> PyResult<bool> {
        let mut piece = piece(data)?;
        self.link.with(|_, transport, _| {
            let data = match &mut piece {
                Piece::Bytes(bytes) => Data::Bytes(bytes.make_contiguous()),
                Piece::Virtual(bytes) => Data::Virtual(*bytes),
            };
            let expected = match transport.send_datagram(data) {
                Ok(_) => return Ok(true),
                Err(DatagramError::Blocked | DatagramError::Closed) => return Ok(false),
                Err(DatagramError::NotNegotiated) => {
                    "no datagrams; expected `datagrams = True` in the class of the application, after on_connected"
                        .to_owned()
                }
                Err(DatagramError::TooLarge { maximum }) => {
                    format!("no datagram of {} bytes; expected at most {maximum}", data.len())
                }
            };
            Err(PyValueError::new_err(format!("the connection carries {expected}")))
        })
    }

    /// The most bytes of a datagram now; None without datagrams.
    #[getter]
    fn max_datagram_bytes(&self) -> PyResult<Option<usize>> {
        self.link.with(|_, transport, _| Ok(transport.max_datagram_size()))
    }

    /// Says that this end has all that the application is for.
    fn complete(&self) -> PyResult<()> {
        self.link.with(|state, _, now| {
            state.progress.finished_at.get_or_insert(now);
            Ok(())
        })
    }

    /// Closes the connection, and completes the application unless the code is an error.
    #[pyo3(signature = (code=0, reason=""))]
    fn close(&self, code: i64, reason: &str) -> PyResult<()> {
        let code = within(code, "the code", MOST_CODE)?;
        self.link.with(|state, transport, now| {
            if code == 0 {
                state.progress.finished_at.get_or_insert(now);
            }
            transport.close(code, if reason.is_empty() { "done" } else { reason });
            Ok(())
        })
    }

    /// Begins to measure something that takes time.
    #[pyo3(signature = (name=None, *, stream=None))]
    fn measure(&self, name: Option<&Bound<'_, PyString>>, stream: Option<&Stream>) -> PyResult<Measurement> {
        let name = name.map(|name| {
            let text = name.extract::<String>()?;
            let is_name = !text.is_empty() && text.chars().count() <= LONGEST_NAME;
            let is_plain = !text.chars().any(char::is_control);
            let expected = format!("1 to {LONGEST_NAME} characters without line breaks");
            if is_name && is_plain { Ok(text) } else { Err(wrong(name, "the name", &expected)) }
        });
        let (name, stream) = (name.transpose()?, stream.map(|stream| stream.id));
        self.link.with(|state, _, now| {
            let number = state.measured.len();
            state.measured.push(Measured { name, stream, bytes: 0, started_at: now, finished_at: None });
            Ok(Measurement { number, link: self.link.clone() })
        })
    }
}

/// Something that is measured: see quiclab.Measurement.
#[pyclass(frozen, module = "quiclab._quiclab")]
pub(crate) struct Measurement {
    number: usize,
    link: Link,
}

#[pymethods]
impl Measurement {
    /// It is over now, and had this many bytes.
    #[pyo3(signature = (size_bytes=0))]
    fn finish(&self, size_bytes: i64) -> PyResult<()> {
        let bytes = within(size_bytes, "size_bytes", MOST_BYTES)?;
        let problem =
            "a measurement cannot be finished now; expected a call in a method of an end, but start";
        // The other end may finish it.
        let now = NOW.get().ok_or_else(|| PyValueError::new_err(problem))?;
        let measured = &mut self.link.state().measured[self.number];
        if measured.finished_at.is_some() {
            let problem = "the measurement is finished already; expected a new one from connection.measure";
            return Err(PyValueError::new_err(problem));
        }
        (measured.bytes, measured.finished_at) = (bytes, Some(now));
        Ok(())
    }
}
