//! The client of HTTP/2.

use super::session::{Http2Connection, Step};
use super::{MAX_FIELD_SECTION, MAX_STREAMS, Windows};
use crate::{Failure, Fetches, Head, Method, OpenBody, Request, Take};
use http::http2::{self, Code, Error, Settings};
use http::message::{Malformed, ResponseHead};
use http::qpack::Field;
use std::collections::BTreeMap;
use transport::{Event, Transport};
use units::Time;
use wire::{Direction, Side, StreamId};

/// The largest stream identifier of a client (RFC 9113 section 5.1.1).
const LAST_STREAM: u32 = (1 << 31) - 1;

/// A request in flight.
#[derive(Debug)]
struct Exchange {
    index: usize,
    method: Method,
    /// The final head, once received, and what the sink wants of the body.
    head: Option<(ResponseHead, Take)>,
    /// The received bytes of content.
    received: u64,
    /// Whether trailers were received.
    trailed: bool,
}

/// The client end of a connection.
#[derive(Debug)]
pub(crate) struct Http2Client {
    authority: String,
    session: Http2Connection,
    /// The connection.
    stream: Option<StreamId>,
    exchanges: BTreeMap<u32, Exchange>,
    next: u32,
    /// Whether no more requests are sent, because the server is going away or the connection is being closed.
    closing: bool,
    /// Whether GOAWAY was sent or the connection has ended.
    ended: bool,
    broken: bool,
}

/// A DATA frame that is being read.
#[derive(Debug, Clone, Copy)]
struct OpenFrame {
    stream: u32,
    /// The bytes that are still to come.
    left: u64,
}

impl Http2Client {
    pub(crate) fn new(authority: &str, windows: &Windows) -> Http2Client {
        let settings = Settings {
            enable_push: false,
            max_header_list: Some(MAX_FIELD_SECTION),
            no_rfc7540_priorities: true,
            ..Settings::default()
        };
        Http2Client {
            authority: authority.to_owned(),
            session: Http2Connection::new(Side::Client, &settings, windows),
            stream: None,
            exchanges: BTreeMap::new(),
            next: 1,
            closing: false,
            ended: false,
            broken: false,
        }
    }

    pub(crate) fn on_event(
        &mut self,
        now: Time,
        event: &Event,
        fetches: &mut Fetches,
        transport: &mut dyn Transport,
    ) {
        match *event {
            Event::Connected => {
                self.stream = transport.open(Direction::Bidirectional).ok();
                self.send_requests(now, fetches, transport);
            }
            Event::Readable(stream) if self.stream == Some(stream) && !self.broken => {
                if let Err(error) = self.read(now, stream, fetches, transport) {
                    self.fail(error, transport);
                }
                self.send_requests(now, fetches, transport);
            }
            Event::Writable(_) => self.send_requests(now, fetches, transport),
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
            self.session.reset(stream, Code::CANCEL);
            self.conclude(now, stream, Some(Failure::Cancelled), fetches);
            self.send_requests(now, fetches, transport);
        }
    }

    /// Closes the connection with an error (RFC 9113 section 5.4.1), which ends all requests.
    fn fail(&mut self, error: Error, transport: &mut dyn Transport) {
        (self.broken, self.closing, self.ended) = (true, true, true);
        self.session.go_away(0, error.code);
        self.end(transport, error.code, error.why);
    }

    fn end(&mut self, transport: &mut dyn Transport, code: Code, why: &str) {
        if let Some(stream) = self.stream {
            self.session.flush(stream, transport);
            let _ = transport.finish(stream);
        }
        transport.close(code.0.into(), why);
    }

    /// Sends as many requests as the client and the peer permit, and all other pending frames.
    pub(crate) fn send_requests(&mut self, now: Time, fetches: &mut Fetches, transport: &mut dyn Transport) {
        let Some(stream) = self.stream.filter(|_| !self.broken) else { return };
        if self.closing {
            fetches.fail_waiting(now);
        }
        // Section 6.5.2: initially there is no limit; current servers permit at least this many.
        let most = self.session.peer.max_concurrent_streams.unwrap_or(MAX_STREAMS) as usize;
        while !self.closing
            && self.exchanges.len() < most
            && let Some(index) = fetches.next()
        {
            let request = fetches.request(index);
            let method = request.method;
            let fields = fields(request, request.authority(&self.authority));
            let size = fields.iter().map(Field::size).sum::<u64>();
            let limit = self.session.peer.max_header_list;
            let is_valid = request.path.starts_with('/') && request.path.bytes().all(|byte| byte > b' ');
            if !is_valid || limit.is_some_and(|limit| size > limit.into()) || self.next > LAST_STREAM {
                fetches.note_sent(now, None);
                fetches.finish(now, index, Some(Failure::Unsupported));
                continue;
            }
            fetches.note_sent(now, Some(self.next.into()));
            self.session.fields(self.next, &fields, true);
            self.session.open(self.next);
            let exchange = Exchange { index, method, head: None, received: 0, trailed: false };
            self.exchanges.insert(self.next, exchange);
            self.next += 2;
        }
        if fetches.are_over() && !self.ended {
            (self.closing, self.ended) = (true, true);
            // Section 6.8: GOAWAY precedes the close.
            self.session.go_away(0, Code::NO_ERROR);
            return self.end(transport, Code::NO_ERROR, "done");
        }
        self.session.flush(stream, transport);
    }

