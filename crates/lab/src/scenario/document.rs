//! Reads a document as a whole: all tables in order, and the rules across them.

use super::carriers::read_carriers;
use super::error::ScenarioError;
use super::flows::{read_cross_traffic, read_flows};
use super::memory::read_memory;
use super::model::{Link, Medium, Scenario};
use super::names;
use super::nodes::Nodes;
use super::read::{Reader, Section, names_of};
use super::sections::{self, EVENT, EVENT_TABLE, RECORD, RECORD_TABLE, TCP, TLS, TOP, TRANSPORT};
use super::source::{listed, quoted};
use super::tables::{table, tables};
use super::tree::Item;
use crate::event::Event;
use std::collections::BTreeSet;
use std::sync::Arc;
use units::Duration;
use units::parameter::{Arguments, Component, Options, Parameter, Value};

/// The maximum number of events.
const MAX_EVENTS: usize = 10_000;

/// Reads a scenario out of a document.
pub(super) fn read(reader: &mut Reader<'_>, document: &Item) -> Result<Scenario, ScenarioError> {
    let top = reader.section(document, String::new())?;
    // The `[sweep]` table was taken out before.
    reader.check_keys(&top, TOP, &sections::tables().collect::<Vec<_>>())?;
    let values = reader.arguments(TOP, &top)?;
    let name = match top.get("name") {
        Some(entry) => names::checked(reader, values.text("name"), &entry.item, "name")?,
        None => names::of_file(reader.source.origin),
    };
    let duration = above_zero(reader, &top, &values, "duration")?;
    let record = read_record(reader, &top)?;
    let tls = read_table(reader, &top, TLS, tls::PARAMETERS)?;
    let transport = Arc::new(read_table(reader, &top, TRANSPORT, quic::Config::PARAMETERS)?);
    let tcp = Arc::new(read_table(reader, &top, TCP, tcp::Config::PARAMETERS)?);
    let mut nodes = Nodes::default();
    nodes.declare(reader, &top)?;
    let (links, media) = read_carriers(reader, &top, &mut nodes)?;
    let (flows, flow_sections) = read_flows(reader, &top, &nodes, (duration, &transport, &tcp))?;
    let (cross_traffic, cross_sections) = read_cross_traffic(reader, &top, &nodes, duration)?;
    nodes.check_connected(reader, (&links, &media))?;
    let parts = parts(nodes.len(), &links, &media);
    let ends: Vec<_> = flows.iter().map(|flow| (flow.client, flow.server)).collect();
    check_routes(reader, (&nodes, &parts), &ends, &flow_sections, "server")?;
    let crossing: Vec<_> = cross_traffic.iter().map(|cross| (cross.from, cross.to)).collect();
    check_routes(reader, (&nodes, &parts), &crossing, &cross_sections, "to")?;
    let hosts = ends.iter().chain(&crossing).flat_map(|(from, to)| [*from, *to]).collect();
    let resolved = nodes.resolved(reader, &hosts)?;
    nodes.check_middleboxes(reader, &resolved, (&links, &media), &hosts)?;
    super::stacks::check(reader, &resolved, (&flows, &flow_sections))?;
    let memory = read_memory(reader, &top, &nodes, &resolved)?;
    let mut scenario = Scenario {
        name,
        seed: values.integer("seed"),
        duration,
        record,
        tls,
        transport,
        tcp,
        nodes: resolved,
        links,
        media,
        flows,
        cross_traffic,
        memory,
        events: Vec::new(),
    };
    let sections = tables(reader, &top, EVENT_TABLE, MAX_EVENTS)?;
    if !sections.is_empty() {
        scenario.events = read_events(reader, &sections, &scenario)?;
    }
    Ok(scenario)
}

