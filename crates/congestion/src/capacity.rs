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
            self.resume(learned, regulator);
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
        // RFC 9959-3.2-3: "If the Remote Endpoint is not the same as any saved_remote_endpoint".
        if checks.path && PathKey::of(learned.ip, self.options.by_prefix) != self.path {
            return Err(Refusal::OtherPath);
        }
        // RFC 9959-3.2-4: "If the Lifetime of the observed CC parameters is exceeded, [...] the saved CC parameters are deleted".
        if checks.lifetime && !learned.is_fresh(self.date_ms(now), self.options.lifetime) {
            key.into_iter().for_each(|key| self.store.forget(key));
            return Err(Refusal::Expired);
        }
        // RFC 9959-3.2-2: "If another connection has already started to use the saved_cwnd".
        if checks.single_use {
            self.in_use = Some(self.store.begin_use(key.unwrap_or(self.path)).ok_or(Refusal::InUse)?);
        }
        self.resumed = Some((learned, key));
        self.resume(learned, regulator);
        Ok(())
    }
    fn resume(&self, learned: Learned, regulator: &mut Regulator) {
        let end_ms = learned.date_ms.saturating_add(self.options.lifetime.as_millis());
        let end = Time::from_nanos(end_ms.saturating_sub(self.epoch_ms).saturating_mul(1_000_000));
        let expires_at = Some(end).filter(|_| self.options.checks.lifetime);
        regulator.resume((learned.saved, expires_at), self.initial_window, self.options.careful);
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
            // It may be of another address, if the path is a prefix or is not checked. What is passed on vouches for the address that it
            // is sent to, and for no other (RFC 9000 section 8.1.3).
            let learned = Learned { ip: self.ip, ..learned };
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
            learned = Learned { ip: self.ip, ..known };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regulator::tests::regulator;
    use crate::testing::{arguments, at};
    use crate::{Acked, Limit, RESUMPTIONS, SentState};
    use units::parameter::Value;

    const RTT: Duration = Duration::from_millis(600);
    const INITIAL_WINDOW: u64 = 10_000;
    /// The date at time zero.
    const EPOCH_MS: u64 = 1_700_000_000_000;
    const HOUR_MS: u64 = 3_600_000;
    const TICKET: TicketKey = [7; 16];

    fn ip(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }
    fn key(last: u8) -> PathKey {
        PathKey::of(ip(last), false)
    }
    /// What an earlier connection to this address has learned half an hour before time zero.
    fn learned(last: u8) -> Learned {
        Learned { saved: Saved { window: 300_000, rtt: RTT }, ip: ip(last), date_ms: EPOCH_MS - HOUR_MS / 2 }
    }

    /// One connection with an initial window of ten packets of 1000 bytes.
    struct One {
        capacity: Box<Capacity>,
        regulator: Regulator,
        rtt: RttEstimate,
    }

    impl One {
        /// To this address, with these options of the row `careful`, which have a lifetime of an hour.
        fn new(store: &PathStore, last: u8, changes: &[(&'static str, Value)]) -> One {
            let row = RESUMPTIONS.iter().find(|row| row.name == "careful").unwrap();
            let mut options = (row.build)(&arguments(row.parameters, changes));
            options.lifetime = Duration::from_millis(HOUR_MS);
            let (mut regulator, _) = regulator();
            let dates = (INITIAL_WINDOW, EPOCH_MS);
            let capacity = Capacity::begin(options, store.clone(), ip(last), dates, &mut regulator).unwrap();
            One { capacity, regulator, rtt: RttEstimate::new(RTT) }
        }
        /// Sends this many bytes at this time in ms, which are acknowledged 600 ms later.
        fn transfer(&mut self, from: u64, bytes: u64) {
            let now = at(from + RTT.as_millis());
            self.rtt.update(RTT, Duration::ZERO);
            let state = self.regulator.before_sent(at(from), bytes, 0);
            self.regulator.on_sent(at(from), bytes, bytes, &state);
            let mut acked = Acked::default();
            acked.count(bytes);
            acked.saw(at(from));
            self.regulator.begin_ack(bytes);
            self.regulator.on_delivered(now, bytes, at(from), &state);
            self.regulator.end_ack(now, &acked, 0, &self.rtt);
        }
        /// What is saved at this time in ms.
        fn observe(&mut self, now: u64, last: bool) -> Option<Learned> {
            self.capacity.observe(at(now), &self.regulator, &self.rtt, last)
        }
        fn accept(&mut self, now: u64, known: (Option<PathKey>, Learned)) -> Result<(), Refusal> {
            self.capacity.accept(at(now), known, &mut self.regulator)
        }
        /// The window is full.
        fn jump(&mut self, now: u64) -> Option<Phase> {
            self.regulator.jump(at(now), Limit::Window, INITIAL_WINDOW);
            self.follow()
        }
        fn follow(&mut self) -> Option<Phase> {
            let change = self.regulator.next_transition()?;
            self.capacity.follow(&change);
            Some(change.to)
        }
    }

    fn flag(name: &'static str, on: bool) -> (&'static str, Value) {
        (name, Value::Flag(on))
    }
    fn word(name: &'static str, word: &str) -> (&'static str, Value) {
        (name, Value::Text(word.to_owned()))
    }

    /// 300,000 bytes that are acknowledged in a round trip are the capacity.
    #[test]
    fn a_store_by_address_knows_the_path_again() {
        let store = PathStore::default();
        let mut first = One::new(&store, 1, &[]);
        assert_eq!((first.capacity.recall(), first.observe(0, false)), (None, None), "nothing is known yet");
        first.transfer(0, 300_000);
        let expected = Learned { date_ms: EPOCH_MS + 600, ..learned(1) };
        assert_eq!(first.observe(600, false), Some(expected));
        assert_eq!(store.entries(), [(key(1), expected)]);
        assert_eq!(One::new(&store, 1, &[]).capacity.recall(), Some((key(1), expected)));
        assert_eq!(One::new(&store, 2, &[]).capacity.recall(), None, "another address");
        assert_eq!(One::new(&store, 1, &[word("store", "off")]).capacity.recall(), None);
        assert_eq!(One::new(&store, 1, &[]).capacity.recall_ticket(TICKET), None);
        // A prefix is another key than the address in it.
        let prefix = [word("path", "prefix")];
        assert_eq!(One::new(&store, 1, &prefix).capacity.recall(), None);
        let mut whole = One::new(&store, 1, &prefix);
        whole.transfer(0, 300_000);
        whole.observe(600, false);
        assert!(One::new(&store, 9, &prefix).capacity.recall().is_some());
    }

    #[test]
    fn a_store_by_ticket_is_of_the_connection_that_issued_it() {
        let store = PathStore::default();
        let by_ticket = [word("store", "ticket")];
        let mut first = One::new(&store, 1, &by_ticket);
        first.capacity.set_ticket(TICKET);
        first.transfer(0, 300_000);
        let saved = first.observe(600, false).unwrap();
        assert_eq!(store.entries(), [(PathKey::Ticket(TICKET), saved)]);
        let mut second = One::new(&store, 1, &by_ticket);
        assert_eq!((second.capacity.recall(), second.capacity.recall_ticket([8; 16])), (None, None));
        let (key, known) = second.capacity.recall_ticket(TICKET).unwrap();
        assert_eq!(second.accept(700, (Some(key), known)), Ok(()));
        // What was taken over is at once known under the next ticket.
        second.capacity.set_ticket([9; 16]);
        assert_eq!(second.observe(700, false), Some(saved));
        assert_eq!(store.get(PathKey::Ticket([9; 16])), Some(saved));
        // Without a ticket, or in a store by address, nothing has this key.
        let mut plain = One::new(&store, 1, &by_ticket);
        plain.transfer(0, 300_000);
        assert!(plain.observe(600, false).is_some() && store.len() == 2);
        let mut by_address = One::new(&store, 1, &[]);
        assert_eq!(by_address.capacity.recall_ticket(TICKET), None);
        by_address.capacity.set_ticket([10; 16]);
        by_address.transfer(0, 300_000);
        by_address.observe(600, false);
        assert_eq!(store.get(PathKey::Ticket([10; 16])), None);
    }

    /// RFC 9959-3.2-2, 9959-3.2-3, 9959-3.2-4.
    #[test]
    fn each_check_refuses_and_can_be_switched_off() {
        let old = Learned { date_ms: EPOCH_MS - HOUR_MS - 1, ..learned(1) };
        let future = Learned { date_ms: EPOCH_MS + 1, ..learned(1) };
        let cases = [
            ("check_path", learned(2), Refusal::OtherPath),
            ("check_lifetime", old, Refusal::Expired),
            ("check_lifetime", future, Refusal::Expired),
            ("check_single_use", learned(1), Refusal::InUse),
        ];
        for (check, known, refusal) in cases {
            for on in [true, false] {
                let store = PathStore::default();
                let _user = store.begin_use(key(1)).filter(|_| refusal == Refusal::InUse);
                let mut one = One::new(&store, 1, &[flag(check, on)]);
                let expected = if on { Err(refusal) } else { Ok(()) };
                assert_eq!(one.accept(0, (Some(key(1)), known)), expected, "{check} {on}");
                assert_eq!(one.capacity.is_resumed(), !on, "{check} {on}");
                assert_eq!(one.regulator.resuming().is_some(), !on, "{check} {on}");
                let carried = Learned { date_ms: EPOCH_MS, ..learned(1) };
                assert_eq!(One::new(&store, 3, &[]).accept(0, (None, carried)), Err(Refusal::OtherPath));
            }
        }
        // Another address of the same prefix is the same path.
        let mut one = One::new(&PathStore::default(), 1, &[word("path", "prefix")]);
        assert_eq!(one.accept(0, (None, learned(2))), Ok(()));
    }

    /// Without the check of the path a sender takes what was saved last.
    #[test]
    fn an_unchecked_path_recalls_the_last_one() {
        let store = PathStore::default();
        store.remember(key(2), learned(2));
        store.remember(key(3), learned(3));
        let recall = |on, last| One::new(&store, last, &[flag("check_path", on)]).capacity.recall();
        assert_eq!((recall(true, 1), recall(false, 1)), (None, Some((key(3), learned(3)))));
        assert_eq!(recall(false, 2), Some((key(2), learned(2))), "its own, if there is one");
    }

    /// RFC 9959-3.2-2: one connection at a time, until it has ended.
    #[test]
    fn a_capacity_has_one_user() {
        let store = PathStore::default();
        let (mut first, mut second) = (One::new(&store, 1, &[]), One::new(&store, 1, &[]));
        let known = (Some(key(1)), learned(1));
        assert_eq!((first.accept(0, known), second.accept(0, known)), (Ok(()), Err(Refusal::InUse)));
        // What a peer has presented is of its path.
        assert_eq!(second.accept(0, (None, learned(1))), Err(Refusal::InUse));
        first.observe(0, true);
        assert_eq!(second.accept(0, known), Ok(()));
        drop(second);
        assert_eq!(One::new(&store, 1, &[]).accept(0, known), Ok(()));
        let spent = One::new(&store, 1, &[]);
        assert!(spent.capacity.spend(1, 2, 3) && !spent.capacity.spend(1, 2, 3), "a frame is used once");
    }

    /// RFC 9959-3.2-4: usable at the end of its lifetime, and a millisecond later deleted.
    #[test]
    fn a_capacity_is_deleted_after_its_lifetime() {
        let store = PathStore::default();
        let old = Learned { date_ms: EPOCH_MS - HOUR_MS, ..learned(1) };
        for (now, result, left) in [(0, Ok(()), 1), (1, Err(Refusal::Expired), 0)] {
            store.remember(key(1), old);
            let mut one = One::new(&store, 1, &[]);
            assert_eq!((one.accept(now, (Some(key(1)), old)), store.len()), (result, left), "{now}");
        }
        // One that waits with the jump until then does not jump.
        for (now, to) in [(600, Phase::Unvalidated), (601, Phase::Normal)] {
            let fresh = Learned { date_ms: EPOCH_MS - HOUR_MS + 600, ..learned(1) };
            for check in [true, false] {
                let mut one = One::new(&store, 1, &[flag("check_lifetime", check)]);
                assert_eq!(one.accept(0, (None, fresh)), Ok(()));
                one.transfer(0, INITIAL_WINDOW);
                assert_eq!(one.jump(now), Some(if check { to } else { Phase::Unvalidated }), "{now}");
            }
        }
    }

    /// RFC 9959-3.2-5: above half of the saved RTT, and at most ten times that; the round trip takes 600 ms.
    #[test]
    fn the_rtt_bounds_are_half_and_ten_times() {
        let jump = |saved_ms: u64, check: bool| {
            let saved = Saved { rtt: Duration::from_millis(saved_ms), ..learned(1).saved };
            let mut one = One::new(&PathStore::default(), 1, &[flag("check_rtt", check)]);
            one.accept(0, (None, Learned { saved, ..learned(1) })).unwrap();
            one.transfer(0, INITIAL_WINDOW);
            one.jump(600)
        };
        for (saved_ms, to) in [
            (1201, Phase::Normal),
            (1200, Phase::Normal),
            (1199, Phase::Unvalidated),
            (60, Phase::Unvalidated),
            (59, Phase::Normal),
        ] {
            assert_eq!(jump(saved_ms, true), Some(to), "{saved_ms} ms");
            assert_eq!(jump(saved_ms, false), Some(Phase::Unvalidated), "{saved_ms} ms, unchecked");
        }
    }

    /// RFC 9959-3.2-1, and the option that leaves this check out.
    #[test]
    fn the_initial_window_must_be_acknowledged_without_congestion() {
        for (check, to) in [(true, None), (false, Some(Phase::Unvalidated))] {
            let of = || {
                let mut one = One::new(&PathStore::default(), 1, &[flag("check_initial_window", check)]);
                one.accept(0, (None, learned(1))).unwrap();
                one
            };
            let mut few = of();
            few.transfer(0, INITIAL_WINDOW - 1);
            assert_eq!(few.jump(600), to, "{check}");
            let mut lossy = of();
            lossy.transfer(0, INITIAL_WINDOW);
            lossy.regulator.on_lost(1000, at(1), &SentState::default());
            lossy.regulator.end_losses(at(600), 0);
            assert_eq!(lossy.follow(), check.then_some(Phase::Normal));
            assert_eq!(lossy.jump(600), to, "{check}");
        }
    }

    /// Section 3.1: "less than four times the Initial Window".
    #[test]
    fn a_small_capacity_is_not_saved() {
        for (bytes, saved) in [(4 * INITIAL_WINDOW - 100, 0), (4 * INITIAL_WINDOW + 100, 1)] {
            let store = PathStore::default();
            let mut one = One::new(&store, 1, &[]);
            one.transfer(0, bytes);
            assert_eq!((one.observe(600, true).is_some(), store.len()), (saved == 1, saved), "{bytes}");
        }
    }

    /// RFC 9959 section 3.5: "The set of saved CC parameters for the path are deleted".
    #[test]
    fn a_retreat_voids_the_capacity() {
        for by_ticket in [false, true] {
            let store = PathStore::default();
            let (key, known) = match by_ticket {
                false => (key(1), word("store", "address")),
                true => (PathKey::Ticket(TICKET), word("store", "ticket")),
            };
            store.remember(key, learned(1));
            let mut one = One::new(&store, 1, &[known]);
            one.accept(0, (Some(key), learned(1))).unwrap();
            one.transfer(0, INITIAL_WINDOW);
            assert_eq!((one.jump(600), store.len()), (Some(Phase::Unvalidated), 1));
            one.regulator.on_lost(1000, at(1), &SentState::default());
            one.regulator.end_losses(at(700), 0);
            assert_eq!((one.follow(), store.len()), (Some(Phase::SafeRetreat), 0), "{by_ticket}");
            assert_eq!(one.observe(701, true), None, "nothing is saved or passed on in a retreat");
            assert!(store.is_empty());
            // Nor does the void one make a later observation larger.
            one.transfer(700, 48_000);
            assert_eq!(one.follow(), Some(Phase::Normal));
            assert_eq!(one.observe(1300, true).unwrap().saved.window, 48_000, "{by_ticket}");
        }
    }

    /// Section 4.1: a short connection that found less does not replace what is known, unless that has expired.
    #[test]
    fn a_short_connection_does_not_lower_what_is_known() {
        for (age_ms, window) in [(HOUR_MS - 600, 300_000), (HOUR_MS - 599, 48_000)] {
            let store = PathStore::default();
            store.remember(key(1), Learned { date_ms: EPOCH_MS - age_ms, ..learned(1) });
            let mut one = One::new(&store, 1, &[]);
            one.transfer(0, 48_000);
            let saved = one.observe(600, true).unwrap();
            assert_eq!((saved.saved.window, store.get(key(1))), (window, Some(saved)), "{age_ms}");
        }
    }

    /// RFC 9000 section 8.1.3: a token validates the address in it, so that it is the one to which the token is sent.
    #[test]
    fn what_is_passed_on_is_of_the_address_in_use() {
        for (option, value) in
            [("path", Value::Text("prefix".to_owned())), ("check_path", Value::Flag(false))]
        {
            let store = PathStore::default();
            let mut one = One::new(&store, 1, &[(option, value.clone())]);
            assert_eq!(one.accept(0, (None, learned(2))), Ok(()));
            assert_eq!(one.observe(0, false), Some(learned(1)), "what came back");
            let mut short = One::new(&store, 1, &[(option, value)]);
            let path = short.capacity.path;
            store.remember(path, learned(2));
            short.transfer(0, 48_000);
            assert_eq!(short.observe(600, false), Some(learned(1)), "what is known");
        }
    }

    /// Once in a round trip, and to the peer only if it has changed by a fiftieth.
    #[test]
    fn an_observation_is_passed_on_when_it_has_changed() {
        let store = PathStore::default();
        let mut one = One::new(&store, 1, &[]);
        one.transfer(0, 99_000);
        assert_eq!(one.observe(600, false).unwrap().saved.window, 99_000);
        one.transfer(700, 198_000);
        assert_eq!(one.observe(1199, false), None, "a round trip has not passed");
        assert_eq!(one.observe(1300, false).unwrap().saved.window, 198_000);
        one.transfer(1400, 201_900);
        assert_eq!(one.observe(2000, false), None, "less than a fiftieth");
        assert_eq!(store.get(key(1)).unwrap().saved.window, 201_900, "but it is saved");
        one.transfer(2100, 202_200);
        assert_eq!(one.observe(2700, false).unwrap().saved.window, 202_200);
    }

    #[test]
    fn a_new_path_is_learned_anew() {
        let store = PathStore::default();
        let mut one = One::new(&store, 1, &[]);
        one.accept(0, (Some(key(1)), learned(1))).unwrap();
        one.capacity.on_new_path(ip(2), &mut one.regulator);
        assert!(!one.capacity.is_resumed() && store.begin_use(key(1)).is_some(), "the old one is free");
        assert_eq!(one.accept(0, (Some(key(1)), learned(1))), Err(Refusal::OtherPath));
        one.regulator.begin_anew(at(0), crate::regulator::tests::controller(), crate::Pacer::new(1000, 2, 1));
        one.transfer(0, 99_000);
        assert_eq!(one.observe(600, true).unwrap().ip, ip(2));
        assert_eq!(store.entries().iter().map(|(path, _)| *path).collect::<Vec<_>>(), [key(2)]);
    }

    /// A handshake that begins anew, after Retry, resumes again.
    #[test]
    fn a_restart_resumes_again() {
        let mut one = One::new(&PathStore::default(), 1, &[]);
        one.capacity.on_restart(&mut one.regulator);
        assert!(one.regulator.resuming().is_none());
        one.accept(0, (None, learned(1))).unwrap();
        one.regulator.begin_anew(at(0), crate::regulator::tests::controller(), crate::Pacer::new(1000, 2, 1));
        assert!(one.regulator.resuming().is_none());
        one.capacity.on_restart(&mut one.regulator);
        assert_eq!(one.regulator.resuming().unwrap().saved(), learned(1).saved);
    }
}
