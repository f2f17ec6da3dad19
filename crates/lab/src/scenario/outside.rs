//! Components that are written outside of the lab and named by where they are: `"mine.py:Mine"`, `"package.module:Mine"`.
//!
//! Who can read such code says so with [`set_loader`] (the Python package does). What a word names is looked up when a scenario
//! is read, becomes a row of its room, and is from then on a component like any other: its options are checked, resolved
//! and swept. The text of a file is a value of the scenario (option `source`): it goes to other machines with it, and an
//! old scenario runs with the text that it was read with.

use super::source::quoted;
use super::write;
use congestion::{Controller, Setup};
use schedule::{RETRANSMISSIONS, Scheduler};
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use units::parameter::{Arguments, Default, File, Kind, Parameter, Row, Value};

/// The option that holds the file of a component.
pub const SOURCE: &str = "source";
/// The most options that a component may have.
pub const MAX_OPTIONS: usize = 64;

const MOST: u64 = i64::MAX as u64;

/// What can be written outside of the lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A congestion controller.
    Controller,
    /// A stream scheduler.
    Scheduler,
}

impl Part {
    /// The part whose components are in this room.
    pub(super) fn of(room: &str) -> Option<Part> {
        match room {
            "controllers" => Some(Part::Controller),
            "schedulers" => Some(Part::Scheduler),
            _ => None,
        }
    }

    /// The word for one.
    pub fn word(self) -> &'static str {
        match self {
            Part::Controller => "controller",
            Part::Scheduler => "scheduler",
        }
    }
}

/// A component by its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// The file that it is in; if `None`, it is in a module.
    pub file: Option<File>,
    /// The name of the module, if it is in no file.
    pub module: String,
    /// Its name there.
    pub class: String,
}

/// What is known of a component before it is made.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// One line: what it is.
    pub about: String,
    /// Its options with their defaults: flags, integers, numbers and texts.
    pub options: Vec<(String, Value)>,
}

/// Reads code that is not of the lab.
pub trait Loader: Sync {
    /// Reads a component, without making one.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    fn describe(&self, part: Part, wanted: &Wanted) -> Result<Described, String>;
    /// Makes a controller. What goes wrong is told by [`units::fault::raise`].
    fn controller(&self, wanted: &Wanted, arguments: &Arguments, setup: Setup) -> Box<dyn Controller>;
    /// Makes a scheduler. What goes wrong is told by [`units::fault::raise`].
    fn scheduler(&self, wanted: &Wanted, arguments: &Arguments) -> Box<dyn Scheduler>;
}

static LOADER: OnceLock<&'static dyn Loader> = OnceLock::new();

/// Says who reads code from outside. The first one stays.
pub fn set_loader(loader: &'static dyn Loader) {
    let _ = LOADER.set(loader);
}

/// Whether a name is that of a component that is written outside of the lab.
pub(crate) fn is_outside(name: &str) -> bool {
    name.contains(':')
}

/// The row of a component that a word of a scenario names by its place; `None` if it is no such word. `read` reads a file
/// that it names.
///
/// # Errors
/// What is wrong, and what would be right.
pub(super) fn component(
    part: Part,
    word: &str,
    read: impl FnOnce(&str) -> Result<File, String>,
) -> Option<Result<Row<()>, String>> {
    let (place, class) = word.rsplit_once(':')?;
    Some(load(part, place, class, read))
}

fn load(
    part: Part,
    place: &str,
    class: &str,
    read: impl FnOnce(&str) -> Result<File, String>,
) -> Result<Row<()>, String> {
    let Some(loader) = LOADER.get() else {
        return Err("code from outside, which only the Python package can read".to_owned());
    };
    let wanted = if place.ends_with(".py") {
        Wanted { file: Some(read(place)?), module: String::new(), class: class.to_owned() }
    } else {
        Wanted { file: None, module: place.to_owned(), class: class.to_owned() }
    };
    row(*loader, part, &wanted, &loader.describe(part, &wanted)?)
}

/// The rows that were made, with what they were made from.
type Known = BTreeMap<(Part, String), (Described, Row<()>)>;

