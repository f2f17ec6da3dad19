//! The logs that `quiclab view` shows, and what was found out about them.

use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use view::{Ack, Credit, Direction, GAUGES, Log, Other, Packet, Reader, Spans, Splitter, Stop, StreamFrame};

/// A packet as Python has it: time, type, number, size, data, acknowledgements, resets, other frames, flow control.
type Plain = (
    i64,
    String,
    i64,
    i64,
    Vec<(i64, i64, i64, bool)>,
    Vec<(i64, Vec<(i64, i64)>)>,
    Vec<i64>,
    Vec<(String, Vec<i64>)>,
    Vec<(String, i64, i64)>,
);

/// Spans as Python has them: stream, start, end, missing, filled, offset, held.
type Columns = (Vec<i64>, Vec<i64>, Vec<i64>, Vec<i64>, Vec<i64>, Vec<i64>, Vec<i64>);

/// A direction in columns of bytes: name, number of values, bytes; then types, triggers and texts of frames.
type Packed<'py> = (Vec<(String, usize, Bound<'py, PyBytes>)>, Vec<String>, Vec<String>, Vec<String>);

/// What one end of a connection wrote down, in columns. Times are in nanoseconds.
#[pyclass(module = "quiclab._quiclab")]
#[derive(Default)]
pub(crate) struct ViewLog {
    log: Arc<Log>,
    reader: Reader,
}

#[pymethods]
impl ViewLog {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Says how the records of `feed` tell the time: since the event before, or from a reference on; and whether they are
    /// of the usual form: otherwise none is read.
    fn clock(&mut self, is_delta: bool, reference: i64, is_usual: bool) {
        self.reader = Reader::new(is_delta, reference).leaving(!is_usual);
    }

    /// Says which group, as JSON, records of `feed` may name.
    fn group(&mut self, group: &str) {
        self.reader.set_group(group);
    }

    /// Puts everything into the order of its times; returns how many events stood behind later ones of their kind.
    fn sort(&mut self, py: Python<'_>) -> usize {
        let log = Arc::make_mut(&mut self.log);
        py.detach(|| log.sort())
    }

    /// The time of the last event without the reference.
    #[getter]
    fn last(&self) -> i64 {
        self.reader.last()
    }

    #[setter]
    fn set_last(&mut self, last: i64) {
        self.reader.set_last(last);
    }

    /// Reads lines from a place of a text on, as far as they are records of the usual form; returns how many bytes and
    /// lines were read, and whether a line of another form stopped it.
    fn feed(&mut self, py: Python<'_>, text: &[u8], start: usize) -> (usize, usize, bool) {
        let Self { log, reader } = self;
        let fed = py.detach(|| reader.feed(Arc::make_mut(log), text.get(start..).unwrap_or_default()));
        (fed.bytes, fed.lines, fed.is_stuck)
    }

    /// Whether there are so many packets that no more should be added.
    #[getter]
    fn is_full(&self) -> bool {
        self.log.sent.is_full() || self.log.received.is_full()
    }

    /// Adds a packet that was sent, or received.
    fn add(&mut self, is_sent: bool, packet: Plain) {
        let log = Arc::make_mut(&mut self.log);
        if is_sent { &mut log.sent } else { &mut log.received }.push(&native(packet));
    }

    /// How many packets were sent, or received.
    fn count(&self, is_sent: bool) -> usize {
        self.packets(is_sent).len()
    }

    /// A packet that was sent, or received.
    fn packet(&self, is_sent: bool, at: usize) -> PyResult<Plain> {
        let packets = self.packets(is_sent);
        if at >= packets.len() {
            return Err(PyIndexError::new_err("no such packet"));
        }
        Ok(plain(packets.get(at)))
    }

    /// A packet was declared lost: when, its type, its number, and why.
    fn lose(&mut self, time: i64, kind: &str, number: i64, trigger: &str) {
        Arc::make_mut(&mut self.log).lose(time, kind, number, trigger);
    }

    /// The application wrote data of a stream up to an offset.
    fn write(&mut self, time: i64, stream: i64, end: i64) {
        Arc::make_mut(&mut self.log).write(time, stream, end);
    }

    /// A gauge has a value.
    fn gauge(&mut self, name: &str, time: i64, value: f64) -> PyResult<()> {
        Arc::make_mut(&mut self.log).gauge(place(name)?, time, value);
        Ok(())
    }

