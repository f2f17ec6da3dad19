//! The server of HTTP/3.

use super::control::{Control, Told};
use super::incoming::{Incoming, Step};
use super::{decode, headers, violation};
use crate::{Answer, Delayed, Method, Pumped, Reply, Site};
use http::message::{self, RequestHead};
use http::qpack::Field;
use http::{Code, Priority, Violation, frame};
use std::collections::{BTreeMap, VecDeque};
use transport::{Event, Transport};
use units::{Duration, Time};
use wire::{Direction, Side, StreamId};

/// The priorities that are kept of streams on which no request has come (RFC 9218 section 7.2 asks for some).
const MAX_EARLY_PRIORITIES: usize = 128;

/// A request that is underway.
#[derive(Debug)]
enum Exchange {
    Asking(Box<Asking>),
    /// The answer is there, and given later.
    Thinking(Box<Reply>),
    Answering(Box<Reply>),
}

/// A request of which some has come.
#[derive(Debug)]
struct Asking {
    incoming: Incoming,
    head: Option<RequestHead>,
    /// The interim response that tells a client that waits with its content that it may come.
    interim: Option<Reply>,
    /// Bytes of content that came.
    received: u64,
}

/// What comes of reading a request.
enum Outcome {
    /// It is not complete.
    Blocked,
    /// It is complete.
    Complete,
    /// It is answered at once, whatever follows.
    Refused(Answer),
    /// It is reset with this code.
    Broken(Code),
}

impl From<message::Malformed> for Outcome {
    fn from(_: message::Malformed) -> Outcome {
        // RFC 9114 section 4.1.2: a stream error.
        Outcome::Broken(Code::MESSAGE_ERROR)
    }
}

/// The server's end of a connection.
#[derive(Debug)]
pub(crate) struct Http3Server {
    control: Control,
    exchanges: BTreeMap<StreamId, Exchange>,
    /// Streams with something to read that wait because too many requests are underway. No more than the peer may open.
    waiting: VecDeque<StreamId>,
    max_requests: usize,
    /// Priorities that came in PRIORITY_UPDATE frames before the request was read; at most [`MAX_EARLY_PRIORITIES`].
    priorities: BTreeMap<StreamId, Priority>,
    /// The first request stream of which nothing was seen.
    next: u64,
    /// From this stream on no request is taken: what GOAWAY told.
    refused_from: Option<StreamId>,
    /// Requests that are answered later.
    delayed: Delayed,
    /// Whether the connection is being closed.
    broken: bool,
}

impl Http3Server {
    /// At most `max_requests` are underway at a time; what comes beyond them is left unread.
    pub(crate) fn new(max_requests: usize) -> Http3Server {
        Http3Server {
            control: Control::new(Side::Server),
            exchanges: BTreeMap::new(),
            waiting: VecDeque::new(),
            max_requests: max_requests.max(1),
            priorities: BTreeMap::new(),
            next: 0,
            refused_from: None,
            delayed: Delayed::default(),
            broken: false,
        }
    }

    pub(crate) fn on_event(
        &mut self,
        now: Time,
        event: &Event,
        site: &mut dyn Site,
        transport: &mut dyn Transport,
    ) {
        if self.broken {
            return;
        }
        if let Err(Violation { code, why }) = self.handle(now, event, site, transport) {
            self.broken = true;
            transport.close(code.0, why);
        }
    }

