//! What is valid in a scenario and may not be intended.

use super::{Surveyed, rounded, setup, slowest_hop};
use crate::scenario::model::{Flow, IpVersion, NodeKind, Protocol, Scenario};
use crate::scenario::stacks::without_effect;
use crate::scenario::topology::{Surroundings, build_middlebox};
use congestion::{Resume, StoreKey};
use network::queue::Bound;
use network::{DirectionOptions, Hop};
use random::Generator;
use traffic::Outline;
use units::Duration;
use units::parameter::{Arguments, Limit};

/// The end of the subject of a warning.
const WARNING: &str = ", warning";

/// The way of a flow.
pub(super) struct Route<'a> {
    /// The hops from the client to the server.
    pub(super) there: &'a [usize],
    /// The hops back.
    pub(super) back: &'a [usize],
    /// The base RTT.
    pub(super) rtt: Duration,
}

/// A warning: the option that it is about, empty where it is about no single one, and what is the matter.
pub(super) type Warning = (String, String);

/// The subject of a warning about a part of a scenario.
pub(super) fn subject(part: &str, option: &str) -> String {
    if option.is_empty() { format!("{part}{WARNING}") } else { format!("{part}, {option}{WARNING}") }
}

/// The warnings about a direction of a link.
pub(super) fn of_direction(values: &Arguments, round_trip: Duration) -> impl Iterator<Item = Warning> {
    let found = [
        ("", queue_words(values, round_trip)),
        ("series", replaced_words(values)),
        ("loss", loss_words(values)),
    ];
    found.into_iter().filter_map(|(option, words)| Some((option.to_owned(), words?)))
}

/// The warnings about a flow.
pub(super) fn of_flow(
    network: Surveyed<'_>,
    flow: &Flow,
    route: &Route<'_>,
) -> impl Iterator<Item = Warning> {
    let hops = || route.there.iter().chain(route.back);
    let mut stops = route.there.windows(2).filter_map(|hops| stop_words(network, [hops[0], hops[1]]));
    let found = [
        ("", stops.next().or_else(|| mtu_words(network, flow, hops()))),
        ("resume", resume_words(network.scenario, flow)),
        ("duration", time_words(network, flow, route)),
        ("stack", stack_words(network.scenario, flow)),
    ];
    found.into_iter().filter_map(|(option, words)| Some((option.to_owned(), words?)))
}

/// A warning about options that no end follows, because both have stacks of other projects.
fn stack_words(scenario: &Scenario, flow: &Flow) -> Option<String> {
    let (lost, [client, server]) = without_effect(flow, &scenario.nodes)?;
    let stacks = if client == server {
        format!("{client} has its own rules")
    } else {
        format!("{client} and {server} have their own rules")
    };
    Some(format!("neither end uses {} of [transport]: {stacks}", lost.join(", ")))
}

/// A warning about a link that delivers nothing.
fn loss_words(values: &Arguments) -> Option<String> {
    network::loss::loses_all(&values.value(DirectionOptions::LOSS)).then(|| "every packet is lost".to_owned())
}

/// What the options of a flow's application say of its data.
pub(super) fn outline(flow: &Flow) -> Outline {
    traffic::outline(flow.application.name, &flow.application.arguments)
}

pub(super) fn uploads(flow: &Flow) -> bool {
    outline(flow).uploads
}

/// A warning about a transfer that cannot be complete by the end of the run.
fn time_words(network: Surveyed<'_>, flow: &Flow, route: &Route<'_>) -> Option<String> {
    let Outline { size, uploads, .. } = outline(flow);
    let size = size?;
    let (rate, name, _) = slowest_hop(network, if uploads { route.there } else { route.back })?;
    let needed = rate.time_for(size) + route.rtt;
    let start = if flow.after.is_some() { Duration::ZERO } else { flow.start };
    let end = flow.stop.unwrap_or(network.scenario.duration).min(network.scenario.duration);
    let left = Duration::from_nanos(end.as_nanos().saturating_sub(start.as_nanos()));
    (needed > left).then(|| {
        // To whole milliseconds, and no less.
        let needed = Duration::from_millis(needed.as_nanos().div_ceil(1_000_000));
        format!(
            "{size} take at least {needed} at {} of {name}, but the flow has only {left}: it will not be \
             completed",
            rounded(rate)
        )
    })
}

