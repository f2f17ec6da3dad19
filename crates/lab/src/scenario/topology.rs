//! The graph of a scenario, and what the scenario says of the hops of its routes.

use super::model::Scenario;
use network::{Hop, Topology};
use trace::Direction;
use units::Duration;
use units::parameter::{Arguments, Value};

/// The words for the two directions of a link.
pub(crate) const DIRECTIONS: [(&str, Direction); 2] =
    [("forward", Direction::Forward), ("backward", Direction::Backward)];

/// A hop of a route as the scenario describes it.
pub(crate) struct HopView<'a> {
    /// `"cell forward"`, `"air phone"`: the label of what sends.
    pub label: String,
    /// The options of the direction of the link, or of the attachment that sends.
    pub arguments: &'a Arguments,
    /// The options that say its rate.
    pub shared: &'a Arguments,
    pub delay: Duration,
}

impl Scenario {
    /// The graph of its network.
    ///
    /// # Errors
    /// If it is none, which a scenario that was read cannot be.
    pub fn topology(&self) -> Result<Topology, network::TopologyError> {
        let mut topology = Topology::default();
        for node in &self.nodes {
            topology.add_node(&node.name)?;
        }
        let name = |node: usize| self.nodes[node].name.as_str();
        for link in &self.links {
            topology.add_link(&link.name, name(link.from), name(link.to))?;
        }
        for medium in &self.media {
            let attached: Vec<&str> = medium.attachments.iter().map(|at| name(at.node)).collect();
            topology.add_medium(&medium.name, &attached, medium.station)?;
        }
        Ok(topology)
    }

    /// What a hop of a route is.
    pub(crate) fn hop(&self, hop: Hop) -> HopView<'_> {
        match hop {
            Hop::Link { link, forward } => {
                let link = &self.links[link];
                let (arguments, (name, _)) =
                    if forward { (&link.forward, DIRECTIONS[0]) } else { (&link.backward, DIRECTIONS[1]) };
                let (label, delay) = (format!("{} {name}", link.name), arguments.duration("delay"));
                HopView { label, arguments, shared: arguments, delay }
            }
            Hop::Medium { medium, from, .. } => {
                let medium = &self.media[medium];
                let sender = &medium.attachments[from];
                let delay = match medium.kind.arguments.get("delay") {
                    Some(Value::Duration(delay)) => *delay,
                    _ => Duration::ZERO,
                };
                HopView {
                    label: format!("{} {}", medium.name, self.nodes[sender.node].name),
                    arguments: &sender.arguments,
                    shared: &medium.kind.arguments,
                    delay,
                }
            }
        }
    }
}

impl HopView<'_> {
    /// The largest packet that it takes; `u64::MAX` if nothing bounds it.
    pub(crate) fn mtu(&self) -> u64 {
        match self.arguments.get("mtu") {
            Some(Value::Integer(mtu)) => *mtu,
            _ => u64::MAX,
        }
    }
}
