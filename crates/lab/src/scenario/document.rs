//! The document as a whole: its tables in their order, and what must hold across them.

use super::error::ScenarioError;
use super::model::{CrossTraffic, Flow, IpVersion, Link, Node, NodeKind, Protocol, Scenario};
use super::names::{self, Names};
use super::read::{Reader, Section};
use super::sections::{
    self, BACKWARD, BOTH, CROSS_TRAFFIC, CROSS_TRAFFIC_TABLE, FLOW, FLOW_TABLE, FORWARD, LINK, LINK_TABLE,
    NODE, NODE_TABLE, RECORD, RECORD_TABLE, TCP, TLS, TOP, TRANSPORT,
};
use super::source::{listed, quoted};
use super::tree::{Entry, Item, Node as Toml};
use std::collections::BTreeSet;
use units::Duration;
use units::parameter::{Arguments, Component, Value};

/// The most flows: as many as `lab` has ports for.
pub const MAX_FLOWS: usize = 30_000;
/// The most senders of cross traffic.
pub const MAX_CROSS_TRAFFIC: usize = 1000;

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
    let links = read_links(reader, &top, &mut nodes)?;
    let flows = read_flows(reader, &top, &nodes, duration)?;
    let cross_traffic = read_cross_traffic(reader, &top, &nodes, duration)?;
    nodes.check_linked(reader, &links)?;
    let ends: Vec<_> = flows.iter().map(|flow| (flow.client, flow.server)).collect();
    check_routes(reader, (&nodes, &links), &ends, &tables(reader, &top, FLOW_TABLE, MAX_FLOWS)?, "server")?;
    let sections = tables(reader, &top, CROSS_TRAFFIC_TABLE, MAX_CROSS_TRAFFIC)?;
    let crossing: Vec<_> = cross_traffic.iter().map(|cross| (cross.from, cross.to)).collect();
    check_routes(reader, (&nodes, &links), &crossing, &sections, "to")?;
    let hosts = ends.iter().chain(&crossing).flat_map(|(from, to)| [*from, *to]).collect();
    Ok(Scenario {
        name,
        seed: values.integer("seed"),
        duration,
        record,
        tls,
        transport: transport_values,
        tcp,
        nodes: nodes.resolved(reader, &hosts)?,
        links,
        flows,
        cross_traffic,
    })
}

/// A table of the document, or an empty one.
fn table<'i>(reader: &Reader<'_>, top: &Section<'i>, name: &str) -> Result<Section<'i>, ScenarioError> {
    match top.get(name) {
        Some(entry) => reader.section(&entry.item, top.at(name)),
        None => Ok(Section::empty(top.place, &top.at(name))),
    }
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

/// The tables of an array with their paths: by name where they have one, by number elsewhere.
fn tables<'i>(
    reader: &Reader<'_>,
    top: &Section<'i>,
    name: &str,
    most: usize,
) -> Result<Vec<Section<'i>>, ScenarioError> {
    let Some(entry) = top.get(name) else { return Ok(Vec::new()) };
    let Toml::List(items) = &entry.item.node else {
        return Err(reader.wrong(
            &entry.item,
            name,
            "wrong type",
            &format!("an array of tables, [[{name}]]"),
        ));
    };
    if items.len() > most {
        let problem = format!("too many, found {}; expected at most {most}", items.len());
        return Err(reader.source.error(entry.place, name, problem));
    }
    let sections = items.iter().enumerate().map(|(number, item)| {
        let known = item.get("name").and_then(|item| match &item.node {
            Toml::Text(name) if names::is_name(name) => Some(name.clone()),
            _ => None,
        });
        let key = known.unwrap_or_else(|| number.to_string());
        reader.section(item, format!("{name}.{key}"))
    });
    sections.collect()
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

/// The nodes of a document while it is read.
#[derive(Default)]
struct Nodes<'i> {
    names: Names<'i>,
    /// What was declared of each: its kind, and its table.
    declared: Vec<Option<(Option<NodeKind>, Section<'i>)>>,
}

impl<'i> Nodes<'i> {
    fn declare(&mut self, reader: &mut Reader<'_>, top: &Section<'i>) -> Result<(), ScenarioError> {
        for section in tables(reader, top, NODE_TABLE, network::MAX_NODES)? {
            reader.check_keys(&section, NODE, &[])?;
            let values = reader.arguments(NODE, &section)?;
            self.names.add(reader, &section)?;
            let kind = values.has("kind").then(|| match values.text("kind").as_str() {
                "host" => NodeKind::Host,
                _ => NodeKind::Router,
            });
            self.declared.push(Some((kind, section)));
        }
        Ok(())
    }

