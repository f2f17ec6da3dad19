//! When each acknowledgement leaves, by hand.

use super::*;
use crate::middlebox::quic_flows::testing::{Bed, ms, refusal};
use units::parameter::Value;

const UP: bool = true;

fn bed(given: &[(&'static str, Value)]) -> Bed {
    Bed::new(&ROW, given)
}

#[test]
fn a_burst_leaves_with_the_given_spacing() {
    let mut bed = bed(&[("spacing", Value::Duration(ms(4)))]);
    bed.play(&[(0, UP, 30), (0, UP, 31), (0, UP, 32), (10, UP, 33), (30, UP, 34)]);
    assert_eq!(bed.uplink(), [(0, 30), (4, 31), (8, 32), (12, 33), (30, 34)]);
    assert_eq!((bed.count("delayed_packets"), bed.count("delayed_ms")), (3, 14));
    assert_eq!(bed.gauge("ack_delay_ms"), [0.0, 4.0, 8.0, 2.0, 0.0]);
}

#[test]
fn the_spacing_is_the_mean_of_the_window() {
    let mut bed = bed(&[("window", Value::Integer(2))]);
    // Times between arrivals of 10 and 0 ms: 5 ms from the third on. At the fourth they are 0 and 0, at the fifth 0 and 10.
    bed.play(&[(0, UP, 30), (10, UP, 31), (10, UP, 32), (20, UP, 33), (20, UP, 34)]);
    assert_eq!(bed.uplink(), [(0, 30), (10, 31), (15, 32), (20, 33), (25, 34)]);
}

#[test]
fn no_acknowledgement_waits_longer_than_the_limit_and_a_full_queue_sends_the_first() {
    let spacing = ("spacing", Value::Duration(ms(100)));
    let mut limited = bed(&[spacing.clone(), ("longest_delay", Value::Duration(ms(20)))]);
    limited.play(&[(0, UP, 30), (1, UP, 31), (2, UP, 32)]);
    assert_eq!(limited.uplink(), [(0, 30), (21, 31), (22, 32)]);
    let mut full = bed(&[spacing, ("queue", Value::Integer(1))]);
    full.play(&[(0, UP, 30), (1, UP, 31), (2, UP, 32)]);
    assert_eq!(full.uplink(), [(0, 30), (2, 31), (22, 32)]);
}

#[test]
fn data_does_not_wait_and_does_not_overtake() {
    let mut bed = bed(&[("spacing", Value::Duration(ms(4)))]);
    bed.play(&[(0, UP, 30), (1, UP, 31), (2, UP, 500), (3, false, 30)]);
    assert_eq!(bed.uplink(), [(0, 30), (2, 31), (2, 500)]);
    assert_eq!(bed.out.len(), 4);
}

#[test]
fn a_forgotten_flow_sends_what_waits() {
    let mut bed = bed(&[("spacing", Value::Duration(ms(10))), ("flows", Value::Integer(1))]);
    bed.play(&[(0, UP, 30), (1, UP, 31)]);
    let other = crate::middlebox::quic_flows::testing::between("10.0.0.2:7", "10.0.0.9:443", UP, 33);
    bed.accept(Time::ZERO + ms(2), UP, other);
    assert_eq!(bed.uplink(), [(0, 30), (2, 31), (2, 33)]);
}

#[test]
fn options_that_cannot_be_used_are_told() {
    let problem = refusal(&ROW, "spacing", Value::Duration(Duration::ZERO));
    assert_eq!(problem, "zero; expected a duration above zero");
}
