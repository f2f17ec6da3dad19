//! The server of HTTP/2.

use super::session::{Session, Step};
use super::turns::{self, Turn, Turns};
use super::{MAX_FIELD_SECTION, MAX_STREAMS, SERVER_WINDOWS};
use crate::Transport;
use crate::web::{Answer, Body, Method, Site, Thinking};
use http::Priority;
use http::http2::{self, Code, Error, Flags, FrameHead, Kind, MAX_FRAME, MAX_WINDOW, Settings};
use http::message::{Malformed, RequestHead};
use http::qpack::Field;
use quic::schedule::{PathView, Scheduler};
use quic::{Data, Event};
use std::collections::BTreeMap;
use units::{Duration, Time};
use wire::{Side, StreamId};

/// Bytes that are written and not yet sent above which the connection takes no more frames: what is more urgent comes soon.
const UNSENT: u64 = MAX_FRAME as u64;

/// How far a request is.
#[derive(Debug)]
enum Stage {
    Asking {
        head: Option<RequestHead>,
        received: u64,
    },
    /// The answer is there, and given later.
    Thinking(Answer),
    /// So much of the body is left.
    Answering(Body),
}

/// A request that is underway.
#[derive(Debug)]
struct Exchange {
    stage: Stage,
    head_only: bool,
    turn: Turn,
    /// What may be sent on the stream.
    window: i64,
    /// Bytes of the body that were taken out of its source.
    taken: u64,
}

impl Exchange {
    /// Whether content may be sent, as far as the stream goes.
    fn is_ready(&self) -> bool {
        matches!(self.stage, Stage::Answering(_)) && self.window > 0
    }
}

/// The server's end of a connection.
#[derive(Debug)]
pub(crate) struct Http2Server {
    session: Session,
    stream: Option<StreamId>,
    exchanges: BTreeMap<u32, Exchange>,
    thinking: Thinking,
    turns: Turns,
    /// Priorities that came before the request did: with the exchanges at most [`MAX_STREAMS`].
    priorities: BTreeMap<u32, Priority>,
    /// The last stream that was opened, and how many were.
    last: u32,
    opened: u32,
    /// What is left to be written of the frame that was begun: real bytes, then virtual ones.
    begun: (Vec<u8>, u64),
    closing: bool,
    broken: bool,
}

impl Http2Server {
    /// One whose responses share the connection as this scheduler says.
    pub(crate) fn new(scheduler: Box<dyn Scheduler>) -> Http2Server {
        let settings = Settings {
            max_concurrent_streams: Some(MAX_STREAMS),
            max_header_list: Some(MAX_FIELD_SECTION),
            no_rfc7540_priorities: true,
            ..Settings::default()
        };
        Http2Server {
            session: Session::new(Side::Server, &settings, &SERVER_WINDOWS),
            stream: None,
            exchanges: BTreeMap::new(),
            thinking: Thinking::default(),
            turns: Turns::new(scheduler),
            priorities: BTreeMap::new(),
            last: 0,
            opened: 0,
            begun: (Vec::new(), 0),
            closing: false,
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
        match *event {
            Event::Opened(stream) if self.stream.is_none() => {
                self.stream = Some(stream);
                transport.limit_unsent(stream, UNSENT);
            }
            Event::Readable(stream) if self.stream == Some(stream) && !self.broken => {
                if let Err(error) = self.read(now, stream, site, transport) {
                    self.fail(error, stream, transport);
                }
            }
            Event::Reset { stream, .. } if self.stream == Some(stream) => self.stop(),
            Event::Ended => self.stop(),
            _ => {}
        }
        self.pump(now, transport);
    }

    /// Ends the connection with the peer's error (RFC 9113 section 5.4.1).
    fn fail(&mut self, error: Error, stream: StreamId, transport: &mut dyn Transport) {
        self.stop();
        self.session.go_away(self.last, error.code);
        // A frame that was begun comes to its end, or nothing would be understood behind it.
        if self.write_begun(stream, transport) {
            self.session.flush(stream, transport);
        }
        let _ = transport.finish(stream);
        transport.close(error.code.0.into(), error.why);
    }

    /// Nothing is read and answered any more.
    fn stop(&mut self) {
        self.broken = true;
        while let Some((stream, _)) = self.exchanges.first_key_value() {
            self.remove(*stream);
        }
    }

    /// A request is over, if there is one on the stream.
    fn remove(&mut self, stream: u32) {
        if let Some(exchange) = self.exchanges.remove(&stream) {
            self.turns.close(&exchange.turn);
        }
    }

    /// When a request that was thought about is to be answered.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.thinking.wake_at().filter(|_| !self.broken)
    }
    /// Answers those whose time has come.
    pub(crate) fn wake(&mut self, now: Time, transport: &mut dyn Transport) {
        while let Some(stream) = self.thinking.next(now) {
            let stream = stream.index() as u32;
            if let Some(exchange) = self.exchanges.get_mut(&stream)
                && let Stage::Thinking(answer) = &mut exchange.stage
            {
                let answer = std::mem::replace(answer, Answer::found(Body::Virtual(0)));
                self.answer(now, stream, answer);
            }
        }
        self.pump(now, transport);
    }

