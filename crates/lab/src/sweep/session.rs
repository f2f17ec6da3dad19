//! A sweep whose runs are made on other machines.
//!
//! An [`Order`] contains a missing run as text, and a [`Maker`] makes the run on any machine. Folder and tables are equal to
//! those of [`super::run`], byte for byte.

use super::engine::{Entry, Finished, Progress, Scenarios, SweepError, simulate};
use super::expand::Sweep;
use super::key::Key;
use super::schema::{Rows, Schema};
use super::store::{Location, Sealed, Store};
use crate::Prepared;
use crate::scenario::{Keep, Scenario};
use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A run that is missing in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Its number, from 0.
    pub number: u64,
    /// Its resolved scenario, with the seed of any run of its combination: one text for all of them.
    pub scenario: Arc<str>,
    /// Its seed.
    pub seed: u64,
    /// The files that the scenario names, by their absolute paths.
    pub files: Files,
}

/// A sweep in progress.
#[derive(Debug)]
pub struct OngoingSweep {
    sweep: Sweep,
    folder: PathBuf,
    store: Store,
    /// The finished runs that the folder had.
    known: BTreeMap<Key, Location>,
    scenarios: Scenarios,
    /// The text of the scenario of the latest order, with its combination of values.
    text: Option<(Vec<usize>, Arc<str>)>,
    /// The number of the next run to consider.
    next: u64,
    /// The ordered runs without a result, with their seeds and keys.
    open: BTreeMap<u64, (u64, Key)>,
    runs: Vec<Option<Entry>>,
    progress: Progress,
}

impl OngoingSweep {
    /// Starts a sweep in a folder, which is created if necessary.
    ///
    /// # Errors
    /// If the folder cannot be read or written.
    pub fn open(sweep: &Sweep, folder: &Path) -> Result<OngoingSweep, SweepError> {
        let mut store = Store::open(folder).map_err(|error| failed(folder, error))?;
        let total = sweep.runs();
        let mut runs = Vec::new();
        runs.resize_with(total as usize, || None);
        Ok(OngoingSweep {
            sweep: sweep.clone(),
            folder: folder.to_owned(),
            known: store.take_known(),
            store,
            scenarios: Scenarios::default(),
            text: None,
            next: 0,
            open: BTreeMap::new(),
            runs,
            progress: Progress { total, ..Progress::default() },
        })
    }

    /// The next run to make; `None` after the last one. Runs in the folder, and invalid scenarios, are counted and skipped.
    pub fn order(&mut self) -> Option<Order> {
        while self.next < self.sweep.runs() {
            let number = self.next;
            self.next += 1;
            let (seed, scenario) = self.scenarios.get(&self.sweep, number);
            let result = match scenario {
                Err(problem) => Err(problem),
                Ok(scenario) => {
                    let key = Key::of(&scenario, &self.sweep.plan().keep);
                    if let Some(location) = self.known.get(&key) {
                        self.progress.reused += 1;
                        Ok(*location)
                    } else {
                        self.open.insert(number, (seed, key));
                        let choice = self.sweep.planned(number).choice;
                        let text = match self.text.take() {
                            Some((known, text)) if known == choice => text,
                            _ => scenario.to_toml().into(),
                        };
                        self.text = Some((choice, Arc::clone(&text)));
                        return Some(Order { number, scenario: text, seed, files: scenario.files() });
                    }
                }
            };
            self.end(number, Entry { seed, result });
        }
        None
    }

    /// Takes the result of an ordered run, which is the record from a [`Maker`] or an error. Results of other runs, and further
    /// results, are ignored.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn put(&mut self, number: u64, result: Result<Vec<u8>, String>) -> Result<(), SweepError> {
        let Some((seed, key)) = self.open.remove(&number) else { return Ok(()) };
        let result = match result {
            Ok(contents) => {
                let record = Sealed::new(key, &contents);
                Ok(self.store.append(&record).map_err(|error| failed(&self.folder, error))?)
            }
            Err(problem) => Err(problem),
        };
        self.end(number, Entry { seed, result });
        Ok(())
    }

    /// The progress of the sweep.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// The tables, once all runs are finished.
    ///
    /// # Errors
    /// [`SweepError::Interrupted`] if the result of a run is missing; the others are kept. Or if the folder cannot be
    /// written.
    pub fn finish(mut self) -> Result<Finished, SweepError> {
        self.store.sync().map_err(|error| failed(&self.folder, error))?;
        let runs = self.runs.into_iter().collect::<Option<Vec<_>>>().ok_or(SweepError::Interrupted)?;
        Ok(Finished {
            contents: self.store.contents(),
            sweep: self.sweep,
            folder: self.folder,
            runs,
            schema: Schema::default(),
            seen: 0,
            rows: Rows::new(),
            progress: self.progress,
        })
    }

    fn end(&mut self, number: u64, entry: Entry) {
        self.progress.done += 1;
        self.progress.failed += u64::from(entry.result.is_err());
        let before = self.runs[number as usize].replace(entry);
        assert!(before.is_none(), "a run ends once");
        assert!(self.progress.done <= self.progress.total, "no more runs end than there are");
    }
}

/// Makes the runs of orders, with shared TLS configurations and certificates.
#[derive(Default)]
pub struct Maker {
    prepared: Option<Prepared>,
    /// The scenario of the latest order, with its text and its files.
    last: Option<(Arc<str>, Files, Scenario)>,
}

/// The texts of files by their absolute paths.
type Files = BTreeMap<PathBuf, Arc<str>>;

impl Maker {
    /// Makes the run of an order and returns its record with the results in `keep`, see [`crate::scenario::Plan::keep`].
    ///
    /// # Errors
    /// The reason of a failure in one line, which is the same on every machine.
    pub fn make(&mut self, order: &Order, keep: &Keep) -> Result<Vec<u8>, String> {
        let (text, files) = (&order.scenario, &order.files);
        let last = match self.last.take().filter(|last| last.0 == *text && last.1 == *files) {
            Some(last) => last,
            None => {
                let read = Scenario::parse_with_files(text, files).map_err(|error| error.to_string())?;
                (Arc::clone(text), files.clone(), read)
            }
        };
        let scenario = &self.last.insert(last).2;
        let kept =
            simulate(scenario, order.seed, &mut self.prepared, keep, &mut || ControlFlow::Continue(()));
        kept.expect("nothing stops the run of a maker")
    }
}

fn failed(folder: &Path, error: io::Error) -> SweepError {
    SweepError::Folder { path: folder.to_owned(), error }
}
