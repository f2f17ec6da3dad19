//! DATAGRAM frames (RFC 9221): the queues of datagrams to send and to read, and counters.

use crate::assemble::Payload;
use crate::error::DatagramError;
use crate::event::Event;
use crate::stream::Data;
use std::collections::VecDeque;

/// The maximum number of buffers kept for reuse.
const MAX_SPARE: usize = 64;

/// The counters of datagrams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DatagramStats {
    /// DATAGRAM frames sent.
    pub sent: u64,
    /// Application bytes in them.
    pub sent_bytes: u64,
    /// Datagrams whose packets were acknowledged.
    pub acked: u64,
    /// Datagrams whose packets were declared lost. After a spurious loss, a datagram also counts as acknowledged.
    pub lost: u64,
    /// Datagrams not sent because the path had become too small for them.
    pub unsent: u64,
    /// DATAGRAM frames received.
    pub received: u64,
    /// Application bytes in them.
    pub received_bytes: u64,
    /// Received datagrams dropped unread because the queue was full, the oldest first.
    pub dropped: u64,
}

/// The bytes of a datagram.
#[derive(Debug)]
enum Body {
    Bytes(Vec<u8>),
    /// This many bytes of the [`wire::pattern`] from 0.
    Virtual(usize),
}

impl Body {
    fn len(&self) -> usize {
        match self {
            Body::Bytes(bytes) => bytes.len(),
            Body::Virtual(length) => *length,
        }
    }
}

/// The queued datagrams of a connection in both directions.
#[derive(Debug)]
pub(crate) struct Datagrams {
    /// The maximum length of each queue.
    capacity: usize,
    outgoing: VecDeque<(u64, Body)>,
    next: u64,
    /// Whether the application waits for [`Event::DatagramWritable`].
    wants_room: bool,
    incoming: VecDeque<Body>,
    /// Whether [`Event::DatagramReadable`] was reported since the queue was last empty.
    notified: bool,
    spare: Vec<Vec<u8>>,
    pub(crate) events: VecDeque<Event>,
    pub(crate) stats: DatagramStats,
}

