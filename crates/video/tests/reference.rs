//! Decisions over whole sessions, segment by segment, are those of an independent reference.
//!
//! `tests/abr_reference.py` plays drawn sessions over a series of throughputs, without a transport, and prints its choices.
//! Here the same sessions are played with the algorithms of this crate, in whole nanoseconds.

use serde_json::Value;
use units::{Duration, Rate, Time};
use video::abr::{self, Abr, Download, HISTORY, Line, View};

const VECTORS: &str = include_str!("abr_reference.json");
/// The algorithms of the reference, which are rows of the same name, and their options.
const ALGORITHMS: [(&str, Options); 4] = [
    ("bola", &[("variant", "bola-basic")]),
    ("bba", &[]),
    ("throughput", &[]),
    ("mpc", &[("quality", "log"), ("switching", "0.9")]),
];
type Options = &'static [(&'static str, &'static str)];
/// The times of the reference are rounded to microseconds, and those here to nanoseconds for each download.
const TOLERANCE_S: f64 = 2e-6;

/// What is played, and the network.
#[derive(Debug)]
struct Session {
    duration: Duration,
    max_buffer: Duration,
    ladder: Vec<Rate>,
    permille: Vec<u64>,
    series: Vec<(Duration, Rate)>,
}

fn integers(value: &Value) -> Vec<u64> {
    value.as_array().expect("a list").iter().map(|number| number.as_u64().expect("a whole number")).collect()
}

impl Session {
    fn read(value: &Value) -> Session {
        let ms = |key: &str| Duration::from_millis(value[key].as_u64().expect("milliseconds"));
        let pieces = value["series"].as_array().expect("a series").iter().map(integers);
        Session {
            duration: ms("segment_ms"),
            max_buffer: ms("max_buffer_ms"),
            ladder: integers(&value["ladder_kbit"])
                .iter()
                .map(|kbit| Rate::from_bits_per_sec(kbit * 1000))
                .collect(),
            permille: integers(&value["permille"]),
            series: pieces
                .map(|piece| (Duration::from_millis(piece[0]), Rate::from_bits_per_sec(piece[1])))
                .collect(),
        }
    }

    /// When a download is complete: the integral of the series is counted in bits times nanoseconds.
    fn complete(&self, asked_at: Time, bytes: u64) -> Time {
        let mut left = u128::from(bytes) * 8_000_000_000;
        let mut begin = Time::ZERO;
        for (span, rate) in self.series.iter().cycle() {
            let end = begin + *span;
            let from = begin.max(asked_at);
            let carried = u128::from(rate.as_bits_per_sec()) * u128::from(end.since(from).as_nanos());
            if end > from && carried >= left {
                let ns = left.div_ceil(u128::from(rate.as_bits_per_sec()).max(1));
                return from + Duration::from_nanos(ns as u64);
            }
            left -= carried;
            begin = end;
        }
        unreachable!("the series does not end")
    }
}

impl Line for Session {
    fn segments(&self) -> usize {
        self.permille.len()
    }
    fn duration(&self, _segment: usize) -> Duration {
        self.duration
    }
    fn bitrates(&self, _segment: usize) -> &[Rate] {
        &self.ladder
    }
    fn size(&self, segment: usize, representation: usize) -> u64 {
        let kbit = self.ladder[representation].as_bits_per_sec() / 1000;
        kbit * self.duration.as_millis() * self.permille[segment] / 8000
    }
}

/// What became of a session.
#[derive(Debug, Default)]
struct Outcome {
    chosen: Vec<usize>,
    completed: Vec<Time>,
    stalled: Duration,
}

