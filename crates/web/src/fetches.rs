//! The requests of a web client and their results.

use super::order::Order;
use super::{Failure, Fetched, Head, Request, Sink, Take};
use transport::{Progress, Read, StreamError, Transport};
use units::Time;
use wire::StreamId;

/// The size of the buffer for bodies.
const BUFFER: usize = 65_536;
/// The maximum number of retries of a request, on the same connection, that the server did not process.
const MAX_RETRIES: u8 = 3;

/// The requests of a connection.
pub(crate) struct Fetches {
    requests: Vec<Request>,
    results: Vec<Fetched>,
    retries: Vec<u8>,
    /// The order of the requests.
    order: Order,
    in_flight: usize,
    /// The maximum number of concurrent requests.
    concurrency: usize,
    finished: usize,
    sink: Box<dyn Sink>,
    /// The buffer for bodies, allocated when the first byte is read.
    buffer: Vec<u8>,
    progress: Progress,
    /// Whether the handshake is not complete yet.
    early: bool,
    /// Whether more requests may follow.
    is_open: bool,
    /// Whether the start of a response has made requests ready since this was last asked.
    released: bool,
}

impl std::fmt::Debug for Fetches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetches")
            .field("finished", &self.finished)
            .field("in_flight", &self.in_flight)
            .finish()
    }
}

/// A body that arrives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenBody {
    /// The stream that carries it.
    pub stream: StreamId,
    /// The number of its request.
    pub index: usize,
    /// What is done with it.
    pub take: Take,
}

impl Fetches {
    /// Creates requests that may be sent at once, in the order of the list.
    pub(crate) fn new(requests: Vec<Request>, concurrency: usize, sink: Box<dyn Sink>) -> Fetches {
        let order = Order::of_list(requests.len());
        Fetches::ordered(requests, order, concurrency, sink)
    }

    /// Creates requests with an explicit order.
    pub(crate) fn ordered(
        requests: Vec<Request>,
        order: Order,
        concurrency: usize,
        sink: Box<dyn Sink>,
    ) -> Fetches {
        Fetches {
            results: vec![Fetched::default(); requests.len()],
            retries: vec![0; requests.len()],
            order,
            requests,
            in_flight: 0,
            concurrency: concurrency.max(1),
            finished: 0,
            sink,
            buffer: Vec::new(),
            progress: Progress { receives: true, ..Progress::default() },
            early: false,
            is_open: false,
            released: false,
        }
    }

    /// Creates a list without requests, to which requests are added.
    pub(crate) fn session(concurrency: usize, sink: Box<dyn Sink>) -> Fetches {
        Fetches { is_open: true, ..Fetches::ordered(Vec::new(), Order::of_session(), concurrency, sink) }
    }
    /// Adds a request to those of a session; returns its index.
    pub(crate) fn add(&mut self, now: Time, request: Request) -> usize {
        let index = self.order.append(now, request.priority.urgency);
        self.requests.push(request);
        self.results.push(Fetched::default());
        self.retries.push(0);
        index
    }
    /// No more requests are added.
    pub(crate) fn close(&mut self, now: Time) {
        self.is_open = false;
        self.note_end(now);
    }

    /// Sets the total size of all bodies.
    pub(crate) fn expect_total(&mut self, bytes: u64) {
        self.progress.total = Some(bytes);
    }
    /// Sets whether further requests are sent before the handshake is complete.
    pub(crate) fn set_early(&mut self, early: bool) {
        self.early = early;
    }

