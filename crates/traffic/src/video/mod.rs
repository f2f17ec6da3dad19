//! The application `video`: a player that asks a server for one segment after the other, over any version of HTTP.

mod client;
mod report;

use crate::objects::{self, CONNECTIONS};
use crate::versions;
use crate::{Ends, OptionError, Profile, http2_options};
use ::video::Presentation;
use ::video::abr::{self, Abr, Fixed};
use ::video::player::{Live, Player, Settings};
use ::video::presentation::{self, Kind as TrackKind, Period, Representation, Track, TrackLine};
use client::{Pace, VideoClient};
use random::Stream;
use std::sync::Arc;
use units::parameter::{Arguments, Default, Kind, Parameter, Row, Value};
use units::{Duration, Rate};

pub(crate) const ROW: Row<Profile> = Row {
    name: "video",
    about: "a video: segments requested one after the other, in a quality that adapts to the network, and played",
    parameters: &[
        versions::OVER,
        Parameter::with_default(
            "presentation",
            Kind::Component("presentations"),
            "\"ladder\"",
            "what is played: representations and the sizes of their segments",
        ),
        Parameter::with_default(
            "abr",
            Kind::Component("abrs"),
            "\"dynamic\"",
            "which representation of the video is requested next",
        ),
        Parameter::optional(
            "audio_bitrate",
            Kind::Rate,
            "the audio has the highest representation up to this rate; the highest of all without it",
        ),
        Parameter::with_default(
            "start_up",
            Kind::Duration,
            "\"2 s\"",
            "media in the buffer at which playback begins",
        ),
        Parameter::with_default(
            "resume",
            Kind::Duration,
            "\"2 s\"",
            "media in the buffer at which playback goes on after a stall or a seek",
        ),
        Parameter::with_default(
            "max_buffer",
            Kind::Duration,
            "\"30 s\"",
            "limit of the buffer of each track: a segment is requested when it fits; at least the longest \
             segment",
        ),
        Parameter::with_default("from", Kind::Duration, "\"0 s\"", "position at which playback begins"),
        Parameter::optional(
            "until",
            Kind::Duration,
            "position at which playback ends, before the end of the presentation",
        ),
        Parameter::with_default(
            "seeks",
            Kind::Pairs(&Kind::Duration, &Kind::Duration),
            "[]",
            "jumps: [time after the start of the player, position], times rising",
        ),
        Parameter::with_default(
            "video_urgency",
            Kind::Integer(0, 7),
            "3",
            "urgency of the segments of video (RFC 9218), 0 the most urgent",
        ),
        Parameter::with_default(
            "audio_urgency",
            Kind::Integer(0, 7),
            "3",
            "urgency of the segments of audio (RFC 9218), 0 the most urgent",
        ),
        Parameter::with_default(
            "incremental",
            Kind::Flag,
            "false",
            "whether segments of the same urgency share the connection (RFC 9218 section 4.2)",
        ),
        Parameter::optional(
            "pace",
            Kind::Number(0.1, 100.0),
            "the server is asked to send a segment at this multiple of its bitrate, in parts of 16 kB; \
             without it, as fast as it can",
        ),
        Parameter::optional(
            "latency",
            Kind::Duration,
            "live: target latency, from filming to playback; without it, the video is not live",
        ),
        Parameter::with_default(
            "since",
            Kind::Duration,
            "\"60 s\"",
            "live: how long filming has gone on when the run starts",
        ),
        Parameter::optional(
            "chunk",
            Kind::Duration,
            "live: duration of a chunk, which can be sent and played as soon as it is filmed; without it, \
             whole segments",
        ),
        Parameter::optional(
            "deadline",
            Kind::Duration,
            "live, over HTTP/3: time after a chunk was filmed and requested when the server stops sending \
             the segment, and playback skips a gap",
        ),
        Parameter::with_default(
            "catch_up",
            Kind::Number(0.0, 0.9),
            "0.5",
            "live: by how much playback may be faster or slower to reach the latency (dash.js: 0.5)",
        ),
        Parameter::optional(
            "max_drift",
            Kind::Duration,
            "live: excess latency from which playback jumps back to the target, and cancels downloads in \
             progress",
        ),
        Parameter {
            default: Default::Is("64"),
            about: "connections of HTTP/1.1 over the whole playback; each cancelled download uses one up",
            ..CONNECTIONS
        },
        Parameter { default: Default::Absent, ..http2_options::SCHEDULER },
        Parameter { default: Default::Absent, ..http2_options::STREAM_WINDOW },
        Parameter { default: Default::Absent, ..http2_options::CONNECTION_WINDOW },
    ],
    build: Profile {
        alpn: versions::alpn,
        over_quic: Some(versions::goes_over_quic),
        over_tcp: Some(versions::tcp_connections),
        shares: true,
        partial_resets: |arguments| arguments.has("deadline"),
        check,
        ..Profile::of(build)
    },
};

/// The presentation. Its options were checked.
fn presentation(arguments: &Arguments, mut stream: Stream) -> Option<Arc<Presentation>> {
    presentation::of(&arguments.component("presentation"), &mut stream).ok().map(Arc::new)
}

/// The rate adaptation of a kind of track.
fn abr(arguments: &Arguments, kind: TrackKind) -> Box<dyn Abr> {
    match kind {
        TrackKind::Video => {
            let component = arguments.component("abr");
            abr::build(component.name, &component.arguments)
                .unwrap_or_else(|| Box::new(Fixed::Representation(0)))
        }
        TrackKind::Audio if arguments.has("audio_bitrate") => {
            Box::new(Fixed::Bitrate(arguments.rate("audio_bitrate")))
        }
        TrackKind::Audio => Box::new(Fixed::Representation(usize::MAX)),
    }
}

