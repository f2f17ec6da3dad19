//! Frames (RFC 9113 sections 4 and 6): their headers, and the payloads of all but DATA.

use super::{Code, Error, MAX_FRAME, MAX_WINDOW};
use crate::Priority;
use wire::Reader;

/// The length of a frame header in bytes (section 4.1).
pub const FRAME_HEAD: usize = 9;

/// The type of a frame (section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind(pub u8);

#[allow(missing_docs, reason = "the names are those of section 6, and of RFC 9218 section 7.1")]
impl Kind {
    pub const DATA: Kind = Kind(0x00);
    pub const HEADERS: Kind = Kind(0x01);
    pub const PRIORITY: Kind = Kind(0x02);
    pub const RST_STREAM: Kind = Kind(0x03);
    pub const SETTINGS: Kind = Kind(0x04);
    pub const PUSH_PROMISE: Kind = Kind(0x05);
    pub const PING: Kind = Kind(0x06);
    pub const GOAWAY: Kind = Kind(0x07);
    pub const WINDOW_UPDATE: Kind = Kind(0x08);
    pub const CONTINUATION: Kind = Kind(0x09);
    pub const PRIORITY_UPDATE: Kind = Kind(0x10);
}

/// The flags of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// No flag.
    pub const NONE: Flags = Flags(0);
    /// SETTINGS and PING: an acknowledgement.
    pub const ACK: Flags = Flags(0x01);
    /// DATA and HEADERS: the last frame of the stream.
    pub const END_STREAM: Flags = Flags(0x01);
    /// HEADERS and CONTINUATION: the last frame of the field block.
    pub const END_HEADERS: Flags = Flags(0x04);
    /// DATA and HEADERS: the frame is padded.
    pub const PADDED: Flags = Flags(0x08);
    /// HEADERS: the frame has a priority as in RFC 7540.
    pub const PRIORITY: Flags = Flags(0x20);

    /// Both.
    #[must_use]
    pub const fn and(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
    /// Whether all of these are set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHead {
    /// The length of the payload in bytes, below 2^24.
    pub length: u32,
    /// The type.
    pub kind: Kind,
    /// The flags.
    pub flags: Flags,
    /// The stream, below 2^31; 0 stands for the connection.
    pub stream: u32,
}

impl FrameHead {
    /// Appends the header.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.length.to_be_bytes()[1..]);
        out.extend_from_slice(&[self.kind.0, self.flags.0]);
        out.extend_from_slice(&(self.stream & MAX_WINDOW).to_be_bytes());
    }

    /// Reads a header; the reserved bit is ignored (section 4.1).
    ///
    /// # Errors
    /// FRAME_SIZE_ERROR if the payload exceeds the accepted size (section 4.2).
    pub fn decode(bytes: [u8; FRAME_HEAD]) -> Result<FrameHead, Error> {
        let [a, b, c, kind, flags, stream @ ..] = bytes;
        let length = u32::from_be_bytes([0, a, b, c]);
        if length > MAX_FRAME {
            return Err(Error::connection(
                Code::FRAME_SIZE_ERROR,
                "a frame larger than SETTINGS_MAX_FRAME_SIZE",
            ));
        }
        let stream = u32::from_be_bytes(stream) & MAX_WINDOW;
        Ok(FrameHead { length, kind: Kind(kind), flags: Flags(flags), stream })
    }

    /// Checks what the header alone reveals (section 6): a stream that is missing or must not be there, and a size
    /// that the type does not have.
    ///
    /// # Errors
    /// The connection or stream error that section 6 names.
    pub fn check(&self) -> Result<(), Error> {
        let (length, stream) = (self.length, self.stream);
        let of_stream = matches!(
            self.kind,
            Kind::DATA
                | Kind::HEADERS
                | Kind::PRIORITY
                | Kind::RST_STREAM
                | Kind::PUSH_PROMISE
                | Kind::CONTINUATION
        );
        let of_connection =
            matches!(self.kind, Kind::SETTINGS | Kind::PING | Kind::GOAWAY | Kind::PRIORITY_UPDATE);
        if of_stream && stream == 0 || of_connection && stream != 0 {
            return Err(Error::connection(
                Code::PROTOCOL_ERROR,
                "a frame that is not allowed on this stream",
            ));
        }
        let sized = match self.kind {
            Kind::RST_STREAM | Kind::WINDOW_UPDATE => length == 4,
            Kind::SETTINGS => !self.flags.has(Flags::ACK) || length == 0,
            Kind::PING => length == 8,
            Kind::GOAWAY => length >= 8,
            Kind::PRIORITY_UPDATE => length >= 4,
            Kind::DATA => !self.flags.has(Flags::PADDED) || length > 0,
            _ => true,
        };
        if !sized {
            return Err(Error::connection(Code::FRAME_SIZE_ERROR, "a frame of the wrong size for its type"));
        }
        Ok(())
    }
}

