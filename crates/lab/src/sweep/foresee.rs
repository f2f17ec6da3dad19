//! Predicts the columns of the table of runs.

use super::expand::Sweep;
use super::schema::{Names, Schema, flatten};
use crate::scenario::Scenario;
use crate::{Options, Prepared, run_prepared};
use std::ops::ControlFlow;
use units::Duration;

/// The maximum number of scenarios that are started.
const MOST: usize = 256;

impl Sweep {
    /// The columns of the table of runs in order; `None` if finding out would take too long.
    ///
    /// Makes a run of a nanosecond for each value of each path, whose summary already has all columns.
    pub fn columns(&self) -> Option<Vec<String>> {
        let (mut schema, mut names, mut prepared) = (Schema::default(), Names::default(), None);
        for scenario in self.samples(MOST)? {
            schema.add(&flatten(&first_summary(scenario, &mut prepared)?, &mut names)?);
        }
        let before = ["run", "repetition", "seed"].map(str::to_owned).into_iter();
        let varied = self.plan().axes().map(|axis| axis.column());
        let results = schema.columns().map(|(name, _)| name.to_owned());
        Some(before.chain(varied).chain(["error".to_owned()]).chain(results).collect())
    }
}

/// The summary of a run of a nanosecond; `None` if it fails.
fn first_summary(scenario: Scenario, prepared: &mut Option<Prepared>) -> Option<String> {
    let scenario = Scenario { duration: Duration::from_nanos(1), ..scenario };
    let prepared = match prepared {
        Some(before) if before.fits(&scenario) => before,
        other => other.insert(Prepared::new(&scenario).ok()?),
    };
    let progress = &mut |_| ControlFlow::Continue(());
    run_prepared(&scenario, prepared, &Options::default(), progress)
        .ok()
        .map(|outcome| outcome.summary.into_text())
}