fn optional(arguments: &Arguments, name: &str) -> Option<Duration> {
    arguments.has(name).then(|| arguments.duration(name))
}

fn settings(arguments: &Arguments) -> Settings {
    let seek = |pair: &Value| match pair {
        Value::List(pair) => match pair.as_slice() {
            [Value::Duration(after), Value::Duration(to)] => Some((*after, *to)),
            _ => None,
        },
        _ => None,
    };
    let live = optional(arguments, "latency").map(|target| Live {
        since: arguments.duration("since"),
        target,
        chunk: optional(arguments, "chunk"),
        catch_up: arguments.number("catch_up"),
        max_drift: optional(arguments, "max_drift"),
    });
    Settings {
        start_up: arguments.duration("start_up"),
        resume: arguments.duration("resume"),
        max_buffer: arguments.duration("max_buffer"),
        from: arguments.duration("from"),
        until: optional(arguments, "until"),
        seeks: arguments.list("seeks").iter().filter_map(seek).collect(),
        live,
        urgency: [arguments.integer("video_urgency") as u8, arguments.integer("audio_urgency") as u8],
    }
}

/// The shortest chunk: the server looks after each one.
const SHORTEST_CHUNK: Duration = Duration::from_millis(1);

/// Checks that the options are consistent.
fn check(arguments: &Arguments) -> Result<(), OptionError> {
    versions::check(arguments)?;
    let settings = settings(arguments);
    check_live(arguments, &settings)?;
    if let Some(pair) = settings.seeks.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        return Err((
            "seeks",
            format!("{} does not come after {}; expected rising times", pair[1].0, pair[0].0),
        ));
    }
    // The durations of segments do not depend on random numbers.
    let Some(presentation) = presentation(arguments, Stream::new(0, "check")) else { return Ok(()) };
    let lines = TrackKind::ALL.map(|kind| TrackLine::new(Arc::clone(&presentation), kind));
    for line in lines.iter().flatten() {
        let (longest, kind) = (line.longest(), line.kind().name());
        if settings.max_buffer < longest {
            let found = format!(
                "found {}; expected at least {longest}, the longest segment of {kind}",
                settings.max_buffer
            );
            return Err(("max_buffer", found));
        }
    }
    for (name, level) in [("start_up", settings.start_up), ("resume", settings.resume)] {
        if level > settings.max_buffer {
            let found = format!("found {level}; expected at most max_buffer, {}", settings.max_buffer);
            return Err((name, found));
        }
    }
    let end = lines.iter().flatten().map(TrackLine::end).max().unwrap_or(Duration::ZERO);
    if settings.from >= end {
        let found =
            format!("found {}; expected a position before {end}, the end of the presentation", settings.from);
        return Err(("from", found));
    }
    let seeks = settings.seeks.iter().map(|(_, to)| ("seeks", *to));
    for (name, position) in settings.until.map(|until| ("until", until)).into_iter().chain(seeks) {
        if position > end {
            let found = format!("found {position}; expected at most {end}, the end of the presentation");
            return Err((name, found));
        }
    }
    if let Some(until) = settings.until.filter(|until| *until <= settings.from) {
        return Err(("until", format!("found {until}; expected a position after from, {}", settings.from)));
    }
    Ok(())
}

/// Checks the options of live presentations.
fn check_live(arguments: &Arguments, settings: &Settings) -> Result<(), OptionError> {
    let Some(live) = &settings.live else {
        let given = ["chunk", "deadline", "max_drift"].into_iter().find(|name| arguments.has(name));
        let problem = "is only for live playback; expected latency as well, or not this option";
        return given.map_or(Ok(()), |name| Err((name, problem.to_owned())));
    };
    if let Some(chunk) = live.chunk.filter(|chunk| *chunk < SHORTEST_CHUNK) {
        return Err(("chunk", format!("found {chunk}; expected at least {SHORTEST_CHUNK}")));
    }
    if arguments.has("deadline") {
        if live.chunk.is_none() {
            return Err(("deadline", "needs chunks; expected chunk as well, or not this option".to_owned()));
        }
        if arguments.duration("deadline").is_zero() {
            return Err(("deadline", "found 0 s; expected a duration above zero".to_owned()));
        }
        if versions::goes_over_quic(arguments).is_err() {
            let problem = "needs partial stream resets, which TCP does not have; expected over = \
                           \"http3\", or not this option";
            return Err(("deadline", problem.to_owned()));
        }
    }
    if live.max_drift.is_some_and(Duration::is_zero) {
        return Err(("max_drift", "found 0 s; expected a duration above zero".to_owned()));
    }
    if live.chunk.is_some() && arguments.has("pace") {
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

fn build(arguments: &Arguments, stream: Stream) -> Ends {
    // An unreachable fallback: `check` rejects options without a presentation.
    let presentation = presentation(arguments, stream).unwrap_or_else(|| Arc::new(nothing()));
    let player = Player::new(&presentation, |kind| abr(arguments, kind), settings(arguments));
    let pace = arguments.has("pace").then(|| Pace(arguments.number("pace")));
    let client = VideoClient::new(
        player,
        arguments.flag("incremental"),
        (pace, optional(arguments, "deadline")),
        http2_options::client_windows(arguments),
    );
    Ends { client: Box::new(client), server: Box::new(objects::server(arguments)) }
}