/// The row for what was described: the one that is there, if it says the same.
fn row(
    loader: &'static dyn Loader,
    part: Part,
    wanted: &Wanted,
    described: &Described,
) -> Result<Row<()>, String> {
    static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());
    let place = wanted.file.as_ref().map_or(&wanted.module, |file| &file.path);
    let name = format!("{place}:{}", wanted.class);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (part, name.clone());
    if let Some((_, row)) = known.get(&key).filter(|(before, _)| before == described) {
        return Ok(*row);
    }
    // Rows last as long as the process: a new one is needed only when somebody has changed the options.
    let face = Row {
        name: String::leak(name),
        about: String::leak(described.about.clone()),
        parameters: Vec::leak(parameters(part, wanted, described)?),
        build: (),
    };
    plug(loader, part, wanted, face)?;
    known.insert(key, (described.clone(), face));
    Ok(face)
}

/// Makes the row known in its room.
fn plug(
    code: &'static dyn Loader,
    part: Part,
    wanted: &Wanted,
    Row { name, about, parameters, .. }: Row<()>,
) -> Result<(), String> {
    let asked = wanted.clone();
    // With the text that this scenario was read with.
    let with = move |arguments: &Arguments| {
        let file = asked.file.as_ref().map(|_| arguments.file(SOURCE));
        Wanted { file, ..asked.clone() }
    };
    let plugged = match part {
        Part::Controller => {
            let build = move |arguments: &Arguments, setup: Setup| {
                code.controller(&with(arguments), arguments, setup)
            };
            congestion::plug(Row { name, about, parameters, build: Box::leak(Box::new(build)) })
        }
        Part::Scheduler => {
            let build = move |arguments: &Arguments| code.scheduler(&with(arguments), arguments);
            schedule::plug(Row { name, about, parameters, build: Box::leak(Box::new(build)) })
        }
    };
    plugged.map_err(|error| error.to_string())
}

/// The options of what was described, and those that every component of its room has.
fn parameters(part: Part, wanted: &Wanted, described: &Described) -> Result<Vec<Parameter>, String> {
    let mut parameters = Vec::new();
    if let Some(file) = &wanted.file {
        parameters.push(Parameter {
            name: SOURCE,
            kind: Kind::File(""),
            default: Default::Is(String::leak(write::written(&Value::File(file.clone())))),
            about: "file that it is in",
        });
    }
    if part == Part::Scheduler {
        parameters.push(RETRANSMISSIONS);
    }
    if described.options.len() > MAX_OPTIONS {
        return Err(format!("{} options; expected at most {MAX_OPTIONS}", described.options.len()));
    }
    for (option, value) in &described.options {
        if parameters.iter().any(|row| row.name == option) {
            return Err(format!(
                "an option cannot be called {}: every {} has it",
                quoted(option),
                part.word()
            ));
        }
        parameters.push(parameter(option, value)?);
    }
    Ok(parameters)
}

fn parameter(option: &str, value: &Value) -> Result<Parameter, String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if option.is_empty() || !option.chars().all(word) || [SOURCE, "type"].contains(&option) {
        let option = quoted(option);
        return Err(format!(
            "an option cannot be called {option}; expected letters, digits and _, and not \"type\" or \"source\""
        ));
    }
    let (kind, default) = match value {
        Value::Flag(_) => (Kind::Flag, write::written(value)),
        Value::Integer(0..=MOST) => (Kind::Integer(0, MOST), write::written(value)),
        Value::Number(number) if number.is_finite() => {
            (Kind::Number(f64::MIN, f64::MAX), write::written(value))
        }
        Value::Text(_) => (Kind::Text, write::written(value)),
        _ => {
            return Err(format!(
                "option {option} has a default that cannot be one; expected true or false, a whole number of 0 or more, a finite number with a point, or text"
            ));
        }
    };
    Ok(Parameter {
        name: String::leak(option.to_owned()),
        kind,
        default: Default::Is(String::leak(default)),
        about: "option of the code",
    })
}
