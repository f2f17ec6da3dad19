//! The server of HTTP/2.

mod requests;
mod responses;

use crate::http2::session::{Http2Connection, Step};
use crate::http2::turns::{Turn, Turns};
use crate::http2::{MAX_FIELD_SECTION, MAX_STREAMS, SERVER_WINDOWS};
use crate::{Answer, Body, Delayed, Site};
use http::Priority;
use http::http2::{Code, Error, MAX_FRAME, Settings};
use http::message::RequestHead;
use schedule::Scheduler;
use std::collections::BTreeMap;
use transport::{Event, Transport};
use units::Time;
use wire::{Side, StreamId};

/// The number of unsent bytes from which on the connection accepts no more frames, so that more urgent ones need not
/// wait long.
const UNSENT: u64 = MAX_FRAME as u64;

/// The progress of a request.
#[derive(Debug)]
enum Stage {
    Receiving {
        head: Option<RequestHead>,
        received: u64,
    },
    /// The response is known but delayed.
    Delayed(Answer),
    /// The response is being sent, from this body.
    Responding(Body),
}

/// A request in progress.
#[derive(Debug)]
struct Exchange {
    stage: Stage,
    head_only: bool,
    turn: Turn,
    /// The flow-control window of the stream.
    window: i64,
    /// The number of bytes taken from the body.
    taken: u64,
}

impl Exchange {
    /// Whether content may be sent according to the stream's window.
    fn is_ready(&self) -> bool {
        matches!(self.stage, Stage::Responding(_)) && self.window > 0
    }
}

/// The server end of a connection.
#[derive(Debug)]
pub(crate) struct Http2Server {
    session: Http2Connection,
    stream: Option<StreamId>,
    exchanges: BTreeMap<u32, Exchange>,
    delayed: Delayed,
    turns: Turns,
    /// Priorities received before their requests; together with the exchanges at most [`MAX_STREAMS`].
    priorities: BTreeMap<u32, Priority>,
    /// The last opened stream, and the number of opened streams.
    last: u32,
    opened: u32,
    /// The unwritten rest of the current frame: real bytes, then virtual ones.
    partial_frame: (Vec<u8>, u64),
    closing: bool,
    /// Whether the client has ended its half of the connection: it still receives the responses to its requests.
    ended: bool,
    broken: bool,
}

impl Http2Server {
    /// Creates a server whose responses share the connection according to this scheduler.
    pub(crate) fn new(scheduler: Box<dyn Scheduler>) -> Http2Server {
        let settings = Settings {
            max_concurrent_streams: Some(MAX_STREAMS),
            max_header_list: Some(MAX_FIELD_SECTION),
            no_rfc7540_priorities: true,
            ..Settings::default()
        };
        Http2Server {
            session: Http2Connection::new(Side::Server, &settings, &SERVER_WINDOWS),
            stream: None,
            exchanges: BTreeMap::new(),
            delayed: Delayed::default(),
            turns: Turns::new(scheduler),
            priorities: BTreeMap::new(),
            last: 0,
            opened: 0,
            partial_frame: (Vec::new(), 0),
            closing: false,
            ended: false,
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
        self.finish_if_over(transport);
    }

    /// Ends the connection once its client has ended its half, and no response can go on: a client that sends nothing
    /// more opens no windows either.
    fn finish_if_over(&mut self, transport: &mut dyn Transport) {
        let Some(connection) = self.stream.filter(|_| self.ended && !self.broken) else { return };
        let open = self.session.window > 0;
        let waits = |exchange: &Exchange| match exchange.stage {
            Stage::Receiving { .. } => false,
            Stage::Delayed(_) => true,
            Stage::Responding(_) => open && exchange.window > 0,
        };
        let is_writing = self.session.has_output() || self.has_partial_frame();
        if !is_writing && !self.exchanges.values().any(waits) {
            self.stop();
            let _ = transport.finish(connection);
        }
    }

    /// Closes the connection with an error (RFC 9113 section 5.4.1).
    fn fail(&mut self, error: Error, stream: StreamId, transport: &mut dyn Transport) {
        self.stop();
        self.session.go_away(self.last, error.code);
        // Complete the current frame, since nothing after a partial frame could be parsed.
        if self.write_partial_frame(stream, transport) {
            self.session.flush(stream, transport);
        }
        let _ = transport.finish(stream);
        transport.close(error.code.0.into(), error.why);
    }

    /// Stops reading and responding.
    fn stop(&mut self) {
        self.broken = true;
        while let Some((stream, _)) = self.exchanges.first_key_value() {
            self.remove(*stream);
        }
    }

    /// Removes the request on a stream, if any.
    fn remove(&mut self, stream: u32) {
        if let Some(exchange) = self.exchanges.remove(&stream) {
            self.turns.close(&exchange.turn);
        }
    }

    /// The time at which the next delayed response continues.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.delayed.wake_at().filter(|_| !self.broken)
    }
    /// Continues the delayed responses whose time has come.
    pub(crate) fn wake(&mut self, now: Time, transport: &mut dyn Transport) {
        while let Some(stream) = self.delayed.next(now) {
            let stream = stream.index() as u32;
            let Some(exchange) = self.exchanges.get_mut(&stream) else { continue };
            if let Stage::Delayed(answer) = &mut exchange.stage {
                let answer = std::mem::replace(answer, Answer::found(Body::Virtual(0)));
                self.answer(now, stream, answer);
            } else {
                let is_ready = exchange.is_ready();
                self.turns.set_ready(now, &mut exchange.turn, is_ready);
            }
        }
        self.pump(now, transport);
        self.finish_if_over(transport);
    }

    /// Accepts no more requests (RFC 9113 section 6.8).
    pub(crate) fn shut_down(&mut self, transport: &mut dyn Transport) {
        if !std::mem::replace(&mut self.closing, true) {
            self.session.go_away(self.last, Code::NO_ERROR);
            if let Some(connection) = self.stream.filter(|_| !self.broken)
                && self.write_partial_frame(connection, transport)
            {
                self.session.flush(connection, transport);
            }
        }
    }
    /// Whether no request is in progress.
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
                    self.ended = true;
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
                // Section 5.4.2: a stream error resets the stream.
                Err(Error { code, stream: Some(stream), why }) => {
                    // Section 5.1: a stream that was never opened cannot be reset.
                    self.check_open(stream).map_err(|_| Error::connection(code, why))?;
                    // Resets provoked by the client count like its own resets.
                    self.session.note_reset()?;
                    self.session.reset(stream, code);
                    self.remove(stream);
                }
                Err(error) => return Err(error),
                Ok(()) => {}
            }
        }
    }
}
