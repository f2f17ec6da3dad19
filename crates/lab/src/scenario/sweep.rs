//! Reads the `[sweep]` table: the varied values of a scenario, and the number of repetitions.

use super::error::ScenarioError;
use super::quantity::{Quantity, Unit, label};
use super::range::{self, MAX_VALUES};
use super::read::{Reader, Section};
use super::sections::{self, RecordOptions, SWEEP_TABLE as KEY, Seeds, SweepOptions, TopOptions, ZIP};
use super::set;
use super::source::{Place, one_of, quoted, suggestion};
use super::tree::{Entry, Item, Node};
use crate::nearest::nearest;
use std::collections::BTreeSet;
use units::parameter::{Choice, Options};

/// The maximum number of runs of a sweep.
pub const MAX_RUNS: u64 = 1_000_000;
/// The maximum number of paths that a sweep varies.
const MAX_AXES: usize = 32;
const EXPECTED_VALUES: &str =
    "a list of values, or a range like { from = \"10 ms\", to = \"100 ms\", step = \"10 ms\" }";

/// The content of a `[sweep]` table.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The number of runs of each combination of values.
    pub repetitions: u32,
    /// The seeds of repetitions.
    pub seeds: Seeds,
    /// The results of each run that are kept beside its summary.
    pub keep: Keep,
    /// The varied paths. Each value of one group is combined with each value of all others.
    pub groups: Vec<Group>,
}

/// The results of each run that are kept beside its summary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keep {
    /// The tables whose time series are kept.
    pub series: Vec<String>,
    /// The tables that are kept whole.
    pub tables: Vec<String>,
}

impl Keep {
    /// Whether it contains no table.
    pub fn is_empty(&self) -> bool {
        self.series.is_empty() && self.tables.is_empty()
    }
}

/// Paths that vary together.
#[derive(Debug, Clone)]
pub struct Group {
    /// The paths, all with the same number of values: one path for a product, more for a zip.
    pub axes: Vec<Axis>,
}

/// A path and its values.
#[derive(Debug, Clone)]
pub struct Axis {
    /// Its name: the path as in `--set`.
    pub name: String,
    pub(super) keys: Vec<String>,
    pub(super) items: Vec<Item>,
    /// The values as text, which differ if this is the only path of its group.
    pub labels: Vec<String>,
    /// The values as numbers, if all have one unit.
    pub numbers: Option<(Unit, Vec<f64>)>,
}

impl Plan {
    /// The number of combinations of values.
    pub fn points(&self) -> u64 {
        self.groups.iter().map(|group| group.len() as u64).fold(1, u64::saturating_mul)
    }
    /// All paths that vary, in the order of the table.
    pub fn axes(&self) -> impl Iterator<Item = &Axis> {
        self.groups.iter().flat_map(|group| &group.axes)
    }
}

