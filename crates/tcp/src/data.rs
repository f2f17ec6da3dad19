//! Data from and to an application: real bytes, or a range of virtual bytes.

pub(crate) use transport::{Data, Read};

/// A buffered run of bytes of one kind.
#[derive(Debug)]
pub(crate) enum Chunk {
    /// Real bytes.
    Bytes(Vec<u8>),
    /// Virtual bytes: the length, and the offset in the pattern.
    Virtual { length: u64, from: u64 },
}

impl Chunk {
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        match self {
            Chunk::Bytes(bytes) => bytes.len() as u64,
            Chunk::Virtual { length, .. } => *length,
        }
    }
}

/// The payload of a received segment: bytes, a hole, bytes (see [`wire::Hole`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Payload<'a> {
    pub(crate) before: &'a [u8],
    /// The number of virtual bytes, and their offset in the pattern.
    pub(crate) hole: (u64, u64),
    pub(crate) after: &'a [u8],
}

/// A run of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run<'a> {
    Bytes(&'a [u8]),
    Virtual { length: u64, from: u64 },
}

impl Run<'_> {
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        match self {
            Run::Bytes(bytes) => bytes.len() as u64,
            Run::Virtual { length, .. } => *length,
        }
    }
}

impl<'a> Payload<'a> {
    /// The payload of a segment behind a header of `length` bytes. A hole within the header is ignored.
    pub(crate) fn new(segment: &'a [u8], length: usize, hole: Option<wire::Hole>) -> Payload<'a> {
        debug_assert!(length <= segment.len(), "a header that was read is in the segment");
        let bytes = &segment[length..];
        match hole.and_then(|hole| hole.behind(length)) {
            Some(hole) if hole.at as usize <= bytes.len() => {
                let (before, after) = bytes.split_at(hole.at as usize);
                Payload { before, hole: (u64::from(hole.length), hole.offset), after }
            }
            _ => Payload { before: bytes, ..Payload::default() },
        }
    }
    /// The length in bytes.
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        self.before.len() as u64 + self.hole.0 + self.after.len() as u64
    }
    /// The bytes from `start` to `end`.
    pub(crate) fn slice(&self, start: u64, end: u64) -> Payload<'a> {
        let part = |bytes: &'a [u8], at: u64| {
            let limit = bytes.len() as u64;
            let (from, to) = (start.saturating_sub(at).min(limit), end.saturating_sub(at).min(limit));
            &bytes[from as usize..to.max(from) as usize]
        };
        let (length, from) = self.hole;
        let at = self.before.len() as u64;
        let (first, last) = (start.saturating_sub(at).min(length), end.saturating_sub(at).min(length));
        Payload {
            before: part(self.before, 0),
            hole: (last.saturating_sub(first), from + first),
            after: part(self.after, at + length),
        }
    }
    /// The non-empty runs.
    #[inline]
    pub(crate) fn runs(&self) -> impl Iterator<Item = Run<'a>> {
        let (length, from) = self.hole;
        [Run::Bytes(self.before), Run::Virtual { length, from }, Run::Bytes(self.after)]
            .into_iter()
            .filter(|run| run.len() > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_a_payload_match_its_bytes() {
        let payload = Payload { before: &[200, 201, 202], hole: (4, 10), after: &[203, 204] };
        let written = |payload: &Payload<'_>| {
            let mut out = Vec::new();
            for run in payload.runs() {
                match run {
                    Run::Bytes(bytes) => out.extend_from_slice(bytes),
                    Run::Virtual { length, from } => {
                        out.extend((from..from + length).map(wire::pattern::byte))
                    }
                }
            }
            assert_eq!(out.len() as u64, payload.len());
            out
        };
        let whole = written(&payload);
        assert_eq!(whole, [200, 201, 202, 10, 11, 12, 13, 203, 204]);
        for start in 0..=9 {
            for end in start..=9 {
                assert_eq!(written(&payload.slice(start, end)), whole[start as usize..end as usize]);
            }
        }
    }
}
