//! The server of HTTP/1.1.

use super::body::Body;
use super::{ABORTED, PIECE};
use crate::{Answer, Delayed, Reply, Site, Written};
use http::http1::{self, HeadReader, Message, Next};
use http::message::Malformed;
use http::qpack::Field;
use std::collections::BTreeMap;
use transport::{Event, StreamError, Transport};
use units::{Duration, Time};
use wire::StreamId;

/// The activity of a connection.
#[derive(Debug)]
enum State {
    /// Waiting for a request head.
    Reading,
    /// Sending 100 (Continue) to a client that waits before sending its content.
    Continuing(Box<Reply>),
    /// Discarding the content of a request, which the server does not use.
    Skipping,
    /// The response is known but delayed.
    Delayed(Box<Reply>),
    Responding(Box<Reply>),
    /// Everything has been sent.
    Done,
}

/// A connection.
#[derive(Debug)]
struct Connection {
    heads: HeadReader,
    state: State,
    /// The unread rest of the request content.
    body: Body,
    /// The response to the request whose content is being discarded, and its think time.
    next: Option<(Reply, Duration)>,
    /// Data read beyond the current request; at most [`PIECE`] bytes.
    ahead: Vec<u8>,
    /// Whether the connection closes after the response.
    closes: bool,
    /// Whether the client has ended the connection.
    ended: bool,
}

impl Connection {
    fn new() -> Connection {
        Connection {
            heads: HeadReader::default(),
            state: State::Reading,
            body: Body::Length(0),
            next: None,
            ahead: Vec::new(),
            closes: false,
            ended: false,
        }
    }
}

/// The server end of all connections of a flow.
#[derive(Debug, Default)]
pub(crate) struct Http1Server {
    connections: BTreeMap<StreamId, Connection>,
    delayed: Delayed,
    /// Whether connections close after the current response.
    closing: bool,
}

impl Http1Server {
    pub(crate) fn on_event(
        &mut self,
        now: Time,
        event: &Event,
        site: &mut dyn Site,
        transport: &mut dyn Transport,
    ) {
        match *event {
            Event::Opened(stream) => {
                self.connections.entry(stream).or_insert_with(Connection::new);
            }
            Event::Readable(stream) | Event::Writable(stream) => self.advance(now, stream, site, transport),
            Event::Reset { stream, .. } => drop(self.connections.remove(&stream)),
            Event::Ended => self.connections.clear(),
            _ => {}
        }
    }

    /// The time at which the next delayed response continues.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.delayed.wake_at()
    }
    /// Continues the delayed responses whose time has come.
    pub(crate) fn wake(&mut self, now: Time, site: &mut dyn Site, transport: &mut dyn Transport) {
        while let Some(stream) = self.delayed.next(now) {
            if let Some(connection) = self.connections.get_mut(&stream) {
                connection.state = match std::mem::replace(&mut connection.state, State::Done) {
                    State::Delayed(reply) => State::Responding(reply),
                    other => other,
                };
            }
            self.advance(now, stream, site, transport);
        }
    }

    /// Finishes the current responses, and accepts no more requests.
    pub(crate) fn shut_down(&mut self) {
        self.closing = true;
    }
    /// Whether no request is in progress.
    pub(crate) fn is_idle(&self) -> bool {
        self.connections.values().all(|connection| matches!(connection.state, State::Reading | State::Done))
    }

    /// Does everything that is possible now on a connection.
    fn advance(&mut self, now: Time, stream: StreamId, site: &mut dyn Site, transport: &mut dyn Transport) {
        let Some(connection) = self.connections.get_mut(&stream) else { return };
        connection.closes |= self.closing;
        loop {
            let goes_on = match &mut connection.state {
                State::Delayed(_) => return,
                State::Done => {
                    // Discard further data; unread data would prevent the end of the connection.
                    let _ = transport.discard(stream);
                    return;
                }
                State::Responding(reply) | State::Continuing(reply) => {
                    match reply.pump(now, stream, transport) {
                        Written::Blocked => false,
                        Written::Waiting(span) => {
                            self.delayed.add(now, stream, span);
                            false
                        }
                        Written::Done => {
                            connection.state = connection.after_reply();
                            if matches!(connection.state, State::Done) {
                                let _ = transport.finish(stream);
                            }
                            true
                        }
                        Written::Closed | Written::Failed | Written::Late(_) => {
                            let _ = transport.reset(stream, ABORTED);
                            self.connections.remove(&stream);
                            return;
                        }
                    }
                }
                State::Reading | State::Skipping => connection.read(stream, site, transport),
            };
            if matches!(connection.state, State::Skipping)
                && connection.body.next() == Next::End
                && let Some((reply, think)) = connection.next.take()
            {
                let reply = Box::new(reply.staying());
                let thinks = self.delayed.add(now, stream, think);
                connection.state = if thinks { State::Delayed(reply) } else { State::Responding(reply) };
                continue;
            }
            if !goes_on {
                return;
            }
        }
    }
}

