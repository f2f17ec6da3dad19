//! Random loss: each packet independently with one probability.

use super::Loss;
use crate::packet::Packet;
use random::Generator;
use units::Time;
use units::parameter::{Component, Options, Row};

/// The options of random losses.
#[derive(Debug, Clone, Options)]
struct RandomOptions {
    /// probability of loss of each packet
    #[option(probability)]
    probability: f64,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "random",
    about: "each packet is lost with one probability, independently of all others",
    parameters: RandomOptions::PARAMETERS,
    build: &|arguments, stream| {
        let RandomOptions { probability } = RandomOptions::of(arguments);
        // Without loss no draw is needed.
        Ok((probability > 0.0).then(|| -> Box<dyn Loss> { Box::new(Random { probability, stream }) }))
    },
};

/// Whether a loss model is certain to lose every packet.
pub fn loses_all(loss: &Component) -> bool {
    loss.name == ROW.name && RandomOptions::of(&loss.arguments).probability == 1.0
}

struct Random {
    probability: f64,
    stream: Generator,
}

impl Loss for Random {
    fn loses(&mut self, _done: Time, _packet: &Packet) -> bool {
        self.stream.chance(self.probability)
    }
    fn check(&self) {
        assert!((0.0..=1.0).contains(&self.probability), "the share of lost packets is a probability");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::testing::loses;

    #[test]
    fn the_share_is_the_probability_and_the_ends_are_exact() {
        let lost = |probability| {
            let mut loss = Random { probability, stream: Generator::new(1, "test") };
            (0..100_000).filter(|_| loses(&mut loss, true)).count()
        };
        assert_eq!((lost(0.0), lost(1.0)), (0, 100_000));
        // Four standard deviations are 124.
        assert!(lost(0.01).abs_diff(1000) < 124, "{}", lost(0.01));
    }
}
