//! Requests and responses: the client sends a request, the server responds after its service time, and the client sends
//! the next request.
//!
//! A request begins with its length and the length of the requested response, in 32 bits each in network byte order;
//! these eight bytes count towards its length. The rest is arbitrary.

use crate::priorities::{Priorities, PriorityOptions};
use crate::profile::one_stream;
use crate::{Ends, Profile};
use random::Generator;
use std::collections::{BTreeMap, VecDeque};
use transport::{Application, Data, Event, Progress, Report, StreamError, Tally, Transport};
use units::parameter::{Arguments, Choice, Options, Row};
use units::{Duration, Time};
use wire::{Direction, StreamId};

/// The options of requests and responses.
#[derive(Debug, Clone, Options)]
struct RequestResponseOptions {
    /// bytes of a request, of which its header takes 8
    #[option(default = 100, within = HEADER as u64..=1 << 30)]
    request: u32,
    /// bytes of a response
    #[option(default = 10000, within = 1..=1 << 30)]
    response: u32,
    /// number of requests; without it as many as the run has time for
    #[option(within = 1..=1 << 32)]
    count: Option<u64>,
    /// maximum number of concurrent requests; 1: each waits for the response to the one before
    #[option(default = 1, within = 1..=MAX_OUTSTANDING)]
    pipelining: u64,
    /// time from a response to the next request
    #[option(default = "0 s")]
    think: Duration,
    /// time that the server takes for each request, from its last byte; it handles any number at once
    #[option(default = "0 s")]
    service: Duration,
    /// streams: each request on its own stream; stream: all on one, answered in order
    #[option(default = "streams")]
    over: Over,
    /// deadline of a response, counted from its request; also the latency budget for the schedulers
    deadline: Option<Duration>,
    #[options]
    priority: PriorityOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
enum Over {
    Streams,
    Stream,
}

pub(crate) const ROW: Row<Profile> = Row {
    name: "request-response",
    about: "requests, each answered by a response of a given size, one after the other or several at a time",
    parameters: RequestResponseOptions::PARAMETERS,
    build: Profile {
        over_tcp: Some(&|arguments| one_stream(&RequestResponseOptions::of(arguments).over, &Over::Stream)),
        shares: true,
        ..Profile::of(&build)
    },
};

/// The size of the request header.
const HEADER: usize = 8;
/// The maximum number of outstanding requests of a client, which limits the pending responses of a server.
const MAX_OUTSTANDING: u64 = 1000;
/// The error code for malformed requests.
const MALFORMED: u64 = 1;

fn build(arguments: &Arguments, _: Generator) -> Ends {
    let options = RequestResponseOptions::of(arguments);
    let priorities = Priorities::of_all(&options.priority, options.deadline);
    let client = Client {
        sizes: (options.request, options.response),
        think: options.think,
        one: options.over == Over::Stream,
        slots: options.pipelining,
        left: options.count,
        deadline: options.deadline,
        priorities: priorities.clone(),
        tally: Tally::of("requests", options.deadline.is_some()),
        progress: Progress { receives: true, ..Progress::default() },
        ..Client::default()
    };
    let server = Server { service: options.service, priorities, ..Server::default() };
    Ends { client: Box::new(client), server: Box::new(server) }
}

/// Data to be written on a stream: real bytes, then virtual ones, then optionally the end.
#[derive(Debug)]
struct PendingWrite {
    stream: StreamId,
    real: Vec<u8>,
    length: u64,
    last: bool,
}

/// The data that the transport has not accepted yet, in order.
#[derive(Debug, Default)]
struct Outgoing(VecDeque<PendingWrite>);

impl Outgoing {
    fn resume(&mut self, transport: &mut dyn Transport) {
        while let Some(out) = self.0.front_mut() {
            let data = if out.real.is_empty() { Data::Virtual(out.length) } else { Data::Bytes(&out.real) };
            let written = if out.real.is_empty() && out.length == 0 {
                // An error means that the peer has cancelled the stream, which is fine.
                let _ = if out.last { transport.finish(out.stream) } else { Ok(()) };
                self.0.pop_front();
                continue;
            } else {
                transport.write(out.stream, data)
            };
            match written {
                Ok(taken) if taken > 0 && !out.real.is_empty() => {
                    out.real.drain(..(taken as usize).min(out.real.len()));
                }
                Ok(taken) if taken > 0 => out.length -= taken.min(out.length),
                Ok(_) | Err(StreamError::Blocked) => return,
                Err(_) => {
                    self.0.pop_front();
                }
            }
        }
    }
}

/// A request that waits for its response.
#[derive(Debug, Clone, Copy)]
struct Outstanding {
    at: Time,
    /// The missing bytes of the response.
    rest: u64,
}

/// The client.
#[derive(Debug, Default)]
struct Client {
    sizes: (u32, u32),
    think: Duration,
    /// Whether all requests use one stream.
    one: bool,
    /// The maximum number of outstanding requests.
    slots: u64,
    /// The number of requests left; `None` if unlimited.
    left: Option<u64>,
    deadline: Option<Duration>,
    priorities: Priorities,
    /// The times at which the free slots may send the next request, ascending.
    free: VecDeque<Time>,
    blocked: bool,
    stream: Option<StreamId>,
    outstanding: BTreeMap<StreamId, VecDeque<Outstanding>>,
    outgoing: Outgoing,
    tally: Tally,
    progress: Progress,
}

impl Client {
    fn resume(&mut self, now: Time, transport: &mut dyn Transport) {
        self.blocked = false;
        while self.left != Some(0) && self.free.front().is_some_and(|at| *at <= now) {
            let Some(stream) = self.stream(now, transport) else {
                self.blocked = true;
                break;
            };
            self.free.pop_front();
            self.left = self.left.map(|left| left - 1);
            let (request, response) = self.sizes;
            let mut real = request.to_be_bytes().to_vec();
            real.extend_from_slice(&response.to_be_bytes());
            let last = !self.one || self.left == Some(0);
            let length = u64::from(request) - HEADER as u64;
            self.outgoing.0.push_back(PendingWrite { stream, real, length, last });
            self.outstanding
                .entry(stream)
                .or_default()
                .push_back(Outstanding { at: now, rest: response.into() });
            self.tally.started += 1;
        }
        self.outgoing.resume(transport);
    }

