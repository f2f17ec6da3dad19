//! The client of HTTP/1.1: persistent connections, one request at a time on each.

use super::body::Body;
use super::{BROKEN, NO_ERROR, PIECE};
use crate::{Failure, Fetches, Head, Method, Take};
use http::http1::{self, HeadReader, Next};
use http::message::Malformed;
use std::collections::BTreeMap;
use transport::{Data, Event, StreamError, Transport};
use units::Time;
use wire::{Direction, StreamId};

/// A request that is underway on a connection.
#[derive(Debug)]
struct Exchange {
    index: usize,
    method: Method,
    heads: HeadReader,
    /// What the sink wants, once the final head has come.
    take: Option<Take>,
    /// What is to come of the body.
    body: Body,
    /// Whether the connection ends behind the response.
    closes: bool,
}

/// How far a connection is.
#[derive(Debug)]
enum Line {
    /// It is not established.
    Opening,
    Idle,
    Busy(Box<Exchange>),
}

/// What comes of reading a response.
enum Outcome {
    /// It is not complete.
    Blocked,
    /// It is complete; whether the connection can be used again.
    Complete(bool),
    /// It is not to be had, and the connection is of no more use.
    Failed(Failure),
    /// The connection ended before anything of the response came.
    Nothing,
}

impl From<Malformed> for Outcome {
    fn from(Malformed(why): Malformed) -> Outcome {
        Outcome::Failed(Failure::Malformed(why))
    }
}

/// The client's end of all connections of a flow.
#[derive(Debug)]
pub(crate) struct Http1Client {
    authority: String,
    lines: BTreeMap<StreamId, Line>,
}

impl Http1Client {
    pub(crate) fn new(authority: &str) -> Http1Client {
        Http1Client { authority: authority.to_owned(), lines: BTreeMap::new() }
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
                // The connection that the flow begins with.
                if let Ok(stream) = transport.open(Direction::Bidirectional) {
                    self.lines.insert(stream, Line::Idle);
                }
                self.ask(now, fetches, transport);
            }
            Event::Writable(stream) => {
                if let Some(line @ Line::Opening) = self.lines.get_mut(&stream) {
                    *line = Line::Idle;
                    self.ask(now, fetches, transport);
                }
            }
            Event::Readable(stream) => self.read(now, stream, fetches, transport),
            Event::Reset { stream, .. } => {
                self.conclude(now, stream, Outcome::Nothing, fetches, transport);
            }
            Event::Ended => {
                for line in std::mem::take(&mut self.lines).into_values() {
                    if let Line::Busy(exchange) = line {
                        fetches.finish(now, exchange.index, Some(Failure::ConnectionLost));
                    }
                }
                fetches.give_up_waiting(now);
            }
            _ => {}
        }
    }

    /// Gives up a request that is underway, and its connection with it.
    pub(crate) fn cancel(
        &mut self,
        now: Time,
        index: usize,
        fetches: &mut Fetches,
        transport: &mut dyn Transport,
    ) {
        let is_it = |line: &Line| matches!(line, Line::Busy(exchange) if exchange.index == index);
        if let Some(stream) = self.lines.iter().find(|(_, line)| is_it(line)).map(|(stream, _)| *stream) {
            self.conclude(now, stream, Outcome::Failed(Failure::Cancelled), fetches, transport);
        }
    }

    /// Sends requests on idle connections, in the order in which those were opened, and opens one more for each that waits,
    /// as far as the flow's limit goes. What waits takes whichever connection is first ready.
    pub(crate) fn ask(&mut self, now: Time, fetches: &mut Fetches, transport: &mut dyn Transport) {
        while let Some(index) = fetches.next() {
            let request = fetches.request(index);
            if !request.path.starts_with('/') || request.path.bytes().any(|byte| byte <= b' ') {
                fetches.note_asked(now, None);
                fetches.finish(now, index, Some(Failure::Unsupported));
                continue;
            }
            let idle = self.lines.iter_mut().find(|(_, line)| matches!(line, Line::Idle));
            let Some((&stream, line)) = idle else { break };
            let mut head = Vec::new();
            let (method, path) = (request.method, &request.path);
            http1::write_request(&mut head, method.as_str(), path, &self.authority, &request.fields());
            fetches.note_asked(now, Some(stream.value()));
            let heads = HeadReader::of_responses();
            let body = Body::UpToEnd;
            *line = Line::Busy(Box::new(Exchange { index, method, heads, take: None, body, closes: false }));
            // The send buffer of an idle connection is empty: it has room, or is configured to be less than a head.
            if transport.write(stream, Data::Bytes(&head)) != Ok(head.len() as u64) {
                self.conclude(now, stream, Outcome::Failed(Failure::Unsupported), fetches, transport);
            }
        }
        let mut opening = self.lines.values().filter(|line| matches!(line, Line::Opening)).count();
        while opening < fetches.waiting()
            && let Ok(stream) = transport.open(Direction::Bidirectional)
        {
            self.lines.insert(stream, Line::Opening);
            opening += 1;
        }
        if fetches.are_over() {
            for stream in std::mem::take(&mut self.lines).into_keys() {
                let _ = transport.finish(stream);
            }
            transport.close(NO_ERROR, "done");
        }
    }

    fn read(&mut self, now: Time, stream: StreamId, fetches: &mut Fetches, transport: &mut dyn Transport) {
        let outcome = match self.lines.get_mut(&stream) {
            Some(Line::Busy(exchange)) => exchange.read(now, stream, fetches, transport),
            // Nothing comes that was not asked for but the end, or a response like 408 that the server has given on its own.
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
        let Some(line) = self.lines.remove(&stream) else { return };
        let exchange = if let Line::Busy(exchange) = line { Some(exchange) } else { None };
        match outcome {
            Outcome::Blocked => {}
            Outcome::Complete(true) => drop(self.lines.insert(stream, Line::Idle)),
            // RFC 9112 section 9.6: the client closes too.
            Outcome::Complete(false) | Outcome::Nothing => drop(transport.finish(stream)),
            Outcome::Failed(_) => drop(transport.reset(stream, BROKEN)),
        }
        if let Some(exchange) = exchange {
            let index = exchange.index;
            match outcome {
                Outcome::Failed(failure) => fetches.finish(now, index, Some(failure)),
                // RFC 9112 section 9.3.1: what is idempotent can be asked again on another connection.
                Outcome::Nothing if exchange.take.is_none() => fetches.refuse(now, index),
                Outcome::Nothing => fetches.finish(now, index, Some(Failure::ConnectionLost)),
                _ => fetches.finish(now, index, None),
            }
        }
        self.ask(now, fetches, transport);
    }
}

