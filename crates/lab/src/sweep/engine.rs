//! All runs of a sweep that its folder does not have, on several threads.
//!
//! Each thread takes the next run that nobody has, reads its scenario, and runs it unless the store knows its key. What
//! comes out goes over a bounded channel to the calling thread, which alone writes, counts and tells the progress. A run
//! that fails, or panics, is a [`Failure`], and the others go on.

use super::expand::Sweep;
use super::key::Key;
use super::record::Record;
use super::schema::Schema;
use super::store::{Contents, Location, MAX_RECORD, Store};
use crate::scenario::{Keep, Scenario, ScenarioError};
use crate::{Options, Prepared, RunError};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::{fmt, io, thread};

/// Finished runs that wait to be written: so many are in memory at once, and one for each thread.
const WAITING: usize = 16;
/// The most threads.
pub const MAX_JOBS: usize = 1024;

/// How far a sweep is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Runs that are finished, failed ones among them.
    pub done: u64,
    /// Of those, the ones that the folder had already.
    pub reused: u64,
    /// Of those, the ones that failed.
    pub failed: u64,
    /// All runs.
    pub total: u64,
}

/// Why a sweep ended without its tables.
#[derive(Debug)]
pub enum SweepError {
    /// The folder cannot be read or written.
    Folder {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The caller asked to stop. What was finished is kept.
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

/// A run that gave no outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its number, from 0.
    pub number: u64,
    /// Its seed.
    pub seed: u64,
    /// Why.
    pub problem: String,
}

/// A sweep of which every run is finished.
#[derive(Debug)]
pub struct Finished {
    pub(super) sweep: Sweep,
    pub(super) folder: PathBuf,
    pub(super) contents: Contents,
    pub(super) runs: Vec<Entry>,
    pub(super) schema: Option<Schema>,
    pub(super) progress: Progress,
}

/// What became of a run.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) seed: u64,
    pub(super) result: Result<Location, String>,
}

impl Finished {
    /// How many runs there were, how many of them the folder had, how many failed.
    pub fn progress(&self) -> Progress {
        self.progress
    }
    /// The sweep.
    pub fn sweep(&self) -> &Sweep {
        &self.sweep
    }
    /// The runs that gave no outcome, in order.
    pub fn failures(&self) -> impl Iterator<Item = Failure> {
        self.runs.iter().enumerate().filter_map(|(number, entry)| {
            let problem = entry.result.as_ref().err()?.clone();
            Some(Failure { number: number as u64, seed: entry.seed, problem })
        })
    }
    /// The resolved scenario of a run, with its seed.
    ///
    /// # Errors
    /// If the values do not go together.
    pub fn scenario(&self, number: u64) -> Result<Scenario, ScenarioError> {
        let planned = self.sweep.planned(number);
        let scenario = self.sweep.scenario(&planned)?;
        Ok(Scenario { seed: self.sweep.seed(&planned, scenario.seed), ..scenario })
    }
}

/// Runs what the folder does not have, on `jobs` threads (1 to [`MAX_JOBS`]), and finds all of it there. `progress` is
/// called after each run and, in long ones, every some milliseconds; to break ends the sweep within such a time.
///
/// # Errors
/// See [`SweepError`]. What was finished before is kept in the folder.
pub fn run(
    sweep: &Sweep,
    folder: &Path,
    jobs: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Finished, SweepError> {
    let fail = |error| SweepError::Folder { path: folder.to_owned(), error };
    let mut store = Store::open(folder).map_err(fail)?;
    let total = sweep.runs();
    let known = store.known().clone();
    let work = Work { sweep, known: &known, next: AtomicU64::new(0), stop: AtomicBool::new(false) };
    let jobs = jobs.clamp(1, MAX_JOBS).min(total.try_into().unwrap_or(MAX_JOBS));
    let mut collected = Collected { runs: Vec::new(), progress: Progress { total, ..Progress::default() } };
    collected.runs.resize_with(total as usize, || None);
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING);
        for _ in 0..jobs {
            let (work, sender) = (&work, sender.clone());
            scope.spawn(move || work.run(&sender));
        }
        drop(sender);
        let result = collected.collect(&receiver, &mut store, progress);
        // What breaks the channel off ends the threads too.
        work.stop.store(true, Ordering::Relaxed);
        drop(receiver);
        result.map_err(|stopped| stopped.map_or(SweepError::Interrupted, fail))
    })?;
    store.sync().map_err(fail)?;
    let runs = collected.runs.into_iter().flatten().collect();
    Ok(Finished {
        sweep: sweep.clone(),
        folder: folder.to_owned(),
        contents: store.contents(),
        runs,
        schema: None,
        progress: collected.progress,
    })
}

