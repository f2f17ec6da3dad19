//! What waits for what at the receiver: head-of-line blocking of QUIC, and what one byte stream would have held back.
//!
//! A stream waits while it has received bytes that it cannot deliver because an earlier offset of the same stream is
//! missing (RFC 9000 section 2.2: data are delivered in order on a stream, without an order between streams). For
//! comparison the same bytes, arriving at the same times, are put into one sequence for the whole connection, in the
//! order in which they were first sent, as TCP would have had to (RFC 9293): there a stream waits also for what others
//! miss. Streams are numbered by their places in the list of streams.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::ranges::{Owners, Ranges};

/// No packet: the missing bytes were never seen to be sent, or have not arrived until the end.
pub const NOBODY: i64 = -1;

/// Spans of waiting as columns.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    /// The stream's place in the list of streams.
    pub stream: Vec<i64>,
    /// When the first byte arrived that could not be delivered, or the hole before it was the next one; nanoseconds.
    pub start: Vec<i64>,
    /// When the missing bytes arrived, or the end of the log; nanoseconds.
    pub end: Vec<i64>,
    /// The packet that was to bring the first missing byte; [`NOBODY`] if none is known.
    pub missing: Vec<i64>,
    /// The packet with which the wait ended; [`NOBODY`] if it did not.
    pub filled: Vec<i64>,
    /// The first missing byte: its offset in the stream, or its place in the one sequence.
    pub offset: Vec<i64>,
    /// The most bytes that waited.
    pub held: Vec<i64>,
}

impl Spans {
    /// Closes a wait. Packets of one datagram arrive together: what is over at once was no wait.
    pub(crate) fn close(&mut self, stream: i64, wait: &Wait, end: i64, filled: i64) {
        if end <= wait.start {
            return;
        }
        self.stream.push(stream);
        self.start.push(wait.start);
        self.end.push(end);
        self.missing.push(wait.missing);
        self.filled.push(filled);
        self.offset.push(wait.offset);
        self.held.push(wait.held);
    }
}

/// A wait that is not over.
#[derive(Clone, Debug)]
pub(crate) struct Wait {
    pub(crate) start: i64,
    pub(crate) missing: i64,
    pub(crate) offset: i64,
    pub(crate) held: i64,
}

/// What was sent first: which packet was the first to carry a byte, and the byte's place in the one sequence.
#[derive(Debug, Default)]
pub(crate) struct First {
    seen: Vec<Ranges>,
    pieces: Vec<Owners>,
    /// Of each piece, in the order of the sequence: its offset in its stream, its place, its packet.
    offsets: Vec<i64>,
    places: Vec<i64>,
    packets: Vec<u32>,
    /// The length of the one sequence: all bytes that were sent, each once.
    pub(crate) total: i64,
}

impl First {
    /// A packet carries bytes of a stream.
    pub(crate) fn sent(&mut self, stream: usize, start: i64, end: i64, packet: u32) {
        for (first, last) in slot(&mut self.seen, stream).add(start, end) {
            slot(&mut self.pieces, stream).set(first, last, self.places.len() as u32);
            self.offsets.push(first);
            self.places.push(self.total);
            self.packets.push(packet);
            self.total += last - first;
        }
    }

    /// The packet that was the first to carry a byte of a stream; [`NOBODY`] if none did.
    fn carrier(&self, stream: usize, offset: i64) -> i64 {
        let piece = self.pieces.get(stream).and_then(|pieces| pieces.at(offset));
        piece.map_or(NOBODY, |piece| self.packets[piece as usize].into())
    }

    /// The packet that was the first to carry the byte at a place of the one sequence.
    fn carrier_at(&self, place: i64) -> i64 {
        if place >= self.total {
            return NOBODY;
        }
        self.packets[self.places.partition_point(|&start| start <= place) - 1].into()
    }

    /// Where bytes of a stream are in the one sequence.
    fn places(&self, stream: usize, start: i64, end: i64) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.pieces.get(stream).into_iter().flat_map(move |pieces| pieces.pieces(start, end)).map(
            |(first, last, piece)| {
                let shift = self.places[piece as usize] - self.offsets[piece as usize];
                (first + shift, last + shift)
            },
        )
    }
}

/// What has arrived of one sequence, and what of it is held back because an earlier part is missing.
#[derive(Debug, Default)]
struct Reordering {
    next: i64,
    waiting: BinaryHeap<Reverse<(i64, i64, usize)>>,
}

impl Reordering {
    /// A part arrives that had not before: tells the streams and numbers of bytes that become free by it.
    fn arrive(&mut self, start: i64, end: i64, stream: usize, mut freed: impl FnMut(usize, i64)) {
        if start > self.next {
            self.waiting.push(Reverse((start, end, stream)));
            return;
        }
        freed(stream, end - start);
        self.next = self.next.max(end);
        while let Some(&Reverse((start, end, stream))) = self.waiting.peek()
            && start <= self.next
        {
            self.waiting.pop();
            self.next = self.next.max(end);
            freed(stream, end - start);
        }
    }
}

