//! The common part of both ends of an HTTP/2 connection: frames, settings, fields, flow control.

use super::credit::Credit;
use super::{MAX_FIELD_SECTION, Windows};
use http::Priority;
use http::hpack::{BadBlock, Decoder, Encoder};
use http::http2::{
    Code, DEFAULT_WINDOW, Error, FRAME_HEAD, Flags, Frame, FrameHead, Kind, MAX_WINDOW, PREFACE, Settings,
};
use http::qpack::Field;
use std::collections::{BTreeMap, BTreeSet};
use transport::{Data, Read, StreamError, Transport};
use wire::{Side, StreamId};

/// The maximum size of pending frames other than DATA, which bounds the responses to a peer that only causes work.
const MAX_OUT: usize = 1 << 18;
/// The maximum number of frames of a field block.
const MAX_CONTINUATIONS: u32 = 64;
/// The maximum number of consecutive stream resets, by the peer or provoked by it, without a completed stream.
const MAX_RESETS: u32 = 1000;
/// The maximum number of consecutive frames that cause work and carry nothing (section 10.5).
const MAX_IDLE: u32 = 10_000;
/// The maximum number of remembered streams that were reset here and may still receive frames.
const MAX_REMEMBERED: usize = 256;

/// The next event of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing is available.
    Blocked,
    /// A field section on a stream (`None` if it is too large), and whether it ends the stream.
    Fields(u32, Option<Vec<Field>>, bool),
    /// A DATA frame with this much content begins on a stream.
    Data(u32, u64),
    /// This much content is left to be read and reported by [`Http2Connection::note_content`].
    Content(u32, u64),
    /// All content of a DATA frame was read, and the frame ends the stream.
    ContentEnd(u32),
    /// The peer has reset a stream.
    Reset(u32, Code),
    /// The window of a stream, or of the connection (0), has grown.
    Window(u32, u32),
    /// The windows of all streams have changed by this amount.
    WindowsShift(i64),
    /// The priority of a stream.
    Priority(u32, Priority),
    /// The peer processes no stream above this one.
    GoAway(u32),
    /// The end of the connection.
    End,
}

/// The position within the current frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Preface(usize),
    Head,
    Payload(FrameHead),
    /// DATA before its first byte: the size of its content and of its padding.
    DataStart {
        head: FrameHead,
        left: u64,
        padding: u64,
    },
    /// DATA: the content left, and the size of the padding after it.
    Content {
        head: FrameHead,
        left: u64,
        padding: u64,
    },
    /// The padding length of DATA.
    PadLength(FrameHead),
}

/// An incomplete field block (RFC 9113 section 4.3).
#[derive(Debug)]
struct Block {
    stream: u32,
    ends: bool,
    bytes: Vec<u8>,
    frames: u32,
}

/// One end of a connection.
#[derive(Debug)]
pub(super) struct Http2Connection {
    side: Side,
    position: Position,
    /// The received part of the frame head or payload.
    kept: Vec<u8>,
    block: Option<Block>,
    decoder: Decoder,
    encoder: Encoder,
    /// The peer's settings.
    pub(super) peer: Settings,
    settings_received: bool,
    /// Pending frames other than DATA.
    out: Vec<u8>,
    /// The send window of the connection.
    pub(super) window: i64,
    /// The credit granted to the peer for the connection.
    credit: Credit,
    /// The credit granted to the peer for each stream.
    credits: BTreeMap<u32, Credit>,
    /// The initial window of each stream.
    stream_window: u32,
    /// Streams that were reset here, whose frames are ignored (section 5.1). At most [`MAX_REMEMBERED`].
    reset: BTreeSet<u32>,
    resets: u32,
    /// The number of consecutive frames without content.
    idle: u32,
    /// Whether the peer's end of the connection was read.
    ended: bool,
}

