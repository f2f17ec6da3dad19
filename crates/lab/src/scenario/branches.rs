//! Flows whose connections belong to the application of another flow: its branches.
//!
//! A scenario has a flow for each server of such an application. For a run it is unfolded to a flow for each connection.

use super::connections::server_port;
use super::error::ScenarioError;
use super::model::{Flow, Protocol, Scenario, Seat, Visit};
use super::names::Names;
use super::read::{Reader, Section};
use super::sections::FlowOptions;
use super::source::{listed, one_of, quoted, suggestion};
use crate::nearest::nearest;
use std::borrow::Cow;
use std::collections::BTreeMap;
use traffic::{APPLICATIONS, Many};
use units::parameter::{Arguments, Component};
use wire::Side;

/// The keys of a flow that its application decides about, if that is another flow's.
const DECIDED: [&str; 4] =
    [FlowOptions::START.name, FlowOptions::STOP.name, FlowOptions::AFTER.name, FlowOptions::VISITS.name];

/// Finds the flow of each branch, and checks that they fit each other.
pub(super) fn read_branches(
    reader: &Reader<'_>,
    sections: &[Section<'_>],
    names: &Names<'_>,
    flows: &mut [Flow],
) -> Result<(), ScenarioError> {
    for (index, section) in sections.iter().enumerate() {
        let Flow { application, client, .. } = &flows[index];
        let Some(name) = traffic::branch_of(application.name, &application.arguments) else { continue };
        let wrong = |key: &str, problem: String| Err(reader.error_at(section, key, problem));
        let wrong_owner = |problem: String| {
            let path = format!("{}.of", section.at(FlowOptions::APPLICATION.name));
            Err(reader.source.error(section.place_of(FlowOptions::APPLICATION.name), &path, problem))
        };
        let Some(of) = flows.iter().position(|flow| flow.name == name) else {
            let known = || (0..flows.len()).filter(|other| *other != index).map(|other| names.name(other));
            let problem = format!(
                "unknown flow, found {}; expected {}{}",
                quoted(&name),
                one_of(known()),
                suggestion(nearest(&name, known()))
            );
            return wrong_owner(problem);
        };
        let owner = &flows[of];
        let visits = owner.visits.iter().filter_map(|visit| visit.application.as_ref());
        let mut applications = std::iter::once(&owner.application).chain(visits);
        if let Some(single) = applications.find(|application| traffic::many(application.name).is_none()) {
            let many = APPLICATIONS.iter().filter(|row| row.build.many.is_some()).map(|row| row.name);
            let problem = format!(
                "not a flow with several connections, found {}, which has {}; expected one with {}",
                quoted(&name),
                quoted(single.name),
                listed(many)
            );
            return wrong_owner(problem);
        }
        let from = traffic::branch_from(application.name).expect("a branch begins at a host of another flow");
        let (host, end) = match from {
            Side::Client => (owner.client, "client"),
            Side::Server => (owner.server, "server"),
        };
        if host != *client {
            let problem = format!("not the {end} of flow {}; expected the same node", quoted(&name));
            return wrong(FlowOptions::CLIENT.name, problem);
        }
        if let Some(key) = DECIDED.iter().find(|key| section.get(key).is_some()) {
            let problem = format!(
                "the application of flow {} decides when this one's connection is opened and closed; expected no {key}",
                quoted(&name)
            );
            return wrong(key, problem);
        }
        flows[index].branch_of = Some(of);
    }
    for (of, family) in families(flows) {
        let arguments = arguments(flows, &family);
        for (_, application) in incarnations(&flows[of]) {
            let Err(misfit) = (many(application).names)(&application.arguments, &arguments) else { continue };
            let section = &sections[misfit.branch.map_or(of, |branch| family[branch])];
            let path = format!("{}.{}", section.at(FlowOptions::APPLICATION.name), misfit.option);
            return Err(reader.source.error(
                section.place_of(FlowOptions::APPLICATION.name),
                &path,
                misfit.problem,
            ));
        }
    }
    Ok(())
}

/// The branches of each flow that has any.
pub(crate) fn families(flows: &[Flow]) -> BTreeMap<usize, Vec<usize>> {
    let mut families: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (branch, flow) in flows.iter().enumerate() {
        if let Some(of) = flow.branch_of {
            families.entry(of).or_default().push(branch);
        }
    }
    families
}

/// The options of the applications of these flows.
fn arguments<'f>(flows: &'f [Flow], family: &[usize]) -> Vec<&'f Arguments> {
    family.iter().map(|branch| &flows[*branch].application.arguments).collect()
}

