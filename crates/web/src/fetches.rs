//! The requests of a web client: which are to be sent, which are underway, what came back.

use super::order::Order;
use super::{Failure, Fetched, Head, Request, Sink, Take};
use transport::{Progress, Read, StreamError, Transport};
use units::Time;
use wire::StreamId;

/// The room into which bodies are read.
const BUFFER: usize = 65_536;
/// How often a request that the server did not process is sent again on the same connection.
const MAX_RETRIES: u8 = 3;

/// The requests of a connection.
pub(crate) struct Fetches {
    requests: Vec<Request>,
    results: Vec<Fetched>,
    retries: Vec<u8>,
    /// Which may be sent.
    order: Order,
    underway: usize,
    /// How many may be underway at a time.
    concurrency: usize,
    finished: usize,
    sink: Box<dyn Sink>,
    /// For bodies; made when the first byte is wanted.
    buffer: Vec<u8>,
    progress: Progress,
    /// For each page the sum over the bytes of its bodies of the times in nanoseconds at which they came.
    byte_times: Vec<u128>,
    /// Whether the handshake is not complete yet.
    early: bool,
}

impl std::fmt::Debug for Fetches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetches").field("finished", &self.finished).field("underway", &self.underway).finish()
    }
}

impl Fetches {
    /// Requests that may be sent at once, in the order of the list.
    pub(crate) fn new(requests: Vec<Request>, concurrency: usize, sink: Box<dyn Sink>) -> Fetches {
        let order = Order::of_list(requests.len());
        Fetches::ordered(requests, order, concurrency, sink)
    }

    /// Requests that may be sent in an order of their own.
    pub(crate) fn ordered(
        requests: Vec<Request>,
        order: Order,
        concurrency: usize,
        sink: Box<dyn Sink>,
    ) -> Fetches {
        Fetches {
            results: vec![Fetched::default(); requests.len()],
            retries: vec![0; requests.len()],
            byte_times: vec![0; order.parts().len()],
            order,
            requests,
            underway: 0,
            concurrency: concurrency.max(1),
            finished: 0,
            sink,
            buffer: Vec::new(),
            progress: Progress::default(),
            early: false,
        }
    }

    /// How many bytes all bodies together have.
    pub(crate) fn expect_total(&mut self, bytes: u64) {
        self.progress.total = Some(bytes);
    }
    /// Whether what is asked from now on is asked before the handshake is complete.
    pub(crate) fn set_early(&mut self, early: bool) {
        self.early = early;
    }

