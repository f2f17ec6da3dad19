//! Bulk transfer: a number of bytes, or as many as the time allows, on one or several streams, in either direction.
//!
//! For a download, the client sends one line per stream, `GET /<bytes>` or `GET /*` for an endless stream, and the
//! server responds with virtual bytes. An upload is sent on unidirectional streams without a request.

use crate::priorities::{Priorities, PriorityLists};
use crate::{Ends, OptionError, Outline, Profile};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use transport::{Application, Data, Event, MAX_CONNECTIONS, Progress, Report, StreamError, Tally, Transport};
use units::parameter::{Arguments, Choice, Options, Row};
use units::{Duration, Size, Time};
use wire::{Direction, StreamId};

/// The options of bulk transfers.
#[derive(Debug, Clone, Options)]
struct BulkOptions {
    /// size of the transfer over all streams; without it the transfer lasts as long as the run
    size: Option<Size>,
    /// download: from server to client; upload: from client to server
    #[option(default = "download")]
    direction: Way,
    /// streams that share the bytes evenly; over TCP each is a connection
    #[option(default = 1, within = 1..=100_000)]
    streams: u64,
    #[options]
    priorities: PriorityLists,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
enum Way {
    Download,
    Upload,
}

pub(crate) const ROW: Row<Profile> = Row {
    name: "bulk",
    about: "a transfer of a given size, or without end, on one or several streams",
    parameters: BulkOptions::PARAMETERS,
    build: Profile {
        over_tcp: Some(&tcp_connections),
        shares: true,
        uploads_one_way: true,
        outline: |arguments| {
            let BulkOptions { size, direction, streams, .. } = BulkOptions::of(arguments);
            Outline { size, uploads: direction == Way::Upload, streams }
        },
        ..Profile::of(&build)
    },
};

/// The length of an endless stream: more than any run sends, and within QUIC's limit of 2^62 - 1.
const ENDLESS: u64 = 1 << 60;
/// The maximum length of a request.
const MAX_REQUEST: usize = 32;
/// The error code for malformed requests.
const BAD_REQUEST: u64 = 1;

/// Each stream is a connection.
fn tcp_connections(arguments: &Arguments) -> Result<usize, OptionError> {
    match BulkOptions::of(arguments).streams as usize {
        streams @ ..=MAX_CONNECTIONS => Ok(streams),
        streams => Err((
            "streams",
            format!(
                "found {streams}, each of them a TCP connection; expected at most {MAX_CONNECTIONS}, or \
                 protocol = \"quic\""
            ),
        )),
    }
}

fn build(arguments: &Arguments, _: random::Generator) -> Ends {
    let BulkOptions { size, direction, streams, priorities } = BulkOptions::of(arguments);
    let (size, upload) = (size.map(Size::as_bytes), direction == Way::Upload);
    // The sender sets the priorities of its streams.
    let priorities = Priorities::of(&priorities);
    let deadlines: Vec<_> = (0..streams).map(|number| priorities.deadline(number)).collect();
    let counted = streams > 1 || deadlines.iter().any(Option::is_some);
    let spans = counted.then(|| StreamSpans::new(deadlines));
    let none = Priorities::default();
    let (of_client, of_server) = if upload { (priorities, none) } else { (none, priorities) };
    let client =
        BulkClient { priorities: of_client, spans: spans.clone(), ..BulkClient::new(size, streams, upload) };
    let server = BulkServer {
        priorities: of_server,
        spans: spans.filter(|_| upload),
        ..BulkServer::new(upload.then_some((size, streams)))
    };
    Ends { client: Box::new(client), server: Box::new(server) }
}

/// The times from the opening of streams to their completion. In an upload the client opens them, and the server has the
/// last byte; so both ends write here.
#[derive(Debug, Clone)]
struct StreamSpans(Rc<RefCell<Opened>>);

#[derive(Debug)]
struct Opened {
    /// The deadline of each stream, relative to its opening.
    deadlines: Vec<Option<Duration>>,
    /// The opening time of each stream.
    at: Vec<Time>,
    tally: Tally,
}

impl StreamSpans {
    fn new(deadlines: Vec<Option<Duration>>) -> StreamSpans {
        let tally = Tally::of("streams", deadlines.iter().any(Option::is_some));
        StreamSpans(Rc::new(RefCell::new(Opened { deadlines, at: Vec::new(), tally })))
    }

