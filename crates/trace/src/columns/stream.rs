//! The table `stream`: one row per stream.

use super::bounded::FirstRows;
use super::schema::stream::{At, Row};
use super::table::{Cell, Table};
use super::value::{Code, Word};
use crate::Side;
use std::collections::BTreeMap;
use units::Time;

/// A connection end as identified in the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub(super) subject: u32,
    pub(super) connection: u32,
    pub(super) side: Side,
}

/// The streams so far.
#[derive(Debug, Clone)]
pub(super) struct Streams {
    rows: FirstRows<Row>,
    /// The rows of open streams; at most as many as the table has rows.
    open: BTreeMap<(u32, u64), u32>,
}

impl Streams {
    pub(super) fn new(limit: usize) -> Streams {
        Streams { rows: FirstRows::new(limit), open: BTreeMap::new() }
    }
    pub(super) fn opened(&mut self, end: End, stream: u64, time: Option<Time>) -> bool {
        let at = self.rows.table.rows() as u32;
        let is_kept = self.rows.push(Row {
            connection: Code(end.connection),
            side: Word(end.side),
            stream,
            opened_s: time.map(Time::as_secs_f64),
            closed_s: None,
            sent_bytes: None,
            received_bytes: None,
        });
        if is_kept {
            self.open.insert((end.subject, stream), at);
        }
        is_kept
    }
    pub(super) fn closed(&mut self, end: End, stream: u64, time: Time, (sent, received): (u64, u64)) {
        let key = (end.subject, stream);
        // A stream opened while the table was full is omitted. A stream whose opening was not recorded has no opening
        // time. As long as there is room, only the second case occurs.
        if !self.open.contains_key(&key) && (self.rows.room() == 0 || !self.opened(end, stream, None)) {
            return;
        }
        let Some(row) = self.open.remove(&key) else { return };
        self.rows.table.fill(At::closed_s as usize, row as usize, Cell::F64(time.as_secs_f64()));
        self.rows.table.fill(At::sent_bytes as usize, row as usize, Cell::U64(sent));
        self.rows.table.fill(At::received_bytes as usize, row as usize, Cell::U64(received));
    }
    pub(super) fn into_table(self) -> Table {
        self.rows.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: End = End { subject: 7, connection: 0, side: Side::Server };

    fn second(s: u64) -> Time {
        Time::from_nanos(s * 1_000_000_000)
    }

    #[test]
    fn a_stream_is_one_row() {
        let mut streams = Streams::new(3);
        streams.opened(END, 0, Some(second(1)));
        streams.opened(END, 4, Some(second(2)));
        streams.closed(END, 0, second(3), (10, 20));
        streams.closed(END, 8, second(4), (1, 2));
        streams.opened(END, 12, Some(second(5)));
        streams.closed(END, 12, second(6), (1, 2));
        let table = streams.into_table();
        let cell = |row: usize, name: &str| table.column(name).unwrap().number(row);
        assert_eq!((table.rows(), table.left_out), (3, 1));
        assert_eq!((cell(0, "opened_s"), cell(0, "closed_s")), (Some(1.0), Some(3.0)));
        assert_eq!((cell(0, "sent_bytes"), cell(0, "received_bytes")), (Some(10.0), Some(20.0)));
        assert_eq!(
            (cell(1, "opened_s"), cell(1, "closed_s"), cell(1, "sent_bytes")),
            (Some(2.0), None, None)
        );
        assert_eq!(
            (cell(2, "stream"), cell(2, "opened_s"), cell(2, "closed_s")),
            (Some(8.0), None, Some(4.0))
        );
        assert_eq!(table.columns[1].text(0), Some("server"));
    }
}