    /// Takes no more requests (RFC 9113 section 6.8).
    pub(crate) fn shut_down(&mut self, transport: &mut dyn Transport) {
        if !std::mem::replace(&mut self.closing, true) {
            self.session.go_away(self.last, Code::NO_ERROR);
            if let Some(connection) = self.stream.filter(|_| !self.broken)
                && self.write_begun(connection, transport)
            {
                self.session.flush(connection, transport);
            }
        }
    }
    /// Whether no request is underway.
    pub(crate) fn is_idle(&self) -> bool {
        self.exchanges.is_empty()
    }

    fn read(
        &mut self,
        now: Time,
        connection: StreamId,
        site: &mut dyn Site,
        transport: &mut dyn Transport,
    ) -> Result<(), Error> {
        loop {
            let result = match self.session.step(connection, transport) {
                Ok(Step::Blocked) => return Ok(()),
                Ok(Step::End) => {
                    self.stop();
                    let _ = transport.finish(connection);
                    return Ok(());
                }
                Ok(Step::Content(stream, left)) => {
                    let Ok(read) = transport.skip(connection, left) else { return Ok(()) };
                    self.session.note_content(&read);
                    if read.bytes == 0 {
                        return Ok(());
                    }
                    self.count(stream, read.bytes);
                    Ok(())
                }
                Ok(step) => self.on_step(now, step, site),
                Err(error) => Err(error),
            };
            match result {
                // Section 5.4.2.
                Err(Error { code, stream: Some(stream), why }) => {
                    // No stream that was never opened can be reset: section 5.1.
                    self.check_open(stream).map_err(|_| Error::connection(code, why))?;
                    // What the client has the server reset costs as much as what it resets.
                    self.session.note_reset()?;
                    self.session.reset(stream, code);
                    self.remove(stream);
                }
                Err(error) => return Err(error),
                Ok(()) => {}
            }
        }
    }

