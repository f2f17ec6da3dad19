//! What a `[sweep]` table overrides: changes that affect no run of the sweep, and values in the file that no run uses.

use super::error::ScenarioError;
use super::quantity::label;
use super::sections::SWEEP_TABLE;
use super::set;
use super::source::{Place, Source, listed, quoted};
use super::sweep::{Axis, Group};
use super::template::{self, Template};
use super::tree::{Item, Node};
use std::collections::BTreeMap;

/// At most this many values of a path are compared with the file's; of more nothing is said.
const COMPARED: usize = 1000;

impl Template {
    /// Checks that each change affects some run; a change that the sweep overrides is an error, however its path is written.
    ///
    /// # Errors
    /// The first change that affects none.
    pub(super) fn check_changes(&self) -> Result<(), ScenarioError> {
        if self.plan.groups.is_empty() {
            return Ok(());
        }
        for (number, change) in self.sets.iter().enumerate() {
            let path = set::path_of(change).unwrap_or_default();
            if path.first().is_some_and(|key| key == SWEEP_TABLE) {
                continue;
            }
            let mut sets = self.sets.clone();
            sets.remove(number);
            let source = Source { sets: &sets, ..self.source() };
            // A document that cannot be read without the change needs it.
            let Ok((base, document, _)) = template::read(&source, &BTreeMap::new()) else { continue };
            if base != *self.base() && self.is_lost(&document) {
                let axes: Vec<&str> = self.overriding(&document).map(|axis| axis.name.as_str()).collect();
                let expected = axes.first().map_or_else(String::new, |name| {
                    format!("; expected {SWEEP_TABLE}.{name}=[...], its values")
                });
                let problem = format!(
                    "no run has it, since the sweep varies {}{expected}",
                    listed(axes.iter().copied())
                );
                return Err(self.source().error(Place::Set(number), &path.join("."), problem));
            }
        }
        Ok(())
    }

    /// Whether every run is the same with another document.
    fn is_lost(&self, document: &Item) -> bool {
        self.choices().all(|choice| match self.scenario_of(document, &choice, None) {
            Ok(scenario) => self.scenario(&choice).is_ok_and(|with| with == scenario),
            Err(_) => false,
        })
    }

    /// The paths that hide the change: those without which the first run would differ; all paths if no single one does.
    fn overriding(&self, document: &Item) -> impl Iterator<Item = &Axis> {
        let first = vec![0; self.plan.groups.len()];
        let differs = |axis: &Axis| {
            let read = |document| self.scenario_of(document, &first, Some(axis)).ok();
            read(&self.document) != read(document)
        };
        let some: Vec<&Axis> = self.plan.axes().filter(|axis| differs(axis)).collect();
        let all = some.is_empty();
        some.into_iter().chain(self.plan.axes().filter(move |_| all))
    }

    /// A line for each value of the document that no run has, because the sweep replaces it: an edit of it changes nothing.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (number, group) in self.plan.groups.iter().enumerate() {
            for axis in &group.axes {
                // Values given on the command line need no note.
                let given = matches!(axis.items[0].place, Place::Set(_));
                if let Some(item) = find(&self.document, &axis.keys).filter(|_| !given)
                    && !self.is_run(item, axis, (number, group))
                {
                    let values = if axis.labels.len() == 1 { "is the value" } else { "are the values" };
                    let shown = listed(axis.labels.iter().take(4).map(String::as_str));
                    let more = if axis.labels.len() > 4 { ", ..." } else { "" };
                    let problem = format!(
                        "no run of the sweep has this value, {}; in [{SWEEP_TABLE}] {values}: {shown}{more}",
                        quoted(&label(item))
                    );
                    notes.push(self.source().error(item.place, &axis.name, problem).to_string());
                }
            }
        }
        notes
    }

    /// Whether a run has the value of the document at a path, perhaps in other words: `10 ms` is `0.01 s`.
    fn is_run(&self, item: &Item, axis: &Axis, (number, group): (usize, &Group)) -> bool {
        let text = label(item);
        if axis.labels.contains(&text) {
            return true;
        }
        // Not all are compared: nothing is said of a value that may be another one's in other words.
        if group.len() > COMPARED {
            return true;
        }
        let mut choice = vec![0; self.plan.groups.len()];
        (0..group.len()).any(|index| {
            choice[number] = index;
            let without = self.scenario_of(&self.document, &choice, Some(axis));
            without.is_ok_and(|without| self.scenario(&choice).is_ok_and(|with| with == without))
        })
    }
}

/// The value at a path, if the document has it.
fn find<'a>(document: &'a Item, path: &[String]) -> Option<&'a Item> {
    path.iter().try_fold(document, |item, key| match &item.node {
        Node::List(items) => items.get(set::index(items, key).ok()?),
        _ => item.get(key),
    })
}