impl Group {
    /// The number of values of each path.
    pub fn len(&self) -> usize {
        self.axes.first().map_or(0, |axis| axis.labels.len())
    }
    /// Whether it has no values, which is never true for a group that was read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Takes the `[sweep]` table out of a document.
pub(super) fn take(document: &mut Item) -> Option<Entry> {
    let Node::Table(entries) = &mut document.node else { return None };
    let index = entries.iter().position(|entry| entry.key == KEY)?;
    Some(entries.remove(index))
}

/// An empty table.
pub(super) fn empty(place: Place) -> Entry {
    Entry { key: KEY.to_owned(), place, item: Item { place, node: Node::Table(Vec::new()) } }
}

/// Reads the table.
pub(super) fn read(reader: &mut Reader<'_>, table: &Entry) -> Result<Plan, ScenarioError> {
    let section = reader.section(&table.item, KEY.to_owned())?;
    let mut options: SweepOptions = reader.options(&section)?;
    let mut groups = Vec::new();
    for entry in section.entries() {
        if entry.key == ZIP {
            groups.extend(zips(reader, entry)?);
        } else if SweepOptions::PARAMETERS.iter().all(|parameter| parameter.name != entry.key) {
            groups.extend(axes_of(reader, entry, KEY)?.into_iter().map(|axis| Group { axes: vec![axis] }));
        }
    }
    replace_changed(reader, &mut groups)?;
    options.keep.sort_by_key(Choice::word);
    options.keep.dedup();
    let keep = Keep { series: words(&options.series), tables: words(&options.keep) };
    let plan = Plan { repetitions: options.repetitions, seeds: options.seeds, keep, groups };
    check(reader, &section, &plan)?;
    Ok(plan)
}

/// The words of choices.
fn words<T: Choice>(of: &[T]) -> Vec<String> {
    of.iter().map(|choice| choice.word().to_owned()).collect()
}

/// Replaces values in the document by those of changes. The path in the document may be in quotation marks, in tables, or in
/// a zip.
fn replace_changed(reader: &Reader<'_>, groups: &mut Vec<Group>) -> Result<(), ScenarioError> {
    let changed = |axis: &Axis| matches!(axis.items[0].place, Place::Set(_));
    let mut number = 0;
    let mut replaced: Vec<Vec<String>> = Vec::new();
    while number < groups.len() {
        let found = match groups[number].axes.as_slice() {
            [axis] if changed(axis) => groups.iter().enumerate().find_map(|(other, group)| {
                let place = group.axes.iter().position(|old| old.keys == axis.keys && !changed(old))?;
                Some((other, place))
            }),
            _ => None,
        };
        let Some((group, place)) = found else {
            number += 1;
            continue;
        };
        let axis = groups[number].axes[0].clone();
        replaced.push(axis.keys.clone());
        groups[group].axes[place] = axis;
        groups.remove(number);
    }
    // Changes may replace several paths of a zip, with another length.
    for group in groups.iter() {
        let mine = |axis: &&Axis| replaced.contains(&axis.keys);
        let other = group.axes.iter().find(|axis| !mine(axis)).or(group.axes.first());
        let other = other.expect("a group has at least one path");
        let length = other.labels.len();
        if let Some(axis) = group.axes.iter().filter(mine).find(|axis| axis.labels.len() != length) {
            let problem = format!(
                "wrong length, found {} values; expected {length}, as many as the paths that vary with it \
                 have",
                axis.labels.len()
            );
            return Err(reader.source.error(axis.items[0].place, &format!("{KEY}.{}", axis.name), problem));
        }
    }
    Ok(())
}

/// Checks that runs record the tables that the sweep keeps.
pub(super) fn check_kept(
    reader: &Reader<'_>,
    table: &Entry,
    plan: &Plan,
    scenario: &super::Scenario,
) -> Result<(), ScenarioError> {
    let recorded = words(&scenario.record.value(RecordOptions::TABLES));
    let is_missing = |name: &&String| !recorded.contains(name);
    let Some(missing) = plan.keep.tables.iter().find(is_missing) else { return Ok(()) };
    let problem = format!("{} is not recorded; expected it in record.tables", quoted(missing));
    let key = SweepOptions::KEEP.name;
    let place = table.item.get(key).map_or(table.place, |item| item.place);
    Err(reader.source.error(place, &format!("{KEY}.{key}"), problem))
}

/// Checks the rules across the table.
fn check(reader: &Reader<'_>, section: &Section<'_>, plan: &Plan) -> Result<(), ScenarioError> {
    let mut seen = BTreeSet::new();
    for axis in plan.axes() {
        let path = format!("{KEY}.{}", axis.name);
        if !seen.insert(&axis.keys) {
            let problem = "given twice; expected each path once";
            return Err(reader.source.error(axis.items[0].place, &path, problem));
        }
    }
    if seen.len() > MAX_AXES {
        let problem = format!("too many paths, found {}; expected at most {MAX_AXES}", seen.len());
        return Err(reader.source.error(section.place, KEY, problem));
    }
    for group in &plan.groups {
        distinct(reader, group)?;
    }
    if plan.repetitions > 1 && plan.axes().any(|axis| axis.name == TopOptions::SEED.name) {
        let expected = "1 where the seed itself is varied";
        return Err(reader.wrong_at(section, SweepOptions::REPETITIONS.name, "not allowed", expected));
    }
    let runs = plan.points().saturating_mul(u64::from(plan.repetitions));
    if runs > MAX_RUNS {
        let problem = format!("too many runs, found {runs}; expected at most {MAX_RUNS}");
        return Err(reader.source.error(section.place, KEY, problem));
    }
    Ok(())
}

/// Checks that the combinations of values in a group are distinct.
fn distinct(reader: &Reader<'_>, group: &Group) -> Result<(), ScenarioError> {
    let mut seen = BTreeSet::new();
    for index in 0..group.len() {
        let labels: Vec<&str> = group.axes.iter().map(|axis| axis.labels[index].as_str()).collect();
        let found = labels.join(", ");
        if !seen.insert(labels) {
            let axis = &group.axes[0];
            let problem = format!("given twice, found {}; expected each value once", quoted(&found));
            let path = format!("{KEY}.{}", axis.name);
            return Err(reader.source.error(axis.items[index].place, &path, problem));
        }
    }
    Ok(())
}

/// Reads `[[sweep.zip]]`: the paths of each table vary together.
fn zips(reader: &Reader<'_>, entry: &Entry) -> Result<Vec<Group>, ScenarioError> {
    let path = format!("{KEY}.{ZIP}");
    let Node::List(tables) = &entry.item.node else {
        return Err(reader.wrong(&entry.item, &path, "wrong type", "an array of tables, [[sweep.zip]]"));
    };
    let zip = |(number, table): (usize, &Item)| {
        let path = format!("{path}.{number}");
        let section = reader.section(table, path.clone())?;
        let mut axes = Vec::new();
        for entry in section.entries() {
            axes.extend(axes_of(reader, entry, &path)?);
        }
        if axes.len() < 2 {
            let problem =
                format!("too few paths, found {}; expected two or more that vary together", axes.len());
            return Err(reader.source.error(table.place, &path, problem));
        }
        let length = axes[0].labels.len();
        if let Some(other) = axes.iter().find(|axis| axis.labels.len() != length) {
            let problem = format!(
                "wrong length, found {} values; expected {length}, as many as {} has",
                other.labels.len(),
                axes[0].name
            );
            let path = format!("{path}.{}", other.name);
            return Err(reader.source.error(other.items[0].place, &path, problem));
        }
        Ok(Group { axes })
    };
    tables.iter().enumerate().map(zip).collect()
}

/// The first keys of paths.
fn roots() -> impl Iterator<Item = &'static str> {
    [TopOptions::SEED.name, TopOptions::DURATION.name]
        .into_iter()
        .chain(sections::tables().filter(|name| *name != KEY))
}

