//! Reads the nodes of a document: the declared ones, or else those that links and media name.

use super::error::ScenarioError;
use super::gate_names::GateNames;
use super::model::{Link, Medium, Node, NodeKind};
use super::names::Names;
use super::read::{Reader, Section};
use super::sections::{KINDS, NODE_TABLE, NodeOptions};
use super::source::quoted;
use super::tables::tables;
use super::topology::{Surroundings, build_middlebox};
use super::tree::{Item, Node as Toml};
use crate::middlebox;
use crate::proxy::RunInputs;
use std::collections::BTreeSet;
use units::parameter::{Arguments, Component, Key, Options, Room, Row};

/// The kinds of nodes other than middleboxes.
static PLAIN: &[Row<NodeKind>] = &[
    Row {
        name: "host",
        about: "flows and cross traffic begin and end here",
        parameters: &[],
        build: NodeKind::Host,
    },
    Row { name: "router", about: "packets pass through unchanged", parameters: &[], build: NodeKind::Router },
    Row {
        name: "gate",
        about: "packets of real applications enter and leave here, where `quiclab emulate` runs the scenario in real time",
        parameters: &[],
        build: NodeKind::Gate,
    },
];

/// The kinds of nodes: host, router, gate, and the middleboxes.
pub(super) fn kinds() -> Room {
    let mut room =
        Room::of(KINDS, "what a node can be: a host, a router, a gate, or a middlebox", PLAIN, None);
    room.rows.extend(middlebox::room().rows);
    room
}

impl NodeKind {
    fn of(component: Component) -> NodeKind {
        match PLAIN.iter().find(|row| row.name == component.name) {
            Some(row) => row.build.clone(),
            None => NodeKind::Middlebox(Component { room: middlebox::room().name, ..component }),
        }
    }
    /// Whether traffic may begin and end at a node of this kind.
    pub(super) fn may_be_host(&self) -> bool {
        match self {
            NodeKind::Host => true,
            NodeKind::Middlebox(component) => middlebox::is_for_hosts(component.name),
            NodeKind::Router | NodeKind::Gate => false,
        }
    }
    /// The kind as a component of the room `kinds`.
    pub(crate) fn component(&self) -> Component {
        if let NodeKind::Middlebox(component) = self {
            return component.clone();
        }
        let row = PLAIN.iter().find(|row| row.build == *self);
        let name = row.expect("each kind but the middleboxes has a row").name;
        Component { room: KINDS, name, arguments: Arguments::default() }
    }
}

/// The declaration of a node.
struct Declared<'i> {
    kind: Option<NodeKind>,
    stack: Option<Component>,
    processing: Option<Component>,
    section: Section<'i>,
}

/// The nodes found so far.
#[derive(Default)]
pub(super) struct Nodes<'i> {
    pub(super) names: Names<'i>,
    /// The declaration of each node, if it has one.
    declared: Vec<Option<Declared<'i>>>,
}

impl<'i> Nodes<'i> {
    /// Reads the `[[node]]` tables.
    pub(super) fn declare(
        &mut self,
        reader: &mut Reader<'_>,
        top: &Section<'i>,
    ) -> Result<(), ScenarioError> {
        for section in tables(reader, top, NODE_TABLE, network::MAX_NODES)? {
            reader.check_keys(&section, NodeOptions::PARAMETERS, &[])?;
            let NodeOptions { kind, stack, processing, .. } = reader.options(&section)?;
            self.names.add(reader, &section, NodeOptions::NAME)?;
            let kind = kind.map(NodeKind::of);
            let stack: Option<Component> = stack.filter(|stack| foreign::foreign(stack.name).is_some());
            self.declared.push(Some(Declared { kind, stack, processing, section }));
        }
        Ok(())
    }

    /// Whether packets come from outside.
    pub(super) fn has_gates(&self) -> bool {
        self.declared.iter().flatten().any(|declared| declared.kind == Some(NodeKind::Gate))
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.declared.len()
    }

    /// Reads the node that a key of a link names.
    pub(super) fn end_of_link(
        &mut self,
        reader: &Reader<'_>,
        link: &Section<'i>,
        key: Key<String>,
    ) -> Result<usize, ScenarioError> {
        let Some(entry) = link.get(key.name) else { return Ok(0) };
        self.attached(reader, &entry.item, &link.at(key.name))
    }

    /// Reads the node that a carrier names. It must be declared if any node is.
    pub(super) fn attached(
        &mut self,
        reader: &Reader<'_>,
        item: &'i Item,
        path: &str,
    ) -> Result<usize, ScenarioError> {
        let all_declared = self.declared.first().is_some_and(Option::is_some);
        if all_declared {
            return self.names.find(reader, item, path, "node");
        }
        let (index, new) = self.names.find_or_add(reader, item, path)?;
        if new {
            if self.declared.len() >= network::MAX_NODES {
                let problem = format!("too many nodes; expected at most {}", network::MAX_NODES);
                return Err(reader.source.error(item.place, path, problem));
            }
            self.declared.push(None);
        }
        Ok(index)
    }

