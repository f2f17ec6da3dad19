//! Periodic loss: exactly every n-th packet.

use super::Loss;
use crate::packet::Packet;
use units::Time;
use units::parameter::{Options, Row};

/// The options of periodic losses.
#[derive(Debug, Clone, Options)]
struct PeriodicOptions {
    /// n: the n-th, 2n-th, ... packet is lost, counted from 1
    #[option(within = 1..=u64::MAX)]
    every: u64,
    /// packets that pass before the count begins
    #[option(default = 0, within = 0..=u64::MAX)]
    offset: u64,
    /// count and lose only packets that carry application data
    #[option(default = false)]
    data_only: bool,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "periodic",
    about: "exactly every n-th packet is lost",
    parameters: PeriodicOptions::PARAMETERS,
    build: &|arguments, _| {
        let options = PeriodicOptions::of(arguments);
        Ok(Some(Box::new(Periodic {
            every: options.every,
            to_skip: options.offset,
            data_only: options.data_only,
            count: 0,
        })))
    },
};

struct Periodic {
    every: u64,
    to_skip: u64,
    data_only: bool,
    count: u64,
}

impl Loss for Periodic {
    fn loses(&mut self, _done: Time, packet: &Packet) -> bool {
        if self.data_only && !packet.data {
            return false;
        }
        if self.to_skip > 0 {
            self.to_skip -= 1;
            return false;
        }
        self.count += 1;
        if self.count == self.every {
            self.count = 0;
            return true;
        }
        false
    }
    fn check(&self) {
        assert!(self.count < self.every, "a period ends with its lost packet");
        assert!(self.to_skip == 0 || self.count == 0, "the count begins when enough packets have passed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::testing::loses;

    #[test]
    fn every_third_data_packet_after_two() {
        let mut loss = Periodic { every: 3, to_skip: 2, data_only: true, count: 0 };
        let lost: Vec<usize> = (0..24).filter(|i| loses(&mut loss, i % 2 == 0)).collect();
        assert_eq!(lost, [8, 14, 20]);
    }
}
