//! Contention: what the stations sense, and who begins to send next.
//!
//! If all stations hear each other they know from the first frame of an exchange how long it takes, and one clock counts
//! for all of them. After an exchange that has failed those that took part in it wait longer or shorter than others, and
//! count for themselves until the next one begins. A frame so costs the same for any number of stations, except for the
//! search for the next one that sends. Where stations are hidden from each other, each has an ear and a clock of its own.

use super::NEVER;
use super::clock::{Backoff, Clock};
use super::ear::{Ear, Heard};
use super::standard::Standard;

/// The frame that was the first to end an idle time: others sense it only some time after its start.
#[derive(Debug, Clone, Copy)]
struct Onset {
    start: u64,
    /// From when slots counted before it.
    idle_from: u64,
}

impl Onset {
    const NONE: Onset = Onset { start: 0, idle_from: NEVER };

    /// Whether the medium seems to be idle to a station at `now`, since the frame is not sensed yet.
    fn is_missed(&self, now: u64, standard: &Standard) -> bool {
        self.idle_from <= now && now < self.start + standard.sense
    }
}

/// One station.
#[derive(Debug, Clone, Copy)]
struct Own {
    backoff: Backoff,
    /// The last frame that it heard, where not all hear each other.
    onset: Onset,
    /// Whether it counts for itself; its clock, and when it begins to send if it contends, else `NEVER`.
    apart: bool,
    clock: Clock,
    start: u64,
    /// How long its next frame takes at least.
    shortest: u64,
}

/// The slot at which a station begins to send, and the station, in a single number. Slots stay below 2^48 for 80 years.
fn turn(slot: u64, number: u16) -> u64 {
    slot << 16 | u64::from(number)
}
/// The slot of a turn.
fn slot(turn: u64) -> u64 {
    turn >> 16
}
/// The station of a turn.
fn station(turn: u64) -> u16 {
    turn as u16
}

/// When the next station begins to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    pub start: u64,
    /// Before this time no packet arrives that is alone in a data frame.
    pub end: u64,
}

/// The stations of a medium; times in ns.
#[derive(Debug)]
pub(super) struct Contention {
    /// The clock of all that do not count for themselves, and when the frames end that they hear.
    shared: Clock,
    busy_until: u64,
    onset: Onset,
    own: Vec<Own>,
    /// The stations that count for themselves.
    apart: Vec<u16>,
    /// By station its turn, if it contends by the shared clock, else `NEVER`.
    waiting: Vec<u64>,
    /// The least of these.
    first: u64,
    /// For each station those that do not hear it, and what each senses; empty if all hear each other.
    hidden: Vec<Vec<bool>>,
    ears: Vec<Ear>,
}

impl Contention {
    /// The number of stations, and for each those that do not hear it; nothing if all hear each other.
    pub(super) fn new(count: usize, hidden: Vec<Vec<bool>>) -> Contention {
        let apart = !hidden.is_empty();
        let own = Own {
            backoff: Backoff::default(),
            onset: Onset::NONE,
            apart,
            clock: Clock::IDLE,
            start: NEVER,
            shortest: 0,
        };
        Contention {
            shared: Clock::IDLE,
            busy_until: 0,
            onset: Onset::NONE,
            own: vec![own; count],
            apart: if apart { (0..count as u16).collect() } else { Vec::with_capacity(count) },
            waiting: vec![NEVER; count],
            first: NEVER,
            ears: vec![Ear::IDLE; hidden.len()],
            hidden,
        }
    }

    /// Whether all stations hear each other.
    pub(super) fn is_open(&self) -> bool {
        self.hidden.is_empty()
    }
    /// What a station senses; `None` if all hear each other, and what it senses is known.
    pub(super) fn ear(&self, number: u16) -> Option<&Ear> {
        self.ears.get(usize::from(number))
    }

    /// When the next station begins to send.
    /// If all hear each other, no other begins before the first has ended, and of frames that begin together none arrives.
    pub(super) fn next(&self, standard: &Standard) -> Turn {
        let (mut start, mut end) = (NEVER, NEVER);
        if self.first != NEVER {
            start = self.shared.slot(slot(self.first), standard);
            end = start + self.own[usize::from(station(self.first))].shortest;
        }
        for number in &self.apart {
            let own = &self.own[usize::from(*number)];
            if own.start != NEVER {
                start = start.min(own.start);
                end = end.min(own.start + own.shortest);
            }
        }
        Turn { start, end }
    }

