//! A server's preferred address (RFC 9000 section 9.6).

use crate::pair::roads::{Roads, address};
use crate::pair::{DatagramInFlight, Pair, config, ms, null};
use quic::{Config, Event};
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use units::Duration;
use units::parameter::Value;

const PREFERRED: &str = "10.0.0.3:4433";
const PREFERRED_V6: &str = "[2001:db8::3]:4433";

fn pair_with(client: Config) -> (Pair, Rc<RefCell<Roads>>) {
    let (roads, link) = Roads::new(1);
    let mut pair = Pair::new(null(), client, config(&[]), link);
    let SocketAddr::V4(v4) = address(PREFERRED) else { panic!() };
    let SocketAddr::V6(v6) = address(PREFERRED_V6) else { panic!() };
    pair.server.set_preferred_address(Some(v4), Some(v6));
    (pair, roads)
}

/// RFC 9000-9.6.2-1, 9000-9.6.2-2, 9000-9.6.2-3, 9000-9.5-2: the client validates the path, then migrates; the server
/// validates it, too, and migrates after the client and its own validation.
#[test]
fn a_client_moves_to_the_preferred_address() {
    let (mut pair, roads) = pair_with(config(&[]));
    pair.run_for(ms(500));
    assert_eq!(pair.client().remote(), address(PREFERRED));
    assert_eq!(pair.server().local(), address(PREFERRED));
    assert!(pair.client().is_path_validated() && pair.server().is_path_validated());
    let moves = |event: &&Event| matches!(event, Event::Migrated { .. });
    assert_eq!(pair.client_events.iter().filter(moves).count(), 1);
    assert_eq!(pair.server_events.iter().filter(moves).count(), 1);
    let packets = pair.packets();
    let first = |to_server: bool, probes: bool| {
        packets.iter().find(|p| {
            let there = if to_server { p.to } else { p.from } == address(PREFERRED);
            let probing =
                p.names().iter().all(|n| ["PATH_CHALLENGE", "PATH_RESPONSE", "PADDING"].contains(n));
            p.to_server == to_server && there && probing == probes
        })
    };
    let (client_asks, client_moves) = (first(true, true).unwrap(), first(true, false).unwrap());
    let (server_asks, server_moves) = (first(false, true).unwrap(), first(false, false).unwrap());
    assert!(client_asks.at < client_moves.at && server_asks.at < server_moves.at);
    assert!(client_moves.at < server_moves.at);
    assert_eq!(client_asks.datagram_length, 1200);
    // The id with number 1, from the transport parameter, not from a frame.
    let preferred = pair.client().peer_parameters().unwrap().preferred_address.unwrap();
    assert_eq!(client_asks.header.destination, preferred.id);
    let to_old = packets.iter().filter(|p| p.to_server && p.to == address(crate::pair::SERVER));
    assert!(to_old.into_iter().all(|p| p.header.destination != preferred.id));
    // Data is sent there.
    let mark = pair.mark();
    let stream = pair.upload(100_000);
    pair.run_for(ms(500));
    assert_eq!(pair.server().discard(stream).unwrap().bytes, 100_000);
    assert!(pair.sent_from(mark, true).iter().all(|p| p.to == address(PREFERRED)));
    assert!(pair.sent_from(mark, false).iter().all(|p| p.from == address(PREFERRED)));
    assert!(roads.borrow().sent_to(address(crate::pair::CLIENT)) > 0);
}

/// RFC 9000-9.6.1-1: if it cannot be reached, the original address remains in use.
#[test]
fn a_dead_preferred_address_is_not_used() {
    let (mut pair, roads) = pair_with(config(&[]));
    roads.borrow_mut().lost_to.push(address(PREFERRED));
    pair.run_for(Duration::from_secs(5));
    assert_eq!(pair.client().remote(), address(crate::pair::SERVER));
    assert_eq!(pair.server().local(), address(crate::pair::SERVER));
    assert!(pair.client_events.iter().any(|event| matches!(event, Event::PathFailed { .. })));
    let stream = pair.upload(100_000);
    pair.run_for(ms(500));
    assert_eq!(pair.server().discard(stream).unwrap().bytes, 100_000);
}

