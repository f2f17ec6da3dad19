//! The codecs of frame fields: one for each kind of field (RFC 9000 section 19.1: "all fields ... in the order in which
//! they are listed").

use crate::frame::FrameProblem;
use crate::varint::{self, Reader, encode};
use crate::{Code, ConnectionId, Direction, StreamId};

/// A field value for display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field<'a> {
    /// A number.
    Integer(u64),
    /// A stream id.
    Stream(StreamId),
    /// The direction of streams.
    Direction(Direction),
    /// Binary bytes.
    Bytes(&'a [u8]),
    /// Text for humans, which should be UTF-8.
    Text(&'a [u8]),
    /// Data, displayed by its length.
    Data(&'a [u8]),
}

/// The field values of a frame that is built from names instead of a packet. Missing values are 0 or empty.
pub trait FieldSource<'a> {
    /// The number with this name. Stream ids have the name `stream`.
    fn integer(&self, name: &'static str) -> u64;
    /// The bytes or text with this name.
    fn bytes(&self, name: &'static str) -> Option<&'a [u8]>;
    /// The direction of streams.
    fn direction(&self) -> Direction;
}

/// A kind of field: how to read, write, measure and display it. Some fields are part of the type of their frame,
/// `frame_type`.
pub(super) trait Codec<'a> {
    /// The type of the value.
    type Value;
    fn read(reader: &mut Reader<'a>, frame_type: u64) -> Result<Self::Value, FrameProblem>;
    fn write(value: &Self::Value, out: &mut Vec<u8>);
    /// The number of bytes that `write` appends.
    fn size(value: &Self::Value) -> usize;
    /// The value for display.
    fn show(value: &Self::Value) -> Field<'_>;
    /// Takes the value from a source. The error describes a value that does not fit.
    fn take(name: &'static str, source: &dyn FieldSource<'a>) -> Result<Self::Value, String>;
    /// The bits that the value adds to the type of its frame.
    fn bit(_value: &Self::Value) -> u64 {
        0
    }
}

/// A codec whose value is written as one variable-length integer.
macro_rules! integer {
    ($(#[doc = $doc:literal])* $codec:ident: $value:ty, $read:expr, $write:expr, $show:expr, $take:expr) => {
        $(#[doc = $doc])*
        pub(super) struct $codec;
        impl<'a> Codec<'a> for $codec {
            type Value = $value;
            fn read(reader: &mut Reader<'a>, _frame_type: u64) -> Result<$value, FrameProblem> {
                let read: fn(u64) -> Result<$value, FrameProblem> = $read;
                read(reader.varint()?)
            }
            fn write(value: &$value, out: &mut Vec<u8>) {
                let write: fn(&$value) -> u64 = $write;
                encode(out, write(value));
            }
            fn size(value: &$value) -> usize {
                let write: fn(&$value) -> u64 = $write;
                varint::size(write(value))
            }
            fn show(value: &$value) -> Field<'_> {
                let show: fn(&$value) -> Field<'_> = $show;
                show(value)
            }
            fn take(name: &'static str, source: &dyn FieldSource<'a>) -> Result<$value, String> {
                let take: fn(&'static str, &dyn FieldSource<'a>) -> $value = $take;
                Ok(take(name, source))
            }
        }
    };
}

integer! {
    /// An integer.
    Integer: u64, Ok, |value| *value,
    |value| Field::Integer(*value), |name, source| source.integer(name)
}
integer! {
    /// A stream id.
    Stream: StreamId, |value| Ok(StreamId::from_value(value)), |id| id.value(),
    |id| Field::Stream(*id), |_, source| StreamId::from_value(source.integer("stream"))
}
integer! {
    /// A QUIC error code.
    ErrorCode: Code, |value| Ok(Code(value)), |code| code.0,
    |code| Field::Integer(code.0), |name, source| Code(source.integer(name))
}
integer! {
    /// A number of streams, at most 2^60.
    // RFC 9000-4.6-1, 9000-19.11-1, 9000-19.14-1: more than 2^60 streams are an error.
    StreamCount: u64, |count| if count > StreamId::MAX_COUNT { Err(FrameProblem::TooManyStreams) } else { Ok(count) }, |count| *count,
    |count| Field::Integer(*count), |name, source| source.integer(name)
}

/// The direction of streams, the lowest bit of the frame type.
pub(super) struct DirectionBit;
impl<'a> Codec<'a> for DirectionBit {
    type Value = Direction;
    fn read(_: &mut Reader<'a>, frame_type: u64) -> Result<Direction, FrameProblem> {
        Ok(if frame_type & 1 == 0 { Direction::Bidirectional } else { Direction::Unidirectional })
    }
    fn write(_: &Direction, _: &mut Vec<u8>) {}
    fn size(_: &Direction) -> usize {
        0
    }
    fn show(direction: &Direction) -> Field<'_> {
        Field::Direction(*direction)
    }
    fn take(_: &'static str, source: &dyn FieldSource<'a>) -> Result<Direction, String> {
        Ok(source.direction())
    }
    fn bit(direction: &Direction) -> u64 {
        u64::from(*direction == Direction::Unidirectional)
    }
}

/// Bytes with a length prefix.
pub(super) struct Prefixed;
impl<'a> Codec<'a> for Prefixed {
    type Value = &'a [u8];
    fn read(reader: &mut Reader<'a>, _: u64) -> Result<&'a [u8], FrameProblem> {
        Ok(reader.prefixed()?)
    }
    fn write(bytes: &&'a [u8], out: &mut Vec<u8>) {
        encode(out, bytes.len() as u64);
        out.extend_from_slice(bytes);
    }
    fn size(bytes: &&'a [u8]) -> usize {
        varint::size(bytes.len() as u64) + bytes.len()
    }
    fn show<'v>(bytes: &'v &'a [u8]) -> Field<'v> {
        Field::Data(bytes)
    }
    fn take(name: &'static str, source: &dyn FieldSource<'a>) -> Result<&'a [u8], String> {
        Ok(source.bytes(name).unwrap_or_default())
    }
}

/// Text for humans with a length prefix.
pub(super) struct Reason;
impl<'a> Codec<'a> for Reason {
    type Value = &'a [u8];
    fn read(reader: &mut Reader<'a>, frame_type: u64) -> Result<&'a [u8], FrameProblem> {
        Prefixed::read(reader, frame_type)
    }
    fn write(words: &&'a [u8], out: &mut Vec<u8>) {
        Prefixed::write(words, out);
    }
    fn size(words: &&'a [u8]) -> usize {
        Prefixed::size(words)
    }
    fn show<'v>(words: &'v &'a [u8]) -> Field<'v> {
        Field::Text(words)
    }
    fn take(name: &'static str, source: &dyn FieldSource<'a>) -> Result<&'a [u8], String> {
        Prefixed::take(name, source)
    }
}

/// A token with a length prefix: at least one byte.
pub(super) struct Token;
impl<'a> Codec<'a> for Token {
    type Value = &'a [u8];
    fn read(reader: &mut Reader<'a>, _: u64) -> Result<&'a [u8], FrameProblem> {
        // RFC 9000-19.7-2: "a NEW_TOKEN frame with an empty Token field".
        match reader.prefixed()? {
            [] => Err(FrameProblem::EmptyToken),
            token => Ok(token),
        }
    }
    fn write(token: &&'a [u8], out: &mut Vec<u8>) {
        Prefixed::write(token, out);
    }
    fn size(token: &&'a [u8]) -> usize {
        Prefixed::size(token)
    }
    fn show<'v>(token: &'v &'a [u8]) -> Field<'v> {
        Field::Bytes(token)
    }
    fn take(name: &'static str, source: &dyn FieldSource<'a>) -> Result<&'a [u8], String> {
        Prefixed::take(name, source)
    }
}

/// A fixed number of bytes.
pub(super) struct Bytes<const N: usize>;
impl<'a, const N: usize> Codec<'a> for Bytes<N> {
    type Value = [u8; N];
    fn read(reader: &mut Reader<'a>, _: u64) -> Result<[u8; N], FrameProblem> {
        Ok(reader.array()?)
    }
    fn write(bytes: &[u8; N], out: &mut Vec<u8>) {
        out.extend_from_slice(bytes);
    }
    fn size(_: &[u8; N]) -> usize {
        N
    }
    fn show(bytes: &[u8; N]) -> Field<'_> {
        Field::Bytes(bytes)
    }
    fn take(name: &'static str, source: &dyn FieldSource<'a>) -> Result<[u8; N], String> {
        match source.bytes(name) {
            None => Ok([0; N]),
            Some(bytes) => {
                bytes.try_into().map_err(|_| format!("{name:?} has {} bytes, not {N}", bytes.len()))
            }
        }
    }
}

/// A connection id of 1 to 20 bytes, with a length prefix of one byte (not a variable-length integer; RFC 9000 figure
/// 39).
pub(super) struct Id;
impl<'a> Codec<'a> for Id {
    type Value = ConnectionId;
    fn read(reader: &mut Reader<'a>, _: u64) -> Result<ConnectionId, FrameProblem> {
        let length = usize::from(reader.u8()?);
        // RFC 9000-19.15-1: "Values less than 1 and greater than 20 are invalid".
        if !(1..=ConnectionId::MAX_LENGTH).contains(&length) {
            return Err(FrameProblem::ConnectionIdLength);
        }
        ConnectionId::new(reader.bytes(length)?).ok_or(FrameProblem::ConnectionIdLength)
    }
    fn write(id: &ConnectionId, out: &mut Vec<u8>) {
        out.push(id.len() as u8);
        out.extend_from_slice(id.as_bytes());
    }
    fn size(id: &ConnectionId) -> usize {
        1 + id.len()
    }
    fn show(id: &ConnectionId) -> Field<'_> {
        Field::Bytes(id.as_bytes())
    }
    fn take(name: &'static str, source: &dyn FieldSource<'a>) -> Result<ConnectionId, String> {
        let bytes = source.bytes(name).unwrap_or_default();
        ConnectionId::new(bytes).ok_or_else(|| format!("{name:?} has {} bytes, at most 20 fit", bytes.len()))
    }
}

/// A run of PADDING frames. The value is their number, the first of which is the type.
pub(super) struct PaddingRun;
impl<'a> Codec<'a> for PaddingRun {
    type Value = usize;
    fn read(reader: &mut Reader<'a>, _: u64) -> Result<usize, FrameProblem> {
        let rest = reader.rest();
        let more = rest.iter().position(|byte| *byte != 0).unwrap_or(rest.len());
        reader.bytes(more)?;
        Ok(1 + more)
    }
    fn write(length: &usize, out: &mut Vec<u8>) {
        out.resize(out.len() + length.saturating_sub(1), 0);
    }
    fn size(length: &usize) -> usize {
        length.saturating_sub(1)
    }
    fn show(length: &usize) -> Field<'_> {
        Field::Integer(*length as u64)
    }
    fn take(name: &'static str, source: &dyn FieldSource<'a>) -> Result<usize, String> {
        Ok(source.integer(name).max(1) as usize)
    }
}
