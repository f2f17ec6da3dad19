//! A run that is taken step by step, by somebody who acts in between.

use crate::error::RunError;
use crate::run::{Options, Prepared, Running, share};
use crate::scenario::Scenario;
use network::Step;
use trace::Fan;
use units::{Time, fault};

/// A run without records, taken as far as the caller says. Taken in pieces it is the same run as in one.
pub struct Stepper {
    running: Running<'static>,
    end: Time,
    over: bool,
}

impl Stepper {
    /// A run of the scenario with this seed, at time zero.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Stepper, RunError> {
        let scenario = &*scenario.unfolded();
        let prepared = Prepared::new(scenario)?;
        let shared = share(scenario, &Options::default(), Fan::new())?;
        // What a run before left is not of this one.
        let _ = fault::take();
        let running = Running::new(scenario, seed, prepared.tls(), &shared)?;
        Ok(Stepper { running, end: Time::ZERO + scenario.duration, over: false })
    }

    /// The virtual time.
    pub fn now(&self) -> Time {
        self.running.world.now()
    }

    /// When the run ends at the latest.
    pub fn end(&self) -> Time {
        self.end
    }

    /// Whether all flows are finished.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Lets all happen up to and at a time, or up to the end of the run if that is earlier, or until all flows are finished.
    /// `look` is asked every few milliseconds of work whether to go on.
    ///
    /// # Errors
    /// See [`RunError`]; `Interrupted` if `look` says no.
    pub fn run_until(&mut self, until: Time, mut look: impl FnMut() -> bool) -> Result<(), RunError> {
        while !self.over {
            match self.running.go_on(until.min(self.end))? {
                Step::Budget if look() => {}
                Step::Budget => return Err(RunError::Interrupted),
                Step::Stopped => self.over = true,
                Step::Reached | Step::Idle => break,
            }
        }
        Ok(())
    }
}
