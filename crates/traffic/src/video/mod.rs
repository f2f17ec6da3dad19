//! The application `video`: a player that asks a server for one segment after the other, over any version of HTTP.

mod client;
mod report;

use crate::http2_options::Http2Options;
use crate::objects;
use crate::versions::{self, Version, VersionOptions};
use crate::{Ends, OptionError, Profile};
use ::video::Presentation;
use ::video::abr::{self, Abr, Fixed};
use ::video::player::{Live, Player, Settings};
use ::video::presentation::{self, Kind as TrackKind, Period, Representation, Track, TrackLine};
use client::{Pace, VideoClient};
use random::Generator;
use std::sync::Arc;
use units::parameter::{Arguments, Component, Options, Row};
use units::{Duration, Rate};

/// The options of a video.
#[derive(Debug, Clone, Options)]
struct VideoOptions {
    #[options]
    version: VersionOptions,
    /// what is played: representations and the sizes of their segments
    #[option(default = "ladder", room = "presentations")]
    presentation: Component,
    /// which representation of the video is requested next
    #[option(default = "dynamic", room = "abrs")]
    abr: Component,
    /// the audio has the highest representation up to this rate; the highest of all without it
    audio_bitrate: Option<Rate>,
    /// media in the buffer at which playback begins
    #[option(default = "2 s")]
    start_up: Duration,
    /// media in the buffer at which playback goes on after a stall or a seek
    #[option(default = "2 s")]
    resume: Duration,
    /// limit of the buffer of each track: a segment is requested when it fits; at least the longest segment
    #[option(default = "30 s")]
    max_buffer: Duration,
    /// position at which playback begins
    #[option(default = "0 s")]
    from: Duration,
    /// position at which playback ends, before the end of the presentation
    until: Option<Duration>,
    /// jumps: [time after the start of the player, position], times rising
    #[option(default = [])]
    seeks: Vec<(Duration, Duration)>,
    /// urgency of the segments of video (RFC 9218), 0 the most urgent
    #[option(default = 3, within = 0..=7)]
    video_urgency: u8,
    /// urgency of the segments of audio (RFC 9218), 0 the most urgent
    #[option(default = 3, within = 0..=7)]
    audio_urgency: u8,
    /// whether segments of the same urgency share the connection (RFC 9218 section 4.2)
    #[option(default = false)]
    incremental: bool,
    /// the server is asked to send a segment at this multiple of its bitrate, in parts of 16 kB; without it, as fast
    /// as it can
    #[option(within = 0.1..=100.0)]
    pace: Option<f64>,
    /// live: target latency, from filming to playback; without it, the video is not live
    latency: Option<Duration>,
    /// live: how long filming has gone on when the run starts
    #[option(default = "60 s")]
    since: Duration,
    /// live: duration of a chunk, which can be sent and played as soon as it is filmed; without it, whole segments
    chunk: Option<Duration>,
    /// live, over HTTP/3: time after a chunk was filmed and requested when the server stops sending the segment, and
    /// playback skips a gap
    deadline: Option<Duration>,
    /// live: by how much playback may be faster or slower to reach the latency (dash.js: 0.5)
    #[option(default = 0.5, within = 0.0..=0.9)]
    catch_up: f64,
    /// live: excess latency from which playback jumps back to the target, and cancels downloads in progress
    max_drift: Option<Duration>,
    /// connections of HTTP/1.1 over the whole playback; each cancelled download uses one up
    #[option(default = 64, within = 1..=transport::MAX_CONNECTIONS as u64)]
    connections: usize,
    #[options]
    http2: Http2Options,
}

pub(crate) const ROW: Row<Profile> = Row {
    name: "video",
    about: "a video: segments requested one after the other, in a quality that adapts to the network, and played",
    parameters: VideoOptions::PARAMETERS,
    build: Profile {
        alpn: versions::alpn,
        over_quic: Some(&versions::goes_over_quic),
        over_tcp: Some(&|arguments| {
            let options = VideoOptions::of(arguments);
            options.version.over.tcp_connections(options.connections)
        }),
        shares: true,
        partial_resets: &|arguments| VideoOptions::of(arguments).deadline.is_some(),
        check: &|arguments| check(&VideoOptions::of(arguments)),
        ..Profile::of(&build)
    },
};

impl VideoOptions {
    /// The presentation. Its options were checked.
    fn presentation(&self, mut random: Generator) -> Option<Arc<Presentation>> {
        presentation::of(&self.presentation, &mut random).ok().map(Arc::new)
    }

    /// The rate adaptation of a kind of track.
    fn abr(&self, kind: TrackKind) -> Box<dyn Abr> {
        match (kind, self.audio_bitrate) {
            (TrackKind::Video, _) => abr::build(self.abr.name, &self.abr.arguments)
                .unwrap_or_else(|| Box::new(Fixed::Representation(0))),
            (TrackKind::Audio, Some(bitrate)) => Box::new(Fixed::Bitrate(bitrate)),
            (TrackKind::Audio, None) => Box::new(Fixed::Representation(usize::MAX)),
        }
    }