/// Reads the events, and checks that each is possible in the scenario.
fn read_events(
    reader: &mut Reader<'_>,
    sections: &[Section<'_>],
    scenario: &Scenario,
) -> Result<Vec<Event>, ScenarioError> {
    let (mut events, targets) = (Vec::new(), scenario.event_targets());
    for section in sections {
        let values = reader.arguments(EVENT, section)?;
        let row = reader.row_of(crate::event::ROOM, section, "type")?;
        reader.check_keys(section, row.parameters, &names_of(EVENT))?;
        let at = values.duration("at");
        if at >= scenario.duration {
            let expected = format!("a time before the end of the run ({})", scenario.duration);
            return Err(reader.wrong_at(section, "at", "too late", &expected));
        }
        let arguments = reader.arguments(row.parameters, section)?;
        let event = Event { at, kind: Component { room: crate::event::ROOM, name: row.name, arguments } };
        crate::event::check(&event, &targets)
            .map_err(|(option, problem)| reader.error_at(section, option, problem))?;
        events.push(event);
    }
    Ok(events)
}

fn read_table(
    reader: &mut Reader<'_>,
    top: &Section<'_>,
    name: &str,
    parameters: &'static [Parameter],
) -> Result<Arguments, ScenarioError> {
    let section = table(reader, top, name)?;
    reader.check_keys(&section, parameters, &[])?;
    reader.arguments(parameters, &section)
}

fn above_zero(
    reader: &Reader<'_>,
    section: &Section<'_>,
    values: &Arguments,
    name: &str,
) -> Result<Duration, ScenarioError> {
    match values.duration(name) {
        Duration::ZERO => Err(reader.wrong_at(section, name, "zero", "a duration above zero")),
        duration => Ok(duration),
    }
}

fn read_record(reader: &mut Reader<'_>, top: &Section<'_>) -> Result<Arguments, ScenarioError> {
    let values = read_table(reader, top, RECORD_TABLE, RECORD)?;
    let section = table(reader, top, RECORD_TABLE)?;
    above_zero(reader, &section, &values, "bin")?;
    let mut seen = BTreeSet::new();
    for (number, value) in values.list("tables").iter().enumerate() {
        if let Value::Text(word) = value
            && !seen.insert(word.clone())
        {
            let path = format!("{}.{number}", section.at("tables"));
            let problem = format!("named twice, found {}; expected each table once", quoted(word));
            return Err(reader.source.error(section.place_of("tables"), &path, problem));
        }
    }
    Ok(values)
}

/// Checks that both ends of all traffic are in one part of the network. Links go both ways, and every node forwards.
fn check_routes(
    reader: &Reader<'_>,
    (nodes, part): (&Nodes<'_>, &[usize]),
    ends: &[(usize, usize)],
    sections: &[Section<'_>],
    key: &str,
) -> Result<(), ScenarioError> {
    for (&(from, to), section) in ends.iter().zip(sections) {
        if part[from] != part[to] {
            let [client, server] = [from, to].map(|node| quoted(nodes.names.name(node)));
            let reached = (0..part.len()).filter(|node| part[*node] == part[from] && *node != from);
            let reached = listed(reached.take(10).map(|node| nodes.names.name(node)));
            let problem =
                format!("no route from {client} to {server}; from {client} links lead to: {reached}");
            return Err(reader.source.error(section.place_of(key), section.path(), problem));
        }
    }
    Ok(())
}

/// The part of the network for each node, as the number of its first node.
fn parts(nodes: usize, links: &[Link], media: &[Medium]) -> Vec<usize> {
    fn root(parent: &mut [usize], mut node: usize) -> usize {
        while parent[node] != node {
            parent[node] = parent[parent[node]];
            node = parent[node];
        }
        node
    }
    let mut parent: Vec<usize> = (0..nodes).collect();
    let linked = links.iter().map(|link| (link.from, link.to));
    let attached = media.iter().flat_map(|medium| {
        let first = medium.attachments[0].node;
        medium.attachments[1..].iter().map(move |other| (first, other.node))
    });
    for (from, to) in linked.chain(attached) {
        let (from, to) = (root(&mut parent, from), root(&mut parent, to));
        parent[from.max(to)] = from.min(to);
    }
    (0..nodes).map(|node| root(&mut parent, node)).collect()
}
