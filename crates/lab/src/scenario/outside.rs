//! Components that are written outside of the lab and named by where they are: `"mine.py:Mine"`, `"package.module:Mine"`.
//!
//! Who can read such code says so with [`set_loader`] (the Python package does). What a word names is looked up when a scenario
//! is read, becomes a row of its room, and is from then on a component like any other: its options are checked, resolved
//! and swept. The text of a file is a value of the scenario (option `source`): it goes to other machines with it, and an
//! old scenario runs with the text that it was read with.

use super::source::quoted;
use super::write;
use congestion::{Controller, Setup};
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use units::parameter::{Arguments, Default, File, Kind, Parameter, Row, Value};

/// The option that holds the file of a component.
pub const SOURCE: &str = "source";
/// The most options that a component may have.
pub const MAX_OPTIONS: usize = 64;

const MOST: u64 = i64::MAX as u64;

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
    /// Reads a controller, without making one.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    fn describe(&self, wanted: &Wanted) -> Result<Described, String>;
    /// Makes one. What goes wrong is told by [`units::fault::raise`].
    fn controller(&self, wanted: &Wanted, arguments: &Arguments, setup: Setup) -> Box<dyn Controller>;
}

static LOADER: OnceLock<&'static dyn Loader> = OnceLock::new();

/// Says who reads code from outside. The first one stays.
pub fn set_loader(loader: &'static dyn Loader) {
    let _ = LOADER.set(loader);
}

/// The row of a controller that a word of a scenario names by its place; `None` if it is no such word. `read` reads a file
/// that it names.
///
/// # Errors
/// What is wrong, and what would be right.
pub(super) fn controller(
    word: &str,
    read: impl FnOnce(&str) -> Result<File, String>,
) -> Option<Result<Row<()>, String>> {
    let (place, class) = word.rsplit_once(':')?;
    Some(load(place, class, read))
}

fn load(
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
    row(*loader, &wanted, &loader.describe(&wanted)?)
}

/// The row for what was described: the one that is there, if it says the same.
fn row(loader: &'static dyn Loader, wanted: &Wanted, described: &Described) -> Result<Row<()>, String> {
    static KNOWN: Mutex<BTreeMap<String, (Described, Row<()>)>> = Mutex::new(BTreeMap::new());
    let place = wanted.file.as_ref().map_or(&wanted.module, |file| &file.path);
    let name = format!("{place}:{}", wanted.class);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, row)) = known.get(&name).filter(|(before, _)| before == described) {
        return Ok(*row);
    }
    // Rows last as long as the process: a new one is needed only when somebody has changed the options.
    let mut parameters = Vec::new();
    if let Some(file) = &wanted.file {
        parameters.push(Parameter {
            name: SOURCE,
            kind: Kind::File,
            default: Default::Is(String::leak(write::written(&Value::File(file.clone())))),
            about: "file that it is in",
        });
    }
    if described.options.len() > MAX_OPTIONS {
        return Err(format!("{} options; expected at most {MAX_OPTIONS}", described.options.len()));
    }
    for (option, value) in &described.options {
        parameters.push(parameter(option, value)?);
    }
    let (asked, code) = (wanted.clone(), loader);
    let build = move |arguments: &Arguments, setup: Setup| {
        // With the text that this scenario was read with.
        let file = asked.file.as_ref().map(|_| arguments.file(SOURCE));
        code.controller(&Wanted { file, ..asked.clone() }, arguments, setup)
    };
    let row = Row::<congestion::Build> {
        name: String::leak(name.clone()),
        about: String::leak(described.about.clone()),
        parameters: Vec::leak(parameters),
        build: Box::leak(Box::new(build)),
    };
    congestion::plug(row).map_err(|error| error.to_string())?;
    known.insert(name, (described.clone(), row.face()));
    Ok(row.face())
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
