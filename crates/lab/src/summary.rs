//! The summary of a run.

pub(crate) mod value;
mod ways;

use crate::end::EndReport;
use crate::scenario::place::is_outside;
use crate::scenario::{DIRECTIONS, Flow, Node, Remembered, Scenario, unqueued_rtt};
use network::medium::{Air, Lane};
use network::{CarrierStats, Count, Hop, NodeId, QueueDelays, Routes};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;
use transport::{Load, Number, PageLoad, Part, Tally};
use units::parameter::Choice;
use units::{Duration, Rate, Time};
use value::{Value, table};
use ways::Ways;
use wire::Side;

/// The results of a finished run.
pub(crate) struct Finished {
    pub seed: u64,
    pub end: Time,
    /// The reports of all ends, by flow and side.
    pub reports: Vec<EndReport>,
    /// The sent datagrams of each sender of cross traffic, and the bytes of their payloads.
    pub crossing: Vec<(u64, u64)>,
    /// The counters of each direction of each link.
    pub links: Vec<CarrierReport>,
    /// The counters of each lane of each medium.
    pub media: Vec<Vec<(Lane, CarrierReport)>>,
    /// The nodes that take time for packets, with the counters of their queues.
    pub processing: Vec<(usize, CarrierReport)>,
    /// The node of each middlebox, and its counters.
    pub nodes: Vec<(usize, Vec<(&'static str, u64)>)>,
    /// What hosts know of paths.
    pub memory: Vec<Remembered>,
    /// The packets that the network lost, by the numbers of their senders.
    pub lost: Vec<u64>,
    /// The packets that were dropped at interfaces that were down.
    pub dropped_at_interfaces: u64,
    /// The routes between hosts.
    pub routes: Routes,
}

impl Finished {
    /// Stops unless the results are those of all that the scenario has, in its order.
    fn check(&self, scenario: &Scenario) {
        let (flows, cross) = (scenario.flows.len(), scenario.cross_traffic.len());
        let ends = (0..flows).flat_map(|flow| [(flow, Side::Client), (flow, Side::Server)]);
        let reports = self.reports.iter().map(|report| (report.flow, report.side));
        assert!(reports.eq(ends), "each flow has the reports of its two ends");
        assert_eq!(self.crossing.len(), cross, "each sender of cross traffic is at a host");
        assert_eq!(self.lost.len(), 2 * flows + cross, "losses are counted for each end and each sender");
        assert_eq!(self.links.len(), 2 * scenario.links.len(), "each direction of a link has counters");
        assert_eq!(self.media.len(), scenario.media.len(), "each medium has counters");
        let servers = scenario.processing().map(|(node, _)| node);
        assert!(servers.eq(self.processing.iter().map(|(node, _)| *node)), "each server has counters");
        let boxes = scenario.middleboxes().map(|(node, _)| node);
        assert!(boxes.eq(self.nodes.iter().map(|(node, _)| *node)), "each middlebox has counters");
    }
}

/// The word behind the name of a node in the label of its server: `gateway processing`.
pub(crate) const PROCESSING: &str = "processing";

/// The counters of a direction of a link, of a lane of a medium, or of the processing of a node.
pub(crate) struct CarrierReport {
    pub stats: CarrierStats,
    /// The waiting times of packets, if they were recorded.
    pub delays: Option<QueueDelays>,
    /// The mean rate; `None` if it is unlimited.
    pub mean_rate: Option<Rate>,
    /// The packets that an attachment has received.
    pub received: Option<Count>,
    /// What happened on the air.
    pub air: Option<Air>,
}

/// A number with the six decimals of the summary.
fn rounded(value: f64) -> Value {
    Value::from((value * 1e6).round() / 1e6)
}
/// Seconds as the summary shows them.
fn rounded_s(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e6
}
/// The seconds from a start to a time, or null.
fn seconds(start: Time, at: Option<Time>) -> Value {
    at.map_or(Value::Null, |at| rounded(at.since(start).as_secs_f64()))
}
fn ms(span: Option<Duration>) -> Value {
    span.map_or(Value::Null, |span| rounded(span.as_secs_f64() * 1e3))
}

/// The summary of a run: a table of values, whose text, as JSON, is made when it is first asked for.
#[derive(Debug, Clone)]
pub struct Summary {
    value: Value,
    text: OnceLock<String>,
}

impl Summary {
    /// The table, in a fixed order.
    pub fn value(&self) -> &Value {
        &self.value
    }
    /// The text.
    pub fn into_text(self) -> String {
        let Summary { value, text } = self;
        text.into_inner().unwrap_or_else(|| written(&value))
    }
}

impl Deref for Summary {
    type Target = str;

    /// The text, with line breaks.
    fn deref(&self) -> &str {
        self.text.get_or_init(|| written(&self.value))
    }
}

impl PartialEq for Summary {
    fn eq(&self, other: &Summary) -> bool {
        self.value == other.value
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

fn written(value: &Value) -> String {
    let mut text = Vec::new();
    value.write(&mut text, 0).expect("memory can be written");
    text.push(b'\n');
    String::from_utf8(text).expect("a summary consists of texts")
}

/// The summary, in a fixed order.
pub(crate) fn render(scenario: &Scenario, finished: &Finished) -> Summary {
    finished.check(scenario);
    let mut root = table! {
        "scenario": &scenario.name,
        "seed": finished.seed,
        "version": env!("CARGO_PKG_VERSION"),
        "duration_s": rounded(finished.end.as_secs_f64()),
    };
    let context = Context { scenario, finished, ways: Ways::new(scenario, &finished.routes) };
    let connections = (0..scenario.flows.len()).map(|i| {
        // The reports are in the order of flows, of each the client's first.
        connection(&context, i, [&finished.reports[2 * i], &finished.reports[2 * i + 1]])
    });
    root.add("connections", Value::List(connections.collect()));
    if !finished.crossing.is_empty() {
        let all = scenario.cross_traffic.iter().zip(&finished.crossing).enumerate();
        let all = all.map(|(index, (cross, (packets, bytes)))| {
            let number = crate::flows::cross_number(scenario, index) as usize;
            table! {
                "name": &cross.name,
                "packets_sent": *packets,
                "sent_bytes": *bytes,
                "packets_lost": finished.lost[number],
                "route": context.ways.of_cross(index),
            }
        });
        root.add("cross_traffic", Value::List(all.collect()));
    }
    let links = finished.links.iter().enumerate().map(|(direction, report)| {
        let name = &scenario.links[direction / 2].name;
        carrier(name, "direction", DIRECTIONS[direction % 2].0, report)
    });
    root.add("links", Value::List(links.collect()));
    if !finished.media.is_empty() {
        let media = scenario.media.iter().zip(&finished.media).flat_map(|(medium, reports)| {
            let name = |at: u16| scenario.nodes[medium.attachments[usize::from(at)].node].name.as_str();
            reports.iter().map(move |(lane, report)| {
                let mut entry = carrier(&medium.name, "attachment", name(lane.from), report);
                if let Some(to) = lane.to {
                    entry.add("to", name(to));
                }
                entry
            })
        });
        root.add("media", Value::List(media.collect()));
    }
    if !finished.processing.is_empty() {
        let all = finished.processing.iter().map(|(node, report)| {
            let mut entry = table! { "name": &scenario.nodes[*node].name };
            entry.extend(counters(report));
            entry
        });
        root.add(PROCESSING, Value::List(all.collect()));
    }
    if !finished.nodes.is_empty() {
        let nodes = finished.nodes.iter().map(|(node, counters)| middlebox(&scenario.nodes[*node], counters));
        root.add("nodes", Value::List(nodes.collect()));
    }
    if !finished.memory.is_empty() {
        let entries = finished.memory.iter().map(|known| remembered(scenario, known));
        root.add("memory", Value::List(entries.collect()));
    }
    if !scenario.events.is_empty() {
        root.add("dropped_at_interfaces", finished.dropped_at_interfaces);
    }
    Summary { value: root, text: OnceLock::new() }
}

/// An entry of what hosts know of paths.
fn remembered(scenario: &Scenario, known: &Remembered) -> Value {
    let mut entry = table! {
        "node": &scenario.nodes[known.node].name,
        "peer": &scenario.nodes[known.peer].name,
        "protocol": known.protocol.word(),
        "capacity_bytes": known.capacity.as_bytes(),
        "rtt_ms": ms(Some(known.rtt)),
        "age_s": rounded(known.age.as_secs_f64()),
        "ip": known.ip.number(),
    };
    if let Some(address) = known.address {
        entry.add("address", address.to_string());
    }
    entry
}

/// The inputs of the entries of connections.
struct Context<'c> {
    scenario: &'c Scenario,
    finished: &'c Finished,
    ways: Ways<'c>,
}

/// The entry of the connection of the flow with this number.
fn connection(context: &Context<'_>, index: usize, [client, server]: [&EndReport; 2]) -> Value {
    let (flow, finished) = (&context.scenario.flows[index], context.finished);
    let name = &flow.name;
    client.check();
    server.check();
    let start = client.opened_at.unwrap_or(finished.end);
    // The entry has the numbers of the end that sends the data.
    let sent = |report: &EndReport| report.stats.sent_bytes;
    let (sender, receiver) = if sent(server) >= sent(client) { (server, client) } else { (client, server) };
    let progress = client.progress.joined(server.progress);
    // A flow that was stopped ended then, or with the last of its bytes that were still on the way.
    let stop = flow.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop);
    let ended = finished.end.min(stop).max(progress.last_at.unwrap_or(start));
    let span = progress.finished_at.unwrap_or(ended).since(start);
    // Of a mix in both directions, the goodput is that of the data that the sender sends.
    let bytes = if receiver.progress.receives { receiver.progress.bytes } else { progress.bytes };
    // A time that the summary rounds to zero has no rate.
    let goodput = match rounded_s(span) {
        0.0 => Value::Null,
        _ => rounded(bytes as f64 * 8e-6 / span.as_secs_f64()),
    };
    let stats = &sender.stats;
    let number = |side| crate::ends::end_number(index, side) as usize;
    let lost = |side| finished.lost[number(side)];
    // A connection that the application of another flow did not need.
    let is_unopened = flow.branch_of.is_some() && client.opened_at.is_none();
    let close = client.close.as_ref().or(server.close.as_ref());
    let routes = [sender.side, sender.side.peer()].map(|side| route(context, flow, side));
    let mut entry = table! {
        "name": name,
        "sender": sender.side.to_string(),
        "completed": progress.finished_at.is_some(),
        "completion_s": seconds(start, progress.finished_at),
        "first_byte_s": seconds(start, progress.first_at),
        "goodput_mbps": goodput,
        "delivered_bytes": progress.bytes,
        "rtt_mean_ms": ms(stats.rtt.mean()),
        "rtt_p95_ms": ms(stats.rtt.quantile(0.95)),
        "path_rtt_ms": path_rtt(context, flow, &routes),
        "packets_sent": stats.packets_sent,
        "packets_lost": lost(sender.side),
        "packets_declared_lost": stats.packets_declared_lost,
        "packets_spuriously_lost": stats.packets_spuriously_lost,
        "probe_timeouts": stats.probe_timeouts,
        "retransmitted_bytes": stats.retransmitted_bytes,
        "data_packets_sent": stats.data_packets_sent,
        "ack_only_packets_received": receiver.stats.ack_only_packets_sent,
        "cwnd_bytes": sender.window,
        "return_packets_sent": receiver.stats.packets_sent,
        "return_packets_lost": lost(receiver.side),
        "bottleneck": bottleneck(context, &routes[0]),
        "close": close.map_or(if is_unopened { "never opened" } else { "open" }, |(reason, _)| reason.as_str()),
        "clean": close.is_none_or(|(_, clean)| *clean),
        "route": context.ways.of_flow(index),
    };
    if flow.after.is_some() || flow.branch_of.is_some() {
        entry.add("start_s", seconds(Time::ZERO, client.opened_at));
    }
    if let Some(of) = flow.branch_of {
        entry.add("of", &context.scenario.flows[of].name);
    }
    let lanes = routes.map(|route| lanes(context, &route));
    if let [data, back] = &lanes
        && !(data.is_empty() && back.is_empty())
    {
        entry.add("lanes", table! { "data": data.clone(), "back": back.clone() });
    }
    // Objects of an application without pages are in the table `object` only.
    if let Some(load) = client.load.as_ref().filter(|load| !load.pages.is_empty()) {
        entry.add("page", page(load, start));
    }
    if let Some(playback) = &client.playback {
        let numbers = playback.numbers.iter();
        let numbers = numbers.map(|(name, number)| {
            let value = match number {
                Number::Count(count) => Value::from(*count),
                Number::Measure(value) => value.map_or(Value::Null, rounded),
            };
            (Cow::Borrowed(*name), value)
        });
        entry.add("playback", Value::Table(numbers.collect()));
    }
    counted(&mut entry, [&client.tally, &server.tally]);
    let names = [client, server].map(|end| end.parts.iter().map(|one| &one.name));
    let [of_client, of_server] = names;
    assert!(
        is_outside(flow.application.name) || of_client.eq(of_server),
        "the applications of a mix have two ends each"
    );
    let named = |ends: &[Part], name: &str| ends.iter().find(|part| part.name == name).cloned();
    let only_there = server.parts.iter().filter(|part| named(&client.parts, &part.name).is_none());
    let parts = client.parts.iter().chain(only_there).map(|one| {
        let ends = [&client.parts, &server.parts].map(|end| named(end, &one.name));
        (Cow::Owned(one.name.clone()), part(ends, start))
    });
    let parts: Vec<_> = parts.collect();
    if !parts.is_empty() {
        entry.add("parts", Value::Table(parts));
    }
    entry
}

/// A hop of a route, with its counters.
type ReportedHop<'c> = (Hop, &'c CarrierReport);

/// The hops on the route of what one end of a flow sends, with their counters.
fn route<'c>(Context { finished, .. }: &Context<'c>, flow: &Flow, sender: Side) -> Vec<ReportedHop<'c>> {
    let ends = [flow.client, flow.server].map(|node| NodeId(node as u32));
    let [from, to] = if sender == Side::Client { ends } else { [ends[1], ends[0]] };
    let with_report = |hop: usize| {
        let hop = finished.routes.topology().hop(hop);
        let report = match hop {
            Hop::Link { link, forward } => &finished.links[2 * link + usize::from(!forward)],
            Hop::Medium { medium, from, to } => {
                let lane = finished.media[medium].iter().find(|(lane, _)| lane.carries(from, to));
                &lane.expect("each step over a medium passes a lane").1
            }
        };
        (hop, report)
    };
    let route = finished.routes.route(from, to).expect("the reader refuses flows without a route");
    route.into_iter().map(with_report).collect()
}

