//! The tables `segment` and `playback`: what players of videos asked for, and what they showed.

use super::bounded::FirstRows;
use super::schema;
use super::stream::End;
use super::table::Table;
use crate::event::{PlaybackChange, VideoSegment};
use units::Time;

/// The rows of players.
#[derive(Debug, Clone)]
pub(super) struct Videos {
    segment: FirstRows,
    playback: FirstRows,
}

impl Videos {
    pub(super) fn new(limit: usize) -> Videos {
        Videos {
            segment: FirstRows::new(schema::segment(), limit),
            playback: FirstRows::new(schema::playback(), limit),
        }
    }

    pub(super) fn segment(&mut self, end: End, segment: &VideoSegment) {
        let Some(row) = self.segment.row() else { return };
        row.code(end.connection)
            .word(segment.kind)
            .optional_u64(segment.segment.map(u64::from))
            .u32(segment.representation)
            .f64(segment.bitrate.as_mbit_per_sec())
            .f64(segment.duration.as_secs_f64())
            .u64(segment.size)
            .u64(segment.bytes)
            .u64(segment.beside)
            .u32(segment.urgency.into())
            .optional_u64(segment.stream)
            .f64(segment.asked_at.as_secs_f64())
            .optional_f64(segment.first_at.map(Time::as_secs_f64))
            .optional_f64(segment.ended_at.map(Time::as_secs_f64))
            .f64(segment.buffer_before.as_secs_f64())
            .optional_f64(segment.buffer_after.map(|buffer| buffer.as_secs_f64()))
            .optional_f64(segment.estimate.map(|rate| rate.as_mbit_per_sec()))
            .word(segment.outcome)
            .end();
    }

    pub(super) fn playback(&mut self, end: End, change: &PlaybackChange) {
        let Some(row) = self.playback.row() else { return };
        row.f64(change.at.as_secs_f64())
            .code(end.connection)
            .word(change.what)
            .f64(change.position.as_secs_f64())
            .f64(change.buffer.as_secs_f64())
            .optional_u64(change.representation.map(u64::from))
            .optional_f64(change.bitrate.map(|rate| rate.as_mbit_per_sec()))
            .f64(change.rate as f64 / 1e6)
            .optional_f64(change.latency.map(|latency| latency.as_secs_f64()))
            .end();
    }

    pub(super) fn into_tables(self) -> [Table; 2] {
        [self.segment.table, self.playback.table]
    }
}
