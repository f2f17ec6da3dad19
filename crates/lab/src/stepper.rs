//! A run that its caller advances step by step.

use crate::books;
use crate::error::RunError;
use crate::run::{Options, Prepared, Running, refuse_gates, share};
use crate::scenario::Scenario;
use network::Step;
use trace::Fan;
use units::{Time, fault};

/// A run without records that its caller advances. The steps do not affect its results.
pub struct Stepper {
    scenario: Scenario,
    running: Running<'static>,
    end: Time,
    over: bool,
}

impl Stepper {
    /// Creates a run of the scenario with this seed, at time zero.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Stepper, RunError> {
        refuse_gates(scenario)?;
        let scenario = scenario.unfolded().into_owned();
        let prepared = Prepared::new(&scenario)?;
        let shared = share(&scenario, &Options::default(), Fan::new())?;
        // Discard a fault of an earlier run.
        let _ = fault::take();
        let running = Running::new(&scenario, seed, prepared.tls(), &shared)?;
        let end = Time::ZERO + scenario.duration;
        Ok(Stepper { scenario, running, end, over: false })
    }

    /// The virtual time.
    pub fn now(&self) -> Time {
        self.running.world.now()
    }

    /// The latest end of the run.
    pub fn end(&self) -> Time {
        self.end
    }

    /// Whether all flows are finished.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Runs up to and including a time, but not beyond the end of the run or of all flows. `may_continue` is called every
    /// few milliseconds of work.
    ///
    /// # Errors
    /// See [`RunError`]; `Interrupted` if `may_continue` returns false; at the end of the run `Books` if they do not balance.
    pub fn run_until(&mut self, until: Time, mut may_continue: impl FnMut() -> bool) -> Result<(), RunError> {
        if self.over {
            return Ok(());
        }
        loop {
            match self.running.advance(until.min(self.end))? {
                Step::Budget if may_continue() => {}
                Step::Budget => return Err(RunError::Interrupted),
                Step::Stopped => {
                    self.over = true;
                    break;
                }
                Step::Reached | Step::Idle => break,
            }
        }
        if self.over || self.now() == self.end {
            let (now, world) = (self.now(), &mut self.running.world);
            let reports: Vec<_> = world.hosts_mut().flat_map(|host| host.reports(now)).collect();
            books::balance(&self.scenario, world, &reports)?;
        }
        Ok(())
    }
}