/// The round-trip time of the path without queues, in milliseconds; null without a route. `routes` are that of the data and
/// the way back.
fn path_rtt(context: &Context<'_>, flow: &Flow, routes: &[Vec<ReportedHop<'_>>; 2]) -> Value {
    let [data, back] = routes.each_ref().map(|route| route.iter().map(|(hop, _)| *hop).collect::<Vec<_>>());
    if data.is_empty() || back.is_empty() {
        return Value::Null;
    }
    ms(Some(unqueued_rtt(context.scenario, flow, [&data, &back])))
}

/// The lanes with a link layer on a route.
fn lanes(context: &Context<'_>, route: &[ReportedHop<'_>]) -> Vec<String> {
    let on_air = route.iter().filter(|(_, report)| report.air.is_some());
    on_air.map(|(hop, _)| context.scenario.hop(*hop).label).collect()
}

/// What has the longest mean queue on a route: a direction of a link, a lane of a medium, or the processing of a node.
/// Of equal queues the slowest counts, and then the first. Null without a route.
fn bottleneck(context: &Context<'_>, route: &[ReportedHop<'_>]) -> Value {
    type Queue<'c> = (String, &'c CarrierReport);
    let (scenario, finished) = (context.scenario, context.finished);
    let queues = route.iter().flat_map(|(hop, report)| {
        let end = scenario.end_of(*hop);
        let server = finished.processing.iter().find(|(node, _)| *node == end);
        let server = server.map(|(_, report)| (format!("{} {PROCESSING}", scenario.nodes[end].name), report));
        [Some((scenario.hop(*hop).label, *report)), server].into_iter().flatten()
    });
    let rank = |report: &CarrierReport| {
        let rate = report.mean_rate.map_or(f64::INFINITY, |rate| rate.as_mbit_per_sec());
        (-report.stats.queue_mean_bytes(), rate)
    };
    // The first of equal ones counts.
    let slower = |one: &Queue<'_>, other: &Queue<'_>| {
        let (one, other) = (rank(one.1), rank(other.1));
        one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1))
    };
    queues.min_by(slower).map_or(Value::Null, |(label, _)| Value::from(label))
}