/// What comes from a thread.
enum Message {
    /// A run goes on.
    Alive,
    /// A run is over.
    Over { number: u64, seed: u64, result: Result<Kept, String> },
}

enum Kept {
    Before(Location),
    Now(Key, Vec<u8>),
}

struct Collected {
    runs: Vec<Option<Entry>>,
    progress: Progress,
}

impl Collected {
    /// Takes what comes until all is there. The error is none if the caller asked to stop.
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
                    Ok(Kept::Now(key, contents)) => Ok(store.append(key, &contents).map_err(Some)?),
                    Err(problem) => {
                        self.progress.failed += 1;
                        Err(problem)
                    }
                };
                self.runs[number as usize] = Some(Entry { seed, result });
            }
            if progress(self.progress).is_break() {
                return Err(None);
            }
        }
        Ok(())
    }
}

/// What the threads share.
struct Work<'a> {
    sweep: &'a Sweep,
    known: &'a BTreeMap<Key, Location>,
    next: AtomicU64,
    stop: AtomicBool,
}

impl Work<'_> {
    /// One thread: run after run until none is left.
    fn run(&self, sender: &SyncSender<Message>) {
        let (mut scenarios, mut prepared) = (Scenarios::default(), None);
        while !self.stop.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.sweep.runs() {
                return;
            }
            let (seed, scenario) = scenarios.get(self.sweep, number);
            let result = match scenario {
                Ok(scenario) => self.one(&scenario, &mut prepared, sender),
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
        scenario: &Scenario,
        prepared: &mut Option<Prepared>,
        sender: &SyncSender<Message>,
    ) -> Option<Result<Kept, String>> {
        let keep = &self.sweep.plan().keep;
        let key = Key::of(scenario, keep);
        if let Some(location) = self.known.get(&key) {
            return Some(Ok(Kept::Before(*location)));
        }
        let contents = simulate(scenario, prepared, keep, &mut || {
            // If there is no room, others have something to say.
            let _ = sender.try_send(Message::Alive);
            if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Some(contents.map(|contents| Kept::Now(key, contents)))
    }
}

/// The scenarios of runs. Repetitions follow one another, and their scenario is read once.
#[derive(Debug, Default)]
pub(super) struct Scenarios {
    last: Option<(Vec<usize>, Result<Scenario, String>)>,
}

impl Scenarios {
    /// The seed of a run and its scenario with it, or why it is none.
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

/// What is kept of a run, or why there is nothing; `None` if it was interrupted. It asks every some milliseconds
/// whether to stop. What was prepared for the run before is taken if it fits: no size, and so no time, depends on the
/// seed that keys and certificates are made from.
pub(super) fn simulate(
    scenario: &Scenario,
    prepared: &mut Option<Prepared>,
    keep: &Keep,
    stop: &mut dyn FnMut() -> ControlFlow<()>,
) -> Option<Result<Vec<u8>, String>> {
    guarded(|| {
        let options = Options { tables: !keep.is_empty(), ..Options::default() };
        let prepared = match prepared {
            Some(before) if before.fits(scenario) => before,
            other => other.insert(Prepared::new(scenario)?),
        };
        let outcome = crate::run_prepared(scenario, prepared, &options, &mut |_| stop())?;
        Ok(Record::of(outcome, keep).to_bytes())
    })
}

/// What a run gives, or why it gives nothing; `None` if it was interrupted.
fn guarded(run: impl FnOnce() -> Result<Vec<u8>, RunError>) -> Option<Result<Vec<u8>, String>> {
    // What a run has in its hands is its own, and is gone with it: nobody sees it half-changed.
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(contents)) if contents.len() as u64 > MAX_RECORD => {
            Some(Err(format!("its series and tables are larger than {} MiB", MAX_RECORD >> 20)))
        }
        Ok(Ok(contents)) => Some(Ok(contents)),
        Ok(Err(RunError::Interrupted)) => None,
        Ok(Err(error)) => Some(Err(error.to_string())),
        Err(panic) => Some(Err(format!("internal error: {}", words(&*panic)))),
    }
}

/// What a panic says.
fn words(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without words")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_gives_is_told_apart() {
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
