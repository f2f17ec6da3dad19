//! The encoder and decoder streams of a peer without dynamic table entries (RFC 9204 sections 4.3 and 4.4), which may
//! carry hardly anything.

use crate::integer::Partial;
use crate::{Code, Violation};

/// The peer's encoder stream, for a table of capacity 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct EncoderStream {
    capacity: Option<Partial>,
}

impl EncoderStream {
    /// Takes the next bytes.
    ///
    /// # Errors
    /// QPACK_ENCODER_STREAM_ERROR for anything but a capacity of 0.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Violation> {
        let error = |why| Violation::new(Code::QPACK_ENCODER_STREAM_ERROR, why);
        for byte in bytes {
            let value = match &mut self.capacity {
                Some(partial) => {
                    let value = partial
                        .push(*byte)
                        .map_err(|_| error("the capacity of a dynamic table is too large"))?;
                    if value.is_some() {
                        self.capacity = None;
                    }
                    value
                }
                // Section 4.3.1: Set Dynamic Table Capacity.
                None if byte >> 5 == 0b001 => match Partial::begin(*byte, 5) {
                    Ok(value) => Some(value),
                    Err(partial) => {
                        self.capacity = Some(partial);
                        None
                    }
                },
                // Sections 3.2.2, 4.3.2 to 4.3.4: entries that do not fit the table, or copies of a missing entry.
                None => return Err(error("an entry that does not fit the dynamic table")),
            };
            // Section 4.3.1: the capacity must not exceed the announced one.
            if value.is_some_and(|capacity| capacity > 0) {
                return Err(error("a dynamic table capacity above the announced maximum"));
            }
        }
        Ok(())
    }
}

/// The peer's decoder stream, for an encoder that inserts nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct DecoderStream {
    stream: Option<Partial>,
}

impl DecoderStream {
    /// Takes the next bytes.
    ///
    /// # Errors
    /// QPACK_DECODER_STREAM_ERROR for anything but cancelled streams.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Violation> {
        let error = |why| Violation::new(Code::QPACK_DECODER_STREAM_ERROR, why);
        for byte in bytes {
            match &mut self.stream {
                Some(partial) => {
                    if partial
                        .push(*byte)
                        .map_err(|_| error("the stream ID of a Stream Cancellation is too large"))?
                        .is_some()
                    {
                        self.stream = None;
                    }
                }
                // Section 4.4.2: Stream Cancellation is meaningless to an encoder that refers to no dynamic entry.
                None if byte >> 6 == 0b01 => self.stream = Partial::begin(*byte, 6).err(),
                // Section 4.4.1: every section sent had a Required Insert Count of 0.
                None if byte >> 7 == 1 => {
                    return Err(error("Section Acknowledgment, but no section has dynamic entries"));
                }
                // Section 4.4.3: nothing was inserted.
                None => return Err(error("Insert Count Increment, but nothing was inserted")),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoder(bytes: &[u8]) -> Result<(), Code> {
        EncoderStream::default().push(bytes).map_err(|violation| violation.code)
    }
    fn decoder(bytes: &[u8]) -> Result<(), Code> {
        DecoderStream::default().push(bytes).map_err(|violation| violation.code)
    }

    /// RFC 9204 sections 4.3 and 3.2.2, with the bytes of appendices B.2, B.3 and B.4.
    #[test]
    fn instructions_of_an_encoder() {
        const ERROR: Result<(), Code> = Err(Code::QPACK_ENCODER_STREAM_ERROR);
        assert_eq!(encoder(&[0x20, 0x20, 0x20]), Ok(()));
        assert_eq!(encoder(&[0x3f, 0xbd, 0x01]), ERROR);
        assert_eq!(encoder(&[0x21]), ERROR);
        assert_eq!(encoder(&[0xc0, 0x0f]), ERROR);
        assert_eq!(encoder(&[0x4a, 0x63]), ERROR);
        assert_eq!(encoder(&[0x02]), ERROR);
        assert_eq!(encoder(&[&[0x3f][..], &[0xff; 20]].concat()), ERROR);
    }

    #[test]
    fn bytes_may_come_one_by_one() {
        let mut stream = EncoderStream::default();
        assert_eq!(stream.push(&[0x3f]), Ok(()));
        assert!(stream.push(&[0x01]).is_err());
        let mut stream = DecoderStream::default();
        for byte in [0x7f, 0xff, 0x01, 0x48] {
            assert_eq!(stream.push(&[byte]), Ok(()));
        }
        assert!(stream.push(&[0x84]).is_err());
    }

    /// RFC 9204 section 4.4, with the bytes of appendices B.2, B.3 and B.4.
    #[test]
    fn instructions_of_a_decoder() {
        const ERROR: Result<(), Code> = Err(Code::QPACK_DECODER_STREAM_ERROR);
        assert_eq!(decoder(&[0x48]), Ok(()));
        assert_eq!(decoder(&[0x84]), ERROR);
        assert_eq!(decoder(&[0x01]), ERROR);
        assert_eq!(decoder(&[0x00]), ERROR);
        assert_eq!(decoder(&[&[0x7f][..], &[0xff; 20]].concat()), ERROR);
    }
}
