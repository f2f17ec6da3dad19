//! The report of a player.

use ::video::player::{Outcome, Player, SegmentRecord};
use ::video::presentation::Kind;
use trace::{PlaybackChange, VideoSegment};
use transport::{Number, Playback, PlaybackBooks};
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
        buffer_before: record.buffer_before,
        buffer_after: record.buffer_after,
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
    Playback { segments: segments.collect(), changes: changes.collect(), numbers, books: books(player) }
}

fn books(player: &Player) -> PlaybackBooks {
    let (viewed, spans, media) = (player.viewed(), player.spans(), player.media());
    PlaybackBooks {
        whole: viewed.end.since(viewed.asked_at),
        start_up: spans.start_up,
        playing: spans.played,
        stalled: spans.stalled,
        missing: spans.missing,
        seeking: spans.seeking,
        stalls: viewed.stalls.iter().fold(Duration::ZERO, |sum, stall| sum + stall.length),
        played_by_clock: media.by_clock,
        played_by_segment: media.by_segment,
        is_whole: media.is_whole,
        handed_over: media.handed_over,
        skipped: media.skipped,
        buffered: media.buffered,
    }
}

/// What is told of the whole.
fn numbers(player: &Player) -> Vec<(&'static str, Number)> {
    let viewed = player.viewed();
    let of = viewed.experience();
    let downloads = player.segments();
    let cut = downloads.iter().filter(|one| one.outcome == Outcome::Cut).count();
    let given_up = downloads.iter().filter(|one| one.outcome == Outcome::Abandoned).count();
    let is_played = |one: &&SegmentRecord| matches!(one.outcome, Outcome::Complete | Outcome::Cut);
    let wasted = downloads.iter().filter(|one| !is_played(one)).map(|one| one.bytes).sum();
    let spans = player.spans();
    let whole = spans.start_up + spans.played + spans.missing + spans.stalled + spans.seeking;
    let standing = (!whole.is_zero()).then(|| 1.0 - spans.played.as_secs_f64() / whole.as_secs_f64());
    let count = |count: usize| Number::Count(count as u64);
    let measure = |value: f64| Number::Measure(Some(value));
    let seconds = |span: Duration| measure(span.as_secs_f64());
    let optional = |span: Option<Duration>| Number::Measure(span.map(|span| span.as_secs_f64()));
    let [linear, logarithmic, high_definition] = of.qoe.map(|qoe| measure(qoe.per_segment));
    let mut numbers = vec![
        ("start_up_s", optional(of.start_up)),
        ("end_s", optional(player.played_out_after())),
        ("played_s", seconds(spans.played)),
        ("stalls", count(of.stalls)),
        ("stalled_s", seconds(of.stall_time)),
        ("stall_ratio", measure(of.stall_ratio)),
        ("missing_s", seconds(spans.missing)),
        ("seeking_s", seconds(spans.seeking)),
        ("standing_ratio", Number::Measure(standing)),
        ("segments_played", count(viewed.played.len())),
        ("bitrate_mean_mbps", measure(of.mean_bitrate.as_mbit_per_sec())),
        ("bitrate_time_mean_mbps", measure(of.time_weighted_bitrate.as_mbit_per_sec())),
        ("switches", count(of.switches)),
        ("switch_mean_mbps", measure(of.mean_switch.as_mbit_per_sec())),
        ("qoe_lin", linear),
        ("qoe_log", logarithmic),
        ("qoe_hd", high_definition),
        ("abandoned", count(given_up)),
        ("cut", count(cut)),
        ("wasted_bytes", Number::Count(wasted)),
    ];
    if of.mean_latency.is_some() {
        numbers.extend([
            ("latency_mean_s", optional(of.mean_latency)),
            ("latency_p50_s", optional(viewed.latency_percentile(0.5))),
            ("latency_p95_s", optional(viewed.latency_percentile(0.95))),
        ]);
    }
    numbers
}