    /// The connection can be used.
    pub(crate) fn start(&mut self, now: Time) {
        self.order.start(now);
    }
    /// The next time at which a request becomes ready.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.order.wake_at()
    }
    /// Makes requests ready whose time has come.
    pub(crate) fn wake(&mut self, now: Time) {
        self.order.wake(now);
    }
    /// The order of the requests, with the times at which they became ready and their pages.
    pub(crate) fn order(&self) -> &Order {
        &self.order
    }
    /// The number of requests that are ready to be sent.
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
    /// Whether every request is over, and no more are added.
    pub(crate) fn are_over(&self) -> bool {
        !self.is_open && self.finished == self.requests.len()
    }

    /// Whether one more request could be sent at once, as far as the client limits them.
    pub(crate) fn has_room(&self) -> bool {
        self.in_flight + self.order.waiting() < self.concurrency
    }
    /// The request to send next, if one may be sent.
    pub(crate) fn next(&self) -> Option<usize> {
        self.order.next().filter(|_| self.in_flight < self.concurrency)
    }
    /// The request returned by [`Fetches::next`] was written to this stream of the protocol.
    pub(crate) fn note_sent(&mut self, now: Time, stream: Option<u64>) {
        if let Some(index) = self.order.next() {
            self.order.take(index);
            self.in_flight += 1;
            self.results[index] =
                Fetched { requested_at: Some(now), stream, early: self.early, ..Fetched::default() };
        }
    }
    /// Cancels a request that has not been sent. Returns `false` if it is not waiting.
    pub(crate) fn withdraw(&mut self, now: Time, index: usize) -> bool {
        let waits = self.order.take(index);
        if waits {
            self.conclude(now, index, Some(Failure::Cancelled));
        }
        waits
    }

    /// Requests in flight were lost with their streams and are sent again.
    pub(crate) fn restart(&mut self, indices: impl DoubleEndedIterator<Item = usize>) {
        for index in indices.rev() {
            self.in_flight -= 1;
            self.results[index] = Fetched::default();
            self.order.put_back(index, true);
        }
    }

    /// Whether the start of a response has made requests ready since this was last asked.
    pub(crate) fn take_released(&mut self) -> bool {
        std::mem::take(&mut self.released)
    }

    /// A response has started. Returns what the sink wants of the body; an error ends the request.
    pub(crate) fn begin(&mut self, now: Time, index: usize, head: &Head) -> Result<Take, Failure> {
        let result = &mut self.results[index];
        result.status = head.status;
        result.first_at = Some(now);
        let waiting = self.order.waiting();
        self.order.on_response_started(now, index);
        self.released |= self.order.waiting() > waiting;
        match self.sink.begin(index, head) {
            Ok(Take::Nothing) => Err(Failure::Cancelled),
            Ok(take) => Ok(take),
            Err(error) => Err(Failure::Sink(error.to_string())),
        }
    }

    /// Reads up to `limit` bytes of a body from its stream. If the sink refuses them, the error contains the reason and
    /// the number of bytes.
    pub(crate) fn read_body(
        &mut self,
        now: Time,
        OpenBody { stream, index, take }: OpenBody,
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

    /// Passes on bytes of a body that were read together with the data before it.
    pub(crate) fn take_body(
        &mut self,
        now: Time,
        index: usize,
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
        self.results[index].count(now, bytes);
        self.progress.note(now, bytes);
    }

    /// A request in flight is over.
    pub(crate) fn finish(&mut self, now: Time, index: usize, failure: Option<Failure>) {
        self.in_flight -= 1;
        self.conclude(now, index, failure);
    }
    /// The server did not process a request in flight. It is retried a few times.
    pub(crate) fn refuse(&mut self, now: Time, index: usize) {
        if self.retries[index] < MAX_RETRIES {
            self.retries[index] += 1;
            self.in_flight -= 1;
            self.order.put_back(index, false);
        } else {
            self.finish(now, index, Some(Failure::NotProcessed));
        }
    }
    /// No more requests can be sent: the waiting ones fail.
    pub(crate) fn fail_waiting(&mut self, now: Time) {
        // This includes requests of pages that were never started.
        self.order.start(now);
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
        self.note_end(now);
    }

    fn note_end(&mut self, now: Time) {
        if self.are_over() && self.results.iter().all(Fetched::is_complete) {
            self.progress.finished_at = Some(now);
        }
    }
}
