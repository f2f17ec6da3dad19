//! Builds the network of a scenario: carriers and middleboxes, with hosts that the caller provides.

use crate::capture::Tap;
use crate::error::RunError;
use crate::flows::{cookie_key, flow_numbers};
use crate::proxy::RunInputs;
use crate::scenario::{DIRECTIONS, Medium, NodeKind, RecordOptions, Scenario, Surroundings, build_middlebox};
use network::gate::Gate;
use network::medium::{self, MediumOptions};
use network::middlebox::Middlebox;
use network::processing::{Processor, ProcessorOptions};
use network::{BuildError, Carriers, Front, Link, LinkOptions, NodeId, Occupant, Routes, World};
use random::{Generator, Watch};
use trace::Interest;
use units::parameter::{Arguments, Component, Options};

/// The inputs of a network.
#[derive(Debug, Clone, Copy)]
pub struct Network<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The seed of the run.
    pub seed: u64,
    /// The kinds of events in the logs of carriers and middleboxes.
    pub interest: Interest,
}

impl Network<'_> {
    /// Builds the network, with a host at each node for which `host` returns one.
    ///
    /// # Errors
    /// If an option is invalid, for example a malformed trace.
    pub fn world<H: network::Node>(
        &self,
        host: impl FnMut(usize) -> Option<H>,
    ) -> Result<World<H>, RunError> {
        let topology = self.scenario.topology().map_err(RunError::Topology)?;
        self.world_with(Routes::new(topology), None, host)
    }

    /// [`Network::world`] with the routes of the scenario, and a capture for the packets of proxies.
    pub(crate) fn world_with<H: network::Node>(
        &self,
        routes: Routes,
        tap: Option<Tap>,
        mut host: impl FnMut(usize) -> Option<H>,
    ) -> Result<World<H>, RunError> {
        let run = self.run_inputs(tap);
        let stream = |name: &str| Generator::new(self.seed, name);
        let carriers = Carriers {
            links: self.directions(Link::new)?,
            media: self.media(&stream)?,
            processors: self.processors()?,
        };
        let mut places = Vec::with_capacity(self.scenario.nodes.len());
        for node in 0..self.scenario.nodes.len() {
            places.push(match (host(node), self.middlebox(node, &stream, &run)?) {
                (Some(host), Some(middlebox)) => {
                    let at = NodeId(node as u32);
                    Occupant::Fronted(Box::new(Front::new(
                        at,
                        host,
                        middlebox,
                        self.scenario.port_to_host(node),
                    )))
                }
                (Some(host), None) => Occupant::Host(host),
                (None, Some(middlebox)) => Occupant::Middlebox(middlebox),
                (None, None) if self.scenario.nodes[node].kind == NodeKind::Gate => {
                    Occupant::Gate(Gate::default())
                }
                (None, None) => Occupant::Router,
            });
        }
        Ok(World::with_routes(routes, carriers, places))
    }

    /// Whether a carrier or a middlebox draws at random.
    ///
    /// # Errors
    /// Those of [`Network::world`].
    pub(crate) fn draws(&self) -> Result<bool, RunError> {
        let watch = Watch::default();
        let stream = |_: &str| watch.stream();
        // A component that keeps its stream may draw later, so it must live until the watch is asked.
        let _media = self.media(&stream)?;
        let run = self.run_inputs(None);
        let boxes = (0..self.scenario.nodes.len()).map(|node| self.middlebox(node, &stream, &run));
        let _boxes = boxes.collect::<Result<Vec<_>, _>>()?;
        Ok(watch.draws() || self.directions(Link::draws)?.contains(&true))
    }

    /// The values of the run for proxies.
    fn run_inputs(&self, tap: Option<Tap>) -> RunInputs {
        if self.scenario.middleboxes().next().is_none() {
            return RunInputs::default();
        }
        let keys = self.scenario.flows.iter().map(|flow| cookie_key(self.seed, &flow.name));
        RunInputs { seed: self.seed, cookie_keys: keys.collect(), tap }
    }

    /// Whether the delay of each packet in the queues is counted.
    fn counts_delays(&self) -> bool {
        RecordOptions::of(&self.scenario.record).queue_delay
    }

    /// Calls `make` for each direction of each link: at 2 x link is forward, at 2 x link + 1 backward.
    fn directions<T>(&self, make: fn(&LinkOptions<'_>) -> Result<T, BuildError>) -> Result<Vec<T>, RunError> {
        let mut all = Vec::with_capacity(2 * self.scenario.links.len());
        let (flows, delays) = (flow_numbers(self.scenario), self.counts_delays());
        for link in &self.scenario.links {
            let shared = format!("link {}", link.name);
            let round_trip = link.round_trip();
            for (arguments, (direction, _)) in [&link.forward, &link.backward].into_iter().zip(DIRECTIONS) {
                let name = format!("{shared} {direction}");
                let options = LinkOptions {
                    arguments,
                    round_trip,
                    seed: self.seed,
                    name: &name,
                    shared: &shared,
                    flows: &flows,
                    delays,
                    interest: self.interest,
                };
                all.push(make(&options).map_err(|error| unusable(&name, &error))?);
            }
        }
        Ok(all)
    }

    fn media(&self, stream: &dyn Fn(&str) -> Generator) -> Result<Vec<Box<dyn medium::Medium>>, RunError> {
        let (flows, delays) = (flow_numbers(self.scenario), self.counts_delays());
        let build = |medium: &Medium| {
            let name = format!("medium {}", medium.name);
            let attachments: Vec<(String, Arguments)> = medium
                .attachments
                .iter()
                .map(|at| {
                    let name = format!("{name} {}", self.scenario.nodes[at.node].name);
                    (name, at.arguments.over(&medium.kind.arguments))
                })
                .collect();
            let options = MediumOptions {
                arguments: &medium.kind.arguments,
                attachments: &attachments,
                station: medium.station,
                name: &name,
                stream,
                flows: &flows,
                delays,
                interest: self.interest,
            };
            medium::build(medium.kind.name, &options).map_err(|error| unusable(&name, &error))
        };
        self.scenario.media.iter().map(build).collect()
    }

    fn processors(&self) -> Result<Vec<(NodeId, Processor)>, RunError> {
        let delays = self.counts_delays();
        let build = |(index, processing): (usize, &Component)| {
            let name = format!("node {}", self.scenario.nodes[index].name);
            let options = ProcessorOptions {
                arguments: &processing.arguments,
                name: &name,
                delays,
                interest: self.interest,
            };
            let built = Processor::new(&options).map_err(|error| unusable(&name, &error))?;
            Ok((NodeId(index as u32), built))
        };
        self.scenario.processing().map(build).collect()
    }

    fn middlebox(
        &self,
        index: usize,
        stream: &dyn Fn(&str) -> Generator,
        run: &RunInputs,
    ) -> Result<Option<Box<dyn Middlebox>>, RunError> {
        let node = &self.scenario.nodes[index];
        let NodeKind::Middlebox(component) = &node.kind else { return Ok(None) };
        let name = format!("node {}", node.name);
        let carriers = (&*self.scenario.links, &*self.scenario.media);
        let host = self.scenario.is_host(index).then_some(&*node.name);
        let surroundings = Surroundings { carriers, host, name: &name, stream, interest: self.interest, run };
        let built = build_middlebox(component, index, &surroundings);
        built.map(Some).map_err(|error| unusable(&name, &error))
    }
}

fn unusable(place: &str, error: &BuildError) -> RunError {
    RunError::Component { place: place.to_owned(), problem: error.to_string() }
}
