//! One direction of a connection: what one end sent, what became of it, and what waited for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::log::Log;
use crate::packets::{DATAGRAMS, Packet, Packets, SPACE_COUNT};
use crate::ranges::{Owners, Ranges};
use crate::sending;
use crate::sequence::{Index, Rows, STRANGER, Sequence};
use crate::waiting::{ConnectionWaits, First, Spans, StreamsWait};

/// A time that the logs do not say.
pub const UNKNOWN: i64 = -1;

/// What one direction of a stream sent, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// RFC 9000 section 2.1; [`DATAGRAMS`] for all DATAGRAM frames.
    pub id: i64,
    /// Sent, each byte once.
    pub bytes: i64,
    /// Sent again.
    pub retransmitted: i64,
}

/// What one end sent and the other received, packets in the order in which they were sent.
#[derive(Debug, Default)]
pub struct Direction {
    sender: Option<Arc<Log>>,
    receiver: Option<Arc<Log>>,
    rows: Rows,
    /// When each packet arrived, in nanoseconds; [`UNKNOWN`] if it did not.
    pub received: Vec<i64>,
    /// When the sender learned that each arrived; [`UNKNOWN`] if it did not.
    pub acknowledged: Vec<i64>,
    /// When each was declared lost; [`UNKNOWN`] if it was not.
    pub lost: Vec<i64>,
    /// Why, as a number of the sender's triggers plus 1; 0 if it was not declared lost.
    triggers: Vec<u32>,
    /// Packets that arrived though the sender's log, which is there, does not have them.
    pub strangers: usize,
    /// Packets that the sender's log has with the number of a later one: QUIC uses a number once (RFC 9000 section 12.3).
    pub repeated: usize,
    /// In the order in which they begin.
    pub streams: Vec<Stream>,
    /// A packet, and one that carries some of its bytes again; sorted.
    pub again: Vec<(u32, u32)>,
    /// Head-of-line blocking as it was.
    pub waits: Spans,
    /// As it would have been with one byte stream for the connection.
    pub one_stream: Spans,
    /// Streams with data that waits to be sent.
    pub queued: Spans,
    /// Streams without credit; -1 for the connection's.
    pub blocked: Spans,
}

/// The shortest time from sending to arrival by both clocks, in nanoseconds; none if no packet was seen at both ends.
#[must_use]
pub fn shortest(sender: &Log, receiver: &Log) -> Option<i64> {
    let sent = Sequence { sent: Some(&sender.sent), received: None, rows: &Rows::Sent };
    let index = Index::new(&sent);
    let received = &receiver.received;
    let ways = (0..received.len()).filter_map(|at| {
        let row = index.get(received.space(at)?, received.number(at))? as usize;
        // 0-RTT and 1-RTT packets share their numbers, but a packet is of one type.
        (sender.sent.kind(row) == received.kind(at)).then(|| received.time(at) - sender.sent.time(row))
    });
    ways.min()
}

impl Direction {
    /// What one end sent, from the logs of both, as far as they are there; `end` is the time of the last event of both.
    #[must_use]
    pub fn new(sender: Option<Arc<Log>>, receiver: Option<Arc<Log>>, end: i64) -> Self {
        let mut direction = Self { sender, receiver, ..Self::default() };
        direction.choose();
        let (sender, receiver) = (direction.sender.clone(), direction.receiver.clone());
        let rows = std::mem::take(&mut direction.rows);
        let packets = Sequence {
            sent: sender.as_ref().map(|log| &log.sent),
            received: receiver.as_ref().map(|log| &log.received),
            rows: &rows,
        };
        direction.received = vec![UNKNOWN; packets.len()];
        direction.acknowledged = direction.received.clone();
        direction.lost = direction.received.clone();
        direction.triggers = vec![0; packets.len()];
        let arrivals = {
            let index = Index::new(&packets);
            if let Some(sender) = &sender {
                direction.repeated = index.repeated;
                direction.outcomes(sender, &index);
            }
            direction.arrivals(receiver.as_deref(), &index)
        };
        let places = direction.analyse(&packets, &arrivals, sender.is_some(), end);
        drop(arrivals);
        if let Some(sender) = &sender {
            direction.queued = sending::queued(&packets, sender, &places, end);
            direction.blocked = sending::blocked(&packets, sender, &places, end);
        }
        direction.rows = rows;
        direction
    }

