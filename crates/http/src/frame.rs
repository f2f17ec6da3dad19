//! Frames (RFC 9114 section 7): their headers on a stream, and the payloads of the small ones.

use crate::{Code, Priority, Violation};
use wire::{Direction, Reader, Side, StreamId, varint};

/// DATA (section 7.2.1).
pub const DATA: u64 = 0x00;
/// HEADERS (section 7.2.2).
pub const HEADERS: u64 = 0x01;
/// CANCEL_PUSH (section 7.2.3).
pub const CANCEL_PUSH: u64 = 0x03;
/// SETTINGS (section 7.2.4).
pub const SETTINGS: u64 = 0x04;
/// PUSH_PROMISE (section 7.2.5).
pub const PUSH_PROMISE: u64 = 0x05;
/// GOAWAY (section 7.2.6).
pub const GOAWAY: u64 = 0x07;
/// MAX_PUSH_ID (section 7.2.7).
pub const MAX_PUSH_ID: u64 = 0x0d;
/// PRIORITY_UPDATE of a request (RFC 9218 section 7.2).
pub const PRIORITY_UPDATE_REQUEST: u64 = 0xf0700;
/// PRIORITY_UPDATE of a push (RFC 9218 section 7.2).
pub const PRIORITY_UPDATE_PUSH: u64 = 0xf0701;

/// Whether the type is reserved because of its use in HTTP/2 (RFC 9114 section 7.2.8). Receiving it is
/// H3_FRAME_UNEXPECTED.
pub const fn is_of_http2(kind: u64) -> bool {
    matches!(kind, 0x02 | 0x06 | 0x08 | 0x09)
}

/// Whether the specification defines or forbids the type; other types are skipped (RFC 9114 section 9).
pub const fn is_known(kind: u64) -> bool {
    is_of_http2(kind)
        || matches!(
            kind,
            DATA | HEADERS
                | CANCEL_PUSH
                | SETTINGS
                | PUSH_PROMISE
                | GOAWAY
                | MAX_PUSH_ID
                | PRIORITY_UPDATE_REQUEST
                | PRIORITY_UPDATE_PUSH
        )
}

/// The type and length of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHead {
    /// The type.
    pub kind: u64,
    /// The length of the payload in bytes.
    pub length: u64,
}

impl FrameHead {
    /// Appends the header.
    ///
    /// # Panics
    /// If type or length is above 2^62 - 1.
    pub fn encode(self, out: &mut Vec<u8>) {
        varint::encode(out, self.kind);
        varint::encode(out, self.length);
    }
}

/// Appends a complete frame.
pub fn encode(out: &mut Vec<u8>, kind: u64, payload: &[u8]) {
    FrameHead { kind, length: payload.len() as u64 }.encode(out);
    out.extend_from_slice(payload);
}

/// Reads frame headers from a stream that arrives in pieces, without consuming any byte after them.
#[derive(Debug, Clone, Copy, Default)]
pub struct HeadReader {
    bytes: [u8; 16],
    filled: usize,
}

impl HeadReader {
    /// The number of bytes that it can certainly take.
    pub fn wanted(&self) -> usize {
        let size = |at: usize| 1usize << (self.bytes[at] >> 6);
        let needed = match self.filled {
            0 => 2,
            filled if filled <= size(0) => size(0) + 1,
            _ => size(0) + size(size(0)),
        };
        needed - self.filled
    }

