//! Warnings about credit that holds a flow back: none at all, or less than the bandwidth-delay product.

use super::parts::{End, parts};
use super::warnings::{Route, Warning, outline, uploads};
use super::{Surveyed, rounded, slowest};
use crate::scenario::model::{Flow, Protocol};
use congestion::fixed_window;
use quic::Config;
use traffic::Outline;
use units::parameter::Options;
use units::{Duration, Rate, Size};

/// The warnings about a flow.
pub(super) fn warnings(network: Surveyed<'_>, flow: &Flow, route: &Route<'_>) -> Vec<Warning> {
    let mut found = zero_words(flow);
    let data = if uploads(flow) { route.there } else { route.back };
    // Where no hop has a rate there is no BDP either.
    let Some((rate, name, _)) = slowest(network, data) else { return found };
    // What is sent in all needs no more than that.
    // Without a size it is a transfer without end.
    let all = outline(flow).size.map_or(u64::MAX, Size::as_bytes);
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
    let config = Config::of(&flow.transport);
    // HTTP/3 has its control streams there.
    let unidirectional = flow.alpn() == b"h3";
    let credits = [
        (Config::INITIAL_MAX_DATA.name, config.initial_max_data.as_bytes(), "no stream data is ever sent"),
        (
            Config::INITIAL_MAX_STREAM_DATA_BIDI_LOCAL.name,
            config.initial_max_stream_data_bidi_local.as_bytes(),
            "the server never sends data on a stream that the client opens",
        ),
        (
            Config::INITIAL_MAX_STREAM_DATA_BIDI_REMOTE.name,
            config.initial_max_stream_data_bidi_remote.as_bytes(),
            "the client never sends data, nor a request, on a stream that it opens",
        ),
        (
            Config::INITIAL_MAX_STREAMS_BIDI.name,
            config.initial_max_streams_bidi,
            "the client never opens a bidirectional stream",
        ),
    ];
    let one_way = [
        (
            Config::INITIAL_MAX_STREAM_DATA_UNI.name,
            config.initial_max_stream_data_uni.as_bytes(),
            "no data is ever sent on unidirectional streams, which this application needs",
        ),
        (
            Config::INITIAL_MAX_STREAMS_UNI.name,
            config.initial_max_streams_uni,
            "no unidirectional stream is ever opened, and this application needs them",
        ),
    ];
    let one_way = one_way.into_iter().filter(|_| unidirectional);
    let zero = credits.into_iter().chain(one_way).filter(|(_, credit, _)| *credit == 0);
    zero.map(|(name, _, what)| (name.to_owned(), format!("transport.{name} is 0: {what}"))).collect()
}

/// What a flow over QUIC may have under way.
fn quic_credit(flow: &Flow, rtt: Duration) -> Vec<Credit> {
    let Outline { uploads, streams, .. } = outline(flow);
    let stream = match (uploads, traffic::uploads_one_way(flow.application.name)) {
        (true, true) => Config::INITIAL_MAX_STREAM_DATA_UNI,
        (true, false) => Config::INITIAL_MAX_STREAM_DATA_BIDI_REMOTE,
        (false, _) => Config::INITIAL_MAX_STREAM_DATA_BIDI_LOCAL,
    };
    // Each of several streams has that credit.
    let named =
        [(Config::INITIAL_MAX_DATA, 1, true), (stream, streams, true), (Config::SEND_QUEUE, 1, false)];
    let sizes = named.into_iter().filter_map(|(option, times, by_halves)| {
        let bytes = flow.transport.given(option)?.as_bytes().saturating_mul(times);
        Some(Credit { option: option.name.to_owned(), size: Size::from_bytes(bytes), rtt, by_halves })
    });
    let controller = Config::CONTROLLER;
    let fixed = fixed_window(&flow.transport.value(controller));
    let fixed = fixed.map(|size| Credit { option: controller.name.to_owned(), size, rtt, by_halves: false });
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
        add(&part.receiver, tcp::Config::MAX_RECEIVE_BUFFER.name, receiver.max_receive_buffer);
        // RFC 7323 section 2.2: windows are scaled if both ends offer it.
        for (end, config) in [(&part.receiver, &receiver), (&part.sender, &sender)] {
            if !config.window_scaling {
                add(end, tcp::Config::WINDOW_SCALING.name, Size::from_bytes(u64::from(u16::MAX)));
            }
        }
        if let Some(window) = fixed_window(&sender.controller) {
            add(&part.sender, tcp::Config::CONTROLLER.name, window);
        }
    }
    found
}
