//! Reads a document as a whole: all tables in order, and the rules across them.

use super::carriers::read_carriers;
use super::error::ScenarioError;
use super::flows::{read_cross_traffic, read_flows};
use super::memory::read_memory;
use super::model::{Link, Medium, Scenario};
use super::names;
use super::nodes::Nodes;
use super::read::{Reader, Section, names_of};
use super::sections::{
    self, CrossTrafficOptions, EVENT_TABLE, EventOptions, FlowOptions, RECORD_TABLE, RecordOptions, TCP, TLS,
    TRANSPORT, TopOptions,
};
use super::source::{listed, quoted};
use super::tables::{table, tables};
use super::tree::Item;
use crate::event::Event;
use std::collections::BTreeSet;
use std::sync::Arc;
use units::Duration;
use units::parameter::{Arguments, Choice, Component, Key, Options, Parameter};

/// The maximum number of events.
const MAX_EVENTS: usize = 10_000;

/// Reads a scenario out of a document.
pub(super) fn read(reader: &mut Reader<'_>, document: &Item) -> Result<Scenario, ScenarioError> {
    let top = reader.section(document, String::new())?;
    // The `[sweep]` table was taken out before.
    reader.check_keys(&top, TopOptions::PARAMETERS, &sections::tables().collect::<Vec<_>>())?;
    let TopOptions { name, seed, duration } = reader.options(&top)?;
    let name = match (name, top.get(TopOptions::NAME.name)) {
        (Some(name), Some(entry)) => names::checked(reader, name, &entry.item, TopOptions::NAME.name)?,
        (None, None) => names::of_file(reader.source.origin),
        _ => unreachable!("the name is read from its entry"),
    };
    check_above_zero(reader, &top, TopOptions::DURATION, duration)?;
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
    check_routes(reader, (&nodes, &parts), &ends, &flow_sections, FlowOptions::SERVER)?;
    let crossing: Vec<_> = cross_traffic.iter().map(|cross| (cross.from, cross.to)).collect();
    check_routes(reader, (&nodes, &parts), &crossing, &cross_sections, CrossTrafficOptions::TO)?;
    let hosts = ends.iter().chain(&crossing).flat_map(|(from, to)| [*from, *to]).collect();
    let resolved = nodes.resolved(reader, &hosts)?;
    nodes.check_middleboxes(reader, &resolved, (&links, &media), &hosts)?;
    super::stacks::check(reader, &resolved, (&flows, &flow_sections))?;
    let memory = read_memory(reader, &top, &nodes, &resolved)?;
    let mut scenario = Scenario {
        name,
        seed,
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
        let EventOptions { at, .. } = reader.options(section)?;
        let row = reader.row_of(crate::event::ROOM, section, EventOptions::KIND)?;
        reader.check_keys(section, row.parameters, &names_of(EventOptions::PARAMETERS))?;
        if at >= scenario.duration {
            let expected = format!("a time before the end of the run ({})", scenario.duration);
            return Err(reader.wrong_at(section, EventOptions::AT.name, "too late", &expected));
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

fn check_above_zero(
    reader: &Reader<'_>,
    section: &Section<'_>,
    option: Key<Duration>,
    value: Duration,
) -> Result<(), ScenarioError> {
    match value {
        Duration::ZERO => Err(reader.wrong_at(section, option.name, "zero", "a duration above zero")),
        _ => Ok(()),
    }
}

fn read_record(reader: &mut Reader<'_>, top: &Section<'_>) -> Result<Arguments, ScenarioError> {
    let values = read_table(reader, top, RECORD_TABLE, RecordOptions::PARAMETERS)?;
    let section = table(reader, top, RECORD_TABLE)?;
    let RecordOptions { tables, bin, .. } = RecordOptions::of(&values);
    check_above_zero(reader, &section, RecordOptions::BIN, bin)?;
    let mut seen = BTreeSet::new();
    for (number, table) in tables.iter().enumerate() {
        if !seen.insert(table) {
            let key = RecordOptions::TABLES.name;
            let path = format!("{}.{number}", section.at(key));
            let problem = format!("named twice, found {}; expected each table once", quoted(table.word()));
            return Err(reader.source.error(section.place_of(key), &path, problem));
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
    key: Key<String>,
) -> Result<(), ScenarioError> {
    for (&(from, to), section) in ends.iter().zip(sections) {
        if part[from] != part[to] {
            let [client, server] = [from, to].map(|node| quoted(nodes.names.name(node)));
            let reached = (0..part.len()).filter(|node| part[*node] == part[from] && *node != from);
            let reached = listed(reached.take(10).map(|node| nodes.names.name(node)));
            let problem =
                format!("no route from {client} to {server}; from {client} links lead to: {reached}");
            return Err(reader.source.error(section.place_of(key.name), section.path(), problem));
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