    fn open(&self, now: Time) {
        let mut opened = self.0.borrow_mut();
        opened.at.push(now);
        opened.tally.started += 1;
    }

    fn complete(&self, now: Time, stream: StreamId) {
        let Opened { deadlines, at, tally } = &mut *self.0.borrow_mut();
        let number = stream.index() as usize;
        if let Some(opened) = at.get(number) {
            tally.add(now.since(*opened), deadlines.get(number).copied().flatten());
        }
    }

    fn tally(&self) -> Tally {
        self.0.borrow().tally.clone()
    }
}

/// The unwritten rest of streams whose transport is blocked. There may be many.
#[derive(Debug, Default)]
struct PendingWrites(BTreeMap<StreamId, u64>);

impl PendingWrites {
    /// Writes `length` bytes on a stream, and finishes it unless it is endless. If the transport is blocked, the rest
    /// is written when there is room.
    fn write_all(
        &mut self,
        stream: StreamId,
        length: u64,
        transport: &mut dyn Transport,
    ) -> Result<(), StreamError> {
        let mut left = length;
        while left > 0 {
            match transport.write(stream, Data::Virtual(left)) {
                // The maximum length of a stream was reached.
                Ok(0) => break,
                Ok(taken) => left -= taken,
                Err(StreamError::Blocked) => {
                    self.0.insert(stream, left);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        // An endless stream was written as more than any run sends.
        if length > ENDLESS / 2 { Ok(()) } else { transport.finish(stream) }
    }

    /// Continues when the transport has room on a stream.
    fn resume(&mut self, stream: StreamId, transport: &mut dyn Transport) {
        if let Some(left) = self.0.remove(&stream) {
            // An error means that the peer has cancelled the stream, which is fine.
            let _ = self.write_all(stream, left, transport);
        }
    }
}

/// The client.
#[derive(Debug)]
struct BulkClient {
    size: Option<u64>,
    streams: u64,
    upload: bool,
    opened: u64,
    /// The number of completed streams, of aborted streams, and the error code of the last one of these.
    finished: u64,
    aborted: u64,
    code: u64,
    /// The streams that are completed or aborted.
    over: Vec<bool>,
    /// The priorities of the streams on which it sends.
    priorities: Priorities,
    /// The times of the streams, if there are several or if they have deadlines.
    spans: Option<StreamSpans>,
    pending: PendingWrites,
    progress: Progress,
}

impl BulkClient {
    /// Creates the client of a transfer of `size` bytes over `streams` streams.
    fn new(size: Option<u64>, streams: u64, upload: bool) -> BulkClient {
        let progress = Progress { receives: !upload, total: size, ..Progress::default() };
        BulkClient {
            size,
            streams,
            upload,
            opened: 0,
            finished: 0,
            aborted: 0,
            code: 0,
            over: Vec::new(),
            priorities: Priorities::default(),
            spans: None,
            pending: PendingWrites::default(),
            progress,
        }
    }

    /// The share of a stream in bytes. The first streams take the remainder of the division.
    fn share(&self, index: u64) -> Option<u64> {
        self.size.map(|size| size / self.streams + u64::from(index < size % self.streams))
    }

    /// Opens as many of its streams as the peer permits.
    fn open(&mut self, now: Time, transport: &mut dyn Transport) {
        let direction = if self.upload { Direction::Unidirectional } else { Direction::Bidirectional };
        while self.opened < self.streams {
            let Ok(stream) = transport.open(direction) else { return };
            let share = self.share(self.opened);
            self.opened += 1;
            self.priorities.on_opened(now, stream, transport);
            if let Some(spans) = &self.spans {
                spans.open(now);
            }
            let result = if self.upload {
                self.pending.write_all(stream, share.unwrap_or(ENDLESS), transport)
            } else {
                let request = share.map_or("GET /*\r\n".to_owned(), |bytes| format!("GET /{bytes}\r\n"));
                transport
                    .write(stream, Data::Bytes(request.as_bytes()))
                    .and_then(|_| transport.finish(stream))
            };
            if result.is_err() {
                return;
            }
        }
    }

    /// Marks a stream as over. Returns whether it was not over before.
    fn ends(&mut self, stream: StreamId) -> bool {
        let number = stream.index() as usize;
        if self.over.len() <= number {
            self.over.resize(number + 1, false);
        }
        !std::mem::replace(&mut self.over[number], true)
    }

    fn finish_one(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        if !self.ends(stream) {
            return;
        }
        self.finished += 1;
        self.priorities.forget(stream);
        if let Some(spans) = self.spans.as_ref().filter(|_| !self.upload) {
            spans.complete(now, stream);
        }
        self.end_if_all_are_over(now, transport);
    }

    /// Handles an aborted stream; the others continue. A stream that was already complete is not affected.
    fn abort(&mut self, now: Time, stream: StreamId, code: u64, transport: &mut dyn Transport) {
        if self.ends(stream) {
            self.aborted += 1;
            self.code = code;
            self.priorities.forget(stream);
            self.end_if_all_are_over(now, transport);
        }
    }

    fn end_if_all_are_over(&mut self, now: Time, transport: &mut dyn Transport) {
        if self.finished == self.streams {
            self.progress.finished_at = self.progress.last_at.or(Some(now));
            transport.close(0, "done");
        } else if self.finished + self.aborted == self.streams {
            transport.close(self.code, "the server refused the request");
        }
    }
}

impl Application for BulkClient {
    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport) {
        match *event {
            Event::Readable(stream) if !self.upload => match transport.discard(stream) {
                Ok(read) => {
                    self.progress.note(now, read.bytes);
                    if read.finished {
                        self.finish_one(now, stream, transport);
                    }
                }
                Err(StreamError::Reset(code)) => self.abort(now, stream, code, transport),
                Err(_) => {}
            },
            Event::Connected => {
                self.priorities.begin(now);
                self.open(now, transport);
            }
            Event::StreamsAvailable(_) => self.open(now, transport),
            Event::Ended => self.priorities = Priorities::default(),
            Event::Reset { stream, code } => self.abort(now, stream, code, transport),
            Event::Writable(stream) if self.upload => self.pending.resume(stream, transport),
            Event::Delivered(stream) if self.upload => self.finish_one(now, stream, transport),
            _ => {}
        }
    }

    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        self.priorities.on_wake(now, transport);
    }

    fn wake_at(&self) -> Option<Time> {
        self.priorities.wake_at()
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn report(&mut self, _: Time) -> Report {
        let tally = self.spans.as_ref().map(StreamSpans::tally);
        Report { progress: self.progress, tally, ..Report::default() }
    }
}

/// The server: answers requests, or receives an upload.
#[derive(Debug, Default)]
struct BulkServer {
    /// The number of streams of an upload; `None` for a download.
    uploads: Option<u64>,
    /// The number of streams that have arrived completely.
    finished: u64,
    /// The times of the streams of an upload.
    spans: Option<StreamSpans>,
    requests: BTreeMap<StreamId, Vec<u8>>,
    /// Streams answered before their end arrived.
    early: BTreeSet<StreamId>,
    /// The priorities of the streams on which it answers.
    priorities: Priorities,
    pending: PendingWrites,
    progress: Progress,
}

impl BulkServer {
    /// Creates the server of a download, or of an upload of a size over a number of streams, which are bidirectional over
    /// transports without unidirectional ones.
    fn new(upload: Option<(Option<u64>, u64)>) -> BulkServer {
        let total = upload.and_then(|(size, _)| size);
        let progress = Progress { receives: upload.is_some(), total, ..Progress::default() };
        BulkServer { uploads: upload.map(|(_, streams)| streams), progress, ..BulkServer::default() }
    }

    /// Reads from a stream of an upload.
    fn receive(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        let Ok(read) = transport.discard(stream) else { return };
        self.progress.note(now, read.bytes);
        if !read.finished {
            return;
        }
        self.finished += 1;
        if let Some(spans) = &self.spans {
            spans.complete(now, stream);
        }
        if self.uploads == Some(self.finished) {
            self.progress.finished_at = self.progress.last_at.or(Some(now));
        }
        if stream.direction() == Direction::Bidirectional {
            // There is no response.
            let _ = transport.finish(stream);
        }
    }

    fn on_request(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        let mut bytes = [0; MAX_REQUEST + 1];
        let Ok(read) = transport.read(stream, &mut bytes) else { return };
        if self.early.contains(&stream) {
            // Only the end may follow a request.
            if read.bytes > 0 {
                let _ = transport.reset(stream, BAD_REQUEST);
            }
            if read.finished || read.bytes > 0 {
                self.early.remove(&stream);
            }
            return;
        }
        let mut line = self.requests.remove(&stream).unwrap_or_default();
        line.extend_from_slice(&bytes[..read.bytes as usize]);
        if line.len() > MAX_REQUEST {
            let _ = transport.reset(stream, BAD_REQUEST);
            return;
        }
        if !read.finished {
            // Over TCP the end of a request may arrive later than its line.
            if parse(&line).is_none() {
                self.requests.insert(stream, line);
                return;
            }
            self.early.insert(stream);
        }
        let answered = match parse(&line) {
            Some(length) => {
                self.priorities.on_opened(now, stream, transport);
                self.pending.write_all(stream, length, transport)
            }
            None => transport.reset(stream, BAD_REQUEST),
        };
        // An error means that the client has cancelled the stream, which needs no answer.
        let _ = answered;
    }
}

/// The requested length.
fn parse(line: &[u8]) -> Option<u64> {
    let path = std::str::from_utf8(line).ok()?.strip_prefix("GET /")?.strip_suffix("\r\n")?;
    match path {
        "*" => Some(ENDLESS),
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().ok().filter(|n| *n <= ENDLESS / 2)
        }
        _ => None,
    }
}

impl Application for BulkServer {
    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport) {
        let stream = match *event {
            Event::Readable(stream) => stream,
            Event::Connected => return self.priorities.begin(now),
            Event::Ended => {
                self.priorities = Priorities::default();
                return;
            }
            Event::Delivered(stream) => return self.priorities.forget(stream),
            Event::Writable(stream) => return self.pending.resume(stream, transport),
            _ => return,
        };
        if stream.direction() == Direction::Bidirectional && self.uploads.is_none() {
            self.on_request(now, stream, transport);
        } else {
            self.receive(now, stream, transport);
        }
    }

    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        self.priorities.on_wake(now, transport);
    }

