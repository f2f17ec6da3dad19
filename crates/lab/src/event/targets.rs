//! The nodes, interfaces and flows that events name.

use network::{NodeId, Port};
use units::parameter::{Key, OptionError};

/// The nodes and flows of a scenario that events name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Targets {
    pub nodes: Vec<TargetNode>,
    pub flows: Vec<TargetFlow>,
}

/// A node.
#[derive(Debug, Clone)]
pub(crate) struct TargetNode {
    pub name: String,
    /// The name of its kind.
    pub kind: &'static str,
    /// Whether it has a state to forget.
    pub remembers: bool,
    /// Whether it has QUIC clients.
    pub has_clients: bool,
    /// The names of its links and media, in the order of its ports.
    pub interfaces: Vec<String>,
}

/// A flow.
#[derive(Debug, Clone)]
pub(crate) struct TargetFlow {
    pub name: String,
    /// The number of its client's node.
    pub client: usize,
    /// The reason why its client cannot migrate, if there is one, and what is expected.
    pub stays: Option<&'static str>,
}

/// The maximum number of names in an error.
const LISTED: usize = 20;

impl Targets {
    /// The node with this name.
    pub(crate) fn node(&self, option: Key<String>, name: &str) -> Result<(NodeId, &TargetNode), OptionError> {
        let names = || self.nodes.iter().map(|node| node.name.as_str());
        let at = names().position(|known| known == name);
        let at = at.ok_or_else(|| (option.name, unknown("node", name, &names().collect::<Vec<_>>())))?;
        Ok((NodeId(at as u32), &self.nodes[at]))
    }

    /// The port of a node to the link or medium with this name.
    pub(crate) fn port(&self, node: NodeId, option: Key<String>, name: &str) -> Result<Port, OptionError> {
        let node = &self.nodes[node.0 as usize];
        match node.interfaces.iter().position(|known| *known == name) {
            Some(at) => Ok(Port(at as u16)),
            None => {
                let known: Vec<&str> = node.interfaces.iter().map(String::as_str).collect();
                Err((option.name, unknown(&format!("interface of {:?}", node.name), name, &known)))
            }
        }
    }

    /// The flow with this name, and its number.
    pub(crate) fn flow(&self, option: Key<String>, name: &str) -> Result<(usize, &TargetFlow), OptionError> {
        let found = self.flows.iter().enumerate().find(|(_, flow)| flow.name == name);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.flows.iter().map(|flow| flow.name.as_str()).collect();
            (option.name, unknown("flow", name, &known))
        })
    }
}

/// The error of an unknown name.
fn unknown(what: &str, name: &str, names: &[&str]) -> String {
    let near = crate::nearest::nearest(name, names.iter().copied())
        .map_or_else(String::new, |near| format!(" (did you mean {near:?}?)"));
    let more = if names.len() > LISTED { ", ..." } else { "" };
    let listed = names[..names.len().min(LISTED)].join(", ");
    format!("unknown {what}, found {name:?}; expected one of {listed}{more}{near}")
}
