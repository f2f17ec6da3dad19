//! The player over a network of this many bytes in a millisecond: the buffer, stalls, seeks and live presentations by hand.

use super::*;
use crate::abr::{Choice, Underway, View};
use crate::presentation::{Period, Representation, Track};
use std::cell::RefCell;
use std::rc::Rc;
use units::Rate;

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}
fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A track of segments of 2 s, each representation with the same bytes in each segment.
fn track(kind: Kind, segments: usize, sizes: &[u64]) -> Track {
    let representation = |bytes: &u64| Representation {
        id: format!("{bytes}"),
        bitrate: Rate::from_bits_per_sec(bytes * 4),
        resolution: None,
        initialization: 0,
        sizes: vec![*bytes; segments],
    };
    let representations = sizes.iter().map(representation).collect();
    Track { kind, durations: vec![ms(2000); segments], representations }
}

fn video(segments: usize, sizes: &[u64]) -> Arc<Presentation> {
    Arc::new(Presentation { periods: vec![Period { tracks: vec![track(Kind::Video, segments, sizes)] }] })
}

fn settings() -> Settings {
    Settings {
        start_up: ms(2000),
        resume: ms(2000),
        max_buffer: ms(10_000),
        from: Duration::ZERO,
        until: None,
        seeks: Vec::new(),
        live: None,
        urgency: [3, 2],
    }
}

/// Plays a list of representations; the last one from then on. Gives a download up for the lowest after this many bytes, if asked to.
#[derive(Debug)]
struct Listed {
    list: Vec<usize>,
    given_up_at: Option<u64>,
    seen: Rc<RefCell<Vec<(usize, Duration)>>>,
    stalled: Rc<RefCell<Vec<Duration>>>,
}

impl Listed {
    fn of(list: &[usize]) -> Listed {
        Listed { list: list.to_vec(), given_up_at: None, seen: Rc::default(), stalled: Rc::default() }
    }
}

impl Abr for Listed {
    fn choose(&mut self, view: &View<'_>) -> Choice {
        self.seen.borrow_mut().push((view.segment, view.buffer));
        self.stalled.borrow_mut().push(view.stalled);
        let representation = if self.list.len() > 1 { self.list.remove(0) } else { self.list[0] };
        Choice { representation, wait: Duration::ZERO }
    }
    fn abandon(&mut self, _: &View<'_>, underway: &Underway) -> Option<usize> {
        self.given_up_at.filter(|bytes| underway.bytes >= *bytes).map(|_| 0)
    }
}

/// A network without delay that carries this many bytes in a millisecond, shared equally, in steps of a millisecond.
struct Pipe {
    rate: fn(u64) -> u64,
    underway: Vec<(usize, u64, u64)>,
}

impl Pipe {
    fn new(rate: fn(u64) -> u64) -> Pipe {
        Pipe { rate, underway: Vec::new() }
    }

    /// Runs a player up to a time.
    fn play(&mut self, player: &mut Player, until_ms: u64) {
        player.start(at(0));
        for now in 0..=until_ms {
            self.act(player, now);
            let mut left = (self.rate)(now);
            while left > 0 && !self.underway.is_empty() {
                let share = (left / self.underway.len() as u64).max(1);
                for (id, size, got) in &mut self.underway {
                    let more = share.min(*size - *got).min(left);
                    if *got == 0 {
                        player.on_first_byte(at(now + 1), *id);
                    }
                    *got += more;
                    left -= more;
                }
                for (id, size, got) in &self.underway {
                    if got < size {
                        player.on_bytes(at(now + 1), *id, *got);
                    }
                }
                for (id, size, got) in std::mem::take(&mut self.underway) {
                    if got == size {
                        player.on_complete(at(now + 1), id);
                    } else {
                        self.underway.push((id, size, got));
                    }
                }
                self.act(player, now + 1);
            }
            player.advance(at(now + 1));
            let wake = player.wake_at();
            assert!(wake.is_none_or(|wake| wake > at(now)), "{wake:?} at {now}");
        }
    }

