//! The packets of a direction in one order, wherever they stand, and by number.

use crate::packets::{Packets, SPACE_COUNT};

/// Which packets there are.
#[derive(Debug, Default)]
pub(crate) enum Rows {
    /// All of a log in its order: those that were sent.
    #[default]
    Sent,
    /// Places among the sent, or, with [`STRANGER`], among the received.
    Chosen(Vec<u32>),
}

/// The bit of a place among the received.
pub(crate) const STRANGER: u32 = 1 << 31;

/// The packets of a direction, wherever they stand.
pub(crate) struct Sequence<'a> {
    pub(crate) sent: Option<&'a Packets>,
    pub(crate) received: Option<&'a Packets>,
    pub(crate) rows: &'a Rows,
}

impl<'a> Sequence<'a> {
    pub(crate) fn len(&self) -> usize {
        match self.rows {
            Rows::Sent => self.sent.map_or(0, Packets::len),
            Rows::Chosen(places) => places.len(),
        }
    }

    /// Where a packet stands.
    pub(crate) fn at(&self, row: usize) -> (&'a Packets, usize) {
        let (packets, at) = match self.rows {
            Rows::Sent => (self.sent, row),
            Rows::Chosen(places) if places[row] & STRANGER == 0 => (self.sent, places[row] as usize),
            Rows::Chosen(places) => (self.received, (places[row] & !STRANGER) as usize),
        };
        (packets.expect("a packet stands in a log that is there"), at)
    }
}

/// Packets by number space and number; of equal ones the last.
pub(crate) struct Index<'a> {
    packets: &'a Sequence<'a>,
    spaces: [Vec<u32>; SPACE_COUNT],
    /// How many packets have the number of a later one.
    pub(crate) repeated: usize,
}

impl<'a> Index<'a> {
    pub(crate) fn new(packets: &'a Sequence<'a>) -> Self {
        let mut spaces: [Vec<u32>; SPACE_COUNT] = Default::default();
        for row in 0..packets.len() {
            let (source, at) = packets.at(row);
            if let Some(space) = source.space(at) {
                spaces[space as usize].push(row as u32);
            }
        }
        let mut index = Self { packets, spaces: Default::default(), repeated: 0 };
        for rows in &mut spaces {
            // Sorting is stable, and cheap where they are sorted.
            rows.sort_by_key(|&row| index.number(row));
            rows.reverse();
            let all = rows.len();
            rows.dedup_by_key(|row| index.number(*row));
            index.repeated += all - rows.len();
            rows.reverse();
        }
        index.spaces = spaces;
        index
    }

    fn number(&self, row: u32) -> i64 {
        let (source, at) = self.packets.at(row as usize);
        source.number(at)
    }

    /// The packets with numbers of a range: it may be longer than any log.
    pub(crate) fn range(&self, space: u8, first: i64, after: i64) -> &[u32] {
        let rows = &self.spaces[space as usize];
        let from = self.lower(rows, first);
        // Ranges are short, or else there are few of them.
        let count = rows[from..].iter().take_while(|&&row| self.number(row) < after).count();
        &rows[from..from + count]
    }

    pub(crate) fn get(&self, space: u8, number: i64) -> Option<u32> {
        let rows = &self.spaces[space as usize];
        rows.get(self.lower(rows, number)).copied().filter(|&row| self.number(row) == number)
    }

    /// The first place with at least this number. Mostly no number is left out.
    fn lower(&self, rows: &[u32], number: i64) -> usize {
        let guess = rows.first().map_or(0, |&row| number.wrapping_sub(self.number(row)));
        if let Ok(guess) = usize::try_from(guess)
            && rows.get(guess).is_some_and(|&row| self.number(row) == number)
        {
            return guess;
        }
        rows.partition_point(|&row| self.number(row) < number)
    }
}
