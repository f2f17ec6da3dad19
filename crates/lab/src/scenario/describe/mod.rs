//! Describes a scenario for people, as `quiclab check` prints it.

mod credit;
mod foreseen;
mod parts;
mod unqueued;
mod warnings;

pub(crate) use unqueued::unqueued_rtt;

use super::model::{Attachment, CrossTraffic, Flow, Medium, NodeKind, Remembered, Scenario};
use super::topology::HopView;
use network::medium::{Outlook, Way};
use network::queue::{Bound, LinkProperties};
use network::{DirectionOptions, Hop, NodeId, Topology};
use random::Generator;
use std::collections::BTreeSet;
use units::parameter::{Arguments, Choice, Component, Key, Limit, Options, Room, Value};
use units::{Duration, Rate, Size};

/// A scenario, and its graph.
#[derive(Clone, Copy)]
struct Surveyed<'a> {
    scenario: &'a Scenario,
    topology: &'a Topology,
}

/// The end of the subject of a line about files.
const FILES: &str = ", files";

/// The maximum number of links and flows that are described one by one.
const SHOWN: usize = 100;

/// Describes a scenario by pairs of distinct subjects and their descriptions, in a fixed order.
///
/// Base RTTs are propagation delays without transmission, jitter and queues. The rate of a link that changes over time is its
/// mean. Over a medium with a link layer the rate is the highest that is possible, and the base RTT has in it the least
/// time on the air. A subject that ends with ", warning" is about something valid that may not be intended.
pub fn describe(scenario: &Scenario) -> Vec<(String, String)> {
    let mut lines = vec![
        ("scenario".to_owned(), scenario.name.clone()),
        ("seed".to_owned(), scenario.seed.to_string()),
        ("duration".to_owned(), scenario.duration.to_string()),
        ("protection".to_owned(), scenario.tls.value(tls::Options::PROTECTION).word().to_owned()),
        ("network".to_owned(), network_words(scenario)),
    ];
    for link in scenario.links.iter().take(SHOWN) {
        let (from, to) = (&scenario.nodes[link.from].name, &scenario.nodes[link.to].name);
        let round_trip = link.round_trip();
        for (name, values, from, to) in
            [("forward", &link.forward, from, to), ("backward", &link.backward, to, from)]
        {
            let subject = format!("link {} {name}", link.name);
            lines.push((subject.clone(), format!("{from} to {to}: {}", direction(values, round_trip))));
            lines.extend(told_of_files(&subject, values));
            lines.extend(
                warnings::of_direction(values, round_trip)
                    .map(|(option, words)| (warnings::subject(&subject, &option), words)),
            );
        }
    }
    more(&mut lines, scenario.links.len(), "link");
    for medium in scenario.media.iter().take(SHOWN) {
        lines.extend(describe_medium(scenario, medium));
    }
    if scenario.media.len() > SHOWN {
        lines.push(("more media".to_owned(), (scenario.media.len() - SHOWN).to_string()));
    }
    for node in &scenario.nodes {
        if let NodeKind::Middlebox(kind) = &node.kind {
            lines.push((format!("node {}", node.name), format!("{}{}", kind.name, chosen(kind))));
        } else if node.kind == NodeKind::Gate {
            lines
                .push((format!("node {}", node.name), "gate: real packets, with quiclab emulate".to_owned()));
        }
    }
    let topology = scenario.topology().expect("the reader refuses networks that are none");
    for flow in scenario.flows.iter().take(SHOWN) {
        lines.extend(describe_flow(scenario, &topology, flow));
    }
    more(&mut lines, scenario.flows.len(), "flow");
    for cross in scenario.cross_traffic.iter().take(SHOWN) {
        lines.push(describe_cross_traffic(scenario, cross));
        let source = Arguments(vec![("source", Value::Component(cross.source.clone()))]);
        lines.extend(told_of_files(&format!("cross traffic {}", cross.name), &source));
    }
    more(&mut lines, scenario.cross_traffic.len(), "cross-traffic sender");
    for known in scenario.memory.iter().take(SHOWN) {
        let [node, peer] = [known.node, known.peer].map(|node| &scenario.nodes[node].name);
        let Remembered { capacity, rtt, age, protocol, .. } = known;
        let words =
            format!("{node} knows the path to {peer} over {}: {capacity}, {rtt}, {age} old", protocol.word());
        lines.push((format!("memory {}", known.name), words));
    }
    more(&mut lines, scenario.memory.len(), "memory");
    for (number, event) in scenario.events.iter().take(SHOWN).enumerate() {
        let words = format!("{}{}", event.kind.name, options(&event.kind));
        lines.push((format!("event {number}, at {}", event.at), words));
    }
    more(&mut lines, scenario.events.len(), "event");
    lines
}

