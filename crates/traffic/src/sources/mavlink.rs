//! A flow like that of MAVLink from a controller to a drone: several kinds of messages, each with its own rate.
//!
//! The length of a message is that of a MAVLink 2 frame without signature: 12 bytes plus the payload in the message's
//! definition (common.xml) without extension fields. The rates are those that PX4 documents or sends by default. The
//! longest message, ODOMETRY with 242 bytes, carries an external position estimate (motion capture, vision).

use super::{Profile, Source};
use random::Generator;
use units::Duration;
use units::parameter::Row;

pub(super) const ROW: Row<Profile> = Row {
    name: "mavlink",
    about: "control of a drone: six kinds of MAVLink 2 message of 21 to 242 bytes, 86.5 messages and 9.5 kB each second",
    parameters: &[],
    build: Profile {
        build: |_, stream| Box::new(Mavlink::new(stream)),
        check: |_| Ok(()),
        sizes: |_| sizes(),
    },
};

/// The frequency of a kind of message.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Pace {
    /// At this rate per second, each up to a twentieth of its interval early or late, as with timers of a busy
    /// computer.
    Every(f64),
    /// At random times, with this mean rate per second.
    Random(f64),
}

/// The overhead of a MAVLink 2 frame: magic, length, two flags, sequence, system, component, three bytes of message id,
/// two of checksum.
const OVERHEAD: u64 = 12;

/// The name, the payload in bytes, and the rate.
const KINDS: [(&str, u64, Pace); 6] = [
    // The heartbeat protocol: "typically 1 Hz".
    ("HEARTBEAT", 9, Pace::Every(1.0)),
    // PX4's default in its mode for onboard computers, as for ODOMETRY.
    ("TIMESYNC", 16, Pace::Every(10.0)),
    // A joystick, as sent by ground stations.
    ("MANUAL_CONTROL", 11, Pace::Every(25.0)),
    // Set-points of an external controller; PX4 requires more than 2 per second and recommends 20 or more for smooth
    // flight.
    ("SET_POSITION_TARGET_LOCAL_NED", 53, Pace::Every(20.0)),
    ("ODOMETRY", 230, Pace::Every(30.0)),
    // Manual commands: one every two seconds.
    ("COMMAND_LONG", 33, Pace::Random(0.5)),
];

/// The minimum and the maximum size in bytes.
fn sizes() -> (u64, u64) {
    let sizes = KINDS.map(|(_, payload, _)| payload + OVERHEAD);
    sizes.iter().fold((u64::MAX, 0), |(least, most), size| (least.min(*size), most.max(*size)))
}

/// Times in nanoseconds from the start.
struct Mavlink {
    /// The next time of each kind; for periodic kinds without the jitter.
    due: [f64; KINDS.len()],
    next: [u64; KINDS.len()],
    now: u64,
    stream: Generator,
}

impl Mavlink {
    fn new(stream: Generator) -> Mavlink {
        let mut source = Mavlink { due: [0.0; KINDS.len()], next: [0; KINDS.len()], now: 0, stream };
        for (kind, (_, _, pace)) in KINDS.into_iter().enumerate() {
            // Timers start at any point of their interval.
            source.due[kind] = match pace {
                Pace::Every(rate) => (source.stream.unit() - 1.0) * 1e9 / rate,
                Pace::Random(_) => 0.0,
            };
            source.draw(kind);
        }
        source
    }

    fn draw(&mut self, kind: usize) {
        let early = match KINDS[kind].2 {
            Pace::Every(rate) => {
                self.due[kind] += 1e9 / rate;
                (self.stream.unit() - 0.5) * 0.1 * 1e9 / rate
            }
            Pace::Random(rate) => {
                self.due[kind] += self.stream.exponential() * 1e9 / rate;
                0.0
            }
        };
        self.next[kind] = (self.due[kind] + early).max(0.0).round() as u64;
    }
}

impl Source for Mavlink {
    fn next(&mut self) -> Option<(Duration, u64)> {
        let kind = (0..KINDS.len()).min_by_key(|kind| self.next[*kind])?;
        let at = self.next[kind].max(self.now);
        let gap = at - self.now;
        self.now = at;
        self.draw(kind);
        Some((Duration::from_nanos(gap), KINDS[kind].1 + OVERHEAD))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn each_kind_has_its_rate_and_length() {
        let mut source = Mavlink::new(Generator::new(5, "drone"));
        let (mut counts, mut at): (BTreeMap<u64, u64>, _) = (BTreeMap::new(), Duration::ZERO);
        loop {
            let (gap, size) = source.next().unwrap();
            at += gap;
            if at > Duration::from_secs(1000) {
                break;
            }
            *counts.entry(size).or_default() += 1;
        }
        let expected = [(21, 1.0), (23, 25.0), (28, 10.0), (45, 0.5), (65, 20.0), (242, 30.0)];
        assert_eq!(counts.keys().copied().collect::<Vec<_>>(), expected.map(|(size, _)| size));
        for (size, rate) in expected {
            let found = counts[&size] as f64 / 1000.0;
            // The random kind has a standard deviation of 4.5 % over 500.
            let bound = if rate == 0.5 { 0.1 } else { 0.001 };
            assert!((found - rate).abs() <= bound, "{size} B: {found} a second");
        }
        let bytes: f64 = expected.iter().map(|(size, rate)| *size as f64 * rate).sum();
        assert_eq!((bytes, expected.iter().map(|(_, rate)| rate).sum::<f64>()), (9458.5, 86.5));
        assert_eq!(sizes(), (21, 242));
    }

    #[test]
    fn equal_seeds_give_equal_flows_and_others_do_not() {
        let first = |seed| {
            let mut source = Mavlink::new(Generator::new(seed, "drone"));
            (0..100).map(|_| source.next().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}