/// A frame other than DATA.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A piece of a field block: HEADERS without padding and priority, or CONTINUATION.
    Fields(&'a [u8]),
    /// RST_STREAM with its code.
    Reset(Code),
    /// SETTINGS; the payload is for [`super::Settings::update`].
    Settings(&'a [u8]),
    /// The acknowledgement of SETTINGS.
    SettingsAck,
    /// PING, to be answered with the same bytes.
    Ping([u8; 8]),
    /// The answer to PING.
    PingAck([u8; 8]),
    /// GOAWAY: the last stream that the peer processes, and the reason.
    GoAway {
        /// The last stream.
        last: u32,
        /// The reason.
        code: Code,
    },
    /// WINDOW_UPDATE: the number of additional bytes that may be sent.
    WindowUpdate(u32),
    /// PRIORITY_UPDATE (RFC 9218 section 7.1) of a stream, if its value can be read.
    PriorityUpdate(u32, Option<Priority>),
    /// An ignored frame: PRIORITY (section 5.3.2), or an unknown type (section 4.1).
    Ignored,
}

impl<'a> Frame<'a> {
    /// Reads the payload of a frame that has passed [`check`](FrameHead::check).
    ///
    /// # Errors
    /// The connection or stream error that section 6 names.
    pub fn decode(head: &FrameHead, payload: &'a [u8]) -> Result<Frame<'a>, Error> {
        let mut reader = Reader::new(payload);
        let size =
            |_: wire::UnexpectedEnd| Error::connection(Code::FRAME_SIZE_ERROR, "a frame that ends too early");
        let is_ack = head.flags.has(Flags::ACK);
        Ok(match head.kind {
            Kind::HEADERS => Frame::Fields(fields(head, payload)?),
            Kind::CONTINUATION => Frame::Fields(payload),
            Kind::RST_STREAM => Frame::Reset(Code(reader.u32().map_err(size)?)),
            Kind::SETTINGS if is_ack => Frame::SettingsAck,
            Kind::SETTINGS => Frame::Settings(payload),
            Kind::PING => {
                let bytes = reader.array().map_err(size)?;
                if is_ack { Frame::PingAck(bytes) } else { Frame::Ping(bytes) }
            }
            Kind::GOAWAY => Frame::GoAway {
                last: reader.u32().map_err(size)? & MAX_WINDOW,
                code: Code(reader.u32().map_err(size)?),
            },
            Kind::WINDOW_UPDATE => match (reader.u32().map_err(size)? & MAX_WINDOW, head.stream) {
                // Section 6.9: an increment of 0 is an error of the stream or connection it belongs to.
                (0, 0) => {
                    return Err(Error::connection(
                        Code::PROTOCOL_ERROR,
                        "WINDOW_UPDATE with an increment of 0",
                    ));
                }
                (0, stream) => {
                    return Err(Error::stream(
                        stream,
                        Code::PROTOCOL_ERROR,
                        "WINDOW_UPDATE with an increment of 0",
                    ));
                }
                (more, _) => Frame::WindowUpdate(more),
            },
            Kind::PRIORITY_UPDATE => {
                let stream = reader.u32().map_err(size)? & MAX_WINDOW;
                // RFC 9218 section 7.1.
                if stream == 0 {
                    return Err(Error::connection(Code::PROTOCOL_ERROR, "PRIORITY_UPDATE for stream 0"));
                }
                Frame::PriorityUpdate(stream, Priority::parse(reader.rest()))
            }
            // Section 6.3: a stream error; the contents are ignored.
            Kind::PRIORITY if payload.len() != 5 => {
                let why = "a PRIORITY frame that is not 5 bytes long";
                return Err(Error::stream(head.stream, Code::FRAME_SIZE_ERROR, why));
            }
            _ => Frame::Ignored,
        })
    }
}

/// The field block of a HEADERS frame (section 6.2).
fn fields<'a>(head: &FrameHead, payload: &'a [u8]) -> Result<&'a [u8], Error> {
    let short = Error::connection(Code::FRAME_SIZE_ERROR, "a HEADERS frame that ends too early");
    let (padding, rest) = if head.flags.has(Flags::PADDED) {
        payload.split_first().map(|(padding, rest)| (usize::from(*padding), rest)).ok_or(short)?
    } else {
        (0, payload)
    };
    let block = if head.flags.has(Flags::PRIORITY) { rest.get(5..).ok_or(short)? } else { rest };
    let length = block.len().checked_sub(padding);
    let long = Error::connection(Code::PROTOCOL_ERROR, "more padding than the frame can hold");
    Ok(&block[..length.ok_or(long)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(kind: Kind, flags: u8, stream: u32, length: usize) -> FrameHead {
        FrameHead { length: length as u32, kind, flags: Flags(flags), stream }
    }
    fn read(kind: Kind, flags: u8, stream: u32, payload: &[u8]) -> Result<Frame<'_>, (Code, Option<u32>)> {
        let head = head(kind, flags, stream, payload.len());
        head.check().and_then(|()| Frame::decode(&head, payload)).map_err(|error| (error.code, error.stream))
    }

    #[test]
    fn headers_round_trip() {
        for head in [head(Kind::DATA, 9, 1, 16_384), head(Kind(0xff), 0xff, MAX_WINDOW, 0)] {
            let mut out = Vec::new();
            head.encode(&mut out);
            assert_eq!(FrameHead::decode(*out.first_chunk().unwrap()), Ok(head));
        }
        // Section 4.1: the reserved bit; section 4.2: a frame that is too large.
        assert_eq!(FrameHead::decode([0, 0, 0, 6, 0, 0x80, 0, 0, 0]).unwrap().stream, 0);
        assert_eq!(
            FrameHead::decode([0, 0x40, 1, 0, 0, 0, 0, 0, 1]).unwrap_err().code,
            Code::FRAME_SIZE_ERROR
        );
    }

    #[test]
    fn payloads_are_read() {
        assert_eq!(read(Kind::HEADERS, 0x2c, 1, b"\x02\0\0\0\0\0abcd\0\0"), Ok(Frame::Fields(b"abcd")));
        assert_eq!(read(Kind::RST_STREAM, 0, 1, &[0, 0, 0, 8]), Ok(Frame::Reset(Code::CANCEL)));
        assert_eq!(read(Kind::PING, 1, 0, b"12345678"), Ok(Frame::PingAck(*b"12345678")));
        assert_eq!(read(Kind::WINDOW_UPDATE, 0, 0, &[0x80, 0, 0, 1]), Ok(Frame::WindowUpdate(1)));
        assert_eq!(
            read(Kind::GOAWAY, 0, 0, &[0, 0, 0, 5, 0, 0, 0, 1, b'x']),
            Ok(Frame::GoAway { last: 5, code: Code::PROTOCOL_ERROR })
        );
        assert_eq!(
            read(Kind::PRIORITY_UPDATE, 0, 0, b"\0\0\0\x05u=1"),
            Ok(Frame::PriorityUpdate(5, Some(Priority { urgency: 1, incremental: false })))
        );
        assert_eq!(read(Kind(0x77), 0, 3, b"x"), Ok(Frame::Ignored));
    }

    /// RFC 9113 sections 6.1 to 6.10, RFC 9218 section 7.1.
    #[test]
    fn frames_that_break_rules() {
        let protocol = Err((Code::PROTOCOL_ERROR, None));
        let size = Err((Code::FRAME_SIZE_ERROR, None));
        for kind in [Kind::DATA, Kind::HEADERS, Kind::PRIORITY, Kind::RST_STREAM, Kind::CONTINUATION] {
            assert_eq!(read(kind, 0, 0, &[0; 5]), protocol, "{kind:?}");
        }
        for kind in [Kind::SETTINGS, Kind::PING, Kind::GOAWAY, Kind::PRIORITY_UPDATE] {
            assert_eq!(read(kind, 0, 1, &[0; 8]), protocol, "{kind:?}");
        }
        for (kind, flags, stream, length) in [
            (Kind::RST_STREAM, 0, 1, 5),
            (Kind::WINDOW_UPDATE, 0, 0, 3),
            (Kind::SETTINGS, 1, 0, 6),
            (Kind::PING, 0, 0, 7),
            (Kind::GOAWAY, 0, 0, 7),
            (Kind::PRIORITY_UPDATE, 0, 0, 3),
            (Kind::DATA, 8, 1, 0),
            (Kind::HEADERS, 8, 1, 0),
            (Kind::HEADERS, 0x20, 1, 4),
        ] {
            assert_eq!(read(kind, flags, stream, &[0; 8][..length]), size, "{kind:?}");
        }
        assert_eq!(read(Kind::PRIORITY, 0, 1, &[0; 4]), Err((Code::FRAME_SIZE_ERROR, Some(1))));
        assert_eq!(read(Kind::HEADERS, 8, 1, &[3, 0, 0]), protocol);
        assert_eq!(read(Kind::WINDOW_UPDATE, 0, 0, &[0; 4]), protocol);
        assert_eq!(read(Kind::WINDOW_UPDATE, 0, 7, &[0; 4]), Err((Code::PROTOCOL_ERROR, Some(7))));
        assert_eq!(read(Kind::PRIORITY_UPDATE, 0, 0, &[0; 4]), protocol);
    }
}
