//! Connections that change their path: NAT rebinding and client migration (RFC 9000 section 9).

use crate::pair::roads::{Roads, address};
use crate::pair::{Pair, config, contexts, count, ms, null};
use quic::{Data, Event, MigrateError, Migration};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::rc::Rc;
use units::Duration;
use wire::{Direction, StreamId};

/// The client's address on another network, and its first address with another port.
const ELSEWHERE: &str = "192.168.7.7:40000";
const OTHER_PORT: &str = "10.0.0.1:50001";

/// An established pair on a link whose addresses can be changed.
fn pair_on_roads(seed: u64) -> (Pair, Rc<RefCell<Roads>>) {
    let (roads, link) = Roads::new(seed);
    let mut pair = Pair::seeded(seed, null(), config(&[]), config(&[]), link);
    pair.establish();
    (pair, roads)
}

/// Sends this many bytes from the server on a stream.
fn download(pair: &mut Pair, bytes: u64) -> StreamId {
    let now = pair.now;
    let stream = pair.server().open(Direction::Unidirectional).unwrap();
    pair.server().write(now, stream, Data::Virtual(bytes)).unwrap();
    pair.server().finish(now, stream).unwrap();
    pair.drain();
    stream
}

/// Reads a stream of the server to its end and checks every byte.
fn read_all(pair: &mut Pair, stream: StreamId, bytes: u64, limit: Duration) {
    let mut offset = 0;
    let mut finished = false;
    let mut buffer = vec![0; 65_536];
    let done = pair.run_until(limit, |pair| {
        while let Ok(read) = pair.client().read(stream, &mut buffer) {
            for byte in &buffer[..read.bytes as usize] {
                assert_eq!(*byte, wire::pattern::byte(offset));
                offset += 1;
            }
            finished |= read.finished;
            if read.bytes == 0 || finished {
                break;
            }
        }
        finished
    });
    assert!(done, "{offset} of {bytes} bytes: {:?}", pair.client().stats());
    assert_eq!(offset, bytes);
}

/// RFC 9000-9.5-1, 9000-9.5-2: each id is used only between one pair of addresses.
fn assert_unlinkable(pair: &Pair) {
    let mut ways = BTreeMap::<_, BTreeSet<(SocketAddr, SocketAddr)>>::new();
    for packet in pair.packets() {
        ways.entry(packet.header.destination.as_bytes().to_vec())
            .or_default()
            .insert((packet.from, packet.to));
    }
    assert!(ways.values().all(|ways| ways.len() == 1), "{ways:?}");
}

fn migrated(events: &[Event]) -> Vec<(SocketAddr, SocketAddr)> {
    let moves = events.iter().filter_map(|event| match event {
        Event::Migrated { local, remote } => Some((*local, *remote)),
        _ => None,
    });
    moves.collect()
}

/// RFC 9000-9.3-1, 9000-9.4-2, 9000-9-4: a NAT that changes the port only causes a validation.
#[test]
fn another_port_keeps_window_and_rtt() {
    let (mut pair, roads) = pair_on_roads(1);
    let stream = download(&mut pair, 3_000_000);
    pair.run_for(ms(100));
    let (before, rtt) = (pair.server().flight().0, pair.server().rtt().smoothed());
    assert!(before > 100_000);
    roads.borrow_mut().outside = Some(address(OTHER_PORT));
    pair.run_until(ms(100), |pair| pair.server().remote() == address(OTHER_PORT));
    assert!(!pair.server().is_path_validated());
    assert!(pair.server().flight().0 >= before && pair.server().rtt().smoothed() <= rtt * 2);
    // Only an acknowledgement arrived from there: small datagrams validate the address, others the size.
    pair.run_for(ms(45));
    assert!(pair.server().is_path_validated());
    read_all(&mut pair, stream, 3_000_000, ms(2000));
    let stats = pair.server().stats();
    assert_eq!((stats.path_changes, stats.path_validations_failed), (1, 0));
    assert_eq!(migrated(&pair.server_events), [(address(crate::pair::SERVER), address(OTHER_PORT))]);
    assert!(migrated(&pair.client_events).is_empty(), "the client knows nothing of it");
}

