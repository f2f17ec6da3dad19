//! Directions, sizes and slots by hand.

use super::testing::{between, packet};
use super::*;

fn classifier() -> Classifier {
    Classifier { wireless: vec![true, false], ports: vec![(443, 443), (4433, 4435)] }
}

#[test]
fn ports_and_sides_tell_the_direction() {
    let of = |port, packet: Packet| classifier().of(Port(port), &packet).map(|(direction, _)| direction);
    assert_eq!(of(0, packet(true, 30)), Some(Direction::Up));
    assert_eq!(of(1, packet(false, 30)), Some(Direction::Down));
    assert_eq!(of(1, packet(true, 30)), None, "to a server, from the side of the servers");
    for (server, known) in
        [(443, true), (444, false), (4432, false), (4433, true), (4435, true), (4436, false)]
    {
        let found = of(0, between("[fd00::1]:7", &format!("[fd00::9]:{server}"), true, 30));
        assert_eq!(found, known.then_some(Direction::Up), "port {server}");
    }
    let mut segment = packet(true, 30);
    segment.carry_tcp();
    assert_eq!(of(0, segment), None);
    assert_eq!(of(7, packet(true, 30)), None);
}

#[test]
fn what_is_little_larger_than_the_smallest_is_an_acknowledgement() {
    let mut sizes = AckOnly { fixed: None, smallest: [u32::MAX; 2], seen: 0 };
    let judged: Vec<bool> =
        [1200, 40, 44, 45, 20, 45, 41].into_iter().map(|size| sizes.judge(&packet(true, size))).collect();
    // 1200 is above 100; 20 is too short for QUIC and teaches nothing.
    assert_eq!(judged, [false, true, true, false, false, false, true]);
    // 40 is forgotten after the period in which it came and a second one.
    (0..58 + 63).for_each(|_| _ = sizes.judge(&packet(true, 48)));
    assert!(!sizes.judge(&packet(true, 48)));
    assert!(sizes.judge(&packet(true, 48)) && sizes.judge(&packet(true, 52)));
    assert!(!sizes.judge(&packet(true, 53)));
    let mut fixed = AckOnly { fixed: Some(60), ..sizes };
    assert_eq!([20, 21, 60, 61].map(|size| fixed.judge(&packet(true, size))), [false, true, true, false]);
}

#[test]
fn the_flow_that_was_silent_for_longest_is_forgotten() {
    let server = SocketAddr::from(([10, 0, 0, 9], 443));
    let ends = |port: u16| Ends { terminal: ([10, 0, 0, 1], port).into(), server };
    let mut flows: Flows<u16> = Flows { by_ends: BTreeMap::new(), slots: Vec::new(), most: 2 };
    let mut find = |at, port| flows.find(Time::from_nanos(at), ends(port), || port);
    assert_eq!([find(0, 1), find(1, 2), find(2, 1)], [Found::New(0), Found::New(1), Found::Known(0)]);
    // Flow 2 has the earliest last packet. Its slot comes with its state.
    assert_eq!([find(3, 3), find(4, 1), find(5, 2)], [Found::New(1), Found::Known(0), Found::New(1)]);
    assert_eq!((*flows.state(1), flows.slots.len(), flows.by_ends.len()), (2, 2, 2));
}
