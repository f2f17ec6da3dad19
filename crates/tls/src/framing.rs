//! Splits handshake bytes at message boundaries (RFC 8446 section 4). A message can change the keys, so bytes after
//! it may belong to other keys.

use crate::error::{Alert, code};

/// The longest message accepted, without its header: the limit of rustls. It also bounds a CRYPTO stream.
pub(crate) const LARGEST_MESSAGE: usize = 0xffff;

/// A piece of a single message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part<'a> {
    /// The piece including its part of the header.
    pub(crate) raw: &'a [u8],
    /// The piece without the header.
    pub(crate) body: &'a [u8],
    /// HandshakeType; 0 while the header is not complete.
    pub(crate) kind: u8,
    /// Whether the message ends with this piece.
    pub(crate) complete: bool,
}

/// The position of the input within a message.
#[derive(Debug, Default)]
pub(crate) struct Framing {
    header: [u8; 4],
    filled: usize,
    /// Bytes of the message that are to come, once the header is complete.
    left: usize,
}

impl Framing {
    /// Takes the next piece off the front of `bytes`.
    pub(crate) fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Result<Part<'a>, Alert> {
        let input = *bytes;
        let mut at = 0;
        if self.filled < 4 {
            at = input.len().min(4 - self.filled);
            self.header[self.filled..self.filled + at].copy_from_slice(&input[..at]);
            self.filled += at;
            if self.filled < 4 {
                *bytes = &[];
                return Ok(Part { raw: input, body: &[], kind: 0, complete: false });
            }
            let [_, high, middle, low] = self.header;
            self.left = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
            if self.left > LARGEST_MESSAGE {
                return Err(Alert::new(code::DECODE_ERROR, "a handshake message of more than 64 KiB"));
            }
        }
        let end = at + self.left.min(input.len() - at);
        self.left -= end - at;
        let complete = self.left == 0;
        if complete {
            self.filled = 0;
        }
        *bytes = &input[end..];
        Ok(Part { raw: &input[..end], body: &input[at..end], kind: self.header[0], complete })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The kind and body of each message, from input in pieces of this size.
    fn messages(input: &[u8], piece: usize) -> (Vec<(u8, Vec<u8>)>, Vec<u8>) {
        let mut framing = Framing::default();
        let (mut messages, mut body, mut raw) = (Vec::new(), Vec::new(), Vec::new());
        for mut bytes in input.chunks(piece) {
            while !bytes.is_empty() {
                let part = framing.next(&mut bytes).unwrap();
                raw.extend_from_slice(part.raw);
                body.extend_from_slice(part.body);
                if part.complete {
                    messages.push((part.kind, std::mem::take(&mut body)));
                }
            }
        }
        (messages, raw)
    }

    proptest! {
        #[test]
        fn messages_come_out_whatever_the_pieces(
            sent in prop::collection::vec((1u8.., prop::collection::vec(any::<u8>(), 0..300)), 0..8),
            piece in 1usize..700,
        ) {
            let mut input = Vec::new();
            for (kind, body) in &sent {
                input.extend_from_slice(&[*kind, 0, (body.len() >> 8) as u8, body.len() as u8]);
                input.extend_from_slice(body);
            }
            let (received, raw) = messages(&input, piece);
            prop_assert_eq!(received, sent);
            prop_assert_eq!(raw, input);
        }
    }

    #[test]
    fn a_message_that_is_too_long_is_refused_at_its_header() {
        let mut framing = Framing::default();
        assert_eq!(framing.next(&mut &[1, 1, 0, 0][..]).unwrap_err().code, 50);
        let mut framing = Framing::default();
        assert!(!framing.next(&mut &[1, 0, 0xff, 0xff][..]).unwrap().complete);
    }
}
