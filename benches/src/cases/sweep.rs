//! A sweep of a thousand short runs: its cost beyond the simulation itself, and the time saved by a second
//! core.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use lab::sweep::{self, Sweep};
use lab::{Options, Prepared};

use crate::case::Case;
use crate::clock;

/// One second of a download at 10 Mbit/s: about 800 data packets.
const DOCUMENT: &str = r#"
name = "short"
duration = "1 s"

[[link]]
name = "wire"
from = "server"
to = "client"
rate = "10 Mbit/s"
delay = "10 ms"
queue = "1 BDP"

[[flow]]
name = "download"
client = "client"
server = "server"
application = { type = "bulk", size = "100 MB" }

[sweep]
repetitions = 1000
"#;

/// The measured property of the sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// Microseconds of CPU time per run beyond its simulation.
    Overhead,
    /// The speedup of two jobs over one.
    TwoJobs,
    /// How many times as much work two cores do as one: an upper bound of `TwoJobs`.
    TwoCores,
}

/// The case.
pub(super) struct Short {
    of: Of,
    sweep: Sweep,
    folder: PathBuf,
}

impl Short {
    /// Parses the file, which is not measured.
    pub(super) fn new(of: Of) -> Short {
        let sweep = Sweep::parse(DOCUMENT, Path::new("short.toml"), &[]).expect("the sweep is sound");
        let folder = std::env::temp_dir().join(format!("quiclab-bench-{}-{of:?}", std::process::id()));
        Short { of, sweep, folder }
    }

    /// Runs the whole sweep into an empty folder and reads the table of its runs.
    fn sweep(&self, jobs: usize) {
        self.sweep_into(&self.folder, jobs);
    }

    fn sweep_into(&self, folder: &Path, jobs: usize) {
        let finished = sweep::run(&self.sweep, folder, jobs, &mut |_| ControlFlow::Continue(()));
        let mut finished = finished.expect("the folder can be written");
        assert_eq!(finished.failures().count(), 0, "all runs give an outcome");
        let table = finished.runs(0, usize::MAX).expect("the folder can be read");
        assert_eq!(table.rows() as u64, self.sweep.runs(), "a row for each run");
        // If the folder cannot be removed, the system cleans it up.
        let _ = std::fs::remove_dir_all(folder);
    }

    /// Runs two independent sweeps in parallel.
    fn two_apart(&self) {
        let other = self.folder.with_extension("other");
        std::thread::scope(|scope| {
            scope.spawn(|| self.sweep_into(&other, 1));
            self.sweep(1);
        });
    }

    /// Runs the same simulations one after the other, and nothing else.
    fn simulations(&self) {
        let scenario = self.sweep.base();
        let prepared = Prepared::new(scenario).expect("the scenario is sound");
        for number in 0..self.sweep.runs() {
            let seed = self.sweep.seed(&self.sweep.planned(number), scenario.seed);
            let options = Options { seed: Some(seed), tables: false, ..Options::default() };
            let outcome =
                lab::run_prepared(scenario, &prepared, &options, &mut |_| ControlFlow::Continue(()));
            black_box(outcome.expect("the scenario can be run"));
        }
    }
}

impl Case for Short {
    fn name(&self) -> &'static str {
        match self.of {
            Of::Overhead => "sweep-overhead",
            Of::TwoJobs => "sweep-two-jobs",
            Of::TwoCores => "sweep-two-cores",
        }
    }

    fn unit(&self) -> &'static str {
        match self.of {
            Of::Overhead => "us",
            Of::TwoJobs | Of::TwoCores => "ratio",
        }
    }

    fn about(&self) -> &'static str {
        match self.of {
            Of::Overhead => {
                "a sweep of 1,000 runs of 1 s at 10 Mbit/s: CPU time per run besides the simulation"
            }
            Of::TwoJobs => "the same sweep: time by the wall clock with one job over that with two",
            Of::TwoCores => {
                "the same sweep: twice the time by the wall clock of one over that of two side by side"
            }
        }
    }

    fn run(&mut self) -> f64 {
        match self.of {
            Of::Overhead => {
                let ((), alone) = clock::time(|| self.simulations());
                let ((), whole) = clock::time(|| self.sweep(1));
                (whole - alone) * 1e6 / self.sweep.runs() as f64
            }
            Of::TwoJobs => {
                let ((), one) = clock::wall(|| self.sweep(1));
                let ((), two) = clock::wall(|| self.sweep(2));
                one / two
            }
            Of::TwoCores => {
                let ((), one) = clock::wall(|| self.sweep(1));
                let ((), both) = clock::wall(|| self.two_apart());
                2.0 * one / both
            }
        }
    }
}
