//! Makes the missing runs of a sweep on several threads.
//!
//! Each thread takes the next run, reads its scenario, and runs it unless the store has its key. The results go through a
//! bounded channel to the calling thread, which alone writes, counts and reports progress. A run that fails or panics is a
//! [`Failure`], and the others continue.

use super::expand::Sweep;
use super::key::Key;
use super::record::Record;
use super::schema::{MAX_ROWS, Names, Row, Rows, Schema, row_of};
use super::store::{Contents, Location, MAX_RECORD, Sealed, Store};
use crate::scenario::outside::on_worker;
use crate::scenario::{Keep, Scenario, ScenarioError};
use crate::{Options, Prepared, RunError};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::{fmt, io, thread};

/// The maximum number of finished runs that wait to be written, beside one for each thread.
const WAITING: usize = 16;
/// The maximum number of threads.
pub const MAX_JOBS: usize = 1024;

/// The progress of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// The number of finished runs, including failed ones.
    pub done: u64,
    /// The number of finished runs that were in the folder already.
    pub reused: u64,
    /// The number of failed runs.
    pub failed: u64,
    /// The number of all runs.
    pub total: u64,
}

/// The reason why a sweep has no tables.
#[derive(Debug)]
pub enum SweepError {
    /// The folder cannot be read or written.
    Folder {
        /// Its path.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The caller stopped the sweep. Finished runs are kept.
    Interrupted,
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SweepError::Folder { path, error } => write!(f, "{}: {error}", path.display()),
            SweepError::Interrupted => f.write_str("interrupted"),
        }
    }
}
impl std::error::Error for SweepError {}

/// A run without an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its number, from 0.
    pub number: u64,
    /// Its seed.
    pub seed: u64,
    /// The reason, in one line.
    pub problem: String,
}

/// A sweep whose runs are all finished.
#[derive(Debug)]
pub struct Finished {
    pub(super) sweep: Sweep,
    pub(super) folder: PathBuf,
    pub(super) contents: Contents,
    pub(super) runs: Vec<Entry>,
    /// The columns of the first runs, and the number of these runs.
    pub(super) schema: Schema,
    pub(super) seen: usize,
    /// Rows of the summaries of first runs that were made or read, until the table has them.
    pub(super) rows: Rows,
    pub(super) progress: Progress,
}

/// The result of a run.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) seed: u64,
    pub(super) result: Result<Location, String>,
}

impl Finished {
    /// The numbers of runs, of reused ones and of failed ones.
    pub fn progress(&self) -> Progress {
        self.progress
    }
    /// The sweep.
    pub fn sweep(&self) -> &Sweep {
        &self.sweep
    }
    /// The runs without an outcome, in order.
    pub fn failures(&self) -> impl Iterator<Item = Failure> {
        self.runs.iter().enumerate().filter_map(|(number, entry)| {
            let problem = entry.result.as_ref().err()?.clone();
            Some(Failure { number: number as u64, seed: entry.seed, problem })
        })
    }
    /// The resolved scenario of a run, with its seed.
    ///
    /// # Errors
    /// If the values are inconsistent.
    pub fn scenario(&self, number: u64) -> Result<Scenario, ScenarioError> {
        let planned = self.sweep.planned(number);
        let scenario = self.sweep.scenario(&planned)?;
        Ok(Scenario { seed: self.sweep.seed(&planned, scenario.seed), ..scenario })
    }
}