    fn act(&mut self, player: &mut Player, now: u64) {
        while let Some(action) = player.poll(at(now)) {
            match action {
                Action::Ask(ask) => self.underway.push((ask.id, ask.size, 0)),
                Action::Cancel(id) => self.underway.retain(|(other, ..)| *other != id),
            }
        }
    }
}

fn player(presentation: &Arc<Presentation>, abr: Listed, settings: Settings) -> Player {
    let mut abr = Some(abr);
    let mut take = move || abr.take().unwrap_or_else(|| Listed::of(&[0]));
    Player::new(presentation, |_| Box::new(take()), settings)
}

fn told(player: &Player) -> Vec<(u64, What, u64)> {
    player
        .events()
        .iter()
        .map(|event| (event.at.since(Time::ZERO).as_millis(), event.what, event.position.as_millis()))
        .collect()
}

#[test]
fn a_fast_network_fills_the_buffer() {
    // 2000 bytes a segment, 2 bytes each ms: a segment of 2 s each second.
    let mut player = player(&video(10, &[2000]), Listed::of(&[0]), settings());
    Pipe::new(|_| 2).play(&mut player, 25_000);
    // It begins with the first segment, and plays all at once.
    assert_eq!(told(&player), [(1000, What::Start, 0), (21_000, What::End, 20_000)]);
    let spans = Spans { start_up: ms(1000), played: ms(20_000), ..Spans::default() };
    assert_eq!(player.spans(), spans);
    // n segments are there after n s, when n - 1 s are played: n + 1 s of buffer. Nine seconds have no room for 2 s more until
    // one has been played: from the ninth on a segment is asked for every 2 s.
    let asked: Vec<u64> =
        player.segments().iter().map(|one| one.asked_at.since(Time::ZERO).as_millis()).collect();
    assert_eq!(asked, [0, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 9000, 11_000]);
    let before: Vec<u64> = player.segments().iter().map(|one| one.buffer_before.as_millis()).collect();
    assert_eq!(before, [0, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 8000, 8000]);
    assert!(player.segments().iter().all(|one| one.outcome == Outcome::Complete && one.bytes == 2000));
}

#[test]
fn a_slow_network_stalls() {
    // A segment of 2 s takes 3 s.
    let mut player = player(&video(4, &[3000]), Listed::of(&[0]), settings());
    Pipe::new(|_| 1).play(&mut player, 20_000);
    let expected = [
        (3000, What::Start, 0),
        (5000, What::Stall, 2000),
        (6000, What::Resume, 2000),
        (8000, What::Stall, 4000),
        (9000, What::Resume, 4000),
        (11_000, What::Stall, 6000),
        (12_000, What::Resume, 6000),
        (14_000, What::End, 8000),
    ];
    assert_eq!(told(&player), expected);
    let spans = Spans { start_up: ms(3000), played: ms(8000), stalled: ms(3000), ..Spans::default() };
    assert_eq!(player.spans(), spans);
}

#[test]
fn playback_waits_for_the_levels_that_were_set() {
    let settings = Settings { start_up: ms(4000), resume: ms(6000), ..settings() };
    let mut player = player(&video(5, &[3000]), Listed::of(&[0]), settings);
    Pipe::new(|_| 1).play(&mut player, 30_000);
    // Two segments after 6 s, three after 9. The fourth comes when the buffer is empty, and is not enough alone: with the fifth
    // all is there, though it is less than 6 s.
    let expected = [
        (6000, What::Start, 0),
        (12_000, What::Stall, 6000),
        (15_000, What::Resume, 6000),
        (19_000, What::End, 10_000),
    ];
    assert_eq!(told(&player), expected);
}