/// RFC 9000-9.4-1, 9000-9.4-2: on another network window and RTT are reset, and packets of the old path do not count.
#[test]
fn another_address_resets_window_and_rtt() {
    let (mut pair, roads) = pair_on_roads(2);
    let initial = pair.server().flight().0;
    let stream = download(&mut pair, 6_000_000);
    pair.run_for(ms(150));
    let before = pair.server().flight();
    assert!(before.0 > 10 * initial && before.1 > 5 * initial);
    {
        let mut roads = roads.borrow_mut();
        (roads.outside, roads.delay_ms) = (Some(address(ELSEWHERE)), 50);
    }
    assert!(pair.run_until(ms(200), |pair| pair.server().remote() == address(ELSEWHERE)));
    let (window, in_flight) = pair.server().flight();
    assert_eq!(window, initial);
    assert!(in_flight <= 3 * 1472, "what is in flight elsewhere does not count: {in_flight}");
    assert_eq!(pair.server().rtt().latest(), Duration::ZERO);
    // During the first round trip on the new path, acknowledgements do not change the window.
    let moved = pair.now;
    pair.run_until(ms(90), |pair| pair.server().flight().0 != initial);
    assert!(pair.now.since(moved) >= ms(90), "{}", pair.now.since(moved));
    read_all(&mut pair, stream, 6_000_000, ms(20_000));
    assert!(pair.server().rtt().min() >= ms(100), "no sample of the old path: {}", pair.server().rtt().min());
    assert_eq!(pair.server().stats().path_changes, 1);
}

/// RFC 9000-8.2.1-2, 9000-8.2.2-1, 9000-8.2.2-5, 9000-9.3.3-1: both paths are validated, in datagrams of 1200 bytes.
#[test]
fn a_rebinding_validates_both_paths_in_full_datagrams() {
    let (mut pair, roads) = pair_on_roads(3);
    let mark = pair.mark();
    roads.borrow_mut().outside = Some(address(ELSEWHERE));
    // Enough for the anti-amplification limit.
    pair.upload(1000);
    pair.run_for(ms(200));
    let asked = pair.sent_from(mark, false).into_iter().filter(|packet| packet.has("PATH_CHALLENGE"));
    let asked: Vec<_> = asked.collect();
    assert!(asked.iter().all(|packet| packet.datagram_length == 1200));
    let to: BTreeSet<_> = asked.iter().map(|packet| packet.to).collect();
    assert_eq!(to, BTreeSet::from([address(ELSEWHERE), address(crate::pair::CLIENT)]));
    let mut data: Vec<_> = asked.iter().flat_map(|packet| packet.frames.clone()).collect();
    data.retain(|frame| frame.name() == "PATH_CHALLENGE");
    let count = data.len();
    data.dedup();
    assert_eq!(data.len(), count, "fresh data each time");
    let answers = pair.sent_from(mark, true).into_iter().filter(|packet| packet.has("PATH_RESPONSE"));
    assert!(answers.map(|packet| packet.datagram_length).eq([1200]), "the NAT lets one through");
    assert!(pair.server().is_path_validated());
}

