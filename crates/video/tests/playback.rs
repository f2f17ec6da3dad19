//! Laws of playback over drawn sessions: presentations, settings, rate adaptations and networks by chance.

use random::Generator;
use std::sync::Arc;
use units::parameter::Arguments;
use units::{Duration, Rate, Time};
use video::abr::{self, Abr, Choice, Underway, View};
use video::player::{
    Action, Ask, Chunks, Live, Outcome, PlaybackRecord, Player, SegmentRecord, Settings, What,
};
use video::presentation::{Kind, Period, Presentation, Representation, Segment, Track};

const SESSIONS: u64 = 2000;
/// Playback that does not end by then has come to a standstill.
const LONGEST: Time = Time::from_nanos(20_000_000_000_000);

/// Positions are rounded down to nanoseconds.
const ROUNDED: Duration = Duration::from_nanos(1);

/// Numbers by chance.
struct Chance(Generator);

impl Chance {
    fn below(&mut self, count: u64) -> u64 {
        self.0.below(count)
    }
    fn is(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }
    /// From 1 to a number, small ones as often as large ones.
    fn size(&mut self, most: u64) -> u64 {
        let bits = 64 - most.leading_zeros();
        let up_to = 1 << self.below(u64::from(bits) + 1);
        1 + self.below(up_to.min(most))
    }
    fn ms(&mut self, most: u64) -> Duration {
        Duration::from_millis(self.size(most))
    }
}

fn presentation(chance: &mut Chance) -> Presentation {
    let kinds: &[Kind] = match chance.below(5) {
        0 => &[Kind::Audio],
        1 | 2 => &[Kind::Video, Kind::Audio],
        _ => &[Kind::Video],
    };
    let periods = 1 + chance.below(3);
    let is_tiny = chance.is(8);
    let period = |chance: &mut Chance| {
        let tracks = kinds.iter().map(|kind| {
            let segments = chance.size(12) as usize;
            let longest = if is_tiny { 1 } else { 4000 };
            let durations = (0..segments).map(|_| chance.ms(longest)).collect();
            let initialization = if chance.is(3) { chance.size(2000) } else { 0 };
            let mut bitrate = 0;
            let representations = (0..1 + chance.below(5)).map(|number| {
                bitrate += 1 + chance.below(2_000_000);
                Representation {
                    id: format!("{number}"),
                    bitrate: Rate::from_bits_per_sec(bitrate),
                    resolution: None,
                    initialization,
                    sizes: (0..segments).map(|_| chance.size(400_000)).collect(),
                }
            });
            let representations = representations.collect();
            Track { kind: *kind, durations, representations }
        });
        Period { tracks: tracks.collect() }
    };
    Presentation::new((0..periods).map(|_| period(chance)).collect()).unwrap()
}

fn settings(chance: &mut Chance, presentation: &Presentation) -> Settings {
    let segments = Kind::ALL.map(|kind| presentation.segments(kind)).concat();
    let end = segments.iter().map(Segment::end).max().unwrap();
    let longest = segments.iter().map(|segment| segment.duration).max().unwrap();
    let max_buffer = if chance.is(4) { longest } else { longest + chance.ms(20_000) };
    let within = |chance: &mut Chance, span: Duration| span.scale(chance.below(1001), 1000);
    let from = if chance.is(3) { end.scale(chance.below(1000), 1000) } else { Duration::ZERO };
    let until = (from + within(chance, end - from)).max(from + Duration::from_nanos(1));
    let mut seeks = Vec::new();
    let mut at = Duration::ZERO;
    while seeks.len() < 4 && chance.is(2) {
        at += chance.ms(8000);
        seeks.push((at, within(chance, end)));
    }
    let live = chance.is(3).then(|| Live {
        since: within(chance, end + longest),
        target: chance.ms(8000),
        chunk: chance.is(2).then(|| chance.ms(1000)),
        catch_up: chance.below(10) as f64 / 10.0,
        max_drift: chance.is(3).then(|| chance.ms(5000)),
    });
    Settings {
        start_up: within(chance, max_buffer),
        resume: within(chance, max_buffer),
        max_buffer,
        from,
        until: chance.is(3).then_some(until),
        seeks,
        live,
        urgency: [3, 2],
    }
}

/// Chooses, waits and gives up by chance.
#[derive(Debug)]
struct Whims(Generator);

