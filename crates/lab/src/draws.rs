//! Finds out whether anything in a scenario is random. If not, its run is the same for all seeds.

use crate::error::RunError;
use crate::graph::Network;
use crate::middlebox;
use crate::scenario::place::is_outside;
use crate::scenario::{Flow, Protocol, Scenario};
use random::Watch;
use trace::Interest;
use units::parameter::{Component, Options};

/// Whether a run of the scenario depends on its seed. All random components are built once, and nothing is run.
///
/// Random values that affect no size and no time do not count: connection ids, keys, initial sequence numbers.
///
/// # Errors
/// If an option cannot be used.
pub fn draws(scenario: &Scenario) -> Result<bool, RunError> {
    let scenario = &*scenario.unfolded();
    let watch = Watch::default();
    for flow in &scenario.flows {
        // A component that keeps its stream may draw later, so it must live until the watch is asked.
        let _ends = traffic::build(flow.application.name, &flow.application.arguments, watch.stream());
        if watch.draws() || endpoint_draws(flow) {
            return Ok(true);
        }
    }
    for cross in &scenario.cross_traffic {
        let _source = traffic::sources::build(cross.source.name, &cross.source.arguments, watch.stream());
        if watch.draws() {
            return Ok(true);
        }
    }
    let mut proxies =
        scenario.middleboxes().flat_map(|(_, node)| middlebox::controllers(&node.kind.component()));
    if proxies.any(|controller| controller_draws(&controller)) {
        return Ok(true);
    }
    Network { scenario, seed: scenario.seed, interest: Interest::default() }.draws()
}

/// Whether the endpoints of a flow draw values that affect sizes or times. These are controllers, and skipped packet
/// numbers, which are gaps in all ACK frames. Code from outside may always draw.
fn endpoint_draws(flow: &Flow) -> bool {
    match flow.protocol {
        Protocol::Quic => {
            let quic::Config { controller, scheduler, skip_packet_numbers, .. } =
                quic::Config::of(&flow.transport);
            skip_packet_numbers || is_outside(scheduler.name) || controller_draws(&controller)
        }
        Protocol::Tcp => controller_draws(&flow.tcp.value(tcp::Config::CONTROLLER)),
    }
}

fn controller_draws(controller: &Component) -> bool {
    is_outside(controller.name) || congestion::draws(controller.name, &controller.arguments)
}