/// RFC 9000-9.5-1, 9000-9.5-2: clients migrate in every way under loss, and all data arrives.
#[test]
fn clients_move_while_data_flows() {
    for seed in 0..24 {
        for how in [Migration::Probe, Migration::AtOnce, Migration::Rebound] {
            let (roads, link) = Roads::new(seed);
            let context = contexts()[seed as usize % 2].clone();
            let mut pair = Pair::seeded(seed, context, config(&[]), config(&[]), link);
            pair.establish();
            let stream = download(&mut pair, 1_000_000);
            pair.run_for(ms(50));
            roads.borrow_mut().loss = [0.0, 0.02, 0.1][seed as usize % 3];
            let now = pair.now;
            pair.client().migrate(now, address(ELSEWHERE), how).unwrap();
            if how == Migration::Rebound {
                let mut roads = roads.borrow_mut();
                roads.lost_to.push(address(crate::pair::CLIENT));
                roads.lost_from.push(address(crate::pair::CLIENT));
            }
            read_all(&mut pair, stream, 1_000_000, Duration::from_secs(120));
            roads.borrow_mut().loss = 0.0;
            pair.run_for(Duration::from_secs(4));
            if !pair.client_events.contains(&Event::PathFailed {
                local: address(ELSEWHERE),
                remote: address(crate::pair::SERVER),
            }) {
                assert_eq!(pair.client().local(), address(ELSEWHERE), "{seed} {how:?}");
                assert_eq!(pair.server().remote(), address(ELSEWHERE), "{seed} {how:?}");
                assert!(pair.client().is_path_validated() && pair.server().is_path_validated());
            }
            if seed % 2 == 0 {
                assert_unlinkable(&pair);
            }
        }
    }
}

/// RFC 9000-9-2, 9000-9-1, 9000-18.2-2: not before the handshake is confirmed, not if the server has disabled it, not
/// with a used id.
#[test]
fn a_client_migrates_only_if_permitted() {
    let (_, link) = Roads::new(1);
    let disabled = config(&[("disable_active_migration", units::parameter::Value::Flag(true))]);
    let mut pair = Pair::new(null(), config(&[]), disabled, link);
    let now = pair.now;
    let moved = pair.client().migrate(now, address(ELSEWHERE), Migration::AtOnce);
    assert_eq!(moved, Err(MigrateError::NotConfirmed));
    pair.establish();
    for how in [Migration::AtOnce, Migration::Probe, Migration::Rebound] {
        let now = pair.now;
        assert_eq!(pair.client().migrate(now, address(ELSEWHERE), how), Err(MigrateError::Disabled));
        assert_eq!(pair.server().migrate(now, address(ELSEWHERE), how), Err(MigrateError::NotAClient));
    }
    let mark = pair.mark();
    pair.upload(1000);
    pair.run_for(ms(100));
    assert!(pair.sent_from(mark, true).iter().all(|packet| packet.from == address(crate::pair::CLIENT)));

    let (mut pair, _) = pair_on_roads(1);
    let now = pair.now;
    let here = address(crate::pair::CLIENT);
    assert_eq!(pair.client().migrate(now, here, Migration::AtOnce), Err(MigrateError::SameAddress));
    pair.client().migrate(now, address(ELSEWHERE), Migration::AtOnce).unwrap();
    let again = pair.client().migrate(now, here, Migration::AtOnce);
    assert_eq!(again, Err(MigrateError::NoConnectionId), "both ids are in use");
    // The old id is retired, and the server issues another.
    pair.run_for(ms(300));
    let now = pair.now;
    pair.client().migrate(now, here, Migration::AtOnce).unwrap();
    pair.run_for(ms(300));
    assert_eq!((pair.client().local(), pair.server().remote()), (here, here));
    assert_unlinkable_but_for_returns(&pair);
    let now = pair.now;
    pair.client().close(now, 0, "");
    assert_eq!(pair.client().migrate(now, address(ELSEWHERE), Migration::AtOnce), Err(MigrateError::Closed));
}

/// A client that returns to an address uses another id there.
fn assert_unlinkable_but_for_returns(pair: &Pair) {
    assert_unlinkable(pair);
    let ids: BTreeSet<_> =
        pair.sent_from(0, true).iter().map(|packet| packet.header.destination.as_bytes().to_vec()).collect();
    assert!(ids.len() >= 3, "a fresh id for each move");
}

