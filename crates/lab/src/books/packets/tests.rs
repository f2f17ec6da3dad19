//! The books of a real run balance, and each account is off as soon as one of its counts is.

use super::*;
use crate::run::{Running, share};
use crate::{Options, Prepared};
use network::{Ledger, NodeBooks, Step};
use std::path::Path;
use trace::Fan;
use units::Time;

/// A link that loses and duplicates, with a short queue; a router that takes time; and a medium.
const TEXT: &str = r#"
duration = "300 ms"
[[node]]
name = "router"
processing = { packet = "1 ms", queue = "2 packets" }
[[node]]
name = "server"
[[node]]
name = "client"
[[link]]
name = "line"
from = "server"
to = "router"
both = { rate = "10 Mbit/s", delay = "5 ms", queue = "10 packets", loss = "2 %", duplicate = "2 %" }
[[medium]]
name = "air"
type = "shared"
station = "router"
terminals = ["client"]
rate = "20 Mbit/s"
[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "10 MB" }
[[cross_traffic]]
name = "noise"
from = "client"
to = "server"
source = { type = "constant", gap = "1 ms" }
"#;

/// Passes the scenario and its world near the end of its run.
fn with_world(then: impl FnOnce(&Scenario, &mut World<Host<'_>>)) {
    let scenario = Scenario::parse(TEXT, Path::new("books.toml"), &[]).unwrap();
    let prepared = Prepared::new(&scenario).unwrap();
    let shared = share(&scenario, &Options::default(), Fan::new()).unwrap();
    let mut running = Running::new(&scenario, 1, prepared.tls(), &shared).unwrap();
    let end = Time::ZERO + scenario.duration;
    while running.advance(end).unwrap() == Step::Budget {}
    then(&scenario, &mut running.world);
}

/// The account that is off after a change to the books.
fn off(change: impl FnOnce(&mut Books)) -> String {
    let mut account = String::new();
    with_world(|scenario, world| {
        let mut books = world.books();
        assert_eq!(balance(scenario, world, &books), Ok(()));
        change(&mut books);
        account = balance(scenario, world, &books).unwrap_err().account;
    });
    account
}

#[test]
fn every_count_of_a_run_is_in_the_books() {
    with_world(|scenario, world| {
        let books = world.books();
        let flows = &books.flows;
        let ledgers = [&flows.sent, &flows.copied, &flows.taken, &flows.dropped, &flows.held];
        assert!(ledgers.iter().all(|ledger| ledger.total().packets > 0), "{flows:?}");
        let sums = |of: fn(&NodeBooks) -> Count| books.nodes.iter().map(of).any(|count| count.packets > 0);
        assert!(sums(|node| node.arrived) && sums(|node| node.sent) && sums(|node| node.handed_on));
        assert!(sums(|node| node.taken) && sums(|node| node.dropped));
        assert_eq!(books.nodes.len(), scenario.nodes.len());
    });
}

#[test]
fn each_flow_has_an_account() {
    let names = ["packets of get from its client", "packets of get from its server", "packets of noise"];
    for (number, name) in (0..).zip(names) {
        assert_eq!(off(|books| books.flows.sent.add(number, 40)), name);
        assert_eq!(off(|books| books.flows.copied.add(number, 40)), name);
        assert_eq!(off(|books| books.flows.taken.add(number, 40)), name);
    }
    assert_eq!(off(|books| books.flows.dropped.add(1, 40)), "dropped or lost packets of all flows");
    assert_eq!(off(|books| books.flows.held.add(1, 40)), "packets under way of all flows");
    // What was dropped of one flow counts for another.
    let moved = off(|books| {
        let dropped = books.flows.dropped.of(0);
        let mut ledger = Ledger::default();
        (1..3).for_each(|flow| ledger.add_all(flow, books.flows.dropped.of(flow)));
        ledger.add_all(2, dropped);
        books.flows.dropped = ledger;
    });
    assert_eq!(moved, "packets of get from its client");
}

#[test]
fn each_node_has_an_account() {
    let fields: [fn(&mut NodeBooks) -> &mut Count; 5] = [
        |node| &mut node.arrived,
        |node| &mut node.sent,
        |node| &mut node.handed_on,
        |node| &mut node.taken,
        |node| &mut node.dropped,
    ];
    for field in fields {
        // The nodes are in the order of the file.
        assert_eq!(off(|books| field(&mut books.nodes[0]).bytes += 1), "node router");
    }
}

#[test]
fn each_carrier_has_an_account() {
    with_world(|_, world| {
        let link = &world.links()[0];
        let fields: [fn(&mut CarrierStats) -> &mut Count; 7] = [
            |stats| &mut stats.accepted,
            |stats| &mut stats.duplicated,
            |stats| &mut stats.delivered,
            |stats| &mut stats.dropped_mtu,
            |stats| &mut stats.dropped_queue,
            |stats| &mut stats.lost,
            |stats| &mut stats.inside,
        ];
        for field in fields {
            let mut stats = link.stats();
            assert_eq!(carrier(|| link.name().to_owned(), &stats), Ok(()));
            field(&mut stats).packets += 1;
            let imbalance = carrier(|| link.name().to_owned(), &stats).unwrap_err();
            assert_eq!(imbalance.account, "link line forward");
        }
    });
}
