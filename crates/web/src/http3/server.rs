//! The server of HTTP/3.

use super::control::{Control, Notice};
use super::incoming::{Incoming, Step};
use super::{decode, headers, violation};
use crate::{Answer, Delayed, Method, Reply, Site, Written};
use http::message::{self, RequestHead};
use http::qpack::Field;
use http::{Code, Priority, Violation, frame};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use transport::{Event, Transport};
use units::{Duration, Time};
use wire::{Direction, Side, StreamId};

/// The maximum number of stored priorities of streams without a request (RFC 9218 section 7.2 recommends to store
/// some).
const MAX_EARLY_PRIORITIES: usize = 128;

/// A request in progress.
#[derive(Debug)]
enum Exchange {
    Receiving(Box<Receiving>),
    /// The response is known but delayed.
    Delayed(Box<Reply>),
    Responding(Box<Reply>),
}

/// An incomplete request.
#[derive(Debug)]
struct Receiving {
    incoming: Incoming,
    head: Option<RequestHead>,
    /// The interim response 100 (Continue) for a client that waits before sending its content.
    interim: Option<Reply>,
    /// The received bytes of content.
    received: u64,
}

/// The result of reading a request.
enum Outcome {
    /// It is incomplete.
    Blocked,
    /// It is complete.
    Complete,
    /// It gets this response at once, whatever follows.
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

/// The server end of a connection.
#[derive(Debug)]
pub(crate) struct Http3Server {
    control: Control,
    exchanges: BTreeMap<StreamId, Exchange>,
    /// Streams whose requests were answered before their end. Nothing that still arrives on them is a request. At most
    /// as many as the peer may have open.
    unended: BTreeSet<StreamId>,
    /// Readable streams that wait because the maximum number of requests is in progress. At most as many as the peer
    /// may open.
    waiting: VecDeque<StreamId>,
    max_requests: usize,
    /// Priorities from PRIORITY_UPDATE frames received before the request; at most [`MAX_EARLY_PRIORITIES`].
    priorities: BTreeMap<StreamId, Priority>,
    /// The first request stream that was not seen yet.
    next: u64,
    /// The first stream whose request is refused, as sent in GOAWAY.
    refused_from: Option<StreamId>,
    /// Delayed responses.
    delayed: Delayed,
    /// Whether the connection is being closed.
    broken: bool,
}

impl Http3Server {
    /// Creates a server that processes up to `max_requests` requests at a time; others are left unread.
    pub(crate) fn new(max_requests: usize) -> Http3Server {
        Http3Server {
            control: Control::new(Side::Server),
            exchanges: BTreeMap::new(),
            unended: BTreeSet::new(),
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

    /// The time at which the next delayed response continues.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.delayed.wake_at().filter(|_| !self.broken)
    }
    /// Continues the delayed responses whose time has come.
    pub(crate) fn wake(&mut self, now: Time, transport: &mut dyn Transport) {
        while let Some(stream) = self.delayed.next(now) {
            if let Some(exchange) = self.exchanges.remove(&stream) {
                let exchange = match exchange {
                    Exchange::Delayed(reply) => Exchange::Responding(reply),
                    other => other,
                };
                self.exchanges.insert(stream, exchange);
                self.pump(now, stream, transport);
            }
        }
    }

    /// Accepts no more requests (RFC 9114 section 5.2).
    pub(crate) fn shut_down(&mut self, transport: &mut dyn Transport) {
        if self.refused_from.is_none() {
            let first = StreamId::new(Side::Client, Direction::Bidirectional, self.next);
            self.refused_from = Some(first);
            self.control.go_away(first.value(), transport);
        }
    }
    /// Whether no request is in progress.
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
        let mut notice = Vec::new();
        self.control.on_event(event, &mut notice, transport)?;
        for notice in notice {
            if let Notice::Priority(stream, priority) = notice {
                self.on_priority(stream, priority, transport)?;
            }
        }
        let carries_request = |stream: StreamId| stream.direction() == Direction::Bidirectional;
        match *event {
            Event::Opened(stream) if carries_request(stream) => self.next = self.next.max(stream.index() + 1),
            Event::Readable(stream) if carries_request(stream) => self.read(now, stream, site, transport)?,
            Event::Writable(stream) => self.pump(now, stream, transport),
            Event::Reset { stream, .. } if carries_request(stream) => {
                let _ = transport.stop(stream, Code::NO_ERROR.0);
                let answered = self.unended.remove(&stream)
                    || matches!(
                        self.exchanges.get(&stream),
                        Some(Exchange::Responding(_) | Exchange::Delayed(_))
                    );
                if !answered {
                    // RFC 9114 section 4.1.1: a request cancelled before it was complete gets no response.
                    self.forget(stream);
                    let _ = transport.reset(stream, Code::REQUEST_CANCELLED.0);
                }
            }
            Event::Stopped { stream, .. } if carries_request(stream) => {
                let _ = transport.stop(stream, Code::REQUEST_CANCELLED.0);
                self.forget(stream);
            }
            Event::Closed { stream, .. } => {
                self.priorities.remove(&stream);
                self.unended.remove(&stream);
            }
            _ => {}
        }
        while self.exchanges.len() < self.max_requests
            && let Some(stream) = self.waiting.pop_front()
        {
            self.read(now, stream, site, transport)?;
        }
        Ok(())
    }

