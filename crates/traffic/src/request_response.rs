//! Requests and responses: the client asks, the server answers after its service time, the client asks again.
//!
//! A request begins with its length and the length of the response that it wants, 32 bits each in network byte order; the
//! eight bytes count into its length. The rest means nothing.

use crate::changes::CHANGES;
use crate::priorities::{INCREMENTAL, Priorities, URGENCY, WEIGHT};
use crate::profile::one_stream;
use crate::{Ends, Profile};
use random::Stream;
use std::collections::{BTreeMap, VecDeque};
use transport::{Application, Data, Event, Progress, Report, StreamError, Tally, Transport};
use units::parameter::{Arguments, Default, Kind, Parameter, Row};
use units::{Duration, Time};
use wire::{Direction, StreamId};

pub(crate) const ROW: Row<Profile> = Row {
    name: "request-response",
    about: "requests, each answered by a response of a given size, one after the other or several at a time",
    parameters: &[
        Parameter {
            name: "request",
            kind: Kind::Integer(HEADER as u64, 1 << 30),
            default: Default::Is("100"),
            about: "bytes of a request, of which its header takes 8",
        },
        Parameter {
            name: "response",
            kind: Kind::Integer(1, 1 << 30),
            default: Default::Is("10000"),
            about: "bytes of a response",
        },
        Parameter {
            name: "count",
            kind: Kind::Integer(1, 1 << 32),
            default: Default::Absent,
            about: "requests in all; without it as many as the run has time for",
        },
        Parameter {
            name: "pipelining",
            kind: Kind::Integer(1, MOST_UNDERWAY),
            default: Default::Is("1"),
            about: "requests underway at a time; 1: none is sent before the response to the last one is there",
        },
        Parameter {
            name: "think",
            kind: Kind::Duration,
            default: Default::Is("\"0 s\""),
            about: "time from a response to the next request",
        },
        Parameter {
            name: "service",
            kind: Kind::Duration,
            default: Default::Is("\"0 s\""),
            about: "time that the server takes for each, from its last byte on; it does any number at once",
        },
        Parameter {
            name: "over",
            kind: Kind::Choice(&["streams", "stream"]),
            default: Default::Is("\"streams\""),
            about: "streams: each request on a stream of its own; stream: all on one, answered in order",
        },
        Parameter {
            name: "deadline",
            kind: Kind::Duration,
            default: Default::Absent,
            about: "from a request on, after so long its response is of no use; also the latency that the schedulers are told",
        },
        URGENCY,
        INCREMENTAL,
        WEIGHT,
        CHANGES,
    ],
    build: Profile { over_tcp: Some(one_stream), shares: true, ..Profile::of(build) },
};

/// The bytes that a request begins with.
const HEADER: usize = 8;
/// The most requests that a client has underway at a time, and that a server owes answers to.
const MOST_UNDERWAY: u64 = 1000;
/// The code with which a connection is closed whose requests are none.
const MALFORMED: u64 = 1;

fn build(arguments: &Arguments, _: Stream) -> Ends {
    let deadline = arguments.has("deadline").then(|| arguments.duration("deadline"));
    let priorities = Priorities::of_all(arguments, deadline);
    let client = Client {
        sizes: (arguments.integer("request") as u32, arguments.integer("response") as u32),
        think: arguments.duration("think"),
        one: arguments.text("over") == "stream",
        slots: arguments.integer("pipelining"),
        left: arguments.has("count").then(|| arguments.integer("count")),
        deadline,
        priorities: priorities.clone(),
        tally: Tally::of("requests", deadline.is_some()),
        ..Client::default()
    };
    let server = Server { service: arguments.duration("service"), priorities, ..Server::default() };
    Ends { client: Box::new(client), server: Box::new(server) }
}

/// What is written on a stream: some real bytes, then virtual ones, then perhaps the end.
#[derive(Debug)]
struct Out {
    stream: StreamId,
    real: Vec<u8>,
    length: u64,
    last: bool,
}

