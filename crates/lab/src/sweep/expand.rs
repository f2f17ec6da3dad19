//! Expands a sweep to its runs one by one, without a list in memory.

use crate::scenario::{Plan, Scenario, ScenarioError, Seeds, Template, file_notes};
use random::Generator;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// The maximum number of scenarios of a sweep that are read for what is left out of their files.
const MOST_READ_FOR_NOTES: usize = 100;

/// A scenario with its `[sweep]` table.
#[derive(Debug, Clone)]
pub struct Sweep {
    template: Template,
}

/// One run of a sweep, before its scenario is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Its number, from 0.
    pub number: u64,
    /// The index of a value for each group of paths.
    pub choice: Vec<usize>,
    /// The repetition, from 0.
    pub repetition: u32,
}

impl Sweep {
    /// Reads a document with a `[sweep]` table. A document without one is a sweep of one run. See [`Template::parse`].
    ///
    /// # Errors
    /// The first mistake.
    pub fn parse(text: &str, origin: &Path, sets: &[String]) -> Result<Sweep, ScenarioError> {
        Template::parse(text, origin, sets).map(|template| Sweep { template })
    }

    /// The content of the table.
    pub fn plan(&self) -> &Plan {
        self.template.plan()
    }

    /// The scenario without the table.
    pub fn base(&self) -> &Scenario {
        self.template.base()
    }

    /// A line for each value of the document that no run uses because the sweep replaces it.
    pub fn notes(&self) -> Vec<String> {
        self.template.notes()
    }

    /// A sentence for each thing that was left out of a file of a run; of the first values only, if there are many.
    pub fn file_notes(&self) -> Vec<String> {
        let choices = self.template.choices().take(MOST_READ_FOR_NOTES);
        let scenarios = choices.filter_map(|choice| self.template.scenario(&choice).ok());
        let mut notes: Vec<String> = scenarios.flat_map(|scenario| file_notes(&scenario)).collect();
        let mut seen = BTreeSet::new();
        notes.retain(|note| seen.insert(note.clone()));
        notes
    }

    /// A scenario for each value of each path, which together have all columns; `None` if there are more than `most`, or if
    /// one is invalid.
    pub(super) fn samples(&self, most: usize) -> Option<Vec<Scenario>> {
        let choices: Vec<Vec<usize>> = self.template.choices().take(most + 1).collect();
        if choices.len() > most {
            return None;
        }
        choices.iter().map(|choice| self.template.scenario(choice).ok()).collect()
    }

    /// The number of runs: at most [`crate::scenario::MAX_RUNS`].
    pub fn runs(&self) -> u64 {
        self.plan().points() * u64::from(self.plan().repetitions)
    }

    /// The run with a number below [`Sweep::runs`]. Repetitions are consecutive, and the last path varies first.
    pub fn planned(&self, number: u64) -> Planned {
        let repetitions = u64::from(self.plan().repetitions);
        let (mut point, repetition) = (number / repetitions, (number % repetitions) as u32);
        let mut choice = vec![0; self.plan().groups.len()];
        for (index, group) in choice.iter_mut().zip(&self.plan().groups).rev() {
            let length = group.len().max(1) as u64;
            *index = (point % length) as usize;
            point /= length;
        }
        Planned { number, choice, repetition }
    }

    /// The scenario of a combination of values, with its own seed instead of that of the repetition.
    ///
    /// # Errors
    /// If the values are inconsistent.
    pub fn scenario(&self, planned: &Planned) -> Result<Scenario, ScenarioError> {
        self.template.scenario(&planned.choice)
    }

    /// Whether any run depends on its seed, because something draws at random with some value of some path and the first
    /// values of all other paths. If not, all repetitions of a combination are equal.
    pub fn draws(&self) -> bool {
        // The run itself reports errors.
        let draws = |choice: Vec<usize>| {
            self.template.scenario(&choice).is_ok_and(|it| crate::draws(&it).unwrap_or(true))
        };
        self.template.choices().any(draws)
    }

    /// The seed of a run, given the seed in the scenario of its combination.
    ///
    /// It is derived from the scenario's seed and from a name: the paths in alphabetical order with their values, and the
    /// repetition; for paired seeds, the repetition alone. It depends neither on the number of the run nor on other values
    /// and repetitions. If the sweep varies the seed, or neither varies nor repeats anything, it is the scenario's seed.
    pub fn seed(&self, planned: &Planned, scenario_seed: u64) -> u64 {
        let plan = self.plan();
        let varied = plan.axes().any(|axis| axis.name == "seed");
        if varied || plan.repetitions == 1 && plan.groups.is_empty() {
            return scenario_seed;
        }
        let name = match plan.seeds {
            Seeds::Independent => format!("{}repetition={}", self.label(planned), planned.repetition),
            Seeds::Paired => format!("repetition={}", planned.repetition),
        };
        // A scenario's seed has 63 bits.
        Generator::seed_for(scenario_seed, &format!("sweep/{name}")) >> 1
    }

    /// The paths of a run with their values, in alphabetical order: `a.b=1/c.d=10 ms/`.
    fn label(&self, planned: &Planned) -> String {
        let mut settings = self.settings(planned);
        settings.sort_unstable();
        settings.iter().fold(String::new(), |mut label, (path, value)| {
            let _ = write!(label, "{path}={value}/");
            label
        })
    }

    /// The paths of a run with the texts of their values, in the order of the table.
    pub fn settings(&self, planned: &Planned) -> Vec<(&str, &str)> {
        let groups = self.plan().groups.iter().zip(&planned.choice);
        let settings = groups.flat_map(|(group, index)| {
            group.axes.iter().map(|axis| (axis.name.as_str(), axis.labels[*index].as_str()))
        });
        settings.collect()
    }
}