impl Abr for Whims {
    fn choose(&mut self, view: &View<'_>) -> Choice {
        let count = view.line.bitrates(view.segment).len() as u64;
        let wait =
            if self.0.below(3) == 0 { view.buffer.scale(self.0.below(101), 100) } else { Duration::ZERO };
        Choice { representation: self.0.below(count) as usize, wait }
    }
    fn abandon(&mut self, _: &View<'_>, underway: &Underway) -> Option<usize> {
        let lower = self.0.below(1 + underway.representation as u64) as usize;
        (lower < underway.representation && self.0.below(20) == 0).then_some(lower)
    }
}

fn abr(chance: &mut Chance, seed: u64) -> Box<dyn Abr> {
    let rows = abr::room().rows;
    let which = chance.below(rows.len() as u64 + 2) as usize;
    match rows.get(which) {
        Some(row) => abr::build(row.name, &Arguments::written(row.parameters, &[], &[]).unwrap()).unwrap(),
        None => Box::new(Whims(Generator::new(seed, "whims"))),
    }
}

/// A network that carries bytes in steps, and a server.
struct Network {
    step: Duration,
    /// The bytes in each step, over and over again.
    bytes: Vec<u64>,
    /// Every this many downloads fail.
    fails: Option<u64>,
    /// Of every this many downloads of chunks, the server gives up what follows the first half.
    cuts: Option<u64>,
    underway: Vec<(Ask, u64)>,
    delivered: u64,
}

impl Network {
    fn new(chance: &mut Chance) -> Network {
        let step = chance.ms(50);
        let most = 1000 * step.as_millis();
        let mut bytes: Vec<u64> = (0..1 + chance.below(20)).map(|_| chance.size(most)).collect();
        if chance.is(3) {
            bytes.extend(std::iter::repeat_n(0, chance.below(100) as usize));
        }
        // It carries something.
        bytes[0] = bytes[0].max(100);
        let fails = chance.is(6).then(|| 3 + chance.below(8));
        let cuts = Some(1 + chance.below(2));
        Network { step, bytes, fails, cuts, underway: Vec::new(), delivered: 0 }
    }

    fn act(&mut self, now: Time, player: &mut Player) {
        while let Some(action) = player.poll(now) {
            match action {
                Action::Ask(ask) => self.underway.push((ask, 0)),
                Action::Cancel(id) => self.underway.retain(|(ask, _)| ask.id != id),
            }
        }
    }

    /// The bytes of a download that exist.
    fn exist(now: Time, ask: &Ask) -> u64 {
        match ask.chunks {
            Some(Chunks { ready, next, every, count }) => {
                let past = now.since(next).as_nanos().checked_div(every.as_nanos()).unwrap_or(count);
                let more = if now < next { 0 } else { past + 1 };
                (u128::from(ask.size) * u128::from(count.min(ready + more)) / u128::from(count)) as u64
            }
            None => ask.size,
        }
    }

    fn carry(&mut self, now: Time, mut left: u64, player: &mut Player) {
        for at in 0..self.underway.len() {
            let (ask, got) = &mut self.underway[at];
            let cut = self.cuts.filter(|every| (ask.id as u64).is_multiple_of(*every)).and(ask.chunks);
            let most = cut.map_or(ask.size, |chunks| ask.size * (chunks.count / 2) / chunks.count);
            let more = left.min(Network::exist(now, ask).min(most) - *got);
            if cut.is_some() && *got == most {
                player.on_cut(now, ask.id);
                *got = ask.size;
                continue;
            }
            if more == 0 {
                continue;
            }
            if *got == 0 {
                player.on_first_byte(now, ask.id);
            }
            (*got, left) = (*got + more, left - more);
            self.delivered += more;
            let (id, got, is_whole) = (ask.id, *got, *got == ask.size);
            let fails = self.fails.is_some_and(|every| id as u64 % every == every - 1);
            if is_whole && !fails {
                player.on_complete(now, id);
            } else {
                player.on_bytes(now, id, got);
                if is_whole {
                    player.on_failure(now, id, true);
                }
            }
        }
        self.underway.retain(|(ask, got)| *got < ask.size);
        self.act(now, player);
    }
}