/// Reads the paths that begin with a key: the key itself, or the keys of tables below it.
fn axes_of(reader: &Reader<'_>, entry: &Entry, above: &str) -> Result<Vec<Axis>, ScenarioError> {
    // A path may be in quotation marks, as in `--set`.
    let keys = set::path(&entry.key).filter(|keys| !keys.iter().any(String::is_empty));
    let keys = keys.unwrap_or_else(|| vec![entry.key.clone()]);
    if roots().all(|root| root != keys[0]) {
        let known =
            || SweepOptions::PARAMETERS.iter().map(|parameter| parameter.name).chain([ZIP]).chain(roots());
        let near = suggestion(nearest(&keys[0], known()));
        let problem = format!("unknown key, found {}; expected {}{near}", quoted(&keys[0]), one_of(known()));
        return Err(reader.source.error(entry.place, &format!("{above}.{}", entry.key), problem));
    }
    let mut axes = Vec::new();
    walk(reader, &entry.item, (keys, above), &mut axes)?;
    Ok(axes)
}

fn walk(
    reader: &Reader<'_>,
    item: &Item,
    (keys, above): (Vec<String>, &str),
    axes: &mut Vec<Axis>,
) -> Result<(), ScenarioError> {
    let path = format!("{above}.{}", keys.join("."));
    match &item.node {
        Node::List(items) if items.is_empty() || items.len() > MAX_VALUES => {
            let problem = format!("{} values; expected 1 to {MAX_VALUES}", items.len());
            Err(reader.source.error(item.place, &path, problem))
        }
        Node::List(items) => {
            axes.push(Axis::new(keys, items.clone()));
            Ok(())
        }
        Node::Table(entries) if entries.iter().any(is_part_of_a_range) => {
            axes.push(Axis::new(keys, range::read(reader, item, &path)?));
            Ok(())
        }
        Node::Table(entries) => entries.iter().try_for_each(|entry| {
            let keys = keys.iter().cloned().chain([entry.key.clone()]).collect();
            walk(reader, &entry.item, (keys, above), axes)
        }),
        _ => Err(reader.wrong(item, &path, "a single value", EXPECTED_VALUES)),
    }
}

/// Whether the entry is that of a range. Links also have keys `from` and `to`, but their values in a sweep are lists.
fn is_part_of_a_range(entry: &Entry) -> bool {
    range::KEYS.contains(&entry.key.as_str()) && !matches!(entry.item.node, Node::List(_) | Node::Table(_))
}

impl Axis {
    fn new(keys: Vec<String>, items: Vec<Item>) -> Axis {
        let quantities: Option<Vec<Quantity>> = items.iter().map(Quantity::read).collect();
        let numbers = quantities.and_then(|quantities| {
            let unit = common_unit(&quantities)?;
            Some((unit, quantities.into_iter().map(Quantity::value).collect()))
        });
        Axis { name: keys.join("."), keys, labels: items.iter().map(label).collect(), items, numbers }
    }

    /// The name of its column in tables: the path, with the unit of its values.
    pub fn column(&self) -> String {
        let suffix = self.numbers.as_ref().map_or("", |(unit, _)| unit.suffix());
        // Columns of results have the names `seed` and `duration`, too.
        let prefix = if self.keys.len() == 1 { "scenario." } else { "" };
        format!("{prefix}{}{suffix}", self.name)
    }

    /// Sets one of the values in the document.
    pub(super) fn put(&self, document: &mut Item, index: usize) -> Result<(), (usize, String)> {
        let item = &self.items[index];
        set::put(document, &self.keys, item.clone(), item.place)
    }

    /// The place of one of the values, and the first keys of the path.
    pub(super) fn place(&self, index: usize, depth: usize) -> (Place, String) {
        (self.items[index].place, self.keys[..depth].join("."))
    }
}

/// The common unit, if there is one. Whole numbers and other numbers without a unit have a common one.
fn common_unit(quantities: &[Quantity]) -> Option<Unit> {
    let first = quantities.first()?.unit();
    if quantities.iter().all(|quantity| quantity.unit() == first) {
        return Some(first);
    }
    let bare = |quantity: &Quantity| matches!(quantity.unit(), Unit::Whole | Unit::Number);
    quantities.iter().all(bare).then_some(Unit::Number)
}
