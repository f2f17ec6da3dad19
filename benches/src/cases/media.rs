//! Media with a link layer, beside a link: what a packet costs on saturated ones, and with more and more terminals that
//! send little.

use crate::case::Case;
use crate::clock;
use crate::star::{Air, QUEUE, Star};
use units::Duration;

/// Packets that are sent in a measurement, and before it.
const PACKETS: u64 = 100_000;
const WARM_UP: u64 = 10_000;

/// The name, what is between the station and its terminals, how many there are, and the time between two packets in ns.
type Row = (&'static str, Air, u32, u64);

/// The cases; the last part of a name is the direction. Of saturated media 1 % more is offered than fits.
const SATURATED: &[Row] = &[
    ("medium-link-up", Air::Link, 1, 162_800),
    ("medium-lte-1-down", Air::Lte, 1, 175_700),
    ("medium-lte-1-up", Air::Lte, 1, 175_700),
    ("medium-lte-10-down", Air::Lte, 10, 175_700),
    ("medium-lte-10-up", Air::Lte, 10, 175_700),
    ("medium-lte-100-down", Air::Lte, 100, 175_700),
    ("medium-lte-100-up", Air::Lte, 100, 175_700),
    ("medium-wlan-10-down", Air::Wlan, 10, 389_000),
    ("medium-wlan-10-up", Air::Wlan, 10, 434_000),
    ("medium-wlan-50-down", Air::Wlan, 50, 389_000),
    ("medium-wlan-50-up", Air::Wlan, 50, 558_000),
];

/// Each terminal has 0.2 Mbit/s: a packet in 60 ms.
const SPARSE: &[Row] = &[
    ("medium-lte-1-sparse-down", Air::Lte, 1, 60_000_000),
    ("medium-lte-10-sparse-down", Air::Lte, 10, 6_000_000),
    ("medium-lte-100-sparse-down", Air::Lte, 100, 600_000),
    ("medium-lte-300-sparse-down", Air::Lte, 300, 200_000),
    ("medium-lte-1-sparse-up", Air::Lte, 1, 60_000_000),
    ("medium-lte-10-sparse-up", Air::Lte, 10, 6_000_000),
    ("medium-lte-100-sparse-up", Air::Lte, 100, 600_000),
    ("medium-lte-300-sparse-up", Air::Lte, 300, 200_000),
];

/// The case: packets delivered per CPU second.
pub(super) struct Packets {
    name: &'static str,
    about: &'static str,
    star: Star,
}

/// All of them.
pub(super) fn cases() -> impl Iterator<Item = Packets> {
    let saturated = SATURATED.iter().map(|row| case(row, QUEUE));
    saturated.chain(SPARSE.iter().map(|row| case(row, 1)))
}

fn case((name, air, terminals, interval): &Row, burst: u32) -> Packets {
    let up = name.ends_with("up");
    let about = match air {
        Air::Link => {
            "packets of 1500 bytes over a link of 73 Mbit/s and another, without endpoints".to_owned()
        }
        Air::Lte | Air::Wlan => {
            let medium = if *air == Air::Lte { "a cell of LTE" } else { "a WLAN of 802.11g" };
            let load = if burst > 1 { "saturated" } else { "with 0.2 Mbit/s each" };
            let way = if up { "up" } else { "down" };
            format!("the same over {medium} instead, terminals: {terminals}, {load}, {way}")
        }
    };
    let interval = Duration::from_nanos(*interval);
    let star = Star { air: *air, terminals: *terminals, up, interval, burst };
    Packets { name, about: String::leak(about), star }
}

impl Case for Packets {
    fn name(&self) -> &'static str {
        self.name
    }
    fn unit(&self) -> &'static str {
        "packets per CPU second"
    }
    fn about(&self) -> &'static str {
        self.about
    }
    fn run(&mut self) -> f64 {
        let mut running = self.star.build();
        running.run(&self.star, WARM_UP);
        let (arrived, seconds) = clock::time(|| running.run(&self.star, PACKETS));
        arrived as f64 / seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saturated_media_drop_little_and_others_nothing() {
        for Packets { name, star, .. } in cases() {
            let mut running = star.build();
            running.run(&star, WARM_UP);
            let share = running.run(&star, 20_000) as f64 / 20_000.0;
            let expected = if star.burst > 1 { 0.97..0.999 } else { 0.999..1.001 };
            assert!(expected.contains(&share), "{name}: {share}");
        }
    }
}