fn more(lines: &mut Vec<(String, String)>, all: usize, what: &str) {
    if all > SHOWN {
        lines.push((format!("more {what}s"), (all - SHOWN).to_string()));
    }
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Rate, delay, queue and impairments of one direction.
fn direction(values: &Arguments, round_trip: Duration) -> String {
    let mut parts = vec![rate_words(values), format!("delay {}", network::series::base_delay(values))];
    let DirectionOptions { queue, loss, jitter, series, mtu, duplicate, corrupt, .. } =
        DirectionOptions::of(values);
    let setup = setup(values, round_trip);
    let limits = queue.arguments.0.iter().filter_map(|(_, value)| match value {
        Value::Limit(limit) => Some(limit_words(*limit, setup)),
        _ => None,
    });
    parts.push([queue.name.to_owned()].into_iter().chain(limits).collect::<Vec<_>>().join(" "));
    let replaced = network::series::replaced(values);
    let [of_loss, of_jitter, of_series] =
        [DirectionOptions::LOSS, DirectionOptions::JITTER, DirectionOptions::SERIES]
            .map(|option| option.name);
    for (option, component) in [(of_loss, loss), (of_jitter, jitter), (of_series, series)] {
        if !component.is_none() && !replaced.contains(&option) {
            let options =
                component.arguments.0.iter().map(|(name, value)| format!(" {name} {}", short(value)));
            parts.push(format!("{option} {}{}", component.name, options.collect::<String>()));
        }
    }
    let names = [DirectionOptions::DUPLICATE.name, DirectionOptions::CORRUPT.name];
    for (option, probability) in names.into_iter().zip([duplicate, corrupt]) {
        if probability > 0.0 {
            parts.push(format!("{option} {probability}"));
        }
    }
    parts.push(format!("MTU {mtu}"));
    parts.join(", ")
}

fn setup(values: &Arguments, round_trip: Duration) -> LinkProperties<'static> {
    LinkProperties {
        rate: mean_rate(values),
        round_trip,
        mtu: values.value(DirectionOptions::MTU),
        flows: &[],
    }
}

fn rate_words(values: &Arguments) -> String {
    if let Some(server) = network::series::server(values) {
        let mean = server.mean_rate().map(|mean| format!("mean {}", rounded(mean))).unwrap_or_default();
        let period = server.period().map(|period| format!(" over {period}"));
        return format!("series, {mean}{}", period.unwrap_or_default());
    }
    let rate = values.value(DirectionOptions::RATE);
    let Some(server) = server(values, Some(DirectionOptions::RATE)) else { return rate.name.to_owned() };
    let Some(mean) = server.mean_rate() else { return rate.name.to_owned() };
    if rate.arguments.0.iter().any(|(_, value)| *value == Value::Rate(mean)) {
        return format!("{} {mean}", rate.name);
    }
    // A file or model, and the offset in it.
    let of = rate.arguments.0.iter().filter_map(|(name, value)| match value {
        Value::File(_) | Value::Text(_) => Some(format!(" {}", short(value))),
        Value::Component(component) if !component.is_none() => {
            Some(format!(", {name} {}{}", component.name, options(component)))
        }
        _ => None,
    });
    let period = server.period().map(|period| format!(" over {period}"));
    let of: String = of.collect();
    format!("{}{of}, mean {}{}", rate.name, rounded(mean), period.unwrap_or_default())
}

