//! What waits at the sender: data that was written and not sent yet, and streams without credit.
//!
//! Data that the application has written waits for the scheduler's choice, for the congestion window, or for credit
//! (RFC 9000 section 4). That it was written is told by an event of qlog; that a stream has no credit by the frames
//! `STREAM_DATA_BLOCKED` and `DATA_BLOCKED` (sections 19.12 and 19.13), which a sender should send then.

use std::collections::BTreeMap;

use crate::log::{Log, Written};
use crate::packets::Credit;
use crate::sequence::Sequence;
use crate::waiting::{NOBODY, Spans, Wait};

/// Instead of a stream: the credit of the connection.
const CONNECTION: i64 = -1;

type Places = BTreeMap<i64, usize>;

/// Streams with data that was not sent yet.
struct Queued<'a> {
    places: &'a Places,
    spans: Spans,
    written: BTreeMap<i64, i64>,
    sent: BTreeMap<i64, i64>,
    open: BTreeMap<i64, Wait>,
}

impl Queued<'_> {
    fn write(&mut self, Written { time, stream, end }: Written) {
        let sent = self.sent.get(&stream).copied().unwrap_or(0);
        let written = self.written.entry(stream).or_insert(0);
        *written = end.max(*written);
        let waiting = *written - sent;
        if waiting > 0 {
            let new = Wait { start: time, missing: NOBODY, offset: sent, held: 0 };
            let wait = self.open.entry(stream).or_insert(new);
            wait.held = wait.held.max(waiting);
        }
    }

    fn close(&mut self, time: i64, stream: i64, packet: i64) {
        if let Some(wait) = self.open.remove(&stream) {
            self.spans.close(self.places[&stream] as i64, &wait, time, packet);
        }
    }
}

/// From when a stream has data that was not sent yet until all that was written is sent, each byte once.
///
/// `offset` of a span is the first byte that waited, `held` the most bytes that did, and `filled` the packet with which
/// it ended. Nothing is found where the log does not say what was written.
pub(crate) fn queued(packets: &Sequence<'_>, log: &Log, places: &Places, end: i64) -> Spans {
    let known = log.written.iter().filter(|entry| places.contains_key(&entry.stream));
    let mut writes: Vec<Written> = known.copied().collect();
    writes.sort_by_key(|entry| entry.time);
    let mut writes = writes.into_iter().peekable();
    let mut queued = Queued {
        places,
        spans: Spans::default(),
        written: BTreeMap::new(),
        sent: BTreeMap::new(),
        open: BTreeMap::new(),
    };
    for row in 0..packets.len() {
        let (source, at) = packets.at(row);
        let time = source.time(at);
        while let Some(entry) = writes.next_if(|entry| entry.time <= time) {
            queued.write(entry);
        }
        for frame in source.streams(at) {
            let sent = queued.sent.entry(frame.stream).or_insert(0);
            if frame.end() > *sent {
                *sent = frame.end();
                if *sent >= queued.written.get(&frame.stream).copied().unwrap_or(0) {
                    queued.close(time, frame.stream, row as i64);
                }
            }
        }
        for stream in source.resets(at) {
            // RFC 9000 section 3.1: what was written and not sent is not sent any more.
            queued.close(time, stream, row as i64);
            queued.written.remove(&stream);
        }
    }
    for entry in writes {
        queued.write(entry);
    }
    while let Some((&stream, _)) = queued.open.first_key_value() {
        queued.close(end, stream, NOBODY);
    }
    queued.spans
}

/// From the frame that says that a stream, or the connection, has no credit until more comes.
///
/// `stream` is [`CONNECTION`] for that of the connection; `offset` of a span is the limit that was reached.
pub(crate) fn blocked(packets: &Sequence<'_>, log: &Log, places: &Places, end: i64) -> Spans {
    let mut spans = Spans::default();
    let mut open: BTreeMap<i64, Wait> = BTreeMap::new();
    let mut limits: BTreeMap<i64, i64> = BTreeMap::new();
    let mut events: Vec<(i64, bool, Credit)> = Vec::new();
    for at in 0..log.received.len() {
        events.extend(log.received.credit(at).map(|credit| (log.received.time(at), false, credit)));
    }
    for row in 0..packets.len() {
        let (source, at) = packets.at(row);
        events.extend(source.credit(at).map(|credit| (source.time(at), true, credit)));
    }
    events.sort_by_key(|&(time, is_own, _)| (time, is_own));
    let place = |stream| places.get(&stream).map_or(CONNECTION, |&place| place as i64);
    for (time, is_own, Credit { is_blocked, stream, limit }) in events {
        if !is_own && !is_blocked && limit > limits.get(&stream).copied().unwrap_or(-1) {
            limits.insert(stream, limit);
            if let Some(wait) = open.get(&stream).filter(|wait| limit > wait.offset) {
                spans.close(place(stream), wait, time, NOBODY);
                open.remove(&stream);
            }
            continue;
        }
        // A frame that was lost and is sent again tells nothing new.
        let is_known = limit < limits.get(&stream).copied().unwrap_or(0) || open.contains_key(&stream);
        if is_own && is_blocked && !is_known && (stream == CONNECTION || places.contains_key(&stream)) {
            open.insert(stream, Wait { start: time, missing: NOBODY, offset: limit, held: 0 });
        }
    }
    for (&stream, wait) in &open {
        spans.close(place(stream), wait, end, NOBODY);
    }
    spans
}