    /// Takes up to the [wanted](HeadReader::wanted) number of bytes. Returns the header when it is complete, and is
    /// then ready for the next one.
    ///
    /// # Panics
    /// If there are more bytes than wanted.
    pub fn push(&mut self, bytes: &[u8]) -> Option<FrameHead> {
        assert!(bytes.len() <= self.wanted());
        self.bytes[self.filled..self.filled + bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
        let mut reader = Reader::new(&self.bytes[..self.filled]);
        let head = FrameHead { kind: reader.varint().ok()?, length: reader.varint().ok()? };
        self.filled = 0;
        Some(head)
    }

    /// Whether the reader is between two headers.
    pub fn is_empty(&self) -> bool {
        self.filled == 0
    }
}

/// The payload of CANCEL_PUSH, GOAWAY and MAX_PUSH_ID: one integer.
///
/// # Errors
/// H3_FRAME_ERROR for anything else (RFC 9114 section 7.1).
pub fn read_id(payload: &[u8]) -> Result<u64, Violation> {
    let mut reader = Reader::new(payload);
    match reader.varint() {
        Ok(id) if reader.is_empty() => Ok(id),
        _ => Err(Violation::new(Code::FRAME_ERROR, "the payload of a frame is not one integer")),
    }
}

/// The payload of a PRIORITY_UPDATE frame of a request (RFC 9218 section 7.2): the stream and its priority, which is
/// `None` if the value is not a dictionary and must be ignored.
///
/// # Errors
/// H3_FRAME_ERROR if there is no stream; H3_ID_ERROR if it is not a request stream.
pub fn read_priority_update(payload: &[u8]) -> Result<(StreamId, Option<Priority>), Violation> {
    let mut reader = Reader::new(payload);
    let id =
        reader.varint().map_err(|_| Violation::new(Code::FRAME_ERROR, "PRIORITY_UPDATE without an ID"))?;
    Ok((request_stream(id)?, Priority::parse(reader.take_rest())))
}

/// The request stream with this ID.
///
/// # Errors
/// H3_ID_ERROR if the ID does not belong to a client-initiated bidirectional stream.
pub fn request_stream(id: u64) -> Result<StreamId, Violation> {
    let stream = StreamId::from_value(id);
    if stream.initiator() == Side::Client && stream.direction() == Direction::Bidirectional {
        Ok(stream)
    } else {
        Err(Violation::new(Code::ID_ERROR, "the ID is not that of a request stream"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn code<T: std::fmt::Debug>(result: Result<T, Violation>) -> Code {
        result.unwrap_err().code
    }

    /// RFC 9114 section 7.1.
    #[test]
    fn ids_are_one_integer() {
        assert_eq!(read_id(&[0x40, 0x04]), Ok(4));
        for bad in [&[][..], &[0x40], &[4, 0]] {
            assert_eq!(code(read_id(bad)), Code::FRAME_ERROR, "{bad:?}");
        }
    }

    /// RFC 9218 section 7.2.
    #[test]
    fn priority_updates_name_a_request() {
        let (stream, priority) = read_priority_update(b"\x04u=1, i").unwrap();
        assert_eq!((stream.value(), priority), (4, Some(Priority { urgency: 1, incremental: true })));
        assert_eq!(read_priority_update(b"\x00").unwrap().1, Some(Priority::default()));
        assert_eq!(read_priority_update(b"\x00u=").unwrap().1, None);
        for bad in [1, 2, 3] {
            assert_eq!(code(read_priority_update(&[bad])), Code::ID_ERROR);
        }
        assert_eq!(code(read_priority_update(&[])), Code::FRAME_ERROR);
    }

    proptest! {
        /// Holds for any split of the stream and any encoding of the integers.
        #[test]
        fn heads_are_read_in_pieces(kind in 0..=varint::MAX, length in 0..=varint::MAX, long: [bool; 2], cuts in 1usize..16) {
            let mut bytes = Vec::new();
            for (value, long) in [(kind, long[0]), (length, long[1])] {
                if long {
                    bytes.extend_from_slice(&(value | 3 << 62).to_be_bytes());
                } else {
                    varint::encode(&mut bytes, value);
                }
            }
            let mut reader = HeadReader::default();
            let mut rest = &bytes[..];
            let mut head = None;
            while !rest.is_empty() {
                prop_assert_eq!(head, None);
                let (piece, behind) = rest.split_at(reader.wanted().min(cuts).min(rest.len()));
                prop_assert!(!piece.is_empty());
                head = reader.push(piece);
                rest = behind;
            }
            prop_assert_eq!(head, Some(FrameHead { kind, length }));
            prop_assert!(reader.is_empty());
        }
    }
}