fn many(application: &Component) -> Many {
    traffic::many(application.name).expect("a flow with branches has an application with several connections")
}

/// The connections of a flow without those of its branches: the start of each after the first, and its application.
fn incarnations(flow: &Flow) -> impl Iterator<Item = (Option<&Visit>, &Component)> {
    // A visit without an application of its own repeats that of the flow.
    let visits = flow.visits.iter();
    let visits = visits.map(|visit| (Some(visit), visit.application.as_ref().unwrap_or(&flow.application)));
    std::iter::once((None, &flow.application)).chain(visits)
}

impl Scenario {
    /// The scenario with a flow for each connection.
    pub(crate) fn unfolded(&self) -> Cow<'_, Scenario> {
        match unfolded(&self.flows) {
            Cow::Borrowed(_) => Cow::Borrowed(self),
            Cow::Owned(flows) => Cow::Owned(Scenario { flows, ..self.clone() }),
        }
    }
}

/// A flow for each connection. The visits of a flow follow it; over QUIC all connections of a flow go to the same port.
pub(super) fn unfolded(flows: &[Flow]) -> Cow<'_, [Flow]> {
    // An unfolded branch has a seat.
    let is_one =
        |flow: &Flow| flow.visits.is_empty() && (flow.branch_of.is_none() || flow.seat.connection > 0);
    if flows.iter().all(is_one) {
        return Cow::Borrowed(flows);
    }
    let mut branches: BTreeMap<usize, Vec<Flow>> = BTreeMap::new();
    for (of, family) in families(flows) {
        unfold_family(flows, of, &family, &mut branches);
    }
    let mut all: Vec<Flow> = Vec::new();
    // The places of the connections of each flow.
    let mut places: Vec<std::ops::Range<usize>> = Vec::new();
    for (index, flow) in flows.iter().enumerate() {
        let first = all.len();
        let port = flow.port.or(Some(server_port(first, flow)).filter(|_| flow.protocol == Protocol::Quic));
        match branches.remove(&index) {
            Some(connections) => all.extend(connections),
            None => all.extend(incarnations(flow).enumerate().map(|(number, (visit, application))| Flow {
                name: numbered(&flow.name, number),
                start: visit.map_or(flow.start, |visit| visit.at),
                application: application.clone(),
                visits: Vec::new(),
                ..flow.clone()
            })),
        }
        // Over TCP each connection has an endpoint of its own, and so a port.
        if all.len() > first + 1 {
            all[first..].iter_mut().for_each(|flow| flow.port = port);
        }
        places.push(first..all.len());
    }
    for (flow, place) in flows.iter().zip(&places) {
        for one in &mut all[place.clone()] {
            one.after = flow.after.map(|before| places[before].end - 1);
            one.branch_of = flow.branch_of.map(|of| {
                places[of].start + one.branch_of.expect("`unfold_family` numbers the visits of the owner")
            });
        }
    }
    Cow::Owned(all)
}

/// The name of a flow's connection: `get`, `get@2`, `get@3`.
fn numbered(name: &str, number: usize) -> String {
    if number == 0 { name.to_owned() } else { format!("{name}@{}", number + 1) }
}

/// The connections of the branches of a flow: for each visit of that flow, whose number is [`Flow::branch_of`] here, those to all
/// hosts.
fn unfold_family(flows: &[Flow], of: usize, family: &[usize], branches: &mut BTreeMap<usize, Vec<Flow>>) {
    let (owner, arguments) = (&flows[of], arguments(flows, family));
    for (number, (_, application)) in incarnations(owner).enumerate() {
        let names = (many(application).names)(&application.arguments, &arguments);
        let names = names.expect("branches are checked when the scenario is read");
        // The flow itself has the first connection.
        let mut connection = 1;
        for (place, (branch, names)) in family.iter().zip(names).enumerate() {
            for name in names {
                let base = numbered(&flows[*branch].name, number);
                branches.entry(*branch).or_default().push(Flow {
                    name: if name.is_empty() { base } else { format!("{base}@{name}") },
                    stop: owner.stop,
                    branch_of: Some(number),
                    seat: Seat { connection, branch: place },
                    ..flows[*branch].clone()
                });
                connection += 1;
            }
        }
    }
}
