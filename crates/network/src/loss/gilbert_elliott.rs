//! Gilbert-Elliott: losses in bursts, by a chain of two states (Gilbert 1960, Elliott 1963).

use super::Loss;
use crate::packet::Packet;
use random::Generator;
use units::Time;
use units::parameter::{Options, Row};

/// The options of the model of Gilbert and Elliott.
#[derive(Debug, Clone, Options)]
struct GilbertElliottOptions {
    /// probability, at each packet, to go from good to bad (p)
    #[option(probability)]
    to_bad: f64,
    /// probability, at each packet, to go from bad to good (r); bursts last 1/r packets
    #[option(probability)]
    to_good: f64,
    /// probability of loss in the good state (1 - k)
    #[option(default = 0.0, probability)]
    loss_in_good: f64,
    /// probability of loss in the bad state (1 - h)
    #[option(default = 1.0, probability)]
    loss_in_bad: f64,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "gilbert-elliott",
    about: "losses in bursts: a good and a bad state, each with its own probability of loss",
    parameters: GilbertElliottOptions::PARAMETERS,
    build: &|arguments, stream| {
        let options = GilbertElliottOptions::of(arguments);
        Ok(Some(Box::new(GilbertElliott {
            to_bad: options.to_bad,
            to_good: options.to_good,
            loss: [options.loss_in_good, options.loss_in_bad],
            bad: false,
            stream,
        })))
    },
};

/// Starts in the good state. For each packet the state changes first; the packet then has the loss probability
/// of the new state. In the long run the share of packets in the bad state is p / (p + r), bad periods last 1/r
/// packets on average, and the share of lost packets is (r (1 - k) + p (1 - h)) / (p + r).
struct GilbertElliott {
    to_bad: f64,
    to_good: f64,
    loss: [f64; 2],
    bad: bool,
    stream: Generator,
}

impl Loss for GilbertElliott {
    fn loses(&mut self, _done: Time, _packet: &Packet) -> bool {
        // Two draws for each packet in both states: the number of draws does not depend on the options.
        let change = if self.bad { self.to_good } else { self.to_bad };
        self.bad ^= self.stream.chance(change);
        self.stream.chance(self.loss[usize::from(self.bad)])
    }
    fn check(&self) {
        let all = [self.to_bad, self.to_good, self.loss[0], self.loss[1]];
        assert!(all.iter().all(|one| (0.0..=1.0).contains(one)), "changes and losses have probabilities");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::testing::loses;

    /// The state changes first, and the packet meets the loss of the new one.
    #[test]
    fn a_packet_meets_the_state_that_it_has_changed_to() {
        let stream = Generator::new(1, "test");
        let mut loss = GilbertElliott { to_bad: 1.0, to_good: 1.0, loss: [0.0, 1.0], bad: false, stream };
        let lost: Vec<bool> = (0..5).map(|_| loses(&mut loss, true)).collect();
        assert_eq!(lost, [true, false, true, false, true]);
    }

    #[test]
    fn the_long_run_has_the_stated_loss_and_burst_length() {
        let stream = Generator::new(1, "test");
        let mut loss = GilbertElliott { to_bad: 0.01, to_good: 0.2, loss: [0.001, 0.9], bad: false, stream };
        let (n, mut lost, mut bursts, mut was_bad, mut bad) = (1_000_000, 0u32, 0u32, false, 0u32);
        for _ in 0..n {
            lost += u32::from(loses(&mut loss, true));
            bursts += u32::from(loss.bad && !was_bad);
            bad += u32::from(loss.bad);
            was_bad = loss.bad;
        }
        let expected = (0.2 * 0.001 + 0.01 * 0.9) / 0.21;
        assert!((f64::from(lost) / f64::from(n) / expected - 1.0).abs() < 0.03, "{lost}");
        let length = f64::from(bad) / f64::from(bursts);
        assert!((length / 5.0 - 1.0).abs() < 0.03, "{length}");
    }
}
