//! The rows of the series of connection ends: their metrics, their gauges, and what they waited for.

use super::schema::{connection, gauge, wait};
use super::stream::End;
use super::value::{Code, Word};
use crate::{Metrics, Wait, Waited};
use units::{Duration, Rate, Time};

/// A row of the table `connection`.
#[inline]
pub(super) fn measured(end: End, time: Time, metrics: &Metrics) -> connection::Row {
    let millis = |span: Duration| span.as_nanos() as f64 / 1e6;
    connection::Row {
        time_s: time.as_secs_f64(),
        connection: Code(end.connection),
        side: Word(end.side),
        cwnd_bytes: metrics.cwnd,
        bytes_in_flight: metrics.bytes_in_flight,
        ssthresh_bytes: metrics.ssthresh,
        latest_rtt_ms: metrics.latest_rtt.map(millis),
        smoothed_rtt_ms: millis(metrics.smoothed_rtt),
        min_rtt_ms: metrics.min_rtt.map(millis),
        rtt_variance_ms: millis(metrics.rtt_variance),
        pacing_rate_mbps: metrics.pacing_rate.map(Rate::as_mbit_per_sec),
        delivery_rate_mbps: metrics.delivery_rate.map(Rate::as_mbit_per_sec),
        pto_count: metrics.pto_count,
    }
}

/// A row of the table `gauge`.
#[inline]
pub(super) fn gauged(end: End, time: Time, name: &'static str, value: f64) -> gauge::Row {
    let (connection, side) = (Code(end.connection), Word(end.side));
    gauge::Row { time_s: time.as_secs_f64(), connection, side, gauge: name, value }
}

/// A row of the table `wait`.
#[inline]
pub(super) fn waited(end: End, time: Time, waited: &Waited) -> wait::Row {
    let spent = |wait: Wait| waited.spans[wait as usize].as_secs_f64();
    wait::Row {
        time_s: time.as_secs_f64(),
        connection: Code(end.connection),
        side: Word(end.side),
        wait: Word(waited.wait),
        in_gap: waited.in_gap,
        handshake_s: spent(Wait::Handshake),
        validation_s: spent(Wait::Validation),
        slow_start_s: spent(Wait::SlowStart),
        window_s: spent(Wait::Window),
        recovery_s: spent(Wait::Recovery),
        timeout_s: spent(Wait::Timeout),
        pacer_s: spent(Wait::Pacer),
        stream_credit_s: spent(Wait::StreamCredit),
        connection_credit_s: spent(Wait::ConnectionCredit),
        stream_count_s: spent(Wait::StreamCount),
        send_queue_s: spent(Wait::SendQueue),
        delivery_s: spent(Wait::Delivery),
        application_s: spent(Wait::Application),
        gap_s: waited.gap.as_secs_f64(),
    }
}
