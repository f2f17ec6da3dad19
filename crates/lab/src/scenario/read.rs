//! Reads tables of options and their values as the rows of parameters say.

use super::error::ScenarioError;
use super::files::{EXPECTED_HERE, Files, Unread, file};
use super::kind::{expected, shorthand};
use super::outside;
use super::source::{self, Place, Source, one_of, quoted, suggestion};
use super::tree::{Entry, Item, Node, parse_value};
use super::unshown::without_contents;
use crate::nearest::nearest;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use units::parameter::{Arguments, Component, Default, Key, Kind, Options, Parameter, Room, Row, Value};
use units::{Duration, ParseError};

/// The key of a component's table that says which row it is.
const TYPE: &str = "type";

/// A table of the document, or several tables as layers: an upper layer hides the keys of the lower ones.
#[derive(Debug, Clone)]
pub(super) struct Section<'i> {
    /// The beginning of the uppermost layer.
    pub(super) place: Place,
    /// The paths and entries of all layers, from the uppermost down.
    layers: Vec<(String, Vec<&'i Entry>)>,
}

impl<'i> Section<'i> {
    /// A table that is missing in the document.
    pub(super) fn empty(place: Place, path: &str) -> Section<'i> {
        Section { place, layers: vec![(path.to_owned(), Vec::new())] }
    }
    /// Whether it has no keys.
    fn is_empty(&self) -> bool {
        self.layers.iter().all(|(_, entries)| entries.is_empty())
    }
    /// The path of the uppermost layer.
    pub(super) fn path(&self) -> &str {
        &self.layers[0].0
    }
    /// The entries that no upper layer hides, in the order of the document.
    pub(super) fn entries(&self) -> impl Iterator<Item = &'i Entry> {
        let layers = self.layers.iter().enumerate();
        layers.flat_map(|(depth, (_, entries))| entries.iter().map(move |entry| (depth, *entry))).filter_map(
            |(depth, entry)| self.find(&entry.key).is_some_and(|(found, _)| found == depth).then_some(entry),
        )
    }
    /// The entry of a key.
    pub(super) fn get(&self, key: &str) -> Option<&'i Entry> {
        self.find(key).map(|(_, entry)| entry)
    }
    /// The place of a key's value, or of the table if it does not have the key.
    pub(super) fn place_of(&self, key: &str) -> Place {
        self.get(key).map_or(self.place, |entry| entry.item.place)
    }
    /// The path of a key in the table.
    pub(super) fn at(&self, key: &str) -> String {
        let depth = self.find(key).map_or(0, |(depth, _)| depth);
        join(&self.layers[depth].0, key)
    }
    /// This table with another one as its lower layers.
    pub(super) fn over(mut self, other: &Section<'i>) -> Section<'i> {
        self.layers.extend(other.layers.iter().cloned());
        self
    }

    fn find(&self, key: &str) -> Option<(usize, &'i Entry)> {
        let mut layers = self.layers.iter().enumerate();
        layers.find_map(|(depth, (_, entries))| {
            entries.iter().find(|entry| entry.key == key).map(|entry| (depth, *entry))
        })
    }
}

