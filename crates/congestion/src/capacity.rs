//! The capacity of a path: what a connection takes over from an earlier one, and what it saves for a later one (RFC 9959).

use crate::{
    CarefulResume, InUse, Learned, PathKey, PathStore, Phase, Refusal, Regulator, Resume, RttEstimate, Saved,
    StoreKey, TicketKey, Transition, Trigger,
};
use std::net::IpAddr;
use trace::event::ResumePhase;
use units::{Duration, Time};

/// An observation is passed on again if it has changed by this fraction.
const CHANGE: u64 = 50;

/// The capacity of a connection's path.
pub struct Capacity {
    options: Resume,
    store: PathStore,
    /// The peer's address, and what that is to the checks and to a store by address.
    ip: IpAddr,
    path: PathKey,
    /// The key of the session tickets that this connection issues, if the store is by ticket.
    ticket: Option<TicketKey>,
    /// The date at time zero in milliseconds since 1970.
    epoch_ms: u64,
    /// The initial window in bytes.
    initial_window: u64,
    /// Held while the connection uses a saved capacity.
    in_use: Option<InUse>,
    /// The saved capacity that was taken over, and its key in the store if it comes from there.
    resumed: Option<(Learned, Option<PathKey>)>,
    /// Whether packets beyond the window of slow start were lost, so that the saved capacity is void.
    retreated: bool,
    /// The last observation that was passed on.
    passed_on: Option<Saved>,
    /// When the next observation is saved.
    next_at: Time,
    /// The first and the last packet of the Unvalidated phase.
    unvalidated: Option<(u64, u64)>,
}

impl Capacity {
    /// Begins to observe a path to this address; `None` if the options do not ask for it. `initial_window` is in bytes, and `epoch_ms`
    /// is the date at time zero in milliseconds since 1970.
    pub fn begin(
        options: Resume,
        store: PathStore,
        ip: IpAddr,
        (initial_window, epoch_ms): (u64, u64),
        regulator: &mut Regulator,
    ) -> Option<Box<Capacity>> {
        options.is_on().then(|| {
            regulator.observe();
            Box::new(Capacity {
                path: PathKey::of(ip, options.by_prefix),
                ip,
                ticket: None,
                options,
                store,
                epoch_ms,
                initial_window,
                in_use: None,
                resumed: None,
                retreated: false,
                passed_on: None,
                next_at: Time::ZERO,
                unvalidated: None,
            })
        })
    }

    /// Begins anew on a path to this address.
    pub fn on_new_path(&mut self, ip: IpAddr, regulator: &mut Regulator) {
        regulator.observe();
        (self.ip, self.path) = (ip, PathKey::of(ip, self.options.by_prefix));
        (self.in_use, self.resumed, self.passed_on, self.unvalidated) = (None, None, None, None);
        self.retreated = false;
    }
    /// Begins anew on the same path, because the handshake did.
    pub fn on_restart(&mut self, regulator: &mut Regulator) {
        regulator.observe();
        if let Some((learned, _)) = self.resumed {
            regulator.resume(learned.saved, self.initial_window, self.options.careful);
        }
    }

    /// Names the session tickets that this connection issues, for a store by ticket.
    pub fn set_ticket(&mut self, ticket: TicketKey) {
        self.ticket = Some(ticket).filter(|_| self.options.store == StoreKey::Ticket);
    }

    /// The key of this connection's entry in the store.
    fn key(&self) -> Option<PathKey> {
        match self.options.store {
            StoreKey::Address => Some(self.path),
            StoreKey::Ticket => self.ticket.map(PathKey::Ticket),
            StoreKey::Off => None,
        }
    }

    /// What the sender's own store knows of this path.
    ///
    /// Without the check of the path, it is what was learned last, of whatever path.
    pub fn recall(&self) -> Option<(PathKey, Learned)> {
        if self.options.store != StoreKey::Address {
            return None;
        }
        let known = self.store.get(self.path).map(|learned| (self.path, learned));
        known.or_else(|| self.store.entries().pop().filter(|_| !self.options.checks.path))
    }
    /// What the sender's own store knows of the connection that issued the ticket with this key.
    pub fn recall_ticket(&self, ticket: TicketKey) -> Option<(PathKey, Learned)> {
        let key = Some(PathKey::Ticket(ticket)).filter(|_| self.options.store == StoreKey::Ticket)?;
        self.store.get(key).map(|learned| (key, learned))
    }

    /// Marks a capacity as used that the peer has presented: see [`PathStore::spend`].
    pub fn spend(&self, date_ms: u64, hash: u64, barred: u64) -> bool {
        self.store.spend(date_ms, hash, barred)
    }

