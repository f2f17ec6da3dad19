//! The accounts of packets: of each carrier, lane and server, of each medium, of each node, of each flow, and of all drops.

use crate::account::{Imbalance, balance_counts};
use crate::flows::{cross_number, flow_numbers};
use crate::host::Host;
use crate::scenario::Scenario;
use crate::summary::PROCESSING;
use network::{Books, CarrierStats, Count, World};

/// Balances all accounts.
pub(super) fn balance(scenario: &Scenario, world: &World<Host<'_>>, books: &Books) -> Result<(), Imbalance> {
    let mut sums = Sums::default();
    links_and_media(scenario, world, &mut sums)?;
    nodes(scenario, world, books, &mut sums)?;
    let kinds = [
        ("dropped or lost packets of all flows", &books.flows.dropped, sums.dropped),
        ("packets under way of all flows", &books.flows.held, sums.held),
    ];
    for (name, ledger, sum) in kinds {
        let (by_flow, by_place) = ([("by flow", ledger.total())], [("by carrier and node", sum)]);
        balance_counts(|| name.to_owned(), &by_flow, &by_place)?;
    }
    flows(scenario, books)
}

/// The packets of all carriers and nodes.
#[derive(Default)]
struct Sums {
    dropped: Count,
    held: Count,
}

/// Balances what a carrier has counted.
fn carrier(name: impl Fn() -> String, stats: &CarrierStats) -> Result<(), Imbalance> {
    let came = [("accepted", stats.accepted), ("duplicated", stats.duplicated)];
    let went = [
        ("delivered", stats.delivered),
        ("dropped for their size", stats.dropped_mtu),
        ("dropped by the queue", stats.dropped_queue),
        ("lost", stats.lost),
        ("inside", stats.inside),
    ];
    balance_counts(name, &came, &went)
}

fn links_and_media(scenario: &Scenario, world: &World<Host<'_>>, sums: &mut Sums) -> Result<(), Imbalance> {
    let mut add = |stats: &CarrierStats| {
        sums.dropped = sums.dropped + stats.dropped();
        sums.held = sums.held + stats.inside;
    };
    for link in world.links() {
        let stats = link.stats();
        carrier(|| link.name().to_owned(), &stats)?;
        add(&stats);
    }
    for (medium, built) in scenario.media.iter().zip(world.media()) {
        let node = |at: u16| scenario.nodes[medium.attachments[usize::from(at)].node].name.as_str();
        let mut delivered = Count::default();
        for (number, lane) in built.lanes().iter().enumerate() {
            let stats = built.lane(number).stats;
            let to = lane.to.map_or(String::new(), |to| format!(" to {}", node(to)));
            carrier(|| format!("medium {} from {}{to}", medium.name, node(lane.from)), &stats)?;
            delivered = delivered + stats.delivered;
            add(&stats);
        }
        let received = (0..medium.attachments.len()).map(|at| built.received(at));
        let received = received.fold(Count::default(), |sum, count| sum + count);
        balance_counts(
            || format!("medium {}", medium.name),
            &[("delivered by lanes", delivered)],
            &[("received at attachments", received)],
        )?;
    }
    Ok(())
}

/// Balances what has passed each node, with the server that it may have for packets.
fn nodes(
    scenario: &Scenario,
    world: &World<Host<'_>>,
    books: &Books,
    sums: &mut Sums,
) -> Result<(), Imbalance> {
    for (node, processor) in world.processors() {
        let name = &scenario.nodes[node.0 as usize].name;
        carrier(|| format!("node {name} {PROCESSING}"), &processor.stats())?;
    }
    for (node, own) in scenario.nodes.iter().zip(&books.nodes) {
        sums.dropped = sums.dropped + own.dropped;
        sums.held = sums.held + own.held;
        let came = [("arrived", own.arrived), ("sent", own.sent)];
        let went = [
            ("handed on", own.handed_on),
            ("taken", own.taken),
            ("dropped", own.dropped),
            ("held", own.held),
        ];
        balance_counts(|| format!("node {}", node.name), &came, &went)?;
    }
    Ok(())
}

/// Balances the packets of each end of a flow, of each sender of cross traffic, and those that have come in by gates.
fn flows(scenario: &Scenario, books: &Books) -> Result<(), Imbalance> {
    let flows = &books.flows;
    let gates = ("gates".to_owned(), cross_number(scenario, scenario.cross_traffic.len()));
    for (index, (name, number)) in flow_numbers(scenario).iter().chain([&gates]).enumerate() {
        let what = match index.checked_sub(2 * scenario.flows.len()) {
            Some(_) => "",
            None if index % 2 == 0 => " from its client",
            None => " from its server",
        };
        let [sent, copied, taken, dropped, held] =
            [&flows.sent, &flows.copied, &flows.taken, &flows.dropped, &flows.held]
                .map(|ledger| ledger.of(*number));
        balance_counts(
            || format!("packets of {name}{what}"),
            &[("sent", sent), ("duplicated", copied)],
            &[("arrived", taken), ("dropped or lost", dropped), ("under way", held)],
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
