//! The decoder of TCP headers.

use super::options::{Cookie, Options, Timestamps, kind};
use super::{Flags, HEADER_SIZE, Header, TcpError};
use crate::varint::{Reader, UnexpectedEnd};

impl From<UnexpectedEnd> for TcpError {
    fn from(_: UnexpectedEnd) -> TcpError {
        TcpError::Truncated
    }
}

/// The options of almost every segment: two No-Operations before the timestamps (RFC 7323 appendix A).
const PADDED_TIMESTAMPS: [u8; 4] = [kind::NO_OPERATION, kind::NO_OPERATION, kind::TIMESTAMPS, 10];

impl Header {
    /// Reads the header at the start of a segment. Returns it and its length. The checksum is not verified.
    ///
    /// # Errors
    /// See [`TcpError`].
    pub fn decode(segment: &[u8]) -> Result<(Header, usize), TcpError> {
        let mut reader = Reader::new(segment);
        let (source, destination) = (reader.u16()?, reader.u16()?);
        let (sequence, acknowledgement) = (reader.u32()?, reader.u32()?);
        let offset_and_flags = reader.u16()?;
        let window = reader.u16()?;
        reader.u16()?;
        let urgent = reader.u16()?;
        let length = usize::from(offset_and_flags >> 12) * 4;
        if length < HEADER_SIZE {
            return Err(TcpError::DataOffset);
        }
        let options = segment.get(HEADER_SIZE..length).ok_or(TcpError::Truncated)?;
        let header = Header {
            source,
            destination,
            sequence,
            acknowledgement,
            flags: Flags(offset_and_flags & 0x1ff),
            window,
            urgent,
            options: decode_options(options)?,
        };
        Ok((header, length))
    }
}

#[inline]
fn decode_options(bytes: &[u8]) -> Result<Options, TcpError> {
    let mut options = Options::default();
    if let Ok(bytes) = <&[u8; 12]>::try_from(bytes)
        && bytes[..4] == PADDED_TIMESTAMPS
    {
        options.timestamps = timestamps(&bytes[4..]);
        return Ok(options);
    }
    let mut rest = bytes;
    while let Some((&found, after_kind)) = rest.split_first() {
        match found {
            kind::END => break,
            kind::NO_OPERATION => {
                rest = after_kind;
                continue;
            }
            _ => {}
        }
        // RFC 9293 section 3.1: "MUST be prepared to handle an illegal option length (e.g., zero)".
        let length = usize::from(*after_kind.first().ok_or(TcpError::Option)?);
        let option = rest.get(..length).ok_or(TcpError::Option)?;
        let value = option.get(2..).ok_or(TcpError::Option)?;
        decode_option(&mut options, found, value)?;
        rest = &rest[length..];
    }
    Ok(options)
}

fn decode_option(options: &mut Options, found: u8, value: &[u8]) -> Result<(), TcpError> {
    match (found, value) {
        (kind::MSS, [high, low]) => options.mss = Some(u16::from_be_bytes([*high, *low])),
        (kind::WINDOW_SCALE, [shift]) => options.window_scale = Some(*shift),
        (kind::SACK_PERMITTED, []) => options.sack_permitted = true,
        (kind::TIMESTAMPS, value) if value.len() == 8 => options.timestamps = timestamps(value),
        (kind::SACK, value) if !value.is_empty() && value.len().is_multiple_of(8) => {
            options.sack.truncate(0);
            for block in value.chunks_exact(8) {
                let edge =
                    |at: usize| u32::from_be_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
                options.sack.push(edge(0), edge(4));
            }
        }
        (kind::FAST_OPEN, value) => options.fast_open = Some(Cookie::new(value).ok_or(TcpError::Option)?),
        (kind::MSS | kind::WINDOW_SCALE | kind::SACK_PERMITTED | kind::TIMESTAMPS | kind::SACK, _) => {
            return Err(TcpError::Option);
        }
        _ => {}
    }
    Ok(())
}

fn timestamps(value: &[u8]) -> Option<Timestamps> {
    let (value, rest) = value.split_first_chunk()?;
    let echo = rest.first_chunk()?;
    Some(Timestamps { value: u32::from_be_bytes(*value), echo: u32::from_be_bytes(*echo) })
}
