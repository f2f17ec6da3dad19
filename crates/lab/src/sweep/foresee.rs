//! The columns of the table of runs, before a run is made.

use super::expand::Sweep;
use super::schema::{Schema, flatten};
use crate::scenario::Scenario;
use crate::{Options, Prepared, run_prepared};
use std::ops::ControlFlow;
use units::Duration;

/// The most scenarios that are started.
const MOST: usize = 256;

impl Sweep {
    /// The columns that the table of runs will have, in their order; `None` where that takes too long to find out.
    ///
    /// A run for each value of each path is started and ended after a nanosecond: its summary already has all columns.
    pub fn columns(&self) -> Option<Vec<String>> {
        let (mut schema, mut prepared) = (Schema::default(), None);
        for scenario in self.samples(MOST)? {
            schema.add(&flatten(&begun(scenario, &mut prepared)?)?);
        }
        let before = ["run", "repetition", "seed"].map(str::to_owned).into_iter();
        let varied = self.plan().axes().map(|axis| axis.column());
        let results = schema.columns().map(|(name, _)| name.to_owned());
        Some(before.chain(varied).chain(["error".to_owned()]).chain(results).collect())
    }
}

/// The summary of a run that has just started; `None` if it cannot start.
fn begun(scenario: Scenario, prepared: &mut Option<Prepared>) -> Option<String> {
    let scenario = Scenario { duration: Duration::from_nanos(1), ..scenario };
    let prepared = match prepared {
        Some(before) if before.fits(&scenario) => before,
        other => other.insert(Prepared::new(&scenario).ok()?),
    };
    let go_on = &mut |_| ControlFlow::Continue(());
    run_prepared(&scenario, prepared, &Options::default(), go_on).ok().map(|outcome| outcome.summary)
}
