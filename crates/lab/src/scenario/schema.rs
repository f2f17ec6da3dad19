//! The JSON schema of scenario files, from the rows that the reader reads them by.
//!
//! Editors complete and check scenarios with it. It knows keys, types, units, ranges and words. What depends on several keys
//! is left to the reader, so that the schema refuses no scenario that the reader accepts.
//!
//! The schema names draft 7, and keeps to the words that draft 4 has too: taplo, by which editors read schemas for TOML,
//! documents no later draft.

use super::outside;
use super::range;
use super::rooms::rooms;
use super::sections::{
    self, AT, BACKWARD, BOTH, EVENT_TABLE, EventOptions, FLOW_TABLE, FORWARD, Form, LINK_TABLE, LinkOptions,
    MEDIUM_TABLE, MediumOptions, SECTIONS, SWEEP_TABLE, Section, TCP, TRANSPORT, ZIP,
};
use super::source::Place;
use super::tree::{Item, Node, parse_value};
use serde_json::{Map, Value as Json, json};
use units::parameter::{Default, Kind, Limit, Options, Parameter, Room, Row};
use units::{Duration, Rate, Size};

/// The key of a component's row.
const TYPE: &str = "type";
/// The definition of what a path of a sweep can be.
const VARIED: &str = "varied";
/// The definition of the options of one direction of a link.
const DIRECTION: &str = "direction";

/// The JSON schema of scenario files, as text. Components that were loaded from outside are not in it.
pub fn schema_json() -> String {
    let mut definitions = Map::new();
    definitions
        .insert("duration".to_owned(), text("a time with its unit, like \"20 ms\"", &[Duration::pattern()]));
    definitions
        .insert("rate".to_owned(), text("a rate with its unit, like \"10 Mbit/s\"", &[Rate::pattern()]));
    definitions.insert("size".to_owned(), text("a size with its unit, like \"64 kB\"", &[Size::pattern()]));
    let limit = "what a queue holds, like \"100 packets\", \"64 kB\", \"20 ms\", \"1 BDP\" or \"unlimited\"";
    definitions.insert("limit".to_owned(), text(limit, &Limit::patterns()));
    definitions.insert(VARIED.to_owned(), varied());
    definitions.insert(DIRECTION.to_owned(), Table::of(network::LINK).partial().schema());
    for section in
        SECTIONS.iter().filter(|section| section.form == Form::Table && section.name != SWEEP_TABLE)
    {
        definitions.insert(section.name.to_owned(), Table::of(section.parameters).schema());
    }
    for room in rooms().iter().filter(|room| room.name != sections::room().name) {
        definitions.insert(definition(room), component(room));
    }
    let mut top = Table::default();
    for section in SECTIONS {
        match section.form {
            Form::Top => top.add(section.parameters),
            Form::Table if section.name == SWEEP_TABLE => top.set(section.name, sweep(section)),
            Form::Table => top.set(section.name, about(section.about, &reference(section.name))),
            Form::Array => {
                top.set(
                    section.name,
                    json!({ "description": section.about, "type": "array", "items": item(section) }),
                );
            }
            Form::Inner => {}
        }
    }
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    schema.insert("title".to_owned(), json!("quiclab scenario"));
    schema.extend(top.members());
    schema.insert("definitions".to_owned(), Json::Object(definitions));
    format!("{:#}\n", Json::Object(schema))
}

/// A table of an array of tables.
fn item(section: &Section) -> Json {
    match section.name {
        LINK_TABLE => link(),
        MEDIUM_TABLE => one_of_rows(MediumOptions::PARAMETERS, &network::medium::room(), |row| {
            let options = network::medium::options_of_attachment(row.name);
            let of_attachment = |parameter: &&Parameter| options.contains(&parameter.name);
            let mut own = Table::default();
            row.parameters.iter().filter(of_attachment).for_each(|parameter| own.insert(parameter));
            let about = "[medium.at.NODE]: options of one attachment";
            let tables = json!({ "description": about, "type": "object", "additionalProperties": own.partial().schema() });
            vec![(AT, tables)]
        }),
        EVENT_TABLE => one_of_rows(EventOptions::PARAMETERS, &crate::event::room(), |_| Vec::new()),
        FLOW_TABLE => {
            let mut table = Table::of(section.parameters);
            table
                .set(TRANSPORT, about("[flow.transport]: options of this flow alone", &reference(TRANSPORT)));
            table.set(TCP, about("[flow.tcp]: options of this flow alone", &reference(TCP)));
            table.schema()
        }
        _ => Table::of(section.parameters).schema(),
    }
}

fn link() -> Json {
    let mut table = Table::of(network::LINK).partial();
    let directions = std::mem::take(&mut table.properties);
    table.add(LinkOptions::PARAMETERS);
    table.properties.extend(directions);
    for (key, words) in [
        (FORWARD, "[link.forward]: options of the direction from `from` to `to`"),
        (BACKWARD, "[link.backward]: options of the direction from `to` to `from`"),
        (BOTH, "options of both directions"),
    ] {
        table.set(key, about(words, &reference(DIRECTION)));
    }
    table.schema()
}

