//! The document as a whole: its tables in their order, and what must hold across them.

use super::carriers::read_carriers;
use super::connections::MAX_FLOWS;
use super::error::ScenarioError;
use super::flows::{MAX_CROSS_TRAFFIC, read_cross_traffic, read_flows};
use super::model::{Link, Medium, Scenario};
use super::names;
use super::nodes::Nodes;
use super::read::{Reader, Section};
use super::sections::{
    self, CROSS_TRAFFIC_TABLE, EVENT, EVENT_TABLE, FLOW_TABLE, RECORD, RECORD_TABLE, TCP, TLS, TOP, TRANSPORT,
};
use super::source::{listed, quoted};
use super::tables::{table, tables};
use super::topology::carriers_of;
use super::tree::{Entry, Item};
use crate::event::Event;
use std::collections::BTreeSet;
use units::Duration;
use units::parameter::{Arguments, Component, Value};

/// The most events.
const MAX_EVENTS: usize = 10_000;

/// Reads a scenario out of a document.
pub(super) fn read(reader: &mut Reader<'_>, document: &Item) -> Result<Scenario, ScenarioError> {
    let top = reader.section(document, String::new())?;
    // The table of a sweep was taken out before.
    reader.check_keys(&top, TOP, &sections::tables().collect::<Vec<_>>())?;
    let values = reader.arguments(TOP, &top)?;
    let name = match top.get("name") {
        Some(entry) => names::checked(reader, values.text("name"), &entry.item, "name")?,
        None => names::of_file(reader.source.origin),
    };
    let duration = above_zero(reader, &top, &values, "duration")?;
    let record = read_record(reader, &top)?;
    let tls = read_table(reader, &top, TLS, tls::PARAMETERS)?;
    let transport_values = read_table(reader, &top, TRANSPORT, quic::PARAMETERS)?;
    let tcp = read_table(reader, &top, TCP, tcp::PARAMETERS)?;
    let mut nodes = Nodes::default();
    nodes.declare(reader, &top)?;
    let (links, media) = read_carriers(reader, &top, &mut nodes)?;
    let flows = read_flows(reader, &top, &nodes, duration)?;
    let cross_traffic = read_cross_traffic(reader, &top, &nodes, duration)?;
    nodes.check_connected(reader, (&links, &media))?;
    let parts = parts(nodes.len(), &links, &media);
    let ends: Vec<_> = flows.iter().map(|flow| (flow.client, flow.server)).collect();
    check_routes(reader, (&nodes, &parts), &ends, &tables(reader, &top, FLOW_TABLE, MAX_FLOWS)?, "server")?;
    let sections = tables(reader, &top, CROSS_TRAFFIC_TABLE, MAX_CROSS_TRAFFIC)?;
    let crossing: Vec<_> = cross_traffic.iter().map(|cross| (cross.from, cross.to)).collect();
    check_routes(reader, (&nodes, &parts), &crossing, &sections, "to")?;
    let hosts = ends.iter().chain(&crossing).flat_map(|(from, to)| [*from, *to]).collect();
    let resolved = nodes.resolved(reader, &hosts)?;
    nodes.check_middleboxes(
        reader,
        &resolved,
        |node| carriers_of(node, &links, &media),
        |node| carriers_of(node, &links, &[]).len(),
    )?;
    super::stacks::check(reader, &resolved, (&flows, &tables(reader, &top, FLOW_TABLE, MAX_FLOWS)?))?;
    let events = read_events(reader, &top, duration)?;
    let scenario = Scenario {
        name,
        seed: values.integer("seed"),
        duration,
        record,
        tls,
        transport: transport_values,
        tcp,
        nodes: resolved,
        links,
        media,
        flows,
        cross_traffic,
        events,
    };
    check_events(reader, &top, &scenario)?;
    Ok(scenario)
}

fn read_events(
    reader: &mut Reader<'_>,
    top: &Section<'_>,
    duration: Duration,
) -> Result<Vec<Event>, ScenarioError> {
    let mut events = Vec::new();
    for section in tables(reader, top, EVENT_TABLE, MAX_EVENTS)? {
        let values = reader.arguments(EVENT, &section)?;
        let row = reader.row_of(crate::event::ROOM, &section, "type")?;
        let own: Vec<&str> = EVENT.iter().map(|parameter| parameter.name).collect();
        reader.check_keys(&section, row.parameters, &own)?;
        let at = values.duration("at");
        if let (true, Some(entry)) = (at >= duration, section.get("at")) {
            let expected = format!("a time before the end of the run ({duration})");
            return Err(reader.wrong(&entry.item, &section.at("at"), "too late", &expected));
        }
        let arguments = reader.arguments(row.parameters, &section)?;
        events.push(Event { at, kind: Component { room: crate::event::ROOM, name: row.name, arguments } });
    }
    Ok(events)
}

/// That every event can happen in the scenario.
fn check_events(reader: &Reader<'_>, top: &Section<'_>, scenario: &Scenario) -> Result<(), ScenarioError> {
    if scenario.events.is_empty() {
        return Ok(());
    }
    let (sections, cast) = (tables(reader, top, EVENT_TABLE, MAX_EVENTS)?, scenario.cast());
    for (event, section) in scenario.events.iter().zip(&sections) {
        if let Err((option, problem)) = crate::event::check(event, &cast) {
            let place = section.get(option).map_or(section.place, |entry| entry.item.place);
            return Err(reader.source.error(place, &section.at(option), problem));
        }
    }
    Ok(())
}

fn read_table(
    reader: &mut Reader<'_>,
    top: &Section<'_>,
    name: &str,
    parameters: &'static [units::parameter::Parameter],
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
    match (values.duration(name), section.get(name)) {
        (Duration::ZERO, Some(entry)) => {
            Err(reader.wrong(&entry.item, &section.at(name), "zero", "a duration above zero"))
        }
        (duration, _) => Ok(duration),
    }
}

fn read_record(reader: &mut Reader<'_>, top: &Section<'_>) -> Result<Arguments, ScenarioError> {
    let values = read_table(reader, top, RECORD_TABLE, RECORD)?;
    let section = table(reader, top, RECORD_TABLE)?;
    above_zero(reader, &section, &values, "bin")?;
    let mut seen = BTreeSet::new();
    for (number, value) in values.list("tables").iter().enumerate() {
        if let (Value::Text(word), Some(entry)) = (value, section.get("tables"))
            && !seen.insert(word.clone())
        {
            let path = format!("{}.{number}", section.at("tables"));
            let problem = format!("named twice, found {}; expected each table once", quoted(word));
            return Err(reader.source.error(entry.item.place, &path, problem));
        }
    }
    Ok(values)
}

/// That the ends of all traffic are in one part of the network: links go both ways, and every node forwards.
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
            let place = section.get(key).map_or(section.place, |entry: &Entry| entry.item.place);
            return Err(reader.source.error(place, section.path(), problem));
        }
    }
    Ok(())
}

/// For each node the part of the network that it is in.
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
