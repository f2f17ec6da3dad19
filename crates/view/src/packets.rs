//! Packets as columns: a few bytes for each number, and no allocation for a packet.

use crate::varint;
use crate::words::Words;

/// The id under which DATAGRAM frames (RFC 9221) stand beside the streams.
pub const DATAGRAMS: i64 = -1;

/// The types of packets with a number, and their number space (RFC 9000 section 12.3).
const SPACES: [(&str, u8); 4] = [("initial", 0), ("handshake", 1), ("0rtt", 2), ("1rtt", 2)];

/// How many number spaces there are.
pub(crate) const SPACE_COUNT: usize = 3;

/// The number space of a packet type; none if its packets have no number.
pub(crate) fn space(kind: &str) -> Option<u8> {
    SPACES.iter().find(|(known, _)| *known == kind).map(|&(_, space)| space)
}

/// A STREAM frame, or a DATAGRAM frame as one of the stream [`DATAGRAMS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamFrame {
    /// The stream's id.
    pub stream: i64,
    /// The offset of its data.
    pub offset: i64,
    /// Their length in bytes.
    pub length: i64,
    /// Whether the stream ends here.
    pub fin: bool,
}

impl StreamFrame {
    /// The offset behind the data.
    pub(crate) fn end(&self) -> i64 {
        self.offset + self.length
    }
}

/// An ACK frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// The delay in nanoseconds.
    pub delay: i64,
    /// First and last packet number of each range.
    pub ranges: Vec<(i64, i64)>,
}

/// A frame of another kind: a text with `{}` for each of its numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Other {
    /// The text.
    pub text: String,
    /// The numbers.
    pub values: Vec<i64>,
}

/// What a frame of flow control says (RFC 9000 sections 19.9 to 19.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// Whether the sender is blocked by the limit; else the limit is given.
    pub is_blocked: bool,
    /// The stream, -1 for the connection.
    pub stream: i64,
    /// The limit in bytes.
    pub limit: i64,
}

/// A packet as one end wrote it down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// In nanoseconds.
    pub time: i64,
    /// Its type in lower case.
    pub kind: String,
    /// Its packet number; -1 for types without one.
    pub number: i64,
    /// In bytes; -1 if the log does not say.
    pub size: i64,
    /// Its data.
    pub streams: Vec<StreamFrame>,
    /// Its acknowledgements.
    pub acks: Vec<Ack>,
    /// The streams of its RESET_STREAM frames.
    pub resets: Vec<i64>,
    /// All other frames.
    pub others: Vec<Other>,
    /// Of those the ones of flow control.
    pub credit: Vec<Credit>,
}

/// What all packets have; their frames stand behind `streams`, `acks` and `others`.
#[derive(Clone, Debug)]
struct Row {
    number: i64,
    size: i64,
    kind: u32,
    /// Where the parts end in their columns.
    streams: u32,
    acks: u32,
    others: u32,
}

/// Packets in the order in which they were written down.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    times: Vec<i64>,
    rows: Vec<Row>,
    kinds: Words,
    /// The number space by kind.
    spaces: Vec<Option<u8>>,
    streams: Vec<StreamFrame>,
    /// In integers of variable length: the delay, the number of ranges, and of each its last number as it differs from
    /// the first one of the range before, and its length.
    acks: Vec<u8>,
    others: Vec<u32>,
    texts: Words,
    /// How many numbers a text has.
    places: Vec<u32>,
    /// The numbers of the others, and where those of a packet with others begin.
    values: Vec<i64>,
    value_starts: Vec<(u32, u32)>,
    resets: Vec<(u32, i64)>,
    credit: Vec<(u32, Credit)>,
}

