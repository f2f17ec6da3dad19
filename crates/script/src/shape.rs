//! A frame or an event with its values under the names of the tables, as scripts show it and compare it.

use crate::syntax::{Given, Item};
use crate::value::{Value, Variables};
use crate::words::{Absent, EVENTS, Entry, FRAMES};
use quic::Event;
use std::fmt;
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
    /// With the fields that a table knows under this name; `None` for a name that it does not have.
    fn new(table: &'static [Entry], name: &str, fields: Fields) -> Option<Shape> {
        Some(Shape { entry: crate::words::find(table, name)?, fields })
    }

    /// A frame. `ack_delay_exponent` is that of the side that sent it.
    pub(crate) fn of_frame(frame: &Frame<'_>, ack_delay_exponent: u8) -> Option<Shape> {
        let (name, fields) = frame_fields(frame, ack_delay_exponent);
        Shape::new(FRAMES, name, fields)
    }

    /// An event. Those of early data have no words.
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

    /// Whether this is what is expected. Variables are bound only then.
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

    /// Whether no field is there that would have to be named.
    fn has_nothing_else(&self, named: &[Given]) -> bool {
        let rest = self
            .entry
            .fields
            .iter()
            .filter(|field| !named.iter().any(|given| given.field.name == field.name));
        rest.into_iter().all(|field| field.absent != Absent::Missing || self.get(field.name).is_none())
    }
}

/// Whether each of these fields has a value that is expected.
pub(crate) fn fields_fit(
    expected: &[Given],
    get: &dyn Fn(&str) -> Option<Value>,
    variables: &mut Variables,
) -> bool {
    expected
        .iter()
        .all(|given| get(given.field.name).is_some_and(|value| given.pattern.matches(&value, variables)))
}

fn frame_fields(frame: &Frame<'_>, ack_delay_exponent: u8) -> (&'static str, Fields) {
    match *frame {
        Frame::Padding { length } => ("PADDING", vec![int("length", length as u64)]),
        Frame::Ping => ("PING", vec![]),
        Frame::Ack(ack) => {
            let ranges = ack.ranges().map(|range| (*range.start(), *range.end())).collect();
            let delay =
                units::Duration::from_micros(ack.delay().saturating_mul(1 << ack_delay_exponent.min(20)));
            let mut fields = vec![("ranges", Value::Ranges(ranges)), ("delay", Value::Span(delay))];
            if let Some(counts) = ack.ecn() {
                fields.extend([int("ect0", counts.ect0), int("ect1", counts.ect1), int("ce", counts.ce)]);
            }
            ("ACK", fields)
        }
        Frame::ResetStream { id, code, final_size } => (
            "RESET_STREAM",
            vec![int("stream", id.value()), int("code", code), int("final_size", final_size)],
        ),
        Frame::StopSending { id, code } => {
            ("STOP_SENDING", vec![int("stream", id.value()), int("code", code)])
        }
        Frame::Crypto { offset, data } => {
            ("CRYPTO", vec![int("offset", offset), int("length", data.len() as u64)])
        }
        Frame::NewToken { token } => ("NEW_TOKEN", vec![bytes("token", token)]),
        Frame::Stream { id, offset, data, fin } => {
            let mut fields =
                vec![int("stream", id.value()), int("offset", offset), int("length", data.len() as u64)];
            fields.extend(fin.then_some(("fin", Value::Flag)));
            ("STREAM", fields)
        }
        Frame::MaxData { maximum } => ("MAX_DATA", vec![int("maximum", maximum)]),
        Frame::MaxStreamData { id, maximum } => {
            ("MAX_STREAM_DATA", vec![int("stream", id.value()), int("maximum", maximum)])
        }
        Frame::MaxStreams { direction: of, maximum } => {
            ("MAX_STREAMS", vec![direction(of), int("maximum", maximum)])
        }
        Frame::DataBlocked { limit } => ("DATA_BLOCKED", vec![int("limit", limit)]),
        Frame::StreamDataBlocked { id, limit } => {
            ("STREAM_DATA_BLOCKED", vec![int("stream", id.value()), int("limit", limit)])
        }
        Frame::StreamsBlocked { direction: of, limit } => {
            ("STREAMS_BLOCKED", vec![direction(of), int("limit", limit)])
        }
        Frame::NewConnectionId { sequence, retire_prior_to, id, token } => (
            "NEW_CONNECTION_ID",
            vec![
                int("sequence", sequence),
                int("retire_prior_to", retire_prior_to),
                bytes("id", id.as_bytes()),
                bytes("token", &token),
            ],
        ),
        Frame::RetireConnectionId { sequence } => ("RETIRE_CONNECTION_ID", vec![int("sequence", sequence)]),
        Frame::PathChallenge { data } => ("PATH_CHALLENGE", vec![bytes("data", &data)]),
        Frame::PathResponse { data } => ("PATH_RESPONSE", vec![bytes("data", &data)]),
        Frame::ConnectionClose { code, frame_type, reason } => (
            "CONNECTION_CLOSE",
            vec![
                int("code", code.0),
                int("frame_type", frame_type),
                text("reason", String::from_utf8_lossy(reason)),
            ],
        ),
        Frame::ApplicationClose { code, reason } => {
            ("APPLICATION_CLOSE", vec![int("code", code), text("reason", String::from_utf8_lossy(reason))])
        }
        Frame::HandshakeDone => ("HANDSHAKE_DONE", vec![]),
        Frame::Datagram { data, .. } => ("DATAGRAM", vec![int("length", data.len() as u64)]),
        Frame::AckFrequency { sequence, threshold, max_ack_delay_us, reordering_threshold } => (
            "ACK_FREQUENCY",
            vec![
                int("sequence", sequence),
                int("threshold", threshold),
                ("max_ack_delay", Value::Span(units::Duration::from_micros(max_ack_delay_us))),
                int("reordering_threshold", reordering_threshold),
            ],
        ),
        Frame::ImmediateAck => ("IMMEDIATE_ACK", vec![]),
    }
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
