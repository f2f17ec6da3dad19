//! What both ends of a connection of HTTP/2 have in common: frames in and out, settings, fields, flow control.

use super::{CONNECTION_WINDOW, MAX_FIELD_SECTION, STREAM_WINDOW};
use crate::Transport;
use http::Priority;
use http::hpack::{BadBlock, Decoder, Encoder};
use http::http2::{
    Code, DEFAULT_WINDOW, Error, FRAME_HEAD, Flags, Frame, FrameHead, Kind, MAX_WINDOW, PREFACE, Settings,
};
use http::qpack::Field;
use quic::{Data, Read, StreamError};
use std::collections::BTreeMap;
use wire::{Side, StreamId};

/// The most that may wait to be sent beside bodies: what answers a peer that only makes work stays below.
const MAX_OUT: usize = 1 << 18;
/// The most frames of one field block.
const MAX_CONTINUATIONS: u32 = 64;
/// The most streams that a client may reset in a row without one that comes to its end.
const MAX_RESETS: u32 = 1000;

/// What comes next of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing for now.
    Blocked,
    /// A field section on a stream; `None` if it is larger than is taken. Whether the stream ends with it.
    Fields(u32, Option<Vec<Field>>, bool),
    /// So much content on a stream, to be read and told by [`Session::note_content`].
    Content(u32, u64),
    /// The content of a DATA frame was all read, and the stream ends with it.
    ContentEnd(u32),
    /// The peer has reset a stream.
    Reset(u32, Code),
    /// More may be sent: on a stream, or 0: on all.
    Window(u32, u32),
    /// What may be sent on each stream has changed by so much.
    WindowsShift(i64),
    /// The priority of a stream.
    Priority(u32, Priority),
    /// The peer looks at no stream above this one.
    GoAway(u32),
    /// The end of the connection.
    End,
}

/// Where in a frame the connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Preface(usize),
    Head,
    Payload(FrameHead),
    /// DATA: so much content is left, and so much padding behind it.
    Content {
        head: FrameHead,
        left: u64,
        padding: u64,
    },
    /// The padding length of DATA.
    PadLength(FrameHead),
}

/// A field block of which some has come (RFC 9113 section 4.3).
#[derive(Debug)]
struct Block {
    stream: u32,
    ends: bool,
    bytes: Vec<u8>,
    frames: u32,
}

/// What the peer may still send (section 6.9).
#[derive(Debug, Clone, Copy)]
struct Credit {
    left: i64,
    /// What was read since more was granted.
    read: u32,
    window: u32,
}

impl Credit {
    fn new(window: u32) -> Credit {
        Credit { left: window.into(), read: 0, window }
    }
    /// A frame of this length comes; whether it may.
    fn spend(&mut self, length: u32) -> bool {
        self.left -= i64::from(length);
        self.left >= 0
    }
    /// It was read: what is to be granted anew, once that is half of the window.
    fn read(&mut self, length: u32) -> Option<u32> {
        self.read += length;
        if self.read < self.window / 2 {
            return None;
        }
        self.left += i64::from(self.read);
        Some(std::mem::take(&mut self.read))
    }
}

/// One end of a connection.
#[derive(Debug)]
pub(super) struct Session {
    side: Side,
    inside: Inside,
    /// What has come of a frame's head or of its payload.
    kept: Vec<u8>,
    block: Option<Block>,
    decoder: Decoder,
    encoder: Encoder,
    /// The settings of the peer.
    pub(super) peer: Settings,
    told: bool,
    /// Frames other than DATA that wait to be written.
    out: Vec<u8>,
    /// What may be sent on all streams together.
    pub(super) window: i64,
    /// What the peer may still send on all streams together.
    credit: Credit,
    /// The same on each stream on which it may still send.
    credits: BTreeMap<u32, Credit>,
    resets: u32,
    /// Whether the peer's end of the connection was read.
    ended: bool,
}

