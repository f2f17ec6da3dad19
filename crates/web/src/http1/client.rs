//! The client of HTTP/1.1, with persistent connections and one request at a time on each.

use super::body::Body;
use super::{ABORTED, NO_ERROR, PIECE};
use crate::{Failure, Fetches, Head, Method, OpenBody, Take};
use http::http1::{self, HeadReader, Next};
use http::message::Malformed;
use std::collections::BTreeMap;
use transport::{Data, Event, StreamError, Transport};
use units::Time;
use wire::{Direction, StreamId};

/// A request in flight on a connection.
#[derive(Debug)]
struct Exchange {
    index: usize,
    method: Method,
    heads: HeadReader,
    /// What the sink wants; set when the final head arrives.
    take: Option<Take>,
    /// The unread rest of the body.
    body: Body,
    /// Whether the connection closes after the response.
    closes: bool,
}

/// The state of a connection.
#[derive(Debug)]
enum Connection {
    /// Not established.
    Opening,
    Idle,
    Busy(Box<Exchange>),
}

/// The result of reading a response.
enum Outcome {
    /// It is incomplete.
    Blocked,
    /// It is complete; the flag is whether the connection can be reused.
    Complete(bool),
    /// It failed, and the connection cannot be reused.
    Failed(Failure),
    /// The connection ended before the response started.
    Nothing,
}

impl From<Malformed> for Outcome {
    fn from(Malformed(why): Malformed) -> Outcome {
        Outcome::Failed(Failure::Malformed(why))
    }
}

/// The client end of all connections of a flow.
#[derive(Debug)]
pub(crate) struct Http1Client {
    authority: String,
    connections: BTreeMap<StreamId, Connection>,
}

impl Http1Client {
    pub(crate) fn new(authority: &str) -> Http1Client {
        Http1Client { authority: authority.to_owned(), connections: BTreeMap::new() }
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
                // The first connection of the flow.
                if let Ok(stream) = transport.open(Direction::Bidirectional) {
                    self.connections.insert(stream, Connection::Idle);
                }
                self.send_requests(now, fetches, transport);
            }
            Event::Writable(stream) => {
                if let Some(connection @ Connection::Opening) = self.connections.get_mut(&stream) {
                    *connection = Connection::Idle;
                    self.send_requests(now, fetches, transport);
                }
            }
            Event::Readable(stream) => self.read(now, stream, fetches, transport),
            Event::Reset { stream, .. } => {
                self.conclude(now, stream, Outcome::Nothing, fetches, transport);
            }
            Event::Ended => {
                for connection in std::mem::take(&mut self.connections).into_values() {
                    if let Connection::Busy(exchange) = connection {
                        fetches.finish(now, exchange.index, Some(Failure::ConnectionLost));
                    }
                }
                fetches.fail_waiting(now);
            }
            _ => {}
        }
    }

    /// Cancels a request in flight, together with its connection.
    pub(crate) fn cancel(
        &mut self,
        now: Time,
        index: usize,
        fetches: &mut Fetches,
        transport: &mut dyn Transport,
    ) {
        let is_it = |it: &Connection| matches!(it, Connection::Busy(exchange) if exchange.index == index);
        if let Some(stream) = self.connections.iter().find(|(_, it)| is_it(it)).map(|(stream, _)| *stream) {
            self.conclude(now, stream, Outcome::Failed(Failure::Cancelled), fetches, transport);
        }
    }

    /// Sends requests on idle connections, in the order of opening, and opens a connection for each waiting request, up
    /// to the limit of the flow. A waiting request takes the first connection that is ready.
    pub(crate) fn send_requests(&mut self, now: Time, fetches: &mut Fetches, transport: &mut dyn Transport) {
        while let Some(index) = fetches.next() {
            let request = fetches.request(index);
            if !request.path.starts_with('/') || request.path.bytes().any(|byte| byte <= b' ') {
                fetches.note_sent(now, None);
                fetches.finish(now, index, Some(Failure::Unsupported));
                continue;
            }
            let idle =
                self.connections.iter_mut().find(|(_, connection)| matches!(connection, Connection::Idle));
            let Some((&stream, connection)) = idle else { break };
            let mut head = Vec::new();
            let (method, path) = (request.method, &request.path);
            http1::write_request(
                &mut head,
                method.as_str(),
                path,
                request.authority(&self.authority),
                &request.fields(),
            );
            fetches.note_sent(now, Some(stream.value()));
            let heads = HeadReader::of_responses();
            let body = Body::UpToEnd;
            *connection = Connection::Busy(Box::new(Exchange {
                index,
                method,
                heads,
                take: None,
                body,
                closes: false,
            }));
            // The send buffer of an idle connection is empty and has room, unless it is configured to be smaller than a
            // head.
            if transport.write(stream, Data::Bytes(&head)) != Ok(head.len() as u64) {
                self.conclude(now, stream, Outcome::Failed(Failure::Unsupported), fetches, transport);
            }
        }
        let mut opening =
            self.connections.values().filter(|connection| matches!(connection, Connection::Opening)).count();
        while opening < fetches.waiting()
            && let Ok(stream) = transport.open(Direction::Bidirectional)
        {
            self.connections.insert(stream, Connection::Opening);
            opening += 1;
        }
        if fetches.are_over() {
            for stream in std::mem::take(&mut self.connections).into_keys() {
                let _ = transport.finish(stream);
            }
            transport.close(NO_ERROR, "done");
        }
    }

    fn read(&mut self, now: Time, stream: StreamId, fetches: &mut Fetches, transport: &mut dyn Transport) {
        let outcome = match self.connections.get_mut(&stream) {
            Some(Connection::Busy(exchange)) => exchange.read(now, stream, fetches, transport),
            // Without a request only the end is expected, or an unsolicited response such as 408.
            Some(_) => {
                let _ = transport.discard(stream);
                Outcome::Nothing
            }
            None => Outcome::Blocked,
        };
        self.conclude(now, stream, outcome, fetches, transport);
    }

    fn conclude(
        &mut self,
        now: Time,
        stream: StreamId,
        outcome: Outcome,
        fetches: &mut Fetches,
        transport: &mut dyn Transport,
    ) {
        if matches!(outcome, Outcome::Blocked) {
            return;
        }
        let Some(connection) = self.connections.remove(&stream) else { return };
        let exchange = if let Connection::Busy(exchange) = connection { Some(exchange) } else { None };
        match outcome {
            Outcome::Blocked => {}
            Outcome::Complete(true) => drop(self.connections.insert(stream, Connection::Idle)),
            // RFC 9112 section 9.6: the client closes too.
            Outcome::Complete(false) | Outcome::Nothing => drop(transport.finish(stream)),
            Outcome::Failed(_) => drop(transport.reset(stream, ABORTED)),
        }
        if let Some(exchange) = exchange {
            let index = exchange.index;
            match outcome {
                Outcome::Failed(failure) => fetches.finish(now, index, Some(failure)),
                // RFC 9112 section 9.3.1: idempotent requests can be retried on another connection.
                Outcome::Nothing if exchange.take.is_none() => fetches.refuse(now, index),
                Outcome::Nothing => fetches.finish(now, index, Some(Failure::ConnectionLost)),
                _ => fetches.finish(now, index, None),
            }
        }
        self.send_requests(now, fetches, transport);
    }
}

