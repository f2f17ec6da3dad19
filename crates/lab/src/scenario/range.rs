//! Reads ranges of a sweep: `{ from = "10 ms", to = "100 ms", step = "10 ms" }`, linear and logarithmic.

use super::error::ScenarioError;
use super::quantity::{FRACTION_DIGITS, Quantity, short};
use super::read::{Reader, Section};
use super::source::one_of;
use super::tree::{Item, Node};
use units::parameter::Choice;

const FROM: &str = "from";
const TO: &str = "to";
const STEP: &str = "step";
const FACTOR: &str = "factor";
const COUNT: &str = "count";
const SCALE: &str = "scale";

/// The keys of a range.
pub(super) const KEYS: [&str; 6] = [FROM, TO, STEP, FACTOR, COUNT, SCALE];
/// The maximum number of values of a path.
pub(super) const MAX_VALUES: usize = 10_000;
/// The number of digits in a logarithmic range, few enough for every machine's logarithm to agree.
const LOGARITHMIC_DIGITS: usize = 6;
/// The relative tolerance for rounding errors at the end of a range.
const SLACK: f64 = 1e-9;

/// Reads a range; returns its values in order.
pub(super) fn read(reader: &Reader<'_>, item: &Item, path: &str) -> Result<Vec<Item>, ScenarioError> {
    let section = reader.section(item, path.to_owned())?;
    reader.check_keys(&section, &[], &KEYS)?;
    let range = Range { reader, section, item };
    let from = range.quantity(FROM)?;
    let to = range.quantity(TO)?;
    let (from, to) = match (from, to) {
        (Quantity::Whole(whole), Quantity::Number(_)) => (Quantity::Number(whole as f64), to),
        (Quantity::Number(_), Quantity::Whole(whole)) => (from, Quantity::Number(whole as f64)),
        _ => (from, to),
    };
    if from.unit() != to.unit() {
        return Err(range.wrong(TO, "another unit", "the unit of `from`"));
    }
    if from.count() >= to.count() {
        return Err(range.wrong(TO, "not above `from`", "a value above it"));
    }
    let counts = range.counts(from, to)?;
    let mut values: Vec<Quantity> = counts.into_iter().map(|count| from.with_count(count)).collect();
    // Rounding may make neighbours equal.
    values.dedup();
    Ok(values.into_iter().map(|value| Item { place: item.place, node: value.node() }).collect())
}

/// How the values of a range with `count` are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
enum Scale {
    Linear,
    Logarithmic,
}

struct Range<'a, 'i> {
    reader: &'a Reader<'a>,
    section: Section<'i>,
    item: &'i Item,
}

impl Range<'_, '_> {
    fn counts(&self, from: Quantity, to: Quantity) -> Result<Vec<f64>, ScenarioError> {
        let how: Vec<&str> =
            [STEP, FACTOR, COUNT].into_iter().filter(|key| self.section.get(key).is_some()).collect();
        if let (Some(entry), false) = (self.section.get(SCALE), how == [COUNT]) {
            let problem = "only for a range with `count`; `step` is linear and `factor` logarithmic";
            return Err(self.reader.source.error(entry.place, &self.section.at(SCALE), problem));
        }
        match how[..] {
            [STEP] => self.steps(from, to),
            [FACTOR] => self.factors(from, to),
            [COUNT] => self.evenly(from, to),
            _ => {
                let problem = "expected exactly one of step, factor, count beside from and to";
                Err(self.reader.source.error(self.item.place, self.section.path(), problem))
            }
        }
    }

    fn steps(&self, from: Quantity, to: Quantity) -> Result<Vec<f64>, ScenarioError> {
        let step = match (self.quantity(STEP)?, from) {
            (Quantity::Whole(whole), Quantity::Number(_)) => Quantity::Number(whole as f64),
            (step, _) => step,
        };
        if step.unit() != from.unit() {
            return Err(self.wrong(STEP, "another unit", "the unit of `from`"));
        }
        if step.count() <= 0.0 {
            return Err(self.wrong(STEP, "not above zero", "a value above zero"));
        }
        let steps = (to.count() - from.count()) / step.count() * (1.0 + SLACK);
        self.limited(STEP, steps.floor())?;
        let value = |i: usize| trimmed(from, from.count() + i as f64 * step.count());
        Ok((0..=steps as usize).map(value).collect())
    }