/// A table with the options of one row, which its `type` names, beside others.
fn one_of_rows(
    shared: &[Parameter],
    room: &Room,
    more: impl Fn(&Row<()>) -> Vec<(&'static str, Json)>,
) -> Json {
    let row = |row: &Row<()>| {
        let mut table = Table::of(shared);
        table.set(TYPE, json!({ "description": row.about, "enum": [row.name] }));
        table.add(row.parameters);
        more(row).into_iter().for_each(|(key, schema)| table.set(key, schema));
        table.schema()
    };
    json!({ "anyOf": room.rows.iter().map(row).collect::<Vec<_>>() })
}

fn sweep(section: &Section) -> Json {
    let mut table = Table::of(section.parameters);
    let zipped = json!({ "type": "object", "additionalProperties": reference(VARIED) });
    let words = "[[sweep.zip]]: paths that vary together, all with the same number of values";
    table.set(ZIP, json!({ "description": words, "type": "array", "items": zipped }));
    table.others = reference(VARIED);
    about(section.about, &table.schema())
}

/// What a sweep varies: the values of a path, a range, or a table on the way to a path.
fn varied() -> Json {
    let mut range = Map::new();
    for key in range::KEYS {
        range.insert(key.to_owned(), json!({ "type": ["string", "number"] }));
    }
    let range = json!({
        "type": "object", "properties": range, "required": ["from", "to"], "additionalProperties": false,
    });
    json!({
        "description": "values of a path: a list, or a range like { from = \"10 ms\", to = \"100 ms\", step = \"10 ms\" }",
        "anyOf": [
            { "type": "array", "minItems": 1 },
            range,
            { "type": "object", "additionalProperties": reference(VARIED) },
        ],
    })
}

/// A component: the name of a row, a table with its options, or a bare value for which the room has a shorthand.
fn component(room: &Room) -> Json {
    let rows: Vec<&Row<()>> = room.rows.iter().filter(|row| !row.name.contains(':')).collect();
    let required =
        |row: &Row<()>| row.parameters.iter().any(|parameter| parameter.default == Default::Required);
    let words: Vec<&str> = rows.iter().filter(|row| !required(row)).map(|row| row.name).collect();
    let mut forms = Vec::new();
    if !words.is_empty() {
        forms.push(json!({ "enum": words }));
    }
    for row in &rows {
        let mut table = Table::default();
        table.set(TYPE, json!({ "description": row.about, "enum": [row.name] }));
        // A room with a single row needs no `type`.
        if rows.len() > 1 {
            table.required.push(TYPE);
        }
        table.add(row.parameters);
        forms.push(about(row.about, &table.schema()));
    }
    if let Some((_, kind)) = super::kind::shorthand(room) {
        forms.push(value(kind));
    }
    if outside::Part::of(room.name).is_some() {
        let place = json!({ "description": "your own class, like \"mine.py:Mine\"", "type": "string", "pattern": ":" });
        forms.push(place.clone());
        forms.push(json!({ "type": "object", "properties": { TYPE: place }, "required": [TYPE] }));
    }
    json!({ "description": room.about, "anyOf": forms })
}

/// The name of a room's definition. Tables and rooms may have equal names.
fn definition(room: &Room) -> String {
    format!("one of the {}", room.name).replace(' ', "-")
}

fn reference(name: &str) -> Json {
    json!({ "$ref": format!("#/definitions/{name}") })
}

/// The schema with a description. Beside a reference the description would be ignored.
fn about(words: &str, schema: &Json) -> Json {
    match schema {
        Json::Object(members) if !members.contains_key("$ref") => {
            let mut all = Map::new();
            all.insert("description".to_owned(), json!(words));
            all.extend(members.clone().into_iter().filter(|(key, _)| key != "description"));
            Json::Object(all)
        }
        other => json!({ "description": words, "allOf": [other] }),
    }
}

fn text(words: &str, patterns: &[String]) -> Json {
    match patterns {
        [pattern] => json!({ "description": words, "type": "string", "pattern": pattern }),
        _ => {
            let any: Vec<Json> = patterns.iter().map(|pattern| json!({ "pattern": pattern })).collect();
            json!({ "description": words, "type": "string", "anyOf": any })
        }
    }
}

/// The values of a kind.
fn value(kind: &Kind) -> Json {
    match kind {
        Kind::Duration => reference("duration"),
        Kind::Rate => reference("rate"),
        Kind::Size => reference("size"),
        Kind::Limit => reference("limit"),
        Kind::Integer(from, to) => json!({ "type": "integer", "minimum": from, "maximum": to }),
        Kind::Number(from, to) if *from <= f64::MIN && *to >= f64::MAX => json!({ "type": "number" }),
        Kind::Number(from, to) => json!({ "type": "number", "minimum": from, "maximum": to }),
        Kind::Probability => json!({ "anyOf": [
            { "type": "number", "minimum": 0, "maximum": 1 },
            { "type": "string", "pattern": r"^\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*%\s*$" },
        ] }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Text | Kind::File(_) => json!({ "type": "string" }),
        Kind::Choice(words) => {
            // A word that is a number may be written without quotation marks.
            let numbers = words.iter().filter_map(|word| word.parse::<u64>().ok()).map(Json::from);
            json!({ "enum": words.iter().map(|word| json!(word)).chain(numbers).collect::<Vec<_>>() })
        }
        Kind::Preference(words) => {
            let one = value(&Kind::Choice(words));
            // The words in one text, in any order.
            let text = format!(r"^\s*({0})(\s+({0}))*\s*$", words.join("|"));
            let list = json!({ "type": "array", "items": one, "minItems": 1, "uniqueItems": true });
            json!({ "anyOf": [list, one, { "type": "string", "pattern": text }] })
        }
        Kind::List(of) => json!({ "type": "array", "items": value(of) }),
        Kind::Pairs(first, second) => json!({
            "type": "array",
            "items": {
                "type": "array", "items": [value(first), value(second)], "minItems": 2, "additionalItems": false,
            },
        }),
        Kind::Component(name) => match rooms().iter().find(|room| room.name == *name) {
            Some(room) => reference(&definition(room)),
            None => json!({}),
        },
    }
}

/// A table with its options.
struct Table {
    properties: Map<String, Json>,
    required: Vec<&'static str>,
    /// The schema of other keys; false if there are none.
    others: Json,
}

impl std::default::Default for Table {
    fn default() -> Table {
        Table { properties: Map::new(), required: Vec::new(), others: json!(false) }
    }
}

impl Table {
    fn of(parameters: &[Parameter]) -> Table {
        let mut table = Table::default();
        table.add(parameters);
        table
    }

    /// The same table, none of whose options is required: they may stand elsewhere.
    fn partial(self) -> Table {
        Table { required: Vec::new(), ..self }
    }

    fn add(&mut self, parameters: &[Parameter]) {
        parameters.iter().for_each(|parameter| self.insert(parameter));
    }

    fn insert(&mut self, parameter: &Parameter) {
        if parameter.default == Default::Required && !self.required.contains(&parameter.name) {
            self.required.push(parameter.name);
        }
        // The tables of media and events have the `type` of their row.
        if self.properties.contains_key(parameter.name) {
            return;
        }
        let mut schema = about(parameter.about, &value(&parameter.kind));
        if let (Default::Is(text), Some(members)) = (parameter.default, schema.as_object_mut())
            && let Ok(item) = parse_value(text, Place::Default)
        {
            members.insert("default".to_owned(), plain(&item));
        }
        self.properties.insert(parameter.name.to_owned(), schema);
    }

    fn set(&mut self, key: &str, schema: Json) {
        self.properties.insert(key.to_owned(), schema);
    }

    fn members(self) -> Map<String, Json> {
        let mut members = Map::new();
        members.insert("type".to_owned(), json!("object"));
        members.insert("properties".to_owned(), Json::Object(self.properties));
        // Draft 4 has no empty list of them.
        if !self.required.is_empty() {
            members.insert("required".to_owned(), json!(self.required));
        }
        members.insert("additionalProperties".to_owned(), self.others);
        members
    }

    fn schema(self) -> Json {
        Json::Object(self.members())
    }
}

/// A value of a scenario as JSON.
fn plain(item: &Item) -> Json {
    match &item.node {
        Node::Text(text) | Node::Date(text) => json!(text),
        Node::Integer(number) => i64::try_from(*number).map_or(Json::Null, Json::from),
        Node::Float(number) => json!(number),
        Node::Flag(flag) => json!(flag),
        Node::List(items) => items.iter().map(plain).collect(),
        Node::Table(entries) => {
            Json::Object(entries.iter().map(|entry| (entry.key.clone(), plain(&entry.item))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Json {
        serde_json::from_str(&schema_json()).unwrap()
    }

    #[test]
    fn tables_components_and_defaults_are_those_of_the_reader() {
        let schema = schema();
        for table in sections::tables() {
            assert!(schema["properties"][table].is_object(), "{table}");
        }
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!(schema["properties"]["duration"]["default"], "60 s");
        let link = &schema["properties"]["link"]["items"];
        assert_eq!(link["required"], json!(["name", "from", "to"]));
        assert!(link["properties"]["rate"].is_object() && link["properties"]["forward"].is_object());
        let controllers = &schema["definitions"]["one-of-the-controllers"]["anyOf"];
        assert!(controllers[0]["enum"].as_array().unwrap().contains(&json!("cubic")));
    }

    #[test]
    fn every_reference_has_its_definition() {
        fn walk(json: &Json, schema: &Json) {
            match json {
                Json::Object(members) => {
                    if let Some(Json::String(to)) = members.get("$ref") {
                        assert!(schema.pointer(to.trim_start_matches('#')).is_some(), "{to}");
                        assert_eq!(members.len(), 1, "what stands beside a reference is ignored: {json}");
                    }
                    members.values().for_each(|inner| walk(inner, schema));
                }
                Json::Array(items) => items.iter().for_each(|inner| walk(inner, schema)),
                _ => {}
            }
        }
        let schema = schema();
        walk(&schema, &schema);
    }
}