    pub(crate) fn packets(&self) -> Sequence<'_> {
        Sequence {
            sent: self.sender.as_ref().map(|log| &log.sent),
            received: self.receiver.as_ref().map(|log| &log.received),
            rows: &self.rows,
        }
    }

    /// The sender's log, if it is there.
    #[must_use]
    pub fn sender(&self) -> Option<&Log> {
        self.sender.as_deref()
    }

    /// How many packets there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lost.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lost.is_empty()
    }

    /// A packet as the sender wrote it down.
    ///
    /// # Panics
    /// If there is none at this place.
    #[must_use]
    pub fn packet(&self, row: usize) -> Packet {
        let (source, at) = self.packets().at(row);
        source.get(at)
    }

    /// Why a packet was declared lost; empty if it was not.
    ///
    /// # Panics
    /// If there is none at this place.
    #[must_use]
    pub fn trigger(&self, row: usize) -> &str {
        match (self.triggers[row].checked_sub(1), &self.sender) {
            (Some(trigger), Some(sender)) => sender.triggers.text(trigger),
            _ => "",
        }
    }

    /// Whether the sender's log says what the application wrote.
    #[must_use]
    pub fn has_written(&self) -> bool {
        self.sender.as_ref().is_some_and(|log| !log.written.is_empty())
    }

    /// What was sent, by time; and what arrived though the sender's log does not have it.
    fn choose(&mut self) {
        let none = Packets::default();
        let sent = self.sender.as_ref().map_or(&none, |log| &log.sent);
        let is_sorted = (1..sent.len()).all(|at| sent.time(at - 1) <= sent.time(at));
        let mut places: Vec<u32> = Vec::new();
        if !is_sorted {
            places = (0..sent.len() as u32).collect();
            places.sort_by_key(|&at| sent.time(at as usize));
        }
        let mut strangers: Vec<u32> = Vec::new();
        if let Some(receiver) = &self.receiver {
            let received = &receiver.received;
            let sequence = Sequence { sent: Some(sent), received: None, rows: &Rows::Sent };
            let known = Index::new(&sequence);
            let mut seen: [Ranges; SPACE_COUNT] = Default::default();
            for at in 0..received.len() {
                let Some(space) = received.space(at) else { continue };
                let number = received.number(at);
                if known.get(space, number).is_none()
                    && !seen[space as usize].add(number, number + 1).is_empty()
                {
                    strangers.push(at as u32 | STRANGER);
                }
            }
        }
        if !strangers.is_empty() && self.sender.is_some() {
            self.strangers = strangers.len();
            let received = &self.receiver.as_ref().expect("strangers were received").received;
            if is_sorted {
                places = (0..sent.len() as u32).collect();
            }
            places.extend(strangers);
            places.sort_by_key(|&place| match place & STRANGER {
                0 => sent.time(place as usize),
                _ => received.time((place & !STRANGER) as usize),
            });
        } else if sent.is_empty() {
            places = strangers;
        } else if is_sorted {
            self.rows = Rows::Sent;
            return;
        }
        self.rows = Rows::Chosen(places);
    }

    /// What the sender learned of its packets.
    fn outcomes(&mut self, sender: &Log, index: &Index<'_>) {
        for lost in &sender.lost {
            let row = lost.space.and_then(|space| index.get(space, lost.number));
            if let Some(row) = row.map(|row| row as usize)
                && self.lost[row] == UNKNOWN
            {
                self.lost[row] = lost.time;
                self.triggers[row] = lost.trigger + 1;
            }
        }
        let mut acknowledged: [Ranges; SPACE_COUNT] = Default::default();
        let received = &sender.received;
        for at in 0..received.len() {
            let Some(space) = received.space(at) else { continue };
            for (first, last) in received.acks(at).flat_map(|ack| ack.ranges) {
                for (new, after) in acknowledged[space as usize].add(first, last + 1) {
                    for &row in index.range(space, new, after) {
                        self.acknowledged[row as usize] = received.time(at);
                    }
                }
            }
        }
    }

    /// When packets arrived for the first time, in order: time and place among the packets.
    fn arrivals(&mut self, receiver: Option<&Log>, index: &Index<'_>) -> Vec<u32> {
        let mut arrivals: Vec<u32> = Vec::new();
        let Some(receiver) = receiver else {
            self.received.clone_from(&self.acknowledged);
            arrivals.extend((0..self.len() as u32).filter(|&row| self.received[row as usize] != UNKNOWN));
            arrivals.sort_by_key(|&row| self.received[row as usize]);
            return arrivals;
        };
        let received = &receiver.received;
        for at in 0..received.len() {
            let row = received.space(at).and_then(|space| index.get(space, received.number(at)));
            if let Some(row) = row
                && self.received[row as usize] == UNKNOWN
            {
                self.received[row as usize] = received.time(at);
                arrivals.push(row);
            }
        }
        arrivals
    }

    /// Streams, retransmissions and waits; returns the places of streams by their ids.
    fn analyse(
        &mut self,
        packets: &Sequence<'_>,
        arrivals: &[u32],
        has_sender: bool,
        end: i64,
    ) -> BTreeMap<i64, usize> {
        let (places, mut first) = self.sent(packets);
        if !has_sender {
            // In which order bytes were first sent, and by which packets, is known to the sender alone.
            first = First::default();
        }
        let mut ends = vec![Ranges::default(); self.streams.len()];
        let (mut streams, mut one) = (StreamsWait::default(), ConnectionWaits::default());
        for &row in arrivals {
            let time = self.received[row as usize];
            let (source, at) = packets.at(row as usize);
            let row = i64::from(row);
            for frame in source.streams(at).iter().filter(|frame| frame.stream != DATAGRAMS) {
                let place = places[&frame.stream];
                let new = ends[place].add(frame.offset, frame.end());
                if !new.is_empty() {
                    streams.arrive(&first, time, row, place, &new);
                    one.arrive(&first, time, row, place, &new);
                }
            }
            for place in source.resets(at).filter_map(|stream| places.get(&stream).copied()) {
                streams.reset(time, row, place);
                one.reset(&first, time, row, place, self.streams[place].bytes);
            }
        }
        (self.waits, self.one_stream) = (streams.end(end), one.end(end));
        places
    }

    /// What was sent of each stream, first and again.
    fn sent(&mut self, packets: &Sequence<'_>) -> (BTreeMap<i64, usize>, First) {
        let mut places = BTreeMap::new();
        let mut first = First::default();
        let mut carriers: Vec<Owners> = Vec::new();
        for row in 0..packets.len() {
            let (source, at) = packets.at(row);
            for frame in source.streams(at) {
                let place = *places.entry(frame.stream).or_insert_with(|| {
                    self.streams.push(Stream { id: frame.stream, bytes: 0, retransmitted: 0 });
                    carriers.push(Owners::default());
                    self.streams.len() - 1
                });
                let stream = &mut self.streams[place];
                if frame.stream == DATAGRAMS {
                    stream.bytes += frame.length;
                    continue;
                }
                let before = first.total;
                first.sent(place, frame.offset, frame.end(), row as u32);
                stream.bytes += first.total - before;
                stream.retransmitted += frame.length - (first.total - before);
                let owners = carriers[place].set(frame.offset, frame.end(), row as u32);
                self.again.extend(owners.into_iter().map(|old| (old, row as u32)));
            }
        }
        self.again.sort_unstable();
        self.again.dedup();
        (places, first)
    }
}