    fn on_step(&mut self, now: Time, step: Step, site: &mut dyn Site) -> Result<(), Error> {
        match step {
            Step::Fields(stream, fields, ends) => self.on_fields(now, (stream, ends), fields, site)?,
            Step::Data(stream, length) => self.on_data(stream, length)?,
            Step::ContentEnd(stream) => self.on_end(now, stream, site)?,
            Step::Reset(stream, _) => {
                self.check_open(stream)?;
                self.session.close(stream);
                self.remove(stream);
            }
            Step::Window(stream, more) if stream > 0 => {
                self.check_open(stream)?;
                if let Some(exchange) = self.exchanges.get_mut(&stream) {
                    exchange.window += i64::from(more);
                    // Section 6.9.1.
                    if exchange.window > i64::from(MAX_WINDOW) {
                        return Err(Error::stream(
                            stream,
                            Code::FLOW_CONTROL_ERROR,
                            "a window grows too large",
                        ));
                    }
                    let is_ready = exchange.is_ready();
                    self.turns.set_ready(now, &mut exchange.turn, is_ready);
                }
            }
            Step::WindowsShift(by) => {
                for exchange in self.exchanges.values_mut() {
                    exchange.window += by;
                    let is_ready = exchange.is_ready();
                    self.turns.set_ready(now, &mut exchange.turn, is_ready);
                    // Section 6.9.2.
                    if exchange.window > i64::from(MAX_WINDOW) {
                        return Err(Error::connection(Code::FLOW_CONTROL_ERROR, "a window grows too large"));
                    }
                }
            }
            Step::Priority(stream, priority) => self.on_priority(stream, priority)?,
            _ => {}
        }
        Ok(())
    }

    /// RFC 9218 section 7.1: a PRIORITY_UPDATE frame, which may come before the request.
    fn on_priority(&mut self, stream: u32, priority: Priority) -> Result<(), Error> {
        let wrong = |why| Err(Error::connection(Code::PROTOCOL_ERROR, why));
        if stream.is_multiple_of(2) {
            return wrong("a priority of a push, of which there are none");
        }
        if let Some(exchange) = self.exchanges.get(&stream) {
            self.turns.set_priority(&exchange.turn, priority);
        } else if stream > self.last {
            self.priorities.insert(stream, priority);
            // Those that are idle count as if they were open.
            if self.priorities.len() + self.exchanges.len() > MAX_STREAMS as usize {
                return wrong("priorities of more streams than may be open");
            }
        }
        Ok(())
    }

    /// Section 5.1: on a stream that is idle nothing comes but what opens it.
    fn check_open(&self, stream: u32) -> Result<(), Error> {
        if stream > self.last || stream.is_multiple_of(2) {
            return Err(Error::connection(Code::PROTOCOL_ERROR, "a frame on a stream that is idle"));
        }
        Ok(())
    }

    fn on_fields(
        &mut self,
        now: Time,
        (stream, ends): (u32, bool),
        fields: Option<Vec<Field>>,
        site: &mut dyn Site,
    ) -> Result<(), Error> {
        if stream > self.last {
            // Section 5.1.1: a client's streams are odd, and ascend.
            if stream.is_multiple_of(2) {
                return Err(Error::connection(Code::PROTOCOL_ERROR, "a stream that no client opens"));
            }
            (self.last, self.opened) = (stream, self.opened + 1);
            let priority = self.priorities.remove(&stream);
            self.priorities = self.priorities.split_off(&stream);
            // Sections 5.1.2 and 6.8.
            if self.exchanges.len() >= MAX_STREAMS as usize || self.closing {
                return Err(Error::stream(stream, Code::REFUSED_STREAM, "more streams than are taken"));
            }
            return self.on_request(now, (stream, ends), (fields, priority), site);
        }
        match self.exchanges.get(&stream).map(|exchange| &exchange.stage) {
            Some(Stage::Asking { .. }) => {}
            // Section 5.1: half closed by the client.
            Some(_) => {
                return Err(Error::stream(stream, Code::STREAM_CLOSED, "HEADERS behind the end of a stream"));
            }
            None => return self.on_late_fields(stream),
        }
        // Section 8.1: trailers end the stream.
        let trailers = fields.ok_or(Malformed("trailers too large")).and_then(|f| http2::check_trailers(&f));
        if trailers.is_err() || !ends {
            return Err(Error::stream(stream, Code::PROTOCOL_ERROR, "no trailers"));
        }
        self.on_end(now, stream, site)
    }