/// A connection that migrates all the time survives, and its ids are replaced.
#[test]
fn many_successive_migrations() {
    for ids in [2, 4, 8] {
        let (roads, link) = Roads::new(5);
        let options = config(&[("active_connection_id_limit", count(ids))]);
        let mut pair = Pair::new(null(), options.clone(), options, link);
        pair.establish();
        for n in 0..40u16 {
            let local = SocketAddr::from(([10, 1, 0, n as u8], 1000 + n));
            let now = pair.now;
            let how = [Migration::AtOnce, Migration::Probe, Migration::Rebound][usize::from(n) % 3];
            pair.client().migrate(now, local, how).unwrap_or_else(|error| panic!("{n}: {error}"));
            let stream = download(&mut pair, 100_000);
            read_all(&mut pair, stream, 100_000, ms(5000));
            pair.run_for(ms(200));
            assert_eq!((pair.client().local(), pair.server().remote()), (local, local), "{n}");
        }
        assert_unlinkable(&pair);
        assert_eq!(pair.client().stats().path_changes, 40);
        assert_eq!(pair.server().stats().path_changes, 40);
        assert_eq!(pair.client().stats().path_validations_failed, 0);
        assert!(roads.borrow().came_from(SocketAddr::from(([10, 1, 0, 39], 1039))) > 0);
    }
}

/// A NAT that rebinds repeatedly, faster than paths can be validated.
#[test]
fn a_nat_that_rebinds_repeatedly() {
    let (mut pair, roads) = pair_on_roads(6);
    let stream = download(&mut pair, 2_000_000);
    for n in 0..50 {
        roads.borrow_mut().outside = Some(SocketAddr::from(([10, 9, n, 1], 2000)));
        pair.run_for(ms(13));
    }
    read_all(&mut pair, stream, 2_000_000, ms(60_000));
    assert!(pair.server().stats().path_changes >= 20);
    pair.run_for(ms(4000));
    assert!(pair.server().is_path_validated());
}

/// RFC 9000-9.3.2-1: both endpoints leave a path without responses.
#[test]
fn a_migration_to_a_dead_address_is_reverted() {
    let (mut pair, roads) = pair_on_roads(7);
    roads.borrow_mut().lost_to.push(address(ELSEWHERE));
    let stream = download(&mut pair, 3_000_000);
    pair.run_for(ms(50));
    let now = pair.now;
    pair.client().migrate(now, address(ELSEWHERE), Migration::AtOnce).unwrap();
    let failed = |event: &Event| matches!(event, Event::PathFailed { .. });
    assert!(pair.run_until(ms(5000), |pair| pair.client_events.iter().any(failed)));
    assert!(pair.now.since(now) >= ms(2900), "three probe timeouts: {}", pair.now.since(now));
    read_all(&mut pair, stream, 3_000_000, ms(10_000));
    let here = address(crate::pair::CLIENT);
    assert_eq!((pair.client().local(), pair.server().remote()), (here, here));
    assert_eq!(pair.client().stats().path_validations_failed, 1);
    assert_eq!(migrated(&pair.client_events).last(), Some(&(here, address(crate::pair::SERVER))));
}

/// A client that probes a dead address remains on its path.
#[test]
fn a_probe_that_fails_changes_nothing() {
    let (mut pair, roads) = pair_on_roads(8);
    roads.borrow_mut().lost_to.push(address(ELSEWHERE));
    let now = pair.now;
    pair.client().migrate(now, address(ELSEWHERE), Migration::Probe).unwrap();
    let stream = download(&mut pair, 500_000);
    read_all(&mut pair, stream, 500_000, ms(1000));
    pair.run_for(ms(5000));
    let here = address(crate::pair::CLIENT);
    assert_eq!((pair.client().local(), pair.server().remote()), (here, here));
    assert_eq!(pair.client().stats().path_changes + pair.server().stats().path_changes, 0);
    assert!(
        pair.client_events
            .contains(&Event::PathFailed { local: address(ELSEWHERE), remote: address(crate::pair::SERVER) })
    );
    // Its id was retired and replaced: the next attempt works.
    roads.borrow_mut().lost_to.clear();
    let now = pair.now;
    pair.client().migrate(now, address(OTHER_PORT), Migration::Probe).unwrap();
    pair.run_for(ms(200));
    assert_eq!((pair.client().local(), pair.server().remote()), (address(OTHER_PORT), address(OTHER_PORT)));
    assert_unlinkable(&pair);
}