/// A warning about a queue whose limit is a multiple of the BDP of its own link. If that link has hardly any delay, only one
/// packet fits.
fn queue_words(values: &Arguments, round_trip: Duration) -> Option<String> {
    let (queue, setup) = (values.value(DirectionOptions::QUEUE), setup(values, round_trip));
    let limit = network::queue::limit_of(&queue);
    let limit = limit.filter(|limit| matches!(limit, Limit::BdpThousandths(_)))?;
    (Bound::new(limit, setup).bytes < 2 * u64::from(setup.mtu)).then(|| {
        format!(
            "the queue holds one full-sized packet: its limit is {limit} of this link alone, whose base \
             RTT is {round_trip}; give bytes or a time if the delay is on other links"
        )
    })
}

/// A warning about options in whose place the series of the direction stands.
fn replaced_words(values: &Arguments) -> Option<String> {
    let given = |option: &&str| {
        let default = network::LINK.iter().find(|row| row.name == *option)?.default_value(&network::rooms());
        (values.get(option) != default.as_ref()).then_some(())
    };
    let replaced = network::series::replaced(values);
    let idle: Vec<&str> = replaced.into_iter().filter(|option| given(option).is_some()).collect();
    (!idle.is_empty()).then(|| format!("ignored, because the series sets it: {}", idle.join(", ")))
}

/// A warning about a capacity that never comes back, because the session tickets or the 0-RTT packets for it are not there.
fn resume_words(scenario: &Scenario, flow: &Flow) -> Option<String> {
    let resume = flow.transport.value(quic::Config::RESUME);
    if flow.protocol == Protocol::Tcp {
        return None;
    }
    let tls::Options { tickets, early_data, .. } = tls::Options::from(&scenario.tls);
    let missing = [
        ("tls.tickets is 0", tickets == 0),
        ("tls.early_data is false", !early_data),
        ("early_data of the flow is false", !flow.early_data),
    ];
    let (what, needed) = match resume {
        Resume { bdp_frame: true, .. } => ("BDP_FRAME comes back in 0-RTT packets", &missing[..]),
        Resume { store: StoreKey::Ticket, .. } => ("a store by ticket needs session tickets", &missing[..1]),
        _ => return None,
    };
    let missing: Vec<&str> = needed.iter().filter(|(_, is)| *is).map(|(words, _)| *words).collect();
    (!missing.is_empty()).then(|| format!("{what}, but {}", missing.join(", ")))
}

/// A warning about a middlebox between two hops of the way to the server, if it stops the client's first packet.
fn stop_words(Surveyed { scenario, topology }: Surveyed<'_>, hops: [usize; 2]) -> Option<String> {
    let at = topology.end_of(hops[0]);
    let node = &scenario.nodes[at.0 as usize];
    let NodeKind::Middlebox(kind) = &node.kind else { return None };
    let ports = hops.map(|hop| match topology.hop(hop) {
        Hop::Link { link, .. } => topology.port_to(at, link),
        Hop::Medium { medium, .. } => topology.port_to(at, scenario.links.len() + medium),
    });
    let surroundings = Surroundings {
        carriers: (&scenario.links, &scenario.media),
        host: scenario.is_host(at.0 as usize).then_some(&*node.name),
        name: "describe",
        stream: &|name| Generator::new(0, name),
        interest: trace::Interest::NONE,
        run: &crate::proxy::RunInputs::default(),
    };
    let middlebox = build_middlebox(kind, at.0 as usize, &surroundings);
    let middlebox = middlebox.expect("the reader refuses middleboxes that cannot be built");
    let [entry, exit] = ports.map(|port| port.expect("a route passes a node by its ports"));
    let why = middlebox.stops(entry, exit)?;
    Some(format!("the connection does not open: node {} ({}) {why}", node.name, kind.name))
}

/// A warning about packets that are larger than the MTU of the path.
fn mtu_words<'a>(
    Surveyed { scenario, topology }: Surveyed<'_>,
    flow: &Flow,
    path: impl Iterator<Item = &'a usize>,
) -> Option<String> {
    // IPv4 or IPv6 header, and UDP header.
    let headers = if flow.ip == IpVersion::V6 { 48 } else { 28 };
    if flow.transport.value(quic::Config::MTU_DISCOVERY) {
        return None;
    }
    let largest = u64::from(flow.transport.value(quic::Config::MAX_UDP_PAYLOAD)) + headers;
    let hop = path.map(|at| topology.hop(*at)).min_by_key(|hop| scenario.hop(*hop).mtu())?;
    let mtu = scenario.hop(hop).mtu();
    let carrier = match hop {
        Hop::Link { link, .. } => format!("link {}", scenario.links[link].name),
        Hop::Medium { medium, .. } => format!("medium {}", scenario.media[medium].name),
    };
    (largest > mtu).then(|| {
        let fits = mtu.saturating_sub(headers);
        format!(
            "packets of {largest} bytes are larger than the MTU of {carrier} ({mtu}): max_udp_payload is {fits} \
             instead"
        )
    })
}
