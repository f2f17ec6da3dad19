//! Finds changes that affect no run of a sweep, and values in the document that no run uses.

use super::error::ScenarioError;
use super::quantity::label;
use super::read::Reader;
use super::rooms::rooms;
use super::sections::SWEEP_TABLE;
use super::set;
use super::source::{Place, Source, listed, quoted};
use super::sweep::{Axis, Group};
use super::template::{self, Template};
use super::tree::{Entry, Item, Node};
use super::{Scenario, document};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The maximum number of values of a path that are compared with the document. Longer paths give no notes.
const COMPARED: usize = 1000;

impl Template {
    /// Checks that each change affects some run. A change that the sweep overrides is an error, however its path is written.
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
            // A document that is invalid without the change needs it.
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
            Ok(scenario) => self.scenario(&choice).is_ok_and(|with| same_run(&with, &scenario)),
            Err(_) => false,
        })
    }

    /// The paths that hide the change: those without which the first run would differ, or else all paths.
    fn overriding(&self, document: &Item) -> impl Iterator<Item = &Axis> {
        let first = vec![0; self.plan.groups.len()];
        let differs = |axis: &Axis| {
            let read = |document| self.scenario_of(document, &first, Some(axis)).ok();
            match (read(&self.document), read(document)) {
                (Some(with), Some(without)) => !same_run(&with, &without),
                (with, without) => with.is_some() != without.is_some(),
            }
        };
        let some: Vec<&Axis> = self.plan.axes().filter(|axis| differs(axis)).collect();
        let all = some.is_empty();
        some.into_iter().chain(self.plan.axes().filter(move |_| all))
    }

    /// A line for each value of the document that no run uses because the sweep replaces it.
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
        notes.extend(self.hidden_elsewhere());
        notes
    }

    /// Notes on values at paths that are not varied themselves: a rate of both directions if the sweep varies that of each, or
    /// an option in `[transport]` if the sweep varies that of every flow.
    fn hidden_elsewhere(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.choices().count() > COMPARED {
            return notes;
        }
        let mut seen = BTreeSet::new();
        for key in self.plan.axes().filter_map(|axis| axis.keys.last()) {
            if !seen.insert(key) {
                continue;
            }
            for place in entries(&self.document, key) {
                let mut without = self.document.clone();
                let Some(entry) = remove(&mut without, &place) else { continue };
                let varied = |axis: &Axis| {
                    find(&without, &axis.keys).is_none() && find(&self.document, &axis.keys).is_some()
                };
                if self.plan.axes().any(varied) || matches!(entry.item.place, Place::Set(_)) {
                    continue;
                }
                // Skip values that would not matter without the sweep, either.
                let Ok(base) = document::read(&mut Reader::new(self.source(), rooms()), &without) else {
                    continue;
                };
                if same_run(&base, self.base()) || !self.is_lost(&without) {
                    continue;
                }
                let axes = listed(self.overriding(&without).map(|axis| axis.name.as_str()));
                let value = quoted(&label(&entry.item));
                let problem =
                    format!("no run of the sweep has this value, {value}; [{SWEEP_TABLE}] varies {axes}");
                notes.push(self.source().error(entry.item.place, key, problem).to_string());
            }
        }
        notes
    }

    /// Whether some run uses the document's value at a path, perhaps written differently: `10 ms` is `0.01 s`.
    fn is_run(&self, item: &Item, axis: &Axis, (number, group): (usize, &Group)) -> bool {
        let text = label(item);
        if axis.labels.contains(&text) {
            return true;
        }
        // Too many values to compare.
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

/// Whether two scenarios give the same run. `[transport]` and `[tcp]` count only as options of flows.
fn same_run(one: &Scenario, other: &Scenario) -> bool {
    let shared =
        |scenario: &Scenario| Scenario { transport: Arc::default(), tcp: Arc::default(), ..scenario.clone() };
    shared(one) == shared(other)
}

/// The positions of all entries with this key, each as a list of indices into tables and lists.
fn entries(item: &Item, key: &str) -> Vec<Vec<usize>> {
    let below = |(at, item): (usize, &Item)| {
        entries(item, key).into_iter().map(move |place| [vec![at], place].concat())
    };
    match &item.node {
        Node::Table(table) => {
            let own = table.iter().enumerate().filter(|(_, entry)| entry.key == key).map(|(at, _)| vec![at]);
            let deeper = table.iter().enumerate().flat_map(|(at, entry)| below((at, &entry.item)));
            own.chain(deeper).collect()
        }
        Node::List(items) => items.iter().enumerate().flat_map(below).collect(),
        _ => Vec::new(),
    }
}

/// Removes an entry from the document.
fn remove(document: &mut Item, place: &[usize]) -> Option<Entry> {
    let (last, way) = place.split_last()?;
    let parent = way.iter().try_fold(document, |item, at| match &mut item.node {
        Node::Table(entries) => entries.get_mut(*at).map(|entry| &mut entry.item),
        Node::List(items) => items.get_mut(*at),
        _ => None,
    })?;
    match &mut parent.node {
        Node::Table(entries) if *last < entries.len() => Some(entries.remove(*last)),
        _ => None,
    }
}

/// The value at a path of the document, if it exists.
fn find<'a>(document: &'a Item, path: &[String]) -> Option<&'a Item> {
    path.iter().try_fold(document, |item, key| match &item.node {
        Node::List(items) => items.get(set::index(items, key).ok()?),
        _ => item.get(key),
    })
}
