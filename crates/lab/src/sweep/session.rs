//! A sweep whose runs are made elsewhere: what is missing is handed out, and what comes back is kept.
//!
//! An [`Order`] is all that a run needs, as text; a [`Maker`] makes the run of one on whatever machine. The folder and
//! the tables are then those of [`super::run`], byte for byte.

use super::engine::{Entry, Finished, Progress, Scenarios, SweepError, simulate};
use super::expand::Sweep;
use super::key::Key;
use super::store::Store;
use crate::Prepared;
use crate::scenario::{Keep, Scenario};
use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A run that the folder does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Its number, from 0.
    pub number: u64,
    /// Its resolved scenario, with its seed.
    pub scenario: String,
    /// The files that the scenario names, by their absolute paths.
    pub files: BTreeMap<PathBuf, Arc<str>>,
}

/// A sweep that is being made.
#[derive(Debug)]
pub struct Session {
    sweep: Sweep,
    folder: PathBuf,
    store: Store,
    scenarios: Scenarios,
    /// The number of the run to look at next.
    next: u64,
    /// Runs that were handed out and did not come back, with their seeds and keys.
    open: BTreeMap<u64, (u64, Key)>,
    runs: Vec<Option<Entry>>,
    progress: Progress,
}

impl Session {
    /// Begins a sweep in a folder, which is made if it is not there.
    ///
    /// # Errors
    /// If the folder cannot be read or written.
    pub fn open(sweep: &Sweep, folder: &Path) -> Result<Session, SweepError> {
        let store = Store::open(folder).map_err(|error| failed(folder, error))?;
        let total = sweep.runs();
        let mut runs = Vec::new();
        runs.resize_with(total as usize, || None);
        Ok(Session {
            sweep: sweep.clone(),
            folder: folder.to_owned(),
            store,
            scenarios: Scenarios::default(),
            next: 0,
            open: BTreeMap::new(),
            runs,
            progress: Progress { total, ..Progress::default() },
        })
    }

    /// The next run to make; none when all were handed out. What the folder has, and what is no scenario, is counted and
    /// passed over.
    pub fn order(&mut self) -> Option<Order> {
        while self.next < self.sweep.runs() {
            let number = self.next;
            self.next += 1;
            let (seed, scenario) = self.scenarios.get(&self.sweep, number);
            let result = match scenario {
                Err(problem) => Err(problem),
                Ok(scenario) => {
                    let key = Key::of(&scenario, &self.sweep.plan().keep);
                    if let Some(location) = self.store.known().get(&key) {
                        self.progress.reused += 1;
                        Ok(*location)
                    } else {
                        self.open.insert(number, (seed, key));
                        let files = scenario.files();
                        return Some(Order { number, scenario: scenario.to_toml(), files });
                    }
                }
            };
            self.end(number, Entry { seed, result });
        }
        None
    }

    /// Takes what a [`Maker`] gave for a run that was handed out, or why nothing came. What was not handed out, or is
    /// there already, is passed over.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn put(&mut self, number: u64, result: Result<Vec<u8>, String>) -> Result<(), SweepError> {
        let Some((seed, key)) = self.open.remove(&number) else { return Ok(()) };
        let result = match result {
            Ok(contents) => {
                Ok(self.store.append(key, &contents).map_err(|error| failed(&self.folder, error))?)
            }
            Err(problem) => Err(problem),
        };
        self.end(number, Entry { seed, result });
        Ok(())
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// The tables, when all is there.
    ///
    /// # Errors
    /// [`SweepError::Interrupted`] if a run was not handed out or did not come back; what came is kept. Or if the folder
    /// cannot be written.
    pub fn finish(mut self) -> Result<Finished, SweepError> {
        self.store.sync().map_err(|error| failed(&self.folder, error))?;
        let runs = self.runs.into_iter().collect::<Option<Vec<_>>>().ok_or(SweepError::Interrupted)?;
        Ok(Finished {
            contents: self.store.contents(),
            sweep: self.sweep,
            folder: self.folder,
            runs,
            schema: None,
            progress: self.progress,
        })
    }

    fn end(&mut self, number: u64, entry: Entry) {
        self.progress.done += 1;
        self.progress.failed += u64::from(entry.result.is_err());
        self.runs[number as usize] = Some(entry);
    }
}

/// Makes the runs of orders, and shares between them what takes time to make.
#[derive(Default)]
pub struct Maker {
    prepared: Option<Prepared>,
}

impl Maker {
    /// Makes the run of an order and gives what is kept of it. `keep` is what the sweep keeps of it
    /// ([`crate::scenario::Plan::keep`]).
    ///
    /// # Errors
    /// One line that says why the run failed: it is the same on every machine.
    pub fn make(
        &mut self,
        scenario: &str,
        files: &BTreeMap<PathBuf, Arc<str>>,
        keep: &Keep,
    ) -> Result<Vec<u8>, String> {
        let scenario = Scenario::parse_with_files(scenario, files).map_err(|error| error.to_string())?;
        let kept = simulate(&scenario, &mut self.prepared, keep, &mut || ControlFlow::Continue(()));
        // Nobody asked it to stop.
        kept.unwrap_or_else(|| Err("interrupted".to_owned()))
    }
}

fn failed(folder: &Path, error: io::Error) -> SweepError {
    SweepError::Folder { path: folder.to_owned(), error }
}