    fn factors(&self, from: Quantity, to: Quantity) -> Result<Vec<f64>, ScenarioError> {
        let factor = self.number(FACTOR)?;
        if factor <= 1.0 {
            return Err(self.wrong(FACTOR, "not above 1", "a number above 1"));
        }
        self.above_zero(from)?;
        let steps = ((to.count() / from.count()).ln() / factor.ln()) * (1.0 + SLACK) + SLACK;
        self.limited(FACTOR, steps.floor())?;
        let value = |i: usize| short(from.count() * factor.powi(i as i32), LOGARITHMIC_DIGITS);
        Ok((0..=steps as usize).map(|i| if i == 0 { from.count() } else { value(i) }).collect())
    }

    fn evenly(&self, from: Quantity, to: Quantity) -> Result<Vec<f64>, ScenarioError> {
        let count = match self.section.get(COUNT).map(|entry| &entry.item.node) {
            Some(Node::Integer(count)) if (2..=MAX_VALUES as i128).contains(count) => *count as usize,
            _ => return Err(self.wrong(COUNT, "wrong", &format!("a whole number from 2 to {MAX_VALUES}"))),
        };
        let scale = match self.section.get(SCALE).map(|entry| &entry.item.node) {
            None => Some(Scale::Linear),
            Some(Node::Text(word)) => Scale::of_word(word),
            Some(_) => None,
        };
        let Some(scale) = scale else {
            return Err(self.wrong(SCALE, "wrong", &one_of(Scale::WORDS.iter().copied())));
        };
        if scale == Scale::Logarithmic {
            self.above_zero(from)?;
        }
        let (first, last, steps) = (from.count(), to.count(), (count - 1) as f64);
        let value = |i: usize| match i {
            0 => first,
            i if i == count - 1 => last,
            i if scale == Scale::Logarithmic => {
                short(first * (last / first).powf(i as f64 / steps), LOGARITHMIC_DIGITS)
            }
            i => trimmed(from, first + (last - first) * (i as f64 / steps)),
        };
        Ok((0..count).map(value).collect())
    }

    fn above_zero(&self, from: Quantity) -> Result<(), ScenarioError> {
        if from.count() > 0.0 {
            return Ok(());
        }
        Err(self.wrong(FROM, "not above zero", "a value above zero in a logarithmic range"))
    }

    fn limited(&self, key: &str, steps: f64) -> Result<(), ScenarioError> {
        if steps < MAX_VALUES as f64 {
            return Ok(());
        }
        Err(self.wrong(key, "too many values", &format!("at most {MAX_VALUES} of a range")))
    }

    fn quantity(&self, key: &str) -> Result<Quantity, ScenarioError> {
        let Some(entry) = self.section.get(key) else {
            let problem = "missing; expected a number, with its unit if it has one";
            return Err(self.reader.source.error(self.item.place, &self.section.at(key), problem));
        };
        Quantity::read(&entry.item)
            .ok_or_else(|| self.wrong(key, "not a number", "a number, with its unit if it has one"))
    }

    fn number(&self, key: &str) -> Result<f64, ScenarioError> {
        match self.quantity(key)? {
            Quantity::Whole(value) => Ok(value as f64),
            Quantity::Number(value) => Ok(value),
            _ => Err(self.wrong(key, "a unit", "a number without a unit")),
        }
    }

    fn wrong(&self, key: &str, problem: &str, expected: &str) -> ScenarioError {
        let path = self.section.at(key);
        let item = self.section.get(key).map_or(self.item, |entry| &entry.item);
        self.reader.wrong(item, &path, problem, expected)
    }
}

/// Rounds a fraction, so that three steps of 0.1 are 0.3.
fn trimmed(unit: Quantity, count: f64) -> f64 {
    if matches!(unit, Quantity::Number(_)) { short(count, FRACTION_DIGITS) } else { count }
}
