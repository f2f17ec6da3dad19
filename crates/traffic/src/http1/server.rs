//! The server of HTTP/1.1.

use super::{BROKEN, PIECE};
use crate::Transport;
use crate::web::{Answer, Body, Method, Pumped, Query, Reply, Site, Thinking};
use http::Target;
use http::http1::{self, HeadReader, Message};
use http::message::RequestHead;
use quic::{Event, StreamError};
use std::collections::BTreeMap;
use units::{Duration, Time};
use wire::StreamId;

/// What a connection does.
#[derive(Debug)]
enum Doing {
    /// It waits for a request, or has some of its head.
    Asking,
    /// It takes content that the server has no use for; so much is left.
    Skipping(u64),
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
        let heads = HeadReader::default();
        Line { heads, doing: Doing::Asking, next: None, ahead: Vec::new(), closes: false, ended: false }
    }
}

/// The server's end of all connections of a flow.
#[derive(Debug, Default)]
pub(crate) struct Http1Server {
    lines: BTreeMap<StreamId, Line>,
    thinking: Thinking,
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

    /// When a request that was thought about is to be answered.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.thinking.wake_at()
    }
    /// Answers those whose time has come.
    pub(crate) fn wake(&mut self, now: Time, site: &mut dyn Site, transport: &mut dyn Transport) {
        while let Some(stream) = self.thinking.next(now) {
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
                Doing::Answering(reply) => match reply.pump(stream, transport) {
                    Pumped::Blocked => false,
                    Pumped::Done => {
                        line.doing = if line.closes { Doing::Done } else { Doing::Asking };
                        if line.closes {
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
                Doing::Asking | Doing::Skipping(_) => line.read(stream, site, transport),
            };
            if matches!(line.doing, Doing::Skipping(0))
                && let Some((reply, think)) = line.next.take()
            {
                let reply = Box::new(reply.staying());
                let thinks = self.thinking.begin(now, stream, think);
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
            Doing::Skipping(left) => {
                let skipped = (*left).min(self.ahead.len() as u64);
                *left -= skipped;
                self.ahead.drain(..skipped as usize);
            }
            _ => match self.heads.push(&self.ahead) {
                Ok(None) => self.ahead.clear(),
                Ok(Some((head, used))) => {
                    self.ahead.drain(..used);
                    self.on_head(&head, site);
                }
                // RFC 6585 section 5.
                Err(_) => self.refuse(431, "the fields are too large"),
            },
        }
        true
    }

    /// Answers what is no request, and ends the connection behind the answer (RFC 9112 section 2.2).
    fn refuse(&mut self, status: u16, why: &str) {
        self.closes = true;
        self.next = Some(self.reply(Answer::plain(status, why), false));
        self.doing = Doing::Skipping(0);
    }

    fn on_head(&mut self, head: &[u8], site: &mut dyn Site) {
        let Message { head, closes, is_coded } = match http1::read_request(head) {
            Ok(message) => message,
            Err(malformed) => return self.refuse(400, malformed.0),
        };
        // RFC 9112 section 6.1.
        if is_coded {
            return self.refuse(501, "no transfer coding is understood");
        }
        self.closes |= closes;
        let method = [Method::Get, Method::Head].into_iter().find(|method| method.as_str() == head.method);
        let answer = match method {
            Some(method) => answer(method, &head, site),
            None => Answer::plain(405, "only GET and HEAD are answered"),
        };
        self.next = Some(self.reply(answer, method == Some(Method::Head)));
        self.doing = Doing::Skipping(head.content_length.unwrap_or(0));
    }

    /// A response, only its head if the request was for that; and how long it is thought about.
    fn reply(&self, answer: Answer, head_only: bool) -> (Reply, Duration) {
        let (mut fields, has_content) = answer.fields();
        if self.closes {
            // RFC 9112 section 9.6.
            fields.push(http::qpack::Field::new("connection", "close"));
        }
        let mut head = Vec::new();
        http1::write_response(&mut head, answer.status, &fields);
        let body: Option<Body> = (has_content && !head_only).then_some(answer.body);
        (Reply::new(head, body), answer.think)
    }
}

fn answer(method: Method, head: &RequestHead, site: &mut dyn Site) -> Answer {
    match Target::parse(head.path.as_deref().unwrap_or_default().as_bytes()) {
        Ok(target) => site.find(Query { method, target: &target, authority: head.authority.as_deref() }),
        Err(bad) => Answer::plain(400, &bad.to_string()),
    }
}