impl Datagrams {
    pub(crate) fn new(capacity: usize) -> Datagrams {
        Datagrams {
            capacity,
            outgoing: VecDeque::new(),
            next: 0,
            wants_room: false,
            incoming: VecDeque::new(),
            notified: false,
            spare: Vec::new(),
            events: VecDeque::new(),
            stats: DatagramStats::default(),
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> Body {
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.extend_from_slice(bytes);
        Body::Bytes(kept)
    }
    fn recycle(&mut self, body: Body) {
        if let Body::Bytes(mut bytes) = body
            && self.spare.len() < MAX_SPARE
        {
            bytes.clear();
            self.spare.push(bytes);
        }
    }

    /// Queues a datagram. The caller has checked its size.
    pub(crate) fn send(&mut self, data: Data<'_>) -> Result<u64, DatagramError> {
        if self.outgoing.len() >= self.capacity {
            self.wants_room = true;
            return Err(DatagramError::Blocked);
        }
        let body = match data {
            Data::Bytes(bytes) => self.keep(bytes),
            Data::Virtual(length) => Body::Virtual(length as usize),
        };
        let number = self.next;
        self.next += 1;
        self.outgoing.push_back((number, body));
        Ok(number)
    }

    /// Stops if the queues are longer than permitted, or a datagram was lost to the counters.
    pub(crate) fn check(&self) {
        assert!(self.outgoing.len() <= self.capacity.max(1), "the queue to send is limited");
        assert!(self.incoming.len() <= self.capacity.max(1), "the queue to read is limited");
        let counted = self.stats.sent + self.stats.unsent + self.outgoing.len() as u64;
        assert_eq!(counted, self.next, "a datagram is sent, given up, or waits");
    }

    /// Whether datagrams wait to be sent.
    #[inline]
    pub(crate) fn has_pending(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Appends as many datagrams as fit, in order. `maximum` is the length that fits into a packet of its own,
    /// `frame` the longest frame that the peer accepts. A datagram that does not fit waits for the next packet; one
    /// longer than `maximum` is dropped, because the path carries less than when it was written.
    pub(crate) fn fill(&mut self, payload: &mut Payload<'_>, maximum: usize, frame: usize) {
        while let Some((number, body)) = self.outgoing.front() {
            let (number, length) = (*number, body.len());
            if length > maximum {
                self.stats.unsent += 1;
                self.events.push_back(Event::DatagramLost(number));
            } else if payload.datagram_room() < length as isize {
                break;
            } else {
                let bytes = match body {
                    Body::Bytes(bytes) => wire::Data::Bytes(bytes),
                    Body::Virtual(length) => wire::Data::Virtual { length: *length },
                };
                payload.datagram(number, bytes, frame);
                self.stats.sent += 1;
                self.stats.sent_bytes += length as u64;
            }
            if let Some((_, body)) = self.outgoing.pop_front() {
                self.recycle(body);
            }
            if std::mem::take(&mut self.wants_room) {
                self.events.push_back(Event::DatagramWritable);
            }
        }
    }

    pub(crate) fn on_acked(&mut self, number: u64) {
        self.stats.acked += 1;
        self.events.push_back(Event::DatagramAcked(number));
    }
    /// Reports a loss; RFC 9221 section 5.2: the datagram is not retransmitted.
    pub(crate) fn on_lost(&mut self, number: u64) {
        self.stats.lost += 1;
        self.events.push_back(Event::DatagramLost(number));
    }

    /// Queues a received datagram. RFC 9221 section 5.3: a full queue may drop datagrams; the oldest is the least
    /// useful.
    pub(crate) fn receive(&mut self, data: wire::Data<'_>) {
        self.stats.received += 1;
        self.stats.received_bytes += data.len() as u64;
        if self.incoming.len() >= self.capacity
            && let Some(oldest) = self.incoming.pop_front()
        {
            self.stats.dropped += 1;
            self.recycle(oldest);
        }
        let body = match data {
            wire::Data::Bytes(bytes) => self.keep(bytes),
            wire::Data::Virtual { length } => Body::Virtual(length),
        };
        self.incoming.push_back(body);
        if !std::mem::replace(&mut self.notified, true) {
            self.events.push_back(Event::DatagramReadable);
        }
    }

    /// Takes the oldest received datagram, appends its bytes to `into`, and returns its length.
    pub(crate) fn read(&mut self, into: Option<&mut Vec<u8>>) -> Option<u64> {
        let Some(body) = self.incoming.pop_front() else {
            self.notified = false;
            return None;
        };
        if let Some(into) = into {
            match &body {
                Body::Bytes(bytes) => into.extend_from_slice(bytes),
                Body::Virtual(length) => {
                    let at = into.len();
                    into.resize(at + length, 0);
                    wire::pattern::fill(0, &mut into[at..]);
                }
            }
        }
        let length = body.len() as u64;
        self.recycle(body);
        Some(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sent::{Contents, SentFrame};
    use wire::{Frame, Frames};

    /// The datagrams that go into a packet with this much room.
    fn fill(datagrams: &mut Datagrams, room: usize) -> (Vec<usize>, Vec<SentFrame>) {
        let (mut buffer, mut contents) = (Vec::new(), Contents::default());
        let mut payload = Payload::new(&mut buffer, &mut contents, room, true);
        datagrams.fill(&mut payload, 1000, 1001);
        assert!(payload.length() <= room);
        let tail = payload.hole().map_or(0, |hole| hole.length as usize);
        if buffer.is_empty() && tail == 0 {
            return (Vec::new(), Vec::new());
        }
        let lengths = Frames::new(&buffer, tail).filter_map(|frame| match frame.unwrap() {
            Frame::Datagram { data, .. } => Some(data.len()),
            Frame::Padding { .. } => None,
            other => panic!("{other:?}"),
        });
        (lengths.collect(), contents.frames())
    }

    #[test]
    fn datagrams_are_sent_whole_and_in_order() {
        let mut datagrams = Datagrams::new(8);
        for length in [100, 200, 0, 1000] {
            datagrams.send(Data::Virtual(length)).unwrap();
        }
        let (lengths, frames) = fill(&mut datagrams, 310);
        assert_eq!(lengths, [100, 200, 0]);
        assert_eq!(frames[2], SentFrame::Datagram { number: 2 });
        assert_eq!(fill(&mut datagrams, 1000).0, [], "a byte is missing");
        assert_eq!(fill(&mut datagrams, 1001).0, [1000]);
        assert!(!datagrams.has_pending() && datagrams.events.is_empty());
        assert_eq!((datagrams.stats.sent, datagrams.stats.sent_bytes), (4, 1300));
    }

    #[test]
    fn datagrams_decode_for_any_room() {
        for room in 0..300 {
            for length in 0..300 {
                let mut datagrams = Datagrams::new(8);
                datagrams.send(Data::Bytes(&vec![7; length])).unwrap();
                datagrams.send(Data::Virtual(20)).unwrap();
                let (lengths, _) = fill(&mut datagrams, room);
                assert_eq!(lengths.first().copied(), (length < room).then_some(length), "{room}");
            }
        }
    }

    #[test]
    fn datagrams_that_do_not_fit_any_more_are_lost_and_the_rest_is_sent() {
        let mut datagrams = Datagrams::new(8);
        datagrams.send(Data::Virtual(1001)).unwrap();
        datagrams.send(Data::Bytes(b"abc")).unwrap();
        assert_eq!(fill(&mut datagrams, 500).0, [3]);
        assert_eq!(datagrams.events, [Event::DatagramLost(0)]);
        assert_eq!((datagrams.stats.unsent, datagrams.stats.lost), (1, 0));
    }

    #[test]
    fn both_queues_are_bounded() {
        let mut datagrams = Datagrams::new(2);
        for _ in 0..2 {
            datagrams.send(Data::Bytes(b"x")).unwrap();
        }
        assert_eq!(datagrams.send(Data::Bytes(b"x")), Err(DatagramError::Blocked));
        fill(&mut datagrams, 100);
        assert_eq!(datagrams.events.pop_front(), Some(Event::DatagramWritable));
        for byte in 0..5 {
            datagrams.receive(wire::Data::Bytes(&[byte]));
        }
        assert_eq!(datagrams.events, [Event::DatagramReadable], "reported once");
        let mut out = Vec::new();
        while datagrams.read(Some(&mut out)).is_some() {}
        assert_eq!((out, datagrams.stats.dropped), (vec![3, 4], 3), "the newest stay");
        datagrams.receive(wire::Data::Virtual { length: 2 });
        assert_eq!(datagrams.events.len(), 2, "reported again after all was read");
        let mut out = Vec::new();
        assert_eq!(datagrams.read(Some(&mut out)), Some(2));
        assert!(wire::pattern::matches(0, &out));
    }
}