    fn settings(&self) -> Settings {
        let live = self.latency.map(|target| Live {
            since: self.since,
            target,
            chunk: self.chunk,
            catch_up: self.catch_up,
            max_drift: self.max_drift,
        });
        Settings {
            start_up: self.start_up,
            resume: self.resume,
            max_buffer: self.max_buffer,
            from: self.from,
            until: self.until,
            seeks: self.seeks.clone(),
            live,
            urgency: [self.video_urgency, self.audio_urgency],
        }
    }
}

/// The shortest chunk: the server looks after each one.
const SHORTEST_CHUNK: Duration = Duration::from_millis(1);

/// Checks that the options are consistent.
fn check(options: &VideoOptions) -> Result<(), OptionError> {
    options.version.over.check(&options.http2)?;
    check_live(options)?;
    if let Some(pair) = options.seeks.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        return Err((
            "seeks",
            format!("{} does not come after {}; expected rising times", pair[1].0, pair[0].0),
        ));
    }
    // The durations of segments do not depend on random numbers.
    let Some(presentation) = options.presentation(Generator::new(0, "check")) else { return Ok(()) };
    let lines = TrackKind::ALL.map(|kind| TrackLine::new(Arc::clone(&presentation), kind));
    for line in lines.iter().flatten() {
        let (longest, kind) = (line.longest(), line.kind().name());
        if options.max_buffer < longest {
            let found = format!(
                "found {}; expected at least {longest}, the longest segment of {kind}",
                options.max_buffer
            );
            return Err(("max_buffer", found));
        }
    }
    for (name, level) in [("start_up", options.start_up), ("resume", options.resume)] {
        if level > options.max_buffer {
            let found = format!("found {level}; expected at most max_buffer, {}", options.max_buffer);
            return Err((name, found));
        }
    }
    let end = lines.iter().flatten().map(TrackLine::end).max().unwrap_or(Duration::ZERO);
    if options.from >= end {
        let found =
            format!("found {}; expected a position before {end}, the end of the presentation", options.from);
        return Err(("from", found));
    }
    let seeks = options.seeks.iter().map(|(_, to)| ("seeks", *to));
    for (name, position) in options.until.map(|until| ("until", until)).into_iter().chain(seeks) {
        if position > end {
            let found = format!("found {position}; expected at most {end}, the end of the presentation");
            return Err((name, found));
        }
    }
    if let Some(until) = options.until.filter(|until| *until <= options.from) {
        return Err(("until", format!("found {until}; expected a position after from, {}", options.from)));
    }
    Ok(())
}

/// Checks the options of live presentations.
fn check_live(options: &VideoOptions) -> Result<(), OptionError> {
    let VideoOptions { chunk, deadline, max_drift, .. } = *options;
    if options.latency.is_none() {
        let live = [("chunk", chunk), ("deadline", deadline), ("max_drift", max_drift)];
        let given = live.into_iter().find(|(_, given)| given.is_some());
        let problem = "is only for live playback; expected latency as well, or not this option";
        return given.map_or(Ok(()), |(name, _)| Err((name, problem.to_owned())));
    }
    if let Some(chunk) = chunk.filter(|chunk| *chunk < SHORTEST_CHUNK) {
        return Err(("chunk", format!("found {chunk}; expected at least {SHORTEST_CHUNK}")));
    }
    if let Some(deadline) = deadline {
        if chunk.is_none() {
            return Err(("deadline", "needs chunks; expected chunk as well, or not this option".to_owned()));
        }
        if deadline.is_zero() {
            return Err(("deadline", "found 0 s; expected a duration above zero".to_owned()));
        }
        if options.version.over != Version::Http3 {
            let problem = "needs partial stream resets, which TCP does not have; expected over = \
                           \"http3\", or not this option";
            return Err(("deadline", problem.to_owned()));
        }
    }
    if max_drift.is_some_and(Duration::is_zero) {
        return Err(("max_drift", "found 0 s; expected a duration above zero".to_owned()));
    }
    if chunk.is_some() && options.pace.is_some() {
        return Err((
            "pace",
            "chunks are sent at the pace at which they are filmed; expected no chunk, or not this option"
                .to_owned(),
        ));
    }
    Ok(())
}

/// A presentation of one segment without content.
fn nothing() -> Presentation {
    let representation = Representation {
        id: String::new(),
        bitrate: Rate::from_bits_per_sec(1),
        resolution: None,
        initialization: 0,
        sizes: vec![0],
    };
    let durations = vec![Duration::from_secs(1)];
    let track = Track { kind: TrackKind::Video, durations, representations: vec![representation] };
    Presentation { periods: vec![Period { tracks: vec![track] }] }
}

fn build(arguments: &Arguments, random: Generator) -> Ends {
    let options = VideoOptions::of(arguments);
    // An unreachable fallback: `check` rejects options without a presentation.
    let presentation = options.presentation(random).unwrap_or_else(|| Arc::new(nothing()));
    let player = Player::new(&presentation, |kind| options.abr(kind), options.settings());
    let client = VideoClient::new(
        player,
        options.incremental,
        options.pace.map(Pace),
        options.deadline,
        options.http2.client_windows(),
    );
    Ends { client: Box::new(client), server: Box::new(objects::server(&options.http2)) }
}