    fn read(
        &mut self,
        now: Time,
        connection: StreamId,
        fetches: &mut Fetches,
        transport: &mut dyn Transport,
    ) -> Result<(), Error> {
        loop {
            let result = match self.session.step(connection, transport) {
                Ok(Step::Blocked) => return Ok(()),
                Ok(Step::End) => {
                    (self.closing, self.ended) = (true, true);
                    let _ = transport.finish(connection);
                    return Ok(());
                }
                Ok(Step::Content(stream, left)) => {
                    match self.on_content(now, connection, OpenFrame { stream, left }, fetches, transport) {
                        Ok(true) => Ok(()),
                        Ok(false) => return Ok(()),
                        Err(error) => Err(error),
                    }
                }
                Ok(step) => self.on_step(now, step, fetches),
                Err(error) => Err(error),
            };
            match result {
                // Section 5.4.2: a stream error resets the stream.
                Err(Error { code, stream: Some(stream), why }) => {
                    // Section 5.1: a stream that was never opened cannot be reset.
                    self.check_open(stream).map_err(|_| Error::connection(code, why))?;
                    self.session.note_reset()?;
                    self.session.reset(stream, code);
                    self.conclude(now, stream, Some(Failure::Malformed(why)), fetches);
                }
                Err(error) => return Err(error),
                Ok(()) => {}
            }
        }
    }

    fn on_step(&mut self, now: Time, step: Step, fetches: &mut Fetches) -> Result<(), Error> {
        match step {
            Step::Fields(stream, fields, ends) => {
                self.check_open(stream)?;
                self.check_stays(stream)?;
                if let Some(exchange) = self.exchanges.get_mut(&stream) {
                    match exchange.on_fields(now, stream, ends, fields, fetches)? {
                        Some(failure) => {
                            self.session.reset(stream, Code::CANCEL);
                            self.conclude(now, stream, Some(failure), fetches);
                        }
                        None if ends => self.on_end(now, stream, fetches)?,
                        None => {}
                    }
                }
            }
            Step::Data(stream, length) => self.on_data(stream, length)?,
            Step::ContentEnd(stream) => self.on_end(now, stream, fetches)?,
            Step::Reset(stream, code) => {
                self.check_open(stream)?;
                if let Some(exchange) = self.exchanges.remove(&stream) {
                    self.session.close(stream);
                    // Section 8.7: the request was not processed.
                    if code == Code::REFUSED_STREAM {
                        fetches.refuse(now, exchange.index);
                    } else {
                        fetches.finish(now, exchange.index, Some(Failure::Reset(code.0.into())));
                    }
                }
            }
            Step::GoAway(last) => {
                // Section 6.8: higher streams were not processed, and no more may be opened.
                self.closing = true;
                for (stream, exchange) in self.exchanges.split_off(&last.saturating_add(1)) {
                    self.session.close(stream);
                    fetches.finish(now, exchange.index, Some(Failure::NotProcessed));
                }
            }
            // Requests have no content that waits for window.
            Step::Window(stream, _) if stream > 0 => self.check_open(stream)?,
            _ => {}
        }
        Ok(())
    }

    /// Section 5.1: no frames are received on an idle stream, and the server opens none.
    fn check_open(&self, stream: u32) -> Result<(), Error> {
        if stream >= self.next || stream.is_multiple_of(2) {
            return Err(Error::connection(Code::PROTOCOL_ERROR, "a frame on an idle stream"));
        }
        Ok(())
    }

    /// Section 5.1: no frames are received on a closed stream, unless it was reset here and the peer does not know yet.
    fn check_stays(&self, stream: u32) -> Result<(), Error> {
        if self.exchanges.contains_key(&stream) || self.session.was_reset(stream) {
            return Ok(());
        }
        Err(Error::stream(stream, Code::STREAM_CLOSED, "a frame on a closed stream"))
    }

