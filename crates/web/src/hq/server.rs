//! The server of hq-interop.

use super::{BROKEN, NO_ERROR, REFUSED};
use crate::{Delayed, Method, Pumped, Query, Reply, Site};
use http::{MAX_TARGET, Target};
use std::collections::{BTreeMap, VecDeque};
use transport::{Event, StreamError, Transport};
use units::{Duration, Time};
use wire::{Direction, Side, StreamId};

/// The longest request in bytes.
const MAX_LINE: usize = MAX_TARGET + 6;

/// A request that is underway.
#[derive(Debug)]
enum Exchange {
    /// So much of its line has come.
    Asking(Vec<u8>),
    /// The answer is there, and given later.
    Thinking(Box<Reply>),
    Answering(Box<Reply>),
}

/// The server's end of a connection.
#[derive(Debug)]
pub(crate) struct HqServer {
    exchanges: BTreeMap<StreamId, Exchange>,
    /// Streams with something to read that wait because too many requests are underway. No more than the peer may open.
    waiting: VecDeque<StreamId>,
    max_requests: usize,
    delayed: Delayed,
    /// Whether no new request is taken any more.
    closing: bool,
}

impl HqServer {
    /// At most `max_requests` are underway at a time; what comes beyond them is left unread.
    pub(crate) fn new(max_requests: usize) -> HqServer {
        HqServer {
            exchanges: BTreeMap::new(),
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
                self.read((now, stream), site, transport);
            }
            Event::Readable(stream) => drop(transport.discard(stream)),
            Event::Writable(stream) => self.pump(now, stream, transport),
            Event::Reset { stream, .. } => {
                let _ = transport.stop(stream, NO_ERROR);
                if matches!(self.exchanges.get(&stream), Some(Exchange::Asking(_)) | None) {
                    self.forget(stream);
                    let _ = transport.reset(stream, REFUSED);
                }
            }
            Event::Stopped { stream, .. } => self.forget(stream),
            _ => {}
        }
        while self.exchanges.len() < self.max_requests
            && let Some(stream) = self.waiting.pop_front()
        {
            self.read((now, stream), site, transport);
        }
    }

    /// When a request that was thought about is to be answered, or gone on with.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.delayed.wake_at()
    }
    /// Answers those whose time has come.
    pub(crate) fn wake(&mut self, now: Time, site: &mut dyn Site, transport: &mut dyn Transport) {
        while let Some(stream) = self.delayed.next(now) {
            if let Some(exchange) = self.exchanges.remove(&stream) {
                let exchange = match exchange {
                    Exchange::Thinking(reply) => Exchange::Answering(reply),
                    other => other,
                };
                self.exchanges.insert(stream, exchange);
                // What is over makes room for what waits.
                self.on_event(now, &Event::Writable(stream), site, transport);
            }
        }
    }

    /// Requests that come from now on are refused.
    pub(crate) fn shut_down(&mut self) {
        self.closing = true;
    }
    /// Whether no request is underway.
    pub(crate) fn is_idle(&self) -> bool {
        self.exchanges.is_empty() && self.waiting.is_empty()
    }

    fn forget(&mut self, stream: StreamId) {
        self.exchanges.remove(&stream);
        self.waiting.retain(|waiting| *waiting != stream);
    }

    fn read(&mut self, (now, stream): (Time, StreamId), site: &mut dyn Site, transport: &mut dyn Transport) {
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
        let exchange = self.exchanges.entry(stream).or_insert_with(|| Exchange::Asking(Vec::new()));
        let Exchange::Asking(line) = exchange else {
            let _ = transport.discard(stream);
            return;
        };
        let mut bytes = [0; 512];
        loop {
            let read = match transport.read(stream, &mut bytes) {
                Ok(read) => read,
                Err(StreamError::Reset(_)) => return self.refuse(stream, transport),
                Err(_) => return,
            };
            line.extend_from_slice(&bytes[..read.bytes as usize]);
            let ended = line.iter().position(|byte| *byte == b'\n');
            if ended.is_some() || read.finished {
                line.truncate(ended.unwrap_or(line.len()));
                let answer = answer(line, site);
                // Behind the line comes nothing but the end.
                let _ = transport.discard(stream);
                let Some((reply, think)) = answer else { return self.refuse(stream, transport) };
                let reply = Box::new(reply);
                if self.delayed.begin(now, stream, think) {
                    self.exchanges.insert(stream, Exchange::Thinking(reply));
                    return;
                }
                self.exchanges.insert(stream, Exchange::Answering(reply));
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
        let Some(Exchange::Answering(reply)) = self.exchanges.get_mut(&stream) else { return };
        match reply.pump(stream, transport) {
            Pumped::Blocked => return,
            Pumped::Waits => {
                self.delayed.begin(now, stream, Delayed::AGAIN);
                return;
            }
            Pumped::Done | Pumped::Over => {}
            Pumped::Broken => drop(transport.reset(stream, BROKEN)),
        }
        self.exchanges.remove(&stream);
    }
}

/// What a request line gets, and how long it is thought about.
fn answer(line: &[u8], site: &mut dyn Site) -> Option<(Reply, Duration)> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let target = Target::parse(line.strip_prefix(b"GET ")?).ok()?;
    let answer = site.find(Query { method: Method::Get, target: &target, authority: None });
    (answer.status == 200).then(|| (Reply::new(Vec::new(), Some(answer.body)), answer.think))
}
