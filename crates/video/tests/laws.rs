//! Laws of all rows of rate adaptation, over drawn views: a choice is a representation of its segment, a download is only
//! given up for a lower one, and equal views have equal choices.

use proptest::prelude::*;
use units::parameter::{Arguments, Default, Kind, Parameter, Row};
use units::{Duration, Rate, Time};
use video::abr::{self, Abr, Choice, Download, HISTORY, Line, Underway, View};

/// Segments with durations, ladders and sizes of their own.
#[derive(Debug, Clone)]
struct Drawn {
    segments: Vec<(Duration, Vec<Rate>, Vec<u64>)>,
}

impl Line for Drawn {
    fn segments(&self) -> usize {
        self.segments.len()
    }
    fn duration(&self, segment: usize) -> Duration {
        self.segments[segment].0
    }
    fn bitrates(&self, segment: usize) -> &[Rate] {
        &self.segments[segment].1
    }
    fn size(&self, segment: usize, representation: usize) -> u64 {
        self.segments[segment].2[representation]
    }
}

/// What happens before and after a choice.
#[derive(Debug, Clone)]
struct Turn {
    /// Which of the segments, in thousandths of their number: players go on, but may seek.
    segment: u16,
    seeks: bool,
    last: Option<usize>,
    buffer_ms: u64,
    is_playing: bool,
    is_live: bool,
    idle_ms: u64,
    /// The times from request to first and last byte in us, and the bytes in thousandths of the segment.
    download: (u64, u64, u64),
    reports: u64,
}

fn line() -> impl Strategy<Value = Drawn> {
    let ladder = proptest::collection::vec((0u64..10_000_000, 0u64..4_000_000), 1..12);
    let segment = (1u64..12_000_000_000, ladder).prop_map(|(duration, ladder)| {
        let mut rates: Vec<Rate> = ladder.iter().map(|(rate, _)| Rate::from_bits_per_sec(*rate)).collect();
        rates.sort_unstable();
        (Duration::from_nanos(duration), rates, ladder.into_iter().map(|(_, size)| size).collect())
    });
    proptest::collection::vec(segment, 1..12).prop_map(|segments| Drawn { segments })
}

fn turn() -> impl Strategy<Value = Turn> {
    let times = (0u64..20_000_000, 0u64..20_000_000, 0u64..=1000);
    let flags = (prop::bool::weighted(0.1), any::<bool>(), any::<bool>());
    let numbers = (0u16..1000, proptest::option::of(0usize..15), 0u64..70_000, 0u64..9000, 0u64..8);
    (flags, numbers, times).prop_map(|((seeks, is_playing, is_live), numbers, download)| {
        let (segment, last, buffer_ms, idle_ms, reports) = numbers;
        Turn { segment, seeks, last, buffer_ms, is_playing, is_live, idle_ms, download, reports }
    })
}

/// Plays the turns; returns the choices and what was given up.
fn play(
    abr: &mut dyn Abr,
    line: &Drawn,
    turns: &[Turn],
    max_buffer: Duration,
) -> Vec<(Choice, Option<usize>)> {
    let (mut now, mut downloads) = (Time::ZERO, Vec::new());
    let mut results = Vec::new();
    for turn in turns {
        let segment = line.segments.len() * usize::from(turn.segment) / 1000;
        if turn.seeks {
            abr.on_seek();
        }
        now += Duration::from_millis(turn.idle_ms);
        let scene = View {
            now,
            buffer: Duration::from_millis(turn.buffer_ms).min(max_buffer),
            max_buffer,
            is_playing: turn.is_playing,
            stalled: Duration::ZERO,
            segment,
            last: turn.last,
            line,
            downloads: &[],
            latency: turn.is_live.then(|| Duration::from_millis(turn.idle_ms)),
        };
        let choice = abr.choose(&View { downloads: &downloads, ..scene });
        let count = line.bitrates(segment).len();
        assert!(choice.representation < count, "{choice:?} of {count}: {abr:?}");
        assert!(choice.wait <= scene.buffer, "{choice:?} with {} of buffer: {abr:?}", scene.buffer);
        let asked_at = now + choice.wait;
        let (to_first, to_last, permille) = turn.download;
        let first_at = asked_at + Duration::from_micros(to_first);
        let total = line.size(segment, choice.representation);
        let mut given_up = None;
        for report in 1..=turn.reports {
            let span = Duration::from_micros(to_last).scale(report, turn.reports + 1);
            let bytes = total * report / (turn.reports + 1);
            let view = View { now: first_at + span, downloads: &downloads, ..scene };
            let representation = choice.representation;
            given_up =
                abr.abandon(&view, &Underway { segment, representation, bytes, total, asked_at, first_at });
            if let Some(lower) = given_up {
                assert!(lower < representation, "{lower} for {representation}: {abr:?}");
                let again = abr.choose(&view);
                assert_eq!((again.representation, again.wait), (lower, Duration::ZERO), "{abr:?}");
                break;
            }
        }
        now = first_at + Duration::from_micros(to_last);
        if downloads.len() == HISTORY {
            downloads.remove(0);
        }
        downloads.push(Download {
            segment,
            representation: choice.representation,
            bytes: total * permille / 1000,
            asked_at,
            first_at,
            last_at: now,
        });
        abr.on_download(&View { now, downloads: &downloads, ..scene });
        let _ = abr.estimate();
        results.push((choice, given_up));
    }
    results
}

