//! A resolved scenario as a list of tables with all values of its document.
//!
//! The written document, the key of a run in a sweep, and the files that go with a run to another machine all come from this
//! list. It contains everything that affects a run, so that the written document gives the same run.

use super::model::{Attachment, CrossTraffic, Flow, Link, Medium, Protocol, Remembered, Scenario, Visit};
use super::sections::{
    AT, BACKWARD, CROSS_TRAFFIC_TABLE, CrossTrafficOptions, EVENT_TABLE, EventOptions, FLOW_TABLE, FORWARD,
    FlowOptions, IpOptions, LINK_TABLE, LinkOptions, MEDIUM_TABLE, MEMORY_TABLE, MediumOptions,
    MemoryOptions, NODE_TABLE, NodeOptions, RECORD_TABLE, TCP, TLS, TRANSPORT, TopOptions, VISIT, VISITS,
    VisitOptions,
};
use crate::event::Event;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use units::Duration;
use units::parameter::{Arguments, Choice, Component, File, Key, Value};

/// A table of the resolved document.
#[derive(Debug)]
pub(super) struct Table<'a> {
    /// The line above the table; empty for the top of the document.
    pub(super) header: String,
    pub(super) values: Vec<(&'static str, Cow<'a, Value>)>,
}

impl<'a> Table<'a> {
    fn new(header: String) -> Table<'a> {
        Table { header, values: Vec::new() }
    }
    /// A table with a path.
    fn of(path: &str, arguments: &'a Arguments) -> Table<'a> {
        Table::new(format!("[{path}]")).all(arguments)
    }
    fn all(mut self, arguments: &'a Arguments) -> Table<'a> {
        self.values.extend(arguments.0.iter().map(|(name, value)| (*name, Cow::Borrowed(value))));
        self
    }
    /// The table with only the values that differ from shared ones, if there are any.
    fn different_from(mut self, shared: &Arguments) -> Option<Table<'a>> {
        self.values.retain(|(name, value)| shared.get(name) != Some(&**value));
        (!self.values.is_empty()).then_some(self)
    }
    /// An entry of an array of tables.
    fn entry(array: &str) -> Table<'a> {
        Table::new(format!("[[{array}]]"))
    }
    fn with<T>(mut self, option: Key<T>, value: Value) -> Table<'a> {
        self.values.push((option.name, Cow::Owned(value)));
        self
    }
    fn text<T>(self, option: Key<T>, text: &str) -> Table<'a> {
        self.with(option, Value::Text(text.to_owned()))
    }
    fn component(self, option: Key<Component>, component: &Component) -> Table<'a> {
        self.with(option, Value::Component(component.clone()))
    }
    fn time(self, option: Key<Duration>, time: Option<Duration>) -> Table<'a> {
        match time {
            Some(time) => self.with(option, Value::Duration(time)),
            None => self,
        }
    }
}

/// All tables of the resolved document in order.
pub(super) fn tables(scenario: &Scenario) -> Vec<Table<'_>> {
    let top = Table::new(String::new())
        .text(TopOptions::NAME, &scenario.name)
        .with(TopOptions::SEED, Value::Integer(scenario.seed))
        .with(TopOptions::DURATION, Value::Duration(scenario.duration));
    let mut tables = vec![
        top,
        Table::of(RECORD_TABLE, &scenario.record),
        Table::of(TLS, &scenario.tls),
        Table::of(TRANSPORT, &scenario.transport),
        Table::of(TCP, &scenario.tcp),
    ];
    for node in &scenario.nodes {
        let kind = node.kind.component();
        let mut table =
            Table::entry(NODE_TABLE).text(NodeOptions::NAME, &node.name).component(NodeOptions::KIND, &kind);
        if let Some(stack) = &node.stack {
            table = table.component(NodeOptions::STACK, stack);
        }
        if let Some(processing) = &node.processing {
            table = table.component(NodeOptions::PROCESSING, processing);
        }
        tables.push(table);
    }
    scenario.links.iter().for_each(|link| link_tables(scenario, link, &mut tables));
    scenario.media.iter().for_each(|medium| medium_tables(scenario, medium, &mut tables));
    scenario.flows.iter().for_each(|flow| flow_tables(scenario, flow, &mut tables));
    tables.extend(scenario.cross_traffic.iter().map(|cross| cross_traffic(scenario, cross)));
    tables.extend(scenario.memory.iter().map(|known| memory(scenario, known)));
    tables.extend(scenario.events.iter().map(event));
    tables
}

fn link_tables<'a>(scenario: &Scenario, link: &'a Link, tables: &mut Vec<Table<'a>>) {
    let link_itself = Table::entry(LINK_TABLE)
        .text(LinkOptions::NAME, &link.name)
        .text(LinkOptions::FROM, &scenario.nodes[link.from].name)
        .text(LinkOptions::TO, &scenario.nodes[link.to].name);
    tables.push(link_itself);
    for (name, direction) in [(FORWARD, &link.forward), (BACKWARD, &link.backward)] {
        tables.push(Table::of(&format!("{LINK_TABLE}.{name}"), direction));
    }
}