impl Session {
    /// One that has its first frames ready to be written (section 3.4).
    pub(super) fn new(side: Side, settings: &Settings) -> Session {
        let mut session = Session {
            side,
            inside: if side == Side::Server { Inside::Preface(0) } else { Inside::Head },
            kept: Vec::new(),
            block: None,
            decoder: Decoder::default(),
            encoder: Encoder::default(),
            peer: Settings::default(),
            told: false,
            out: if side == Side::Client { PREFACE.to_vec() } else { Vec::new() },
            window: DEFAULT_WINDOW.into(),
            credit: Credit::new(if side == Side::Client { CONNECTION_WINDOW } else { DEFAULT_WINDOW }),
            credits: BTreeMap::new(),
            resets: 0,
            ended: false,
        };
        let mut payload = Vec::new();
        settings.encode(&mut payload);
        session.frame(Kind::SETTINGS, Flags::NONE, 0, &payload);
        if side == Side::Client {
            // Section 6.9.2: the window of the connection is not a setting.
            session.grant(0, CONNECTION_WINDOW - DEFAULT_WINDOW);
        }
        session
    }

    /// Adds a frame to what is to be written.
    fn frame(&mut self, kind: Kind, flags: Flags, stream: u32, payload: &[u8]) {
        FrameHead { length: payload.len() as u32, kind, flags, stream }.encode(&mut self.out);
        self.out.extend_from_slice(payload);
    }
    fn grant(&mut self, stream: u32, more: u32) {
        self.frame(Kind::WINDOW_UPDATE, Flags::NONE, stream, &more.to_be_bytes());
    }

    /// Adds a field section (section 6.2), in as many frames as the peer's largest needs.
    pub(super) fn fields(&mut self, stream: u32, fields: &[Field], ends: bool) {
        let mut block = Vec::new();
        self.encoder.encode(&mut block, fields);
        let mut pieces = block.chunks(self.peer.max_frame as usize).peekable();
        let mut kind = Kind::HEADERS;
        while let Some(piece) = pieces.next() {
            let mut flags = if ends && kind == Kind::HEADERS { Flags::END_STREAM } else { Flags::NONE };
            if pieces.peek().is_none() {
                flags = flags.and(Flags::END_HEADERS);
            }
            self.frame(kind, flags, stream, piece);
            kind = Kind::CONTINUATION;
        }
    }
    /// The peer may send on a stream.
    pub(super) fn open(&mut self, stream: u32) {
        let window = if self.side == Side::Client { STREAM_WINDOW } else { DEFAULT_WINDOW };
        self.credits.insert(stream, Credit::new(window));
    }
    /// The peer may send no more on a stream.
    pub(super) fn close(&mut self, stream: u32) {
        self.credits.remove(&stream);
    }
    /// Resets a stream.
    pub(super) fn reset(&mut self, stream: u32, code: Code) {
        self.close(stream);
        self.frame(Kind::RST_STREAM, Flags::NONE, stream, &code.0.to_be_bytes());
    }
    /// Tells the peer the last stream that was looked at, and why no other will be (section 6.8).
    pub(super) fn go_away(&mut self, last: u32, code: Code) {
        self.frame(Kind::GOAWAY, Flags::NONE, 0, &[last.to_be_bytes(), code.0.to_be_bytes()].concat());
    }

    /// Writes what waits beside bodies; whether nothing is left of it.
    pub(super) fn flush(&mut self, stream: StreamId, transport: &mut dyn Transport) -> bool {
        while !self.out.is_empty() {
            match transport.write(stream, Data::Bytes(&self.out)) {
                Ok(taken) => drop(self.out.drain(..taken as usize)),
                Err(_) => return false,
            }
        }
        true
    }

    /// A stream has come to its end as it should.
    pub(super) fn note_completed(&mut self) {
        self.resets = 0;
    }

    /// Reads up to the next thing of interest.
    pub(super) fn step(&mut self, stream: StreamId, transport: &mut dyn Transport) -> Result<Step, Error> {
        loop {
            if self.out.len() > MAX_OUT {
                return Err(Error::connection(Code::ENHANCE_YOUR_CALM, "more to answer than is taken"));
            }
            match self.inside {
                Inside::Content { head, left: 0, padding: 0 } => {
                    self.inside = Inside::Head;
                    self.give_back(&head);
                    if head.flags.has(Flags::END_STREAM) {
                        return Ok(Step::ContentEnd(head.stream));
                    }
                }
                Inside::Content { head, left: 0, padding } => {
                    let Some(read) = self.take(transport.skip(stream, padding)) else {
                        return Ok(Step::Blocked);
                    };
                    self.inside = Inside::Content { head, left: 0, padding: padding - read };
                }
                Inside::Content { head, left, .. } => return Ok(Step::Content(head.stream, left)),
                Inside::Payload(head) if self.kept.len() == head.length as usize => {
                    self.inside = Inside::Head;
                    let payload = std::mem::take(&mut self.kept);
                    let step = self.on_frame(&head, &payload)?;
                    self.kept = payload;
                    self.kept.clear();
                    if let Some(step) = step {
                        return Ok(step);
                    }
                }
                _ => match self.advance(stream, transport)? {
                    true => {}
                    // Section 5.4: a connection that ends inside a frame has nobody left to be told.
                    false if self.ended => return Ok(Step::End),
                    false => return Ok(Step::Blocked),
                },
            }
        }
    }

