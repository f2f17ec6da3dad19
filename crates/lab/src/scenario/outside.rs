//! Components from outside the lab, which scenarios name by their place: `"mine.py:Mine"`, `"package.module:Mine"`.
//!
//! [`set_loader`] sets the loader of such code, as the Python package does. The reader of scenarios loads a component and
//! adds it to its room as a row. From then on it is like any other component: its options are checked, resolved and swept.
//! The text of a file is a value of the scenario (option `source`). It goes to other machines with the scenario, which
//! always runs with the text that was read.

pub use super::place::SOURCE;
use super::source::quoted;
use super::write;
use schedule::RETRANSMISSIONS;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock, PoisonError};
use units::parameter::{Arguments, Component, Default, File, Kind, Parameter, Row, Value};
pub use units::plugged::PlugError;

/// The maximum number of options of a component.
pub const MAX_OPTIONS: usize = 64;

const MOST: u64 = i64::MAX as u64;

/// A kind of components from outside.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// The room whose components they are.
    pub room: &'static str,
    /// Its name.
    pub word: &'static str,
    /// Options that all of them have, whatever their code says.
    pub options: &'static [Parameter],
}

/// The kinds of components from outside.
pub static PARTS: &[Part] = &[
    Part { room: "controllers", word: "controller", options: &[] },
    Part { room: "schedulers", word: "scheduler", options: &[RETRANSMISSIONS] },
    Part { room: "abrs", word: "rate adaptation", options: &[] },
    Part { room: "queues", word: "queue", options: &[] },
    Part { room: "losses", word: "loss model", options: &[] },
    Part { room: "jitters", word: "jitter", options: &[] },
    Part { room: "rates", word: "rate", options: &[] },
    Part { room: "kinds", word: "middlebox", options: &[] },
    Part { room: "cell_schedulers", word: "cell scheduler", options: &[] },
    Part { room: "applications", word: "application", options: &[] },
];

impl Part {
    /// The kind of the components in this room.
    pub fn of(room: &str) -> Option<&'static Part> {
        PARTS.iter().find(|part| part.room == room)
    }
}

/// The place of a component.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// The file; `None` for a component in a module.
    pub file: Option<File>,
    /// The name of the module; empty for a component in a file.
    pub module: String,
    /// The name of the component in the file or module.
    pub class: String,
}

impl Wanted {
    /// The component whose file has the text of these arguments, with which the scenario was read.
    #[must_use]
    pub fn with(&self, arguments: &Arguments) -> Wanted {
        Wanted { file: self.file.as_ref().map(|_| arguments.file(SOURCE)), ..self.clone() }
    }
}

/// The description of a component.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// One line of explanation.
    pub about: String,
    /// Its options with their defaults, which are flags, integers, numbers or texts.
    pub options: Vec<(String, Value)>,
}

/// A loader of code from outside.
pub trait Loader: Sync {
    /// Loads the description of a component.
    ///
    /// # Errors
    /// The problem, in one line.
    fn describe(&self, part: &'static Part, wanted: &Wanted) -> Result<Described, String>;
    /// Adds a component to the table of its room, as a row with this face. What the row builds reports failures by
    /// [`units::fault::raise`].
    ///
    /// # Errors
    /// See [`PlugError`].
    fn plug(&self, part: &'static Part, wanted: &Wanted, face: Row<()>) -> Result<(), PlugError>;
    /// Does the work of a thread that makes many runs: a loader may keep for it what its components need at each call.
    fn on_worker(&self, work: &mut (dyn FnMut() + Send)) {
        work();
    }
}

/// Does the work of a thread that makes many runs as the loader wants it, if there is one.
pub(crate) fn on_worker(work: &mut (dyn FnMut() + Send)) {
    match LOADER.get() {
        Some(loader) => loader.on_worker(work),
        None => work(),
    }
}

static LOADER: OnceLock<&'static dyn Loader> = OnceLock::new();

/// Sets the loader of code from outside. Only the first call has an effect.
pub fn set_loader(loader: &'static dyn Loader) {
    let _ = LOADER.set(loader);
}

/// The row of a component that a word names by its place; `None` for other words. `read` reads its file.
///
/// # Errors
/// The problem, and what would be right.
pub(super) fn component(
    part: &'static Part,
    word: &str,
    read: impl FnOnce(&str) -> Result<File, String>,
) -> Option<Result<Row<()>, String>> {
    let (place, class) = word.rsplit_once(':')?;
    Some(load(part, place, class, read))
}

/// A component of results that are read: its code is not loaded. It has the options that its table in the document gives.
pub(super) fn unloaded(room: &'static str, word: &str, options: Vec<(String, Value)>) -> Component {
    let options = options.into_iter().map(|(option, value)| (lasting(&option), value));
    Component { room, name: lasting(word), arguments: Arguments(options.collect()) }
}

/// The same text for as long as the process lives. A text that was there before takes no more memory.
fn lasting(text: &str) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.get(text) {
        return found;
    }
    let text: &'static str = String::leak(text.to_owned());
    known.insert(text);
    text
}

fn load(
    part: &'static Part,
    place: &str,
    class: &str,
    read: impl FnOnce(&str) -> Result<File, String>,
) -> Result<Row<()>, String> {
    let Some(loader) = LOADER.get() else {
        return Err("a Python class, which only the Python package can load".to_owned());
    };
    let wanted = if place.ends_with(".py") {
        Wanted { file: Some(read(place)?), module: String::new(), class: class.to_owned() }
    } else {
        Wanted { file: None, module: place.to_owned(), class: class.to_owned() }
    };
    row(*loader, part, &wanted, &loader.describe(part, &wanted)?)
}

/// All rows from outside, with their descriptions.
type Known = BTreeMap<(&'static str, String), (Described, Row<()>)>;

/// The row for a description. An existing row is reused if its description is equal.
fn row(
    loader: &'static dyn Loader,
    part: &'static Part,
    wanted: &Wanted,
    described: &Described,
) -> Result<Row<()>, String> {
    static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());
    let place = wanted.file.as_ref().map_or(&wanted.module, |file| &file.path);
    let name = format!("{place}:{}", wanted.class);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (part.room, name.clone());
    if let Some((_, row)) = known.get(&key).filter(|(before, _)| before == described) {
        return Ok(*row);
    }
    // Rows live as long as the process. A new one is needed only after a change of the options.
    let face = Row {
        name: String::leak(name),
        about: String::leak(described.about.clone()),
        parameters: Vec::leak(parameters(part, wanted, described)?),
        build: (),
    };
    loader.plug(part, wanted, face).map_err(|error| error.to_string())?;
    known.insert(key, (described.clone(), face));
    Ok(face)
}

/// The options of a description, and those of all components of the room.
fn parameters(part: &Part, wanted: &Wanted, described: &Described) -> Result<Vec<Parameter>, String> {
    let mut parameters = Vec::new();
    if let Some(file) = &wanted.file {
        parameters.push(Parameter {
            name: SOURCE,
            kind: Kind::File(""),
            default: Default::Is(String::leak(write::written(&Value::File(file.clone())))),
            about: "file that contains it",
        });
    }
    parameters.extend(part.options);
    if described.options.len() > MAX_OPTIONS {
        return Err(format!("{} options; expected at most {MAX_OPTIONS}", described.options.len()));
    }
    for (option, value) in &described.options {
        if parameters.iter().any(|row| row.name == option) {
            return Err(format!("an option cannot be called {}: every {} has it", quoted(option), part.word));
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
                "option {option} has an unsupported default; expected true or false, a whole number of 0 \
                 or more, a finite number with a point, or text"
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
