//! Listed loss: packets by their number.

use super::Loss;
use crate::packet::Packet;
use units::Time;
use units::parameter::{Options, Row};

/// The options of listed losses.
#[derive(Debug, Clone, Options)]
struct ListOptions {
    /// numbers of the packets that are lost, counted from 1
    #[option(within = 1..=u64::MAX)]
    packets: Vec<u64>,
    /// count only packets that carry application data
    #[option(default = false)]
    data_only: bool,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "list",
    about: "packets are lost by their number on this link",
    parameters: ListOptions::PARAMETERS,
    build: &|arguments, _| {
        let ListOptions { packets, data_only } = ListOptions::of(arguments);
        Ok(Some(Box::new(List::new(packets, data_only))))
    },
};

struct List {
    /// In descending order: the next number is the last.
    numbers: Vec<u64>,
    data_only: bool,
    count: u64,
}

impl List {
    fn new(mut numbers: Vec<u64>, data_only: bool) -> List {
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        List { numbers, data_only, count: 0 }
    }
}

impl Loss for List {
    fn loses(&mut self, _done: Time, packet: &Packet) -> bool {
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
    fn check(&self) {
        let next = self.numbers.last();
        assert!(next.is_none_or(|next| *next > self.count), "no number of a lost packet was passed over");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::testing::loses;

    #[test]
    fn exactly_the_listed_numbers() {
        let mut loss = List::new(vec![4, 7, 1, 4], false);
        let lost: Vec<usize> = (1..10).filter(|_| loses(&mut loss, false)).collect();
        assert_eq!(lost, [1, 4, 7]);
        let mut loss = List::new(vec![2], true);
        let lost: Vec<usize> = (1..10).filter(|n| loses(&mut loss, n % 2 == 0)).collect();
        assert_eq!(lost, [4], "the second that carries data");
    }
}