/// Plays a session; returns the player and the bytes that were carried.
fn play(seed: u64) -> (Player, Settings, Arc<Presentation>, u64) {
    let mut chance = Chance(Generator::new(seed, "session"));
    let presentation = Arc::new(presentation(&mut chance));
    let settings = settings(&mut chance, &presentation);
    let mut network = Network::new(&mut chance);
    let mut player = Player::new(&presentation, |_| abr(&mut chance, seed), settings.clone());
    player.open(Time::ZERO + Duration::from_millis(seed % 7));
    player.start(Time::ZERO + Duration::from_millis(seed % 11 + 7));
    let (mut now, mut step) = (Time::ZERO + Duration::from_millis(seed % 11 + 7), 0);
    let mut next_step = now + network.step;
    network.act(now, &mut player);
    while !player.is_over() && now < LONGEST {
        let wake = player.wake_at();
        assert!(wake.is_none_or(|wake| wake > now), "{seed}: wakes at {wake:?} again");
        now = wake.map_or(next_step, |wake| wake.min(next_step));
        if now == next_step {
            let bytes = network.bytes[step % network.bytes.len()];
            network.carry(now, bytes, &mut player);
            (step, next_step) = (step + 1, now + network.step);
        }
        player.advance(now);
        network.act(now, &mut player);
        assert!(player.buffer(now) <= settings.max_buffer, "{seed}: {}", player.buffer(now));
    }
    assert!(
        player.is_over(),
        "{seed}: stands still: {:?} {:?}",
        player.events().last(),
        player.segments().last()
    );
    assert_eq!((player.poll(now), player.wake_at()), (None, None), "{seed}");
    (player, settings, presentation, network.delivered)
}

/// What events say about the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    StartUp,
    Playing,
    Missing,
    Stalled,
    Seeking,
    Over,
}

/// The state after an event.
fn after(state: State, event: &PlaybackRecord) -> State {
    use State::{Missing, Over, Playing, Seeking, Stalled, StartUp};
    match (state, event.what) {
        (StartUp, What::Start) | (Stalled | Seeking | Missing, What::Resume) => Playing,
        (Playing | Missing, What::Stall) => Stalled,
        (Playing, What::Gap) => Missing,
        (Playing | Missing, What::Switch | What::Rate) => state,
        (StartUp, What::Seek) => StartUp,
        (Playing | Missing, What::Seek) if event.rate > 0 => Playing,
        (Playing | Missing | Stalled | Seeking, What::Seek) => Seeking,
        (StartUp | Playing | Missing | Stalled | Seeking, What::End) => Over,
        _ => panic!("{:?} while {state:?}", event.what),
    }
}

fn laws_of_events(player: &Player, asked_at: Time, has_seeks: bool) {
    let (mut state, mut played) = (State::StartUp, Duration::ZERO);
    let mut before: Option<&PlaybackRecord> = None;
    for event in player.events() {
        state = after(state, event);
        assert_eq!(event.rate > 0, matches!(state, State::Playing | State::Missing), "{event:?}");
        if let Some(before) = before {
            assert!(before.at <= event.at, "{before:?} {event:?}");
            // The position follows the rate.
            let span = event.at.since(before.at).scale(before.rate, 1_000_000);
            if event.what != What::Seek {
                let moved = event.position - before.position;
                assert!(before.position <= event.position && moved <= span + ROUNDED, "{before:?} {event:?}");
                assert!(span <= moved + ROUNDED, "{before:?} {event:?}");
            }
            played += span + ROUNDED;
        }
        before = Some(event);
    }
    assert_eq!(state, State::Over);
    let end = player.events().last().unwrap();
    let spans = player.spans();
    let whole = spans.start_up + spans.played + spans.missing + spans.stalled + spans.seeking;
    assert_eq!(whole, end.at.since(asked_at), "{spans:?}");
    let viewed = player.viewed();
    assert_eq!(viewed.asked_at, asked_at);
    assert_eq!(viewed.stall_time(), spans.stalled + spans.missing);
    if player.events().iter().any(|event| event.what == What::Start) && !has_seeks {
        assert_eq!(viewed.start_up, Some(spans.start_up));
        assert!(spans.seeking.is_zero() && viewed.played.iter().all(|one| !one.duration.is_zero()));
    }
    // What was shown is what was played, less the gaps of the picture.
    let shown = viewed.played.iter().fold(Duration::ZERO, |sum, one| sum + one.duration);
    assert!(shown <= played, "{shown} of {played}");
}