/// The entry of the pages of a flow. The first page starts with the flow.
fn page(load: &Load, start: Time) -> Value {
    let spans = |end: fn(&PageLoad) -> Option<Time>| -> Vec<f64> {
        let span = |(number, page): (usize, &PageLoad)| {
            let start = if number == 0 { start } else { page.started_at? };
            Some(end(page)?.since(start).as_secs_f64())
        };
        load.pages.iter().enumerate().filter_map(span).collect()
    };
    let mean = |spans: &[f64]| {
        if spans.is_empty() { Value::Null } else { rounded(spans.iter().sum::<f64>() / spans.len() as f64) }
    };
    let loads = spans(|page| page.complete_at);
    let objects: Vec<f64> = load
        .objects
        .iter()
        .filter_map(|object| Some(object.complete_at?.since(object.requestable_at?).as_secs_f64()))
        .collect();
    table! {
        "pages": load.pages.len(),
        "pages_complete": loads.len(),
        "objects": load.objects.len(),
        "objects_complete": objects.len(),
        "load_mean_s": mean(&loads),
        "load_max_s": loads.iter().copied().reduce(f64::max).map_or(Value::Null, rounded),
        "byte_index_mean_s": mean(&spans(|page| page.mean_byte_at)),
        "object_mean_s": mean(&objects),
    }
}

