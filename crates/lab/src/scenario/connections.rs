//! Connections of flows: clients that come back, flows that follow another, ports that flows share.

use super::error::ScenarioError;
use super::model::{Flow, Protocol, Scenario, Visit};
use super::names::Names;
use super::read::{Reader, Section};
use super::sections::FLOW_TABLE;
use super::source::quoted;
use std::borrow::Cow;
use std::collections::BTreeMap;
use units::Duration;
use units::parameter::{Arguments, Component, Value};

/// The most flows, visits included: as many as there are ports for.
pub const MAX_FLOWS: usize = 30_000;
/// The port of the first flow's client; the n-th flow has the n-th port after it. Behind the last flow's come the ports of
/// further TCP connections.
const CLIENT_PORT: u16 = 34_433;
/// The default port of the first flow's server; the n-th flow has the n-th port after it.
const SERVER_PORT: u16 = 4433;

/// The port of the client of the flow at this place.
pub(crate) fn client_port(index: usize) -> u16 {
    CLIENT_PORT.saturating_add(index as u16)
}

/// The port of the server of the flow at this place.
pub(crate) fn server_port(index: usize, flow: &Flow) -> u16 {
    flow.port.unwrap_or(SERVER_PORT.saturating_add(index as u16))
}

impl Flow {
    /// The name of a connection of the flow: `get`, `get@2`, `get@3`.
    fn name_of(&self, number: usize) -> String {
        if number == 1 { self.name.clone() } else { format!("{}@{number}", self.name) }
    }

    fn visit(&self, number: usize, visit: &Visit) -> Flow {
        Flow {
            name: self.name_of(number),
            start: visit.at,
            // The flow's end is that of all its connections.
            application: visit.application.clone().unwrap_or_else(|| self.application.clone()),
            visits: Vec::new(),
            ..self.clone()
        }
    }
}

impl Scenario {
    /// The scenario with a flow for each connection: each visit of a flow stands behind it, to the same port.
    pub(crate) fn unfolded(&self) -> Cow<'_, Scenario> {
        if self.flows.iter().all(|flow| flow.visits.is_empty()) {
            return Cow::Borrowed(self);
        }
        let mut flows = Vec::new();
        // Where the last connection of each flow stands.
        let mut last = Vec::new();
        for flow in &self.flows {
            let port = server_port(flows.len(), flow);
            let mut first = flow.clone();
            if !flow.visits.is_empty() {
                first.port = Some(port);
            }
            let visits = flow.visits.iter().zip(2..).map(|(visit, number)| first.visit(number, visit));
            let visits: Vec<Flow> = visits.collect();
            first.visits.clear();
            flows.push(first);
            flows.extend(visits);
            last.push(flows.len() - 1);
        }
        for flow in &mut flows {
            flow.after = flow.after.map(|before| last[before]);
        }
        Cow::Owned(Scenario { flows, ..self.clone() })
    }
}

/// The visits of a flow, which come one after the other.
pub(super) fn read_visits(
    reader: &Reader<'_>,
    flow: &Section<'_>,
    values: &Arguments,
    duration: Duration,
) -> Result<Vec<Visit>, ScenarioError> {
    let (mut visits, mut last) = (Vec::new(), values.duration("start"));
    let first = values.component("application");
    for (number, value) in values.list("visits").into_iter().enumerate() {
        let Value::Component(component) = value else { continue };
        let arguments = component.arguments;
        let at = arguments.duration("at");
        let application = arguments.has("application").then(|| arguments.component("application"));
        let path = format!("{}.{number}", flow.at("visits"));
        let place = flow.get("visits").map_or(flow.place, |entry| entry.item.place);
        let wrong =
            |key: &str, problem: String| Err(reader.source.error(place, &format!("{path}.{key}"), problem));
        if at <= last {
            return wrong(
                "at",
                format!("too early, found {at}; expected a time after the connection before ({last})"),
            );
        }
        if at >= duration {
            return wrong(
                "at",
                format!("too late, found {at}; expected a time before the end of the run ({duration})"),
            );
        }
        if let Some(application) = &application {
            let alpn = |of: &Component| traffic::alpn(of.name, &of.arguments);
            if alpn(application) != alpn(&first) {
                let problem = format!(
                    "another application protocol than that of the flow, found {}; expected one of {}'s",
                    quoted(application.name),
                    quoted(first.name)
                );
                return wrong("application", problem);
            }
        }
        last = at;
        visits.push(Visit { at, application });
    }
    Ok(visits)
}