/// The server of a direction, or of a medium with such an option.
fn server(values: &Arguments, rate: Option<Key<Component>>) -> Option<network::rate::Server> {
    if let Some(server) = network::series::server(values) {
        return Some(server);
    }
    let rate = values.chosen(rate?)?;
    let server = network::rate::build(rate.name, &rate.arguments, Generator::new(0, "describe"));
    Some(server.expect("the reader refuses rates that cannot be built"))
}

impl HopView<'_> {
    /// The mean rate; `None`: unlimited, or not said by an option.
    fn mean_rate(&self) -> Option<Rate> {
        server(self.shared, self.rate).and_then(|server| server.mean_rate())
    }
}

/// The mean rate of a direction; `None`: unlimited.
fn mean_rate(values: &Arguments) -> Option<Rate> {
    server(values, Some(DirectionOptions::RATE)).and_then(|server| server.mean_rate())
}

/// A limit, with its value in bytes if it has another unit.
fn limit_words(limit: Limit, setup: LinkProperties) -> String {
    if matches!(limit, Limit::Unlimited | Limit::Packets(_) | Limit::Bytes(_)) {
        return limit.to_string();
    }
    match Bound::new(limit, setup).bytes {
        u64::MAX => format!("{limit} (no bound: the rate is unlimited)"),
        bytes => format!("{limit} ({})", Size::from_bytes(bytes)),
    }
}