    /// How many bytes were read; `None`: none are there.
    fn take(&mut self, read: Result<Read, StreamError>) -> Option<u64> {
        match read {
            Ok(read) => {
                self.ended |= read.finished;
                (read.bytes > 0).then_some(read.bytes)
            }
            Err(StreamError::Blocked) => None,
            Err(_) => {
                self.ended = true;
                None
            }
        }
    }

    /// Reads a piece of what is not content; whether there was any.
    fn advance(&mut self, stream: StreamId, transport: &mut dyn Transport) -> Result<bool, Error> {
        let wanted = match self.inside {
            Inside::Preface(have) => PREFACE.len() - have,
            Inside::Payload(head) => head.length as usize - self.kept.len(),
            Inside::PadLength(_) => 1,
            _ => FRAME_HEAD - self.kept.len(),
        };
        let mut bytes = [0; 256];
        let room = wanted.min(bytes.len());
        let Some(read) = self.take(transport.read(stream, &mut bytes[..room])) else { return Ok(false) };
        let bytes = &bytes[..read as usize];
        match self.inside {
            Inside::Preface(have) => {
                // Section 3.4.
                if !PREFACE[have..].starts_with(bytes) {
                    return Err(Error::connection(Code::PROTOCOL_ERROR, "no preface of HTTP/2"));
                }
                let have = have + bytes.len();
                self.inside = if have == PREFACE.len() { Inside::Head } else { Inside::Preface(have) };
            }
            Inside::PadLength(head) => {
                let padding = u64::from(bytes[0]);
                let left = u64::from(head.length) - 1;
                // Section 6.1.
                let Some(left) = left.checked_sub(padding) else {
                    return Err(Error::connection(Code::PROTOCOL_ERROR, "more padding than there is room"));
                };
                self.inside = Inside::Content { head, left, padding };
            }
            Inside::Payload(_) => self.kept.extend_from_slice(bytes),
            _ => {
                self.kept.extend_from_slice(bytes);
                if let Ok(head) = <[u8; FRAME_HEAD]>::try_from(self.kept.as_slice()) {
                    self.kept.clear();
                    self.enter(FrameHead::decode(head)?)?;
                }
            }
        }
        Ok(true)
    }

    fn enter(&mut self, head: FrameHead) -> Result<(), Error> {
        // Section 3.4: the first frame is SETTINGS.
        if !self.told && (head.kind != Kind::SETTINGS || head.flags.has(Flags::ACK)) {
            return Err(Error::connection(Code::PROTOCOL_ERROR, "the first frame is no SETTINGS"));
        }
        // Section 6.10: a field block is not interrupted, and nothing else is continued.
        let continues = self.block.as_ref().is_some_and(|block| block.stream == head.stream);
        if (head.kind == Kind::CONTINUATION) != self.block.is_some() || self.block.is_some() && !continues {
            return Err(Error::connection(Code::PROTOCOL_ERROR, "a field block that is interrupted"));
        }
        head.check()?;
        // Section 8.4: nothing is pushed; the client has said so.
        if head.kind == Kind::PUSH_PROMISE {
            return Err(Error::connection(Code::PROTOCOL_ERROR, "a push that was not allowed"));
        }
        self.inside = match head.kind {
            Kind::DATA => {
                // Section 6.9.1: padding counts too. On a stream that is closed here nothing else counts it.
                let fits = self.credits.get_mut(&head.stream).is_none_or(|credit| credit.spend(head.length));
                if !self.credit.spend(head.length) || !fits {
                    return Err(Error::connection(Code::FLOW_CONTROL_ERROR, "more content than was allowed"));
                }
                if head.flags.has(Flags::PADDED) {
                    Inside::PadLength(head)
                } else {
                    Inside::Content { head, left: head.length.into(), padding: 0 }
                }
            }
            _ => Inside::Payload(head),
        };
        Ok(())
    }

