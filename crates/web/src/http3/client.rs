//! The client of HTTP/3.

use super::control::{Control, Notice};
use super::incoming::{Incoming, Step};
use super::{decode, headers};
use crate::{Failure, Fetches, Head, Method, OpenBody, Request, Take};
use http::message::{self, ResponseHead};
use http::qpack::Field;
use http::{Code, Violation};
use std::collections::BTreeMap;
use transport::{Data, Event, StreamError, Transport};
use units::Time;
use wire::{Direction, Side, StreamId};

/// A request in flight.
#[derive(Debug)]
struct Exchange {
    index: usize,
    method: Method,
    /// The unwritten rest of the request.
    unsent: Vec<u8>,
    incoming: Incoming,
    /// The final header section, once received, and what the sink wants of the body.
    head: Option<(ResponseHead, Take)>,
    /// The received bytes of content.
    received: u64,
}

/// Why an exchange ends early.
enum Stop {
    /// The request failed; the code is sent to the peer.
    Request(Failure, Code),
    /// The server did not process the request.
    Rejected,
    /// A connection error.
    Connection(Violation),
}

impl From<Violation> for Stop {
    fn from(violation: Violation) -> Stop {
        Stop::Connection(violation)
    }
}
impl From<message::Malformed> for Stop {
    fn from(malformed: message::Malformed) -> Stop {
        // RFC 9114 section 4.1.2: a stream error.
        Stop::Request(Failure::Malformed(malformed.0), Code::MESSAGE_ERROR)
    }
}
impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Request(failure, Code::REQUEST_CANCELLED)
    }
}

fn malformed(why: &'static str) -> Stop {
    message::Malformed(why).into()
}

/// The client end of a connection.
#[derive(Debug)]
pub(crate) struct Http3Client {
    authority: String,
    control: Control,
    exchanges: BTreeMap<StreamId, Exchange>,
    /// Whether no more requests are sent, because the server is going away or the connection is being closed.
    closing: bool,
}

impl Http3Client {
    pub(crate) fn new(authority: &str) -> Http3Client {
        Http3Client {
            authority: authority.to_owned(),
            control: Control::new(Side::Client),
            exchanges: BTreeMap::new(),
            closing: false,
        }
    }

    pub(crate) fn on_event(
        &mut self,
        now: Time,
        event: &Event,
        fetches: &mut Fetches,
        transport: &mut dyn Transport,
    ) {
        let mut told = Vec::new();
        if let Err(violation) = self.control.on_event(event, &mut told, transport) {
            return self.fail(violation, transport);
        }
        for told in told {
            if let Notice::GoAway(id) = told {
                self.on_go_away(now, id, fetches, transport);
            }
        }
        match *event {
            Event::Connected | Event::EarlyDataReady | Event::StreamsAvailable(Direction::Bidirectional) => {
                self.send_requests(now, fetches, transport);
            }
            Event::EarlyDataRejected { resent: false } => {
                let lost = std::mem::take(&mut self.exchanges);
                fetches.restart(lost.into_values().map(|exchange| exchange.index));
            }
            Event::Opened(stream) | Event::Readable(stream)
                if stream.initiator() == Side::Server && stream.direction() == Direction::Bidirectional =>
            {
                // RFC 9114 section 6.1: servers do not open bidirectional streams.
                let why = "a bidirectional stream opened by the server";
                self.fail(Violation { code: Code::STREAM_CREATION_ERROR, why }, transport);
            }
            Event::Readable(stream) => self.read(now, stream, fetches, transport),
            Event::Writable(stream) => {
                if let Some(exchange) = self.exchanges.get_mut(&stream) {
                    send(stream, exchange, transport);
                }
            }
            Event::Reset { stream, code } if self.exchanges.contains_key(&stream) => {
                let _ = transport.stop(stream, Code::NO_ERROR.0);
                self.stop(now, stream, was_reset(code), fetches, transport);
            }
            Event::Ended => {
                for exchange in std::mem::take(&mut self.exchanges).into_values() {
                    fetches.finish(now, exchange.index, Some(Failure::ConnectionLost));
                }
                fetches.fail_waiting(now);
            }
            _ => {}
        }
    }

