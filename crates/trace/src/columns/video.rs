//! The tables `segment` and `playback`: what players of videos asked for, and what they showed.

use super::bounded::FirstRows;
use super::schema::{playback, segment};
use super::stream::End;
use super::table::Table;
use super::value::Code;
use crate::event::{PlaybackChange, VideoSegment};
use units::{Rate, Time};

/// The rows of players.
#[derive(Debug, Clone)]
pub(super) struct Videos {
    segment: FirstRows<segment::Row>,
    playback: FirstRows<playback::Row>,
}

impl Videos {
    pub(super) fn new(limit: usize) -> Videos {
        Videos { segment: FirstRows::new(limit), playback: FirstRows::new(limit) }
    }

    pub(super) fn segment(&mut self, end: End, segment: &VideoSegment) {
        self.segment.push_with(|_| segment::Row {
            connection: Code(end.connection),
            kind: segment.kind,
            segment: segment.segment.map(u64::from),
            representation: segment.representation,
            bitrate_mbps: segment.bitrate.as_mbit_per_sec(),
            duration_s: segment.duration.as_secs_f64(),
            size_bytes: segment.size,
            received_bytes: segment.bytes,
            beside_bytes: segment.beside,
            urgency: segment.urgency.into(),
            stream: segment.stream,
            asked_s: segment.asked_at.as_secs_f64(),
            first_byte_s: segment.first_at.map(Time::as_secs_f64),
            ended_s: segment.ended_at.map(Time::as_secs_f64),
            buffer_before_s: segment.buffer_before.as_secs_f64(),
            buffer_after_s: segment.buffer_after.map(|buffer| buffer.as_secs_f64()),
            estimate_mbps: segment.estimate.map(Rate::as_mbit_per_sec),
            outcome: segment.outcome,
        });
    }

    pub(super) fn playback(&mut self, end: End, change: &PlaybackChange) {
        self.playback.push_with(|_| playback::Row {
            time_s: change.at.as_secs_f64(),
            connection: Code(end.connection),
            event: change.what,
            position_s: change.position.as_secs_f64(),
            buffer_s: change.buffer.as_secs_f64(),
            representation: change.representation.map(u64::from),
            bitrate_mbps: change.bitrate.map(Rate::as_mbit_per_sec),
            playback_rate: change.rate as f64 / 1e6,
            latency_s: change.latency.map(|latency| latency.as_secs_f64()),
        });
    }

    pub(super) fn into_tables(self) -> [Table; 2] {
        [self.segment.table, self.playback.table]
    }
}