fn short(value: &Value) -> String {
    match value {
        Value::Duration(value) => value.to_string(),
        Value::Rate(value) => value.to_string(),
        Value::Size(value) => value.to_string(),
        Value::Limit(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::Flag(value) => value.to_string(),
        Value::Text(value) => value.clone(),
        // Where it is, is the reader's own affair: a description stands in reports, which others read.
        Value::File(file) => file_name(&file.path).to_owned(),
        Value::List(values) if values.len() <= 8 => {
            format!("[{}]", values.iter().map(short).collect::<Vec<_>>().join(", "))
        }
        Value::List(values) => format!("of {}", values.len()),
        Value::Component(component) => component.name.to_owned(),
    }
}

/// The name of a file without its folder; also that of a component in a file.
fn file_name(path: &str) -> &str {
    path.rsplit(std::path::is_separator).next().unwrap_or(path)
}

/// A rate to three decimals of its unit.
fn rounded(rate: Rate) -> String {
    let bits = rate.as_bits_per_sec();
    let unit = [1_000_000_000u64, 1_000_000, 1_000].into_iter().find(|unit| bits >= *unit).unwrap_or(1);
    let step = (unit / 1000).max(1);
    Rate::from_bits_per_sec((bits + step / 2) / step * step).to_string()
}

/// The numbers of nodes, links and media.
fn network_words(scenario: &Scenario) -> String {
    let mut words = vec![count(scenario.nodes.len(), "node")];
    match (scenario.links.len(), scenario.media.len()) {
        (links, 0) => words.push(count(links, "link")),
        (0, media) => words.push(media_words(media)),
        (links, media) => words.extend([count(links, "link"), media_words(media)]),
    }
    words.join(", ")
}

fn media_words(media: usize) -> String {
    format!("{media} {}", if media == 1 { "medium" } else { "media" })
}

/// Describes a medium by what differs from the defaults, and the own options of its attachments.
fn describe_medium(scenario: &Scenario, medium: &Medium) -> Vec<(String, String)> {
    let name = |attachment: &Attachment| scenario.nodes[attachment.node].name.clone();
    let subject = format!("medium {}", medium.name);
    let mut attached: Vec<String> = medium.attachments.iter().take(SHOWN).map(name).collect();
    if medium.attachments.len() > SHOWN {
        attached.push(format!("{} more", medium.attachments.len() - SHOWN));
    }
    let who = match attached.split_first() {
        Some((station, terminals)) if medium.station => format!("{station} with {}", terminals.join(", ")),
        _ => attached.join(", "),
    };
    let rooms = super::rooms();
    let options = changed(&medium.kind, rooms).into_iter();
    let options = options.map(|(name, value)| format!(", {}", option_words(name, value, rooms)));
    let words = format!("{}{}: {who}", medium.kind.name, options.collect::<String>());
    let mut lines = vec![(subject.clone(), words)];
    lines.extend(told_of_files(&subject, &medium.kind.arguments));
    for (number, attachment) in medium.attachments.iter().enumerate().take(SHOWN) {
        let own = attachment.arguments.0.iter();
        let own = own.filter(|(name, value)| medium.kind.arguments.get(name) != Some(value));
        let own = Arguments(own.cloned().collect());
        let words: Vec<String> = own.0.iter().map(|(name, value)| option_words(name, value, rooms)).collect();
        let subject = format!("{subject}, {}", name(attachment));
        if !words.is_empty() {
            lines.push((subject.clone(), words.join(", ")));
        }
        lines.extend(told_of_files(&subject, &own));
        if let Some(station) = attached.first().filter(|_| medium.station && number > 0)
            && outlook(medium, [0, number]).is_some_and(|outlook| outlook.rate == Rate::ZERO)
        {
            let words = format!("out of reach of {station}: no scheme is low enough for its channel");
            lines.push((warnings::subject(&subject, ""), words));
        }
    }
    lines
}

/// The outlook of a way over a medium with a link layer, from one attachment to another.
fn outlook(medium: &Medium, [from, to]: [usize; 2]) -> Option<Outlook> {
    let ends = [from, to].map(|at| medium.attachments[at].arguments.over(&medium.kind.arguments));
    let way = Way {
        medium: &medium.kind.arguments,
        ends: [&ends[0], &ends[1]],
        from_station: medium.station && from == 0,
    };
    network::medium::outlook(medium.kind.name, &way)
}

/// An option in words, as a scenario has it: `channel 25`, where the channel is constant, or `queue codel target 10 ms`.
fn option_words(name: &str, value: &Value, rooms: &[Room]) -> String {
    let Value::Component(component) = value else { return format!("{name} {}", short(value)) };
    let shorthand =
        rooms.iter().find(|room| room.name == component.room).and_then(|room| room.shorthand.as_ref());
    let changed = changed(component, rooms);
    // The option that a bare value sets.
    let bare = shorthand.filter(|(row, _)| *row == component.name).map(|(_, option)| *option);
    if let Some(value) = bare.and_then(|bare| component.arguments.get(bare))
        && changed.iter().all(|(name, _)| Some(*name) == bare)
    {
        return format!("{name} {}", short(value));
    }
    let inner = changed.into_iter().map(|(name, value)| format!(" {}", option_words(name, value, rooms)));
    format!("{name} {}{}", component.name, inner.collect::<String>())
}

fn describe_cross_traffic(scenario: &Scenario, cross: &CrossTraffic) -> (String, String) {
    let name = |node: usize| scenario.nodes[node].name.as_str();
    let options = options(&cross.source);
    let words = format!(
        "{}{options}, {} to {}, {}, IPv{}",
        cross.source.name,
        name(cross.from),
        name(cross.to),
        span(cross.start, cross.stop),
        cross.ip.word()
    );
    (format!("cross traffic {}", cross.name), words)
}

/// The options of a component in a few words.
fn options(component: &Component) -> String {
    component.arguments.0.iter().map(|(name, value)| format!(" {name} {}", short(value))).collect()
}

/// The options of a middlebox, and those within them, that differ from the defaults.
fn chosen(component: &Component) -> String {
    let words = |(name, value): (&str, &Value)| match value {
        Value::Component(inner) => format!(" {name} {}{}", inner.name, chosen(inner)),
        other => format!(" {name} {}", short(other)),
    };
    changed(component, super::rooms()).into_iter().map(words).collect()
}

/// The options of a component that differ from the defaults.
fn changed<'c>(component: &'c Component, rooms: &[Room]) -> Vec<(&'c str, &'c Value)> {
    let room = rooms.iter().find(|room| room.name == component.room);
    let row = room.and_then(|room| room.rows.iter().find(|row| row.name == component.name));
    let differs = |(name, value): &(&str, &Value)| {
        let parameter = row.and_then(|row| row.parameters.iter().find(|parameter| parameter.name == *name));
        parameter.and_then(|parameter| parameter.default_value(rooms)).as_ref() != Some(*value)
    };
    component.arguments.0.iter().map(|(name, value)| (*name, value)).filter(differs).collect()
}