    /// Cancels a request in flight.
    pub(crate) fn cancel(
        &mut self,
        now: Time,
        index: usize,
        fetches: &mut Fetches,
        transport: &mut dyn Transport,
    ) {
        let found = self.exchanges.iter().find(|(_, exchange)| exchange.index == index);
        if let Some(stream) = found.map(|(stream, _)| *stream) {
            // RFC 9114 section 4.1.1: cancellation.
            self.stop(now, stream, Failure::Cancelled.into(), fetches, transport);
        }
    }

    /// Closes the connection with an error, which ends all requests.
    fn fail(&mut self, violation: Violation, transport: &mut dyn Transport) {
        self.closing = true;
        transport.close(violation.code.0, violation.why);
    }

    /// RFC 9114 section 5.2: requests from this ID on were not processed, and no more may be sent.
    fn on_go_away(&mut self, now: Time, id: u64, fetches: &mut Fetches, transport: &mut dyn Transport) {
        self.closing = true;
        let refused = self.exchanges.split_off(&StreamId::from_value(id));
        for (stream, exchange) in refused {
            let _ = transport.reset(stream, Code::REQUEST_CANCELLED.0);
            let _ = transport.stop(stream, Code::REQUEST_CANCELLED.0);
            fetches.finish(now, exchange.index, Some(Failure::NotProcessed));
        }
        self.send_requests(now, fetches, transport);
    }

    /// Sends as many requests as the client and the peer permit.
    pub(crate) fn send_requests(&mut self, now: Time, fetches: &mut Fetches, transport: &mut dyn Transport) {
        if self.closing {
            fetches.fail_waiting(now);
        }
        while let Some(index) = fetches.next() {
            let request = fetches.request(index);
            let method = request.method;
            let fields = fields(request, request.authority(&self.authority));
            // RFC 9114 section 4.2.2: respect the peer's limit on field sections.
            let size = fields.iter().map(Field::size).sum::<u64>();
            let limit = self.control.settings().and_then(|settings| settings.max_field_section_size);
            let is_valid = request.path.starts_with('/') && request.path.bytes().all(|byte| byte > b' ');
            if !is_valid || limit.is_some_and(|limit| size > limit) {
                fetches.note_sent(now, None);
                fetches.finish(now, index, Some(Failure::Unsupported));
                continue;
            }
            let Ok(stream) = transport.open(Direction::Bidirectional) else { break };
            fetches.note_sent(now, Some(stream.value()));
            let mut exchange = Exchange {
                index,
                method,
                unsent: headers(&fields),
                incoming: Incoming::from(Side::Server),
                head: None,
                received: 0,
            };
            send(stream, &mut exchange, transport);
            self.exchanges.insert(stream, exchange);
        }
        if fetches.are_over() {
            transport.close(Code::NO_ERROR.0, "done");
        }
    }

    fn read(&mut self, now: Time, stream: StreamId, fetches: &mut Fetches, transport: &mut dyn Transport) {
        let Some(exchange) = self.exchanges.get_mut(&stream) else { return };
        match exchange.read(now, stream, fetches, transport) {
            Ok(false) => {}
            Ok(true) => {
                // RFC 9114 section 4.1: a response may be complete before the request is.
                if !exchange.unsent.is_empty() {
                    let _ = transport.reset(stream, Code::NO_ERROR.0);
                }
                let index = exchange.index;
                self.exchanges.remove(&stream);
                fetches.finish(now, index, None);
                self.send_requests(now, fetches, transport);
            }
            Err(stop) => self.stop(now, stream, stop, fetches, transport),
        }
    }

    /// Ends a request early, or the connection.
    fn stop(
        &mut self,
        now: Time,
        stream: StreamId,
        stop: Stop,
        fetches: &mut Fetches,
        transport: &mut dyn Transport,
    ) {
        let (failure, code) = match stop {
            Stop::Connection(violation) => return self.fail(violation, transport),
            Stop::Request(failure, code) => (Some(failure), code),
            Stop::Rejected => (None, Code::REQUEST_CANCELLED),
        };
        let Some(exchange) = self.exchanges.remove(&stream) else { return };
        let _ = transport.reset(stream, code.0);
        let _ = transport.stop(stream, code.0);
        match failure {
            Some(failure) => fetches.finish(now, exchange.index, Some(failure)),
            // RFC 9114 section 4.1.1: the request can be retried.
            None => fetches.refuse(now, exchange.index),
        }
        self.send_requests(now, fetches, transport);
    }
}

