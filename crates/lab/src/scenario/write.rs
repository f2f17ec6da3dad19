//! Writes the resolved document: a scenario with all defaults, in a fixed order.
//!
//! Reading it gives the same scenario, and writing that the same text. Options without a default that were not set are
//! missing. Paths of files are absolute, so that the document works from any folder, or relative to the folder that it is written
//! for, such as that of the run. They are the only text that differs on another machine or in another folder.

use super::model::Scenario;
use super::place::{SOURCE, is_outside};
use super::resolved;
use std::borrow::Cow;
use std::fmt::{self, Write};
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
            out.push_str(key);
            out.push_str(" = ");
            write_value(&mut out, value, name);
            out.push('\n');
        }
    }
    out
}

/// A value as TOML.
pub(super) fn written(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value, &|file| file.path.clone());
    out
}

fn write_value(out: &mut String, value: &Value, name: &dyn Fn(&File) -> String) {
    // Writing to a text cannot fail.
    let _ = match value {
        // The units of quantities need no escapes.
        Value::Duration(value) => write!(out, "\"{value}\""),
        Value::Rate(value) => write!(out, "\"{value}\""),
        Value::Size(value) => write!(out, "\"{value}\""),
        Value::Limit(value) => write!(out, "\"{value}\""),
        Value::Integer(value) => write!(out, "{value}"),
        // The shortest decimal that is read as the same number, with a point or an exponent.
        Value::Number(value) => write!(out, "{value:?}"),
        Value::Flag(value) => write!(out, "{value}"),
        Value::Text(value) => write_text(out, value),
        Value::File(file) => write_text(out, &name(file)),
        Value::List(values) => {
            out.push('[');
            for (number, value) in values.iter().enumerate() {
                out.push_str(if number > 0 { ", " } else { "" });
                write_value(out, value, name);
            }
            out.write_char(']')
        }
        Value::Component(value) => write_component(out, value, name),
    };
}

fn write_component(out: &mut String, component: &Component, name: &dyn Fn(&File) -> String) -> fmt::Result {
    if component.arguments.0.is_empty() {
        return write_text(out, component.name);
    }
    out.push_str("{ type = ");
    write_text(out, &type_of(component, name))?;
    for (option, value) in &component.arguments.0 {
        write!(out, ", {option} = ")?;
        write_value(out, value, name);
    }
    out.write_str(" }")
}

/// The name of a component; that of one from outside begins with its file.
fn type_of<'c>(component: &'c Component, name: &dyn Fn(&File) -> String) -> Cow<'c, str> {
    match (component.arguments.get(SOURCE), component.name.rsplit_once(':')) {
        (Some(Value::File(file)), Some((_, class))) if is_outside(component.name) => {
            format!("{}:{class}", name(file)).into()
        }
        _ => component.name.into(),
    }
}

/// Writes a basic string of TOML.
fn write_text(out: &mut String, text: &str) -> fmt::Result {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => write!(out, "\\u{:04X}", u32::from(c))?,
            c => out.push(c),
        }
    }
    out.write_char('"')
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