    fn stream(&mut self, now: Time, transport: &mut dyn Transport) -> Option<StreamId> {
        if let Some(stream) = self.stream {
            return Some(stream);
        }
        let stream = transport.open(Direction::Bidirectional).ok()?;
        self.priorities.on_opened(now, stream, transport);
        self.stream = self.one.then_some(stream);
        Some(stream)
    }

    fn read(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        while let Some(queue) = self.outstanding.get_mut(&stream)
            && let Some(outstanding) = queue.front_mut()
        {
            let Ok(read) = transport.skip(stream, outstanding.rest) else { return };
            self.progress.note(now, read.bytes);
            outstanding.rest -= read.bytes;
            if outstanding.rest == 0 {
                self.tally.add(now.since(outstanding.at), self.deadline);
                self.free.push_back(now + self.think);
                queue.pop_front();
            } else if read.bytes == 0 {
                return;
            }
        }
        // The end of the stream arrives with its last response, or after it.
        let ended = transport.skip(stream, 1).is_ok_and(|read| read.finished);
        if ended || !self.one {
            self.outstanding.remove(&stream);
        }
    }

    fn end(&mut self, now: Time, transport: &mut dyn Transport) {
        let over = self.left == Some(0) && self.tally.missing() == 0;
        if over && self.progress.finished_at.is_none() {
            self.progress.finished_at = Some(now);
            transport.close(0, "done");
        }
    }
}

impl Application for Client {
    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport) {
        match *event {
            Event::Connected => {
                self.priorities.begin(now);
                self.progress.total = self.left.map(|left| left.saturating_mul(self.sizes.1.into()));
                self.free = (0..self.slots).map(|_| now).collect();
            }
            Event::Readable(stream) => self.read(now, stream, transport),
            Event::Writable(_) | Event::StreamsAvailable(_) => {}
            Event::Delivered(stream) if !self.one => return self.priorities.forget(stream),
            // An outstanding request would otherwise wait forever.
            Event::Reset { code, .. } => return transport.close(code, "the server refused the request"),
            Event::Ended => {
                self.left = Some(0);
                self.priorities = Priorities::default();
                return;
            }
            _ => return,
        }
        self.resume(now, transport);
        self.end(now, transport);
    }

    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        self.priorities.on_wake(now, transport);
        self.resume(now, transport);
    }

    fn wake_at(&self) -> Option<Time> {
        let free = self.free.front().copied().filter(|_| !self.blocked && self.left != Some(0));
        free.into_iter().chain(self.priorities.wake_at()).min()
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn report(&mut self, _: Time) -> Report {
        Report { progress: self.progress, tally: Some(self.tally.clone()), ..Report::default() }
    }
}

/// A stream of requests at the server.
#[derive(Debug, Clone, Copy, Default)]
struct RequestStream {
    header: [u8; HEADER],
    have: usize,
    /// The missing bytes of the request, and the length of the response.
    wanted: Option<(u64, u32)>,
    /// The number of responses that are not sent yet.
    owed: u64,
    /// Whether the client has finished the stream.
    ended: bool,
}

/// The server.
#[derive(Debug, Default)]
struct Server {
    service: Duration,
    priorities: Priorities,
    streams: BTreeMap<StreamId, RequestStream>,
    /// Responses by the time at which they are ready.
    due: VecDeque<(Time, StreamId, u32)>,
    outgoing: Outgoing,
}