/// Makes the runs that are missing in the folder on `jobs` threads (1 to [`MAX_JOBS`]). `progress` is called after each run
/// and, in long ones, every few milliseconds; a break ends the sweep about as fast.
///
/// # Errors
/// See [`SweepError`]. Finished runs are kept in the folder.
pub fn run(
    sweep: &Sweep,
    folder: &Path,
    jobs: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Finished, SweepError> {
    let fail = |error| SweepError::Folder { path: folder.to_owned(), error };
    let mut store = Store::open(folder).map_err(fail)?;
    let total = sweep.runs();
    let known = store.take_known();
    let work = Work { sweep, known: &known, next: AtomicU64::new(0), stop: AtomicBool::new(false) };
    let jobs = jobs.clamp(1, MAX_JOBS).min(total.try_into().unwrap_or(MAX_JOBS));
    let mut collected = Collected {
        runs: Vec::new(),
        rows: Rows::new(),
        progress: Progress { total, ..Progress::default() },
    };
    collected.runs.resize_with(total as usize, || None);
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING);
        for _ in 0..jobs {
            let (work, sender) = (&work, sender.clone());
            scope.spawn(move || on_worker(&mut || work.run(&sender)));
        }
        drop(sender);
        let result = collected.collect(&receiver, &mut store, progress);
        // An early end of the channel must end the threads, too.
        work.stop.store(true, Ordering::Relaxed);
        drop(receiver);
        result.map_err(|stopped| stopped.map_or(SweepError::Interrupted, fail))
    })?;
    store.sync().map_err(fail)?;
    let ended = collected.runs.into_iter();
    let runs: Vec<Entry> = ended.map(|entry| entry.expect("a sweep ends when all runs have ended")).collect();
    assert_eq!(collected.progress.done, total, "each run is counted once");
    Ok(Finished {
        sweep: sweep.clone(),
        folder: folder.to_owned(),
        contents: store.contents(),
        runs,
        schema: Schema::default(),
        seen: 0,
        rows: collected.rows,
        progress: collected.progress,
    })
}

/// A message from a thread.
enum Message {
    /// A run continues.
    Alive,
    /// A run is finished.
    Over { number: u64, seed: u64, result: Result<Kept, String> },
}

enum Kept {
    Before(Location),
    /// With the row of its summary, which its thread reads, so that nobody waits for that at the end.
    Now(Sealed, Option<Row>),
}

struct Collected {
    runs: Vec<Option<Entry>>,
    rows: Rows,
    progress: Progress,
}

impl Collected {
    /// Receives all results. The error is `None` if the caller stopped the sweep.
    fn collect(
        &mut self,
        receiver: &Receiver<Message>,
        store: &mut Store,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), Option<io::Error>> {
        for message in receiver {
            if let Message::Over { number, seed, result } = message {
                self.progress.done += 1;
                let result = match result {
                    Ok(Kept::Before(location)) => {
                        self.progress.reused += 1;
                        Ok(location)
                    }
                    Ok(Kept::Now(record, row)) => {
                        self.rows.extend(row.map(|row| (number as usize, row)));
                        Ok(store.append(&record).map_err(Some)?)
                    }
                    Err(problem) => {
                        self.progress.failed += 1;
                        Err(problem)
                    }
                };
                let before = self.runs[number as usize].replace(Entry { seed, result });
                assert!(before.is_none(), "each run is made by one thread");
            }
            if progress(self.progress).is_break() {
                return Err(None);
            }
        }
        Ok(())
    }
}

/// The state that the threads share.
struct Work<'a> {
    sweep: &'a Sweep,
    known: &'a BTreeMap<Key, Location>,
    next: AtomicU64,
    stop: AtomicBool,
}