    fn forget(&mut self, stream: StreamId) {
        self.exchanges.remove(&stream);
        self.waiting.retain(|waiting| *waiting != stream);
    }

    /// RFC 9218 section 7.2: a PRIORITY_UPDATE frame can precede the request, and overrides its field. It can also
    /// arrive when the whole response is written and waits to be sent.
    fn on_priority(
        &mut self,
        stream: StreamId,
        priority: Priority,
        transport: &mut dyn Transport,
    ) -> Result<(), Violation> {
        // RFC 9218 section 7.2: a stream beyond the stream limit is an error of type H3_ID_ERROR.
        if transport.peer_stream_limit(stream.direction()).is_some_and(|limit| stream.index() >= limit) {
            return Err(violation(Code::ID_ERROR, "PRIORITY_UPDATE for a stream beyond the limit"));
        }
        let known = set_priority(stream, priority, transport);
        let responding =
            matches!(self.exchanges.get(&stream), Some(Exchange::Responding(_) | Exchange::Delayed(_)));
        // A closed stream needs no priority.
        let over = !known && stream.index() < self.next;
        if responding || over {
            return Ok(());
        }
        self.priorities.insert(stream, priority);
        if self.priorities.len() > MAX_EARLY_PRIORITIES {
            // Discard the priority of the highest stream.
            self.priorities.pop_last();
        }
        Ok(())
    }

    fn read(
        &mut self,
        now: Time,
        stream: StreamId,
        site: &mut dyn Site,
        transport: &mut dyn Transport,
    ) -> Result<(), Violation> {
        self.next = self.next.max(stream.index() + 1);
        if self.unended.contains(&stream) {
            if transport.discard(stream).is_ok_and(|read| read.finished) {
                self.unended.remove(&stream);
            }
            return Ok(());
        }
        let known = self.exchanges.contains_key(&stream);
        if !known && self.refused_from.is_some_and(|first| stream >= first) {
            // RFC 9114 section 4.1.1: the request was not processed.
            self.abort(stream, Code::REQUEST_REJECTED, transport);
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
            Exchange::Receiving(Box::new(Receiving { incoming, head: None, interim: None, received: 0 }))
        });
        let Exchange::Receiving(request) = exchange else {
            let _ = transport.discard(stream);
            return Ok(());
        };
        let (reply, think) = match request.read(now, stream, transport)? {
            Outcome::Blocked => return Ok(()),
            Outcome::Broken(code) => {
                self.abort(stream, code, transport);
                return Ok(());
            }
            Outcome::Refused(answer) => {
                // RFC 9114 section 4.1: the rest of the request is not needed.
                let _ = transport.stop(stream, Code::NO_ERROR.0);
                self.unended.insert(stream);
                reply(answer, false)
            }
            Outcome::Complete => {
                let Some(head) = request.head.take() else { return Ok(()) };
                if let Some(priority) = self.priorities.remove(&stream).or(head.priority) {
                    set_priority(stream, priority, transport);
                }
                let (answer, head_only) = Answer::to(&head, site);
                reply(answer, head_only)
            }
        };
        let reply = reply.preceded_by(request.interim.take());
        if self.delayed.add(now, stream, think) {
            self.exchanges.insert(stream, Exchange::Delayed(Box::new(reply)));
        } else {
            self.exchanges.insert(stream, Exchange::Responding(Box::new(reply)));
            self.pump(now, stream, transport);
        }
        Ok(())
    }

