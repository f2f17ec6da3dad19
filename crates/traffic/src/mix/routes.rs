//! The mapping of streams and datagrams to parts.

use std::collections::{BTreeMap, BTreeSet};
use wire::{Direction, Reader, Side, StreamId, varint};

/// A part, and its own number of a stream.
pub(super) type Local = (u32, StreamId);

/// The mapping of streams and datagrams to parts at one end, and the counters of each part.
#[derive(Debug, Default)]
pub(super) struct Routes {
    by_real: BTreeMap<StreamId, Local>,
    by_local: BTreeMap<Local, StreamId>,
    /// Streams opened here: the unwritten rest of their label.
    unsent_labels: BTreeMap<StreamId, Vec<u8>>,
    /// Finished streams without data whose label waits for room; they end after it.
    pub(super) ending: BTreeSet<StreamId>,
    /// Streams opened by the peer: the received part of their label.
    incoming: BTreeMap<StreamId, Vec<u8>>,
    /// Streams opened here: the number of bytes written by their part.
    written: BTreeMap<StreamId, u64>,
    /// The part of each datagram in flight.
    pub(super) datagrams: BTreeMap<u64, u32>,
    /// The datagram that is being delivered to its part.
    pub(super) arrived: Option<Vec<u8>>,
    /// The stream whose end came with its label, until its part has read it.
    pub(super) ended: Option<StreamId>,
    pub(super) parts: Vec<Counts>,
}

/// The counters of a part.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    /// The bidirectional and unidirectional streams opened here, by their own numbers.
    opened: [Vec<StreamId>; 2],
    /// The numbers of bidirectional and unidirectional streams opened by the peer, closed ones included.
    opened_by_peer: [u64; 2],
    /// Its protocol.
    pub(super) alpn: &'static [u8],
    /// The number of bytes it wrote on streams that were delivered.
    pub(super) acked: u64,
    /// Whether it has closed its view of the connection.
    pub(super) done: bool,
}

/// The place of a direction in pairs of counts.
fn kind(direction: Direction) -> usize {
    usize::from(direction == Direction::Unidirectional)
}

impl Routes {
    /// Parts with these protocols.
    pub(super) fn of(alpns: Vec<&'static [u8]>) -> Routes {
        let parts = alpns.into_iter().map(|alpn| Counts { alpn, ..Counts::default() });
        Routes { parts: parts.collect(), ..Routes::default() }
    }

    /// The part that owns a stream, and its own number of it.
    pub(super) fn local(&self, real: StreamId) -> Option<Local> {
        self.by_real.get(&real).copied()
    }
    /// The stream with a part's own number.
    pub(super) fn real(&self, part: u32, local: StreamId) -> Option<StreamId> {
        self.by_local.get(&(part, local)).copied()
    }

    fn insert(&mut self, real: StreamId, part: u32, local: StreamId) {
        self.by_real.insert(real, (part, local));
        self.by_local.insert((part, local), real);
    }

    /// A part has opened a stream here. Returns its own number of the stream.
    pub(super) fn opened(&mut self, part: u32, side: Side, real: StreamId) -> StreamId {
        let opened = &mut self.parts[part as usize].opened[kind(real.direction())];
        let number = opened.len() as u64;
        let local = StreamId::new(side, real.direction(), number);
        let mut label = Vec::with_capacity(2);
        varint::encode(&mut label, u64::from(part));
        varint::encode(&mut label, number);
        opened.push(real);
        self.insert(real, part, local);
        self.unsent_labels.insert(real, label);
        local
    }

    /// The stream that a part has opened here with its own number, also after its end.
    pub(super) fn opened_as(&self, part: u32, local: StreamId) -> Option<u64> {
        let opened = &self.parts.get(part as usize)?.opened[kind(local.direction())];
        opened.get(usize::try_from(local.index()).ok()?).map(|real| real.value())
    }

    /// Removes and returns the unwritten rest of a stream's label.
    pub(super) fn take_label(&mut self, real: StreamId) -> Option<Vec<u8>> {
        self.unsent_labels.remove(&real)
    }
    pub(super) fn put_label_back(&mut self, real: StreamId, rest: Vec<u8>) {
        self.unsent_labels.insert(real, rest);
    }