/// The entry of one of the applications that share a connection, or of what an end has measured by this name, which the other
/// end may not know. `start` is that of the flow.
fn part(ends: [Option<Part>; 2], start: Time) -> Value {
    let [client, server] = ends.map(Option::unwrap_or_default);
    let progress = client.progress.joined(server.progress);
    let mut entry = table! {
        "completed": progress.finished_at.is_some(),
        "completion_s": seconds(start, progress.finished_at),
        "delivered_bytes": progress.bytes,
    };
    counted(&mut entry, [&client.tally, &server.tally]);
    entry
}

/// Adds the counts of both ends of an application to an entry.
fn counted(entry: &mut Value, ends: [&Option<Tally>; 2]) {
    let tally = match ends {
        [Some(client), Some(server)] => client.joined(server),
        [Some(only), None] | [None, Some(only)] => only.clone(),
        [None, None] => return,
    };
    let value = table! {
        "number": tally.started,
        "completed": tally.done,
        "missing": tally.missing(),
        "delay_mean_ms": ms(tally.spans.mean()),
        "delay_p5_ms": ms(tally.spans.quantile(0.05)),
        "delay_p25_ms": ms(tally.spans.quantile(0.25)),
        "delay_p50_ms": ms(tally.spans.quantile(0.5)),
        "delay_p75_ms": ms(tally.spans.quantile(0.75)),
        "delay_p95_ms": ms(tally.spans.quantile(0.95)),
        "delay_p99_ms": ms(tally.spans.quantile(0.99)),
        "delay_max_ms": ms(tally.spans.longest()),
        "deadline_misses": if tally.deadlines { Value::from(tally.late + tally.missing()) } else { Value::Null },
    };
    entry.add(tally.what, value);
}

