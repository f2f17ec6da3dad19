//! The connections of flows: repeated visits, flows that follow others, and shared ports.

use super::error::ScenarioError;
use super::model::{Flow, Protocol, Visit};
use super::names::Names;
use super::read::{Reader, Section};
use super::sections::{FLOW_TABLE, FlowOptions, VisitOptions};
use super::source::quoted;
use std::collections::BTreeMap;
use units::Duration;
use units::parameter::{Component, Options};

/// The maximum number of flows, visits included: the number of ports for them.
pub const MAX_FLOWS: usize = 30_000;
/// The port of the first flow's client, followed by those of the other flows and then by those of further TCP connections.
const CLIENT_PORT: u16 = 34_433;
/// The default port of the first flow's server, followed by those of the other flows.
const SERVER_PORT: u16 = 4433;

/// The port of the client of the flow with this number.
pub(crate) fn client_port(index: usize) -> u16 {
    CLIENT_PORT.saturating_add(index as u16)
}

/// The port of the server of the flow with this number.
pub(crate) fn server_port(index: usize, flow: &Flow) -> u16 {
    flow.port.unwrap_or(SERVER_PORT.saturating_add(index as u16))
}

/// Reads the visits of a flow, which are in the order of time.
pub(super) fn read_visits(
    reader: &Reader<'_>,
    flow: &Section<'_>,
    options: &FlowOptions,
    duration: Duration,
) -> Result<Vec<Visit>, ScenarioError> {
    let (mut visits, mut last) = (Vec::new(), options.start);
    let FlowOptions { application: first, protocol, .. } = options;
    for (number, component) in options.visits.iter().enumerate() {
        let VisitOptions { at, application } = VisitOptions::of(&component.arguments);
        let path = format!("{}.{number}", flow.at(FlowOptions::VISITS.name));
        let place = flow.place_of(FlowOptions::VISITS.name);
        let wrong =
            |key: &str, problem: String| Err(reader.source.error(place, &format!("{path}.{key}"), problem));
        let [at_key, application_key] = [VisitOptions::AT.name, VisitOptions::APPLICATION.name];
        if at <= last {
            let problem =
                format!("too early, found {at}; expected a time after the connection before ({last})");
            return wrong(at_key, problem);
        }
        if at >= duration {
            let problem =
                format!("too late, found {at}; expected a time before the end of the run ({duration})");
            return wrong(at_key, problem);
        }
        if let Some(application) = &application {
            let alpn = |of: &Component| traffic::alpn(of.name, &of.arguments);
            if alpn(application) != alpn(first) {
                let problem = format!(
                    "not the application protocol of the flow, found {}; expected one with the protocol of {}",
                    quoted(application.name),
                    quoted(first.name)
                );
                return wrong(application_key, problem);
            }
            if traffic::branch_of(application.name, &application.arguments).is_some() {
                let problem = "belongs to the application of another flow; expected one of its own";
                return wrong(application_key, problem.to_owned());
            }
            if let Err((_, problem)) = protocol.carries(application) {
                return wrong(application_key, problem);
            }
        }
        last = at;
        visits.push(Visit { at, application });
    }
    Ok(visits)
}

/// Checks that only a flow over QUIC sets the server's port.
pub(super) fn check_port(
    reader: &Reader<'_>,
    flow: &Section<'_>,
    options: &FlowOptions,
) -> Result<(), ScenarioError> {
    if options.port.is_some() && options.protocol == Protocol::Tcp {
        let problem = "only a flow over QUIC can choose its port; expected protocol = \"quic\"";
        return Err(reader.error_at(flow, FlowOptions::PORT.name, problem));
    }
    Ok(())
}

/// Reads the order of flows, which has no circles. A flow that follows another one has neither a stop nor visits.
pub(super) fn read_order(
    reader: &Reader<'_>,
    sections: &[Section<'_>],
    names: &Names<'_>,
    flows: &mut [Flow],
) -> Result<(), ScenarioError> {
    let [after, stop, visits] = [FlowOptions::AFTER.name, FlowOptions::STOP.name, FlowOptions::VISITS.name];
    for (index, section) in sections.iter().enumerate() {
        let Some(entry) = section.get(after) else { continue };
        let path = section.at(after);
        flows[index].after = Some(names.find(reader, &entry.item, &path, "flow")?);
        let has = [(stop, flows[index].stop.is_some()), (visits, !flows[index].visits.is_empty())];
        if let Some((other, _)) = has.iter().find(|(_, given)| *given) {
            let problem =
                format!("a flow that starts after another cannot have {other}; expected one of the two");
            return Err(reader.error_at(section, other, problem));
        }
    }
    let circular = in_circles(flows);
    for (index, section) in sections.iter().enumerate() {
        let Some(first) = flows[index].after else { continue };
        if circular[index] {
            let name = quoted(&flows[first].name);
            let problem = format!(
                "flows that wait for each other, found {name}; expected a flow that does not wait for this \
                 one"
            );
            return Err(reader.error_at(section, after, problem));
        }
    }
    Ok(())
}

/// Whether each flow waits for itself, through others.
fn in_circles(flows: &[Flow]) -> Vec<bool> {
    let mut circular = vec![false; flows.len()];
    // The first flow from which each one was reached: none is walked over twice.
    let mut reached_from = vec![None; flows.len()];
    for first in 0..flows.len() {
        let mut at = Some(first);
        while let Some(flow) = at.filter(|flow| reached_from[*flow].is_none()) {
            reached_from[flow] = Some(first);
            at = flows[flow].after;
        }
        let entry = at.filter(|flow| reached_from[*flow] == Some(first));
        let around = std::iter::successors(entry, |flow| flows[*flow].after);
        for flow in around {
            if std::mem::replace(&mut circular[flow], true) {
                break;
            }
        }
    }
    circular
}

/// Checks the number of connections, and that the ports that flows set for their servers are free at the node.
pub(super) fn check_ports(
    reader: &Reader<'_>,
    sections: &[Section<'_>],
    (flows, unfolded): (&[Flow], &[Flow]),
) -> Result<(), ScenarioError> {
    let connections = unfolded.len();
    if connections > MAX_FLOWS {
        let problem = format!(
            "too many connections, found {connections}; expected {MAX_FLOWS} at most, visits included"
        );
        return Err(reader.source.error(sections[0].place, FLOW_TABLE, problem));
    }
    if flows.iter().all(|flow| flow.port.is_none()) {
        return Ok(());
    }
    // Each connection of a flow has the next port; those of further TCP connections follow.
    let mut taken: BTreeMap<(usize, u16), String> = BTreeMap::new();
    let mut more = connections;
    for (number, flow) in unfolded.iter().enumerate() {
        let owner = |end: &str| format!("the {end} of flow {}", quoted(&flow.name));
        taken.insert((flow.client, client_port(number)), owner("client"));
        if flow.protocol == Protocol::Tcp {
            for _ in 1..flow.connections() {
                taken.insert((flow.client, client_port(more)), owner("client"));
                more += 1;
            }
            taken.insert((flow.server, server_port(number, flow)), owner("server"));
        }
    }
    for (section, flow) in sections.iter().zip(flows) {
        if let Some(port) = flow.port
            && let Some(owner) = taken.get(&(flow.server, port))
        {
            let problem = format!(
                "already in use, found {port}; expected another port: {owner} uses this one at the same \
                 node"
            );
            return Err(reader.error_at(section, FlowOptions::PORT.name, problem));
        }
    }
    Ok(())
}