fn laws_of_segments(player: &Player, settings: &Settings, presentation: &Presentation, seeks: bool) {
    let downloads = player.segments();
    for kind in Kind::ALL {
        let segments = presentation.segments(kind);
        let of: Vec<&SegmentRecord> = downloads.iter().filter(|one| one.kind == kind).collect();
        // One after the other.
        assert!(of.windows(2).all(|pair| pair[0].ended_at.unwrap() <= pair[1].asked_at));
        for one in &of {
            let times = [one.asked_at, one.first_at.unwrap_or(one.asked_at), one.ended_at.unwrap()];
            assert!(times.is_sorted(), "{one:?}");
            assert!(one.bytes <= one.size && one.outcome != Outcome::Underway, "{one:?}");
            assert_eq!(
                one.outcome == Outcome::Complete,
                one.bytes == one.size && one.outcome == Outcome::Complete
            );
            let levels = [one.buffer_before, one.buffer_after.unwrap()];
            assert!(levels.iter().all(|level| *level <= settings.max_buffer), "{one:?}");
            let Some(place) = one.segment.map(|segment| segments[segment]) else { continue };
            assert_eq!(one.duration, place.duration);
            if let Some(live) = &settings.live {
                let filmed = live.chunk.map_or(place.duration, |chunk| chunk.min(place.duration));
                assert!(live.since + one.asked_at.since(Time::ZERO) >= place.start + filmed, "{one:?}");
                if one.outcome == Outcome::Complete {
                    assert!(live.since + one.ended_at.unwrap().since(Time::ZERO) >= place.end(), "{one:?}");
                }
            }
        }
        // In order, and each once, unless playback jumps.
        let is_over = |one: &&&SegmentRecord| matches!(one.outcome, Outcome::Complete | Outcome::Cut);
        let mut complete = of.iter().filter(is_over).filter_map(|one| one.segment);
        let mut last = None;
        assert!(
            seeks || complete.all(|segment| last.replace(segment).is_none_or(|last| segment == last + 1))
        );
    }
}

#[test]
fn laws_of_drawn_sessions() {
    let (mut stalled, mut sought, mut abandoned, mut failed, mut live, mut missed) = (0, 0, 0, 0, 0, 0);
    for seed in 0..SESSIONS {
        let (player, settings, presentation, delivered) = play(seed);
        let asked_at = Time::ZERO + Duration::from_millis(seed % 7);
        let seeks = player.events().iter().any(|event| event.what == What::Seek);
        laws_of_events(&player, asked_at, seeks);
        laws_of_segments(&player, &settings, &presentation, seeks);
        assert_eq!(player.segments().iter().map(|one| one.bytes).sum::<u64>(), delivered, "{seed}");
        let has_failed = player.segments().iter().any(|one| one.outcome == Outcome::Failed);
        assert!(player.played_out_at().is_some() || has_failed, "{seed}");
        // Without gaps and jumps, the picture is what is played.
        let viewed = player.viewed();
        let shown = viewed.played.iter().fold(Duration::ZERO, |sum, one| sum + one.duration);
        let is_one = presentation.kinds().count() == 1;
        let end = player.events().last().unwrap();
        let first = player.events()[0];
        let misses = player.events().iter().any(|event| event.what == What::Gap);
        if is_one && !seeks && !misses && first.what == What::Start {
            let (span, most) = (end.position - first.position, ROUNDED * player.events().len() as u64);
            assert!(shown <= span && span <= shown + most, "{seed}: {shown} of {span}");
        }
        stalled += u32::from(!player.spans().stalled.is_zero());
        sought += u32::from(seeks);
        abandoned += u32::from(player.segments().iter().any(|one| one.outcome == Outcome::Abandoned));
        failed += u32::from(has_failed);
        live += u32::from(settings.live.is_some());
        missed += u32::from(misses);
    }
    let seen = [stalled, sought, abandoned, failed, live, missed];
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
}

#[test]
fn equal_seeds_give_equal_playbacks() {
    for seed in 0..50 {
        let [(first, ..), (second, ..)] = [play(seed), play(seed)];
        assert_eq!(first.segments(), second.segments());
        assert_eq!(first.events(), second.events());
    }
}
