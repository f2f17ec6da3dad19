//! The columns of the page: integers, many of them as differences, of variable length.
//!
//! `python/quiclab/drawings/view/browser/model.js` reads them back.

use crate::direction::{Direction, UNKNOWN};
use crate::log::GAUGES;
use crate::varint;
use crate::waiting::Spans;
use crate::words::Words;

/// A column: its name, how many values it has, and their bytes.
#[derive(Debug, Default)]
pub struct Column {
    /// Its name within the direction.
    pub name: String,
    /// How many values it has.
    pub count: usize,
    /// The values.
    pub bytes: Vec<u8>,
}

impl Column {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    fn push(&mut self, value: i64) {
        self.count += 1;
        varint::push(&mut self.bytes, value);
    }

    fn of(name: &str, values: impl IntoIterator<Item = i64>) -> Self {
        let mut column = Self::new(name);
        values.into_iter().for_each(|value| column.push(value));
        column
    }

    /// A column whose neighbours are close to each other.
    fn differences(name: &str, values: impl IntoIterator<Item = i64>) -> Self {
        let mut before = 0i64;
        Self::of(
            name,
            values.into_iter().map(|value| value.wrapping_sub(std::mem::replace(&mut before, value))),
        )
    }
}

/// A direction in columns, and the words that stand in them as numbers.
#[derive(Debug, Default)]
pub struct Packed {
    /// In the order in which they are written.
    pub columns: Vec<Column>,
    /// Types of packets.
    pub kinds: Vec<String>,
    /// Why packets were declared lost.
    pub triggers: Vec<String>,
    /// Frames that are neither data nor acknowledgements.
    pub texts: Vec<String>,
}

/// Packs a direction; times are from `start` on, in nanoseconds.
#[must_use]
pub fn pack(direction: &Direction, start: i64) -> Packed {
    let packets = direction.packets();
    let rows = || (0..packets.len()).map(|row| packets.at(row));
    let (mut kinds, mut triggers) = (Words::default(), Words::default());
    let mut columns = vec![
        Column::differences("sent", rows().map(|(source, at)| source.time(at).wrapping_sub(start))),
        Column::differences("number", rows().map(|(source, at)| source.number(at))),
        Column::of("kind", rows().map(|(source, at)| kinds.number(source.kind(at)).into())),
        Column::of("size", rows().map(|(source, at)| source.size(at))),
    ];
    for (name, times) in [
        ("received", &direction.received),
        ("acknowledged", &direction.acknowledged),
        ("lost", &direction.lost),
    ] {
        let passed = rows().zip(times).map(|((source, at), &time)| after(source.time(at), time));
        columns.push(Column::of(name, passed));
    }
    let reasons = (0..packets.len()).map(|row| triggers.number(direction.trigger(row)).into());
    columns.push(Column::of("trigger", reasons));
    let texts = frames(direction, &mut columns);
    columns.push(Column::differences("again.from", direction.again.iter().map(|&(old, _)| old.into())));
    columns.push(Column::of(
        "again.to",
        direction.again.iter().map(|&(old, new)| i64::from(new) - i64::from(old)),
    ));
    spans(&mut columns, "waits.", start, &direction.waits, 0);
    spans(&mut columns, "one.", start, &direction.one_stream, 0);
    spans(&mut columns, "queued.", start, &direction.queued, 0);
    spans(&mut columns, "blocked.", start, &direction.blocked, direction.streams.len() as i64);
    if let Some(log) = direction.sender() {
        for &gauge in log.gauges() {
            let name = GAUGES[gauge];
            let (times, values) = log.series(gauge);
            // Milliseconds are kept to the nanosecond.
            let factor = if name.ends_with("rtt") { 1e6 } else { 1.0 };
            let times = times.iter().map(|time| time.wrapping_sub(start));
            columns.push(Column::differences(&format!("metric.{name}.time"), times));
            let values = values.iter().map(|value| (value * factor).round_ties_even() as i64);
            columns.push(Column::differences(&format!("metric.{name}.value"), values));
        }
    }
    Packed { columns, kinds: kinds.into_texts(), triggers: triggers.into_texts(), texts }
}