    fn on_frame(&mut self, head: &FrameHead, payload: &[u8]) -> Result<Option<Step>, Error> {
        let stream = head.stream;
        match Frame::decode(head, payload)? {
            Frame::Fields(bytes) => return self.on_fields(head, bytes),
            Frame::Settings(payload) => {
                let before = i64::from(self.peer.initial_window);
                self.peer.update(payload)?;
                self.told = true;
                // Section 6.5.2: a server does not take pushes.
                if self.side == Side::Client && payload.chunks(6).any(|setting| setting == [0, 2, 0, 0, 0, 1])
                {
                    return Err(Error::connection(Code::PROTOCOL_ERROR, "a server that enables pushes"));
                }
                self.encoder.set_limit(self.peer.header_table_size.into());
                self.frame(Kind::SETTINGS, Flags::ACK, 0, &[]);
                // Section 6.9.2.
                return Ok(Some(Step::WindowsShift(i64::from(self.peer.initial_window) - before)));
            }
            Frame::Ping(bytes) => self.frame(Kind::PING, Flags::ACK, 0, &bytes),
            Frame::WindowUpdate(more) => {
                if stream == 0 {
                    self.window += i64::from(more);
                    // Section 6.9.1.
                    if self.window > i64::from(MAX_WINDOW) {
                        let why = "the window of the connection grows too large";
                        return Err(Error::connection(Code::FLOW_CONTROL_ERROR, why));
                    }
                }
                return Ok(Some(Step::Window(stream, more)));
            }
            Frame::Reset(code) => {
                // What costs the server work and the client nothing has a limit.
                self.resets += 1;
                if self.resets > MAX_RESETS {
                    return Err(Error::connection(
                        Code::ENHANCE_YOUR_CALM,
                        "too many streams that were reset",
                    ));
                }
                return Ok(Some(Step::Reset(stream, code)));
            }
            Frame::GoAway { last, .. } => return Ok(Some(Step::GoAway(last))),
            Frame::PriorityUpdate(stream, Some(priority)) if self.side == Side::Server => {
                return Ok(Some(Step::Priority(stream, priority)));
            }
            Frame::PriorityUpdate(..) if self.side == Side::Client => {
                // RFC 9218 section 7.1.
                return Err(Error::connection(Code::PROTOCOL_ERROR, "a server that tells a priority"));
            }
            _ => {}
        }
        Ok(None)
    }

    fn on_fields(&mut self, head: &FrameHead, bytes: &[u8]) -> Result<Option<Step>, Error> {
        let ends = head.kind == Kind::HEADERS && head.flags.has(Flags::END_STREAM);
        let new = || Block { stream: head.stream, ends, bytes: Vec::new(), frames: 0 };
        let mut block = self.block.take().unwrap_or_else(new);
        block.bytes.extend_from_slice(bytes);
        block.frames += 1;
        if block.bytes.len() > MAX_FIELD_SECTION as usize || block.frames > MAX_CONTINUATIONS {
            return Err(Error::connection(Code::ENHANCE_YOUR_CALM, "a field block without end"));
        }
        if !head.flags.has(Flags::END_HEADERS) {
            self.block = Some(block);
            return Ok(None);
        }
        let fields = match self.decoder.decode(&block.bytes, MAX_FIELD_SECTION.into()) {
            Ok(fields) => Some(fields),
            Err(BadBlock::TooLarge) => None,
            // Section 4.3.
            Err(BadBlock::Undecodable(why)) => return Err(Error::connection(Code::COMPRESSION_ERROR, why)),
        };
        Ok(Some(Step::Fields(block.stream, fields, block.ends)))
    }

    /// What was read of the content.
    pub(super) fn note_content(&mut self, read: &Read) {
        self.ended |= read.finished;
        if let Inside::Content { left, .. } = &mut self.inside {
            *left -= read.bytes;
        }
    }

    /// A DATA frame was read: the peer is granted anew what it took.
    fn give_back(&mut self, head: &FrameHead) {
        if let Some(more) = self.credit.read(head.length) {
            self.grant(0, more);
        }
        if head.flags.has(Flags::END_STREAM) {
            self.close(head.stream);
        } else if let Some(more) =
            self.credits.get_mut(&head.stream).and_then(|credit| credit.read(head.length))
        {
            self.grant(head.stream, more);
        }
    }
}