    /// Reads the nodes that two keys name. They must be different.
    pub(super) fn ends(
        &self,
        reader: &Reader<'_>,
        section: &Section<'_>,
        keys: [Key<String>; 2],
    ) -> Result<(usize, usize), ScenarioError> {
        let keys = keys.map(|key| key.name);
        let end = |key: &str| match section.get(key) {
            Some(entry) => self.names.find(reader, &entry.item, &section.at(key), "node"),
            None => Ok(0),
        };
        let (first, second) = (end(keys[0])?, end(keys[1])?);
        if first == second {
            let problem = format!("{} and {} are one node", keys[0], keys[1]);
            return Err(reader.wrong_at(section, keys[1], &problem, "another node"));
        }
        Ok((first, second))
    }

    /// Checks that each declared node has a carrier.
    pub(super) fn check_connected(
        &self,
        reader: &Reader<'_>,
        (links, media): (&[Link], &[Medium]),
    ) -> Result<(), ScenarioError> {
        let linked = links.iter().flat_map(|link| [link.from, link.to]);
        let attached = media.iter().flat_map(|medium| medium.attachments.iter().map(|at| at.node));
        let connected: BTreeSet<usize> = linked.chain(attached).collect();
        for (index, declared) in self.declared.iter().enumerate() {
            if let Some(Declared { section, .. }) = declared
                && !connected.contains(&index)
            {
                let name = quoted(self.names.name(index));
                let problem = format!(
                    "a node without a link, found {name}; expected a [[link]] from or to it, or a [[medium]] with it"
                );
                return Err(reader.source.error(section.place, section.path(), problem));
            }
        }
        Ok(())
    }

    /// The nodes with their kinds and stacks. `used`: those where traffic begins or ends.
    pub(super) fn resolved(
        &self,
        reader: &Reader<'_>,
        used: &BTreeSet<usize>,
    ) -> Result<Vec<Node>, ScenarioError> {
        let mut gates = GateNames::default();
        let resolve = |(index, declared): (usize, &Option<Declared<'_>>)| {
            let used = used.contains(&index);
            let by_use = if used { NodeKind::Host } else { NodeKind::Router };
            let name = self.names.name(index).to_owned();
            let Some(Declared { kind, stack, processing, section }) = declared else {
                return Ok(Node { name, kind: by_use, stack: None, processing: None });
            };
            let (kind, stack) = (kind.clone().unwrap_or(by_use), stack.clone());
            if used && !kind.may_be_host() {
                let found = quoted(kind.component().name);
                let boxes = middlebox::room().rows.into_iter().map(|row| row.name);
                let fit: Vec<&str> = boxes.filter(|name| middlebox::is_for_hosts(name)).collect();
                let problem = format!(
                    "traffic begins or ends here, found {found}; expected host, {}",
                    fit.join(" or ")
                );
                return Err(reader.error_at(section, NodeOptions::KIND.name, problem));
            }
            if stack.is_some() && kind != NodeKind::Host {
                let problem = "only a host has a stack; expected kind = \"host\", or no stack";
                return Err(reader.source.error(
                    section.place,
                    &section.at(NodeOptions::STACK.name),
                    problem,
                ));
            }
            if kind == NodeKind::Gate
                && let Some(problem) = gates.add(self.names.name(index))
            {
                return Err(reader.error_at(section, NodeOptions::NAME.name, problem));
            }
            Ok(Node { name, kind, stack, processing: processing.clone() })
        };
        self.declared.iter().enumerate().map(resolve).collect()
    }

    /// Checks that each middlebox can be built with its carriers.
    pub(super) fn check_middleboxes(
        &self,
        reader: &Reader<'_>,
        nodes: &[Node],
        (links, media): (&[Link], &[Medium]),
        used: &BTreeSet<usize>,
    ) -> Result<(), ScenarioError> {
        for (index, (node, declared)) in nodes.iter().zip(&self.declared).enumerate() {
            let (NodeKind::Middlebox(component), Some(Declared { section, .. })) = (&node.kind, declared)
            else {
                continue;
            };
            let surroundings = Surroundings {
                carriers: (links, media),
                host: used.contains(&index).then_some(&*node.name),
                name: "check",
                stream: &|name| random::Generator::new(0, name),
                interest: trace::Interest::NONE,
                run: &RunInputs::default(),
            };
            let Err(error) = build_middlebox(component, index, &surroundings) else { continue };
            let mut path = section.at(NodeOptions::KIND.name);
            let mut place = section.place;
            if let network::BuildError::Option { option, .. } = error {
                path = format!("{path}.{option}");
                let item = section.get(NodeOptions::KIND.name).and_then(|entry| entry.item.get(option));
                place = item.map_or(place, |item| item.place);
            }
            return Err(reader.source.error(place, &path, error.to_string()));
        }
        Ok(())
    }
}

/// The items of a list of names.
pub(super) fn items(item: &Item) -> &[Item] {
    match &item.node {
        Toml::List(items) => items,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_routers_gates_and_all_middleboxes_are_kinds() {
        let names: Vec<&str> = kinds().rows.iter().map(|row| row.name).collect();
        let boxes = network::middlebox::MIDDLEBOXES.iter().map(|row| row.name);
        let boxes = boxes.chain(crate::proxy::PROXIES.iter().map(|row| row.name));
        assert_eq!(names, ["host", "router", "gate"].into_iter().chain(boxes).collect::<Vec<_>>());
    }
}