/// The entry of a direction of a link, or of a lane of a medium, which `part` names by a key and a value.
fn carrier(name: &str, part: &'static str, of: &str, report: &CarrierReport) -> Value {
    let mut entry = table! { "name": name };
    entry.add(part, of);
    entry.extend(counters(report));
    entry
}

/// The counters of a queue, and of what it waits for.
fn counters(report: &CarrierReport) -> Value {
    let CarrierReport { stats, delays, received, air, .. } = report;
    let all = delays.as_ref().map(QueueDelays::all).unwrap_or_default();
    let l4s = delays.as_ref().map(QueueDelays::l4s).cloned().unwrap_or_default();
    let mut entry = table! {
        "queue_mean_packets": rounded(stats.queue_mean_packets()),
        "queue_max_packets": stats.queue_max.packets,
        "queue_mean_bytes": rounded(stats.queue_mean_bytes()),
        "queue_max_bytes": stats.queue_max.bytes,
        "queue_delay_mean_ms": ms(all.mean()),
        "queue_delay_p50_ms": ms(all.quantile(0.5)),
        "queue_delay_p99_ms": ms(all.quantile(0.99)),
        "l4s_delay_mean_ms": ms(l4s.mean()),
        "l4s_delay_p99_ms": ms(l4s.quantile(0.99)),
        "offered_packets": stats.accepted.packets,
        "delivered_packets": stats.delivered.packets,
        "delivered_bytes": stats.delivered.bytes,
        "utilisation": rounded(stats.utilization()),
        "drops": table! {
            "queue": stats.dropped_queue.packets,
            "loss": stats.lost.packets,
            "mtu": stats.dropped_mtu.packets,
        },
        "marked_packets": stats.marked,
        "corrupted": stats.corrupted,
        "duplicated": stats.duplicated.packets,
        "inside_packets": stats.inside.packets,
    };
    if let Some(received) = received {
        entry.add("received_packets", received.packets);
        entry.add("received_bytes", received.bytes);
    }
    if let Some(air) = air {
        entry.add("air", on_the_air(air, stats));
    }
    entry
}

