//! Received frames: requests, their content, priorities.

use super::{Exchange, Http2Server, Stage};
use crate::http2::MAX_STREAMS;
use crate::http2::session::Step;
use crate::http2::turns;
use crate::{Answer, Method, Site};
use http::Priority;
use http::http2::{self, Code, Error, MAX_WINDOW};
use http::message::Malformed;
use http::qpack::Field;
use units::Time;

/// The fields of a HEADERS frame.
struct FieldSection {
    stream: u32,
    /// Whether nothing follows on the stream.
    ends: bool,
    /// `None` if they are too large.
    fields: Option<Vec<Field>>,
}

impl Http2Server {
    pub(super) fn on_step(&mut self, now: Time, step: Step, site: &mut dyn Site) -> Result<(), Error> {
        match step {
            Step::Fields(stream, fields, ends) => self.on_fields(now, stream, ends, fields, site)?,
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
                    // Section 6.9.1: the window must not exceed 2^31 - 1.
                    if exchange.window > i64::from(MAX_WINDOW) {
                        return Err(Error::stream(
                            stream,
                            Code::FLOW_CONTROL_ERROR,
                            "a stream's window exceeds 2^31 - 1",
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
                    // Section 6.9.2: the window must not exceed 2^31 - 1.
                    if exchange.window > i64::from(MAX_WINDOW) {
                        return Err(Error::connection(
                            Code::FLOW_CONTROL_ERROR,
                            "a stream's window exceeds 2^31 - 1",
                        ));
                    }
                }
            }
            Step::Priority(stream, priority) => self.on_priority(stream, priority)?,
            _ => {}
        }
        Ok(())
    }

    /// RFC 9218 section 7.1: a PRIORITY_UPDATE frame, which may precede the request.
    fn on_priority(&mut self, stream: u32, priority: Priority) -> Result<(), Error> {
        let wrong = |why| Err(Error::connection(Code::PROTOCOL_ERROR, why));
        if stream.is_multiple_of(2) {
            return wrong("PRIORITY_UPDATE for a push that does not exist");
        }
        if let Some(exchange) = self.exchanges.get(&stream) {
            self.turns.set_priority(&exchange.turn, priority);
        } else if stream > self.last {
            self.priorities.insert(stream, priority);
            // Idle streams with a priority count as if they were open.
            if self.priorities.len() + self.exchanges.len() > MAX_STREAMS as usize {
                return wrong("PRIORITY_UPDATE for more streams than may be open");
            }
        }
        Ok(())
    }

    /// Section 5.1: frames on an idle stream are an error.
    pub(super) fn check_open(&self, stream: u32) -> Result<(), Error> {
        if stream > self.last || stream.is_multiple_of(2) {
            return Err(Error::connection(Code::PROTOCOL_ERROR, "a frame on an idle stream"));
        }
        Ok(())
    }

    fn on_fields(
        &mut self,
        now: Time,
        stream: u32,
        ends: bool,
        fields: Option<Vec<Field>>,
        site: &mut dyn Site,
    ) -> Result<(), Error> {
        if stream > self.last {
            // Section 5.1.1: the streams of a client are odd and ascending.
            if stream.is_multiple_of(2) {
                return Err(Error::connection(Code::PROTOCOL_ERROR, "a request on a stream with an even ID"));
            }
            (self.last, self.opened) = (stream, self.opened + 1);
            let priority = self.priorities.remove(&stream);
            self.priorities = self.priorities.split_off(&stream);
            // Sections 5.1.2 and 6.8: too many streams, or after GOAWAY.
            if self.exchanges.len() >= MAX_STREAMS as usize || self.closing {
                return Err(Error::stream(stream, Code::REFUSED_STREAM, "more streams than allowed"));
            }
            return self.on_request(now, FieldSection { stream, ends, fields }, priority, site);
        }
        match self.exchanges.get(&stream).map(|exchange| &exchange.stage) {
            Some(Stage::Receiving { .. }) => {}
            // Section 5.1: half closed by the client.
            Some(_) => {
                return Err(Error::stream(stream, Code::STREAM_CLOSED, "HEADERS after the end of a stream"));
            }
            None => return self.on_late_fields(stream),
        }
        // Section 8.1: trailers end the stream.
        let trailers = fields.ok_or(Malformed("trailers too large")).and_then(|f| http2::check_trailers(&f));
        if trailers.is_err() || !ends {
            return Err(Error::stream(
                stream,
                Code::PROTOCOL_ERROR,
                "the trailers are malformed, or do not end the stream",
            ));
        }
        self.on_end(now, stream, site)
    }

    /// Handles a field section on a stream that is closed, or that was skipped and can no longer be opened.
    fn on_late_fields(&self, stream: u32) -> Result<(), Error> {
        let wrong = |code, why| Err(Error::connection(code, why));
        match () {
            () if stream.is_multiple_of(2) => {
                wrong(Code::PROTOCOL_ERROR, "a request on a stream with an even ID")
            }
            // Section 5.1: ignored on a stream that was reset here.
            () if self.session.was_reset(stream) => Ok(()),
            // Section 5.1: nothing follows the end of a stream.
            () if self.opened == self.last.div_ceil(2) => {
                wrong(Code::STREAM_CLOSED, "HEADERS on a closed stream")
            }
            // Section 5.1.1: some streams were skipped, and cannot be opened later.
            () => wrong(Code::PROTOCOL_ERROR, "a stream ID below an earlier one"),
        }
    }

    fn on_request(
        &mut self,
        now: Time,
        FieldSection { stream, ends, fields }: FieldSection,
        priority: Option<Priority>,
        site: &mut dyn Site,
    ) -> Result<(), Error> {
        let head = match fields.as_deref().map(http2::read_request) {
            Some(Ok(head)) => Some(head),
            // Section 8.1.1: a malformed request is a stream error.
            Some(Err(Malformed(why))) => {
                return Err(Error::stream(stream, Code::PROTOCOL_ERROR, why));
            }
            // Section 10.5.1: the fields are too large.
            None => None,
        };
        // RFC 9218 section 7: PRIORITY_UPDATE overrides the field.
        let field = head.as_ref().and_then(|head| head.priority);
        let expects_continue = head.as_ref().is_some_and(|head| head.expects_continue);
        let exchange = Exchange {
            head_only: head.as_ref().is_some_and(|head| head.method == Method::Head.as_str()),
            turn: self.turns.open(stream, priority.or(field).unwrap_or_default()),
            window: self.session.peer.initial_window.into(),
            taken: 0,
            stage: Stage::Receiving { head, received: 0 },
        };
        self.exchanges.insert(stream, exchange);
        if ends {
            return self.on_end(now, stream, site);
        }
        self.session.open(stream);
        if expects_continue {
            // RFC 9110 section 10.1.1: the client waits for 100 (Continue).
            self.session.fields(stream, &[Field::new(":status", "100")], false);
        }
        Ok(())
    }

    /// Checks whether a DATA frame with this much content is valid on a stream.
    fn on_data(&self, stream: u32, length: u64) -> Result<(), Error> {
        self.check_open(stream)?;
        match self.exchanges.get(&stream).map(|exchange| &exchange.stage) {
            Some(Stage::Receiving { head, received }) => {
                let announced = head.as_ref().and_then(|head| head.content_length);
                if announced.is_some_and(|announced| received + length > announced) {
                    // Section 8.1.1: content and Content-Length must agree.
                    return Err(Error::stream(
                        stream,
                        Code::PROTOCOL_ERROR,
                        "more content than content-length says",
                    ));
                }
                Ok(())
            }
            // Section 5.1: ignored on a stream that was reset here.
            None if self.session.was_reset(stream) => Ok(()),
            // Sections 5.1 and 6.1: half closed by the client, or closed.
            _ => Err(Error::stream(stream, Code::STREAM_CLOSED, "DATA on a closed stream")),
        }
    }
    pub(super) fn count(&mut self, stream: u32, bytes: u64) {
        if let Some(Exchange { stage: Stage::Receiving { received, .. }, .. }) =
            self.exchanges.get_mut(&stream)
        {
            *received += bytes;
        }
    }

    /// Handles a complete request.
    fn on_end(&mut self, now: Time, stream: u32, site: &mut dyn Site) -> Result<(), Error> {
        let Some(exchange) = self.exchanges.get_mut(&stream) else { return Ok(()) };
        let Stage::Receiving { head, received } = &exchange.stage else { return Ok(()) };
        let answer = match head {
            Some(head) if head.content_length.is_some_and(|length| length != *received) => {
                return Err(Error::stream(
                    stream,
                    Code::PROTOCOL_ERROR,
                    "less content than content-length says",
                ));
            }
            Some(head) => Answer::to(head, site).0,
            None => Answer::plain(431, "the fields are too large"),
        };
        if self.delayed.add(now, turns::id(stream), answer.think) {
            exchange.stage = Stage::Delayed(answer);
        } else {
            self.answer(now, stream, answer);
        }
        Ok(())
    }
}