    /// The node that a link's key names. Where nodes are declared they all are; else it is one by being named.
    fn end_of_link(
        &mut self,
        reader: &Reader<'_>,
        link: &Section<'i>,
        key: &str,
    ) -> Result<usize, ScenarioError> {
        let Some(entry) = link.get(key) else { return Ok(0) };
        let all_declared = self.declared.first().is_some_and(Option::is_some);
        if all_declared {
            return self.names.find(reader, entry, &link.at(key), "node");
        }
        let (index, new) = self.names.find_or_add(reader, entry, &link.at(key))?;
        if new {
            if self.declared.len() >= network::MAX_NODES {
                let problem = format!("too many nodes; expected at most {}", network::MAX_NODES);
                return Err(reader.source.error(entry.place, &link.at(key), problem));
            }
            self.declared.push(None);
        }
        Ok(index)
    }

    /// The nodes that two keys name, which must be two.
    fn ends(
        &self,
        reader: &Reader<'_>,
        section: &Section<'_>,
        keys: [&str; 2],
    ) -> Result<(usize, usize), ScenarioError> {
        let end = |key: &str| match section.get(key) {
            Some(entry) => self.names.find(reader, entry, &section.at(key), "node"),
            None => Ok(0),
        };
        let (first, second) = (end(keys[0])?, end(keys[1])?);
        if let (true, Some(entry)) = (first == second, section.get(keys[1])) {
            let problem = format!("{} and {} are one node", keys[0], keys[1]);
            return Err(reader.wrong(&entry.item, &section.at(keys[1]), &problem, "another node"));
        }
        Ok((first, second))
    }

    fn check_linked(&self, reader: &Reader<'_>, links: &[Link]) -> Result<(), ScenarioError> {
        let linked: BTreeSet<usize> = links.iter().flat_map(|link| [link.from, link.to]).collect();
        for (index, declared) in self.declared.iter().enumerate() {
            if let Some((_, section)) = declared
                && !linked.contains(&index)
            {
                let name = quoted(self.names.name(index));
                let problem =
                    format!("a node without a link, found {name}; expected a [[link]] from or to it");
                return Err(reader.source.error(section.place, section.path(), problem));
            }
        }
        Ok(())
    }

    fn resolved(&self, reader: &Reader<'_>, used: &BTreeSet<usize>) -> Result<Vec<Node>, ScenarioError> {
        let resolve = |(index, declared): (usize, &Option<(Option<NodeKind>, Section<'_>)>)| {
            let used = used.contains(&index);
            let by_use = if used { NodeKind::Host } else { NodeKind::Router };
            let kind = declared.as_ref().and_then(|(kind, _)| *kind).unwrap_or(by_use);
            if let (NodeKind::Router, true, Some((_, section))) = (kind, used, declared) {
                let place = section.get("kind").map_or(section.place, |entry| entry.item.place);
                let problem = "traffic begins or ends here, found \"router\"; expected \"host\"";
                return Err(reader.source.error(place, &section.at("kind"), problem));
            }
            Ok(Node { name: self.names.name(index).to_owned(), kind })
        };
        self.declared.iter().enumerate().map(resolve).collect()
    }
}

fn read_links<'i>(
    reader: &mut Reader<'_>,
    top: &Section<'i>,
    nodes: &mut Nodes<'i>,
) -> Result<Vec<Link>, ScenarioError> {
    let (mut names, mut links) = (Names::default(), Vec::new());
    for section in tables(reader, top, LINK_TABLE, network::MAX_LINKS)? {
        let options = network::LINK.iter().map(|parameter| parameter.name);
        let also: Vec<&str> = [FORWARD, BACKWARD, BOTH].into_iter().chain(options).collect();
        reader.check_keys(&section, LINK, &also)?;
        let values = reader.arguments(LINK, &section)?;
        names.add(reader, &section)?;
        let from = nodes.end_of_link(reader, &section, "from")?;
        let to = nodes.end_of_link(reader, &section, "to")?;
        if let (true, Some(entry)) = (from == to, section.get("to")) {
            return Err(reader.wrong(
                &entry.item,
                &section.at("to"),
                "a link from a node to itself",
                "another node",
            ));
        }
        let forward = read_direction(reader, &section, FORWARD)?;
        let backward = read_direction(reader, &section, BACKWARD)?;
        check_covered(reader, &section)?;
        links.push(Link { name: values.text("name"), from, to, forward, backward });
    }
    if links.is_empty() {
        let problem = "missing; expected at least one [[link]]";
        return Err(reader.source.error(top.place, "link", problem));
    }
    Ok(links)
}

