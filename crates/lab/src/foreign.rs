//! Builds endpoints of other stacks from the options of a flow.

use crate::end::Foreign;
use crate::scenario::QUINN_CONTROLLERS;
use foreign::{Acknowledgements, Controller, Options};
use quic::Config;
use random::Generator;
use std::net::SocketAddr;

/// Builds an endpoint of quinn-proto. `max_connections`: the most connections of a server; 0 for a client.
pub(crate) fn quinn(
    local: SocketAddr,
    config: &Config,
    tls: &tls::Context,
    random: Generator,
    max_connections: usize,
) -> Foreign {
    let options = options(config);
    Box::new(foreign::Endpoint::new(local, &options, tls.clone(), random, max_connections))
}

/// The controllers of `QUINN_CONTROLLERS`, by their names.
const CONTROLLERS: [(&str, Controller); 2] =
    [(QUINN_CONTROLLERS[0], Controller::NewReno), (QUINN_CONTROLLERS[1], Controller::Cubic)];

/// The options that quinn-proto has, too.
fn options(config: &Config) -> Options {
    let payload = u64::from(config.max_udp_payload);
    // RFC 9002 section 7.2: "ten times the maximum datagram size".
    let initial_window = (10 * payload).min((2 * payload).max(14_720));
    let streams = [
        config.initial_max_stream_data_bidi_local,
        config.initial_max_stream_data_bidi_remote,
        config.initial_max_stream_data_uni,
    ];
    let controller = CONTROLLERS.iter().find(|(name, _)| *name == config.controller.name);
    let (_, controller) = controller.expect("the reader refuses controllers that quinn-proto does not have");
    Options {
        controller: *controller,
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
