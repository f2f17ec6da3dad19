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
    let Some((rate, name, _)) = slowest(network, data) else { return found };
    // What is sent in all needs no more than that.
    let all = match flow.application.arguments.get("size") {
        Some(Value::Size(size)) => size.as_bytes(),
        _ => u64::MAX,
    };
    let holds: Vec<(String, Size, Duration)> = match flow.protocol {
        Protocol::Quic => {
            quic_credit(flow).into_iter().map(|(option, size)| (option, size, route.rtt)).collect()
        }
        Protocol::Tcp => tcp_credit(network, flow, route),
    };
    found.extend(holds.into_iter().filter_map(|(option, size, rtt)| {
        let product = rate.bytes_in(rtt).as_bytes();
        if !(1..product.min(all)).contains(&size.as_bytes()) {
            return None;
        }
        let most = u128::from(rate.as_bits_per_sec()) * u128::from(size.as_bytes()) / u128::from(product);
        let most = rounded(Rate::from_bits_per_sec(most as u64));
        let (rate, product) = (rounded(rate), Size::from_bytes(product));
        let words = format!(
            "{size} allow at most {most} of the {rate} of {name}: less than the BDP of {product}, so data has to wait"
        );
        Some((option, words))
    }));
    found
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

/// What a flow over QUIC may have under way, by option.
fn quic_credit(flow: &Flow) -> Vec<(String, Size)> {
    let (options, arguments) = (&flow.transport, &flow.application.arguments);
    let stream = match (uploads(flow), traffic::uploads_one_way(flow.application.name)) {
        (true, true) => "initial_max_stream_data_uni",
        (true, false) => "initial_max_stream_data_bidi_remote",
        (false, _) => "initial_max_stream_data_bidi_local",
    };
    // Each of several streams has that credit.
    let streams = if arguments.has("streams") { arguments.integer("streams") } else { 1 };
    let named = [("initial_max_data", 1), (stream, streams), ("send_queue", 1)];
    let given = named.into_iter().filter(|(option, _)| options.has(option));
    let sizes = given.map(|(option, times)| {
        let bytes = options.size(option).as_bytes().saturating_mul(times);
        (option.to_owned(), Size::from_bytes(bytes))
    });
    let fixed = fixed_window(&options.component("controller"));
    sizes.chain(fixed.map(|window| ("controller".to_owned(), window))).collect()
}

/// What a flow over TCP may have under way, by option, with the base RTT of the part of its way that it is for.
fn tcp_credit(network: Surveyed<'_>, flow: &Flow, route: &Route<'_>) -> Vec<(String, Size, Duration)> {
    let mut found = Vec::new();
    for part in parts(network, flow, route) {
        let mut add = |end: &End<'_>, option: &str, size| found.push((end.option(option), size, part.rtt));
        let receiver = part.receiver.config(flow);
        add(&part.receiver, "max_receive_buffer", receiver.max_receive_buffer);
        if !receiver.window_scaling {
            add(&part.receiver, "window_scaling", Size::from_bytes(u64::from(u16::MAX)));
        }
        if let Some(window) = fixed_window(&part.sender.config(flow).controller) {
            add(&part.sender, "controller", window);
        }
    }
    found
}

/// The window of a controller that has always the same.
fn fixed_window(controller: &Component) -> Option<Size> {
    match controller.arguments.get("window") {
        Some(Value::Size(window)) => Some(*window),
        _ => None,
    }
}
