//! The numbers of the senders of packets in the network.

use crate::ends::end_number;
use crate::scenario::{Flow, Scenario};
use network::{NodeId, Port, Routes};
use random::Generator;
use wire::Side;

/// The key of the Fast Open cookies of a flow's server.
pub(crate) fn cookie_key(seed: u64, flow: &str) -> u64 {
    Generator::seed_for(seed, &format!("flow {flow} cookies"))
}

/// The number of a sender of cross traffic, behind those of all ends.
pub(crate) fn cross_number(scenario: &Scenario, index: usize) -> u32 {
    (2 * scenario.flows.len() + index) as u32
}

/// The numbers of all ends and senders of cross traffic, with their names.
pub(crate) fn flow_numbers(scenario: &Scenario) -> Vec<(String, u32)> {
    let flows = scenario.flows.iter().enumerate();
    let ends = flows.flat_map(|(index, flow)| {
        [Side::Client, Side::Server].map(|side| (flow.name.clone(), end_number(index, side)))
    });
    let cross = scenario.cross_traffic.iter().enumerate();
    let cross = cross.map(|(index, cross)| (cross.name.clone(), cross_number(scenario, index)));
    ends.chain(cross).collect()
}

/// The hops of a flow's packets from its client, and of those from its server; the ways by these ports of the client follow.
pub(crate) fn ways_of(routes: &Routes, flow: &Flow, ports: &[Port]) -> [Vec<usize>; 2] {
    let topology = routes.topology();
    let [client, server] = [flow.client, flow.server].map(|node| NodeId(node as u32));
    let mut ways = [vec![routes.route(client, server)], vec![routes.route(server, client)]];
    for port in ports {
        ways[0].push(topology.route_from_port(client, *port, server));
        ways[1].push(topology.route_to_port(server, client, *port));
    }
    let hops = |way: Option<Vec<usize>>| way.expect("the reader refuses flows without a route");
    ways.map(|ways| ways.into_iter().flat_map(hops).collect())
}

/// The receiving end of packets with this number.
#[inline]
pub(crate) fn end_of(flows: &[(u32, u32)], flow: u32) -> Option<usize> {
    find(flows, flow, |from, to| (from.wrapping_sub(to) / 2) as usize).map(|index| index as usize)
}

/// The value of a key in a sorted list. Keys are mostly consecutive: `guess` estimates the distance from the first key to a key.
#[inline]
pub(crate) fn find<K: Copy + Ord, V: Copy>(
    list: &[(K, V)],
    key: K,
    guess: impl Fn(K, K) -> usize,
) -> Option<V> {
    match list {
        [(only, value)] => (*only == key).then_some(*value),
        list => {
            if let Some((known, value)) = list.get(guess(key, list.first()?.0))
                && *known == key
            {
                return Some(*value);
            }
            let at = list.binary_search_by_key(&key, |(known, _)| *known).ok()?;
            Some(list[at].1)
        }
    }
}
