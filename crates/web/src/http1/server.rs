//! The server of HTTP/1.1.

use super::body::Body;
use super::{BROKEN, PIECE};
use crate::{Answer, Delayed, Pumped, Reply, Site};
use http::http1::{self, HeadReader, Message, Next};
use http::message::Malformed;
use http::qpack::Field;
use std::collections::BTreeMap;
use transport::{Event, StreamError, Transport};
use units::{Duration, Time};
use wire::StreamId;

/// What a connection does.
#[derive(Debug)]
enum Doing {
    /// It waits for a request, or has some of its head.
    Asking,
    /// It tells a client that waits with its content that it may come.
    Inviting(Box<Reply>),
    /// It takes content that the server has no use for.
    Skipping,
    /// The answer is there, and given later.
    Thinking(Box<Reply>),
    Answering(Box<Reply>),
    /// All was said that will be said.
    Done,
}

/// A connection.
#[derive(Debug)]
struct Line {
    heads: HeadReader,
    doing: Doing,
    /// What is left of the content of the request.
    body: Body,
    /// The answer to the request whose content is skipped, and how long it is thought about.
    next: Option<(Reply, Duration)>,
    /// What was read of the connection behind the request that is answered; at most [`PIECE`] bytes.
    ahead: Vec<u8>,
    /// Whether the connection ends behind the answer.
    closes: bool,
    /// Whether the client has ended.
    ended: bool,
}

impl Line {
    fn new() -> Line {
        Line {
            heads: HeadReader::default(),
            doing: Doing::Asking,
            body: Body::Told(0),
            next: None,
            ahead: Vec::new(),
            closes: false,
            ended: false,
        }
    }
}

/// The server's end of all connections of a flow.
#[derive(Debug, Default)]
pub(crate) struct Http1Server {
    lines: BTreeMap<StreamId, Line>,
    delayed: Delayed,
    /// Whether connections end behind the answer that is underway.
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
                self.lines.entry(stream).or_insert_with(Line::new);
            }
            Event::Readable(stream) | Event::Writable(stream) => self.go_on(now, stream, site, transport),
            Event::Reset { stream, .. } => drop(self.lines.remove(&stream)),
            Event::Ended => self.lines.clear(),
            _ => {}
        }
    }

    /// When a response goes on that waits.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.delayed.wake_at()
    }
    /// Answers those whose time has come.
    pub(crate) fn wake(&mut self, now: Time, site: &mut dyn Site, transport: &mut dyn Transport) {
        while let Some(stream) = self.delayed.next(now) {
            if let Some(line) = self.lines.get_mut(&stream) {
                line.doing = match std::mem::replace(&mut line.doing, Doing::Done) {
                    Doing::Thinking(reply) => Doing::Answering(reply),
                    other => other,
                };
            }
            self.go_on(now, stream, site, transport);
        }
    }

    /// Answers what is underway, and nothing more.
    pub(crate) fn shut_down(&mut self) {
        self.closing = true;
    }
    /// Whether no request is underway.
    pub(crate) fn is_idle(&self) -> bool {
        self.lines.values().all(|line| matches!(line.doing, Doing::Asking | Doing::Done))
    }

    /// Does on a connection all that can be done now.
    fn go_on(&mut self, now: Time, stream: StreamId, site: &mut dyn Site, transport: &mut dyn Transport) {
        let Some(line) = self.lines.get_mut(&stream) else { return };
        line.closes |= self.closing;
        loop {
            let goes_on = match &mut line.doing {
                Doing::Thinking(_) => return,
                Doing::Done => {
                    // Nothing more is looked at; without being read it would stand in the way of the end.
                    let _ = transport.discard(stream);
                    return;
                }
                Doing::Answering(reply) | Doing::Inviting(reply) => match reply.pump(stream, transport) {
                    Pumped::Blocked => false,
                    Pumped::Waits => {
                        self.delayed.begin(now, stream, Delayed::AGAIN);
                        false
                    }
                    Pumped::Done => {
                        line.doing = line.after_reply();
                        if matches!(line.doing, Doing::Done) {
                            let _ = transport.finish(stream);
                        }
                        true
                    }
                    Pumped::Over | Pumped::Broken => {
                        let _ = transport.reset(stream, BROKEN);
                        self.lines.remove(&stream);
                        return;
                    }
                },
                Doing::Asking | Doing::Skipping => line.read(stream, site, transport),
            };
            if matches!(line.doing, Doing::Skipping)
                && line.body.next() == Next::End
                && let Some((reply, think)) = line.next.take()
            {
                let reply = Box::new(reply.staying());
                let thinks = self.delayed.begin(now, stream, think);
                line.doing = if thinks { Doing::Thinking(reply) } else { Doing::Answering(reply) };
                continue;
            }
            if !goes_on {
                return;
            }
        }
    }
}

impl Line {
    /// What it does when all of a reply was written.
    fn after_reply(&self) -> Doing {
        match self.doing {
            Doing::Inviting(_) => Doing::Skipping,
            _ if self.closes => Doing::Done,
            _ => Doing::Asking,
        }
    }

    /// Reads a piece of a request; whether there may be more to do.
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
                // RFC 9112 section 8: a request that is not complete is not answered.
                self.doing = Doing::Done;
                let _ = transport.finish(stream);
            }
            return false;
        }
        match &mut self.doing {
            Doing::Skipping => match self.body.push(&self.ahead, |_| Ok::<(), Malformed>(())) {
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

    /// Answers what is no request, and ends the connection behind the answer (RFC 9112 section 2.2).
    fn refuse(&mut self, status: u16, why: &str) {
        self.closes = true;
        self.next = Some(self.reply(Answer::plain(status, why), false, false));
        self.body = Body::Told(0);
        self.doing = Doing::Skipping;
    }

    fn on_head(&mut self, head: &[u8], site: &mut dyn Site) {
        let Message { head, closes, is_kept_alive, is_chunked } = match http1::read_request(head) {
            Ok(message) => message,
            Err(refused) => return self.refuse(refused.status, refused.why),
        };
        self.closes |= closes;
        let (answer, head_only) = Answer::to(&head, site);
        self.next = Some(self.reply(answer, head_only, is_kept_alive));
        self.body = if is_chunked { Body::chunked() } else { Body::Told(head.content_length.unwrap_or(0)) };
        // RFC 9110 section 10.1.1: unless the content is coming already.
        let invites = head.expects_continue && self.body.next() != Next::End && self.ahead.is_empty();
        self.doing = if invites {
            let mut head = Vec::new();
            http1::write_response(&mut head, 100, &[]);
            Doing::Inviting(Box::new(Reply::new(head, None).staying()))
        } else {
            Doing::Skipping
        };
    }

    /// A response, only its head if the request was for that; and how long it is thought about.
    fn reply(&self, answer: Answer, head_only: bool, is_kept_alive: bool) -> (Reply, Duration) {
        let (mut fields, has_content) = answer.fields();
        if self.closes {
            // RFC 9112 section 9.6.
            fields.push(Field::new("connection", "close"));
        } else if is_kept_alive {
            // RFC 9112 appendix C.2.2.
            fields.push(Field::new("connection", "keep-alive"));
        }
        let mut head = Vec::new();
        http1::write_response(&mut head, answer.status, &fields);
        let body = (has_content && !head_only).then_some(answer.body);
        (Reply::new(head, body), answer.think)
    }
}
