//! Contention: what the stations sense, and who begins to send next.
//!
//! Stations that take part in nothing sense the same: one ear counts for all of them. Those that send or receive, or
//! have done so last, sense for themselves until a frame begins after which they would sense the same again. A frame so
//! costs the same for any number of stations, except for the search for the next one that sends. Where stations are
//! hidden from each other, each senses for itself.

use super::NEVER;
use super::ear::{Backoff, Ear, Heard};
use super::standard::Standard;

/// One station.
#[derive(Debug, Clone, Copy)]
struct Own {
    backoff: Backoff,
    /// Whether it senses for itself; what it senses, and when it begins to send if it contends, else `NEVER`.
    apart: bool,
    ear: Ear,
    start: u64,
    /// How long its next frame takes at least.
    shortest: u64,
}

/// The stations of a medium; times in ns.
#[derive(Debug)]
pub(super) struct Contention {
    /// What a station senses that takes part in nothing.
    bystander: Ear,
    own: Vec<Own>,
    /// The stations that sense for themselves.
    apart: Vec<u16>,
    /// By station the slot at which it begins to send, if it contends and senses what all sense, else `NEVER`.
    waiting: Vec<u64>,
    /// The least of these, and a station that has it.
    first: (u64, u16),
    /// For each station those that do not hear it; empty if all hear each other.
    hidden: Vec<Vec<bool>>,
}

impl Contention {
    /// So many stations, and for each those that do not hear it; nothing if all hear each other.
    pub(super) fn new(count: usize, hidden: Vec<Vec<bool>>) -> Contention {
        let apart = !hidden.is_empty();
        let own = Own { backoff: Backoff::default(), apart, ear: Ear::IDLE, start: NEVER, shortest: 0 };
        Contention {
            bystander: Ear::IDLE,
            own: vec![own; count],
            apart: if apart { (0..count as u16).collect() } else { Vec::with_capacity(count) },
            waiting: vec![NEVER; count],
            first: (NEVER, 0),
            hidden,
        }
    }

    /// Whether all stations hear each other.
    pub(super) fn is_open(&self) -> bool {
        self.hidden.is_empty()
    }
    /// What a station senses.
    pub(super) fn ear(&self, number: u16) -> &Ear {
        let own = &self.own[usize::from(number)];
        if own.apart { &own.ear } else { &self.bystander }
    }

    /// When the next station begins to send, and before when no packet arrives that is alone in a data frame.
    /// If all hear each other, no other begins before the first has ended, and of frames that begin together none arrives.
    pub(super) fn next(&self, standard: &Standard) -> (u64, u64) {
        let (mut start, mut end) = (NEVER, NEVER);
        let (until, first) = self.first;
        if until != NEVER {
            start = self.bystander.slot(until, standard);
            end = start + self.own[usize::from(first)].shortest;
        }
        for number in &self.apart {
            let own = &self.own[usize::from(*number)];
            if own.start != NEVER {
                start = start.min(own.start);
                end = end.min(own.start + own.shortest);
            }
        }
        (start, end)
    }

    /// Takes the stations that begin to send at `now` out of the contention, in their order.
    pub(super) fn take_beginning(&mut self, now: u64, beginning: &mut Vec<u16>, standard: &Standard) {
        for number in &self.apart {
            let own = &mut self.own[usize::from(*number)];
            if own.start == now {
                own.start = NEVER;
                beginning.push(*number);
            }
        }
        while self.first.0 != NEVER && self.bystander.slot(self.first.0, standard) == now {
            let first = self.first.1;
            self.waiting[usize::from(first)] = NEVER;
            beginning.push(first);
            self.find_first();
        }
        if beginning.len() > 1 {
            beginning.sort_unstable();
        }
    }

    fn find_first(&mut self) {
        let (mut least, mut first) = (NEVER, 0);
        for (number, until) in self.waiting.iter().enumerate() {
            if *until < least {
                (least, first) = (*until, number);
            }
        }
        self.first = (least, first as u16);
    }