fn medium_tables<'a>(scenario: &Scenario, medium: &'a Medium, tables: &mut Vec<Table<'a>>) {
    let name = |attachment: &Attachment| scenario.nodes[attachment.node].name.clone();
    let (stations, terminals) = medium.attachments.split_at(usize::from(medium.station));
    let mut itself = Table::entry(MEDIUM_TABLE)
        .text(MediumOptions::NAME, &medium.name)
        .text(MediumOptions::KIND, medium.kind.name);
    if let [station] = stations {
        itself = itself.text(MediumOptions::STATION, &name(station));
    }
    let terminals = terminals.iter().map(|terminal| Value::Text(name(terminal)));
    itself = itself.with(MediumOptions::TERMINALS, Value::List(terminals.collect()));
    let shared = &medium.kind.arguments;
    tables.push(itself.all(shared));
    for attachment in &medium.attachments {
        let key = super::source::key(&name(attachment));
        let own = Table::of(&format!("{MEDIUM_TABLE}.{AT}.{key}"), &attachment.arguments);
        tables.extend(own.different_from(shared));
    }
}

fn flow_tables<'a>(scenario: &'a Scenario, flow: &'a Flow, tables: &mut Vec<Table<'a>>) {
    let visits: Vec<Value> = flow.visits.iter().map(visit).collect();
    let mut itself = Table::entry(FLOW_TABLE)
        .text(FlowOptions::NAME, &flow.name)
        .text(FlowOptions::CLIENT, &scenario.nodes[flow.client].name)
        .text(FlowOptions::SERVER, &scenario.nodes[flow.server].name)
        .text(FlowOptions::PROTOCOL, flow.protocol.word())
        .component(FlowOptions::APPLICATION, &flow.application);
    if let Some(port) = flow.port {
        itself = itself.with(FlowOptions::PORT, Value::Integer(port.into()));
    }
    itself = itself.with(FlowOptions::EARLY_DATA, Value::Flag(flow.early_data));
    if let Some(before) = flow.after {
        itself = itself.text(FlowOptions::AFTER, &scenario.flows[before].name);
    }
    // The application of another flow decides about a branch.
    if flow.branch_of.is_none() {
        itself = itself
            .with(FlowOptions::VISITS, Value::List(visits))
            .time(FlowOptions::START, Some(flow.start))
            .time(FlowOptions::STOP, flow.stop);
    }
    itself = itself.with(IpOptions::IP, Value::Integer(flow.ip.number()));
    tables.push(itself);
    let (name, own, shared) = match flow.protocol {
        Protocol::Quic => (TRANSPORT, &flow.transport, &scenario.transport),
        Protocol::Tcp => (TCP, &flow.tcp, &scenario.tcp),
    };
    tables.extend(Table::of(&format!("{FLOW_TABLE}.{name}"), own).different_from(shared));
}

fn visit(visit: &Visit) -> Value {
    let mut arguments = Arguments(vec![(VisitOptions::AT.name, Value::Duration(visit.at))]);
    if let Some(application) = &visit.application {
        arguments.0.push((VisitOptions::APPLICATION.name, Value::Component(application.clone())));
    }
    Value::Component(Component { room: VISITS, name: VISIT, arguments })
}

fn cross_traffic<'a>(scenario: &Scenario, cross: &'a CrossTraffic) -> Table<'a> {
    Table::entry(CROSS_TRAFFIC_TABLE)
        .text(CrossTrafficOptions::NAME, &cross.name)
        .text(CrossTrafficOptions::FROM, &scenario.nodes[cross.from].name)
        .text(CrossTrafficOptions::TO, &scenario.nodes[cross.to].name)
        .component(CrossTrafficOptions::SOURCE, &cross.source)
        .time(CrossTrafficOptions::START, Some(cross.start))
        .time(CrossTrafficOptions::STOP, cross.stop)
        .with(IpOptions::IP, Value::Integer(cross.ip.number()))
}

fn memory<'a>(scenario: &Scenario, known: &'a Remembered) -> Table<'a> {
    let table = Table::entry(MEMORY_TABLE)
        .text(MemoryOptions::NAME, &known.name)
        .text(MemoryOptions::NODE, &scenario.nodes[known.node].name)
        .text(MemoryOptions::PEER, &scenario.nodes[known.peer].name)
        .text(MemoryOptions::PROTOCOL, known.protocol.word())
        .with(MemoryOptions::CAPACITY, Value::Size(known.capacity))
        .with(MemoryOptions::RTT, Value::Duration(known.rtt))
        .with(MemoryOptions::AGE, Value::Duration(known.age))
        .with(IpOptions::IP, Value::Integer(known.ip.number()));
    match known.address {
        Some(address) => table.text(MemoryOptions::ADDRESS, &address.to_string()),
        None => table,
    }
}

fn event(event: &Event) -> Table<'_> {
    Table::entry(EVENT_TABLE)
        .with(EventOptions::AT, Value::Duration(event.at))
        .text(EventOptions::KIND, event.kind.name)
        .all(&event.kind.arguments)
}

impl Scenario {
    /// The texts of all files that it names, by their absolute paths.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Arc<str>> {
        let mut found = BTreeMap::new();
        for table in tables(self) {
            table.values.iter().for_each(|(_, value)| collect(value, &mut found));
        }
        found
    }
}

fn collect(value: &Value, found: &mut BTreeMap<PathBuf, Arc<str>>) {
    match value {
        Value::File(File { path, text }) => drop(found.insert(PathBuf::from(path), text.clone())),
        Value::List(values) => values.iter().for_each(|value| collect(value, found)),
        Value::Component(component) => {
            component.arguments.0.iter().for_each(|(_, value)| collect(value, found));
        }
        _ => {}
    }
}