impl Packets {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether there are so many that the columns, whose places have 32 bits, should not grow any more.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let columns =
            [self.rows.len(), self.streams.len(), self.acks.len(), self.others.len(), self.values.len()];
        columns.into_iter().any(|length| length > 1 << 30)
    }

    /// Adds a packet.
    pub fn push(&mut self, packet: &Packet) {
        let at = self.rows.len() as u32;
        let kind = self.kinds.number(&packet.kind);
        if kind as usize == self.spaces.len() {
            self.spaces.push(space(&packet.kind));
        }
        self.streams.extend_from_slice(&packet.streams);
        for ack in &packet.acks {
            self.push_ack(ack);
        }
        if !packet.others.is_empty() {
            self.value_starts.push((at, self.values.len() as u32));
        }
        for other in &packet.others {
            let text = self.texts.number(&other.text);
            if text as usize == self.places.len() {
                self.places.push(other.text.matches("{}").count() as u32);
            }
            self.others.push(text);
            self.values.extend_from_slice(&other.values);
        }
        self.resets.extend(packet.resets.iter().map(|&stream| (at, stream)));
        self.credit.extend(packet.credit.iter().map(|&credit| (at, credit)));
        self.times.push(packet.time);
        self.rows.push(Row {
            number: packet.number,
            size: packet.size,
            kind,
            streams: self.streams.len() as u32,
            acks: self.acks.len() as u32,
            others: self.others.len() as u32,
        });
    }

    fn push_ack(&mut self, ack: &Ack) {
        varint::push(&mut self.acks, ack.delay);
        varint::push(&mut self.acks, ack.ranges.len() as i64);
        let mut before = 0;
        for &(first, last) in &ack.ranges {
            varint::push(&mut self.acks, last - before);
            varint::push(&mut self.acks, last - first);
            before = first;
        }
    }

    /// A packet with all that it has.
    ///
    /// # Panics
    /// If there is none at this place.
    #[must_use]
    pub fn get(&self, at: usize) -> Packet {
        let others =
            self.others(at).map(|(text, values)| Other { text: text.to_owned(), values: values.to_vec() });
        Packet {
            time: self.time(at),
            kind: self.kind(at).to_owned(),
            number: self.number(at),
            size: self.size(at),
            streams: self.streams(at).to_vec(),
            acks: self.acks(at).collect(),
            resets: self.resets(at).collect(),
            others: others.collect(),
            credit: of(&self.credit, at).iter().map(|&(_, credit)| credit).collect(),
        }
    }

    /// Puts them into the order of their times, those of the same time as they were; returns how many stood behind later
    /// ones.
    pub(crate) fn sort(&mut self) -> usize {
        let behind = late(self.times.iter().copied());
        if behind > 0 {
            let mut order: Vec<usize> = (0..self.len()).collect();
            order.sort_by_key(|&at| self.times[at]);
            let mut sorted = Packets::default();
            order.into_iter().for_each(|at| sorted.push(&self.get(at)));
            *self = sorted;
        }
        behind
    }

    pub(crate) fn time(&self, at: usize) -> i64 {
        self.times[at]
    }

    pub(crate) fn kind(&self, at: usize) -> &str {
        self.kinds.text(self.rows[at].kind)
    }

    pub(crate) fn space(&self, at: usize) -> Option<u8> {
        self.spaces[self.rows[at].kind as usize]
    }

    pub(crate) fn number(&self, at: usize) -> i64 {
        self.rows[at].number
    }

    pub(crate) fn size(&self, at: usize) -> i64 {
        self.rows[at].size
    }

    /// From where to where the parts of a packet stand in a column.
    fn part(&self, at: usize, end: impl Fn(&Row) -> u32) -> std::ops::Range<usize> {
        let start = at.checked_sub(1).map_or(0, |before| end(&self.rows[before]));
        start as usize..end(&self.rows[at]) as usize
    }

    pub(crate) fn streams(&self, at: usize) -> &[StreamFrame] {
        &self.streams[self.part(at, |row| row.streams)]
    }

    pub(crate) fn acks(&self, at: usize) -> impl Iterator<Item = Ack> + '_ {
        let mut bytes = &self.acks[self.part(at, |row| row.acks)];
        std::iter::from_fn(move || {
            if bytes.is_empty() {
                return None;
            }
            let delay = varint::take(&mut bytes);
            let count = varint::take(&mut bytes);
            let mut before = 0;
            let ranges = (0..count).map(|_| {
                let last = before + varint::take(&mut bytes);
                before = last - varint::take(&mut bytes);
                (before, last)
            });
            Some(Ack { delay, ranges: ranges.collect() })
        })
    }

    /// The other frames of a packet: text and numbers.
    pub(crate) fn others(&self, at: usize) -> impl Iterator<Item = (&str, &[i64])> {
        let mut start = of(&self.value_starts, at).first().map_or(0, |&(_, start)| start as usize);
        self.others[self.part(at, |row| row.others)].iter().map(move |&text| {
            let end = start + self.places[text as usize] as usize;
            let values = &self.values[start..end];
            start = end;
            (self.texts.text(text), values)
        })
    }

    pub(crate) fn resets(&self, at: usize) -> impl Iterator<Item = i64> + '_ {
        of(&self.resets, at).iter().map(|&(_, stream)| stream)
    }

    pub(crate) fn credit(&self, at: usize) -> impl Iterator<Item = Credit> + '_ {
        of(&self.credit, at).iter().map(|&(_, credit)| credit)
    }

    /// Times of the first and the last packet.
    pub(crate) fn ends(&self) -> Option<(i64, i64)> {
        Some((*self.times.first()?, *self.times.last()?))
    }

    pub(crate) fn shift(&mut self, by: i64) {
        self.times.iter_mut().for_each(|time| *time = time.wrapping_add(by));
    }
}

/// The entries of a packet in a column that few packets have entries in.
fn of<T>(column: &[(u32, T)], at: usize) -> &[(u32, T)] {
    if column.is_empty() {
        return column;
    }
    let at = at as u32;
    let start = column.partition_point(|&(packet, _)| packet < at);
    let count = column[start..].iter().take_while(|&&(packet, _)| packet == at).count();
    &column[start..start + count]
}

/// How many of these times are before one that came earlier.
pub(crate) fn late(times: impl Iterator<Item = i64>) -> usize {
    let mut latest = i64::MIN;
    times
        .filter(|&time| {
            let is_late = time < latest;
            latest = latest.max(time);
            is_late
        })
        .count()
}