/// Plays a session. Where the algorithm chooses another one of several best representations than the reference (`instead`
/// says which), the session goes on with that of the reference.
fn play(session: &Session, abr: &mut dyn Abr, instead: impl Fn(usize, usize) -> Option<usize>) -> Outcome {
    let (mut now, mut buffer, mut last) = (Time::ZERO, Duration::ZERO, None);
    let mut downloads: Vec<Download> = Vec::new();
    let mut outcome = Outcome::default();
    for segment in 0..session.segments() {
        let room = buffer + session.duration - session.max_buffer;
        (now, buffer) = (now + room, buffer - room);
        let scene = View {
            now,
            buffer,
            max_buffer: session.max_buffer,
            is_playing: segment > 0,
            stalled: Duration::ZERO,
            segment,
            last,
            line: session,
            downloads: &[],
            latency: None,
        };
        let mut choice = abr.choose(&View { downloads: &downloads, ..scene });
        choice.representation = instead(segment, choice.representation).unwrap_or(choice.representation);
        (now, buffer) = (now + choice.wait, buffer - choice.wait);
        let bytes = session.size(segment, choice.representation);
        let complete = session.complete(now, bytes);
        let took = complete.since(now);
        if segment > 0 {
            outcome.stalled += took - buffer;
        }
        buffer = buffer - took + session.duration;
        assert!(buffer <= session.max_buffer);
        if downloads.len() == HISTORY {
            downloads.remove(0);
        }
        downloads.push(Download {
            segment,
            representation: choice.representation,
            bytes,
            asked_at: now,
            first_at: now,
            last_at: complete,
        });
        now = complete;
        abr.on_download(&View { now, buffer, downloads: &downloads, ..scene });
        last = Some(choice.representation);
        outcome.chosen.push(choice.representation);
        outcome.completed.push(now);
    }
    outcome
}

#[test]
fn choices_are_those_of_the_reference() {
    let sessions: Value = serde_json::from_str(VECTORS).expect("vectors");
    let sessions = sessions.as_array().expect("a list of sessions");
    let rows = abr::room().rows;
    let mut representations = std::collections::BTreeSet::new();
    for (number, value) in sessions.iter().enumerate() {
        let session = Session::read(value);
        for (name, options) in ALGORITHMS {
            let row = rows.iter().find(|row| row.name == name).expect("a row of the room");
            let arguments =
                units::parameter::Arguments::written(row.parameters, options, &[]).expect("its options");
            let mut abr = abr::build(name, &arguments).expect("a row of the room");
            let run = &value["runs"][name];
            let expected = integers(&run["chosen"]);
            let instead = |segment: usize, chosen: usize| {
                let several = run["several"].get(segment.to_string()).map(integers)?;
                several.contains(&(chosen as u64)).then(|| expected[segment] as usize)
            };
            let outcome = play(&session, abr.as_mut(), instead);
            let chosen: Vec<u64> = outcome.chosen.iter().map(|chosen| *chosen as u64).collect();
            assert_eq!(chosen, expected, "{name} in session {number}");
            let seconds = |value: &Value| value.as_f64().expect("seconds");
            let times = run["completed_s"].as_array().expect("a list").iter().map(seconds);
            for (segment, (time, expected)) in outcome.completed.iter().zip(times).enumerate() {
                let off = (time.as_secs_f64() - expected).abs();
                assert!(off < TOLERANCE_S, "{name} in session {number}: segment {segment} is {off} s off");
            }
            let stalled = outcome.stalled.as_secs_f64();
            assert!((stalled - seconds(&run["stalled_s"])).abs() < TOLERANCE_S, "{name} in session {number}");
            representations.extend(chosen);
        }
    }
    assert!(
        sessions.len() >= 20 && representations.len() == 10,
        "they are varied enough: {representations:?}"
    );
}

/// Links that are much faster than the highest bitrate, and much slower than the lowest.
#[test]
fn a_steady_link_leads_to_the_highest_or_the_lowest() {
    let session = |kbit: u64| Session {
        duration: Duration::from_secs(3),
        max_buffer: Duration::from_secs(30),
        ladder: [230, 688, 2056, 6000].iter().map(|kbit| Rate::from_bits_per_sec(kbit * 1000)).collect(),
        permille: (0..100).map(|segment| 700 + segment * 7919 % 600).collect(),
        series: vec![(Duration::from_secs(1), Rate::from_bits_per_sec(kbit * 1000))],
    };
    // `fixed` adapts to nothing.
    for row in abr::room().rows.iter().filter(|row| row.name != "fixed") {
        let arguments = units::parameter::Arguments::written(row.parameters, &[], &[]).expect("defaults");
        let run = |kbit| {
            let mut abr = abr::build(row.name, &arguments).expect("a row of the room");
            play(&session(kbit), abr.as_mut(), |_, _| None)
        };
        let fast = run(20_000);
        assert!(fast.chosen[30..].iter().all(|chosen| *chosen == 3), "{}: {:?}", row.name, fast.chosen);
        assert!(fast.stalled.is_zero(), "{}", row.name);
        let slow = run(100);
        assert!(slow.chosen.iter().all(|chosen| *chosen == 0), "{}: {:?}", row.name, slow.chosen);
    }
}
