//! The report of a player.

use ::video::player::{Outcome, Player};
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
    let numbers = numbers(player);
    Playback { segments: segments.collect(), changes: changes.collect(), numbers }
}

/// What is told of the whole.
fn numbers(player: &Player) -> Vec<(&'static str, Option<f64>)> {
    let viewed = player.viewed();
    let of = viewed.experience();
    let downloads = player.segments();
    let given_up = downloads.iter().filter(|one| one.outcome == Outcome::Abandoned);
    let wasted =
        downloads.iter().filter(|one| one.outcome != Outcome::Complete).map(|one| one.bytes).sum::<u64>();
    let seconds = |span: Duration| Some(span.as_secs_f64());
    let latency = |part| viewed.latency_percentile(part).and_then(seconds);
    let [linear, logarithmic, high_definition] = of.qoe.map(|qoe| Some(qoe.per_segment));
    let mut numbers = vec![
        ("start_up_s", of.start_up.and_then(seconds)),
        ("played_s", seconds(player.spans().played)),
        ("stalls", Some(of.stalls as f64)),
        ("stalled_s", seconds(of.stall_time)),
        ("stall_ratio", Some(of.stall_ratio)),
        ("seeking_s", seconds(player.spans().seeking)),
        ("segments_played", Some(viewed.played.len() as f64)),
        ("bitrate_mean_mbps", Some(of.mean_bitrate.as_mbit_per_sec())),
        ("bitrate_time_mean_mbps", Some(of.time_weighted_bitrate.as_mbit_per_sec())),
        ("switches", Some(of.switches as f64)),
        ("switch_mean_mbps", Some(of.mean_switch.as_mbit_per_sec())),
        ("qoe_lin", linear),
        ("qoe_log", logarithmic),
        ("qoe_hd", high_definition),
        ("abandoned", Some(given_up.count() as f64)),
        ("wasted_bytes", Some(wasted as f64)),
    ];
    if of.mean_latency.is_some() {
        numbers.extend([
            ("latency_mean_s", of.mean_latency.and_then(seconds)),
            ("latency_p50_s", latency(0.5)),
            ("latency_p95_s", latency(0.95)),
        ]);
    }
    numbers
}
