//! Writes the resolved document: a scenario with all defaults, in a fixed order.
//!
//! Reading it gives the same scenario, and writing that the same text. Options without a default that were not set are
//! missing. Paths of files are absolute, so that the document works from any folder, in particular that of the run. They are
//! the only text that differs on another machine or in another folder.

use super::model::Scenario;
use super::resolved;
use std::fmt::Write;
use units::parameter::{Component, File, Value};

/// Writes the resolved document.
pub(super) fn to_toml(scenario: &Scenario) -> String {
    document(scenario, &|file| file.path.clone())
}

impl Scenario {
    /// The resolved document with the result of `name` instead of the path of each file.
    pub(crate) fn to_toml_with(&self, name: &dyn Fn(&File) -> String) -> String {
        document(self, name)
    }
}

fn document(scenario: &Scenario, name: &dyn Fn(&File) -> String) -> String {
    let mut out = String::new();
    for table in resolved::tables(scenario) {
        if !table.header.is_empty() {
            let _ = writeln!(out, "\n{}", table.header);
        }
        for (key, value) in &table.values {
            let _ = writeln!(out, "{key} = {}", written_with(value, name));
        }
    }
    out
}

/// A value as TOML.
pub(super) fn written(value: &Value) -> String {
    written_with(value, &|file| file.path.clone())
}

fn written_with(value: &Value, name: &dyn Fn(&File) -> String) -> String {
    match value {
        Value::Duration(value) => text(&value.to_string()),
        Value::Rate(value) => text(&value.to_string()),
        Value::Size(value) => text(&value.to_string()),
        Value::Limit(value) => text(&value.to_string()),
        Value::Integer(value) => value.to_string(),
        // The shortest decimal that is read as the same number, with a point or an exponent.
        Value::Number(value) => format!("{value:?}"),
        Value::Flag(value) => value.to_string(),
        Value::Text(value) => text(value),
        Value::File(file) => text(&name(file)),
        Value::List(values) => {
            let values: Vec<String> = values.iter().map(|value| written_with(value, name)).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Component(value) => component(value, name),
    }
}

fn component(component: &Component, name: &dyn Fn(&File) -> String) -> String {
    if component.arguments.0.is_empty() {
        return text(component.name);
    }
    let options = component
        .arguments
        .0
        .iter()
        .map(|(option, value)| format!(", {option} = {}", written_with(value, name)));
    format!("{{ type = {}{} }}", text(component.name), options.collect::<String>())
}

/// A basic string of TOML.
fn text(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_numbers_are_toml() {
        for (value, toml) in [
            (Value::Text("a\"\\\n\u{7f}ä".into()), "\"a\\\"\\\\\\n\\u007Fä\""),
            (Value::Number(2.0), "2.0"),
            (Value::Number(1e-9), "1e-9"),
            (Value::List(vec![Value::Integer(1), Value::Flag(true)]), "[1, true]"),
        ] {
            assert_eq!(written(&value), toml);
            let read = toml::de::DeTable::parse(&format!("a = {toml}")).map(drop);
            assert!(read.is_ok(), "{toml}");
        }
    }
}