    /// When a request that was thought about is to be answered, or gone on with.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.delayed.wake_at().filter(|_| !self.broken)
    }
    /// Answers those whose time has come.
    pub(crate) fn wake(&mut self, now: Time, transport: &mut dyn Transport) {
        while let Some(stream) = self.delayed.next(now) {
            if let Some(exchange) = self.exchanges.remove(&stream) {
                let exchange = match exchange {
                    Exchange::Thinking(reply) => Exchange::Answering(reply),
                    other => other,
                };
                self.exchanges.insert(stream, exchange);
                self.pump(now, stream, transport);
            }
        }
    }

    /// Takes no more requests (RFC 9114 section 5.2).
    pub(crate) fn shut_down(&mut self, transport: &mut dyn Transport) {
        if self.refused_from.is_none() {
            let first = StreamId::new(Side::Client, Direction::Bidirectional, self.next);
            self.refused_from = Some(first);
            self.control.go_away(first.value(), transport);
        }
    }
    /// Whether no request is underway.
    pub(crate) fn is_idle(&self) -> bool {
        self.exchanges.is_empty() && self.waiting.is_empty()
    }

    fn handle(
        &mut self,
        now: Time,
        event: &Event,
        site: &mut dyn Site,
        transport: &mut dyn Transport,
    ) -> Result<(), Violation> {
        // In 0-RTT this side may not be able to open a stream yet.
        self.control.flush(transport);
        let mut told = Vec::new();
        self.control.on_event(event, &mut told, transport)?;
        for told in told {
            if let Told::Priority(stream, priority) = told {
                self.on_priority(stream, priority, transport)?;
            }
        }
        let carries_request = |stream: StreamId| stream.direction() == Direction::Bidirectional;
        match *event {
            Event::Opened(stream) if carries_request(stream) => self.next = self.next.max(stream.index() + 1),
            Event::Readable(stream) if carries_request(stream) => {
                self.read((now, stream), site, transport)?
            }
            Event::Writable(stream) => self.pump(now, stream, transport),
            Event::Reset { stream, .. } if carries_request(stream) => {
                let _ = transport.stop(stream, Code::NO_ERROR.0);
                if !matches!(
                    self.exchanges.get(&stream),
                    Some(Exchange::Answering(_) | Exchange::Thinking(_))
                ) {
                    // RFC 9114 section 4.1.1: a request that is cancelled before it was complete gets no response.
                    self.forget(stream);
                    let _ = transport.reset(stream, Code::REQUEST_CANCELLED.0);
                }
            }
            Event::Stopped { stream, .. } if carries_request(stream) => {
                let _ = transport.stop(stream, Code::REQUEST_CANCELLED.0);
                self.forget(stream);
            }
            Event::Closed { stream, .. } => drop(self.priorities.remove(&stream)),
            _ => {}
        }
        while self.exchanges.len() < self.max_requests
            && let Some(stream) = self.waiting.pop_front()
        {
            self.read((now, stream), site, transport)?;
        }
        Ok(())
    }

    fn forget(&mut self, stream: StreamId) {
        self.exchanges.remove(&stream);
        self.waiting.retain(|waiting| *waiting != stream);
    }

    /// RFC 9218 section 7.2: a PRIORITY_UPDATE frame can come before the request, and counts more than its field; it can
    /// also come when all of the response is written and waits to be sent.
    fn on_priority(
        &mut self,
        stream: StreamId,
        priority: Priority,
        transport: &mut dyn Transport,
    ) -> Result<(), Violation> {
        // RFC 9218 section 7.2: a stream beyond the limit on streams is an error of type H3_ID_ERROR.
        if transport.peer_stream_limit(stream.direction()).is_some_and(|limit| stream.index() >= limit) {
            return Err(violation(Code::ID_ERROR, "PRIORITY_UPDATE of a stream beyond the limit"));
        }
        let known = set_priority(stream, priority, transport);
        let answering =
            matches!(self.exchanges.get(&stream), Some(Exchange::Answering(_) | Exchange::Thinking(_)));
        // Nothing will be heard of a stream that is over.
        let over = !known && stream.index() < self.next;
        if answering || over {
            return Ok(());
        }
        self.priorities.insert(stream, priority);
        if self.priorities.len() > MAX_EARLY_PRIORITIES {
            // What is asked for last can best do without.
            self.priorities.pop_last();
        }
        Ok(())
    }

    fn read(
        &mut self,
        (now, stream): (Time, StreamId),
        site: &mut dyn Site,
        transport: &mut dyn Transport,
    ) -> Result<(), Violation> {
        self.next = self.next.max(stream.index() + 1);
        let known = self.exchanges.contains_key(&stream);
        if !known && self.refused_from.is_some_and(|first| stream >= first) {
            // RFC 9114 section 4.1.1: nothing was done with it.
            self.break_off(stream, Code::REQUEST_REJECTED, transport);
            return Ok(());
        }
        if !known && self.exchanges.len() >= self.max_requests {
            if !self.waiting.contains(&stream) {
                self.waiting.push_back(stream);
            }
            return Ok(());
        }
        let exchange = self.exchanges.entry(stream).or_insert_with(|| {
            let incoming = Incoming::from(Side::Client);
            Exchange::Asking(Box::new(Asking { incoming, head: None, interim: None, received: 0 }))
        });
        let Exchange::Asking(asking) = exchange else {
            let _ = transport.discard(stream);
            return Ok(());
        };
        let (reply, think) = match asking.read(stream, transport)? {
            Outcome::Blocked => return Ok(()),
            Outcome::Broken(code) => {
                self.break_off(stream, code, transport);
                return Ok(());
            }
            Outcome::Refused(answer) => {
                // RFC 9114 section 4.1: the rest of the request is not needed.
                let _ = transport.stop(stream, Code::NO_ERROR.0);
                reply(answer, false)
            }
            Outcome::Complete => {
                let Some(head) = asking.head.take() else { return Ok(()) };
                if let Some(priority) = self.priorities.remove(&stream).or(head.priority) {
                    set_priority(stream, priority, transport);
                }
                let (answer, head_only) = Answer::to(&head, site);
                reply(answer, head_only)
            }
        };
        let reply = reply.behind(asking.interim.take());
        if self.delayed.begin(now, stream, think) {
            self.exchanges.insert(stream, Exchange::Thinking(Box::new(reply)));
        } else {
            self.exchanges.insert(stream, Exchange::Answering(Box::new(reply)));
            self.pump(now, stream, transport);
        }
        Ok(())
    }

    fn break_off(&mut self, stream: StreamId, code: Code, transport: &mut dyn Transport) {
        self.exchanges.remove(&stream);
        let _ = transport.reset(stream, code.0);
        let _ = transport.stop(stream, code.0);
    }

    fn pump(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        let reply = match self.exchanges.get_mut(&stream) {
            Some(Exchange::Answering(reply)) => reply,
            Some(Exchange::Asking(asking)) => return asking.invite(stream, transport),
            _ => return,
        };
        match reply.pump(stream, transport) {
            Pumped::Blocked => return,
            Pumped::Waits => {
                self.delayed.begin(now, stream, Delayed::AGAIN);
                return;
            }
            Pumped::Done | Pumped::Over => {}
            Pumped::Broken => drop(transport.reset(stream, Code::INTERNAL_ERROR.0)),
        }
        self.exchanges.remove(&stream);
    }
}

