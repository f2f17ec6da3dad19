//! Documents with a sweep, which give a scenario for each combination of values.

use super::document;
use super::error::ScenarioError;
use super::read::Reader;
use super::rooms::rooms;
use super::source::{Place, Source};
use super::sweep::{self, Axis, Plan};
use super::tree::{self, Item};
use super::{Scenario, set};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::parameter::Room;

/// A valid document with a `[sweep]` table.
#[derive(Debug, Clone)]
pub struct Template {
    text: String,
    origin: PathBuf,
    pub(super) sets: Vec<String>,
    /// The document with its changes, without the table.
    pub(super) document: Item,
    rooms: &'static [Room],
    pub(super) plan: Plan,
    base: Scenario,
}

impl Template {
    /// Reads a document like [`Scenario::parse`], and its `[sweep]` table. A document without the table is a sweep of one
    /// run. The check reads the scenario with each varied value, with the first values at all other paths.
    ///
    /// # Errors
    /// The first mistake. A change of a varied path is a mistake.
    pub fn parse(text: &str, origin: &Path, sets: &[String]) -> Result<Template, ScenarioError> {
        let source = Source { origin, text, sets, loads_code: true };
        let (base, document, plan) = read(&source, &BTreeMap::new())?;
        for (number, change) in sets.iter().enumerate() {
            let varied = plan.axes().find(|axis| set::path_of(change).is_some_and(|keys| keys == axis.keys));
            if let Some(axis) = varied {
                // The change would have no effect.
                let name = &axis.name;
                let problem = format!("varied by the sweep; expected sweep.{name}=[...], its values");
                return Err(source.error(Place::Set(number), name, problem));
            }
        }
        let template = Template {
            text: text.to_owned(),
            origin: origin.to_owned(),
            sets: sets.to_vec(),
            document,
            rooms: rooms(),
            plan,
            base,
        };
        template.check()?;
        template.check_changes()?;
        Ok(template)
    }

    /// The sweep.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The scenario without the sweep.
    pub fn base(&self) -> &Scenario {
        &self.base
    }

    /// The scenario of one combination, which has the index of a value for each group.
    ///
    /// # Errors
    /// If the values are inconsistent.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn scenario(&self, choice: &[usize]) -> Result<Scenario, ScenarioError> {
        self.scenario_of(&self.document, choice, None)
    }

    /// The scenario of one combination for another document, without one axis.
    pub(super) fn scenario_of(
        &self,
        document: &Item,
        choice: &[usize],
        without: Option<&Axis>,
    ) -> Result<Scenario, ScenarioError> {
        let source = self.source();
        let mut document = document.clone();
        for (group, index) in self.plan.groups.iter().zip(choice) {
            for axis in group.axes.iter().filter(|axis| without.is_none_or(|other| other.keys != axis.keys)) {
                axis.put(&mut document, *index).map_err(|(depth, problem)| {
                    let (place, key) = axis.place(*index, depth);
                    source.error(place, &key, problem)
                })?;
            }
        }
        document::read(&mut Reader::new(source, self.rooms), &document)
    }

    pub(super) fn source(&self) -> Source<'_> {
        Source { origin: &self.origin, text: &self.text, sets: &self.sets, loads_code: true }
    }

    /// Combinations that contain each value of each path once, with the first values at all other paths.
    pub(crate) fn choices(&self) -> impl Iterator<Item = Vec<usize>> {
        let groups = &self.plan.groups;
        let first = vec![0; groups.len()];
        let others = groups.iter().enumerate().flat_map(move |(number, group)| {
            (1..group.len()).map(move |index| {
                let mut choice = vec![0; groups.len()];
                choice[number] = index;
                choice
            })
        });
        std::iter::once(first).chain(others)
    }

    fn check(&self) -> Result<(), ScenarioError> {
        self.choices().try_for_each(|choice| self.scenario(&choice).map(drop))
    }
}

/// Reads the scenario of a document and its `[sweep]` table; also returns the document with its changes. `files` replace the
/// files at their paths.
pub(super) fn read(
    source: &Source<'_>,
    files: &BTreeMap<PathBuf, Arc<str>>,
) -> Result<(Scenario, Item, Plan), ScenarioError> {
    read_tree(tree::document(source)?, source, files)
}

/// [`read`] with the values of the document's text.
pub(super) fn read_tree(
    mut document: Item,
    source: &Source<'_>,
    files: &BTreeMap<PathBuf, Arc<str>>,
) -> Result<(Scenario, Item, Plan), ScenarioError> {
    set::apply(&mut document, source)?;
    let table = sweep::take(&mut document).unwrap_or(sweep::empty(document.place));
    let rooms = rooms();
    let mut reader = Reader::new(*source, rooms).with_files(files);
    let scenario = document::read(&mut reader, &document)?;
    let plan = sweep::read(&mut reader, &table)?;
    sweep::check_kept(&reader, &table, &plan, &scenario)?;
    Ok((scenario, document, plan))
}
