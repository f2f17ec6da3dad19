//! What a connection learns of the capacity of its path, and how it uses what an earlier one learned (RFC 9959).

use super::Recovery;
use crate::config::Config;
use congestion::{Capacity, Limit, PathStore, Phase, Refusal};
use std::net::IpAddr;
use trace::{Event, Log};
use units::Time;

/// What a host knows of paths (the option `resume`).
#[derive(Debug, Clone, Default)]
pub struct DatedPaths {
    /// The paths.
    pub store: PathStore,
    /// The date at time zero, in milliseconds since 1970.
    pub epoch_ms: u64,
}

impl Recovery {
    /// Begins to observe the path to this address, if the options ask for it, and to use what the store knows of it.
    pub(crate) fn begin_learning(
        &mut self,
        now: Time,
        config: &Config,
        ip: IpAddr,
        DatedPaths { store, epoch_ms }: DatedPaths,
        log: &mut Log,
    ) {
        let first = self.mss * config.initial_window;
        self.capacity = Capacity::begin(config.resume, store, ip, (first, epoch_ms), &mut self.regulator);
        let Some(capacity) = &mut self.capacity else { return };
        let Some((key, learned)) = capacity.recall() else { return };
        let accepted = capacity.accept(now, (Some(key), learned), &mut self.regulator);
        if log.interest().lifecycle {
            let result = accepted.map_or_else(Refusal::name, |()| "accepted");
            log.push(now, Event::SavedPath { carrier: "store", result });
            if accepted.is_ok() {
                log.push(now, Event::ResumePhase(Box::new(capacity.traced(None, &self.regulator))));
            }
        }
    }

    /// Whether anything is learned.
    #[inline]
    pub(crate) fn learns(&self) -> bool {
        self.capacity.is_some()
    }

    /// More data waits than this limit admits: a saved capacity may be tried.
    #[cold]
    pub(crate) fn jump(&mut self, now: Time, limit: Limit, log: &mut Log) {
        let in_flight = self.in_flight();
        self.regulator.jump(now, limit, in_flight);
        self.follow_phases(now, log);
    }

    /// Saves what was learned, after an acknowledgement or at the end.
    #[cold]
    pub(crate) fn learn(&mut self, now: Time, last: bool, log: &mut Log) {
        self.follow_phases(now, log);
        if let Some(capacity) = &mut self.capacity {
            capacity.observe(now, &self.regulator, &self.rtt, last);
        }
    }

    /// A segment was sent: it may be one of the Unvalidated phase, or end it. Segments have no numbers: the trace has that of
    /// their last byte.
    #[cold]
    pub(crate) fn note_learning_sent(&mut self, now: Time, log: &mut Log) {
        self.follow_phases(now, log);
        let unvalidated =
            self.regulator.resuming().is_some_and(|resuming| resuming.phase() == Phase::Unvalidated);
        if let Some(capacity) = self.capacity.as_mut().filter(|_| unvalidated) {
            capacity.note_unvalidated(self.nxt - 1);
        }
    }

    /// Follows and traces the changes of the phase.
    fn follow_phases(&mut self, now: Time, log: &mut Log) {
        while let Some(change) = self.regulator.next_transition() {
            let capacity =
                self.capacity.as_mut().expect("only a saved capacity begins the phases of its use");
            capacity.follow(&change);
            if log.interest().lifecycle {
                log.push(now, Event::ResumePhase(Box::new(capacity.traced(Some(&change), &self.regulator))));
            }
        }
    }
}