impl Connection {
    /// The activity after a reply is written.
    fn after_reply(&self) -> State {
        match self.state {
            State::Continuing(_) => State::Skipping,
            _ if self.closes => State::Done,
            _ => State::Reading,
        }
    }

    /// Reads a piece of a request. Returns whether there may be more to do.
    fn read(&mut self, stream: StreamId, site: &mut dyn Site, transport: &mut dyn Transport) -> bool {
        if self.ahead.is_empty() && !self.ended {
            let mut bytes = [0; PIECE];
            match transport.read(stream, &mut bytes) {
                Ok(read) => {
                    self.ahead.extend_from_slice(&bytes[..read.bytes as usize]);
                    self.ended |= read.finished;
                }
                Err(StreamError::Reset(_)) => self.ended = true,
                Err(_) => return false,
            }
        }
        if self.ahead.is_empty() {
            if self.ended {
                // RFC 9112 section 8: an incomplete request is not answered.
                self.state = State::Done;
                let _ = transport.finish(stream);
            }
            return false;
        }
        match &mut self.state {
            State::Skipping => match self.body.push(&self.ahead, |_| Ok::<(), Malformed>(())) {
                Ok(used) => drop(self.ahead.drain(..used)),
                Err(Malformed(why)) => self.refuse(400, why),
            },
            _ => match self.heads.push(&self.ahead) {
                Ok(None) => self.ahead.clear(),
                Ok(Some((head, used))) => {
                    self.ahead.drain(..used);
                    self.on_head(&head, site);
                }
                Err(bad) => self.refuse(bad.status(), bad.why()),
            },
        }
        true
    }

    /// Responds to a malformed request, and closes the connection (RFC 9112 section 2.2).
    fn refuse(&mut self, status: u16, why: &str) {
        self.closes = true;
        self.next = Some(self.reply(Answer::plain(status, why), false, false));
        self.body = Body::Length(0);
        self.state = State::Skipping;
    }

    fn on_head(&mut self, head: &[u8], site: &mut dyn Site) {
        let Message { head, closes, is_kept_alive, is_chunked } = match http1::read_request(head) {
            Ok(message) => message,
            Err(refused) => return self.refuse(refused.status, refused.why),
        };
        self.closes |= closes;
        let (answer, head_only) = Answer::to(&head, site);
        self.next = Some(self.reply(answer, head_only, is_kept_alive));
        self.body = if is_chunked { Body::chunked() } else { Body::Length(head.content_length.unwrap_or(0)) };
        // RFC 9110 section 10.1.1: unless the content is already arriving.
        let invites = head.expects_continue && self.body.next() != Next::End && self.ahead.is_empty();
        self.state = if invites {
            let mut head = Vec::new();
            http1::write_response(&mut head, 100, &[]);
            State::Continuing(Box::new(Reply::new(head, None).staying()))
        } else {
            State::Skipping
        };
    }

    /// A response (only its head if requested by HEAD), and its think time.
    fn reply(&self, answer: Answer, head_only: bool, is_kept_alive: bool) -> (Reply, Duration) {
        let (mut fields, has_content) = answer.fields();
        if self.closes {
            // RFC 9112 section 9.6: announce the close.
            fields.push(Field::new("connection", "close"));
        } else if is_kept_alive {
            // RFC 9112 appendix C.2.2: HTTP/1.0 clients need this field.
            fields.push(Field::new("connection", "keep-alive"));
        }
        let mut head = Vec::new();
        http1::write_response(&mut head, answer.status, &fields);
        let body = (has_content && !head_only).then_some(answer.body);
        (Reply::new(head, body), answer.think)
    }
}