/// One direction of a link: what its own table says, else what `both` or the link itself says.
fn read_direction(
    reader: &mut Reader<'_>,
    link: &Section<'_>,
    name: &str,
) -> Result<Arguments, ScenarioError> {
    let both = table(reader, link, BOTH)?;
    reader.check_keys(&both, network::LINK, &[])?;
    if let Some(twice) = both.entries().find(|entry| link.get(&entry.key).is_some()) {
        let key = &twice.key;
        let problem = format!("given twice; expected it either in {} or in {}", link.path(), both.path());
        return Err(reader.source.error(twice.place, &both.at(key), problem));
    }
    let own = table(reader, link, name)?;
    reader.check_keys(&own, network::LINK, &[])?;
    reader.arguments(network::LINK, &own.over(&both).over(link))
}

/// What both directions override is checked all the same.
fn check_covered(reader: &mut Reader<'_>, link: &Section<'_>) -> Result<(), ScenarioError> {
    let (forward, backward) = (table(reader, link, FORWARD)?, table(reader, link, BACKWARD)?);
    let both = table(reader, link, BOTH)?.over(link);
    for parameter in network::LINK {
        let name = parameter.name;
        if let (Some(entry), Some(_), Some(_)) = (both.get(name), forward.get(name), backward.get(name)) {
            reader.value(&parameter.kind, &entry.item, &both.at(name))?;
        }
    }
    Ok(())
}

fn read_flows(
    reader: &mut Reader<'_>,
    top: &Section<'_>,
    nodes: &Nodes<'_>,
    duration: Duration,
) -> Result<Vec<Flow>, ScenarioError> {
    let (mut names, mut flows) = (Names::default(), Vec::new());
    let (transport, tcp) = (table(reader, top, TRANSPORT)?, table(reader, top, TCP)?);
    for section in tables(reader, top, FLOW_TABLE, MAX_FLOWS)? {
        reader.check_keys(&section, FLOW, &[TRANSPORT, TCP])?;
        let values = reader.arguments(FLOW, &section)?;
        names.add(reader, &section)?;
        let (client, server) = nodes.ends(reader, &section, ["client", "server"])?;
        let (start, stop) = read_span(reader, &section, &values, duration)?;
        let protocol = read_protocol(reader, &section, &values)?;
        let own = table(reader, &section, TRANSPORT)?;
        reader.check_keys(&own, quic::PARAMETERS, &[])?;
        let own_tcp = table(reader, &section, TCP)?;
        reader.check_keys(&own_tcp, tcp::PARAMETERS, &[])?;
        let application = values.component("application");
        let transport = reader.arguments(quic::PARAMETERS, &own.over(&transport))?;
        check_datagrams(reader, &section, &application, &transport)?;
        flows.push(Flow {
            name: values.text("name"),
            client,
            server,
            start,
            stop,
            ip: ip_version(&values),
            application,
            protocol,
            transport,
            tcp: reader.arguments(tcp::PARAMETERS, &own_tcp.over(&tcp))?,
        });
    }
    if flows.is_empty() {
        let problem = "missing; expected at least one [[flow]]";
        return Err(reader.source.error(top.place, "flow", problem));
    }
    Ok(flows)
}

/// What a flow goes over; the options of the other protocol are a mistake, and so is an application that it cannot carry.
fn read_protocol(
    reader: &Reader<'_>,
    flow: &Section<'_>,
    values: &Arguments,
) -> Result<Protocol, ScenarioError> {
    let (protocol, other, right) = match values.text("protocol").as_str() {
        "tcp" => (Protocol::Tcp, TRANSPORT, TCP),
        _ => (Protocol::Quic, TCP, TRANSPORT),
    };
    if let Some(entry) = flow.get(other) {
        let name = protocol.name();
        let problem = format!(
            "options of another protocol: this flow has protocol = {}; expected [flow.{right}], or the other protocol",
            quoted(name)
        );
        return Err(reader.source.error(entry.place, &flow.at(other), problem));
    }
    let application = values.component("application");
    let fits = match protocol {
        Protocol::Quic => traffic::goes_over_quic(application.name, &application.arguments),
        Protocol::Tcp => traffic::tcp_connections(application.name, &application.arguments).map(drop),
    };
    if let (Err((option, problem)), Some(entry)) = (fits, flow.get("application")) {
        let path = flow.at("application");
        let path = if option.is_empty() { path } else { format!("{path}.{option}") };
        return Err(reader.source.error(entry.item.place, &path, problem));
    }
    Ok(protocol)
}