/// RFC 9000-9.6.2-2: a server that cannot reach the client from there continues with its original address.
#[test]
fn a_server_without_validation_from_there_does_not_migrate() {
    let (mut pair, roads) = pair_with(config(&[]));
    roads.borrow_mut().lost_from.push(address(PREFERRED));
    pair.run_for(Duration::from_secs(5));
    assert_eq!(pair.server().local(), address(crate::pair::SERVER));
    let mark = pair.mark();
    pair.upload(10_000);
    pair.run_for(ms(500));
    assert!(pair.sent_from(mark, false).iter().all(|p| p.from == address(crate::pair::SERVER)));
}

#[test]
fn a_client_without_the_option_does_not_migrate() {
    let (mut pair, _) = pair_with(config(&[("use_preferred_address", Value::Flag(false))]));
    pair.run_for(Duration::from_secs(5));
    assert_eq!(pair.client().remote(), address(crate::pair::SERVER));
    assert_eq!(pair.client().stats().path_challenges_sent, 0);
}

/// Only the address of the client's own family is tried.
#[test]
fn an_address_of_the_other_family_is_not_tried() {
    let (_, link) = Roads::new(1);
    let mut pair = Pair::new(null(), config(&[]), config(&[]), link);
    let SocketAddr::V6(v6) = address(PREFERRED_V6) else { panic!() };
    pair.server.set_preferred_address(None, Some(v6));
    pair.run_for(ms(500));
    assert!(pair.client().is_established());
    assert_eq!(pair.client().stats().path_challenges_sent, 0);
    assert_eq!(pair.client().peer_parameters().unwrap().preferred_address.unwrap().ipv4, None);
}

/// RFC 9000 section 9.6.2: after the migration, packets to the old address are late ones: they are processed, but do
/// not migrate the connection.
#[test]
fn late_packets_to_the_old_address_do_not_migrate_a_server_back() {
    let (mut pair, _) = pair_with(config(&[]));
    pair.run_for(ms(500));
    for _ in 0..3 {
        let bytes = pair.forge(true, trace::PacketKind::OneRtt, &[1, 0, 0, 0]);
        let (from, to) = crate::pair::ends(true);
        let flying = DatagramInFlight { bytes, hole: None, damage: None, ecn: wire::Ecn::NotEct, from, to };
        let received = pair.server().stats().packets_received;
        pair.deliver(true, flying);
        pair.drain();
        assert_eq!(pair.server().stats().packets_received, received + 1);
    }
    pair.run_for(ms(100));
    assert_eq!(pair.server().local(), address(PREFERRED));
    assert_eq!(pair.server().stats().path_changes, 1);
}

/// RFC 9000-9.6.3-2, 9000-9.3-1: a NAT that rebinds while the connection is at the preferred address.
#[test]
fn a_rebinding_at_the_preferred_address() {
    let (mut pair, roads) = pair_with(config(&[]));
    pair.run_for(ms(500));
    roads.borrow_mut().outside = Some(address("192.168.7.7:40000"));
    let stream = pair.upload(50_000);
    pair.run_for(ms(1000));
    assert_eq!(pair.server().discard(stream).unwrap().bytes, 50_000);
    assert_eq!(pair.server().remote(), address("192.168.7.7:40000"));
    assert_eq!(pair.server().local(), address(PREFERRED));
    assert!(pair.server().is_path_validated());
}

/// RFC 9000-9.6.2-4: the next connection starts at the original address again.
#[test]
fn a_preferred_address_applies_only_to_its_connection() {
    let (mut pair, _) = pair_with(config(&[]));
    pair.run_for(ms(500));
    assert_eq!(pair.client().remote(), address(PREFERRED));
    pair.hang_up();
    let mark = pair.open(crate::pair::opening(config(&[])));
    pair.run_for(ms(15));
    let sent = pair.sent_from(mark, true);
    assert!(!sent.is_empty() && sent.iter().all(|packet| packet.to == address(crate::pair::SERVER)));
}
