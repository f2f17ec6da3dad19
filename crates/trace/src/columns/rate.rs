//! The table `rate`: rates per time bin.

use super::bounded::FirstRows;
use super::schema::{RateKind, rate};
use super::table::Table;
use super::value::{Code, Word};
use units::{Duration, Time};

/// The current bin of a subject.
#[derive(Debug, Clone, Copy)]
struct Bin {
    index: u64,
    /// The first nanosecond after the bin.
    end: u64,
    bytes: u64,
    kind: RateKind,
}

/// Counts bytes per subject and bin. The bins of a subject range from its first byte to its last, without gaps.
#[derive(Debug, Clone)]
pub(super) struct Rates {
    rows: FirstRows<rate::Row>,
    width: u64,
    bins: Vec<Option<Bin>>,
}

impl Rates {
    pub(super) fn new(width: Duration, limit: usize) -> Rates {
        Rates { rows: FirstRows::new(limit), width: width.as_nanos().max(1), bins: Vec::new() }
    }
    #[inline]
    pub(super) fn add(&mut self, time: Time, subject: u32, kind: RateKind, bytes: u32) {
        let now = time.as_nanos();
        match self.bins.get_mut(subject as usize) {
            Some(Some(bin)) if now < bin.end => bin.bytes += u64::from(bytes),
            _ => self.next_bin(now, subject, kind, bytes),
        }
    }
    /// The capacity of a link in the bin that starts at `time`.
    pub(super) fn capacity(&mut self, time: Time, subject: u32, mbps: f64) {
        self.push(time, subject, RateKind::Capacity, mbps);
    }
    /// Writes the finished bin and the empty ones after it, and opens the bin of `now`.
    #[cold]
    fn next_bin(&mut self, now: u64, subject: u32, kind: RateKind, bytes: u32) {
        let at = subject as usize;
        if self.bins.len() <= at {
            self.bins.resize(at + 1, None);
        }
        let index = now / self.width;
        let end = index.saturating_add(1).saturating_mul(self.width);
        let next = Bin { index, end, bytes: u64::from(bytes), kind };
        let Some(bin) = self.bins[at].replace(next) else { return };
        self.write(subject, bin);
        let first = bin.index.saturating_add(1);
        let empty = index.saturating_sub(first);
        let written = empty.min(self.rows.room() as u64);
        for index in first..first + written {
            self.write(subject, Bin { index, bytes: 0, ..bin });
        }
        self.rows.leave_out(empty - written);
    }
    fn write(&mut self, subject: u32, bin: Bin) {
        let start = Time::from_nanos(bin.index * self.width);
        let mbps = bin.bytes as f64 * 8e3 / self.width as f64;
        self.push(start, subject, bin.kind, mbps);
    }
    fn push(&mut self, time: Time, subject: u32, kind: RateKind, mbps: f64) {
        self.rows.push(rate::Row {
            time_s: time.as_secs_f64(),
            subject: Code(subject),
            kind: Word(kind),
            mbps,
        });
    }
    /// The table, sorted by time and then by subject.
    pub(super) fn into_table(mut self) -> Table {
        for subject in 0..self.bins.len() as u32 {
            if let Some(bin) = self.bins[subject as usize].take() {
                self.write(subject, bin);
            }
        }
        self.rows.table.sort_by_time_and_code();
        self.rows.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn rows(table: &Table) -> Vec<(f64, f64, f64)> {
        let number = |row: usize, column: usize| table.columns[column].number(row).unwrap();
        let subject = |row: usize| match &table.columns[1].data {
            super::super::Data::Text(text) => f64::from(text.codes[row]),
            _ => panic!("no text"),
        };
        (0..table.rows()).map(|row| (number(row, 0), subject(row), number(row, 3))).collect()
    }

    #[test]
    fn bytes_fall_into_bins_without_gaps_in_the_order_of_time() {
        let mut rates = Rates::new(Duration::from_millis(100), 100);
        rates.add(millis(150), 0, RateKind::Sent, 1_250);
        rates.add(millis(199), 0, RateKind::Sent, 1_250);
        rates.add(millis(200), 1, RateKind::Delivered, 12_500);
        rates.add(millis(400), 0, RateKind::Sent, 125);
        let expected = [(0.1, 0.0, 0.2), (0.2, 0.0, 0.0), (0.2, 1.0, 1.0), (0.3, 0.0, 0.0), (0.4, 0.0, 0.01)];
        assert_eq!(rows(&rates.into_table()), expected);
    }

    #[test]
    fn a_long_silence_fills_no_more_than_the_table() {
        let mut rates = Rates::new(Duration::from_nanos(0), 10);
        rates.add(Time::ZERO, 0, RateKind::Sent, 1);
        rates.add(Time::from_nanos(u64::MAX - 1), 0, RateKind::Sent, 1);
        rates.add(Time::NEVER, 0, RateKind::Sent, 1);
        let table = rates.into_table();
        assert_eq!(table.rows(), 10);
        assert!(table.left_out > u64::MAX / 2);
    }
}
