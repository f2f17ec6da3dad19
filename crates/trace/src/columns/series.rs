//! The rows of the series: the metrics of connections, gauges, and queues.

use super::bounded::Line;
use super::stream::End;
use super::table::Rows;
use crate::{Metrics, Wait, Waited};
use units::{Duration, Time};

/// A row of the table `connection`.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    pub(super) time: Time,
    pub(super) end: End,
    pub(super) metrics: Metrics,
}

impl Line for Measured {
    fn write(rows: Rows<'_, Self>) {
        let millis = |span: Duration| span.as_nanos() as f64 / 1e6;
        rows.f64(|line| line.time.as_secs_f64())
            .code(|line| line.end.connection)
            .code(|line| line.end.side)
            .u64(|line| line.metrics.cwnd)
            .u64(|line| line.metrics.bytes_in_flight)
            .optional_u64(|line| line.metrics.ssthresh)
            .optional_f64(|line| line.metrics.latest_rtt.map(millis))
            .f64(|line| millis(line.metrics.smoothed_rtt))
            .optional_f64(|line| line.metrics.min_rtt.map(millis))
            .f64(|line| millis(line.metrics.rtt_variance))
            .optional_f64(|line| line.metrics.pacing_rate.map(|rate| rate.as_mbit_per_sec()))
            .optional_f64(|line| line.metrics.delivery_rate.map(|rate| rate.as_mbit_per_sec()))
            .u32(|line| line.metrics.pto_count)
            .end();
    }
}

/// A row of the table `gauge`.
#[derive(Debug, Clone)]
pub(super) struct Gauged {
    pub(super) time: Time,
    pub(super) end: End,
    pub(super) name: &'static str,
    pub(super) value: f64,
}

impl Line for Gauged {
    fn write(rows: Rows<'_, Self>) {
        rows.f64(|line| line.time.as_secs_f64())
            .code(|line| line.end.connection)
            .code(|line| line.end.side)
            .word(|line| line.name)
            .f64(|line| line.value)
            .end();
    }
}

/// A row of the table `wait`.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) time: Time,
    pub(super) end: End,
    pub(super) waited: Waited,
}

impl Line for Waiting {
    fn write(rows: Rows<'_, Self>) {
        let rows = rows
            .f64(|line| line.time.as_secs_f64())
            .code(|line| line.end.connection)
            .code(|line| line.end.side)
            .code(|line| line.waited.wait as u32)
            .flag(|line| line.waited.in_gap);
        let rows = (0..Wait::ALL.len())
            .fold(rows, |rows, at| rows.f64(move |line| line.waited.spans[at].as_secs_f64()));
        rows.f64(|line| line.waited.gap.as_secs_f64()).end();
    }
}

/// A row of the table `node`.
#[derive(Debug, Clone)]
pub(super) struct NodeGauged {
    pub(super) time: Time,
    pub(super) node: u32,
    pub(super) name: &'static str,
    pub(super) value: f64,
}

impl Line for NodeGauged {
    fn write(rows: Rows<'_, Self>) {
        rows.f64(|line| line.time.as_secs_f64())
            .code(|line| line.node)
            .word(|line| line.name)
            .f64(|line| line.value)
            .end();
    }
}

/// A row of the table `queue`.
#[derive(Debug, Clone)]
pub(super) struct Queued {
    pub(super) time: Time,
    pub(super) link: u32,
    pub(super) packets: u32,
    pub(super) bytes: u64,
}

impl Line for Queued {
    fn write(rows: Rows<'_, Self>) {
        rows.f64(|line| line.time.as_secs_f64())
            .code(|line| line.link)
            .u32(|line| line.packets)
            .u64(|line| line.bytes)
            .end();
    }
}