    /// Processes a byte of the label of a stream opened by the peer. Returns the owner once the label is complete.
    ///
    /// # Errors
    /// If the part does not exist, or if the label was used before.
    pub(super) fn take_byte(&mut self, real: StreamId, byte: u8) -> Result<Option<Local>, &'static str> {
        let label = self.incoming.entry(real).or_default();
        label.push(byte);
        let mut reader = Reader::new(label);
        let (Ok(part), Ok(index)) = (reader.varint(), reader.varint()) else { return Ok(None) };
        self.incoming.remove(&real);
        let part = u32::try_from(part).ok().filter(|part| (*part as usize) < self.parts.len());
        let part = part.ok_or("a stream for a part that does not exist")?;
        if index >= 1 << 60 {
            return Err("a stream number that is too large");
        }
        let local = (part, StreamId::new(real.initiator(), real.direction(), index));
        if self.by_local.contains_key(&local) {
            return Err("two streams with the same number");
        }
        self.insert(real, local.0, local.1);
        self.parts[part as usize].opened_by_peer[kind(real.direction())] += 1;
        Ok(Some(local))
    }

    /// The number of streams that the peer has opened for certain parts, closed ones included.
    pub(super) fn opened_by_peer(&self, direction: Direction, of: impl Fn(u32) -> bool) -> u64 {
        let parts = (0..).zip(&self.parts).filter(|(part, _)| of(*part));
        parts.map(|(_, counts)| counts.opened_by_peer[kind(direction)]).sum()
    }

    pub(super) fn wrote(&mut self, real: StreamId, bytes: u64) {
        *self.written.entry(real).or_default() += bytes;
    }
    pub(super) fn delivered(&mut self, real: StreamId) {
        if let (Some(bytes), Some((part, _))) = (self.written.remove(&real), self.local(real)) {
            self.parts[part as usize].acked += bytes;
        }
    }
    /// Forgets a closed stream.
    pub(super) fn closed(&mut self, real: StreamId) {
        if let Some(local) = self.by_real.remove(&real) {
            self.by_local.remove(&local);
        }
        self.unsent_labels.remove(&real);
        self.ending.remove(&real);
        self.incoming.remove(&real);
        self.written.remove(&real);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_give_a_stream_the_same_number() {
        let (mut opener, mut other) = (Routes::of(vec![b""; 3]), Routes::of(vec![b""; 3]));
        for real in 0..70 {
            let real = StreamId::new(Side::Client, Direction::Bidirectional, real);
            let part = if real.index() == 2 { 1 } else { 2 };
            let local = opener.opened(part, Side::Client, real);
            let label = opener.take_label(real).unwrap();
            assert_eq!(label.len(), if local.index() < 64 { 2 } else { 3 });
            let owners: Vec<_> = label.iter().map(|byte| other.take_byte(real, *byte).unwrap()).collect();
            assert_eq!(owners.last(), Some(&Some((part, local))));
            assert!(owners[..owners.len() - 1].iter().all(Option::is_none));
            assert_eq!(other.real(part, local), Some(real));
        }
        let real = |index| StreamId::new(Side::Client, Direction::Bidirectional, index);
        assert_eq!(opener.local(real(2)), Some((1, real(0))));
        opener.wrote(real(2), 500);
        opener.delivered(real(2));
        assert_eq!((opener.parts[1].acked, opener.parts[2].acked), (500, 0));
        other.closed(real(2));
        assert_eq!((other.local(real(2)), other.real(1, real(0))), (None, None));
    }

    #[test]
    fn invalid_labels_are_rejected() {
        let real = |index| StreamId::new(Side::Client, Direction::Bidirectional, index);
        let mut routes = Routes::of(vec![b""; 2]);
        assert_eq!(routes.take_byte(real(0), 0), Ok(None));
        assert_eq!(routes.take_byte(real(0), 0), Ok(Some((0, real(0)))));
        assert!(routes.take_byte(real(1), 0).is_ok());
        assert!(routes.take_byte(real(1), 0).is_err(), "used before");
        assert!(routes.take_byte(real(2), 2).is_ok());
        assert!(routes.take_byte(real(2), 0).is_err(), "there are two parts");
    }
}