impl Asking {
    /// Reads what there is of the request.
    fn read(&mut self, stream: StreamId, transport: &mut dyn Transport) -> Result<Outcome, Violation> {
        loop {
            let outcome = match self.incoming.step(stream, transport)? {
                Step::Blocked => return Ok(Outcome::Blocked),
                // RFC 9114 section 4.2.2.
                Step::TooLarge => {
                    return Ok(Outcome::Refused(Answer::plain(431, "the fields are too large")));
                }
                Step::Head(section) => {
                    let outcome = self.on_head(&section)?;
                    self.invite(stream, transport);
                    outcome
                }
                Step::Trailers(section) => match decode(&section)?.as_deref().map(message::check_trailers) {
                    None => return Ok(Outcome::Refused(Answer::plain(431, "the trailers are too large"))),
                    Some(Err(malformed)) => return Ok(malformed.into()),
                    Some(Ok(())) => None,
                },
                Step::Content(left) => {
                    let Ok(read) = transport.skip(stream, left) else {
                        return Ok(Outcome::Broken(Code::REQUEST_CANCELLED));
                    };
                    self.incoming.note_content(&read);
                    self.received += read.bytes;
                    if read.bytes == 0 && !read.finished {
                        return Ok(Outcome::Blocked);
                    }
                    // RFC 9114 section 4.1.2: content and Content-Length must agree.
                    let length = self.head.as_ref().and_then(|head| head.content_length);
                    length
                        .filter(|length| self.received > *length)
                        .map(|_| Outcome::Broken(Code::MESSAGE_ERROR))
                }
                Step::End => Some(self.on_end()),
                Step::Reset(_) => Some(Outcome::Broken(Code::REQUEST_CANCELLED)),
            };
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
        }
    }

    fn on_head(&mut self, section: &[u8]) -> Result<Option<Outcome>, Violation> {
        let Some(fields) = decode(section)? else {
            return Ok(Some(Outcome::Refused(Answer::plain(431, "the fields are too large"))));
        };
        match RequestHead::read(&fields) {
            Err(malformed) => Ok(Some(malformed.into())),
            Ok(head) if !is_answered(&head) => {
                Ok(Some(Outcome::Refused(Answer::to_other_method(&head.method))))
            }
            Ok(head) => {
                if head.expects_continue {
                    // RFC 9110 section 10.1.1.
                    let interim = headers(&[Field::new(":status", "100")]);
                    self.interim = Some(Reply::new(interim, None).staying());
                }
                self.head = Some(head);
                Ok(None)
            }
        }
    }

    /// Writes what it can of the interim response.
    fn invite(&mut self, stream: StreamId, transport: &mut dyn Transport) {
        if let Some(interim) = &mut self.interim
            && interim.pump(stream, transport) != Pumped::Blocked
        {
            self.interim = None;
        }
    }

    fn on_end(&self) -> Outcome {
        match &self.head {
            // RFC 9114 section 4.1: a stream that ends without a request.
            None => Outcome::Broken(Code::REQUEST_INCOMPLETE),
            Some(head) if head.content_length.is_some_and(|length| length != self.received) => {
                Outcome::Broken(Code::MESSAGE_ERROR)
            }
            Some(_) => Outcome::Complete,
        }
    }
}

/// Whether a site is asked; any other method needs no content to be refused.
fn is_answered(head: &RequestHead) -> bool {
    [Method::Get, Method::Head].into_iter().any(|method| method.as_str() == head.method)
}

/// Gives whether there is such a stream to send on.
fn set_priority(stream: StreamId, priority: Priority, transport: &mut dyn Transport) -> bool {
    let Priority { urgency, incremental } = priority;
    let priority = transport::Priority { urgency, incremental, ..transport::Priority::default() };
    transport.set_priority(stream, priority).is_ok()
}

/// A response, only its head if the request was for that; and how long it is thought about.
fn reply(answer: Answer, head_only: bool) -> (Reply, Duration) {
    let (rest, has_content) = answer.fields();
    let mut fields = vec![Field::new(":status", answer.status.to_string())];
    fields.extend(rest);
    let mut head = headers(&fields);
    if head_only || !has_content {
        return (Reply::new(head, None), answer.think);
    }
    frame::FrameHead { kind: frame::DATA, length: answer.body.len() }.encode(&mut head);
    (Reply::new(head, Some(answer.body)), answer.think)
}