    fn wake_at(&self) -> Option<Time> {
        self.priorities.wake_at()
    }

    fn progress(&self) -> Progress {
        self.progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Fake, stream};

    #[test]
    fn requests_are_read_strictly() {
        assert_eq!(parse(b"GET /1000\r\n"), Some(1000));
        assert_eq!(parse(b"GET /*\r\n"), Some(ENDLESS));
        for bad in [
            &b"GET 1000\r\n"[..],
            b"GET /-1\r\n",
            b"GET /+1\r\n",
            b"GET /1",
            b"",
            b"\xff",
            b"GET /99999999999999999999\r\n",
        ] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }

    /// Over TCP a stream is a connection: the end of one does not affect the others, and a reset after its own end is
    /// ignored.
    #[test]
    fn an_aborted_stream_does_not_affect_the_others() {
        let stream = |index| stream(index, Direction::Bidirectional);
        let now = Time::from_nanos(1);
        for last_is_broken in [false, true] {
            let (mut client, mut fake) = (BulkClient::new(Some(30), 3, false), Fake::default());
            let send = |client: &mut BulkClient, event, fake: &mut Fake| client.on_event(now, &event, fake);
            fake.put(stream(0), b"0123456789", true);
            send(&mut client, Event::Readable(stream(0)), &mut fake);
            send(&mut client, Event::Reset { stream: stream(0), code: 0 }, &mut fake);
            assert_eq!((client.finished, client.aborted, &fake.closed), (1, 0, &None));
            if last_is_broken {
                send(&mut client, Event::Reset { stream: stream(1), code: 7 }, &mut fake);
                send(&mut client, Event::Reset { stream: stream(1), code: 7 }, &mut fake);
            } else {
                fake.put(stream(1), b"0123456789", true);
                send(&mut client, Event::Readable(stream(1)), &mut fake);
            }
            assert_eq!(fake.closed, None, "the third goes on");
            fake.put(stream(2), b"0123456789", true);
            send(&mut client, Event::Readable(stream(2)), &mut fake);
            let expected = if last_is_broken { (7, "the server refused the request") } else { (0, "done") };
            assert_eq!(fake.closed.as_ref().map(|(code, reason)| (*code, reason.as_str())), Some(expected));
            assert_eq!(client.progress().finished_at.is_some(), !last_is_broken);
        }
    }

    #[test]
    fn shares_add_up() {
        let client = BulkClient::new(Some(1003), 10, false);
        assert_eq!((0..10).map(|i| client.share(i).unwrap()).sum::<u64>(), 1003);
    }
}