    /// A field section on a stream that is over, or was never opened and cannot be any more.
    fn on_late_fields(&self, stream: u32) -> Result<(), Error> {
        let wrong = |code, why| Err(Error::connection(code, why));
        match () {
            () if stream.is_multiple_of(2) => wrong(Code::PROTOCOL_ERROR, "a stream that no client opens"),
            // Section 5.1: of a stream that was reset here it is passed over.
            () if self.session.was_reset(stream) => Ok(()),
            // Section 5.1: behind the end of a stream nothing comes.
            () if self.opened == self.last.div_ceil(2) => {
                wrong(Code::STREAM_CLOSED, "HEADERS on a closed stream")
            }
            // Section 5.1.1: some streams were left out, and are not opened later.
            () => wrong(Code::PROTOCOL_ERROR, "a stream below one that was opened"),
        }
    }

    fn on_request(
        &mut self,
        now: Time,
        (stream, ends): (u32, bool),
        (fields, priority): (Option<Vec<Field>>, Option<Priority>),
        site: &mut dyn Site,
    ) -> Result<(), Error> {
        let head = match fields.as_deref().map(http2::read_request) {
            Some(Ok(head)) => Some(head),
            // Section 8.1.1.
            Some(Err(Malformed(why))) => {
                return Err(Error::stream(stream, Code::PROTOCOL_ERROR, why));
            }
            // Section 10.5.1.
            None => None,
        };
        // RFC 9218 section 7: PRIORITY_UPDATE counts more than the field.
        let field = head.as_ref().and_then(|head| head.priority);
        let expects_continue = head.as_ref().is_some_and(|head| head.expects_continue);
        let exchange = Exchange {
            head_only: head.as_ref().is_some_and(|head| head.method == Method::Head.as_str()),
            turn: self.turns.open(stream, priority.or(field).unwrap_or_default()),
            window: self.session.peer.initial_window.into(),
            taken: 0,
            stage: Stage::Asking { head, received: 0 },
        };
        self.exchanges.insert(stream, exchange);
        if ends {
            return self.on_end(now, stream, site);
        }
        self.session.open(stream);
        if expects_continue {
            // RFC 9110 section 10.1.1.
            self.session.fields(stream, &[Field::new(":status", "100")], false);
        }
        Ok(())
    }

    /// Whether a DATA frame with so much content can come on a stream.
    fn on_data(&self, stream: u32, length: u64) -> Result<(), Error> {
        self.check_open(stream)?;
        match self.exchanges.get(&stream).map(|exchange| &exchange.stage) {
            Some(Stage::Asking { head, received }) => {
                let told = head.as_ref().and_then(|head| head.content_length);
                if told.is_some_and(|told| received + length > told) {
                    // Section 8.1.1.
                    return Err(Error::stream(
                        stream,
                        Code::PROTOCOL_ERROR,
                        "more content than there can be",
                    ));
                }
                Ok(())
            }
            // Section 5.1: of a stream that was reset here it is passed over.
            None if self.session.was_reset(stream) => Ok(()),
            // Sections 5.1 and 6.1: half closed by the client, or closed.
            _ => Err(Error::stream(stream, Code::STREAM_CLOSED, "DATA on a stream that is closed")),
        }
    }
    fn count(&mut self, stream: u32, bytes: u64) {
        if let Some(Exchange { stage: Stage::Asking { received, .. }, .. }) = self.exchanges.get_mut(&stream)
        {
            *received += bytes;
        }
    }

    /// A request is complete.
    fn on_end(&mut self, now: Time, stream: u32, site: &mut dyn Site) -> Result<(), Error> {
        let Some(exchange) = self.exchanges.get_mut(&stream) else { return Ok(()) };
        let Stage::Asking { head, received } = &exchange.stage else { return Ok(()) };
        let answer = match head {
            Some(head) if head.content_length.is_some_and(|length| length != *received) => {
                return Err(Error::stream(
                    stream,
                    Code::PROTOCOL_ERROR,
                    "less content than content-length tells",
                ));
            }
            Some(head) => Answer::to(head, site).0,
            None => Answer::plain(431, "the fields are too large"),
        };
        if self.thinking.begin(now, turns::id(stream), answer.think) {
            exchange.stage = Stage::Thinking(answer);
        } else {
            self.answer(now, stream, answer);
        }
        Ok(())
    }