impl Http2Connection {
    /// Creates a session with its first frames pending (section 3.4). The initial window of the settings is that in
    /// `windows`.
    pub(super) fn new(side: Side, settings: &Settings, windows: &Windows) -> Http2Connection {
        // The window of the connection can only grow (section 6.9.2).
        let window = windows.connection.clamp(DEFAULT_WINDOW, MAX_WINDOW);
        let mut session = Http2Connection {
            side,
            position: if side == Side::Server { Position::Preface(0) } else { Position::Head },
            kept: Vec::new(),
            block: None,
            decoder: Decoder::default(),
            encoder: Encoder::default(),
            peer: Settings::default(),
            settings_received: false,
            out: if side == Side::Client { PREFACE.to_vec() } else { Vec::new() },
            window: DEFAULT_WINDOW.into(),
            credit: Credit::new(window),
            credits: BTreeMap::new(),
            stream_window: windows.stream.min(MAX_WINDOW),
            reset: BTreeSet::new(),
            resets: 0,
            idle: 0,
            ended: false,
        };
        let settings = Settings { initial_window: session.stream_window, ..*settings };
        let mut payload = Vec::new();
        settings.encode(&mut payload);
        session.frame(Kind::SETTINGS, Flags::NONE, 0, &payload);
        if window > DEFAULT_WINDOW {
            // Section 6.9.2: the window of the connection is not a setting.
            session.grant(0, window - DEFAULT_WINDOW);
        }
        session
    }

    /// Adds a pending frame.
    fn frame(&mut self, kind: Kind, flags: Flags, stream: u32, payload: &[u8]) {
        FrameHead { length: payload.len() as u32, kind, flags, stream }.encode(&mut self.out);
        self.out.extend_from_slice(payload);
    }
    fn grant(&mut self, stream: u32, more: u32) {
        self.frame(Kind::WINDOW_UPDATE, Flags::NONE, stream, &more.to_be_bytes());
    }

    /// Adds a field section (section 6.2), split into frames of the peer's maximum size.
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
    /// Lets the peer send on a stream.
    pub(super) fn open(&mut self, stream: u32) {
        self.credits.insert(stream, Credit::new(self.stream_window));
    }
    /// The peer can no longer send on a stream.
    pub(super) fn close(&mut self, stream: u32) {
        self.credits.remove(&stream);
    }
    /// Resets a stream.
    pub(super) fn reset(&mut self, stream: u32, code: Code) {
        self.close(stream);
        self.reset.insert(stream);
        if self.reset.len() > MAX_REMEMBERED {
            self.reset.pop_first();
        }
        self.frame(Kind::RST_STREAM, Flags::NONE, stream, &code.0.to_be_bytes());
    }
    /// Whether a stream was reset here, so that the peer may have sent a frame before it knew (section 5.1).
    pub(super) fn was_reset(&self, stream: u32) -> bool {
        self.reset.contains(&stream)
    }
    /// Counts a reset by the peer or provoked by it. Such resets are cheap for the peer and costly for this side, so
    /// they are limited.
    pub(super) fn note_reset(&mut self) -> Result<(), Error> {
        self.resets += 1;
        if self.resets > MAX_RESETS {
            return Err(Error::connection(Code::ENHANCE_YOUR_CALM, "too many reset streams"));
        }
        Ok(())
    }
    /// Counts a frame without content.
    fn note_idle(&mut self) -> Result<(), Error> {
        self.idle += 1;
        if self.idle > MAX_IDLE {
            return Err(Error::connection(Code::ENHANCE_YOUR_CALM, "too many empty frames"));
        }
        Ok(())
    }
    /// Sends the last processed stream and the reason for the end (section 6.8).
    pub(super) fn go_away(&mut self, last: u32, code: Code) {
        self.frame(Kind::GOAWAY, Flags::NONE, 0, &[last.to_be_bytes(), code.0.to_be_bytes()].concat());
    }

    /// Whether frames are pending.
    pub(super) fn has_output(&self) -> bool {
        !self.out.is_empty()
    }
    /// Writes the pending frames. Returns whether none are left.
    pub(super) fn flush(&mut self, stream: StreamId, transport: &mut dyn Transport) -> bool {
        while !self.out.is_empty() {
            match transport.write(stream, Data::Bytes(&self.out)) {
                Ok(taken) => drop(self.out.drain(..taken as usize)),
                Err(_) => return false,
            }
        }
        true
    }

    /// A response was completely received or written.
    pub(super) fn note_completed(&mut self) {
        self.resets = 0;
    }
    /// Content was written.
    pub(super) fn note_progress(&mut self) {
        self.idle = 0;
    }