/// The meaning of a reset of a response.
fn was_reset(code: u64) -> Stop {
    if code == Code::REQUEST_REJECTED.0 { Stop::Rejected } else { Failure::Reset(code).into() }
}

/// Writes as much of a request as the stream accepts.
fn send(stream: StreamId, exchange: &mut Exchange, transport: &mut dyn Transport) {
    if exchange.unsent.is_empty() {
        return;
    }
    if let Ok(taken) = transport.write(stream, Data::Bytes(&exchange.unsent)) {
        exchange.unsent.drain(..taken as usize);
    }
    if exchange.unsent.is_empty() {
        let _ = transport.finish(stream);
    }
}

fn fields(request: &Request, authority: &str) -> Vec<Field> {
    let mut fields = vec![
        Field::new(":method", request.method.as_str()),
        Field::new(":scheme", "https"),
        Field::new(":authority", authority.to_owned()),
        Field::new(":path", request.path.clone()),
    ];
    fields.extend(request.fields());
    fields
}

impl Exchange {
    /// Reads the available part of the response. Returns whether it is complete.
    fn read(
        &mut self,
        now: Time,
        stream: StreamId,
        fetches: &mut Fetches,
        transport: &mut dyn Transport,
    ) -> Result<bool, Stop> {
        loop {
            match self.incoming.step(stream, transport)? {
                Step::Blocked => return Ok(false),
                Step::Head(section) => self.on_head(now, &section, fetches)?,
                Step::Trailers(section) => {
                    let fields = decode(&section)?.ok_or_else(too_large)?;
                    message::check_trailers(&fields)?;
                }
                Step::TooLarge => return Err(too_large()),
                Step::Content(left) => {
                    let Some((head, take)) = &self.head else { return Ok(false) };
                    let limit = if has_content(self.method, head) { head.content_length } else { Some(0) };
                    let read = match fetches
                        .read_body(now, OpenBody { stream, index: self.index, take: *take }, left, transport)
                        .map_err(|(_, failure)| failure)?
                    {
                        Ok(read) => read,
                        Err(StreamError::Reset(code)) => return Err(was_reset(code)),
                        Err(_) => return Ok(false),
                    };
                    self.incoming.note_content(&read);
                    self.received += read.bytes;
                    // RFC 9114 section 4.1.2: content and Content-Length must agree.
                    if limit.is_some_and(|limit| self.received > limit) {
                        return Err(malformed("more content than the response may have"));
                    }
                    if read.bytes == 0 && !read.finished {
                        return Ok(false);
                    }
                }
                Step::End => return self.on_end(),
                Step::Reset(code) => return Err(was_reset(code)),
            }
        }
    }

    fn on_head(&mut self, now: Time, section: &[u8], fetches: &mut Fetches) -> Result<(), Stop> {
        let fields = decode(section)?.ok_or_else(too_large)?;
        let head = ResponseHead::read(&fields)?;
        // RFC 9114 section 4.1: interim responses precede the final one, and have no content.
        if head.is_interim() {
            self.incoming.expect_another_head();
            return Ok(());
        }
        let told = Head {
            status: Some(head.status),
            content_length: head.content_length,
            content_type: head.content_type.clone(),
        };
        let take = fetches.begin(now, self.index, &told)?;
        self.head = Some((head, take));
        Ok(())
    }

    fn on_end(&self) -> Result<bool, Stop> {
        match &self.head {
            None => Err(malformed("the stream ended before the response began")),
            // RFC 9114 section 4.1.2: content and Content-Length must agree.
            Some((head, _))
                if has_content(self.method, head)
                    && head.content_length.is_some_and(|length| length != self.received) =>
            {
                Err(malformed("less content than content-length says"))
            }
            Some(_) => Ok(true),
        }
    }
}

/// Whether a response can have content (RFC 9110 section 6.4.1).
fn has_content(method: Method, head: &ResponseHead) -> bool {
    method != Method::Head && !head.is_empty()
}

fn too_large() -> Stop {
    // RFC 9114 section 4.2.2: a client can discard responses that it cannot process.
    Stop::Request(Failure::Malformed("the fields are larger than the limit"), Code::EXCESSIVE_LOAD)
}