    fn answer(&mut self, now: Time, stream: u32, answer: Answer) {
        let Some(exchange) = self.exchanges.get_mut(&stream) else { return };
        let (rest, has_content) = answer.fields();
        let mut fields = vec![Field::new(":status", answer.status.to_string())];
        fields.extend(rest);
        let ends = exchange.head_only || !has_content;
        self.session.fields(stream, &fields, ends);
        if ends {
            self.session.note_completed();
            self.remove(stream);
        } else {
            exchange.stage = Stage::Answering(answer.body);
            self.turns.begin(now, &exchange.turn);
            let is_ready = exchange.is_ready();
            self.turns.set_ready(now, &mut exchange.turn, is_ready);
        }
    }

    /// Writes frames as long as the connection takes them.
    fn pump(&mut self, now: Time, transport: &mut dyn Transport) {
        let Some(connection) = self.stream.filter(|_| !self.broken) else { return };
        while self.write_begun(connection, transport) && self.session.flush(connection, transport) {
            // Section 6.9.1: what all streams together may send.
            if self.session.window <= 0 {
                return;
            }
            let unknown = PathView { now, window: 0, smoothed_rtt: Duration::ZERO };
            let path = transport.path(connection).unwrap_or(unknown);
            let Some(stream) = self.turns.next(&path) else { return };
            self.begin_frame(now, stream);
        }
    }

    /// Goes on with the frame that was begun; whether none is any more.
    fn write_begun(&mut self, connection: StreamId, transport: &mut dyn Transport) -> bool {
        let (bytes, length) = &mut self.begun;
        while !bytes.is_empty() {
            match transport.write(connection, Data::Bytes(bytes)) {
                Ok(taken) => drop(bytes.drain(..taken as usize)),
                Err(_) => return false,
            }
        }
        while *length > 0 {
            match transport.write(connection, Data::Virtual(*length)) {
                Ok(taken) if taken > 0 => *length -= taken,
                _ => return false,
            }
        }
        true
    }

    /// Prepares a DATA frame of a stream.
    fn begin_frame(&mut self, now: Time, stream: u32) {
        let Some(exchange) = self.exchanges.get_mut(&stream) else { return };
        let Stage::Answering(body) = &mut exchange.stage else { return };
        let left = body.len() - exchange.taken;
        let room = exchange.window.min(self.session.window).max(0) as u64;
        let length = left.min(room).min(MAX_FRAME.into());
        let mut payload = Vec::new();
        let virtually = match body {
            Body::Virtual(_) => length,
            Body::Bytes(bytes) => {
                payload
                    .extend_from_slice(&bytes[exchange.taken as usize..(exchange.taken + length) as usize]);
                0
            }
            Body::Source { source, .. } => {
                payload.resize(length as usize, 0);
                let read = source.read_at(exchange.taken, &mut payload).unwrap_or(0).min(payload.len());
                payload.truncate(read);
                0
            }
        };
        let length = virtually.max(payload.len() as u64);
        if length == 0 {
            // The source has failed, and the length was told already.
            self.session.reset(stream, Code::INTERNAL_ERROR);
            self.remove(stream);
            return;
        }
        exchange.taken += length;
        exchange.window -= length as i64;
        self.session.window -= length as i64;
        let ends = exchange.taken == body.len();
        self.session.note_progress();
        self.turns.note_sent(&exchange.turn, length);
        let is_ready = !ends && exchange.window > 0;
        self.turns.set_ready(now, &mut exchange.turn, is_ready);
        let flags = if ends { Flags::END_STREAM } else { Flags::NONE };
        let mut bytes = Vec::with_capacity(9 + payload.len());
        FrameHead { length: length as u32, kind: Kind::DATA, flags, stream }.encode(&mut bytes);
        bytes.extend(payload);
        self.begun = (bytes, virtually);
        if ends {
            self.session.note_completed();
            self.remove(stream);
        }
    }
}
