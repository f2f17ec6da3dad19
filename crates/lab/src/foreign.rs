//! Endpoints of other stacks, from the options of a flow.

use foreign::{Acknowledgements, Endpoint, Options, Setup};
use quic::Config;
use random::Generator;
use std::net::SocketAddr;
use units::parameter::Component;

/// Builds an endpoint. `max_connections`: the most connections of a server; 0 for a client.
pub(crate) fn endpoint(
    stack: &Component,
    local: SocketAddr,
    config: &Config,
    tls: &tls::Context,
    random: Generator,
    max_connections: usize,
) -> Endpoint {
    let foreign = foreign::foreign(stack.name).expect("hosts with the stack of this project have none here");
    let build = foreign.build.expect("the reader refuses hosts with stacks that this build does not have");
    let options = options(config);
    build(Setup {
        local,
        options: &options,
        arguments: &stack.arguments,
        tls: tls.clone(),
        random,
        max_connections,
    })
}

/// The options that other stacks have, too.
fn options(config: &Config) -> Options {
    let payload = u64::from(config.max_udp_payload);
    // RFC 9002 section 7.2: "ten times the maximum datagram size".
    let initial_window = (10 * payload).min((2 * payload).max(14_720));
    let streams = [
        config.initial_max_stream_data_bidi_local,
        config.initial_max_stream_data_bidi_remote,
        config.initial_max_stream_data_uni,
    ];
    Options {
        controller: config.controller.name,
        initial_window: config.initial_window.map_or(initial_window, |packets| packets * payload),
        initial_rtt: config.initial_rtt,
        max_udp_payload: config.max_udp_payload,
        mtu_discovery: config.mtu_discovery,
        max_idle_timeout: config.max_idle_timeout,
        keep_alive: config.keep_alive,
        max_data: config.initial_max_data.as_bytes(),
        max_stream_data: streams.map(|size| size.as_bytes()).into_iter().fold(0, u64::max),
        max_streams: (config.initial_max_streams_bidi, config.initial_max_streams_uni),
        send_queue: config.send_queue.map(|size| size.as_bytes()),
        ecn: config.ecn,
        peer_acks: config.peer_ack.request().map(|wanted| Acknowledgements {
            ratio: wanted.ratio,
            max_delay: wanted.max_delay,
            reordering_threshold: wanted.reordering_threshold,
        }),
    }
}
