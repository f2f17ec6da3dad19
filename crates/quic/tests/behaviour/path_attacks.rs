//! Attacks with addresses, on and off the path (RFC 9000 sections 9.3.1 to 9.3.3 and 21.5).

use crate::pair::roads::{Roads, address};
use crate::pair::{DatagramInFlight, Link, Pair, config, ms, null};
use quic::Data;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use wire::Direction;

const VICTIM: &str = "203.0.113.5:53";

/// A link with an attacker that, while `on`, sends copies of the client's datagrams from the victim's address, which
/// arrive before the originals.
fn spoofed(on: Rc<RefCell<bool>>, roads_link: Link) -> Link {
    let mut inner = roads_link;
    Box::new(move |to_server, number, flying| {
        if to_server && *on.borrow() {
            flying.from = address(VICTIM);
        }
        inner(to_server, number, flying)
    })
}

/// RFC 9000-8.1-3, 9000-9.3-2, 9000-9.3.2-1: a server sends at most three times the received bytes to a spoofed
/// address, and returns to the last validated path.
#[test]
fn a_victim_gets_at_most_three_times_the_bytes() {
    for duration in [20, 40, 400, 4000] {
        let (roads, link) = Roads::new(duration);
        roads.borrow_mut().lost_to.push(address(VICTIM));
        let on = Rc::new(RefCell::new(false));
        let mut pair = Pair::new(null(), config(&[]), config(&[]), spoofed(on.clone(), link));
        pair.establish();
        let now = pair.now;
        let stream = pair.server().open(Direction::Unidirectional).unwrap();
        pair.server().write(now, stream, Data::Virtual(8_000_000)).unwrap();
        pair.drain();
        pair.run_for(ms(60));
        *on.borrow_mut() = true;
        pair.run_for(ms(duration));
        *on.borrow_mut() = false;
        pair.run_for(ms(9000));
        let (sent, came) =
            (roads.borrow().sent_to(address(VICTIM)), roads.borrow().came_from(address(VICTIM)));
        assert!(came > 0 && sent > 0 && sent <= 3 * came, "{sent} for {came}");
        assert_eq!(pair.server().remote(), address(crate::pair::CLIENT), "{duration}");
        let reached = pair.run_until(ms(20_000), |pair| {
            let _ = pair.client().discard(stream);
            pair.client().stats().streams.received_bytes >= 8_000_000
        });
        assert!(reached, "the transfer goes on: {:?}", pair.client().stats());
    }
}

/// RFC 9000 section 9.3.3: only the packet with the highest number migrates a connection: repeated and late packets
/// do not.
#[test]
fn copies_from_other_addresses_do_not_migrate_a_connection() {
    let kept: Rc<RefCell<Vec<DatagramInFlight>>> = Rc::default();
    let copies = kept.clone();
    let (_, mut inner) = Roads::new(1);
    let link: Link = Box::new(move |to_server, number, flying| {
        if to_server {
            copies.borrow_mut().push(flying.clone());
        }
        let mut delays = inner(to_server, number, flying);
        // Some originals are lost: the copy arrives first, but late.
        if to_server && number > 4 && number % 3 == 0 {
            delays.clear();
        }
        delays
    });
    let mut pair = Pair::new(null(), config(&[]), config(&[]), link);
    pair.establish();
    pair.upload(300_000);
    pair.run_for(ms(500));
    let (changes, mark) = (pair.server().stats().path_changes, pair.mark());
    assert_eq!(changes, 0);
    let copies = kept.borrow().clone();
    let newest = copies.len() - 3;
    for mut copy in copies.into_iter().take(newest) {
        copy.from = address(VICTIM);
        pair.deliver(true, copy);
        pair.drain();
    }
    assert_eq!(pair.server().stats().path_changes, 0);
    assert_eq!(pair.server().remote(), address(crate::pair::CLIENT));
    let towards: Vec<_> = pair.wire[mark..].iter().filter(|seen| seen.to == address(VICTIM)).collect();
    let sent: usize = towards.iter().map(|seen| seen.length).sum();
    assert!(sent <= 3 * 300_000);
}

/// RFC 9000-9.3.3-1: if an attacker's copies win the race, the server validates both the new path and the old one,
/// and the client's response there brings the connection back.
#[test]
fn an_attacker_that_forwards_packets_cannot_keep_a_connection() {
    let (roads, mut inner) = Roads::new(3);
    roads.borrow_mut().lost_to.push(address(VICTIM));
    // One datagram of the client arrives first as a copy from another address.
    let copied = Rc::new(RefCell::new(None::<u64>));
    let which = copied.clone();
    let link: Link = Box::new(move |to_server, number, flying| {
        if to_server && which.borrow().is_some_and(|n| n == number) {
            flying.from = address(VICTIM);
        }
        inner(to_server, number, flying)
    });
    let mut pair = Pair::new(null(), config(&[]), config(&[]), link);
    pair.establish();
    let next = pair.wire.iter().filter(|seen| seen.to_server).count() as u64;
    *copied.borrow_mut() = Some(next);
    pair.upload(100);
    assert!(pair.run_until(ms(15), |pair| pair.server().remote() == address(VICTIM)));
    // The server challenges the old path; the client's response has the highest number and is not a probing packet.
    pair.run_for(ms(25));
    assert_eq!(pair.server().remote(), address(crate::pair::CLIENT));
    assert!(pair.server().is_path_validated(), "it was before");
    assert_eq!(pair.server().stats().path_changes, 2);
}

/// RFC 9000-9.4-2: the estimates of the old path are restored after an attack.
#[test]
fn an_attack_does_not_cost_the_window() {
    let (roads, link) = Roads::new(4);
    roads.borrow_mut().lost_to.push(address(VICTIM));
    let on = Rc::new(RefCell::new(false));
    let mut pair = Pair::new(null(), config(&[]), config(&[]), spoofed(on.clone(), link));
    pair.establish();
    let now = pair.now;
    let stream = pair.server().open(Direction::Unidirectional).unwrap();
    pair.server().write(now, stream, Data::Virtual(20_000_000)).unwrap();
    pair.drain();
    pair.run_for(ms(100));
    let before = pair.server().flight().0;
    *on.borrow_mut() = true;
    pair.run_until(ms(100), |pair| pair.server().remote() == address(VICTIM));
    *on.borrow_mut() = false;
    let attacked = pair.server().flight().0;
    assert!(attacked < before / 2, "{attacked} of {before}");
    pair.run_until(ms(100), |pair| pair.server().remote() != address(VICTIM));
    let after = pair.server().flight();
    assert!(after.0 >= before, "{after:?} of {before}");
    assert!(after.1 > 0, "what was in flight there counts again");
}

/// RFC 9000-10.2.1-2: a closing server does not answer unknown addresses.
#[test]
fn while_closing_other_addresses_are_not_answered() {
    let mut pair = Pair::established();
    let now = pair.now;
    pair.server().close(now, 0, "");
    pair.drain();
    let mark = pair.mark();
    for n in 1..64u16 {
        let bytes = pair.forge(true, trace::PacketKind::OneRtt, &[1, 0, 0, 0]);
        let from = SocketAddr::from(([203, 0, 113, 7], n));
        let to = address(crate::pair::SERVER);
        let flying = DatagramInFlight { bytes, hole: None, damage: None, ecn: wire::Ecn::NotEct, from, to };
        pair.deliver(true, flying);
        pair.drain();
    }
    assert!(pair.wire[mark..].iter().all(|seen| seen.to_server), "nothing is sent");
}