/// What the transport has not taken yet, in order.
#[derive(Debug, Default)]
struct Outgoing(VecDeque<Out>);

impl Outgoing {
    fn go_on(&mut self, transport: &mut dyn Transport) {
        while let Some(out) = self.0.front_mut() {
            let data = if out.real.is_empty() { Data::Virtual(out.length) } else { Data::Bytes(&out.real) };
            let written = if out.real.is_empty() && out.length == 0 {
                // What the peer has given up meanwhile needs no end.
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
struct Asked {
    at: Time,
    /// Bytes of the response still to come.
    rest: u64,
}

/// The end that asks.
#[derive(Debug, Default)]
struct Client {
    sizes: (u32, u32),
    think: Duration,
    /// Whether all go over one stream.
    one: bool,
    /// Requests that may be underway at a time.
    slots: u64,
    /// Requests still to be sent; `None`: without end.
    left: Option<u64>,
    deadline: Option<Duration>,
    priorities: Priorities,
    /// When each slot that is free may ask, rising.
    free: VecDeque<Time>,
    blocked: bool,
    stream: Option<StreamId>,
    asked: BTreeMap<StreamId, VecDeque<Asked>>,
    outgoing: Outgoing,
    tally: Tally,
    progress: Progress,
}

impl Client {
    fn go_on(&mut self, now: Time, transport: &mut dyn Transport) {
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
            self.outgoing.0.push_back(Out { stream, real, length, last });
            self.asked.entry(stream).or_default().push_back(Asked { at: now, rest: response.into() });
            self.tally.begun += 1;
        }
        self.outgoing.go_on(transport);
    }

    fn stream(&mut self, now: Time, transport: &mut dyn Transport) -> Option<StreamId> {
        if let Some(stream) = self.stream {
            return Some(stream);
        }
        let stream = transport.open(Direction::Bidirectional).ok()?;
        self.priorities.tell(now, stream, transport);
        self.stream = self.one.then_some(stream);
        Some(stream)
    }

    fn read(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        while let Some(queue) = self.asked.get_mut(&stream)
            && let Some(asked) = queue.front_mut()
        {
            let Ok(read) = transport.skip(stream, asked.rest) else { return };
            if read.bytes > 0 {
                self.progress.bytes += read.bytes;
                self.progress.first_at.get_or_insert(now);
                self.progress.last_at = Some(now);
            }
            asked.rest -= read.bytes;
            if asked.rest == 0 {
                self.tally.add(now.since(asked.at), self.deadline);
                self.free.push_back(now + self.think);
                queue.pop_front();
            } else if read.bytes == 0 {
                return;
            }
        }
        // The end of the stream comes with its last response, or behind it.
        let ended = transport.skip(stream, 1).is_ok_and(|read| read.finished);
        if ended || !self.one {
            self.asked.remove(&stream);
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
                self.progress.total = self.left.map(|left| left * u64::from(self.sizes.1));
                self.free = (0..self.slots).map(|_| now).collect();
            }
            Event::Readable(stream) => self.read(now, stream, transport),
            Event::Writable(_) | Event::StreamsAvailable(_) => {}
            Event::Delivered(stream) if !self.one => return self.priorities.forget(stream),
            // What waits for an answer that does not come would wait for ever.
            Event::Reset { code, .. } => return transport.close(code, "the server refused"),
            Event::Ended => {
                self.left = Some(0);
                self.priorities = Priorities::default();
                return;
            }
            _ => return,
        }
        self.go_on(now, transport);
        self.end(now, transport);
    }

    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        self.priorities.on_wake(now, transport);
        self.go_on(now, transport);
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
struct Lane {
    header: [u8; HEADER],
    have: usize,
    /// Bytes still to come behind the header, and the length of the response.
    wanted: Option<(u64, u32)>,
    /// Responses that are not on their way yet.
    owed: u64,
    /// Whether no more requests come.
    ended: bool,
}

/// The end that answers.
#[derive(Debug, Default)]
struct Server {
    service: Duration,
    priorities: Priorities,
    lanes: BTreeMap<StreamId, Lane>,
    /// Responses by when they are ready.
    due: VecDeque<(Time, StreamId, u32)>,
    outgoing: Outgoing,
}

impl Server {
    fn read(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        if !self.lanes.contains_key(&stream) {
            self.priorities.tell(now, stream, transport);
        }
        let lane = self.lanes.entry(stream).or_default();
        loop {
            let read = match lane.wanted {
                None => transport.read(stream, &mut lane.header[lane.have..]),
                Some((rest, _)) => transport.skip(stream, rest),
            };
            let Ok(read) = read else { return };
            match &mut lane.wanted {
                None => {
                    lane.have += read.bytes as usize;
                    if lane.have == HEADER {
                        let [a, b, c, d, response @ ..] = lane.header;
                        let Some(rest) = u32::from_be_bytes([a, b, c, d]).checked_sub(HEADER as u32) else {
                            return transport.close(MALFORMED, "not a request");
                        };
                        lane.wanted = Some((rest.into(), u32::from_be_bytes(response)));
                    }
                }
                Some((rest, _)) => *rest -= read.bytes,
            }
            if let Some((0, response)) = lane.wanted {
                if self.due.len() + self.outgoing.0.len() >= 2 * MOST_UNDERWAY as usize {
                    return transport.close(MALFORMED, "too many requests");
                }
                self.due.push_back((now + self.service, stream, response));
                *lane = Lane { owed: lane.owed + 1, ..Lane::default() };
            }
            if read.finished {
                lane.ended = true;
                if lane.owed == 0 {
                    self.answer(stream, 0);
                }
                return;
            }
            if read.bytes == 0 {
                return;
            }
        }
    }

    /// Sends so much on a stream, and its end if nothing follows.
    fn answer(&mut self, stream: StreamId, length: u64) {
        let Some(lane) = self.lanes.get_mut(&stream) else { return };
        lane.owed = lane.owed.saturating_sub(1);
        let last = lane.ended && lane.owed == 0;
        if last {
            self.lanes.remove(&stream);
        }
        self.outgoing.0.push_back(Out { stream, real: Vec::new(), length, last });
    }

    fn go_on(&mut self, now: Time, transport: &mut dyn Transport) {
        while let Some(&(at, stream, response)) = self.due.front()
            && at <= now
        {
            self.due.pop_front();
            self.answer(stream, response.into());
        }
        self.outgoing.go_on(transport);
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
                self.lanes.remove(&stream);
            }
            Event::Ended => {
                self.due.clear();
                self.priorities = Priorities::default();
                return;
            }
            _ => return,
        }
        self.go_on(now, transport);
    }

    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        self.priorities.on_wake(now, transport);
        self.go_on(now, transport);
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
        assert_eq!(fake.closed, Some((MALFORMED, "not a request".to_owned())));
        let (server, fake) = server(&[0, 0, 0, 8, 0, 0, 0, 1, 0, 0]);
        assert_eq!((server.due.len(), fake.closed), (1, None));
    }

    #[test]
    fn no_more_is_owed_than_a_client_may_ask_for() {
        let shortest = [0, 0, 0, 8, 0, 0, 0, 1];
        let (kept, fake) = server(&shortest.repeat(MOST_UNDERWAY as usize));
        assert_eq!((kept.due.len() as u64, fake.closed), (MOST_UNDERWAY, None));
        let (kept, fake) = server(&shortest.repeat(5 * MOST_UNDERWAY as usize));
        assert_eq!(fake.closed, Some((MALFORMED, "too many requests".to_owned())));
        assert_eq!(kept.due.len() as u64, 2 * MOST_UNDERWAY);
    }
}
