//! The parts of a ClientHello that a server needs before its TLS library reads it: the first ticket, whether the
//! client asks for 0-RTT, and the transport parameters. The library decides on 0-RTT while it reads the message, so
//! reasons against it, and the QUIC version to make keys for, must be known before.

/// ExtensionType (RFC 8446 section 4.2).
const PRE_SHARED_KEY: u16 = 41;
const EARLY_DATA: u16 = 42;
/// RFC 9001 section 8.2.
const QUIC_TRANSPORT_PARAMETERS: u16 = 57;

/// What a ClientHello says about earlier connections and QUIC.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Hello<'a> {
    /// The first identity of pre_shared_key, the only one that 0-RTT can use (RFC 8446 section 4.2.10).
    pub(crate) ticket: Option<&'a [u8]>,
    /// Whether 0-RTT packets may follow.
    pub(crate) early_data: bool,
    /// The encoded transport parameters.
    pub(crate) parameters: Option<&'a [u8]>,
}

impl<'a> Hello<'a> {
    /// Reads a whole message without its header. Fields that cannot be decoded stay empty; the library then rejects
    /// the message.
    pub(crate) fn read(body: &'a [u8]) -> Hello<'a> {
        let mut hello = Hello::default();
        let _ = hello.fill(body);
        hello
    }

    /// RFC 8446 section 4.1.2.
    fn fill(&mut self, body: &'a [u8]) -> Option<()> {
        let mut rest = body.get(2 + 32..)?;
        vector(&mut rest, 1)?;
        vector(&mut rest, 2)?;
        vector(&mut rest, 1)?;
        let mut extensions = vector(&mut rest, 2)?;
        while !extensions.is_empty() {
            let (kind, after) = extensions.split_first_chunk::<2>()?;
            extensions = after;
            let mut content = vector(&mut extensions, 2)?;
            match u16::from_be_bytes(*kind) {
                EARLY_DATA => self.early_data = true,
                QUIC_TRANSPORT_PARAMETERS => self.parameters = Some(content),
                PRE_SHARED_KEY => self.ticket = Some(vector(&mut vector(&mut content, 2)?, 2)?),
                _ => {}
            }
        }
        Some(())
    }
}

/// Takes a vector with a length field of `width` bytes off the front.
fn vector<'a>(rest: &mut &'a [u8], width: usize) -> Option<&'a [u8]> {
    let (length, after) = rest.split_at_checked(width)?;
    let length = length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
    let (vector, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(vector)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// version, random, session id, one suite, compression, and these extensions.
    fn body(extensions: &[u8]) -> Vec<u8> {
        let mut body = vec![3, 3];
        body.extend_from_slice(&[9; 32]);
        body.extend_from_slice(&[0, 0, 2, 0x13, 0x01, 1, 0]);
        body.extend_from_slice(&(extensions.len() as u16).to_be_bytes());
        body.extend_from_slice(extensions);
        body
    }
    /// Two identities of 3 and 1 bytes, and a binder that is never checked.
    const PSK: &[u8] = &[0, 41, 0, 23, 0, 16, 0, 3, 7, 8, 9, 0, 0, 0, 0, 0, 1, 5, 0, 0, 0, 0, 0, 3, 2, 1, 1];

    #[test]
    fn the_first_ticket_and_early_data_are_found() {
        let early = [0, 42, 0, 0];
        let with = |parts: &[&[u8]]| {
            let body = body(&parts.concat());
            let hello = Hello::read(&body);
            (hello.ticket.map(<[u8]>::to_vec), hello.early_data)
        };
        assert_eq!(with(&[]), (None, false));
        assert_eq!(with(&[&early]), (None, true));
        assert_eq!(with(&[&[0, 51, 0, 2, 1, 1], &early, PSK]), (Some(vec![7, 8, 9]), true));
        assert_eq!(with(&[PSK]), (Some(vec![7, 8, 9]), false));
        assert_eq!(with(&[&[0, 41, 0, 3, 0, 9, 1]]), (None, false));
        let body = body(&[0, 57, 0, 2, 6, 7]);
        assert_eq!(Hello::read(&body).parameters, Some(&[6, 7][..]));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0usize..200) {
            Hello::read(&bytes);
            let whole = body(&[&bytes[..], PSK].concat());
            Hello::read(&whole[..cut.min(whole.len())]);
        }
    }
}
