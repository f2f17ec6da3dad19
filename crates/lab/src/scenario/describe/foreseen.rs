//! Warnings about what will hold a flow back beside its own credit: the way of its acknowledgements, nodes that are too
//! slow, the queue of its bottleneck, and NATs that forget it in its pauses.

use super::parts::{Part, parts};
use super::unqueued::WireSizes;
use super::warnings::{Route, Warning, uploads};
use super::{Surveyed, rounded, setup, slowest};
use crate::scenario::model::{Flow, NodeKind, Protocol};
use network::DirectionOptions;
use network::processing::ServerOptions;
use network::queue::Bound;
use quic::config::AckOptions;
use units::parameter::{Arguments, Component, Limit, Options, Value};
use units::{Duration, Rate, Size};

/// A queue longer than this many BDPs of the path is far above it, if it also holds [`LONG`].
const MANY_BDPS: u64 = 10;
/// A queue that takes less time than this to drain is not long.
const LONG: Duration = Duration::from_millis(200);
/// A queue shorter than the BDP by this factor is far below it.
const FEW_BDPS: u64 = 10;

/// The warnings about a flow.
pub(super) fn warnings(network: Surveyed<'_>, flow: &Flow, route: &Route<'_>) -> Vec<Warning> {
    let found = [
        ("ack_ratio", return_words(network, flow, route)),
        ("processing", processing_words(network, flow, route)),
        ("queue", queue_words(network, flow, route)),
        ("keep_alive", forgotten_words(network, flow, route)),
    ];
    found.into_iter().filter_map(|(option, words)| Some((option.to_owned(), words?))).collect()
}

/// A warning about a way back that carries fewer acknowledgements than the data at the bottleneck's rate asks for.
fn return_words(network: Surveyed<'_>, flow: &Flow, route: &Route<'_>) -> Option<String> {
    if traffic::keeps_time(flow.application.name) {
        // It may never ask for the rate of the bottleneck.
        return None;
    }
    let (data, back) = if uploads(flow) { (route.there, route.back) } else { (route.back, route.there) };
    let ((rate, name, _), (returns, back_name, _)) = (slowest(network, data)?, slowest(network, back)?);
    let ratio = ack_ratio(flow);
    let sizes = WireSizes::of(flow);
    let share = |rate: Rate, by: u64, of: u64| {
        u64::try_from(u128::from(rate.as_bits_per_sec()) * u128::from(by) / u128::from(of))
            .unwrap_or(u64::MAX)
    };
    let needed = share(rate, sizes.ack, sizes.data * ratio);
    (needed > returns.as_bits_per_sec()).then(|| {
        let most = Rate::from_bits_per_sec(share(returns, sizes.data * ratio, sizes.ack));
        format!(
            "an acknowledgement of {} B for every {ratio} packets needs {} on the way back at the {} of {name}, and \
             {back_name} carries {}: the acknowledgements fill it, and the flow gets about {}; a larger ack_ratio helps",
            sizes.ack,
            rounded(Rate::from_bits_per_sec(needed)),
            rounded(rate),
            rounded(returns),
            rounded(most)
        )
    })
}

/// How many packets of data an acknowledgement is for.
fn ack_ratio(flow: &Flow) -> u64 {
    match flow.protocol {
        Protocol::Tcp => flow.tcp.value(tcp::Config::ACK_RATIO),
        Protocol::Quic => flow.transport.value(AckOptions::RATIO),
    }
    .max(1)
}

/// A warning about the slowest node on the way that takes longer for the packets of the flow than the slowest link does.
fn processing_words(network: Surveyed<'_>, flow: &Flow, route: &Route<'_>) -> Option<String> {
    let (data, back) = if uploads(flow) { (route.there, route.back) } else { (route.back, route.there) };
    let (sizes, ratio) = (WireSizes::of(flow), ack_ratio(flow));
    let receives =
        |hops: &[usize], node| hops.iter().any(|hop| network.topology.end_of(*hop).0 as usize == node);
    let most = network.scenario.processing().filter_map(|(node, server)| {
        let ServerOptions { packet, byte, .. } = ServerOptions::of(&server.arguments);
        let ack = network::processing::ack_time(&server.arguments);
        let of_data = if receives(data, node) { packet + byte * sizes.data } else { Duration::ZERO };
        let of_ack = if receives(back, node) { ack + byte * sizes.ack } else { Duration::ZERO };
        // The time that the node takes for as many packets as have one acknowledgement.
        let round = (of_data * ratio + of_ack).as_nanos();
        let bits = u128::from(8 * sizes.data * ratio) * 1_000_000_000;
        let most = u64::try_from(bits.checked_div(u128::from(round))?).unwrap_or(u64::MAX);
        Some((Rate::from_bits_per_sec(most), node, of_data, of_ack))
    });
    let (most, node, of_data, of_ack) = most.min_by_key(|(most, ..)| *most)?;
    let (rate, name, _) = slowest(network, data)?;
    let times = [(of_data, "packet of data"), (of_ack, "acknowledgement")];
    let times = times.into_iter().filter(|(time, _)| !time.is_zero());
    let times: Vec<_> = times.map(|(time, what)| format!("{time} for each {what}")).collect();
    (most < rate).then(|| {
        format!(
            "node {} takes {}: with an acknowledgement for every {ratio} packets the flow gets about {} of the {} of {name}",
            network.scenario.nodes[node].name,
            times.join(" and "),
            rounded(most),
            rounded(rate)
        )
    })
}