    /// Checks whether a DATA frame with this much content is valid.
    fn on_data(&self, stream: u32, length: u64) -> Result<(), Error> {
        self.check_open(stream)?;
        self.check_stays(stream)?;
        let Some(exchange) = self.exchanges.get(&stream) else { return Ok(()) };
        let malformed = |why| Err(Error::stream(stream, Code::PROTOCOL_ERROR, why));
        let Some((head, _)) = &exchange.head else { return malformed("DATA before HEADERS") };
        if exchange.trailed {
            return malformed("DATA after the trailers");
        }
        let has_content = exchange.method != Method::Head && !head.is_empty();
        let limit = if has_content { head.content_length } else { Some(0) };
        if limit.is_some_and(|limit| exchange.received + length > limit) {
            // Section 8.1.1: content and Content-Length must agree.
            return malformed("more content than the response may have");
        }
        Ok(())
    }

    /// Reads content. Returns whether any was available.
    fn on_content(
        &mut self,
        now: Time,
        connection: StreamId,
        OpenFrame { stream, left }: OpenFrame,
        fetches: &mut Fetches,
        transport: &mut dyn Transport,
    ) -> Result<bool, Error> {
        let found = self.exchanges.get_mut(&stream);
        let Some((exchange, take)) = found.and_then(|exchange| {
            let take = exchange.head.as_ref().map(|(_, take)| *take)?;
            Some((exchange, take))
        }) else {
            // Section 5.1: frames in flight to a stream that was reset here are ignored.
            let Ok(read) = transport.skip(connection, left) else { return Ok(false) };
            self.session.note_content(&read);
            return Ok(read.bytes > 0);
        };
        match fetches.read_body(
            now,
            OpenBody { stream: connection, index: exchange.index, take },
            left,
            transport,
        ) {
            Ok(Ok(read)) => {
                exchange.received += read.bytes;
                self.session.note_content(&read);
                Ok(read.bytes > 0)
            }
            // Nothing is available, or the connection has ended, which the session will detect.
            Ok(Err(_)) => Ok(false),
            Err((read, failure)) => {
                self.session.note_content(&read);
                self.session.reset(stream, Code::CANCEL);
                self.conclude(now, stream, Some(failure), fetches);
                Ok(true)
            }
        }
    }

    fn on_end(&mut self, now: Time, stream: u32, fetches: &mut Fetches) -> Result<(), Error> {
        let Some(exchange) = self.exchanges.get(&stream) else { return Ok(()) };
        let malformed = |why| Err(Error::stream(stream, Code::PROTOCOL_ERROR, why));
        match &exchange.head {
            None => malformed("the stream ended before the response began"),
            Some((head, _))
                if exchange.method != Method::Head
                    && !head.is_empty()
                    && head.content_length.is_some_and(|length| length != exchange.received) =>
            {
                malformed("less content than content-length says")
            }
            Some(_) => {
                self.session.note_completed();
                self.session.close(stream);
                self.conclude(now, stream, None, fetches);
                Ok(())
            }
        }
    }

    fn conclude(&mut self, now: Time, stream: u32, failure: Option<Failure>, fetches: &mut Fetches) {
        if let Some(exchange) = self.exchanges.remove(&stream) {
            fetches.finish(now, exchange.index, failure);
        }
    }
}

impl Exchange {
    /// Handles a field section. Returns the reason if the request has failed.
    fn on_fields(
        &mut self,
        now: Time,
        stream: u32,
        ends: bool,
        fields: Option<Vec<Field>>,
        fetches: &mut Fetches,
    ) -> Result<Option<Failure>, Error> {
        let malformed = |Malformed(why)| Error::stream(stream, Code::PROTOCOL_ERROR, why);
        let Some(fields) = fields else {
            return Ok(Some(Failure::Malformed("the fields are larger than the limit")));
        };
        if self.head.is_some() {
            // Section 8.1: trailers end the stream.
            if !ends || self.trailed {
                return Err(Error::stream(
                    stream,
                    Code::PROTOCOL_ERROR,
                    "HEADERS in the middle of a response",
                ));
            }
            self.trailed = true;
            return http2::check_trailers(&fields).map(|()| None).map_err(malformed);
        }
        let head = http2::read_response(&fields).map_err(malformed)?;
        if head.is_interim() {
            // Section 8.1: an interim response does not end the stream.
            let error =
                Error::stream(stream, Code::PROTOCOL_ERROR, "an interim response that ends the stream");
            return if ends { Err(error) } else { Ok(None) };
        }
        let info = Head {
            status: Some(head.status),
            content_length: head.content_length,
            content_type: head.content_type.clone(),
        };
        match fetches.begin(now, self.index, &info) {
            Ok(take) => {
                self.head = Some((head, take));
                Ok(None)
            }
            Err(failure) => Ok(Some(failure)),
        }
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