    /// Reads up to the next event.
    pub(super) fn step(&mut self, stream: StreamId, transport: &mut dyn Transport) -> Result<Step, Error> {
        loop {
            if self.out.len() > MAX_OUT {
                return Err(Error::connection(
                    Code::ENHANCE_YOUR_CALM,
                    "too many frames that need an answer",
                ));
            }
            match self.position {
                Position::DataStart { head, left, padding } => {
                    self.position = Position::Content { head, left, padding };
                    if left > 0 {
                        self.idle = 0;
                    } else if !head.flags.has(Flags::END_STREAM) {
                        self.note_idle()?;
                    }
                    return Ok(Step::Data(head.stream, left));
                }
                Position::Content { head, left: 0, padding: 0 } => {
                    self.position = Position::Head;
                    self.grant_credit(&head);
                    if head.flags.has(Flags::END_STREAM) {
                        return Ok(Step::ContentEnd(head.stream));
                    }
                }
                Position::Content { head, left: 0, padding } => {
                    let Some(read) = self.take(transport.skip(stream, padding)) else {
                        return Ok(Step::Blocked);
                    };
                    self.position = Position::Content { head, left: 0, padding: padding - read };
                }
                Position::Content { head, left, .. } => return Ok(Step::Content(head.stream, left)),
                Position::Payload(head) if self.kept.len() == head.length as usize => {
                    self.position = Position::Head;
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
                    // Section 5.4: if a connection ends within a frame, nobody is left to receive an error.
                    false if self.ended => return Ok(Step::End),
                    false => return Ok(Step::Blocked),
                },
            }
        }
    }

    /// The number of bytes read; `None` if none were available.
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

