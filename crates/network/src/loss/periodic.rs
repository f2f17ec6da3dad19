//! Periodic loss: exactly every n-th packet.

use super::Loss;
use crate::packet::Packet;
use units::Time;
use units::parameter::{Default, Kind, Parameter, Row};

pub(crate) const ROW: Row<super::Build> = Row {
    name: "periodic",
    about: "exactly every n-th packet is lost",
    parameters: &[
        Parameter {
            name: "every",
            kind: Kind::Integer(1, u64::MAX),
            default: Default::Required,
            about: "n: the n-th, 2n-th, ... packet is lost, counted from 1",
        },
        Parameter {
            name: "offset",
            kind: Kind::Integer(0, u64::MAX),
            default: Default::Is("0"),
            about: "packets that pass before the count begins",
        },
        Parameter {
            name: "data_only",
            kind: Kind::Flag,
            default: Default::Is("false"),
            about: "count and lose only packets that carry application data",
        },
    ],
    build: |arguments, _| {
        Ok(Some(Box::new(Periodic {
            every: arguments.integer("every"),
            to_skip: arguments.integer("offset"),
            data_only: arguments.flag("data_only"),
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