    /// The names of the gauges that have values, in the order in which they came.
    fn gauges(&self) -> Vec<&'static str> {
        self.log.gauges().iter().map(|&gauge| GAUGES[gauge]).collect()
    }

    /// Times and values of a gauge.
    fn series(&self, name: &str) -> PyResult<(Vec<i64>, Vec<f64>)> {
        let (times, values) = self.log.series(place(name)?);
        Ok((times.to_vec(), values.to_vec()))
    }

    /// How many values all gauges have together.
    #[getter]
    fn gauge_values(&self) -> usize {
        self.log.gauge_values()
    }

    /// The least and the greatest of the times at which packets and gauges begin and end; None without any.
    fn span(&self) -> Option<(i64, i64)> {
        self.log.span()
    }

    /// Sets the clock forward by nanoseconds.
    fn shift(&mut self, by: i64) {
        Arc::make_mut(&mut self.log).shift(by);
    }

    /// The shortest time from sending here to arrival there by both clocks; None if no packet was seen at both ends.
    fn shortest(&self, py: Python<'_>, receiver: &Self) -> Option<i64> {
        py.detach(|| view::shortest(&self.log, &receiver.log))
    }
}

impl ViewLog {
    fn packets(&self, is_sent: bool) -> &view::Packets {
        if is_sent { &self.log.sent } else { &self.log.received }
    }
}

/// Plain JSON of a qlog in two parts: the events one by one, and the document without them.
#[pyclass(module = "quiclab._quiclab")]
#[derive(Default)]
pub(crate) struct ViewSplitter {
    splitter: Splitter,
    /// How many events of the list are done.
    events: usize,
}

#[pymethods]
impl ViewSplitter {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Reads a text from a place on. Events go into the log as far as they are of the usual form; without a log they are
    /// passed over. Returns the place from which to go on, which is before the end where a list of events begins, and
    /// behind an event of another form; and that event.
    fn feed<'py>(
        &mut self,
        py: Python<'py>,
        text: &[u8],
        start: usize,
        log: Option<PyRefMut<'py, ViewLog>>,
    ) -> (usize, Option<Bound<'py, PyBytes>>) {
        let mut at = start.min(text.len());
        let mut log = log;
        while at < text.len() {
            let (read, stop) = self.splitter.feed(&text[at..]);
            at += read;
            match stop {
                Stop::End => {}
                Stop::List => {
                    self.events = 0;
                    break;
                }
                Stop::Event => {
                    self.events += 1;
                    let Some(ViewLog { log, reader }) = log.as_deref_mut() else { continue };
                    if reader.record(Arc::make_mut(log), self.splitter.event()).is_none() {
                        return (at, Some(PyBytes::new(py, self.splitter.event())));
                    }
                }
            }
        }
        (at, None)
    }

    /// The document without its events: in the place of those of a list stands the list's number, from 0 on.
    #[getter]
    fn skeleton<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.splitter.skeleton())
    }

    /// How many lists of events have begun.
    #[getter]
    fn lists(&self) -> usize {
        self.splitter.lists()
    }

    /// The line that the text is in, counted from 1.
    #[getter]
    fn line(&self) -> usize {
        self.splitter.line()
    }

    /// The line in which the last event begins, complete or not.
    #[getter]
    fn event_line(&self) -> usize {
        self.splitter.event_line()
    }

    /// What there is of an event that is not complete.
    #[getter]
    fn unfinished<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.splitter.unfinished())
    }

    /// How many bytes are held: of the document without its events, or of an event.
    #[getter]
    fn held(&self) -> usize {
        self.splitter.held()
    }

    /// How many events of the list were read.
    #[getter]
    fn events(&self) -> usize {
        self.events
    }
}

/// What one end sent, what became of it, and what waited for it. Times are in nanoseconds, -1 if they are not known.
#[pyclass(module = "quiclab._quiclab", frozen)]
pub(crate) struct ViewDirection(Direction);

#[pymethods]
impl ViewDirection {
    #[new]
    fn new(py: Python<'_>, sender: Option<&ViewLog>, receiver: Option<&ViewLog>, end: i64) -> Self {
        let [sender, receiver] = [sender, receiver].map(|log| log.map(|log| Arc::clone(&log.log)));
        Self(py.detach(|| Direction::new(sender, receiver, end)))
    }

    /// How many packets there are.
    #[getter]
    fn count(&self) -> usize {
        self.0.len()
    }

    /// How many of them were declared lost.
    #[getter]
    fn lost_count(&self) -> usize {
        self.0.lost.iter().filter(|&&time| time != view::UNKNOWN).count()
    }