/// What a lane did on the air, and the mean delays of the packets that it delivered.
fn on_the_air(air: &Air, stats: &CarrierStats) -> Value {
    let share = |span: Duration| match stats.until.as_nanos() {
        0 => 0.0,
        until => span.as_nanos() as f64 / until as f64,
    };
    let mean = |sum: Duration| {
        let packets = stats.delivered.packets;
        if packets == 0 { Value::Null } else { rounded(sum.as_nanos() as f64 / 1e6 / packets as f64) }
    };
    table! {
        "sent_blocks": air.sent,
        "again_blocks": air.again,
        "lost_blocks": air.lost,
        "air_share": rounded(share(air.airtime)),
        "queue_delay_mean_ms": mean(air.delays.queue),
        "access_delay_mean_ms": mean(air.delays.access),
        "transfer_delay_mean_ms": mean(air.delays.transfer),
        "order_delay_mean_ms": mean(air.delays.order),
        "handovers": air.handovers,
    }
}

/// The entry of a middlebox.
fn middlebox(node: &Node, counters: &[(&'static str, u64)]) -> Value {
    let kind = node.kind.component().name;
    // Equal runs have equal summaries, wherever the file of a class lies.
    let kind = kind.rsplit_once('/').filter(|_| is_outside(kind)).map_or(kind, |(_, name)| name);
    let mut entry = table! { "name": &node.name, "kind": kind };
    for (name, value) in counters {
        entry.add(*name, *value);
    }
    entry
}