/// Texts of values that an option accepts, its default and its extremes among them.
fn values(parameter: &Parameter) -> Vec<String> {
    let mut values: Vec<String> = match parameter.kind {
        Kind::Choice(words) => words.iter().map(|word| (*word).to_owned()).collect(),
        Kind::Flag => vec!["true".to_owned(), "false".to_owned()],
        Kind::Integer(low, high) => vec![low.to_string(), high.min(100).to_string()],
        Kind::Number(low, high) => vec![low.to_string(), high.to_string()],
        Kind::Duration => vec!["0 s".to_owned(), "4 s".to_owned(), "1000 s".to_owned()],
        Kind::Rate => vec!["0 bit/s".to_owned(), "2 Mbit/s".to_owned()],
        other => panic!("no values for {other:?}"),
    };
    if let Default::Is(text) = parameter.default {
        values.push(text.to_owned());
    }
    values
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn choices_are_representations_and_depend_on_views_alone(
        line in line(),
        turns in proptest::collection::vec(turn(), 1..25),
        max_ms in 0u64..60_000,
        options in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..6),
    ) {
        for row in &abr::room().rows {
            let mut given: Vec<(&str, String)> = Vec::new();
            // A row from outside may have none.
            for (which, value) in options.iter().filter(|_| !row.parameters.is_empty()) {
                let parameter = &row.parameters[which.index(row.parameters.len())];
                if given.iter().all(|(name, _)| *name != parameter.name) {
                    given.push((parameter.name, value.get(&values(parameter)).clone()));
                }
            }
            let given: Vec<(&str, &str)> = given.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let arguments = Arguments::written(row.parameters, &given, &[]).expect("options of the row");
            let run = || {
                let mut abr = abr::build(row.name, &arguments).expect("a row of the room");
                play(abr.as_mut(), &line, &turns, Duration::from_millis(max_ms))
            };
            prop_assert_eq!(run(), run(), "{}", row.name);
        }
    }
}

#[test]
fn rows_are_documented_and_have_valid_defaults() {
    let room = abr::room();
    assert_eq!(room.name, "abrs");
    for row in &room.rows {
        assert!(!row.about.is_empty(), "{}", row.name);
        for (index, parameter) in row.parameters.iter().enumerate() {
            assert!(!parameter.about.is_empty(), "{}: {}", row.name, parameter.name);
            let twice = row.parameters[..index].iter().any(|other| other.name == parameter.name);
            assert!(!twice, "{}: {} twice", row.name, parameter.name);
        }
        let arguments = Arguments::written(row.parameters, &[], &[]).expect("defaults");
        assert_eq!((room.check)(row.name, &arguments), Ok(()));
        assert!(abr::build(row.name, &arguments).is_some());
    }
    assert!(abr::build("nobody", &Arguments::default()).is_none());
}

#[test]
fn rows_from_outside_join_the_room() {
    let mine: Row<abr::Build> = Row {
        name: "mine.py:Mine",
        about: "mine",
        parameters: &[],
        build: &|arguments| Box::new(abr::Fixed::new(arguments)),
    };
    abr::plug(mine).expect("a new name");
    assert!(abr::room().rows.iter().any(|row| row.name == "mine.py:Mine"));
    assert!(abr::build("mine.py:Mine", &Arguments::default()).is_some());
    let taken = abr::plug(Row { name: "bola", ..mine });
    assert_eq!(taken, Err(abr::PlugError::Taken));
}