impl Exchange {
    /// Reads what there is of the response.
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
                    match fetches.read_body((now, stream, self.index), take, limit, transport) {
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
                // RFC 9112 section 6.3: a body of an unknown length ends with the connection; any other is then incomplete
                // (section 8).
                (Some(_), Body::UpToEnd) if finished => return Outcome::Complete(false),
                _ if finished => return Outcome::Nothing,
                _ if bytes == 0 => return Outcome::Blocked,
                _ => {}
            }
        }
    }

    /// Reads a piece where a head is, or what stands around chunks, and what of the body came with it.
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
                fetches.take_body((now, index), take, content).map_err(Outcome::Failed)
            })?;
            // RFC 9112 section 6.3: nothing was asked for that could come behind the response; it is not taken for one.
            self.closes |= used < rest.len();
        }
        Ok((read.bytes, read.finished))
    }

    fn on_head(&mut self, now: Time, head: &[u8], fetches: &mut Fetches) -> Result<(), Outcome> {
        let message = http1::read_response(head)?;
        let head = message.head;
        // RFC 9110 section 15.2: interim responses come before the final one.
        if head.is_interim() {
            return Ok(());
        }
        // RFC 9112 section 6.3, in its order.
        self.body = match head.content_length {
            _ if self.method == Method::Head || head.is_empty() => Body::Told(0),
            _ if message.is_chunked => Body::chunked(),
            Some(length) => Body::Told(length),
            None => Body::UpToEnd,
        };
        self.closes = message.closes;
        let told = Head {
            status: Some(head.status),
            content_length: head.content_length,
            content_type: head.content_type,
        };
        self.take = Some(fetches.begin(now, self.index, &told).map_err(Outcome::Failed)?);
        Ok(())
    }
}

/// Whether nothing has come behind a response. What has would be taken for the response to the next request, so that the
/// connection is of no more use (RFC 9112 section 6.3).
fn is_empty(stream: StreamId, transport: &mut dyn Transport) -> bool {
    match transport.read(stream, &mut [0]) {
        Ok(read) => read.bytes == 0 && !read.finished,
        Err(error) => error == StreamError::Blocked,
    }
}