    /// A frame begins. That it begins an exchange all hear; if all hear each other they know from it until when the
    /// medium is used, and frames that follow matter to the receiver only.
    pub(super) fn begin(&mut self, heard: Heard, receiver: u16, is_first: bool, standard: &Standard) {
        self.part(heard.from, standard);
        let sender = &mut self.own[usize::from(heard.from)];
        sender.ear.send(heard.start, heard.end, standard);
        sender.renew(standard);
        if self.is_open() {
            self.part(receiver, standard);
            if is_first {
                self.bystander.hear(heard, false, standard);
                self.spread(heard, receiver, standard);
            } else {
                self.own[usize::from(receiver)].hear(heard, true, standard);
            }
            return;
        }
        let deaf = &self.hidden[usize::from(heard.from)];
        for (number, own) in self.own.iter_mut().enumerate() {
            if number != usize::from(heard.from) && !deaf[number] {
                own.hear(heard, number == usize::from(receiver), standard);
            }
        }
    }

    /// Those that sense for themselves hear a frame. The ones that sense what all do afterwards no longer do so.
    fn spread(&mut self, heard: Heard, receiver: u16, standard: &Standard) {
        let mut at = 0;
        while let Some(number) = self.apart.get(at).copied() {
            let own = &mut self.own[usize::from(number)];
            if number != heard.from {
                own.hear(heard, number == receiver, standard);
            }
            if !own.ear.agrees(&self.bystander, heard.start) {
                at += 1;
                continue;
            }
            own.apart = false;
            own.backoff = own.backoff.counted_by(&self.bystander, &own.ear, heard.start);
            if std::mem::replace(&mut own.start, NEVER) != NEVER {
                let until = own.backoff.until;
                self.wait(number, until);
            }
            self.apart.swap_remove(at);
        }
    }

    /// Makes a station sense for itself.
    #[inline]
    fn part(&mut self, number: u16, standard: &Standard) {
        if !self.own[usize::from(number)].apart {
            self.split(number, standard);
        }
    }
    #[inline(never)]
    fn split(&mut self, number: u16, standard: &Standard) {
        let at = usize::from(number);
        let own = &mut self.own[at];
        (own.apart, own.ear) = (true, self.bystander);
        self.apart.push(number);
        if std::mem::replace(&mut self.waiting[at], NEVER) != NEVER {
            own.start = own.backoff.end(&own.ear, standard);
            if number == self.first.1 {
                self.find_first();
            }
        }
    }

    fn wait(&mut self, number: u16, until: u64) {
        self.waiting[usize::from(number)] = until;
        if until < self.first.0 {
            self.first = (until, number);
        }
    }

    /// What a station was receiving had an error.
    pub(super) fn spoil(&mut self, number: u16, standard: &Standard) {
        self.part(number, standard);
        let own = &mut self.own[usize::from(number)];
        own.ear.spoil(standard);
        own.renew(standard);
    }
    /// A station waits for a response that does not come.
    pub(super) fn miss(&mut self, number: u16, until: u64, standard: &Standard) {
        self.part(number, standard);
        self.own[usize::from(number)].ear.wait(until, standard);
    }

    /// The exchange of a station ends at `now`: it begins a backoff, and contends with a frame that takes at least
    /// `shortest`, if it has one.
    pub(super) fn back_off(
        &mut self,
        number: u16,
        (now, slots): (u64, u64),
        shortest: Option<u64>,
        standard: &Standard,
    ) {
        self.part(number, standard);
        let own = &mut self.own[usize::from(number)];
        own.backoff = Backoff::new(slots, now, &own.ear);
        own.start = NEVER;
        if let Some(shortest) = shortest {
            own.shortest = shortest;
            own.start = own.backoff.end(&own.ear, standard);
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
        let ear = if own.apart { &mut own.ear } else { &mut self.bystander };
        match own.backoff.may_send(now, ear, standard) {
            Some(true) => {
                self.part(number, standard);
                self.own[usize::from(number)].start = now;
                return;
            }
            Some(false) => {}
            None => own.backoff = Backoff::new(draw(), now, ear),
        }
        if own.apart {
            own.start = own.backoff.end(&own.ear, standard);
        } else {
            let until = own.backoff.until;
            self.wait(number, until);
        }
    }
}

impl Own {
    fn hear(&mut self, heard: Heard, mine: bool, standard: &Standard) {
        self.ear.hear(heard, mine, standard);
        self.renew(standard);
    }
    /// Updates the start if it contends.
    fn renew(&mut self, standard: &Standard) {
        if self.start != NEVER {
            self.start = self.backoff.end(&self.ear, standard);
        }
    }
}
