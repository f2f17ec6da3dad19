//! Listed loss: packets by their number.

use super::Loss;
use crate::Packet;
use units::parameter::{Default, Kind, Parameter, Row, Value};

pub(crate) const ROW: Row<super::Build> = Row {
    name: "list",
    about: "packets are lost by their number on this link",
    parameters: &[
        Parameter {
            name: "packets",
            kind: Kind::List(&Kind::Integer(1, u64::MAX)),
            default: Default::Required,
            about: "numbers of the packets that are lost, counted from 1",
        },
        Parameter {
            name: "data_only",
            kind: Kind::Flag,
            default: Default::Is("false"),
            about: "count only packets that carry application data",
        },
    ],
    build: |arguments, _| {
        let number = |value: &Value| if let Value::Integer(number) = value { Some(*number) } else { None };
        let mut numbers: Vec<u64> = arguments.list("packets").iter().filter_map(number).collect();
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        Some(Box::new(List { numbers, data_only: arguments.flag("data_only"), count: 0 }))
    },
};

struct List {
    /// Descending: the next one is the last.
    numbers: Vec<u64>,
    data_only: bool,
    count: u64,
}

impl Loss for List {
    fn loses(&mut self, packet: &Packet) -> bool {
        if self.data_only && !packet.data {
            return false;
        }
        self.count += 1;
        let hit = self.numbers.last() == Some(&self.count);
        while self.numbers.last().is_some_and(|number| *number <= self.count) {
            self.numbers.pop();
        }
        hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::testing::packet;

    #[test]
    fn exactly_the_listed_numbers() {
        let mut loss = List { numbers: vec![7, 4, 4, 1], data_only: false, count: 0 };
        let lost: Vec<usize> = (1..10).filter(|_| loss.loses(&packet(false))).collect();
        assert_eq!(lost, [1, 4, 7]);
    }
}
