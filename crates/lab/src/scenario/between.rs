//! A scenario between two nodes whose traffic comes from outside: `quiclab real relay` without gates in the file.

use super::error::ScenarioError;
use super::model::{Link, Node, NodeKind, Scenario};
use std::path::Path;

/// A scenario with a link that does nothing.
const WIRE: &str = r#"
duration = "1 s"
[[link]]
name = "wire"
from = "client"
to = "server"
[[flow]]
name = "flow"
client = "client"
server = "server"
application = { type = "bulk", size = "1 kB" }
"#;

impl Scenario {
    /// The scenario with gates at two of its nodes, which are places in [`Scenario::nodes`].
    ///
    /// Flows that begin or end there do not run, nor do flows that wait for them, nor events that name such a flow. Cross
    /// traffic that begins or ends there does, at a host of its own, `NAME-host`, behind a link `NAME-host` that does nothing.
    ///
    /// # Errors
    /// None for a scenario that was read.
    pub fn with_gates(&self, nodes: [usize; 2]) -> Result<Scenario, ScenarioError> {
        let mut scenario = self.clone();
        let at_gate = |node: usize| nodes.contains(&node);
        scenario.keep_flows(|flow| !at_gate(flow.client) && !at_gate(flow.server));
        scenario.memory.retain(|known| !at_gate(known.node));
        for node in nodes {
            let gate = scenario.nodes.get_mut(node).expect("gates take the places of nodes");
            (gate.kind, gate.stack) = (NodeKind::Gate, None);
            if scenario.cross_traffic.iter().any(|cross| [cross.from, cross.to].contains(&node)) {
                scenario.add_host_behind(node)?;
            }
        }
        Ok(scenario)
    }

    /// Keeps these flows, without those that wait for others, and the events that name them.
    fn keep_flows(&mut self, keep: impl Fn(&super::Flow) -> bool) {
        let mut kept: Vec<bool> = self.flows.iter().map(keep).collect();
        // An application has all its connections, or none.
        for index in 0..kept.len() {
            if let Some(of) = self.flows[index].branch_of {
                kept[of] &= kept[index];
            }
        }
        for index in 0..kept.len() {
            kept[index] &= self.flows[index].branch_of.is_none_or(|of| kept[of]);
        }
        // A flow can wait for one that stands behind it.
        loop {
            let waits = |index: &usize| kept[*index] && self.flows[*index].after.is_some_and(|at| !kept[at]);
            let Some(index) = (0..kept.len()).find(waits) else { break };
            kept[index] = false;
        }
        let places: Vec<usize> = kept
            .iter()
            .scan(0, |place, kept| {
                let at = *place;
                *place += usize::from(*kept);
                Some(at)
            })
            .collect();
        let (flows, kept) = (&self.flows, &kept);
        let is_gone = |name: &str| {
            let first = name.split_once('@').map_or(name, |(first, _)| first);
            flows.iter().zip(kept).any(|(flow, kept)| !kept && (flow.name == name || flow.name == first))
        };
        self.events.retain(|event| event.flow().is_none_or(|name| !is_gone(&name)));
        let mut kept = kept.iter();
        self.flows.retain(|_| *kept.next().expect("each flow is kept or not"));
        for flow in &mut self.flows {
            flow.after = flow.after.map(|before| places[before]);
            flow.branch_of = flow.branch_of.map(|of| places[of]);
        }
    }

    /// Moves the cross traffic of a node to a host behind it.
    fn add_host_behind(&mut self, node: usize) -> Result<(), ScenarioError> {
        let wire = Scenario::parse(WIRE, Path::new("wire"), &[])?;
        let mut name = format!("{}-host", self.nodes[node].name);
        let is_taken = |name: &String| {
            let links = self.links.iter().map(|link| &link.name);
            let media = self.media.iter().map(|medium| &medium.name);
            self.nodes.iter().map(|node| &node.name).chain(links).chain(media).any(|known| known == name)
        };
        while is_taken(&name) {
            name.push('-');
        }
        let host = self.nodes.len();
        for end in self.cross_traffic.iter_mut().flat_map(|cross| [&mut cross.from, &mut cross.to]) {
            if *end == node {
                *end = host;
            }
        }
        self.nodes.push(Node { name: name.clone(), kind: NodeKind::Host, stack: None, processing: None });
        self.links.extend(wire.links.into_iter().map(|link| Link {
            name: name.clone(),
            from: host,
            to: node,
            ..link
        }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_at_the_gates_are_gone_with_what_depends_on_them_and_cross_traffic_stays() {
        let flow = |name: &str, client: &str, more: &str| {
            format!(
                "[[flow]]\nname = \"{name}\"\nclient = \"{client}\"\nserver = \"server\"\n\
                 application = {{ type = \"bulk\", size = \"1 kB\" }}\n{more}\n"
            )
        };
        let link = |from: &str, to: &str| {
            format!("[[link]]\nname = \"{from}-{to}\"\nfrom = \"{from}\"\nto = \"{to}\"\n")
        };
        let text = [
            link("client", "middle"),
            link("middle", "server"),
            link("other", "middle"),
            link("middle", "far"),
            link("client", "far"),
            flow("get", "client", ""),
            flow("then", "other", "after = \"get\"").replace("\"server\"\na", "\"far\"\na"),
            flow("beside", "other", "").replace("\"server\"\na", "\"far\"\na"),
            flow("behind", "far", "after = \"beside\"").replace("\"server\"\na", "\"other\"\na"),
            "[[cross_traffic]]\nname = \"noise\"\nfrom = \"client\"\nto = \"server\"\n".to_owned(),
            "source = { type = \"constant\", size = 500, gap = \"10 ms\" }\n".to_owned(),
            "[[event]]\nat = \"1 s\"\ntype = \"migrate\"\nflow = \"get\"\ninterface = \"client-far\"\n".to_owned(),
            "[[event]]\nat = \"2 s\"\ntype = \"interface-down\"\nnode = \"client\"\ninterface = \"client-far\"\n".to_owned(),
        ]
        .concat();
        let scenario = Scenario::parse(&text, Path::new("test.toml"), &[]).unwrap();
        let place = |name: &str| scenario.nodes.iter().position(|node| node.name == name).unwrap();
        let between = scenario.with_gates([place("client"), place("server")]).unwrap();
        let flows: Vec<_> = between.flows.iter().map(|flow| (flow.name.as_str(), flow.after)).collect();
        assert_eq!(flows, [("beside", None), ("behind", Some(0))]);
        assert_eq!(between.events.len(), 1);
        assert_eq!(
            between.gates().map(|(_, gate)| gate.name.as_str()).collect::<Vec<_>>(),
            ["client", "server"]
        );
        let cross = &between.cross_traffic[0];
        let ends = [cross.from, cross.to].map(|node| between.nodes[node].name.as_str());
        assert_eq!(ends, ["client-host", "server-host"]);
        assert_eq!(between.links.len(), scenario.links.len() + 2);
        between.topology().unwrap();
        assert_eq!(scenario.nodes[place("client")].kind, NodeKind::Host);
    }
}
