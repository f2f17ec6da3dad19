//! A frame or event as named values, for display and comparison in scripts.

use crate::syntax::{FieldValue, Item};
use crate::value::{Value, Variables};
use crate::words::{APPLICATION_CLOSE, Absent, EVENTS, Entry, FRAMES};
use quic::Event;
use std::fmt;
use wire::frame::Field;
use wire::{Direction, Frame};

/// A word of a table with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) entry: &'static Entry,
    pub(crate) fields: Vec<(&'static str, Value)>,
}

type Fields = Vec<(&'static str, Value)>;

fn int(name: &'static str, value: u64) -> (&'static str, Value) {
    (name, Value::Int(value))
}
fn bytes(name: &'static str, value: &[u8]) -> (&'static str, Value) {
    (name, Value::Bytes(value.to_vec()))
}
fn text(name: &'static str, value: impl ToString) -> (&'static str, Value) {
    (name, Value::Text(value.to_string()))
}
fn direction(direction: Direction) -> (&'static str, Value) {
    let word = if direction == Direction::Bidirectional { "bidi" } else { "uni" };
    ("direction", Value::Word(word))
}

impl Shape {
    /// Creates a shape with the fields of the table's entry; `None` for an unknown name.
    fn new(table: &'static [Entry], name: &str, fields: Fields) -> Option<Shape> {
        Some(Shape { entry: crate::words::find(table, name)?, fields })
    }

    /// Describes a frame. `ack_delay_exponent` is the sender's.
    pub(crate) fn of_frame(frame: &Frame<'_>, ack_delay_exponent: u8) -> Option<Shape> {
        let (name, fields) = frame_fields(frame, ack_delay_exponent);
        Shape::new(FRAMES, name, fields)
    }

    /// Describes an event. Events of early data have no words.
    pub(crate) fn of_event(event: &Event) -> Option<Shape> {
        let stream = |id: wire::StreamId| int("stream", id.value());
        let (name, fields) = match event {
            Event::Connected => ("Connected", vec![]),
            Event::Opened(id) => ("Opened", vec![stream(*id)]),
            Event::Readable(id) => ("Readable", vec![stream(*id)]),
            Event::Writable(id) => ("Writable", vec![stream(*id)]),
            Event::Delivered(id) => ("Delivered", vec![stream(*id)]),
            Event::Stopped { stream: id, code } => ("Stopped", vec![stream(*id), int("code", *code)]),
            Event::Reset { stream: id, code } => ("Reset", vec![stream(*id), int("code", *code)]),
            Event::Closed { stream: id, sent, received } => {
                ("Closed", vec![stream(*id), int("sent", *sent), int("received", *received)])
            }
            Event::DatagramReadable => ("DatagramReadable", vec![]),
            Event::DatagramWritable => ("DatagramWritable", vec![]),
            Event::DatagramAcked(number) => ("DatagramAcked", vec![int("number", *number)]),
            Event::DatagramLost(number) => ("DatagramLost", vec![int("number", *number)]),
            Event::StreamsAvailable(of) => ("StreamsAvailable", vec![direction(*of)]),
            Event::Migrated { local, remote } => {
                ("Migrated", vec![text("local", local), text("remote", remote)])
            }
            Event::PathFailed { local, remote } => {
                ("PathFailed", vec![text("local", local), text("remote", remote)])
            }
            Event::Ended => ("Ended", vec![]),
            Event::EarlyDataReady | Event::EarlyDataAccepted | Event::EarlyDataRejected { .. } => {
                return None;
            }
        };
        Shape::new(EVENTS, name, fields)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value)
    }

    /// Whether this matches the pattern. Variables are bound only in that case.
    pub(crate) fn fits(&self, expected: &Item, variables: &mut Variables) -> bool {
        if !std::ptr::eq(self.entry, expected.entry) {
            return false;
        }
        let mut tried = variables.clone();
        let fits = fields_fit(&expected.fields, &|name| self.get(name).cloned(), &mut tried)
            && (expected.open || self.has_nothing_else(&expected.fields));
        if fits {
            *variables = tried;
        }
        fits
    }

    /// Whether all fields that have to be named are absent.
    fn has_nothing_else(&self, named: &[FieldValue]) -> bool {
        let rest = self
            .entry
            .fields
            .iter()
            .filter(|field| !named.iter().any(|given| given.field.name == field.name));
        rest.into_iter().all(|field| field.absent != Absent::Missing || self.get(field.name).is_none())
    }
}