impl Work<'_> {
    /// One thread: run after run until none is left.
    fn run(&self, sender: &SyncSender<Message>) {
        let (mut scenarios, mut prepared, mut names) = (Scenarios::default(), None, Names::default());
        while !self.stop.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.sweep.runs() {
                return;
            }
            let (seed, scenario) = scenarios.get(self.sweep, number);
            let result = match scenario {
                Ok(scenario) => self.one(number, &scenario, &mut prepared, &mut names, sender),
                Err(problem) => Some(Err(problem)),
            };
            let Some(result) = result else { return };
            if sender.send(Message::Over { number, seed, result }).is_err() {
                return;
            }
        }
    }

    /// One run; `None` if it was interrupted.
    fn one(
        &self,
        number: u64,
        scenario: &Scenario,
        prepared: &mut Option<Prepared>,
        names: &mut Names,
        sender: &SyncSender<Message>,
    ) -> Option<Result<Kept, String>> {
        let keep = &self.sweep.plan().keep;
        let key = Key::of(scenario, keep);
        if let Some(location) = self.known.get(&key) {
            return Some(Ok(Kept::Before(*location)));
        }
        let contents = simulate(scenario, scenario.seed, prepared, keep, &mut || {
            // A full channel has other messages, which also report progress.
            let _ = sender.try_send(Message::Alive);
            if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Some(contents.map(|contents| {
            let row = if number < MAX_ROWS as u64 { row_of(&contents, names) } else { None };
            Kept::Now(Sealed::new(key, &contents), row)
        }))
    }
}

/// The scenarios of runs. Repetitions are consecutive, so their scenario is read once.
#[derive(Debug, Default)]
pub(super) struct Scenarios {
    last: Option<(Vec<usize>, Result<Scenario, String>)>,
}

impl Scenarios {
    /// The seed of a run, and its scenario with this seed or the error in it.
    pub(super) fn get(&mut self, sweep: &Sweep, number: u64) -> (u64, Result<Scenario, String>) {
        let planned = sweep.planned(number);
        let last = match self.last.take() {
            Some(last) if last.0 == planned.choice => last,
            _ => (planned.choice.clone(), sweep.scenario(&planned).map_err(|error| error.to_string())),
        };
        let scenario = &self.last.insert(last).1;
        let seed = sweep.seed(&planned, scenario.as_ref().map_or(sweep.base().seed, |s| s.seed));
        (seed, scenario.as_ref().map(|scenario| Scenario { seed, ..scenario.clone() }).map_err(String::clone))
    }
}

/// Makes a run with a seed; returns its record or an error, or `None` if it was interrupted. `stop` is called every few milliseconds.
/// The preparation of an earlier run is reused if it fits, since no size or time depends on the seed of keys and
/// certificates.
pub(super) fn simulate(
    scenario: &Scenario,
    seed: u64,
    prepared: &mut Option<Prepared>,
    keep: &Keep,
    stop: &mut dyn FnMut() -> ControlFlow<()>,
) -> Option<Result<Vec<u8>, String>> {
    guarded(|| {
        let options = Options { seed: Some(seed), tables: !keep.is_empty(), ..Options::default() };
        let prepared = match prepared {
            Some(before) if before.fits(scenario) => before,
            other => other.insert(Prepared::new(scenario)?),
        };
        let outcome = crate::run_prepared(scenario, prepared, &options, &mut |_| stop())?;
        Ok(Record::of(outcome, keep).to_bytes())
    })
}

/// Calls `run` and catches panics; returns its record or an error, or `None` if it was interrupted.
fn guarded(run: impl FnOnce() -> Result<Vec<u8>, RunError>) -> Option<Result<Vec<u8>, String>> {
    // A run shares no state, so a panic leaves nothing inconsistent.
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(contents)) if contents.len() as u64 > MAX_RECORD => {
            Some(Err(format!("its series and tables are larger than {} MiB", MAX_RECORD >> 20)))
        }
        Ok(Ok(contents)) => Some(Ok(contents)),
        Ok(Err(RunError::Interrupted)) => None,
        Ok(Err(error)) => Some(Err(error.to_string())),
        Err(panic) => Some(Err(format!("internal error: {}", message_of(&*panic)))),
    }
}

/// The message of a panic.
fn message_of(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupted_and_failed_runs_are_distinguished() {
        assert_eq!(guarded(|| Ok(vec![1])), Some(Ok(vec![1])));
        assert_eq!(guarded(|| Err(RunError::Interrupted)), None);
        let error = RunError::Component { place: "a".into(), problem: "b".into() };
        assert_eq!(guarded(|| Err(error)), Some(Err("a: b".into())));
    }

    #[test]
    fn a_panic_is_a_failure() {
        let number = 3;
        assert_eq!(guarded(|| panic!("a bug")), Some(Err("internal error: a bug".into())));
        assert_eq!(guarded(|| panic!("bug {number}")), Some(Err("internal error: bug 3".into())));
    }
}