    /// Takes the stations that begin to send at `now` out of the contention, in their order. If all hear each other, those
    /// whose turn comes before they sense that frame count as beginning with it: none of these frames arrives.
    pub(super) fn take_beginning(&mut self, now: u64, beginning: &mut Vec<u16>, standard: &Standard) {
        let until = now + if self.is_open() { standard.sense } else { 1 };
        for number in &self.apart {
            let own = &mut self.own[usize::from(*number)];
            if own.start < until {
                own.start = NEVER;
                beginning.push(*number);
            }
        }
        if self.first != NEVER && self.shared.slot(slot(self.first), standard) < until {
            let first = slot(std::mem::replace(&mut self.first, NEVER));
            for turn in &mut self.waiting {
                if slot(*turn) == first {
                    beginning.push(station(std::mem::replace(turn, NEVER)));
                } else {
                    self.first = self.first.min(*turn);
                }
            }
        }
        if beginning.len() > 1 {
            beginning.sort_unstable();
        }
    }

    /// Stops unless each station that contends does so by one clock, and the first turn is the least.
    pub(super) fn check(&self) {
        let first = self.waiting.iter().copied().min().unwrap_or(NEVER);
        assert_eq!(self.first, first, "the first turn is the least of those that wait");
        for (number, (own, turn)) in self.own.iter().zip(&self.waiting).enumerate() {
            assert!(own.start == NEVER || *turn == NEVER, "a station contends by one clock: {number}");
            assert!(own.apart || own.start == NEVER, "who counts for itself has its own start: {number}");
            assert!(!own.apart || *turn == NEVER, "who counts for itself has no turn: {number}");
            assert!(
                *turn == NEVER || usize::from(station(*turn)) == number,
                "a turn names its station: {number}"
            );
            let listed = self.apart.iter().filter(|apart| usize::from(**apart) == number).count();
            assert_eq!(listed, usize::from(own.apart), "who counts for itself is listed once: {number}");
        }
    }

    /// A station waits for its turn by the shared clock.
    fn wait(&mut self, number: u16) {
        let turn = turn(self.own[usize::from(number)].backoff.until, number);
        self.waiting[usize::from(number)] = turn;
        self.first = self.first.min(turn);
    }
    /// It no longer does. Returns whether it did.
    fn leave(&mut self, number: u16) -> bool {
        let turn = std::mem::replace(&mut self.waiting[usize::from(number)], NEVER);
        if turn != NEVER && turn == self.first {
            self.first = self.waiting.iter().copied().fold(NEVER, u64::min);
        }
        turn != NEVER
    }

    /// A frame begins. If all hear each other only the first frame of an exchange makes a difference.
    pub(super) fn begin(&mut self, heard: Heard, receiver: u16, is_first: bool, standard: &Standard) {
        if !self.is_open() {
            return self.begin_hidden(heard, receiver, standard);
        }
        if !is_first {
            return;
        }
        if heard.start < self.busy_until {
            // It collides with another, and nobody can read either.
            self.busy_until = self.busy_until.max(heard.end);
            self.shared.count_from = self.busy_until + standard.eifs;
            return;
        }
        self.shared.count(heard.start, standard);
        self.onset = Onset { start: heard.start, idle_from: self.shared.count_from };
        self.join(heard.start, standard);
        self.busy_until = heard.end;
        self.shared.count_from = heard.announces + standard.ifs;
    }

    /// Those that hear a frame sense it.
    fn begin_hidden(&mut self, heard: Heard, receiver: u16, standard: &Standard) {
        let deaf = &self.hidden[usize::from(heard.from)];
        for (number, (own, ear)) in self.own.iter_mut().zip(&mut self.ears).enumerate() {
            if number == usize::from(heard.from) {
                ear.send(&mut own.clock, heard.start, heard.end, standard);
            } else if !deaf[number] {
                own.clock.count(heard.start, standard);
                if own.clock.count_from <= heard.start {
                    own.onset = Onset { start: heard.start, idle_from: own.clock.count_from };
                }
                ear.hear(&mut own.clock, heard, number == usize::from(receiver), standard);
            } else {
                continue;
            }
            if own.start != NEVER && !own.onset.is_missed(own.start, standard) {
                own.start = own.backoff.end(&own.clock, standard);
            }
        }
    }

