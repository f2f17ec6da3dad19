//! The unidirectional streams of a connection (RFC 9114 section 6.2): control streams and QPACK streams.

use super::{MAX_FIELD_SECTION, violation};
use http::frame::{self, FrameHead, HeadReader};
use http::qpack::{DecoderStream, EncoderStream};
use http::{Code, Priority, Settings, Violation};
use std::collections::BTreeMap;
use transport::{Data, Event, StreamError, Transport};
use wire::{Direction, Reader, Side, StreamId, varint};

/// Stream types (RFC 9114 section 6.2 and RFC 9204 section 4.2).
const CONTROL: u64 = 0;
const PUSH: u64 = 1;
const ENCODER: u64 = 2;
const DECODER: u64 = 3;

/// The maximum length of a known frame on a control stream.
const MAX_FRAME: u64 = 4096;

/// A notice on the peer's control stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notice {
    /// The peer accepts no requests, or pushes, from this ID on.
    GoAway(u64),
    /// The priority of the response on this stream.
    Priority(StreamId, Priority),
}

/// A unidirectional stream of the peer.
#[derive(Debug)]
enum Incoming {
    /// The received part of its type.
    Untyped(Vec<u8>),
    Control(Box<Frames>),
    Encoder(EncoderStream),
    Decoder(DecoderStream),
    /// A stream of unknown type.
    Ignored,
}

/// The frames of the peer's control stream.
#[derive(Debug, Default)]
struct Frames {
    heads: HeadReader,
    /// The type of the current frame, and the unread length of its payload.
    frame: Option<(u64, u64)>,
    /// The payload, if its type is known; at most [`MAX_FRAME`].
    payload: Vec<u8>,
}

/// The control streams of both sides, and the peer's other unidirectional streams.
#[derive(Debug)]
pub(super) struct Control {
    side: Side,
    /// This side's control stream.
    stream: Option<StreamId>,
    /// The pending data of that stream.
    out: Vec<u8>,
    /// The peer's streams; at most as many as the transport permits.
    incoming: BTreeMap<StreamId, Incoming>,
    /// Whether the peer has opened its control, push, encoder and decoder stream.
    seen: [bool; 4],
    settings: Option<Settings>,
    /// The ID of the peer's last GOAWAY.
    going_away: Option<u64>,
    max_push_id: Option<u64>,
}

impl Control {
    pub(super) fn new(side: Side) -> Control {
        let mut out = Vec::new();
        varint::encode(&mut out, CONTROL);
        let mut payload = Vec::new();
        Settings { max_field_section_size: Some(MAX_FIELD_SECTION), ..Settings::default() }
            .encode(&mut payload);
        // RFC 9114 section 6.2.1: SETTINGS is the first frame.
        frame::encode(&mut out, frame::SETTINGS, &payload);
        Control {
            side,
            stream: None,
            out,
            incoming: BTreeMap::new(),
            seen: [false; 4],
            settings: None,
            going_away: None,
            max_push_id: None,
        }
    }

    /// The peer's settings, once received.
    pub(super) fn settings(&self) -> Option<&Settings> {
        self.settings.as_ref()
    }

    /// Sends GOAWAY: nothing is accepted from this ID on (RFC 9114 section 5.2).
    pub(super) fn go_away(&mut self, id: u64, transport: &mut dyn Transport) {
        let mut payload = Vec::new();
        varint::encode(&mut payload, id);
        frame::encode(&mut self.out, frame::GOAWAY, &payload);
        self.flush(transport);
    }

    /// Opens the control stream unless it is open, and writes its pending data.
    pub(super) fn flush(&mut self, transport: &mut dyn Transport) {
        if self.stream.is_none() {
            self.stream = transport.open(Direction::Unidirectional).ok();
        }
        let Some(stream) = self.stream.filter(|_| !self.out.is_empty()) else { return };
        if let Ok(taken) = transport.write(stream, Data::Bytes(&self.out)) {
            self.out.drain(..taken as usize);
        }
    }

