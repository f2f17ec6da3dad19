//! The resolved document: a scenario with every default filled in, in one order.
//!
//! Read again it gives the same scenario, and written again the same text. What has no default and was not given stays
//! away. Files stand in it by their absolute paths, so that the document works from any folder, the run's folder above
//! all; a run on another machine, or a scenario in another folder, gives another text there and nowhere else.

use super::model::{CrossTraffic, Flow, Link, Protocol, Scenario};
use super::sections::{BACKWARD, CROSS_TRAFFIC_TABLE, FORWARD, TCP, TRANSPORT};
use std::fmt::Write;
use units::Duration;
use units::parameter::{Arguments, Component, Value};

/// Writes the resolved document.
pub(super) fn to_toml(scenario: &Scenario) -> String {
    let mut out = String::new();
    line(&mut out, "name", &text(&scenario.name));
    line(&mut out, "seed", &scenario.seed.to_string());
    line(&mut out, "duration", &text(&scenario.duration.to_string()));
    table(&mut out, "record", &scenario.record);
    table(&mut out, "tls", &scenario.tls);
    table(&mut out, TRANSPORT, &scenario.transport);
    table(&mut out, TCP, &scenario.tcp);
    for node in &scenario.nodes {
        out.push_str("\n[[node]]\n");
        line(&mut out, "name", &text(&node.name));
        line(&mut out, "kind", &text(node.kind.name()));
    }
    for link in &scenario.links {
        write_link(&mut out, scenario, link);
    }
    for flow in &scenario.flows {
        write_flow(&mut out, scenario, flow);
    }
    for cross in &scenario.cross_traffic {
        write_cross_traffic(&mut out, scenario, cross);
    }
    out
}

fn write_link(out: &mut String, scenario: &Scenario, link: &Link) {
    out.push_str("\n[[link]]\n");
    line(out, "name", &text(&link.name));
    line(out, "from", &text(&scenario.nodes[link.from].name));
    line(out, "to", &text(&scenario.nodes[link.to].name));
    table(out, &format!("link.{FORWARD}"), &link.forward);
    table(out, &format!("link.{BACKWARD}"), &link.backward);
}

fn write_flow(out: &mut String, scenario: &Scenario, flow: &Flow) {
    out.push_str("\n[[flow]]\n");
    line(out, "name", &text(&flow.name));
    line(out, "client", &text(&scenario.nodes[flow.client].name));
    line(out, "server", &text(&scenario.nodes[flow.server].name));
    line(out, "protocol", &text(flow.protocol.name()));
    line(out, "application", &component(&flow.application));
    line(out, "start", &text(&flow.start.to_string()));
    write_stop(out, flow.stop);
    line(out, "ip", flow.ip.name());
    let (name, own, shared) = match flow.protocol {
        Protocol::Quic => (TRANSPORT, &flow.transport, &scenario.transport),
        Protocol::Tcp => (TCP, &flow.tcp, &scenario.tcp),
    };
    // The others are those of [transport] or [tcp].
    let own =
        Arguments(own.0.iter().filter(|(name, value)| shared.get(name) != Some(value)).cloned().collect());
    if !own.0.is_empty() {
        table(out, &format!("flow.{name}"), &own);
    }
}

fn write_cross_traffic(out: &mut String, scenario: &Scenario, cross: &CrossTraffic) {
    let _ = writeln!(out, "\n[[{CROSS_TRAFFIC_TABLE}]]");
    line(out, "name", &text(&cross.name));
    line(out, "from", &text(&scenario.nodes[cross.from].name));
    line(out, "to", &text(&scenario.nodes[cross.to].name));
    line(out, "source", &component(&cross.source));
    line(out, "start", &text(&cross.start.to_string()));
    write_stop(out, cross.stop);
    line(out, "ip", cross.ip.name());
}

fn write_stop(out: &mut String, stop: Option<Duration>) {
    if let Some(stop) = stop {
        line(out, "stop", &text(&stop.to_string()));
    }
}

fn table(out: &mut String, path: &str, values: &Arguments) {
    let _ = writeln!(out, "\n[{path}]");
    for (name, value) in &values.0 {
        line(out, name, &written(value));
    }
}

fn line(out: &mut String, key: &str, value: &str) {
    let _ = writeln!(out, "{key} = {value}");
}

/// A value as it stands after the equals sign.
pub(super) fn written(value: &Value) -> String {
    match value {
        Value::Duration(value) => text(&value.to_string()),
        Value::Rate(value) => text(&value.to_string()),
        Value::Size(value) => text(&value.to_string()),
        Value::Limit(value) => text(&value.to_string()),
        Value::Integer(value) => value.to_string(),
        // The shortest decimal that is read as this number again, with a point or an exponent.
        Value::Number(value) => format!("{value:?}"),
        Value::Flag(value) => value.to_string(),
        Value::Text(value) => text(value),
        Value::File(file) => text(&file.path),
        Value::List(values) => format!("[{}]", values.iter().map(written).collect::<Vec<_>>().join(", ")),
        Value::Component(value) => component(value),
    }
}

fn component(component: &Component) -> String {
    if component.arguments.0.is_empty() {
        return text(component.name);
    }
    let options = component.arguments.0.iter().map(|(name, value)| format!(", {name} = {}", written(value)));
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