    fn abort(&mut self, stream: StreamId, code: Code, transport: &mut dyn Transport) {
        self.exchanges.remove(&stream);
        let _ = transport.reset(stream, code.0);
        let _ = transport.stop(stream, code.0);
    }

    fn pump(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        let reply = match self.exchanges.get_mut(&stream) {
            Some(Exchange::Responding(reply)) => reply,
            Some(Exchange::Receiving(request)) => return request.send_interim(now, stream, transport),
            _ => return,
        };
        match reply.pump(now, stream, transport) {
            Written::Blocked => return,
            Written::Waiting(span) => {
                self.delayed.add(now, stream, span);
                return;
            }
            Written::Done | Written::Closed => {}
            Written::Failed => drop(transport.reset(stream, Code::INTERNAL_ERROR.0)),
            Written::Late(reliable) => {
                let _ = transport.reset_at(stream, Code::REQUEST_CANCELLED.0, reliable);
            }
        }
        self.exchanges.remove(&stream);
    }
}

impl Receiving {
    /// Reads the available part of the request.
    fn read(
        &mut self,
        now: Time,
        stream: StreamId,
        transport: &mut dyn Transport,
    ) -> Result<Outcome, Violation> {
        loop {
            let outcome = match self.incoming.step(stream, transport)? {
                Step::Blocked => return Ok(Outcome::Blocked),
                // RFC 9114 section 4.2.2: 431 (Request Header Fields Too Large).
                Step::TooLarge => {
                    return Ok(Outcome::Refused(Answer::plain(431, "the fields are too large")));
                }
                Step::Head(section) => {
                    let outcome = self.on_head(&section)?;
                    self.send_interim(now, stream, transport);
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
                    // RFC 9110 section 10.1.1: the client waits for 100 (Continue).
                    let interim = headers(&[Field::new(":status", "100")]);
                    self.interim = Some(Reply::new(interim, None).staying());
                }
                self.head = Some(head);
                Ok(None)
            }
        }
    }

    /// Writes as much as possible of the interim response.
    fn send_interim(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        if let Some(interim) = &mut self.interim
            && interim.pump(now, stream, transport) != Written::Blocked
        {
            self.interim = None;
        }
    }

    fn on_end(&self) -> Outcome {
        match &self.head {
            // RFC 9114 section 4.1: the stream ended without a request.
            None => Outcome::Broken(Code::REQUEST_INCOMPLETE),
            Some(head) if head.content_length.is_some_and(|length| length != self.received) => {
                Outcome::Broken(Code::MESSAGE_ERROR)
            }
            Some(_) => Outcome::Complete,
        }
    }
}

/// Whether the site handles the method. Requests with other methods are refused without their content.
fn is_answered(head: &RequestHead) -> bool {
    [Method::Get, Method::Head].into_iter().any(|method| method.as_str() == head.method)
}

/// Sets the priority of a stream. Returns whether there is such a stream to send on.
fn set_priority(stream: StreamId, priority: Priority, transport: &mut dyn Transport) -> bool {
    let Priority { urgency, incremental } = priority;
    let priority = transport::Priority { urgency, incremental, ..transport::Priority::default() };
    transport.set_priority(stream, priority).is_ok()
}

/// A response (only its head if requested by HEAD), and its think time.
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
