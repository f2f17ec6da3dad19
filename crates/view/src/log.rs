//! A log: what one end of a connection wrote down.

use crate::packets::{Packets, late};
use crate::words::Words;

/// The gauges of recovery that are kept, as qlog calls them: bytes, milliseconds, bit/s.
pub const GAUGES: [&str; 7] = [
    "congestion_window",
    "bytes_in_flight",
    "ssthresh",
    "smoothed_rtt",
    "latest_rtt",
    "min_rtt",
    "pacing_rate",
];

/// A packet that was declared lost.
#[derive(Clone, Debug)]
pub(crate) struct Lost {
    pub(crate) time: i64,
    pub(crate) space: Option<u8>,
    pub(crate) number: i64,
    pub(crate) trigger: u32,
}

/// Data that the application wrote.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub(crate) time: i64,
    pub(crate) stream: i64,
    pub(crate) end: i64,
}

/// The values of a gauge in the order in which they were written down.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge {
    pub(crate) times: Vec<i64>,
    pub(crate) values: Vec<f64>,
}

/// One trace. Times are in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The packets that were sent.
    pub sent: Packets,
    /// The packets that were received.
    pub received: Packets,
    pub(crate) lost: Vec<Lost>,
    pub(crate) written: Vec<Written>,
    pub(crate) triggers: Words,
    gauges: [Gauge; GAUGES.len()],
    /// The gauges that have values, in the order in which they came.
    order: Vec<usize>,
}

impl Log {
    /// A packet was declared lost: when, its type, its number, and why.
    pub fn lose(&mut self, time: i64, kind: &str, number: i64, trigger: &str) {
        let trigger = self.triggers.number(trigger);
        self.lost.push(Lost { time, space: crate::packets::space(kind), number, trigger });
    }

    /// The application wrote data of a stream up to an offset.
    pub fn write(&mut self, time: i64, stream: i64, end: i64) {
        self.written.push(Written { time, stream, end });
    }

    /// A gauge, by its place in [`GAUGES`], has a value.
    ///
    /// # Panics
    /// If there is no such gauge.
    pub fn gauge(&mut self, gauge: usize, time: i64, value: f64) {
        let series = &mut self.gauges[gauge];
        if series.times.is_empty() {
            self.order.push(gauge);
        }
        series.times.push(time);
        series.values.push(value);
    }

    /// Times and values of a gauge, by its place in [`GAUGES`].
    ///
    /// # Panics
    /// If there is no such gauge.
    #[must_use]
    pub fn series(&self, gauge: usize) -> (&[i64], &[f64]) {
        (&self.gauges[gauge].times, &self.gauges[gauge].values)
    }

    /// The gauges that have values, in the order in which they came.
    #[must_use]
    pub fn gauges(&self) -> &[usize] {
        &self.order
    }

    /// How many values all gauges have together.
    #[must_use]
    pub fn gauge_values(&self) -> usize {
        self.gauges.iter().map(|gauge| gauge.times.len()).sum()
    }

    /// The least and the greatest of the times at which packets and gauges begin and end; none without any.
    #[must_use]
    pub fn span(&self) -> Option<(i64, i64)> {
        let gauges =
            self.gauges.iter().filter_map(|gauge| Some((*gauge.times.first()?, *gauge.times.last()?)));
        let ends = [self.sent.ends(), self.received.ends()].into_iter().flatten().chain(gauges);
        ends.map(|(one, other)| (one.min(other), one.max(other)))
            .reduce(|all, next| (all.0.min(next.0), all.1.max(next.1)))
    }

    /// Puts everything into the order of its times; what has the same time stays as it was written down. Returns how many
    /// packets, losses and writes stood behind later ones of their kind.
    pub fn sort(&mut self) -> usize {
        let behind = late(self.lost.iter().map(|lost| lost.time))
            + late(self.written.iter().map(|written| written.time));
        self.lost.sort_by_key(|lost| lost.time);
        self.written.sort_by_key(|written| written.time);
        for gauge in &mut self.gauges {
            if !gauge.times.is_sorted() {
                let mut pairs: Vec<(i64, f64)> =
                    gauge.times.iter().copied().zip(gauge.values.iter().copied()).collect();
                pairs.sort_by_key(|(time, _)| *time);
                (gauge.times, gauge.values) = pairs.into_iter().unzip();
            }
        }
        behind + self.sent.sort() + self.received.sort()
    }

    /// Sets the clock forward.
    pub fn shift(&mut self, by: i64) {
        self.sent.shift(by);
        self.received.shift(by);
        self.lost.iter_mut().for_each(|lost| lost.time = lost.time.wrapping_add(by));
        self.written.iter_mut().for_each(|written| written.time = written.time.wrapping_add(by));
        let times = self.gauges.iter_mut().flat_map(|gauge| &mut gauge.times);
        times.for_each(|time| *time = time.wrapping_add(by));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::Packet;

    #[test]
    fn what_was_written_down_late_is_put_in_its_place() {
        let mut log = Log::default();
        for (time, number) in [(10, 0), (30, 1), (20, 2), (30, 3), (5, 4)] {
            let other = crate::packets::Other { text: format!("ping {number} {{}}"), values: vec![number] };
            let packet =
                Packet { time, number, kind: "1rtt".to_owned(), others: vec![other], ..Packet::default() };
            log.sent.push(&packet);
            log.lose(time, "1rtt", number, "");
            log.write(time, number, 7);
            log.gauge(0, time, number as f64);
        }
        log.received.push(&Packet::default());
        let before: Vec<Packet> = [4, 0, 2, 1, 3].into_iter().map(|at| log.sent.get(at)).collect();
        assert_eq!(log.sort(), 6, "two of each kind but of gauges");
        let after: Vec<Packet> = (0..5).map(|at| log.sent.get(at)).collect();
        assert_eq!(after, before);
        assert_eq!(log.series(0), (&[5, 10, 20, 30, 30][..], &[4.0, 0.0, 2.0, 1.0, 3.0][..]));
        assert_eq!(log.lost.iter().map(|lost| lost.number).collect::<Vec<_>>(), [4, 0, 2, 1, 3]);
        assert_eq!((log.written[0].stream, log.sort(), log.span()), (4, 0, Some((0, 30))));
    }
}