/// Head-of-line blocking of QUIC: each stream waits for itself.
#[derive(Debug, Default)]
pub(crate) struct StreamsWait {
    spans: Spans,
    order: Vec<Reordering>,
    held: Vec<i64>,
    waits: Vec<Option<Wait>>,
}

impl StreamsWait {
    /// Bytes of a stream arrive, of which these parts had not before.
    pub(crate) fn arrive(
        &mut self,
        first: &First,
        time: i64,
        packet: i64,
        stream: usize,
        new: &[(i64, i64)],
    ) {
        let order = slot(&mut self.order, stream);
        let held = slot(&mut self.held, stream);
        let before = order.next;
        for &(start, end) in new {
            *held += end - start;
            order.arrive(start, end, stream, |_, length| *held -= length);
        }
        let wait = slot(&mut self.waits, stream);
        if let Some(over) = wait.take_if(|_| order.next != before) {
            self.spans.close(stream as i64, &over, time, packet);
        }
        match wait {
            Some(wait) => wait.held = wait.held.max(*held),
            None if *held > 0 => {
                let missing = first.carrier(stream, order.next);
                *wait = Some(Wait { start: time, missing, offset: order.next, held: *held });
            }
            None => {}
        }
    }

    /// The stream is reset: nobody waits for its data any more (RFC 9000 section 3.2).
    pub(crate) fn reset(&mut self, time: i64, packet: i64, stream: usize) {
        if let Some(wait) = slot(&mut self.waits, stream).take() {
            self.spans.close(stream as i64, &wait, time, packet);
        }
        *slot(&mut self.held, stream) = 0;
        *slot(&mut self.order, stream) = Reordering { next: 1 << 62, waiting: BinaryHeap::new() };
    }

    /// The log ends.
    pub(crate) fn end(mut self, time: i64) -> Spans {
        close_all(&mut self.spans, self.waits, time);
        self.spans
    }
}

/// What one byte stream for the whole connection would have held back.
#[derive(Debug, Default)]
pub(crate) struct ConnectionWaits {
    spans: Spans,
    order: Reordering,
    seen: Ranges,
    held: Vec<i64>,
    waits: Vec<Option<Wait>>,
    /// The streams of which something became free, or was held back, by the packet that arrives.
    touched: Vec<usize>,
}

impl ConnectionWaits {
    /// Bytes of a stream arrive, of which these parts had not before.
    pub(crate) fn arrive(
        &mut self,
        first: &First,
        time: i64,
        packet: i64,
        stream: usize,
        new: &[(i64, i64)],
    ) {
        for &(start, end) in new {
            self.place(first, stream, start, end);
        }
        self.settle(first, time, packet, stream);
    }

    /// The stream is reset: what of it is missing is not waited for, though TCP itself could not say so.
    pub(crate) fn reset(&mut self, first: &First, time: i64, packet: i64, stream: usize, final_size: i64) {
        self.place(first, stream, 0, final_size);
        self.settle(first, time, packet, stream);
    }

    fn place(&mut self, first: &First, stream: usize, start: i64, end: i64) {
        for (place, last) in first.places(stream, start, end) {
            for (start, end) in self.seen.add(place, last) {
                *slot(&mut self.held, stream) += end - start;
                let (held, touched) = (&mut self.held, &mut self.touched);
                self.order.arrive(start, end, stream, |other, length| {
                    held[other] -= length;
                    touched.push(other);
                });
            }
        }
    }

    fn settle(&mut self, first: &First, time: i64, packet: i64, stream: usize) {
        let mut touched = std::mem::take(&mut self.touched);
        touched.push(stream);
        touched.sort_unstable();
        touched.dedup();
        for stream in touched.drain(..) {
            let held = *slot(&mut self.held, stream);
            let wait = slot(&mut self.waits, stream);
            match wait {
                None if held > 0 => {
                    let missing = first.carrier_at(self.order.next);
                    *wait = Some(Wait { start: time, missing, offset: self.order.next, held });
                }
                Some(over) if held == 0 => {
                    self.spans.close(stream as i64, over, time, packet);
                    *wait = None;
                }
                Some(wait) => wait.held = wait.held.max(held),
                None => {}
            }
        }
        self.touched = touched;
    }

    /// The log ends.
    pub(crate) fn end(mut self, time: i64) -> Spans {
        close_all(&mut self.spans, self.waits, time);
        self.spans
    }
}

fn close_all(spans: &mut Spans, waits: Vec<Option<Wait>>, time: i64) {
    for (stream, wait) in waits.into_iter().enumerate() {
        if let Some(wait) = wait {
            spans.close(stream as i64, &wait, time, NOBODY);
        }
    }
}

/// The value of a stream, which is made if there is none yet. Streams are numbered as they come.
fn slot<T: Default>(values: &mut Vec<T>, at: usize) -> &mut T {
    if at >= values.len() {
        values.resize_with(at + 1, T::default);
    }
    &mut values[at]
}