/// The path of a key.
fn join(path: &str, key: &str) -> String {
    let key = source::key(key);
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

/// The names of parameters.
pub(super) fn names_of(parameters: &'static [Parameter]) -> Vec<&'static str> {
    parameters.iter().map(|parameter| parameter.name).collect()
}

/// Reads values of a scenario.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) source: Source<'a>,
    pub(super) rooms: &'a [Room],
    files: Files,
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: Source<'a>, rooms: &'a [Room]) -> Reader<'a> {
        Reader { source, rooms, files: Files::beside(source.origin) }
    }

    /// Uses these texts instead of the files at their absolute paths.
    pub(super) fn with_files(mut self, files: &BTreeMap<PathBuf, Arc<str>>) -> Reader<'a> {
        self.files.give(files);
        self
    }

    /// The value as a table.
    pub(super) fn section<'i>(&self, item: &'i Item, path: String) -> Result<Section<'i>, ScenarioError> {
        match &item.node {
            Node::Table(entries) => {
                Ok(Section { place: item.place, layers: vec![(path, entries.iter().collect())] })
            }
            _ => Err(self.wrong(item, &path, "wrong type", "a table")),
        }
    }

    /// Checks that all keys of the table are parameters or in `also`.
    pub(super) fn check_keys(
        &self,
        section: &Section<'_>,
        parameters: &[Parameter],
        also: &[&str],
    ) -> Result<(), ScenarioError> {
        let known = || parameters.iter().map(|parameter| parameter.name).chain(also.iter().copied());
        let unknown = |entry: &&Entry| !known().any(|name| name == entry.key);
        let Some(entry) = section.entries().find(unknown) else { return Ok(()) };
        let near = suggestion(nearest(&entry.key, known()));
        let problem =
            format!("unknown key, found {}; expected {}{near}", quoted(&entry.key), one_of(known()));
        Err(self.source.error(entry.place, &section.at(&entry.key), problem))
    }

    /// The options of a table, with defaults for missing keys. Other keys are ignored: see [`Reader::check_keys`].
    pub(super) fn options<T: Options>(&mut self, section: &Section<'_>) -> Result<T, ScenarioError> {
        Ok(T::of(&self.arguments(T::PARAMETERS, section)?))
    }

    /// The values of all parameters, with defaults for missing keys. Other keys are ignored: see [`Reader::check_keys`].
    pub(super) fn arguments(
        &mut self,
        parameters: &'static [Parameter],
        section: &Section<'_>,
    ) -> Result<Arguments, ScenarioError> {
        self.arguments_with(parameters, section, None)
    }

    /// [`Reader::arguments`] with a given value of one parameter.
    fn arguments_with(
        &mut self,
        parameters: &'static [Parameter],
        section: &Section<'_>,
        mut preset: Option<(&str, Value)>,
    ) -> Result<Arguments, ScenarioError> {
        let mut arguments = Arguments::default();
        for parameter in parameters {
            if let Some((_, value)) = preset.take_if(|(name, _)| *name == parameter.name) {
                arguments.0.push((parameter.name, value));
                continue;
            }
            let value = match (section.get(parameter.name), parameter.default) {
                (Some(entry), _) => self.value(&parameter.kind, &entry.item, &section.at(parameter.name))?,
                (None, Default::Is(text)) => self.default(parameter, text, section)?,
                (None, Default::Absent) => continue,
                (None, Default::Required) => {
                    let expected = expected(&parameter.kind, self.rooms);
                    let problem = format!("missing ({}); expected {expected}", parameter.about);
                    return Err(self.source.error(section.place, &section.at(parameter.name), problem));
                }
            };
            arguments.0.push((parameter.name, value));
        }
        Ok(arguments)
    }

    /// The values of all parameters, with those of `base`, which has the same parameters, for missing keys.
    pub(super) fn arguments_over(
        &mut self,
        parameters: &'static [Parameter],
        section: &Section<'_>,
        base: &Arc<Arguments>,
    ) -> Result<Arc<Arguments>, ScenarioError> {
        if section.is_empty() {
            return Ok(Arc::clone(base));
        }
        let mut arguments = Vec::with_capacity(base.0.len() + 1);
        let mut base = base.0.iter().peekable();
        for parameter in parameters {
            let below = base.next_if(|(name, _)| *name == parameter.name);
            match (section.get(parameter.name), below) {
                (Some(entry), _) => {
                    let value = self.value(&parameter.kind, &entry.item, &section.at(parameter.name))?;
                    arguments.push((parameter.name, value));
                }
                (None, Some(below)) => arguments.push(below.clone()),
                (None, None) => {}
            }
        }
        Ok(Arc::new(Arguments(arguments)))
    }

    fn default(
        &mut self,
        parameter: &'static Parameter,
        text: &str,
        section: &Section<'_>,
    ) -> Result<Value, ScenarioError> {
        // All defaults but those of components from outside can be read without TOML.
        if let Some(value) = parameter.kind.read(text, self.rooms) {
            return Ok(value);
        }
        let path = section.at(parameter.name);
        match parse_value(text, Place::Default) {
            Ok(item) => self.value(&parameter.kind, &item, &path),
            Err(error) => Err(self.source.error(Place::Default, &path, error.problem)),
        }
    }

    /// A value of a kind.
    pub(super) fn value(&mut self, kind: &Kind, item: &Item, path: &str) -> Result<Value, ScenarioError> {
        match (kind, &item.node) {
            (Kind::Component(room), _) => self.component(room, item, path).map(Value::Component),
            (Kind::List(of), Node::List(items)) => {
                let values =
                    items.iter().enumerate().map(|(i, item)| self.value(of, item, &format!("{path}.{i}")));
                values.collect::<Result<_, _>>().map(Value::List)
            }
            (Kind::Preference(words), _) => self.preference(words, item, path),
            (Kind::Pairs(first, second), Node::List(items)) => {
                let mut pair = |(i, item): (usize, &Item)| match &item.node {
                    Node::List(pair) if pair.len() == 2 => {
                        let first = self.value(first, &pair[0], &format!("{path}.{i}.0"))?;
                        let second = self.value(second, &pair[1], &format!("{path}.{i}.1"))?;
                        Ok(Value::List(vec![first, second]))
                    }
                    _ => Err(self.wrong(
                        item,
                        &format!("{path}.{i}"),
                        "not a pair",
                        &expected(kind, self.rooms),
                    )),
                };
                items.iter().enumerate().map(&mut pair).collect::<Result<_, _>>().map(Value::List)
            }
            (Kind::File(_), Node::Text(given)) => {
                let (file, expected) = match item.place {
                    Place::Set(_) => (self.files.read_here(given), EXPECTED_HERE.to_owned()),
                    _ => (self.files.read(given), expected(kind, self.rooms)),
                };
                file.map(Value::File).map_err(|Unread { problem, expected: other }| {
                    self.wrong(item, path, &problem, other.unwrap_or(&expected))
                })
            }
            _ => scalar(kind, &item.node)
                .map_err(|problem| self.wrong(item, path, &problem, &expected(kind, self.rooms))),
        }
    }

    /// Words in order of preference: a list, or one text with spaces between them.
    fn preference(
        &self,
        words: &'static [&'static str],
        item: &Item,
        path: &str,
    ) -> Result<Value, ScenarioError> {
        let expected = || expected(&Kind::Preference(words), self.rooms);
        let (mut given, mut chosen) = (Vec::new(), Vec::new());
        match &item.node {
            Node::List(items) => {
                given.extend(items.iter().enumerate().map(|(i, item)| (format!("{path}.{i}"), item.clone())));
            }
            Node::Text(text) => {
                let word = |word: &str| Item { place: item.place, node: Node::Text(word.to_owned()) };
                given.extend(text.split_whitespace().map(|text| (path.to_owned(), word(text))));
            }
            _ => given.push((path.to_owned(), item.clone())),
        }
        for (path, item) in given {
            match scalar(&Kind::Choice(words), &item.node) {
                Ok(word) if chosen.contains(&word) => {
                    return Err(self.wrong(&item, &path, "given twice", &expected()));
                }
                Ok(word) => chosen.push(word),
                Err(problem) => return Err(self.wrong(&item, &path, &problem, &expected())),
            }
        }
        match chosen.is_empty() {
            true => Err(self.wrong(item, path, "nothing given", &expected())),
            false => Ok(Value::List(chosen)),
        }
    }

    fn component(&mut self, room: &'static str, item: &Item, path: &str) -> Result<Component, ScenarioError> {
        let rooms = self.rooms;
        let Some(found) = rooms.iter().find(|known| known.name == room) else {
            return Err(self.source.error(item.place, path, format!("there is no room {room:?}")));
        };
        if !self.source.loads_code
            && let Some(word) = word_of(item).filter(|word| is_place(found, word))
        {
            return self.unloaded(found, word, item, path);
        }
        let component = match &item.node {
            Node::Table(_) => self.component_of_table(found, item, path)?,
            Node::Text(word) if found.rows.iter().any(|row| row.name == word) || is_place(found, word) => {
                let row = self.row(found, word, item, path)?;
                let arguments = self.arguments(row.parameters, &Section::empty(item.place, path))?;
                Component { room: found.name, name: row.name, arguments }
            }
            _ => self.component_of_bare_value(found, item, path)?,
        };
        match (found.check)(component.name, &component.arguments) {
            Ok(()) => Ok(component),
            Err((option, problem)) => {
                // A shorthand has no key for the option.
                let (place, path) = match item.get(option) {
                    Some(item) => (item.place, join(path, option)),
                    None => (item.place, path.to_owned()),
                };
                Err(self.source.error(place, &path, without_contents(&problem, &component.arguments)))
            }
        }
    }

    /// A file by its name in the document, without its text.
    fn named(&self, given: &str, item: &Item, path: &str) -> Result<Value, ScenarioError> {
        let found = self.files.place(given).and_then(|path| file(&path, "".into()));
        let wrong = |problem: String| self.wrong(item, &join(path, outside::SOURCE), &problem, "a path");
        found.map(Value::File).map_err(wrong)
    }

    /// A component whose code is not loaded, with the options that the document gives it.
    fn unloaded(
        &mut self,
        room: &Room,
        word: &str,
        item: &Item,
        path: &str,
    ) -> Result<Component, ScenarioError> {
        let mut options = Vec::new();
        if let Some(known) =
            outside::Part::of(room.name).map(|part| part.options).filter(|known| !known.is_empty())
        {
            let section = match &item.node {
                Node::Table(_) => self.section(item, path.to_owned())?,
                _ => Section::empty(item.place, path),
            };
            let arguments = self.arguments(known, &section)?;
            options.extend(arguments.0.into_iter().map(|(name, value)| (name.to_owned(), value)));
        }
        let Node::Table(entries) = &item.node else { return Ok(outside::unloaded(room.name, word, options)) };
        if entries.len() > outside::MAX_OPTIONS {
            let problem = format!("{} options; expected at most {}", entries.len(), outside::MAX_OPTIONS);
            return Err(self.source.error(item.place, path, problem));
        }
        for entry in entries.iter().filter(|entry| entry.key != TYPE) {
            if options.iter().any(|(name, _)| *name == entry.key) {
                continue;
            }
            let value = match &entry.item.node {
                // Not read, but found again from wherever the document is written to.
                Node::Text(given) if entry.key == outside::SOURCE => self.named(given, &entry.item, path)?,
                Node::Flag(value) => Value::Flag(*value),
                Node::Integer(value) if u64::try_from(*value).is_ok() => Value::Integer(*value as u64),
                Node::Float(value) => Value::Number(*value),
                Node::Text(value) => Value::Text(value.clone()),
                _ => {
                    let expected = "true or false, a number of 0 or more, or text";
                    return Err(self.wrong(&entry.item, &join(path, &entry.key), "wrong type", expected));
                }
            };
            options.push((entry.key.clone(), value));
        }
        Ok(outside::unloaded(room.name, word, options))
    }

    /// `{ type = "row", option = ... }`
    fn component_of_table(
        &mut self,
        room: &Room,
        item: &Item,
        path: &str,
    ) -> Result<Component, ScenarioError> {
        let section = self.section(item, path.to_owned())?;
        let words = || one_of(room.rows.iter().map(|row| row.name));
        if let ([only], None) = (&room.rows[..], section.get(TYPE)) {
            // A room with a single row needs no `type`.
            self.check_keys(&section, only.parameters, &[TYPE])?;
            let arguments = self.arguments(only.parameters, &section)?;
            return Ok(Component { room: room.name, name: only.name, arguments });
        }
        let Some(entry) = section.get(TYPE) else {
            return Err(self.source.error(
                item.place,
                &section.at(TYPE),
                format!("missing; expected {}", words()),
            ));
        };
        let Node::Text(word) = &entry.item.node else {
            return Err(self.wrong(&entry.item, &section.at(TYPE), "wrong type", &words()));
        };
        let row = self.row(room, word, &entry.item, &section.at(TYPE))?;
        self.check_keys(&section, row.parameters, &[TYPE])?;
        let arguments = self.arguments(row.parameters, &section)?;
        Ok(Component { room: room.name, name: row.name, arguments })
    }

    /// Reads a value that is not the name of a row by the room's shorthand.
    fn component_of_bare_value(
        &mut self,
        room: &Room,
        item: &Item,
        path: &str,
    ) -> Result<Component, ScenarioError> {
        let phrase = || expected(&Kind::Component(room.name), self.rooms);
        let near = match &item.node {
            Node::Text(word) => nearest(word, room.rows.iter().map(|row| row.name)),
            _ => None,
        };
        if let (None, Some((at, kind)), Some((_, option))) = (near, shorthand(room), room.shorthand) {
            let row = &room.rows[at];
            // "fast" is a mistyped word, "10 Mbit" a mistyped value.
            let wordy = matches!(&item.node, Node::Text(text) if text.starts_with(char::is_alphabetic));
            match self.value(kind, item, path) {
                Ok(value) => {
                    let section = Section::empty(item.place, path);
                    let arguments = self.arguments_with(row.parameters, &section, Some((option, value)))?;
                    return Ok(Component { room: room.name, name: row.name, arguments });
                }
                Err(error) if !wordy => return Err(error),
                Err(_) => {}
            }
        }
        let problem = match &item.node {
            Node::Text(_) => "unknown word",
            _ => "wrong type",
        };
        let problem =
            format!("{problem}, found {}; expected {}{}", found(&item.node), phrase(), suggestion(near));
        Err(self.source.error(item.place, path, problem))
    }

    /// The row of a room with the name that a key of a table gives.
    pub(super) fn row_of(
        &mut self,
        room: &str,
        section: &Section<'_>,
        option: Key<String>,
    ) -> Result<Row<()>, ScenarioError> {
        let path = section.at(option.name);
        let rooms = self.rooms;
        if let (Some(room), Some(entry)) =
            (rooms.iter().find(|known| known.name == room), section.get(option.name))
            && let Node::Text(word) = &entry.item.node
        {
            return self.row(room, word, &entry.item, &path);
        }
        Err(self.source.error(section.place, &path, format!("missing; expected one of the {room}")))
    }

    fn row(&mut self, room: &Room, word: &str, item: &Item, path: &str) -> Result<Row<()>, ScenarioError> {
        let files = &mut self.files;
        let read = |path: &str| {
            let file = match item.place {
                Place::Set(_) => files.read_here(path),
                _ => files.read(path),
            };
            file.map_err(|unread| unread.problem)
        };
        if is_place(room, word)
            && let Some(part) = outside::Part::of(room.name)
            && let Some(loaded) = outside::component(part, word, read)
        {
            return loaded.map_err(|problem| {
                self.source.error(item.place, path, format!("{}: {problem}", quoted(word)))
            });
        }
        room.rows.iter().find(|row| row.name == word).copied().ok_or_else(|| {
            let names = || room.rows.iter().map(|row| row.name);
            let near = suggestion(nearest(word, names()));
            let problem = format!("unknown word, found {}; expected {}{near}", quoted(word), one_of(names()));
            self.source.error(item.place, path, problem)
        })
    }

    /// An error about a key of a table, or about the table if it does not have the key.
    pub(super) fn error_at(
        &self,
        section: &Section<'_>,
        key: &str,
        problem: impl Into<String>,
    ) -> ScenarioError {
        self.source.error(section.place_of(key), &section.at(key), problem)
    }

    /// An error about the value of a key: `problem, found X; expected Y`.
    pub(super) fn wrong_at(
        &self,
        section: &Section<'_>,
        key: &str,
        problem: &str,
        expected: &str,
    ) -> ScenarioError {
        match section.get(key) {
            Some(entry) => self.wrong(&entry.item, &section.at(key), problem, expected),
            None => self.error_at(section, key, format!("{problem}; expected {expected}")),
        }
    }

    /// An error about a value: `problem, found X; expected Y`.
    pub(super) fn wrong(&self, item: &Item, path: &str, problem: &str, expected: &str) -> ScenarioError {
        let near = match &item.node {
            Node::Text(word) => {
                expected.strip_prefix("one of ").and_then(|words| nearest(word, words.split(", ")))
            }
            _ => None,
        };
        let found = found(&item.node);
        let problem = format!("{problem}, found {found}; expected {expected}{}", suggestion(near));
        self.source.error(item.place, path, problem)
    }
}