/// An application that sends datagrams needs a transport that takes them.
fn check_datagrams(
    reader: &Reader<'_>,
    flow: &Section<'_>,
    application: &Component,
    transport: &Arguments,
) -> Result<(), ScenarioError> {
    let needs = traffic::needs_datagrams(application.name, &application.arguments);
    match flow.get("application") {
        Some(entry) if needs && transport.integer("max_datagram_frame_size") == 0 => {
            let problem = "sends datagrams, and transport.max_datagram_frame_size is 0; expected 65535, say";
            Err(reader.source.error(entry.item.place, &flow.at("application"), problem))
        }
        _ => Ok(()),
    }
}

fn read_cross_traffic(
    reader: &mut Reader<'_>,
    top: &Section<'_>,
    nodes: &Nodes<'_>,
    duration: Duration,
) -> Result<Vec<CrossTraffic>, ScenarioError> {
    let (mut names, mut all) = (Names::default(), Vec::new());
    for section in tables(reader, top, CROSS_TRAFFIC_TABLE, MAX_CROSS_TRAFFIC)? {
        reader.check_keys(&section, CROSS_TRAFFIC, &[])?;
        let values = reader.arguments(CROSS_TRAFFIC, &section)?;
        names.add(reader, &section)?;
        let (from, to) = nodes.ends(reader, &section, ["from", "to"])?;
        let (start, stop) = read_span(reader, &section, &values, duration)?;
        let source = values.component("source");
        let (_, largest) = traffic::sources::sizes(source.name, &source.arguments);
        if let (Some(entry), true) = (section.get("source"), largest > traffic::sources::LARGEST) {
            let problem = format!(
                "a datagram of {largest} bytes; expected {} at most, which is what UDP carries",
                traffic::sources::LARGEST
            );
            return Err(reader.source.error(entry.item.place, &section.at("source"), problem));
        }
        all.push(CrossTraffic {
            name: values.text("name"),
            from,
            to,
            start,
            stop,
            ip: ip_version(&values),
            source,
        });
    }
    Ok(all)
}

/// When traffic begins, and when it ends.
fn read_span(
    reader: &Reader<'_>,
    section: &Section<'_>,
    values: &Arguments,
    duration: Duration,
) -> Result<(Duration, Option<Duration>), ScenarioError> {
    let start = values.duration("start");
    if let (true, Some(entry)) = (start >= duration, section.get("start")) {
        let expected = format!("a time before the end of the run ({duration})");
        return Err(reader.wrong(&entry.item, &section.at("start"), "too late", &expected));
    }
    let stop = values.has("stop").then(|| values.duration("stop"));
    if let (true, Some(entry)) = (stop.is_some_and(|stop| stop <= start), section.get("stop")) {
        let expected = format!("a time after its start ({start})");
        return Err(reader.wrong(&entry.item, &section.at("stop"), "too early", &expected));
    }
    Ok((start, stop))
}

fn ip_version(values: &Arguments) -> IpVersion {
    if values.text("ip") == IpVersion::V6.name() { IpVersion::V6 } else { IpVersion::V4 }
}

/// That the ends of all traffic are in one part of the network: links go both ways, and every node forwards.
fn check_routes(
    reader: &Reader<'_>,
    (nodes, links): (&Nodes<'_>, &[Link]),
    ends: &[(usize, usize)],
    sections: &[Section<'_>],
    key: &str,
) -> Result<(), ScenarioError> {
    let part = parts(nodes.declared.len(), links);
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
fn parts(nodes: usize, links: &[Link]) -> Vec<usize> {
    fn root(parent: &mut [usize], mut node: usize) -> usize {
        while parent[node] != node {
            parent[node] = parent[parent[node]];
            node = parent[node];
        }
        node
    }
    let mut parent: Vec<usize> = (0..nodes).collect();
    for link in links {
        let (from, to) = (root(&mut parent, link.from), root(&mut parent, link.to));
        parent[from.max(to)] = from.min(to);
    }
    (0..nodes).map(|node| root(&mut parent, node)).collect()
}