/// A warning about the queue of the bottleneck, if its limit is far from the BDP of the flow.
fn queue_words(network: Surveyed<'_>, flow: &Flow, route: &Route<'_>) -> Option<String> {
    let hops = if uploads(flow) { route.there } else { route.back };
    let (rate, name, _) = slowest(network, hops)?;
    let hop = hops
        .iter()
        .map(|at| network.scenario.hop(network.topology.hop(*at)))
        .find(|hop| hop.label == name)?;
    // The queue of a link layer has no rate of its own, and a queue that is managed is as long as its targets.
    hop.mean_rate()?;
    let queue = hop.arguments.value(DirectionOptions::QUEUE);
    if !["drop-tail", "drop-head", "priority", "policer"].contains(&queue.name) {
        return None;
    }
    let limit = network::queue::limit_of(&queue)?;
    if limit == Limit::Unlimited {
        return Some(format!(
            "the queue of {name} has no limit: a flow that fills it adds delay without end; an AQM (fq-codel) or a limit avoids that"
        ));
    }
    let link = network.scenario.links.iter().find(|link| name.starts_with(&format!("{} ", link.name)));
    let round_trip = link.map_or(route.rtt, crate::scenario::model::Link::round_trip);
    let bound = Bound::new(limit, setup(hop.arguments, round_trip));
    let packet = WireSizes::of(flow).data;
    let bytes = bound.bytes.min(bound.packets.saturating_mul(packet));
    // The loop that fills the queue ends at the proxies before and after it.
    let loops = parts(network, flow, route);
    let bottleneck = |part: &&Part<'_>| {
        part.data.iter().any(|at| network.scenario.hop(network.topology.hop(*at)).label == name)
    };
    let rtt = loops.iter().find(bottleneck).expect("each hop of the data is in a part of its way").rtt;
    // Less than two packets cannot be in flight.
    let product = rate.bytes_in(rtt).as_bytes().max(2 * packet);
    let (holds, at) = (Size::from_bytes(bytes), rounded(rate));
    let product_words = format!("the BDP of the path is {}", Size::from_bytes(product));
    if bytes == u64::MAX {
        return None;
    }
    let drains = rate.time_for(holds);
    if drains >= LONG && bytes > MANY_BDPS * product {
        let drains = Duration::from_millis(drains.as_nanos().div_ceil(1_000_000));
        return Some(format!(
            "the queue of {name} holds {holds}, {drains} at {at}, and {product_words}: a flow that fills it adds as much \
             delay to all others; an AQM (fq-codel) or a shorter queue avoids that"
        ));
    }
    // A short queue hurts only those that send more than it takes.
    (bytes < product / FEW_BDPS && bytes < 10 * packet).then(|| {
        format!(
            "the queue of {name} holds {holds} at {at}, and {product_words}: bursts are lost long before the link is \
             full; a longer queue avoids that"
        )
    })
}

/// A warning about a middlebox on the way, a NAT, that forgets the flow in its pauses.
fn forgotten_words(network: Surveyed<'_>, flow: &Flow, route: &Route<'_>) -> Option<String> {
    let pause = pause(&flow.application)?;
    let alive = match flow.protocol {
        Protocol::Quic => flow.transport.given(quic::Config::KEEP_ALIVE),
        Protocol::Tcp => None,
    };
    let silence = alive.map_or(pause, |alive| alive.min(pause));
    let protocol = match flow.protocol {
        Protocol::Quic => network::Protocol::Udp,
        Protocol::Tcp => network::Protocol::Tcp,
    };
    let nodes =
        route.there.iter().map(|hop| &network.scenario.nodes[network.topology.end_of(*hop).0 as usize]);
    nodes.into_iter().find_map(|node| {
        let NodeKind::Middlebox(kind) = &node.kind else { return None };
        let timeout = network::middlebox::forgets_after(kind, protocol)?;
        (timeout <= silence).then(|| {
            let remedy = match flow.protocol {
                Protocol::Quic => format!("; a keep_alive below {timeout} avoids that"),
                Protocol::Tcp => String::new(),
            };
            format!(
                "the application is silent for {pause} at a time, and node {} ({}) forgets the connection after {timeout}: \
                 packets from outside are then dropped{remedy}",
                node.name, kind.name
            )
        })
    })
}

/// The longest pause of an application that its options tell.
fn pause(application: &Component) -> Option<Duration> {
    longest(&application.arguments).filter(|pause| !pause.is_zero())
}

/// The options that are pauses: between requests, of a server, between messages, of a source that is off, of a reader.
const PAUSES: &[&str] = &["think", "service", "gap", "off", "longest", "reading"];

fn longest(arguments: &Arguments) -> Option<Duration> {
    let of = |value: &Value| match value {
        Value::Component(component) => longest(&component.arguments),
        Value::List(values) => values
            .iter()
            .filter_map(|value| match value {
                Value::Component(component) => longest(&component.arguments),
                _ => None,
            })
            .max(),
        _ => None,
    };
    let pauses = arguments.0.iter().filter_map(|(name, value)| match value {
        Value::Duration(pause) if PAUSES.contains(&&**name) => Some(*pause),
        value => of(value),
    });
    pauses.max()
}