    /// Handles events of unidirectional streams. The peer's notices are appended to `notices`.
    pub(super) fn on_event(
        &mut self,
        event: &Event,
        notices: &mut Vec<Notice>,
        transport: &mut dyn Transport,
    ) -> Result<(), Violation> {
        let is_ours = |stream: StreamId| stream.direction() == Direction::Unidirectional;
        match *event {
            Event::EarlyDataReady | Event::Connected | Event::StreamsAvailable(_) => self.flush(transport),
            Event::Writable(stream) if Some(stream) == self.stream => self.flush(transport),
            Event::Readable(stream) if is_ours(stream) => return self.read(stream, notices, transport),
            // RFC 9114 section 6.2.1 and RFC 9204 section 4.2: these streams are never closed.
            Event::Stopped { stream, .. } if Some(stream) == self.stream => {
                return Err(violation(
                    Code::CLOSED_CRITICAL_STREAM,
                    "the peer stopped reading the control stream",
                ));
            }
            Event::Reset { stream, .. } if is_ours(stream) => {
                let _ = transport.stop(stream, Code::NO_ERROR.0);
                return self.note_end(stream);
            }
            Event::Closed { stream, .. } if is_ours(stream) => drop(self.incoming.remove(&stream)),
            _ => {}
        }
        Ok(())
    }

    /// Handles the end of a stream of the peer.
    fn note_end(&mut self, stream: StreamId) -> Result<(), Violation> {
        match self.incoming.remove(&stream) {
            Some(Incoming::Control(_) | Incoming::Encoder(_) | Incoming::Decoder(_)) => {
                Err(violation(Code::CLOSED_CRITICAL_STREAM, "the peer closed a critical stream"))
            }
            // RFC 9114 section 6.2: a stream may end before its type is complete.
            _ => Ok(()),
        }
    }

    fn read(
        &mut self,
        stream: StreamId,
        notices: &mut Vec<Notice>,
        transport: &mut dyn Transport,
    ) -> Result<(), Violation> {
        let mut bytes = [0; 512];
        loop {
            let incoming = self.incoming.entry(stream).or_insert_with(|| Incoming::Untyped(Vec::new()));
            let result = match incoming {
                Incoming::Untyped(_) => transport.read(stream, &mut bytes[..1]),
                Incoming::Control(frames) => match frames.frame {
                    Some((kind, left)) if !frame::is_known(kind) => transport.skip(stream, left),
                    Some((_, left)) => transport.read(stream, &mut bytes[..left.min(512) as usize]),
                    None => transport.read(stream, &mut bytes[..frames.heads.wanted()]),
                },
                Incoming::Encoder(_) | Incoming::Decoder(_) => transport.read(stream, &mut bytes),
                Incoming::Ignored => return Ok(()),
            };
            let read = match result {
                Ok(read) => read,
                Err(StreamError::Reset(_)) => return self.note_end(stream),
                Err(_) => return Ok(()),
            };
            // Skipped bytes are not available.
            let piece = &bytes[..read.bytes.min(512) as usize];
            match incoming {
                Incoming::Untyped(so_far) => {
                    so_far.extend_from_slice(piece);
                    if let Ok(kind) = Reader::new(so_far).varint() {
                        self.begin(stream, kind, transport)?;
                    }
                }
                Incoming::Control(_) => self.on_control(stream, read.bytes, piece, notices)?,
                Incoming::Encoder(encoder) => encoder.push(piece)?,
                Incoming::Decoder(decoder) => decoder.push(piece)?,
                Incoming::Ignored => {}
            }
            if read.finished {
                return self.note_end(stream);
            }
            if read.bytes == 0 {
                return Ok(());
            }
        }
    }

    /// Handles the complete type of a stream.
    fn begin(&mut self, stream: StreamId, kind: u64, transport: &mut dyn Transport) -> Result<(), Violation> {
        let incoming = match kind {
            CONTROL => Incoming::Control(Box::default()),
            ENCODER => Incoming::Encoder(EncoderStream::default()),
            DECODER => Incoming::Decoder(DecoderStream::default()),
            // RFC 9114 section 6.2.2: clients cannot push, and the server was granted no push ID.
            PUSH if self.side == Side::Server => {
                return Err(violation(Code::STREAM_CREATION_ERROR, "a push stream from a client"));
            }
            PUSH => return Err(violation(Code::ID_ERROR, "server push is not allowed")),
            _ => {
                // RFC 9114 section 6.2.3: streams of unknown type are not read, but are not an error.
                let _ = transport.stop(stream, Code::STREAM_CREATION_ERROR.0);
                self.incoming.insert(stream, Incoming::Ignored);
                return Ok(());
            }
        };
        // RFC 9114 section 6.2.1 and RFC 9204 section 4.2: at most one of each.
        if std::mem::replace(&mut self.seen[kind as usize], true) {
            return Err(violation(
                Code::STREAM_CREATION_ERROR,
                "a second control, QPACK encoder or QPACK decoder stream",
            ));
        }
        self.incoming.insert(stream, incoming);
        Ok(())
    }