/// The server's port, which only flows over QUIC can say.
pub(super) fn read_port(
    reader: &Reader<'_>,
    flow: &Section<'_>,
    values: &Arguments,
    protocol: Protocol,
) -> Result<Option<u16>, ScenarioError> {
    let port = values.has("port").then(|| values.integer("port") as u16);
    match (port, protocol, flow.get("port")) {
        (Some(_), Protocol::Tcp, Some(entry)) => {
            let problem = "flows over TCP have ports of their own; expected protocol = \"quic\"";
            Err(reader.source.error(entry.item.place, &flow.at("port"), problem))
        }
        _ => Ok(port),
    }
}

/// Which flows follow others: names that exist, and no circle. A flow that follows another has no times of its own.
pub(super) fn read_order(
    reader: &Reader<'_>,
    sections: &[Section<'_>],
    names: &Names<'_>,
    flows: &mut [Flow],
) -> Result<(), ScenarioError> {
    for (index, section) in sections.iter().enumerate() {
        let Some(entry) = section.get("after") else { continue };
        let path = section.at("after");
        flows[index].after = Some(names.find(reader, &entry.item, &path, "flow")?);
        let has = [("stop", flows[index].stop.is_some()), ("visits", !flows[index].visits.is_empty())];
        if let Some((other, _)) = has.iter().find(|(_, given)| *given) {
            let place = section.get(other).map_or(section.place, |entry| entry.item.place);
            let problem = format!("a flow that starts after another has no {other}; expected one of the two");
            return Err(reader.source.error(place, &section.at(other), problem));
        }
    }
    for (index, section) in sections.iter().enumerate() {
        let mut before = flows[index].after;
        // More steps than flows: a circle further on, which is found from a flow inside of it.
        for _ in 0..flows.len() {
            match before {
                Some(flow) if flow == index => {
                    let problem = format!(
                        "a circle, found {}; expected a flow that does not wait for this one",
                        quoted(&flows[flows[index].after.unwrap_or(index)].name)
                    );
                    let place = section.get("after").map_or(section.place, |entry| entry.item.place);
                    return Err(reader.source.error(place, &section.at("after"), problem));
                }
                Some(flow) => before = flows[flow].after,
                None => break,
            }
        }
    }
    Ok(())
}

/// That no port that a flow names for its server is also that of something else at the same node.
pub(super) fn check_ports(
    reader: &Reader<'_>,
    sections: &[Section<'_>],
    flows: &[Flow],
) -> Result<(), ScenarioError> {
    let connections: usize = flows.iter().map(|flow| 1 + flow.visits.len()).sum();
    if connections > MAX_FLOWS {
        let problem = format!(
            "too many connections, found {connections}; expected {MAX_FLOWS} at most, visits included"
        );
        return Err(reader.source.error(sections[0].place, FLOW_TABLE, problem));
    }
    if flows.iter().all(|flow| flow.port.is_none()) {
        return Ok(());
    }
    // Connections, not flows, count the ports up; the further ones of TCP come behind all of them.
    let mut taken: BTreeMap<(usize, u16), String> = BTreeMap::new();
    let (mut number, mut more) = (0, connections);
    for flow in flows {
        let owner = |end: &str| format!("the {end} of flow {}", quoted(&flow.name));
        for connection in number..=number + flow.visits.len() {
            taken.insert((flow.client, client_port(connection)), owner("client"));
        }
        if flow.protocol == Protocol::Tcp {
            for _ in 1..flow.connections() {
                taken.insert((flow.client, client_port(more)), owner("client"));
                more += 1;
            }
            taken.insert((flow.server, server_port(number, flow)), owner("server"));
        }
        number += 1 + flow.visits.len();
    }
    for (section, flow) in sections.iter().zip(flows) {
        if let (Some(port), Some(entry)) = (flow.port, section.get("port"))
            && let Some(owner) = taken.get(&(flow.server, port))
        {
            let problem =
                format!("taken, found {port}; expected another port: {owner} has this one at its node");
            return Err(reader.source.error(entry.item.place, &section.at("port"), problem));
        }
    }
    Ok(())
}