/// The whole endpoint has a new address: its connections migrate.
#[test]
fn an_endpoint_is_rebound() {
    let (mut pair, roads) = pair_on_roads(9);
    let stream = download(&mut pair, 2_000_000);
    pair.run_for(ms(60));
    let now = pair.now;
    pair.client.rebind(now, address(ELSEWHERE));
    roads.borrow_mut().lost_to.push(address(crate::pair::CLIENT));
    roads.borrow_mut().lost_from.push(address(crate::pair::CLIENT));
    read_all(&mut pair, stream, 2_000_000, ms(10_000));
    assert_eq!(pair.server().remote(), address(ELSEWHERE));
    assert_unlinkable(&pair);
}

/// RFC 9000 section 9: addresses do not change during the handshake; a server drops datagrams from other addresses.
#[test]
fn a_change_during_the_handshake_is_ignored() {
    let (roads, link) = Roads::new(10);
    let mut pair = Pair::new(null(), config(&[]), config(&[]), link);
    pair.drain();
    pair.run_for(ms(15));
    roads.borrow_mut().outside = Some(address(ELSEWHERE));
    pair.run_for(ms(200));
    assert!(!pair.server().is_established());
    assert_eq!(roads.borrow().sent_to(address(ELSEWHERE)), 0);
    roads.borrow_mut().outside = None;
    pair.run_for(ms(5000));
    assert!(pair.server().is_established() && pair.client().is_established());
    assert_eq!(pair.server().remote(), address(crate::pair::CLIENT));
}

/// An unspecified local address is not a change of path.
#[test]
fn an_unspecified_local_address_is_not_another_path() {
    let (mut pair, _) = pair_on_roads(11);
    let bytes = pair.forge(true, trace::PacketKind::OneRtt, &[1, 0, 0, 0]);
    let flying = crate::pair::DatagramInFlight {
        bytes,
        hole: None,
        damage: None,
        ecn: wire::Ecn::NotEct,
        from: address(crate::pair::CLIENT),
        to: address("0.0.0.0:443"),
    };
    pair.deliver(true, flying);
    pair.drain();
    assert_eq!(pair.server().stats().path_changes, 0);
    assert_eq!(pair.server().local(), address(crate::pair::SERVER));
    assert_eq!(pair.server().stats().packets_dropped, 0);
}

/// RFC 9000-9-3: a client that moves in spite of disable_active_migration, for example behind a NAT, is validated as
/// usual.
#[test]
fn a_migration_in_spite_of_disable_active_migration_is_validated() {
    let (roads, link) = Roads::new(3);
    let disabled = config(&[("disable_active_migration", units::parameter::Value::Flag(true))]);
    let mut pair = Pair::new(null(), config(&[]), disabled, link);
    pair.establish();
    roads.borrow_mut().outside = Some(address(OTHER_PORT));
    let mark = pair.mark();
    pair.upload(1_000);
    pair.run_for(ms(300));
    assert_eq!(pair.server().remote(), address(OTHER_PORT));
    assert!(pair.server().is_path_validated());
    let asked = pair.sent_from(mark, false).into_iter().filter(|packet| packet.has("PATH_CHALLENGE"));
    assert!(asked.into_iter().any(|packet| packet.to == address(OTHER_PORT)));
}