impl Server {
    fn read(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        if !self.streams.contains_key(&stream) {
            self.priorities.on_opened(now, stream, transport);
        }
        let requests = self.streams.entry(stream).or_default();
        loop {
            let read = match requests.wanted {
                None => transport.read(stream, &mut requests.header[requests.have..]),
                Some((rest, _)) => transport.skip(stream, rest),
            };
            let Ok(read) = read else { return };
            match &mut requests.wanted {
                None => {
                    requests.have += read.bytes as usize;
                    if requests.have == HEADER {
                        let [a, b, c, d, response @ ..] = requests.header;
                        let Some(rest) = u32::from_be_bytes([a, b, c, d]).checked_sub(HEADER as u32) else {
                            return transport.close(MALFORMED, "a malformed request");
                        };
                        requests.wanted = Some((rest.into(), u32::from_be_bytes(response)));
                    }
                }
                Some((rest, _)) => *rest -= read.bytes,
            }
            if let Some((0, response)) = requests.wanted {
                if self.due.len() + self.outgoing.0.len() >= 2 * MAX_OUTSTANDING as usize {
                    return transport.close(MALFORMED, "too many requests");
                }
                self.due.push_back((now + self.service, stream, response));
                *requests = RequestStream { owed: requests.owed + 1, ..RequestStream::default() };
            }
            if read.finished {
                requests.ended = true;
                if requests.owed == 0 {
                    self.answer(stream, 0);
                }
                return;
            }
            if read.bytes == 0 {
                return;
            }
        }
    }

    /// Sends `length` bytes on a stream, and its end if nothing follows.
    fn answer(&mut self, stream: StreamId, length: u64) {
        let Some(requests) = self.streams.get_mut(&stream) else { return };
        requests.owed = requests.owed.saturating_sub(1);
        let last = requests.ended && requests.owed == 0;
        if last {
            self.streams.remove(&stream);
        }
        self.outgoing.0.push_back(PendingWrite { stream, real: Vec::new(), length, last });
    }

    fn resume(&mut self, now: Time, transport: &mut dyn Transport) {
        while let Some(&(at, stream, response)) = self.due.front()
            && at <= now
        {
            self.due.pop_front();
            self.answer(stream, response.into());
        }
        self.outgoing.resume(transport);
    }
}

impl Application for Server {
    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport) {
        match *event {
            Event::Connected => return self.priorities.begin(now),
            Event::Readable(stream) => self.read(now, stream, transport),
            Event::Writable(_) => {}
            Event::Delivered(stream) => return self.priorities.forget(stream),
            Event::Reset { stream, .. } => {
                let _ = transport.stop(stream, 0);
                self.streams.remove(&stream);
            }
            Event::Ended => {
                self.due.clear();
                self.priorities = Priorities::default();
                return;
            }
            _ => return,
        }
        self.resume(now, transport);
    }

    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        self.priorities.on_wake(now, transport);
        self.resume(now, transport);
    }

    fn wake_at(&self) -> Option<Time> {
        let due = self.due.front().map(|(at, _, _)| *at);
        due.into_iter().chain(self.priorities.wake_at()).min()
    }

    fn progress(&self) -> Progress {
        Progress::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Fake, stream};

    fn server(bytes: &[u8]) -> (Server, Fake) {
        let id = stream(0, Direction::Bidirectional);
        let mut server = Server { service: Duration::from_secs(1), ..Server::default() };
        let mut fake = Fake::default();
        fake.put(id, bytes, false);
        server.on_event(Time::ZERO, &Event::Readable(id), &mut fake);
        (server, fake)
    }

    #[test]
    fn what_is_no_request_ends_the_connection() {
        let (_, fake) = server(&[0, 0, 0, 7, 0, 0, 0, 1]);
        assert_eq!(fake.closed, Some((MALFORMED, "a malformed request".to_owned())));
        let (server, fake) = server(&[0, 0, 0, 8, 0, 0, 0, 1, 0, 0]);
        assert_eq!((server.due.len(), fake.closed), (1, None));
    }

    #[test]
    fn pending_responses_have_a_limit() {
        let shortest = [0, 0, 0, 8, 0, 0, 0, 1];
        let (kept, fake) = server(&shortest.repeat(MAX_OUTSTANDING as usize));
        assert_eq!((kept.due.len() as u64, fake.closed), (MAX_OUTSTANDING, None));
        let (kept, fake) = server(&shortest.repeat(5 * MAX_OUTSTANDING as usize));
        assert_eq!(fake.closed, Some((MALFORMED, "too many requests".to_owned())));
        assert_eq!(kept.due.len() as u64, 2 * MAX_OUTSTANDING);
    }
}
