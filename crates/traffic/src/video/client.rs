//! The client: a player on a web session.

use ::video::player::{Action, Ask, Chunks, Player};
use http::Priority;
use transport::{Application, Event, Progress, Report, Transport};
use units::{Duration, Rate, Size, Time};
use web::{Discard, Failure, Request, WebClient, Windows};

/// The server name in requests.
const AUTHORITY: &str = "server";
/// The maximum number of concurrent requests: two for each track.
const CONCURRENCY: usize = 4;
/// The parts of a segment that a server is asked to pace.
const PART: u64 = 16_384;

/// The pace that the server is asked for, as a multiple of a segment's bitrate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace(pub(super) f64);

/// A player, and the session with its server.
#[derive(Debug)]
pub(super) struct VideoClient {
    web: WebClient,
    player: Player,
    is_incremental: bool,
    pace: Option<Pace>,
    /// How long after a chunk was filmed the server gives up its segment.
    deadline: Option<Duration>,
    /// The downloads that go on. The player and the session count them alike.
    underway: Vec<usize>,
    is_connected: bool,
    has_ended: bool,
}

impl VideoClient {
    pub(super) fn new(
        player: Player,
        is_incremental: bool,
        pace: Option<Pace>,
        deadline: Option<Duration>,
        windows: Windows,
    ) -> VideoClient {
        VideoClient {
            web: WebClient::session(AUTHORITY, CONCURRENCY, Box::new(Discard)).with_windows(windows),
            player,
            is_incremental,
            pace,
            deadline,
            underway: Vec::new(),
            is_connected: true,
            has_ended: false,
        }
    }

    /// Tells the player how its downloads go, and does what it wants.
    fn turn(&mut self, now: Time, transport: &mut dyn Transport) {
        loop {
            // What has come counts, even for what is cancelled now.
            self.tell(now);
            self.player.advance(now);
            let mut has_acted = false;
            while let Some(action) = self.player.poll(now) {
                has_acted = true;
                match action {
                    Action::Ask(ask) => self.ask(now, &ask, transport),
                    Action::Cancel(id) => {
                        self.underway.retain(|other| *other != id);
                        self.web.cancel(now, id, transport);
                    }
                }
            }
            // Only an action can bring news at the same time.
            if !has_acted {
                break;
            }
        }
        if self.player.is_over() && !self.has_ended {
            self.has_ended = true;
            self.web.end(now, transport);
        }
    }

    /// Tells the player what has come.
    fn tell(&mut self, now: Time) {
        let mut at = 0;
        while let Some(id) = self.underway.get(at).copied() {
            let (result, told) = (&self.web.results()[id], &self.player.segments()[id]);
            let (bytes, is_more) = (result.bytes, result.bytes > told.bytes);
            if result.first_at.is_some() && told.first_at.is_none() {
                self.player.on_first_byte(now, id);
            }
            if result.finished_at.is_some() {
                let is_whole = result.is_complete() && result.status == Some(200);
                self.underway.remove(at);
                if is_whole {
                    self.player.on_complete(now, id);
                } else if self.deadline.is_some() && matches!(result.failure, Some(Failure::Reset(_))) {
                    self.player.on_bytes(now, id, bytes);
                    self.player.on_cut(now, id);
                } else {
                    self.player.on_bytes(now, id, bytes);
                    // Over HTTP/1.1 a connection may be lost alone: the next request opens another one.
                    self.player.on_failure(now, id, self.is_connected);
                }
                continue;
            }
            if is_more {
                self.player.on_bytes(now, id, bytes);
            }
            at += 1;
        }
    }

    fn ask(&mut self, now: Time, ask: &Ask, transport: &mut dyn Transport) {
        let mut path = format!("/{}", ask.size);
        let pace = self.pace.filter(|_| !ask.duration.is_zero());
        if let Some(Chunks { ready, next, every, count }) = ask.chunks {
            let (first, every) = (next.as_nanos(), every.as_nanos());
            path += &format!("?ready={ready}&first={first}&every={every}&parts={count}");
            if let Some(deadline) = self.deadline {
                path += &format!("&deadline={}", deadline.as_nanos());
            }
        } else if let Some(Pace(multiple)) = pace {
            let bits = (Rate::of(Size::from_bytes(ask.size), ask.duration).as_bits_per_sec() as f64
                * multiple) as u64;
            let parts = ask.size.div_ceil(PART).max(1);
            let every =
                Rate::from_bits_per_sec(bits.max(1)).time_for(Size::from_bytes(ask.size.div_ceil(parts)));
            path += &format!("?every={}&parts={parts}", every.as_nanos());
        }
        let priority = Priority { urgency: ask.urgency, incremental: self.is_incremental };
        let request = self.web.ask(now, Request { priority, ..Request::get(path) }, transport);
        debug_assert_eq!(request, ask.id);
        self.underway.push(request);
    }
}

impl Application for VideoClient {
    fn on_open(&mut self, now: Time) {
        self.player.open(now);
    }

    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport) {
        self.web.on_event(now, event, transport);
        match event {
            Event::EarlyDataReady | Event::Connected => self.player.start(now),
            Event::Ended => self.is_connected = false,
            _ => {}
        }
        self.turn(now, transport);
        if !self.is_connected {
            self.player.stop(now);
        }
    }

    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        self.web.on_wake(now, transport);
        self.turn(now, transport);
    }

    fn wake_at(&self) -> Option<Time> {
        [self.web.wake_at(), self.player.wake_at()].into_iter().flatten().min()
    }

    /// A video is complete when the last byte that its player wants has come; it is played after that.
    fn progress(&self) -> Progress {
        let progress = self.web.progress();
        let finished_at = progress.last_at.or_else(|| self.player.played_out_at());
        Progress { finished_at: finished_at.filter(|_| self.player.has_all()), ..progress }
    }

    fn report(&mut self, now: Time) -> Report {
        self.player.stop(now);
        let streams: Vec<_> = self.web.results().iter().map(|result| result.stream).collect();
        let playback = Some(Box::new(super::report::playback(&self.player, &streams)));
        Report { progress: self.progress(), playback, ..Report::default() }
    }

    fn no_error(&self) -> u64 {
        self.web.no_error()
    }
}