fn span(start: Duration, stop: Option<Duration>) -> String {
    stop.map_or_else(|| format!("from {start}"), |stop| format!("from {start} to {stop}"))
}

/// Describes the application of a flow, the paths in both directions, and packets that are too large.
fn describe_flow(scenario: &Scenario, topology: &Topology, flow: &Flow) -> Vec<(String, String)> {
    let name = |node: usize| scenario.nodes[node].name.as_str();
    let subject = format!("flow {}", flow.name);
    let first = format!(
        "{}{}, {} to {}, {}, IPv{}, {}",
        flow.application.name,
        options(&flow.application),
        name(flow.client),
        name(flow.server),
        match flow.branch_of {
            Some(of) => format!("when {} needs it", scenario.flows[of].name),
            None => span(flow.start, flow.stop),
        },
        flow.ip.word(),
        flow.transport.value(quic::Config::CONTROLLER).name
    );
    let path = |from: usize, to: usize| {
        let route = topology.route(NodeId(from as u32), NodeId(to as u32));
        route.expect("the reader refuses flows without a route")
    };
    let (there, back) = (path(flow.client, flow.server), path(flow.server, flow.client));
    let network = Surveyed { scenario, topology };
    let base = base_rtt(network, there.iter().chain(&back));
    let mut lines = vec![(subject.clone(), first)];
    for (from, to, path) in [(flow.server, flow.client, &back), (flow.client, flow.server, &there)] {
        let subject = format!("{subject}, {} to {}", name(from), name(to));
        lines.push((subject, path_words(network, path, base)));
    }
    lines.extend(told_of_files(&subject, &flow.application.arguments));
    let route = warnings::Route { there: &there, back: &back, rtt: base.least };
    let foreseen = foreseen::warnings(network, flow, &route);
    lines.extend(
        warnings::of_flow(network, flow, &route)
            .chain(credit::warnings(network, flow, &route))
            .chain(foreseen)
            .map(|(option, words)| (warnings::subject(&subject, &option), words)),
    );
    lines
}

/// What a user should know about the files of a scenario: a sentence for each thing that is left out of them, with the names
/// of the files without their folders.
pub fn file_notes(scenario: &Scenario) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let lines = describe(scenario).into_iter().filter(|(subject, _)| subject.ends_with(FILES));
    let files = scenario.files();
    let without_folder = |words: String| {
        // The longest path first, as it may end with a shorter one.
        let path = files.keys().rfind(|path| words.starts_with(&*path.to_string_lossy()));
        match path.and_then(|path| Some((path.to_str()?, path.file_name()?.to_str()?))) {
            Some((path, name)) => format!("{name}{}", &words[path.len()..]),
            None => words,
        }
    };
    lines.map(|(_, words)| without_folder(words)).filter(|words| seen.insert(words.clone())).collect()
}

