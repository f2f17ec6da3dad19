//! The server of hq-interop.

use super::{ABORTED, NO_ERROR, REFUSED};
use crate::{Delayed, Method, Query, Reply, Site, Written};
use http::{MAX_TARGET, Target};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use transport::{Event, StreamError, Transport};
use units::{Duration, Time};
use wire::{Direction, Side, StreamId};

/// The maximum length of a request in bytes.
const MAX_LINE: usize = MAX_TARGET + 6;

/// A request in progress.
#[derive(Debug)]
enum Exchange {
    /// The received part of its line.
    Receiving(Vec<u8>),
    /// The response is known but delayed.
    Delayed(Box<Reply>),
    Responding(Box<Reply>),
}

/// The server end of a connection.
#[derive(Debug)]
pub(crate) struct HqServer {
    exchanges: BTreeMap<StreamId, Exchange>,
    /// Streams with a complete line and without their end, which is often sent in a packet of its own. Nothing that
    /// still arrives on them is a request. At most as many as the peer may have open.
    unended: BTreeSet<StreamId>,
    /// Readable streams that wait because the maximum number of requests is in progress. At most as many as the peer
    /// may open.
    waiting: VecDeque<StreamId>,
    max_requests: usize,
    delayed: Delayed,
    /// Whether new requests are refused.
    closing: bool,
}

impl HqServer {
    /// Creates a server that processes up to `max_requests` requests at a time; others are left unread.
    pub(crate) fn new(max_requests: usize) -> HqServer {
        HqServer {
            exchanges: BTreeMap::new(),
            unended: BTreeSet::new(),
            waiting: VecDeque::new(),
            max_requests: max_requests.max(1),
            delayed: Delayed::default(),
            closing: false,
        }
    }

    pub(crate) fn on_event(
        &mut self,
        now: Time,
        event: &Event,
        site: &mut dyn Site,
        transport: &mut dyn Transport,
    ) {
        match *event {
            Event::Readable(stream)
                if stream.initiator() == Side::Client && stream.direction() == Direction::Bidirectional =>
            {
                self.read(now, stream, site, transport);
            }
            Event::Readable(stream) => drop(transport.discard(stream)),
            Event::Writable(stream) => self.pump(now, stream, transport),
            Event::Reset { stream, .. } => {
                let _ = transport.stop(stream, NO_ERROR);
                // Only its end is missing from a complete request: the response goes on.
                if !self.unended.remove(&stream) {
                    self.forget(stream);
                    let _ = transport.reset(stream, REFUSED);
                }
            }
            Event::Stopped { stream, .. } => self.forget(stream),
            Event::Closed { stream, .. } => drop(self.unended.remove(&stream)),
            _ => {}
        }
        while self.exchanges.len() < self.max_requests
            && let Some(stream) = self.waiting.pop_front()
        {
            self.read(now, stream, site, transport);
        }
    }

    /// The time at which the next delayed response continues.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.delayed.wake_at()
    }
    /// Continues the delayed responses whose time has come.
    pub(crate) fn wake(&mut self, now: Time, site: &mut dyn Site, transport: &mut dyn Transport) {
        while let Some(stream) = self.delayed.next(now) {
            if let Some(exchange) = self.exchanges.remove(&stream) {
                let exchange = match exchange {
                    Exchange::Delayed(reply) => Exchange::Responding(reply),
                    other => other,
                };
                self.exchanges.insert(stream, exchange);
                // A completed response makes room for a waiting request.
                self.on_event(now, &Event::Writable(stream), site, transport);
            }
        }
    }

    /// Refuses all further requests.
    pub(crate) fn shut_down(&mut self) {
        self.closing = true;
    }
    /// Whether no request is in progress.
    pub(crate) fn is_idle(&self) -> bool {
        self.exchanges.is_empty() && self.waiting.is_empty()
    }

    fn forget(&mut self, stream: StreamId) {
        self.exchanges.remove(&stream);
        self.waiting.retain(|waiting| *waiting != stream);
    }

    fn read(&mut self, now: Time, stream: StreamId, site: &mut dyn Site, transport: &mut dyn Transport) {
        if self.unended.contains(&stream) {
            if transport.discard(stream).is_ok_and(|read| read.finished) {
                self.unended.remove(&stream);
            }
            return;
        }
        let known = self.exchanges.contains_key(&stream);
        if !known && self.exchanges.len() >= self.max_requests {
            if !self.waiting.contains(&stream) {
                self.waiting.push_back(stream);
            }
            return;
        }
        if !known && self.closing {
            let _ = transport.discard(stream);
            let _ = transport.reset(stream, REFUSED);
            return;
        }
        let exchange = self.exchanges.entry(stream).or_insert_with(|| Exchange::Receiving(Vec::new()));
        let Exchange::Receiving(line) = exchange else {
            let _ = transport.discard(stream);
            return;
        };
        let mut bytes = [0; 512];
        loop {
            let read = match transport.read(stream, &mut bytes) {
                Ok(read) => read,
                Err(StreamError::Reset(_)) => return self.refuse(stream, transport),
                Err(_) => {
                    // A stream that is over carries no request.
                    if !known {
                        self.exchanges.remove(&stream);
                    }
                    return;
                }
            };
            line.extend_from_slice(&bytes[..read.bytes as usize]);
            let ended = line.iter().position(|byte| *byte == b'\n');
            if ended.is_some() || read.finished {
                line.truncate(ended.unwrap_or(line.len()));
                let answer = answer(line, site);
                // Only the end may follow the line.
                if !read.finished && transport.discard(stream).is_ok_and(|rest| !rest.finished) {
                    self.unended.insert(stream);
                }
                let Some((reply, think)) = answer else { return self.refuse(stream, transport) };
                let reply = Box::new(reply);
                if self.delayed.add(now, stream, think) {
                    self.exchanges.insert(stream, Exchange::Delayed(reply));
                    return;
                }
                self.exchanges.insert(stream, Exchange::Responding(reply));
                return self.pump(now, stream, transport);
            }
            if line.len() > MAX_LINE {
                let _ = transport.stop(stream, REFUSED);
                return self.refuse(stream, transport);
            }
            if read.bytes == 0 {
                return;
            }
        }
    }

    fn refuse(&mut self, stream: StreamId, transport: &mut dyn Transport) {
        self.exchanges.remove(&stream);
        let _ = transport.reset(stream, REFUSED);
    }

    fn pump(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        let Some(Exchange::Responding(reply)) = self.exchanges.get_mut(&stream) else { return };
        match reply.pump(now, stream, transport) {
            Written::Blocked => return,
            Written::Waiting(span) => {
                self.delayed.add(now, stream, span);
                return;
            }
            Written::Done | Written::Closed => {}
            Written::Failed => drop(transport.reset(stream, ABORTED)),
            Written::Late(reliable) => {
                let _ = transport.reset_at(stream, ABORTED, reliable);
            }
        }
        self.exchanges.remove(&stream);
    }
}

/// The response to a request line, and its think time.
fn answer(line: &[u8], site: &mut dyn Site) -> Option<(Reply, Duration)> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let target = Target::parse(line.strip_prefix(b"GET ")?).ok()?;
    let answer = site.find(Query { method: Method::Get, target: &target, authority: None });
    (answer.status == 200).then(|| (Reply::new(Vec::new(), Some(answer.body)), answer.think))
}