impl Exchange {
    /// Reads the available part of the response.
    fn read(
        &mut self,
        now: Time,
        stream: StreamId,
        fetches: &mut Fetches,
        transport: &mut dyn Transport,
    ) -> Outcome {
        loop {
            let read = match (self.take, self.body.next()) {
                (Some(take), Next::Content(limit)) => {
                    match fetches.read_body(
                        now,
                        OpenBody { stream, index: self.index, take },
                        limit,
                        transport,
                    ) {
                        Ok(Ok(read)) => {
                            self.body.note_content(read.bytes);
                            Ok((read.bytes, read.finished))
                        }
                        Ok(Err(StreamError::Reset(_))) => Err(Outcome::Nothing),
                        Ok(Err(_)) => Err(Outcome::Blocked),
                        Err((_, failure)) => Err(Outcome::Failed(failure)),
                    }
                }
                _ => self.read_piece(now, stream, fetches, transport),
            };
            let (bytes, finished) = match read {
                Ok(read) => read,
                Err(outcome) => return outcome,
            };
            match (self.take, &self.body) {
                (Some(_), body) if body.next() == Next::End => {
                    return Outcome::Complete(!self.closes && !finished && is_empty(stream, transport));
                }
                // RFC 9112 section 6.3: a body of unknown length ends with the connection; any other body is then
                // incomplete (section 8).
                (Some(_), Body::UpToEnd) if finished => return Outcome::Complete(false),
                _ if finished => return Outcome::Nothing,
                _ if bytes == 0 => return Outcome::Blocked,
                _ => {}
            }
        }
    }

    /// Reads a piece of a head or of the chunk framing, and any content that follows it.
    fn read_piece(
        &mut self,
        now: Time,
        stream: StreamId,
        fetches: &mut Fetches,
        transport: &mut dyn Transport,
    ) -> Result<(u64, bool), Outcome> {
        let mut bytes = [0; PIECE];
        let read = match transport.read(stream, &mut bytes) {
            Ok(read) => read,
            Err(StreamError::Reset(_)) => return Err(Outcome::Nothing),
            Err(_) => return Err(Outcome::Blocked),
        };
        let mut rest = &bytes[..read.bytes as usize];
        while self.take.is_none() {
            let pushed = self.heads.push(rest).map_err(|bad| Malformed(bad.why()))?;
            let Some((head, used)) = pushed else { return Ok((read.bytes, read.finished)) };
            rest = &rest[used..];
            self.on_head(now, &head, fetches)?;
        }
        if let Some(take) = self.take {
            let index = self.index;
            let used = self.body.push(rest, |content| {
                fetches.take_body(now, index, take, content).map_err(Outcome::Failed)
            })?;
            // RFC 9112 section 6.3: data after the response does not belong to a request and must not be taken for a
            // response.
            self.closes |= used < rest.len();
        }
        Ok((read.bytes, read.finished))
    }

    fn on_head(&mut self, now: Time, head: &[u8], fetches: &mut Fetches) -> Result<(), Outcome> {
        let message = http1::read_response(head)?;
        let head = message.head;
        // RFC 9110 section 15.2: interim responses precede the final one.
        if head.is_interim() {
            return Ok(());
        }
        // RFC 9112 section 6.3, in the order given there.
        self.body = match head.content_length {
            _ if self.method == Method::Head || head.is_empty() => Body::Length(0),
            _ if message.is_chunked => Body::chunked(),
            Some(length) => Body::Length(length),
            None => Body::UpToEnd,
        };
        self.closes = message.closes;
        let info = Head {
            status: Some(head.status),
            content_length: head.content_length,
            content_type: head.content_type,
        };
        self.take = Some(fetches.begin(now, self.index, &info).map_err(Outcome::Failed)?);
        Ok(())
    }
}

/// Whether nothing follows a response. Such data would be taken for the next response, so the connection cannot be
/// reused (RFC 9112 section 6.3).
fn is_empty(stream: StreamId, transport: &mut dyn Transport) -> bool {
    match transport.read(stream, &mut [0]) {
        Ok(read) => read.bytes == 0 && !read.finished,
        Err(error) => error == StreamError::Blocked,
    }
}