/// A value as errors show it.
fn found(node: &Node) -> String {
    match node {
        Node::Text(text) => quoted(text),
        Node::Integer(i128::MIN | i128::MAX) => "a number of many digits".to_owned(),
        Node::Integer(number) => number.to_string(),
        Node::Float(number) => format!("{number:?}"),
        Node::Flag(flag) => flag.to_string(),
        Node::Date(date) => date.clone(),
        Node::List(_) => "a list".to_owned(),
        Node::Table(_) => "a table".to_owned(),
    }
}

/// Reads a value of a kind that is neither a list, nor a file, nor a component. The error describes the mistake.
fn scalar(kind: &Kind, node: &Node) -> Result<Value, String> {
    match (kind, node) {
        (Kind::Duration, _) => quantity::<Duration>(node).map(Value::Duration),
        (Kind::Rate, _) => quantity(node).map(Value::Rate),
        (Kind::Size, _) => quantity(node).map(Value::Size),
        (Kind::Limit, _) => quantity(node).map(Value::Limit),
        (Kind::Integer(from, to), Node::Integer(number)) => match u64::try_from(*number) {
            Ok(number) if (*from..=*to).contains(&number) => Ok(Value::Integer(number)),
            Err(_) if *number < 0 => Err("negative".to_owned()),
            _ => Err("out of range".to_owned()),
        },
        // "1200 B": other options have a unit.
        (Kind::Integer(..) | Kind::Number(..), Node::Text(text))
            if text.starts_with(|first: char| first.is_ascii_digit()) && text.parse::<f64>().is_err() =>
        {
            Err("no plain number, without a unit".to_owned())
        }
        (Kind::Number(from, to), _) => number(node, *from, *to),
        (Kind::Probability, Node::Text(text)) => percentage(text),
        (Kind::Probability, _) => number(node, 0.0, 1.0),
        (Kind::Flag, Node::Flag(flag)) => Ok(Value::Flag(*flag)),
        (Kind::Text, Node::Text(text)) => Ok(Value::Text(text.clone())),
        (Kind::Choice(words), Node::Text(text)) if words.contains(&text.as_str()) => {
            Ok(Value::Text(text.clone()))
        }
        // A word that is a number may be written without quotation marks.
        (Kind::Choice(words), Node::Integer(number)) => {
            let number = number.to_string();
            let known = words.contains(&number.as_str());
            if known { Ok(Value::Text(number)) } else { Err("not allowed".to_owned()) }
        }
        (Kind::Choice(_), Node::Text(_)) => Err("unknown word".to_owned()),
        _ => Err("wrong type".to_owned()),
    }
}