/// A time as what has passed since the packet was sent; 0 is for a time that is not known.
fn after(sent: i64, time: i64) -> i64 {
    if time == UNKNOWN {
        return 0;
    }
    let passed = time.wrapping_sub(sent);
    if passed >= 0 { passed + 1 } else { passed }
}

/// The frames of all packets, by kind; returns the texts of those that are neither data nor acknowledgements.
fn frames(direction: &Direction, columns: &mut Vec<Column>) -> Vec<String> {
    let packets = direction.packets();
    let places: std::collections::BTreeMap<i64, usize> =
        direction.streams.iter().enumerate().map(|(place, stream)| (stream.id, place)).collect();
    let mut texts = Words::default();
    let [mut streams, mut acks, mut others] = ["streams", "acks", "others"].map(Column::new);
    let [mut stream, mut offset, mut length] =
        ["frame.stream", "frame.offset", "frame.length"].map(Column::new);
    let [mut delay, mut ranges, mut largest, mut range] =
        ["frame.delay", "frame.ranges", "frame.largest", "frame.range"].map(Column::new);
    let [mut text, mut value] = ["frame.text", "frame.value"].map(Column::new);
    let mut expected = vec![0i64; places.len()];
    let mut last_largest = 0i64;
    for row in 0..packets.len() {
        let (source, at) = packets.at(row);
        let mut count = 0;
        for frame in source.streams(at) {
            let place = places[&frame.stream];
            stream.push(place as i64);
            // Data usually go on where they ended.
            offset.push(frame.offset.wrapping_sub(expected[place]));
            expected[place] = if frame.stream >= 0 { frame.end() } else { 0 };
            length.push(2 * frame.length + i64::from(frame.fin));
            count += 1;
        }
        streams.push(count);
        count = 0;
        for ack in source.acks(at) {
            delay.push(ack.delay);
            ranges.push(ack.ranges.len() as i64);
            // As on the wire (RFC 9000 section 19.3.1): lengths and gaps downwards from the largest.
            let mut before = last_largest;
            for (index, &(first, last)) in ack.ranges.iter().enumerate() {
                let column = if index == 0 { &mut largest } else { &mut range };
                column.push(last.wrapping_sub(before));
                range.push(last - first);
                last_largest = if index == 0 { last } else { last_largest };
                before = first;
            }
            count += 1;
        }
        acks.push(count);
        count = 0;
        for (words, values) in source.others(at) {
            text.push(texts.number(words).into());
            values.iter().for_each(|&number| value.push(number));
            count += 1;
        }
        others.push(count);
    }
    columns
        .extend([streams, acks, others, stream, offset, length, delay, ranges, largest, range, text, value]);
    texts.into_texts()
}

/// Spans in the order of their starts; those of no stream under the number `other`.
fn spans(columns: &mut Vec<Column>, prefix: &str, start: i64, spans: &Spans, other: i64) {
    let mut order: Vec<usize> = (0..spans.start.len()).collect();
    order.sort_by_key(|&at| (spans.start[at], spans.stream[at]));
    let sorted = |values: &[i64]| -> Vec<i64> { order.iter().map(|&at| values[at]).collect() };
    let name = |column: &str| format!("{prefix}{column}");
    let streams = sorted(&spans.stream).into_iter().map(|stream| if stream >= 0 { stream } else { other });
    columns.push(Column::of(&name("stream"), streams));
    let starts = sorted(&spans.start).into_iter().map(|time| time.wrapping_sub(start));
    columns.push(Column::differences(&name("start"), starts));
    columns.push(Column::of(
        &name("length"),
        order.iter().map(|&at| spans.end[at].wrapping_sub(spans.start[at])),
    ));
    columns.push(Column::differences(&name("missing"), sorted(&spans.missing)));
    columns.push(Column::differences(&name("filled"), sorted(&spans.filled)));
    columns.push(Column::of(&name("offset"), sorted(&spans.offset)));
    columns.push(Column::of(&name("held"), sorted(&spans.held)));
}