    /// Packets that arrived though the sender's log, which is there, does not have them.
    #[getter]
    fn strangers(&self) -> usize {
        self.0.strangers
    }

    /// Packets that the sender's log has with the number of a later one.
    #[getter]
    fn repeated(&self) -> usize {
        self.0.repeated
    }

    /// A packet as the sender wrote it down.
    fn packet(&self, at: usize) -> PyResult<Plain> {
        if at >= self.0.len() {
            return Err(PyIndexError::new_err("no such packet"));
        }
        Ok(plain(self.0.packet(at)))
    }

    /// When each packet arrived, when the sender learned of it, and when it was declared lost.
    fn times(&self) -> (Vec<i64>, Vec<i64>, Vec<i64>) {
        (self.0.received.clone(), self.0.acknowledged.clone(), self.0.lost.clone())
    }

    /// Why each packet was declared lost; empty if it was not.
    fn triggers(&self) -> Vec<&str> {
        (0..self.0.len()).map(|row| self.0.trigger(row)).collect()
    }

    /// Streams in the order in which they begin: id, bytes sent first, bytes sent again.
    fn streams(&self) -> Vec<(i64, i64, i64)> {
        self.0.streams.iter().map(|stream| (stream.id, stream.bytes, stream.retransmitted)).collect()
    }

    /// Pairs of packets of which the second carries bytes of the first again.
    fn again(&self) -> Vec<(u32, u32)> {
        self.0.again.clone()
    }

    /// Head-of-line blocking as it was.
    fn waits(&self) -> Columns {
        columns(&self.0.waits)
    }

    /// Head-of-line blocking as it would have been with one byte stream.
    fn one_stream(&self) -> Columns {
        columns(&self.0.one_stream)
    }

    /// Streams with data that waits to be sent.
    fn queued(&self) -> Columns {
        columns(&self.0.queued)
    }

    /// Streams without credit.
    fn blocked(&self) -> Columns {
        columns(&self.0.blocked)
    }

    /// Whether the sender's log says what the application wrote.
    #[getter]
    fn has_written(&self) -> bool {
        self.0.has_written()
    }

    /// The columns of the page, with times from a start on: of each its name, number of values and bytes; then the
    /// words for types, triggers and frames.
    fn pack<'py>(&self, py: Python<'py>, start: i64) -> Packed<'py> {
        let packed = py.detach(|| view::pack::pack(&self.0, start));
        let columns = packed.columns.into_iter();
        let columns =
            columns.map(|column| (column.name, column.count, PyBytes::new(py, &column.bytes))).collect();
        (columns, packed.kinds, packed.triggers, packed.texts)
    }
}

fn place(name: &str) -> PyResult<usize> {
    GAUGES.iter().position(|gauge| *gauge == name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
}

fn columns(spans: &Spans) -> Columns {
    let Spans { stream, start, end, missing, filled, offset, held } = spans.clone();
    (stream, start, end, missing, filled, offset, held)
}

fn native((time, kind, number, size, streams, acks, resets, others, credit): Plain) -> Packet {
    let stream = |(stream, offset, length, fin)| StreamFrame { stream, offset, length, fin };
    let limit =
        |(what, stream, limit): (String, i64, i64)| Credit { is_blocked: what == "blocked", stream, limit };
    Packet {
        time,
        kind,
        number,
        size,
        streams: streams.into_iter().map(stream).collect(),
        acks: acks.into_iter().map(|(delay, ranges)| Ack { delay, ranges }).collect(),
        resets,
        others: others.into_iter().map(|(text, values)| Other { text, values }).collect(),
        credit: credit.into_iter().map(limit).collect(),
    }
}

fn plain(packet: Packet) -> Plain {
    let stream = |frame: StreamFrame| (frame.stream, frame.offset, frame.length, frame.fin);
    let limit = |credit: Credit| {
        let what = if credit.is_blocked { "blocked" } else { "max" };
        (what.to_owned(), credit.stream, credit.limit)
    };
    (
        packet.time,
        packet.kind,
        packet.number,
        packet.size,
        packet.streams.into_iter().map(stream).collect(),
        packet.acks.into_iter().map(|ack| (ack.delay, ack.ranges)).collect(),
        packet.resets,
        packet.others.into_iter().map(|other| (other.text, other.values)).collect(),
        packet.credit.into_iter().map(limit).collect(),
    )
}