/// A number with a unit.
fn quantity<T: std::str::FromStr<Err = ParseError>>(node: &Node) -> Result<T, String> {
    match node {
        Node::Text(text) => text.parse().map_err(|error: ParseError| error.problem.to_owned()),
        Node::Integer(number) if *number < 0 => Err("negative".to_owned()),
        Node::Float(number) if *number < 0.0 => Err("negative".to_owned()),
        Node::Integer(_) | Node::Float(_) => Err("the unit is missing".to_owned()),
        _ => Err("wrong type".to_owned()),
    }
}

fn number(node: &Node, from: f64, to: f64) -> Result<Value, String> {
    let number = match node {
        Node::Float(number) => *number,
        // Saturated: another number stands in the document.
        Node::Integer(i128::MIN | i128::MAX) => return Err("out of range".to_owned()),
        Node::Integer(number) => *number as f64,
        _ => return Err("wrong type".to_owned()),
    };
    match number {
        // The sum turns -0 into 0, so that equal scenarios are written alike.
        _ if number.is_finite() && from <= number && number <= to => Ok(Value::Number(number + 0.0)),
        _ if number < 0.0 && from >= 0.0 => Err("negative".to_owned()),
        _ => Err("out of range".to_owned()),
    }
}

/// Reads `"1.5 %"`. The decimal point is moved in the text, so that `"0.1 %"` is exactly `0.001`.
fn percentage(text: &str) -> Result<Value, String> {
    let trimmed = text.trim();
    let Some(digits) = trimmed.strip_suffix('%') else {
        let bare = trimmed.parse::<f64>().is_ok();
        return Err(if bare { "the unit is missing" } else { "not a probability" }.to_owned());
    };
    let digits = digits.trim_end();
    if digits.starts_with('-') {
        return Err("negative".to_owned());
    }
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return Err("not a probability".to_owned());
    }
    let fraction: f64 = format!("{digits}e-2").parse().map_err(|_| "not a probability")?;
    number(&Node::Float(fraction), 0.0, 1.0)
}

/// The word that says which component this is.
fn word_of(item: &Item) -> Option<&str> {
    match &item.node {
        Node::Text(word) => Some(word),
        Node::Table(_) => match &item.get(TYPE)?.node {
            Node::Text(word) => Some(word),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the word names a component of this room outside the lab by its place.
fn is_place(room: &Room, word: &str) -> bool {
    outside::Part::of(room.name).is_some() && word.contains(':')
}
