//! The laws of every controller under arbitrary events: the fuzzing entry point on a stable toolchain.

use congestion::CONTROLLERS;
use congestion::fuzz::{Sender, controllers};
use random::Generator;
use units::Duration;

/// A number of random events.
fn events(seed: u64, count: usize) -> Vec<u8> {
    let mut events = vec![0; count];
    Generator::new(seed, "events").fill(&mut events);
    events
}

/// Every controller, any order of events: no window of zero, no overflow, no pacing stall, no panic, and reproducible
/// results.
#[test]
fn every_controller_keeps_the_laws_in_any_order_of_events() {
    for (row, known) in CONTROLLERS.iter().enumerate() {
        for seed in 0..15u64 {
            let data = [&[row as u8][..], &seed.to_le_bytes(), &events(seed, 1500)].concat();
            let heard = controllers(&data);
            if seed == 0 {
                assert_eq!(controllers(&data), heard, "{}", known.name);
            }
        }
    }
}

/// Whatever happened before, a path that delivers everything is used again.
#[test]
fn every_controller_goes_on_after_the_worst() {
    for (row, known) in CONTROLLERS.iter().enumerate() {
        for seed in 100..108 {
            let mut sender = Sender::new(row, seed);
            // A second at least: pacing by an RTT of minutes takes minutes to adapt.
            sender.pause_at_most(30);
            for event in events(seed, 300) {
                sender.step(event);
            }
            let delivered = sender.carry_on(Duration::from_secs(60));
            assert!(
                delivered >= 100 * sender.datagram(),
                "{} with seed {seed}: {delivered} bytes",
                known.name
            );
        }
    }
}

/// A controller that does not declare draws ignores the seed, and one that does depends on it for some input.
#[test]
fn what_follows_from_the_seed_is_said() {
    for (row, known) in CONTROLLERS.iter().enumerate() {
        let with = |seed, controller_seed| {
            let mut sender = Sender::with_controller_seed(row, seed, controller_seed);
            sender.pause_at_most(30);
            for event in events(seed, 300) {
                sender.step(event);
            }
            sender.carry_on(Duration::from_secs(20));
            sender.check();
            (sender.draws(), sender.heard())
        };
        let differs = (0..8).any(|seed| with(seed, 1).1 != with(seed, 2).1);
        assert_eq!(differs, with(0, 1).0, "{}", known.name);
    }
}
