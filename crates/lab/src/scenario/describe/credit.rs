//! Warnings about credit that holds a flow back: none at all, or less than the bandwidth-delay product.

use super::parts::{End, parts};
use super::warnings::{Route, Warning, uploads};
use super::{Surveyed, rounded, slowest};
use crate::scenario::model::{Flow, Protocol};
use units::parameter::{Component, Value};
use units::{Duration, Rate, Size};

/// The warnings about a flow.
pub(super) fn warnings(network: Surveyed<'_>, flow: &Flow, route: &Route<'_>) -> Vec<Warning> {
    let mut found = zero_words(flow);
    let data = if uploads(flow) { route.there } else { route.back };
    // Where no hop has a rate there is no BDP either.
    let Some((rate, name, _)) = slowest(network, data) else { return found };
    // What is sent in all needs no more than that.
    let all = match flow.application.arguments.get("size") {
        Some(Value::Size(size)) => size.as_bytes(),
        // A transfer without end.
        _ => u64::MAX,
    };
    let holds = match flow.protocol {
        Protocol::Quic => quic_credit(flow, route.rtt),
        Protocol::Tcp => tcp_credit(network, flow, route),
    };
    found.extend(
        holds
            .into_iter()
            .filter(|credit| credit.size.as_bytes() < all)
            .filter_map(|credit| Some((credit.option.clone(), credit.words(rate, &name)?))),
    );
    found
}

/// How much may be under way, by an option.
#[derive(Debug)]
struct Credit {
    option: String,
    size: Size,
    /// The base RTT of the part of the way that it is for.
    rtt: Duration,
    /// It is renewed once half of it is read.
    by_halves: bool,
}

impl Credit {
    /// What is the matter with it at this rate of the bottleneck, if anything is.
    fn words(&self, rate: Rate, name: &str) -> Option<String> {
        let (size, product) = (self.size.as_bytes(), rate.bytes_in(self.rtt).as_bytes());
        // Of the rate of the bottleneck.
        let part = |of: u64, whole: u64| {
            let bits = u128::from(rate.as_bits_per_sec()) * u128::from(of) / u128::from(whole);
            rounded(Rate::from_bits_per_sec(bits as u64))
        };
        let (held, whole, bdp) = (self.size, rounded(rate), Size::from_bytes(product));
        let enough = if self.by_halves { product.saturating_mul(2) } else { product };
        // Credit of zero has a warning of its own.
        if size == 0 || size >= enough {
            None
        } else if size < product {
            let most = part(size, product);
            Some(format!(
                "{held} allow at most {most} of the {whole} of {name}: less than the BDP of {bdp}, so data has to wait"
            ))
        } else {
            // Two halves pass in a round trip and the time that one of them takes at this rate.
            let about = part(size, product.saturating_add(size / 2));
            Some(format!(
                "{held} let a long transfer have about {about} of the {whole} of {name}: they are renewed once half of \
                 them is read, so less than two BDPs of {bdp} make data wait"
            ))
        }
    }
}

/// Warnings about credit of zero: what waits for it is never sent.
fn zero_words(flow: &Flow) -> Vec<Warning> {
    if flow.protocol == Protocol::Tcp {
        return Vec::new();
    }
    let size = |name: &str| flow.transport.size(name).as_bytes();
    // HTTP/3 has its control streams there.
    let unidirectional = flow.alpn() == b"h3";
    let credits = [
        ("initial_max_data", size("initial_max_data"), "no stream data is ever sent"),
        (
            "initial_max_stream_data_bidi_local",
            size("initial_max_stream_data_bidi_local"),
            "the server never sends data on a stream that the client opens",
        ),
        (
            "initial_max_stream_data_bidi_remote",
            size("initial_max_stream_data_bidi_remote"),
            "the client never sends data, nor a request, on a stream that it opens",
        ),
        (
            "initial_max_streams_bidi",
            flow.transport.integer("initial_max_streams_bidi"),
            "the client never opens a bidirectional stream",
        ),
    ];
    let one_way = [
        (
            "initial_max_stream_data_uni",
            size("initial_max_stream_data_uni"),
            "no data is ever sent on unidirectional streams, which this application needs",
        ),
        (
            "initial_max_streams_uni",
            flow.transport.integer("initial_max_streams_uni"),
            "no unidirectional stream is ever opened, and this application needs them",
        ),
    ];
    let one_way = one_way.into_iter().filter(|_| unidirectional);
    let zero = credits.into_iter().chain(one_way).filter(|(_, credit, _)| *credit == 0);
    zero.map(|(name, _, what)| (name.to_owned(), format!("transport.{name} is 0: {what}"))).collect()
}

/// What a flow over QUIC may have under way.
fn quic_credit(flow: &Flow, rtt: Duration) -> Vec<Credit> {
    let (options, arguments) = (&flow.transport, &flow.application.arguments);
    let stream = match (uploads(flow), traffic::uploads_one_way(flow.application.name)) {
        (true, true) => "initial_max_stream_data_uni",
        (true, false) => "initial_max_stream_data_bidi_remote",
        (false, _) => "initial_max_stream_data_bidi_local",
    };
    // Each of several streams has that credit.
    let streams = if arguments.has("streams") { arguments.integer("streams") } else { 1 };
    let named = [("initial_max_data", 1, true), (stream, streams, true), ("send_queue", 1, false)];
    let given = named.into_iter().filter(|(option, ..)| options.has(option));
    let sizes = given.map(|(option, times, by_halves)| {
        let bytes = options.size(option).as_bytes().saturating_mul(times);
        Credit { option: option.to_owned(), size: Size::from_bytes(bytes), rtt, by_halves }
    });
    let fixed = fixed_window(&options.component("controller"));
    let fixed = fixed.map(|size| Credit { option: "controller".to_owned(), size, rtt, by_halves: false });
    sizes.chain(fixed).collect()
}

/// What a flow over TCP may have under way. An option that is for several parts of the way counts on the longest.
fn tcp_credit(network: Surveyed<'_>, flow: &Flow, route: &Route<'_>) -> Vec<Credit> {
    let mut found: Vec<Credit> = Vec::new();
    for part in parts(network, flow, route) {
        let mut add = |end: &End<'_>, option: &str, size| {
            let option = end.option(option);
            match found.iter_mut().find(|known| known.option == option) {
                Some(known) => known.rtt = known.rtt.max(part.rtt),
                None => found.push(Credit { option, size, rtt: part.rtt, by_halves: false }),
            }
        };
        let (receiver, sender) = (part.receiver.config(flow), part.sender.config(flow));
        add(&part.receiver, "max_receive_buffer", receiver.max_receive_buffer);
        // RFC 7323 section 2.2: windows are scaled if both ends offer it.
        for (end, config) in [(&part.receiver, &receiver), (&part.sender, &sender)] {
            if !config.window_scaling {
                add(end, "window_scaling", Size::from_bytes(u64::from(u16::MAX)));
            }
        }
        if let Some(window) = fixed_window(&sender.controller) {
            add(&part.sender, "controller", window);
        }
    }
    found
}

/// The window of a controller that always has the same one; None if it has no option for it.
fn fixed_window(controller: &Component) -> Option<Size> {
    match controller.arguments.get("window") {
        Some(Value::Size(window)) => Some(*window),
        _ => None,
    }
}
