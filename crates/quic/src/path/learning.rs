//! What a connection learns of the capacity of its path, and how it uses what an earlier one learned (RFC 9959).

use super::{PathOutput, Paths};
use crate::address_token::Presented;
use crate::bdp_frame::Opened;
use crate::recovery::Recovery;
use congestion::{Capacity, Learned, Limit, PathKey, PathStore, Refusal, StoreKey, TicketKey};
use units::Time;
use wire::Side;

/// What is known of paths when a connection begins.
pub(crate) struct KnownPaths {
    /// What the endpoint knows.
    pub store: PathStore,
    /// At a server: what the client presents of its own.
    pub presented: Option<Presented>,
}

impl Paths {
    /// Whether anything is learned of the path in use.
    #[inline]
    pub(crate) fn learns(&self) -> bool {
        self.current.capacity.is_some()
    }

    /// Begins to observe the path, if the options ask for it, and to use what the store knows of it.
    ///
    /// `ticket`: the key of the tickets that a server issues.
    pub(crate) fn begin_learning(
        &mut self,
        now: Time,
        KnownPaths { store, presented }: KnownPaths,
        ticket: TicketKey,
        context: &tls::Context,
    ) {
        let path = &mut self.current;
        let first = Recovery::setup(&self.config, 0).initial_window;
        let epoch_ms = context.date(Time::ZERO).as_millis() as u64;
        let (mut resume, ip) = (self.config.resume, path.route.remote.ip());
        if self.side == Side::Client && resume.store == StoreKey::Ticket {
            // A client knows its servers by their addresses.
            resume.store = StoreKey::Address;
        }
        path.capacity = Capacity::begin(resume, store, ip, (first, epoch_ms), path.recovery.regulator());
        let Some(capacity) = &mut path.capacity else { return };
        capacity.set_ticket(ticket);
        if let Some((key, learned)) = capacity.recall() {
            self.take_over(now, "store", Ok((Some(key), learned)));
        }
        if let Some(presented) = presented.filter(|_| resume.token) {
            self.take_over(now, "token", presented.map(|learned| (None, learned)));
        }
    }

    /// The client resumes a ticket with this key.
    pub(crate) fn recall_ticket(&mut self, now: Time, key: TicketKey) {
        let known = self.current.capacity.as_ref().and_then(|capacity| capacity.recall_ticket(key));
        if let Some((key, learned)) = known {
            self.take_over(now, "store", Ok((Some(key), learned)));
        }
    }

    /// The client presents a capacity in a BDP_FRAME with this date of issue.
    pub(crate) fn on_bdp(&mut self, now: Time, opened: Opened, date_ms: u64) {
        let Some(capacity) = self.current.capacity.as_ref().filter(|capacity| !capacity.is_resumed()) else {
            return;
        };
        let known = match opened.hashes {
            Some((hash, barred)) if !capacity.spend(date_ms, hash, barred) => Err(Refusal::Replayed),
            _ => opened.learned.map(|learned| (None, learned)),
        };
        self.take_over(now, "bdp_frame", known);
    }

    /// Uses a saved capacity that came by this carrier, unless there is one in use or a check fails.
    pub(crate) fn take_over(
        &mut self,
        now: Time,
        carrier: &'static str,
        known: Result<(Option<PathKey>, Learned), Refusal>,
    ) {
        let path = &mut self.current;
        let Some(capacity) = path.capacity.as_mut().filter(|capacity| !capacity.is_resumed()) else { return };
        let accepted = known.and_then(|known| capacity.accept(now, known, path.recovery.regulator()));
        match accepted {
            Ok(()) => self.stats.capacities_accepted += 1,
            Err(_) => self.stats.capacities_refused += 1,
        }
        let result = accepted.map_or_else(Refusal::name, |()| "accepted");
        self.outputs.push(PathOutput::SavedPath { carrier, result });
        if accepted.is_ok() {
            let begun = capacity.traced(None, path.recovery.regulator());
            self.outputs.push(PathOutput::ResumePhase(Box::new(begun)));
        }
    }

    /// More data waits than this limit admits: a saved capacity may be tried.
    #[cold]
    pub(crate) fn jump(&mut self, now: Time, limit: Limit) {
        self.current.recovery.jump(now, limit);
        self.follow_phases();
    }

    /// Saves what was learned, after an acknowledgement or at the end.
    #[cold]
    pub(crate) fn learn(&mut self, now: Time, last: bool) {
        self.follow_phases();
        let path = &mut self.current;
        // A token with a capacity validates the address in it: RFC 9000 section 8.1.3.
        if !path.route.is_validated() {
            return;
        }
        if let Some(capacity) = &mut path.capacity {
            let learned = path.recovery.save(now, capacity, last);
            self.outputs.extend(learned.map(PathOutput::Learned));
        }
    }

    /// The packet with this number was sent: it may be one of the Unvalidated phase, or end it.
    #[cold]
    pub(crate) fn note_learning_sent(&mut self, number: u64) {
        self.follow_phases();
        let path = &mut self.current;
        if let Some(capacity) = path.capacity.as_mut().filter(|_| path.recovery.is_unvalidated()) {
            capacity.note_unvalidated(number);
        }
    }

    /// Follows and traces the changes of the phase.
    fn follow_phases(&mut self) {
        let path = &mut self.current;
        while let Some(change) = path.recovery.regulator().next_transition() {
            let capacity =
                path.capacity.as_mut().expect("only a saved capacity begins the phases of its use");
            capacity.follow(&change);
            let traced = capacity.traced(Some(&change), path.recovery.regulator());
            self.outputs.push(PathOutput::ResumePhase(Box::new(traced)));
        }
    }
}