/// Whether each of these fields has an expected value.
pub(crate) fn fields_fit(
    expected: &[FieldValue],
    get: &dyn Fn(&str) -> Option<Value>,
    variables: &mut Variables,
) -> bool {
    expected
        .iter()
        .all(|given| get(given.field.name).is_some_and(|value| given.pattern.matches(&value, variables)))
}

/// The word for a frame, and its fields. Spans are numbers of microseconds whose names end with `_us`.
fn frame_fields(frame: &Frame<'_>, ack_delay_exponent: u8) -> (&'static str, Fields) {
    let mut fields = Fields::new();
    match *frame {
        Frame::Ack(ack) => {
            let ranges = ack.ranges().map(|range| (*range.start(), *range.end())).collect();
            let delay = ack.scaled_delay(ack_delay_exponent.min(20));
            fields.extend([("ranges", Value::Ranges(ranges)), ("delay", Value::Span(delay))]);
            if let Some(counts) = ack.ecn() {
                fields.extend([int("ect0", counts.ect0), int("ect1", counts.ect1), int("ce", counts.ce)]);
            }
        }
        Frame::Stream { id, offset, data, fin } => {
            fields.extend([
                int("stream", id.value()),
                int("offset", offset),
                int("length", data.len() as u64),
            ]);
            fields.extend(fin.then_some(("fin", Value::Flag)));
        }
        Frame::Datagram { data, .. } => fields.push(int("length", data.len() as u64)),
        plain => plain.fields(|name, field| {
            fields.push(match (name.strip_suffix("_us"), field) {
                (Some(span), Field::Integer(us)) => (span, Value::Span(units::Duration::from_micros(us))),
                (_, Field::Integer(value)) => int(name, value),
                (_, Field::Stream(id)) => int("stream", id.value()),
                (_, Field::Direction(of)) => direction(of),
                (_, Field::Bytes(value)) => bytes(name, value),
                (_, Field::Text(value)) => text(name, String::from_utf8_lossy(value)),
                (_, Field::Data(data)) => int("length", data.len() as u64),
            });
        }),
    }
    (word(frame), fields)
}

/// The word for a frame: its name, but for the second of the two that have the same.
fn word(frame: &Frame<'_>) -> &'static str {
    if let Frame::ApplicationClose { .. } = frame { APPLICATION_CLOSE } else { frame.name() }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry.name)?;
        for (index, (name, value)) in self.fields.iter().enumerate() {
            f.write_str(if index == 0 { "(" } else { ", " })?;
            let is_first = self.entry.fields.first().is_some_and(|first| first.name == *name);
            match value {
                Value::Flag => f.write_str(name)?,
                Value::Int(code) if *name == "code" && self.entry.name == "CONNECTION_CLOSE" => {
                    match wire::Code(*code).name() {
                        Some(word) => f.write_str(word)?,
                        None => write!(f, "{code}")?,
                    }
                }
                value if is_first => write!(f, "{value}")?,
                value => write!(f, "{name} {value}")?,
            }
        }
        if self.fields.is_empty() { Ok(()) } else { f.write_str(")") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::StreamId;

    #[test]
    fn a_frame_is_shown_as_a_script_writes_it() {
        let data = wire::Data::Virtual { length: 100 };
        let frame = Frame::Stream { id: StreamId::from_value(4), offset: 7, data, fin: true };
        let shape = Shape::of_frame(&frame, 3).unwrap();
        assert_eq!(shape.to_string(), "STREAM(4, offset 7, length 100, fin)");
        assert_eq!(Shape::of_frame(&Frame::Ping, 3).unwrap().to_string(), "PING");
        let close =
            Frame::ConnectionClose { code: wire::Code::FLOW_CONTROL_ERROR, frame_type: 8, reason: b"no" };
        assert_eq!(
            Shape::of_frame(&close, 3).unwrap().to_string(),
            "CONNECTION_CLOSE(FLOW_CONTROL_ERROR, frame_type 8, reason \"no\")"
        );
    }
}
