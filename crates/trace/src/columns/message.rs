//! The table `message`: one row per application message.

use super::bounded::FirstRows;
use super::schema::message::{At, Row};
use super::stream::End;
use super::table::{Cell, Table};
use super::value::{Code, Word};
use crate::{Message, Side};
use std::collections::BTreeMap;
use units::Time;

/// The messages so far.
#[derive(Debug, Clone)]
pub(super) struct Messages {
    rows: FirstRows<Row>,
    /// The rows of messages that are not delivered yet, by connection, side of the writer, part and number; at most as
    /// many as the table has rows.
    underway: BTreeMap<(u32, Side, u32, u64), u32>,
}

impl Messages {
    pub(super) fn new(limit: usize) -> Messages {
        Messages { rows: FirstRows::new(limit), underway: BTreeMap::new() }
    }

    /// A message was written at `end`.
    pub(super) fn written(&mut self, end: End, message: &Message) {
        self.begin(end.connection, end.side, message);
    }

    /// A message was delivered at `end`.
    pub(super) fn delivered(&mut self, end: End, time: Time, message: &Message) {
        let writer = match end.side {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        };
        let connection = end.connection;
        let key = (connection, writer, message.part, message.number);
        // If only the reader is recorded, the writing of the message is unknown and the row begins here. Once the table
        // is full, the two cases are indistinguishable, and the message is omitted.
        if !self.underway.contains_key(&key)
            && (self.rows.room() == 0 || !self.begin(connection, writer, message))
        {
            return;
        }
        let Some(row) = self.underway.remove(&key) else { return };
        let (row, delay) = (row as usize, time.since(message.written));
        self.rows.table.fill(At::delivered_s as usize, row, Cell::F64(time.as_secs_f64()));
        self.rows.table.fill(At::delay_ms as usize, row, Cell::F64(delay.as_nanos() as f64 / 1e6));
        if let Some(deadline) = message.deadline {
            self.rows.table.fill(At::missed as usize, row, Cell::Flag(delay > deadline));
        }
    }

    fn begin(&mut self, connection: u32, side: Side, message: &Message) -> bool {
        let at = self.rows.table.rows() as u32;
        let row = Row {
            connection: Code(connection),
            side: Word(side),
            part: message.part,
            message: message.number,
            stream: message.stream,
            bytes: message.bytes,
            written_s: message.written.as_secs_f64(),
            delivered_s: None,
            delay_ms: None,
            deadline_ms: message.deadline.map(|deadline| deadline.as_nanos() as f64 / 1e6),
            missed: None,
        };
        let is_kept = self.rows.push(row);
        if is_kept {
            self.underway.insert((connection, side, message.part, message.number), at);
        }
        is_kept
    }

    pub(super) fn into_table(self) -> Table {
        self.rows.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    fn end(subject: u32) -> End {
        let side = [Side::Client, Side::Server][subject as usize];
        End { subject: 7 + subject, connection: 0, side }
    }
    fn second(s: u64) -> Time {
        Time::from_nanos(s * 1_000_000_000)
    }

    #[test]
    fn a_message_is_one_row_of_two_ends() {
        let message = Message {
            part: 0,
            number: 0,
            stream: Some(3),
            bytes: 242,
            written: second(1),
            deadline: Some(Duration::from_secs(2)),
        };
        let mut messages = Messages::new(4);
        messages.written(end(1), &message);
        messages.written(end(1), &Message { number: 1, stream: None, ..message });
        messages.written(end(0), &Message { deadline: None, ..message });
        messages.delivered(end(0), second(3), &message);
        // The same number as the first, from the other side.
        messages.delivered(end(1), second(9), &Message { deadline: None, ..message });
        // A message whose writing was not recorded; then the table is full.
        messages.delivered(end(0), second(9), &Message { number: 5, ..message });
        messages.delivered(end(0), second(9), &Message { number: 6, ..message });
        let table = messages.into_table();
        let cell = |row: usize, name: &str| table.column(name).unwrap().number(row);
        assert_eq!((table.rows(), table.columns[1].text(0)), (4, Some("server")));
        assert_eq!((cell(0, "delivered_s"), cell(0, "delay_ms")), (Some(3.0), Some(2000.0)));
        assert_eq!(
            (cell(0, "missed"), cell(0, "deadline_ms"), cell(0, "stream")),
            (Some(0.0), Some(2000.0), Some(3.0))
        );
        assert_eq!((cell(1, "stream"), cell(1, "delay_ms"), cell(1, "missed")), (None, None, None));
        assert_eq!(
            (cell(2, "delay_ms"), cell(2, "missed"), cell(2, "deadline_ms")),
            (Some(8000.0), None, None)
        );
        assert_eq!((cell(3, "message"), cell(3, "missed")), (Some(5.0), Some(1.0)));
    }
}