/// What a user should know about the files of these options and of the components in them: what is left out of them, and
/// what was rounded.
fn told_of_files(subject: &str, arguments: &Arguments) -> Vec<(String, String)> {
    let mut notes = Vec::new();
    arguments.0.iter().for_each(|(_, value)| collect_notes(value, &mut notes));
    notes.into_iter().map(|words| (format!("{subject}{FILES}"), words)).collect()
}

fn collect_notes(value: &Value, notes: &mut Vec<String>) {
    match value {
        Value::Component(component) => {
            notes.extend(match component.room {
                "pages" => pages::notes(component),
                "presentations" => video::presentation::notes(component),
                "sources" => traffic::sources::notes(component),
                _ => network::notes(component),
            });
            component.arguments.0.iter().for_each(|(_, value)| collect_notes(value, notes));
        }
        Value::List(values) => values.iter().for_each(|value| collect_notes(value, notes)),
        _ => {}
    }
}

/// A base RTT, and whether a link layer on the way makes it longer.
#[derive(Clone, Copy)]
struct BaseRtt {
    least: Duration,
    is_bound: bool,
}

/// The base RTT of the hops of both directions.
fn base_rtt<'a>(
    Surveyed { scenario, topology }: Surveyed<'_>,
    hops: impl Iterator<Item = &'a usize>,
) -> BaseRtt {
    let mut base = BaseRtt { least: Duration::ZERO, is_bound: false };
    for hop in hops.map(|at| topology.hop(*at)) {
        base.least += scenario.hop(hop).delay();
        if let Some(outlook) = outlook_of(scenario, hop) {
            base = BaseRtt { least: base.least + outlook.least, is_bound: true };
        }
    }
    base
}

fn outlook_of(scenario: &Scenario, hop: Hop) -> Option<Outlook> {
    match hop {
        Hop::Medium { medium, from, to } => outlook(&scenario.media[medium], [from, to]),
        Hop::Link { .. } => None,
    }
}

/// The bottleneck of a path: its rate, its name, and whether that is the most that is possible there. A policer that drops
/// what exceeds its rate may be one.
fn slowest(network: Surveyed<'_>, path: &[usize]) -> Option<(Rate, String, bool)> {
    let policers = path.iter().filter_map(|at| {
        let HopView { label, arguments, .. } = network.scenario.hop(network.topology.hop(*at));
        let queue = arguments.value(DirectionOptions::QUEUE);
        Some((network::queue::policed_rate(&queue)?, format!("the policer of {label}"), false))
    });
    slowest_hop(network, path).into_iter().chain(policers).min_by_key(|(rate, ..)| *rate)
}

/// The slowest hop of a path, as above, by what it can transmit.
fn slowest_hop(
    Surveyed { scenario, topology }: Surveyed<'_>,
    path: &[usize],
) -> Option<(Rate, String, bool)> {
    let rates = path.iter().filter_map(|at| {
        let hop = topology.hop(*at);
        let view = scenario.hop(hop);
        match outlook_of(scenario, hop) {
            Some(outlook) => Some((outlook.rate, view.label, true)),
            None => Some((view.mean_rate()?, view.label, false)),
        }
    });
    rates.min_by_key(|(rate, ..)| *rate)
}

fn path_words(network: Surveyed<'_>, path: &[usize], base: BaseRtt) -> String {
    // The product of a bound with anything is an estimate.
    let (at_least, about) = if base.is_bound { ("at least ", "about ") } else { ("", "") };
    let rtt = base.least;
    match slowest(network, path) {
        Some((rate, name, is_most)) => {
            let (bdp, rate) = (rate.bytes_in(rtt), rounded(rate));
            let at_most = if is_most { " at most" } else { "" };
            format!("bottleneck {name}{at_most} {rate}, base RTT {at_least}{rtt}, BDP {about}{bdp}")
        }
        None => format!("no bottleneck, base RTT {at_least}{rtt}"),
    }
}