#[test]
fn choices_know_the_stalls_and_the_one_that_goes_on() {
    let settings = Settings { resume: ms(4000), ..settings() };
    let abr = Listed::of(&[0]);
    let stalled = Rc::clone(&abr.stalled);
    let mut player = player(&video(4, &[3000]), abr, settings);
    Pipe::new(|_| 1).play(&mut player, 20_000);
    // Stalled from 5 s on. At 6 s there are 2 s in the buffer, at 9 s the 4 s that it takes to go on.
    assert_eq!(*stalled.borrow(), [ms(0), ms(0), ms(1000), ms(4000)]);
}

#[test]
fn switches_are_told_when_they_are_seen() {
    let mut player = player(&video(4, &[1000, 2000]), Listed::of(&[0, 1, 1, 0]), settings());
    Pipe::new(|_| 2).play(&mut player, 10_000);
    let expected = [
        (500, What::Start, 0),
        (2500, What::Switch, 2000),
        (6500, What::Switch, 6000),
        (8500, What::End, 8000),
    ];
    assert_eq!(told(&player), expected);
    let seen: Vec<_> = player.events().iter().map(|event| event.representation).collect();
    assert_eq!(seen, [Some(0), Some(1), Some(0), Some(0)]);
}

#[test]
fn what_is_given_up_is_asked_for_again() {
    let abr = Listed { given_up_at: Some(600), ..Listed::of(&[1, 1, 0]) };
    let seen = Rc::clone(&abr.seen);
    let mut player = player(&video(2, &[500, 2000]), abr, settings());
    Pipe::new(|_| 2).play(&mut player, 10_000);
    let told: Vec<_> = player
        .segments()
        .iter()
        .map(|one| (one.segment, one.representation, one.bytes, one.outcome))
        .collect();
    let expected = [
        (Some(0), 1, 600, Outcome::Abandoned),
        (Some(0), 0, 500, Outcome::Complete),
        (Some(1), 1, 600, Outcome::Abandoned),
        (Some(1), 0, 500, Outcome::Complete),
    ];
    assert_eq!(told, expected);
    // It was chosen once: what to ask for instead was said with the end of the download.
    assert_eq!(seen.borrow().iter().map(|(segment, _)| *segment).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn audio_and_video_are_played_together() {
    let tracks = vec![track(Kind::Video, 3, &[2000]), track(Kind::Audio, 3, &[1000])];
    let presentation = Arc::new(Presentation { periods: vec![Period { tracks }] });
    let mut player = player(&presentation, Listed::of(&[0]), settings());
    Pipe::new(|_| 2).play(&mut player, 20_000);
    // Both share the network: the audio comes after 1 s, then the next one of it beside the rest of the video, and both end at once.
    let first: Vec<_> =
        player.segments()[..2].iter().map(|one| (one.kind, one.urgency, one.beside)).collect();
    assert_eq!(first, [(Kind::Video, 3, 1999), (Kind::Audio, 2, 1000)]);
    assert_eq!(told(&player)[0], (2000, What::Start, 0));
    assert_eq!(player.spans().played, ms(6000));
}

#[test]
fn initialization_segments_come_first() {
    let mut presentation = Presentation::clone(&video(3, &[500, 2000]));
    for one in &mut presentation.periods[0].tracks[0].representations {
        one.initialization = 100;
    }
    let mut player = player(&Arc::new(presentation), Listed::of(&[0, 1, 0]), settings());
    Pipe::new(|_| 2).play(&mut player, 20_000);
    let told: Vec<_> =
        player.segments().iter().map(|one| (one.segment, one.representation, one.size)).collect();
    let expected = [(None, 0, 100), (Some(0), 0, 500), (None, 1, 100), (Some(1), 1, 2000), (Some(2), 0, 500)];
    assert_eq!(told, expected);
}

#[test]
fn a_seek_begins_anew_unless_the_media_are_there() {
    let seeks = vec![(ms(1500), ms(1000)), (ms(2500), ms(13_000)), (ms(9000), ms(0))];
    let mut player = player(&video(8, &[2000]), Listed::of(&[0]), Settings { seeks, ..settings() });
    Pipe::new(|_| 2).play(&mut player, 40_000);
    let expected = [
        (1000, What::Start, 0),
        // The first segment is there up to 2 s.
        (1500, What::Seek, 1000),
        // The segment from 12 to 14 s is asked for, and has come after 1 s; the media after 13 s are half of it: playback goes on
        // with the next one.
        (2500, What::Seek, 13_000),
        (4500, What::Resume, 13_000),
        (7500, What::End, 16_000),
    ];
    assert_eq!(told(&player), expected);
    let cancelled: Vec<_> = player
        .segments()
        .iter()
        .filter(|one| one.outcome == Outcome::Cancelled)
        .map(|one| one.bytes)
        .collect();
    assert_eq!(cancelled, [1000]);
    let spans = player.spans();
    assert_eq!((spans.start_up, spans.played, spans.seeking), (ms(1000), ms(4500), ms(2000)));
}

fn live(chunk: Option<Duration>) -> Settings {
    let live = Live { since: ms(20_000), target: ms(6000), chunk, catch_up: 0.5, max_drift: None };
    Settings { live: Some(live), start_up: ms(500), resume: ms(500), ..settings() }
}

#[test]
fn live_segments_are_asked_for_when_they_exist() {
    let mut player = player(&video(100, &[2000]), Listed::of(&[0]), live(None));
    Pipe::new(|_| 20).play(&mut player, 10_000);
    // 14 s are played first, of what is filmed up to 20 s. The segments up to there come at once, the next ones every 2 s.
    let asked: Vec<_> = player
        .segments()
        .iter()
        .map(|one| (one.segment.unwrap(), one.asked_at.since(Time::ZERO).as_millis()))
        .collect();
    assert_eq!(asked[..6], [(7, 0), (8, 100), (9, 200), (10, 2000), (11, 4000), (12, 6000)]);
    let start = player.events()[0];
    assert_eq!((start.position, start.latency), (ms(14_000), Some(ms(6100))));
    // It was 100 ms behind its target, and has caught up.
    let last = player.events().last().unwrap();
    assert!(last.latency.unwrap() < ms(6050) && last.what == What::Rate, "{last:?}");
    assert_eq!(player.spans().stalled, ms(0));
}

#[test]
fn chunks_are_played_while_the_rest_is_filmed() {
    let mut settings = live(Some(ms(500)));
    settings.live.as_mut().unwrap().target = ms(1000);
    let mut player = player(&video(100, &[2000]), Listed::of(&[0]), settings);
    player.start(at(0));
    let Some(Action::Ask(ask)) = player.poll(at(0)) else { panic!("nothing is asked for") };
    // The segment from 18 to 20 s is there as a whole. Playback begins at 19 s, with the third of its chunks.
    assert_eq!((ask.id, ask.chunks), (0, None));
    player.on_first_byte(at(10), 0);
    player.on_bytes(at(10), 0, 1499);
    assert_eq!(player.buffer(at(10)), ms(0));
    player.on_bytes(at(11), 0, 1500);
    assert_eq!((player.buffer(at(11)), told(&player)), (ms(500), vec![(11, What::Start, 19_000)]));
    player.on_complete(at(20), 0);
    assert_eq!((player.buffer(at(20)), player.poll(at(20))), (ms(991), None));
    // The next segment is asked for when its first chunk exists.
    assert_eq!(player.wake_at(), Some(at(261)));
    player.advance(at(500));
    let Some(Action::Ask(ask)) = player.poll(at(500)) else { panic!("nothing is asked for") };
    assert_eq!(ask.chunks, Some(Chunks { ready: 1, next: at(1000), every: ms(500), count: 4 }));
}

/// Of 1,002 bytes the first of four chunks has 250, since 250.5 is rounded down.
#[test]
fn a_chunk_is_complete_with_its_last_byte() {
    let mut settings = live(Some(ms(500)));
    settings.live.as_mut().unwrap().target = ms(2000);
    let mut player = player(&video(100, &[1002]), Listed::of(&[0]), settings);
    player.start(at(0));
    assert!(player.poll(at(0)).is_some());
    player.on_first_byte(at(10), 0);
    let buffers = [249, 250, 500, 501, 750, 751, 1001].map(|bytes| {
        player.on_bytes(at(10), 0, bytes);
        player.buffer(at(10)).as_millis()
    });
    assert_eq!(buffers, [0, 500, 500, 1000, 1000, 1500, 1500]);
}

#[test]
fn a_drift_too_large_is_jumped_over() {
    let mut settings = live(None);
    settings.live.as_mut().unwrap().max_drift = Some(ms(3000));
    let mut player = player(&video(100, &[2000]), Listed::of(&[0]), settings);
    // Nothing comes from 5 to 15 s.
    Pipe::new(|now| if (5000..15_000).contains(&now) { 0 } else { 20 }).play(&mut player, 20_000);
    let jumps: Vec<_> = player.events().iter().filter(|event| event.what == What::Seek).collect();
    assert_eq!(jumps.len(), 1);
    assert_eq!(jumps[0].latency, Some(ms(6000)));
    let last = player.events().last().unwrap();
    assert!(last.latency.unwrap() < ms(7000), "{last:?}");
}

#[test]
fn failures_are_tried_again_and_end_a_playback() {
    let mut player = player(&video(3, &[2000]), Listed::of(&[0]), settings());
    player.start(at(0));
    for id in 0..4 {
        assert!(matches!(player.poll(at(id)), Some(Action::Ask(ask)) if ask.id == id as usize));
        assert!(!player.is_over());
        player.on_failure(at(id), id as usize, true);
    }
    assert!(player.is_over());
    assert_eq!((told(&player), player.poll(at(9)), player.wake_at()), (vec![(3, What::End, 0)], None, None));
    assert_eq!(player.spans().start_up, ms(3));
}

#[test]
fn start_up_begins_when_the_viewer_asks() {
    let mut player = player(&video(3, &[2000]), Listed::of(&[0]), settings());
    player.open(at(0));
    player.start(at(300));
    assert!(matches!(player.poll(at(300)), Some(Action::Ask(_))));
    player.on_complete(at(1000), 0);
    player.stop(at(1500));
    let spans = Spans { start_up: ms(1000), played: ms(500), ..Spans::default() };
    assert_eq!((player.spans(), player.viewed().start_up), (spans, Some(ms(1000))));
    assert_eq!(player.played_out_at(), None);
}

/// Only the last segment is underway when the viewer leaves: the player does not have all that it plays.
#[test]
fn a_last_segment_that_is_underway_at_the_end_is_missing() {
    let mut player = player(&video(2, &[2000]), Listed::of(&[0]), settings());
    player.start(at(0));
    for (id, complete) in [(0, true), (1, false)] {
        assert!(matches!(player.poll(at(100)), Some(Action::Ask(ask)) if ask.id == id));
        if complete {
            player.on_complete(at(100), id);
        }
    }
    player.on_bytes(at(900), 1, 1999);
    assert!(!player.has_all());
    player.stop(at(1000));
    assert_eq!((player.segments()[1].outcome, player.has_all()), (Outcome::Cancelled, false));
}

/// A download that a seek cancels at the moment of its last byte has all bytes, and is not in the buffer.
#[test]
fn a_seek_comes_before_what_arrives_with_it() {
    let seeks = vec![(ms(1000), ms(8000))];
    let mut player = player(&video(8, &[2000]), Listed::of(&[0]), Settings { seeks, ..settings() });
    player.start(at(0));
    assert!(matches!(player.poll(at(0)), Some(Action::Ask(_))));
    player.on_first_byte(at(100), 0);
    player.on_complete(at(1000), 0);
    let first = &player.segments()[0];
    assert_eq!((first.outcome, first.bytes), (Outcome::Cancelled, 2000));
    assert_eq!((player.buffer(at(1000)), player.poll(at(1000))), (ms(0), Some(Action::Cancel(0))));
    assert!(matches!(player.poll(at(1000)), Some(Action::Ask(ask)) if ask.id == 1));
    assert_eq!(player.segments()[1].segment, Some(4));
}

/// The sound ends 1 s before the picture in each period: it is silent, and its buffer has no silence in it.
#[test]
fn a_shorter_track_is_silent_until_the_next_period() {
    let period = || {
        let mut sound = track(Kind::Audio, 2, &[100]);
        sound.durations[1] = ms(1000);
        Period { tracks: vec![track(Kind::Video, 2, &[2000]), sound] }
    };
    let presentation = Arc::new(Presentation { periods: vec![period(), period()] });
    let max_buffer = ms(2000);
    let mut player = player(&presentation, Listed::of(&[0]), Settings { max_buffer, ..settings() });
    Pipe::new(|_| 20).play(&mut player, 20_000);
    assert_eq!(player.spans().played, ms(8000));
    let sound: Vec<_> = player
        .segments()
        .iter()
        .filter(|one| one.kind == Kind::Audio)
        .map(|one| [one.buffer_before, one.buffer_after.unwrap()])
        .collect();
    assert!(sound.iter().flatten().all(|level| *level <= max_buffer), "{sound:?}");
    // The third segment is asked for when 2 s of it have room: at its beginning, after a second of silence.
    assert_eq!(sound[2][0], ms(0));
}

#[test]
fn a_live_presentation_that_is_over_is_not_played() {
    let mut settings = live(None);
    settings.live.as_mut().unwrap().since = ms(60_000);
    let mut player = player(&video(10, &[2000]), Listed::of(&[0]), settings);
    player.start(at(5));
    assert!(player.is_over());
    assert_eq!((told(&player), player.poll(at(5))), (vec![(5, What::End, 20_000)], None));
}

/// A jump within the buffer sets the next time to look at the latency.
#[test]
fn a_jump_within_the_buffer_is_made_once() {
    let mut settings = live(None);
    let options = settings.live.as_mut().unwrap();
    (options.catch_up, options.max_drift) = (0.0, Some(ms(50)));
    let mut player = player(&video(100, &[2000]), Listed::of(&[0]), settings);
    Pipe::new(|_| 20).play(&mut player, 3000);
    let jumps: Vec<_> = player.events().iter().filter(|event| event.what == What::Seek).collect();
    assert_eq!(jumps.len(), 1, "{:?}", player.events());
    assert_eq!(jumps[0].latency, Some(ms(6000)));
}

/// The second segment of the sound has no room, and the picture is there up to the end: there is nothing to wait for.
#[test]
fn playback_begins_when_nothing_more_can_come() {
    let mut sound = track(Kind::Audio, 2, &[100]);
    sound.durations = vec![ms(1000), ms(5000)];
    let tracks = vec![track(Kind::Video, 3, &[2000]), sound];
    let presentation = Arc::new(Presentation { periods: vec![Period { tracks }] });
    let settings = Settings { start_up: ms(3000), max_buffer: ms(5000), until: Some(ms(2000)), ..settings() };
    let mut player = player(&presentation, Listed::of(&[0]), settings);
    Pipe::new(|_| 20).play(&mut player, 20_000);
    assert_eq!(player.spans().played, ms(2000));
}

/// Segments of four chunks of 500 ms, 1 s behind what is filmed. The server gives up the second half of a segment: the picture
/// stands for a second, while time goes on, and the next segment is played from its beginning.
#[test]
fn media_that_never_come_are_missing_and_time_goes_on() {
    let mut settings = live(Some(ms(500)));
    let options = settings.live.as_mut().unwrap();
    (options.target, options.catch_up) = (ms(1000), 0.0);
    let mut player = player(&video(100, &[2000]), Listed::of(&[0]), settings);
    // The position is 19 s: in segment 9, which is there as a whole.
    player.start(at(0));
    let asked = |player: &mut Player, now| match player.poll(at(now)) {
        Some(Action::Ask(ask)) => (ask.id, player.segments()[ask.id].segment.unwrap()),
        other => panic!("{other:?}"),
    };
    assert_eq!(asked(&mut player, 0), (0, 9));
    player.on_first_byte(at(0), 0);
    player.on_complete(at(0), 0);
    player.advance(at(500));
    assert_eq!(asked(&mut player, 500), (1, 10));
    player.on_first_byte(at(500), 1);
    player.on_bytes(at(500), 1, 500);
    player.on_bytes(at(1000), 1, 1000);
    player.on_cut(at(1900), 1);
    assert_eq!(player.buffer(at(1900)), ms(1100), "playback can go on up to the next segment");
    assert_eq!(player.poll(at(1900)), None, "nothing of the next segment was filmed");
    assert_eq!(player.wake_at(), Some(at(2000)));
    player.advance(at(2500));
    assert_eq!(asked(&mut player, 2500), (2, 11));
    player.on_first_byte(at(2600), 2);
    player.on_bytes(at(2600), 2, 500);
    player.advance(at(3400));
    player.on_bytes(at(3400), 2, 1000);
    player.stop(at(3700));
    let expected = [
        (0, What::Start, 19_000),
        (2000, What::Gap, 21_000),
        (3000, What::Resume, 22_000),
        (3700, What::End, 22_700),
    ];
    assert_eq!(told(&player), expected);
    assert_eq!(player.spans(), Spans { played: ms(2700), missing: ms(1000), ..Spans::default() });
    let cut = &player.segments()[1];
    assert_eq!((cut.outcome, cut.bytes, cut.buffer_after), (Outcome::Cut, 1000, Some(ms(100))));
    let viewed = player.viewed();
    assert_eq!(viewed.stalls, [Stall { start: at(2000), length: ms(1000) }]);
    let shown: Vec<_> = viewed.played.iter().map(|one| one.duration).collect();
    assert_eq!(shown, [ms(1000), ms(1000), ms(700)]);
    assert!(viewed.behind.iter().all(|behind| behind.latency == ms(1000)), "{:?}", viewed.behind);
}

/// A gap that is reached while nothing of the next segment is there is followed by a stall; a viewer sees one.
#[test]
fn a_stall_after_a_gap_is_the_same_for_a_viewer() {
    let mut settings = live(Some(ms(500)));
    let options = settings.live.as_mut().unwrap();
    (options.target, options.catch_up) = (ms(1000), 0.0);
    let mut player = player(&video(100, &[2000]), Listed::of(&[0]), settings);
    player.start(at(0));
    assert!(matches!(player.poll(at(0)), Some(Action::Ask(_))));
    player.on_complete(at(0), 0);
    player.advance(at(500));
    assert!(matches!(player.poll(at(500)), Some(Action::Ask(_))));
    player.on_bytes(at(500), 1, 1500);
    player.on_cut(at(900), 1);
    player.advance(at(2500));
    assert!(matches!(player.poll(at(2500)), Some(Action::Ask(_))));
    player.advance(at(4000));
    player.on_bytes(at(4000), 2, 500);
    player.stop(at(4100));
    let expected = [
        (0, What::Start, 19_000),
        (2500, What::Gap, 21_500),
        (3000, What::Stall, 22_000),
        (4000, What::Resume, 22_000),
        (4100, What::End, 22_100),
    ];
    assert_eq!(told(&player), expected);
    assert_eq!(player.viewed().stalls, [Stall { start: at(2500), length: ms(1500) }]);
}