    /// Checks a saved capacity, and begins to use it. `key`: its key in the store, if it comes from there.
    pub fn accept(
        &mut self,
        now: Time,
        (key, learned): (Option<PathKey>, Learned),
        regulator: &mut Regulator,
    ) -> Result<(), Refusal> {
        let checks = self.options.checks;
        // RFC 9959 section 3.2: "If the current_remote_endpoint is not the same as one of the saved_remote_endpoints, the
        // sender MUST enter the Normal Phase."
        if checks.path && PathKey::of(learned.ip, self.options.by_prefix) != self.path {
            return Err(Refusal::OtherPath);
        }
        // Section 3.2: "If the LifeTime of the observed CC parameters is exceeded, the CC parameters are not used".
        if checks.lifetime && !learned.is_fresh(self.date_ms(now), self.options.lifetime) {
            return Err(Refusal::Expired);
        }
        // Section 3.2: "If another connection has already started to use the saved_cwnd, the sender MUST enter the Normal
        // Phase."
        if checks.single_use {
            self.in_use = Some(self.store.begin_use(key.unwrap_or(self.path)).ok_or(Refusal::InUse)?);
        }
        self.resumed = Some((learned, key));
        regulator.resume(learned.saved, self.initial_window, self.options.careful);
        Ok(())
    }

    /// Whether a saved capacity was taken over.
    pub fn is_resumed(&self) -> bool {
        self.resumed.is_some()
    }

    fn date_ms(&self, now: Time) -> u64 {
        self.epoch_ms + now.since(Time::ZERO).as_millis()
    }

    /// Saves what is observed, at most once in a round trip unless the connection ends with it (`last`): others may then use what is
    /// saved. Returns an observation to pass on to
    /// the peer: the first, and those that differ from the one before by a fiftieth or more.
    pub fn observe(
        &mut self,
        now: Time,
        regulator: &Regulator,
        rtt: &RttEstimate,
        last: bool,
    ) -> Option<Learned> {
        if last {
            self.in_use = None;
        }
        // What came back is passed on again at once: the peer may have used it up.
        if let Some((learned, _)) = self.resumed.filter(|_| self.passed_on.is_none() && !self.retreated) {
            self.passed_on = Some(learned.saved);
            // The client's next ticket has another key.
            self.ticket.into_iter().for_each(|key| self.store.remember(PathKey::Ticket(key), learned));
            return Some(learned);
        }
        let probes = regulator.resuming().is_some_and(|resuming| resuming.phase() != Phase::Normal);
        if probes || now < self.next_at && !last {
            return None;
        }
        let saved = regulator.observed(rtt, self.initial_window)?;
        self.next_at = now + rtt.smoothed();
        let mut learned = Learned { saved, ip: self.ip, date_ms: self.date_ms(now) };
        if !regulator.has_observed_long()
            && let Some(known) = self.known().filter(|known| known.saved.window > saved.window)
            && known.is_fresh(learned.date_ms, self.options.lifetime)
        {
            learned = known;
        }
        if let Some(key) = self.key() {
            self.store.remember(key, learned);
        }
        let differs = |old: Saved| old.window.abs_diff(learned.saved.window) * CHANGE >= old.window;
        if self.passed_on.is_some_and(|old| !differs(old)) {
            return None;
        }
        self.passed_on = Some(learned.saved);
        Some(learned)
    }
    /// What is known of this path from earlier connections.
    fn known(&self) -> Option<Learned> {
        match self.options.store {
            StoreKey::Address => self.store.get(self.path),
            StoreKey::Ticket | StoreKey::Off => {
                self.resumed.map(|(learned, _)| learned).filter(|_| !self.retreated)
            }
        }
    }

    /// Follows a change of the phase. RFC 9959 section 3.5: at a safe retreat, "the set of saved CC parameters for the path are
    /// deleted".
    pub fn follow(&mut self, change: &Transition) {
        if change.to == Phase::SafeRetreat {
            let resumed = self.resumed.and_then(|(_, key)| key);
            self.key().into_iter().chain(resumed).for_each(|key| self.store.forget(key));
            self.retreated = true;
        }
    }
    /// Notes a packet that was sent in the Unvalidated phase.
    pub fn note_unvalidated(&mut self, number: u64) {
        let first = self.unvalidated.map_or(number, |(first, _)| first);
        self.unvalidated = Some((first, number));
    }
    /// The trace of a change of the phase, or of the beginning.
    pub fn traced(&self, change: Option<&Transition>, regulator: &Regulator) -> ResumePhase {
        let none = Saved { window: 0, rtt: Duration::ZERO };
        let saved = self.resumed.map_or(none, |(learned, _)| learned.saved);
        ResumePhase {
            old: change.map(|change| change.from.name()),
            new: change.map_or(Phase::Reconnaissance, |change| change.to).name(),
            trigger: change.and_then(|change| change.trigger).map(Trigger::name),
            pipe_size: regulator.resuming().map_or(0, CarefulResume::pipe_size),
            unvalidated: self.unvalidated,
            window: regulator.window(),
            ssthresh: regulator.controller().ssthresh(),
            saved: (saved.window, saved.rtt),
        }
    }
}