    /// Those that count for themselves join the others, whose clock has counted up to `now`.
    fn join(&mut self, now: u64, standard: &Standard) {
        while let Some(number) = self.apart.pop() {
            let own = &mut self.own[usize::from(number)];
            own.clock.count(now, standard);
            own.backoff = own.backoff.counted_by(&self.shared, &own.clock, now);
            own.apart = false;
            if std::mem::replace(&mut own.start, NEVER) != NEVER {
                self.wait(number);
            }
        }
    }

    /// Makes a station count for itself, from this time on.
    fn part(&mut self, number: u16, count_from: u64, standard: &Standard) {
        let is_waiting = self.leave(number);
        let own = &mut self.own[usize::from(number)];
        if !std::mem::replace(&mut own.apart, true) {
            own.clock = self.shared;
            self.apart.push(number);
        }
        own.clock.count_from = count_from;
        if is_waiting {
            own.start = own.backoff.end(&own.clock, standard);
        }
    }

    /// What a station was receiving until `now` had an error.
    pub(super) fn spoil(&mut self, number: u16, now: u64, standard: &Standard) {
        if self.is_open() {
            return self.part(number, now + standard.eifs, standard);
        }
        let own = &mut self.own[usize::from(number)];
        self.ears[usize::from(number)].spoil(&mut own.clock, standard);
        own.renew(standard);
    }
    /// A station waits for a response that does not come.
    pub(super) fn miss(&mut self, number: u16, until: u64, standard: &Standard) {
        if self.is_open() {
            let count_from = self.busy_until.max(until) + standard.ifs;
            if count_from != self.shared.count_from || self.own[usize::from(number)].apart {
                self.part(number, count_from, standard);
            }
            return;
        }
        let own = &mut self.own[usize::from(number)];
        self.ears[usize::from(number)].wait(&mut own.clock, until, standard);
    }

    /// The exchange of a station ends at `now`: it begins a backoff, and contends with a frame that takes at least
    /// `shortest`, if it has one.
    pub(super) fn back_off(
        &mut self,
        number: u16,
        now: u64,
        slots: u64,
        shortest: Option<u64>,
        standard: &Standard,
    ) {
        let own = &mut self.own[usize::from(number)];
        let clock = if own.apart { &own.clock } else { &self.shared };
        own.backoff = Backoff::new(slots, now, clock);
        own.start = NEVER;
        if let Some(shortest) = shortest {
            own.shortest = shortest;
            self.resume(number, standard);
        }
    }

    /// A station that had nothing to send contends with a frame that takes at least `shortest`. `draw` is asked for the
    /// slots of a backoff if it needs a new one.
    pub(super) fn contend(
        &mut self,
        number: u16,
        now: u64,
        shortest: u64,
        standard: &Standard,
        draw: impl FnOnce() -> u64,
    ) {
        let own = &mut self.own[usize::from(number)];
        own.shortest = shortest;
        let onset = if self.hidden.is_empty() { self.onset } else { own.onset };
        let clock = if own.apart { &mut own.clock } else { &mut self.shared };
        let may_send = own.backoff.may_send(now, clock, standard);
        if may_send == Some(true) || may_send.is_none() && onset.is_missed(now, standard) {
            let count_from = clock.count_from;
            self.part(number, count_from, standard);
            self.own[usize::from(number)].start = now;
            return;
        }
        if may_send.is_none() {
            own.backoff = Backoff::new(draw(), now, clock);
        }
        self.resume(number, standard);
    }

    /// A station contends with the backoff that it has.
    fn resume(&mut self, number: u16, standard: &Standard) {
        let own = &mut self.own[usize::from(number)];
        if own.apart {
            own.start = own.backoff.end(&own.clock, standard);
        } else {
            self.wait(number);
        }
    }
}

impl Own {
    /// Updates the start if it contends.
    fn renew(&mut self, standard: &Standard) {
        if self.start != NEVER {
            self.start = self.backoff.end(&self.clock, standard);
        }
    }
}
