//! The report of a player.

use ::video::player::Player;
use ::video::presentation::Kind;
use trace::{PlaybackChange, VideoSegment};
use transport::Playback;
use units::Duration;

/// The report at the end of a playback. `streams` has that of each download.
pub(super) fn playback(player: &Player, streams: &[Option<u64>]) -> Playback {
    let segments = player.segments().iter().zip(streams).map(|(record, stream)| VideoSegment {
        kind: match record.kind {
            Kind::Video => "video",
            Kind::Audio => "audio",
        },
        segment: record.segment.map(|segment| segment as u32),
        representation: record.representation as u32,
        bitrate: record.bitrate,
        duration: record.duration,
        size: record.size,
        bytes: record.bytes,
        beside: record.beside,
        urgency: record.urgency,
        stream: *stream,
        asked_at: record.asked_at,
        first_at: record.first_at,
        ended_at: record.ended_at,
        buffer_before: record.buffer[0].unwrap_or(Duration::ZERO),
        buffer_after: record.buffer[1],
        estimate: record.estimate,
        outcome: record.outcome.name(),
    });
    let changes = player.events().iter().map(|event| PlaybackChange {
        at: event.at,
        what: event.what.name(),
        position: event.position,
        buffer: event.buffer,
        representation: event.representation.map(|representation| representation as u32),
        bitrate: event.bitrate,
        rate: event.rate,
        latency: event.latency,
    });
    Playback { segments: segments.collect(), changes: changes.collect(), numbers: Vec::new() }
}