    /// Reads a piece other than content. Returns whether there was any.
    fn advance(&mut self, stream: StreamId, transport: &mut dyn Transport) -> Result<bool, Error> {
        let wanted = match self.position {
            Position::Preface(have) => PREFACE.len() - have,
            Position::Payload(head) => head.length as usize - self.kept.len(),
            Position::PadLength(_) => 1,
            _ => FRAME_HEAD - self.kept.len(),
        };
        let mut bytes = [0; 256];
        let room = wanted.min(bytes.len());
        let Some(read) = self.take(transport.read(stream, &mut bytes[..room])) else { return Ok(false) };
        let bytes = &bytes[..read as usize];
        match self.position {
            Position::Preface(have) => {
                // Section 3.4: the client preface.
                if !PREFACE[have..].starts_with(bytes) {
                    return Err(Error::connection(
                        Code::PROTOCOL_ERROR,
                        "the connection does not begin with the HTTP/2 preface",
                    ));
                }
                let have = have + bytes.len();
                self.position = if have == PREFACE.len() { Position::Head } else { Position::Preface(have) };
            }
            Position::PadLength(head) => {
                let padding = u64::from(bytes[0]);
                let left = u64::from(head.length) - 1;
                // Section 6.1: the padding must fit into the frame.
                let Some(left) = left.checked_sub(padding) else {
                    return Err(Error::connection(
                        Code::PROTOCOL_ERROR,
                        "more padding than the frame can hold",
                    ));
                };
                self.position = Position::DataStart { head, left, padding };
            }
            Position::Payload(_) => self.kept.extend_from_slice(bytes),
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
        if !self.settings_received && (head.kind != Kind::SETTINGS || head.flags.has(Flags::ACK)) {
            return Err(Error::connection(Code::PROTOCOL_ERROR, "the first frame is not SETTINGS"));
        }
        // Section 6.10: a field block must not be interrupted, and only field blocks are continued.
        let continues = self.block.as_ref().is_some_and(|block| block.stream == head.stream);
        if (head.kind == Kind::CONTINUATION) != self.block.is_some() || self.block.is_some() && !continues {
            return Err(Error::connection(
                Code::PROTOCOL_ERROR,
                "a CONTINUATION frame is missing or unexpected",
            ));
        }
        head.check()?;
        // Section 8.4: push was disabled by the client.
        if head.kind == Kind::PUSH_PROMISE {
            return Err(Error::connection(Code::PROTOCOL_ERROR, "server push is not allowed"));
        }
        self.position = match head.kind {
            Kind::DATA => {
                // Section 6.9.1: padding counts too. On a closed stream only the connection window counts it.
                let fits = self.credits.get_mut(&head.stream).is_none_or(|credit| credit.spend(head.length));
                if !self.credit.spend(head.length) || !fits {
                    return Err(Error::connection(
                        Code::FLOW_CONTROL_ERROR,
                        "more content than the flow-control window allows",
                    ));
                }
                if head.flags.has(Flags::PADDED) {
                    Position::PadLength(head)
                } else {
                    Position::DataStart { head, left: head.length.into(), padding: 0 }
                }
            }
            _ => Position::Payload(head),
        };
        Ok(())
    }

    fn on_frame(&mut self, head: &FrameHead, payload: &[u8]) -> Result<Option<Step>, Error> {
        let stream = head.stream;
        match Frame::decode(head, payload)? {
            Frame::Fields(bytes) => return self.on_fields(head, bytes),
            Frame::Settings(payload) => {
                self.note_idle()?;
                let before = i64::from(self.peer.initial_window);
                // Section 6.5.3: settings are processed in order. A table that shrinks and grows again requires two
                // updates (RFC 7541 section 4.2).
                for setting in Settings::split(payload)? {
                    self.peer.update(setting)?;
                    self.encoder.set_limit(self.peer.header_table_size.into());
                    // Section 6.5.2: a server must not enable push.
                    if self.side == Side::Client && setting == [0, 2, 0, 0, 0, 1] {
                        return Err(Error::connection(
                            Code::PROTOCOL_ERROR,
                            "ENABLE_PUSH of 1 from a server",
                        ));
                    }
                }
                self.settings_received = true;
                self.frame(Kind::SETTINGS, Flags::ACK, 0, &[]);
                // Section 6.9.2: the windows of all streams change.
                return Ok(Some(Step::WindowsShift(i64::from(self.peer.initial_window) - before)));
            }
            Frame::Ping(bytes) => self.frame(Kind::PING, Flags::ACK, 0, &bytes),
            Frame::WindowUpdate(more) => {
                if stream == 0 {
                    self.window += i64::from(more);
                    // Section 6.9.1: the window must not exceed 2^31 - 1.
                    if self.window > i64::from(MAX_WINDOW) {
                        let why = "the connection's window exceeds 2^31 - 1";
                        return Err(Error::connection(Code::FLOW_CONTROL_ERROR, why));
                    }
                }
                return Ok(Some(Step::Window(stream, more)));
            }
            Frame::Reset(code) => {
                self.note_reset()?;
                return Ok(Some(Step::Reset(stream, code)));
            }
            Frame::GoAway { last, .. } => return Ok(Some(Step::GoAway(last))),
            Frame::PriorityUpdate(stream, Some(priority)) if self.side == Side::Server => {
                return Ok(Some(Step::Priority(stream, priority)));
            }
            Frame::PriorityUpdate(..) if self.side == Side::Client => {
                // RFC 9218 section 7.1: servers do not send PRIORITY_UPDATE.
                return Err(Error::connection(Code::PROTOCOL_ERROR, "PRIORITY_UPDATE from a server"));
            }
            Frame::Ignored => self.note_idle()?,
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
            return Err(Error::connection(Code::ENHANCE_YOUR_CALM, "a field block is too long"));
        }
        if !head.flags.has(Flags::END_HEADERS) {
            self.block = Some(block);
            return Ok(None);
        }
        self.idle = 0;
        let fields = match self.decoder.decode(&block.bytes, MAX_FIELD_SECTION.into()) {
            Ok(fields) => Some(fields),
            Err(BadBlock::TooLarge) => None,
            // Section 4.3: a decoding error is a connection error.
            Err(BadBlock::Undecodable(why)) => return Err(Error::connection(Code::COMPRESSION_ERROR, why)),
        };
        Ok(Some(Step::Fields(block.stream, fields, block.ends)))
    }

    /// Records that content was read.
    pub(super) fn note_content(&mut self, read: &Read) {
        self.ended |= read.finished;
        if let Position::Content { left, .. } = &mut self.position {
            *left -= read.bytes;
        }
    }

    /// A DATA frame was read: grants the peer new credit.
    fn grant_credit(&mut self, head: &FrameHead) {
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