    /// Handles bytes of the control stream: of a frame's head, or of its payload.
    fn on_control(
        &mut self,
        stream: StreamId,
        count: u64,
        piece: &[u8],
        notices: &mut Vec<Notice>,
    ) -> Result<(), Violation> {
        let Some(Incoming::Control(frames)) = self.incoming.get_mut(&stream) else { return Ok(()) };
        let (kind, left) = match frames.frame {
            None => {
                let Some(head) = frames.heads.push(piece) else { return Ok(()) };
                check_head(head, self.side, self.settings.is_some())?;
                (head.kind, head.length)
            }
            Some((kind, left)) => {
                if frame::is_known(kind) {
                    frames.payload.extend_from_slice(piece);
                }
                (kind, left - count)
            }
        };
        frames.frame = Some((kind, left)).filter(|_| left > 0);
        if left > 0 {
            return Ok(());
        }
        let payload = std::mem::take(&mut frames.payload);
        self.on_frame(kind, &payload, notices)
    }

    fn on_frame(&mut self, kind: u64, payload: &[u8], notices: &mut Vec<Notice>) -> Result<(), Violation> {
        match kind {
            frame::SETTINGS => self.settings = Some(Settings::decode(payload)?),
            frame::GOAWAY => {
                let id = frame::read_id(payload)?;
                // RFC 9114 sections 5.2 and 7.2.6: a server's ID is that of a request, and IDs never increase.
                if self.side == Side::Client {
                    frame::request_stream(id)?;
                }
                if self.going_away.is_some_and(|before| id > before) {
                    return Err(violation(Code::ID_ERROR, "GOAWAY with a higher ID than before"));
                }
                self.going_away = Some(id);
                notices.push(Notice::GoAway(id));
            }
            frame::MAX_PUSH_ID => {
                let id = frame::read_id(payload)?;
                // RFC 9114 section 7.2.7: the ID must not decrease.
                if self.max_push_id.is_some_and(|before| id < before) {
                    return Err(violation(Code::ID_ERROR, "MAX_PUSH_ID is lower than before"));
                }
                self.max_push_id = Some(id);
            }
            frame::CANCEL_PUSH => {
                frame::read_id(payload)?;
                // RFC 9114 section 7.2.3: no push was promised or permitted.
                return Err(violation(Code::ID_ERROR, "CANCEL_PUSH for a push that does not exist"));
            }
            frame::PRIORITY_UPDATE_REQUEST => {
                let (stream, priority) = frame::read_priority_update(payload)?;
                notices.extend(priority.map(|priority| Notice::Priority(stream, priority)));
            }
            frame::PRIORITY_UPDATE_PUSH => {
                // RFC 9218 section 7.2: no push was promised.
                return Err(violation(Code::ID_ERROR, "PRIORITY_UPDATE for a push that does not exist"));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Checks whether a frame may occur here.
fn check_head(head: FrameHead, side: Side, has_settings: bool) -> Result<(), Violation> {
    // RFC 9114 section 6.2.1: SETTINGS is the first frame.
    if !has_settings && head.kind != frame::SETTINGS {
        return Err(violation(Code::MISSING_SETTINGS, "the control stream does not begin with SETTINGS"));
    }
    let is_expected = match head.kind {
        // RFC 9114 section 7.2.4: only once.
        frame::SETTINGS => !has_settings,
        frame::CANCEL_PUSH | frame::GOAWAY => true,
        // RFC 9114 section 7.2.7 and RFC 9218 section 7.2: only sent by clients.
        frame::MAX_PUSH_ID | frame::PRIORITY_UPDATE_REQUEST | frame::PRIORITY_UPDATE_PUSH => {
            side == Side::Server
        }
        // RFC 9114 sections 7.2.1, 7.2.2, 7.2.5, 7.2.8; section 9: unknown types are skipped.
        kind => !frame::is_known(kind),
    };
    if !is_expected {
        return Err(violation(Code::FRAME_UNEXPECTED, "a frame that is not allowed on a control stream"));
    }
    if frame::is_known(head.kind) && head.length > MAX_FRAME {
        return Err(violation(Code::EXCESSIVE_LOAD, "a frame of the control stream is too long"));
    }
    Ok(())
}