    /// The connection has begun to be of use.
    pub(crate) fn begin_order(&mut self, now: Time) {
        self.order.begin(now);
    }
    /// When a request becomes wanted by time alone.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.order.wake_at()
    }
    /// The time has come.
    pub(crate) fn wake(&mut self, now: Time) {
        self.order.wake(now);
    }
    /// Which requests are wanted when, and of which page they are.
    pub(crate) fn order(&self) -> &Order {
        &self.order
    }
    /// For each page the sum over the bytes of its bodies of the times in nanoseconds at which they came.
    pub(crate) fn byte_times(&self) -> &[u128] {
        &self.byte_times
    }
    /// How many requests wait to be sent.
    pub(crate) fn waiting(&self) -> usize {
        self.order.waiting()
    }

    pub(crate) fn request(&self, index: usize) -> &Request {
        &self.requests[index]
    }
    pub(crate) fn results(&self) -> &[Fetched] {
        &self.results
    }
    pub(crate) fn progress(&self) -> Progress {
        self.progress
    }
    /// Whether every request has come to its end.
    pub(crate) fn are_over(&self) -> bool {
        self.finished == self.requests.len()
    }

    /// The request to send next, if one may be sent.
    pub(crate) fn next(&self) -> Option<usize> {
        self.order.next().filter(|_| self.underway < self.concurrency)
    }
    /// The request that [`Fetches::next`] gave was written to this stream of the protocol.
    pub(crate) fn note_asked(&mut self, now: Time, stream: Option<u64>) {
        if let Some(index) = self.order.next() {
            self.order.take(index);
            self.underway += 1;
            self.results[index] =
                Fetched { asked_at: Some(now), stream, early: self.early, ..Fetched::default() };
        }
    }
    /// Takes a request that waits out of the row; `false` if it does not wait.
    pub(crate) fn withdraw(&mut self, now: Time, index: usize) -> bool {
        let waits = self.order.take(index);
        if waits {
            self.conclude(now, index, Some(Failure::Cancelled));
        }
        waits
    }

    /// The requests that are underway were lost with their streams: they go out again. `streams` are theirs.
    pub(crate) fn restart(&mut self, indices: impl DoubleEndedIterator<Item = usize>) {
        for index in indices.rev() {
            self.underway -= 1;
            self.results[index] = Fetched::default();
            self.order.put_back(index, true);
        }
    }

    /// A response has begun. What the sink wants of it; an error ends the request.
    pub(crate) fn begin(&mut self, now: Time, index: usize, head: &Head) -> Result<Take, Failure> {
        let result = &mut self.results[index];
        result.status = head.status;
        result.first_at = Some(now);
        self.order.on_begun(now, index);
        match self.sink.begin(index, head) {
            Ok(Take::Nothing) => Err(Failure::Cancelled),
            Ok(take) => Ok(take),
            Err(error) => Err(Failure::Sink(error.to_string())),
        }
    }

    /// Takes up to `limit` bytes of a body off its stream. If the sink refuses them, that tells why, and what was read.
    pub(crate) fn read_body(
        &mut self,
        (now, stream, index): (Time, StreamId, usize),
        take: Take,
        limit: u64,
        transport: &mut dyn Transport,
    ) -> Result<Result<Read, StreamError>, (Read, Failure)> {
        let read = if take == Take::Bytes {
            if self.buffer.is_empty() {
                self.buffer.resize(BUFFER, 0);
            }
            let room = self.buffer.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
            transport.read(stream, &mut self.buffer[..room])
        } else {
            transport.skip(stream, limit)
        };
        let Ok(taken @ Read { bytes: count, .. }) = read else { return Ok(read) };
        if count > 0 {
            if take == Take::Bytes {
                let bytes = &self.buffer[..count as usize];
                self.sink
                    .bytes(index, self.results[index].bytes, bytes)
                    .map_err(|error| (taken, Failure::Sink(error.to_string())))?;
            }
            self.count(now, index, count);
        }
        Ok(read)
    }

    /// Takes bytes of a body that were read together with what stood before it.
    pub(crate) fn take_body(
        &mut self,
        (now, index): (Time, usize),
        take: Take,
        bytes: &[u8],
    ) -> Result<(), Failure> {
        if bytes.is_empty() {
            return Ok(());
        }
        if take == Take::Bytes {
            let sunk = self.sink.bytes(index, self.results[index].bytes, bytes);
            sunk.map_err(|error| Failure::Sink(error.to_string()))?;
        }
        self.count(now, index, bytes.len() as u64);
        Ok(())
    }

    fn count(&mut self, now: Time, index: usize, bytes: u64) {
        self.results[index].bytes += bytes;
        self.progress.bytes += bytes;
        self.progress.first_at.get_or_insert(now);
        self.progress.last_at = Some(now);
        if let Some(sum) = self.byte_times.get_mut(self.order.part_of(index)) {
            *sum += u128::from(bytes) * u128::from(now.as_nanos());
        }
    }

    /// A request that was underway is over.
    pub(crate) fn finish(&mut self, now: Time, index: usize, failure: Option<Failure>) {
        self.underway -= 1;
        self.conclude(now, index, failure);
    }
    /// The server did not look at a request that was underway: it is sent again, a few times.
    pub(crate) fn refuse(&mut self, now: Time, index: usize) {
        if self.retries[index] < MAX_RETRIES {
            self.retries[index] += 1;
            self.underway -= 1;
            self.order.put_back(index, false);
        } else {
            self.finish(now, index, Some(Failure::NotProcessed));
        }
    }
    /// No request can be sent any more: those that wait are given up.
    pub(crate) fn give_up_waiting(&mut self, now: Time) {
        // What the connection never came to be used for is given up as well.
        self.order.begin(now);
        while let Some(index) = self.order.give_up(now) {
            self.conclude(now, index, Some(Failure::NotProcessed));
        }
    }

    fn conclude(&mut self, now: Time, index: usize, failure: Option<Failure>) {
        let result = &mut self.results[index];
        result.finished_at = Some(now);
        result.failure = failure;
        if let Err(error) = self.sink.end(index, result) {
            result.failure.get_or_insert_with(|| Failure::Sink(error.to_string()));
        }
        self.finished += 1;
        self.order.on_over(now, index);
        if self.are_over() && self.results.iter().all(Fetched::is_complete) {
            self.progress.finished_at = Some(now);
        }
    }
}
