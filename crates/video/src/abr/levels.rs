//! The equations of BOLA: utilities, scores, and the buffer levels that follow from them.
//!
//! The score of a representation is (Vp (u + gp) - B) / b: b is its bitrate, u = ln(b / b_lowest) its utility, and B the
//! buffer. Vp and gp, both of them products with the duration p of a segment, are the parameters of the paper in seconds.

use super::bits;
use units::Rate;

/// A ladder with its utilities, and the parameters.
#[derive(Debug, Clone, Default)]
pub(super) struct Levels {
    ladder: Vec<Rate>,
    utilities: Vec<f64>,
    /// The parameter V p, in seconds.
    pub(super) vp: f64,
    /// The parameter gamma p, which has no unit.
    pub(super) gp: f64,
}

impl Levels {
    /// The ladder is this one.
    pub(super) fn set_ladder(&mut self, ladder: &[Rate]) {
        if self.ladder == ladder {
            return;
        }
        self.ladder = ladder.to_vec();
        let lowest = bits(ladder[0]).max(1.0);
        self.utilities.clear();
        self.utilities.extend(ladder.iter().map(|rate| (bits(*rate).max(1.0) / lowest).ln()));
    }

    /// BOLA-BASIC: with a buffer of at most `max_buffer` seconds, a segment of the highest representation is still asked for.
    pub(super) fn set_by_gp(&mut self, gp: f64, max_buffer: f64, segment: f64) {
        self.gp = gp;
        self.vp = (max_buffer - segment).max(0.0) / (self.highest() + gp);
    }

    /// BOLA-E, as in dash.js: the lowest representation up to `minimum` seconds of buffer, the highest from `target` on.
    /// Those are the levels at which a utility that is lower by one has the score 0.
    pub(super) fn set_by_levels(&mut self, minimum: f64, target: f64) {
        let (minimum, utility) = (minimum.max(1e-3), self.highest().max(1e-9));
        let target = target.max(minimum + 1.0);
        let gp = utility / (target / minimum - 1.0);
        self.vp = minimum / gp;
        self.gp = gp + 1.0;
    }

    fn highest(&self) -> f64 {
        self.utilities.last().copied().unwrap_or(0.0)
    }

    /// The number of representations.
    pub(super) fn len(&self) -> usize {
        self.ladder.len()
    }

    /// The score of a representation at a buffer in seconds, for this many bits instead of a bitrate.
    pub(super) fn score(&self, representation: usize, buffer: f64, bits: f64) -> f64 {
        (self.max_buffer(representation) - buffer) / bits.max(1.0)
    }

    /// The representation with the best score; the lowest of several. Above the level of the highest, where BOLA asks for
    /// nothing, it is the highest.
    pub(super) fn best(&self, buffer: f64) -> usize {
        let most = self.len() - 1;
        let buffer = buffer.min(self.max_buffer(most));
        let (mut best, mut score) = (0, f64::NEG_INFINITY);
        for (representation, rate) in self.ladder.iter().enumerate() {
            let other = self.score(representation, buffer, bits(*rate));
            if other > score {
                (best, score) = (representation, other);
            }
        }
        best
    }

    /// The buffer in seconds up to which a representation has a score of 0 or more.
    pub(super) fn max_buffer(&self, representation: usize) -> f64 {
        self.vp * (self.utilities[representation] + self.gp)
    }

    /// The buffer in seconds from which a representation has a better score than all lower ones.
    pub(super) fn min_buffer(&self, representation: usize) -> f64 {
        let (b, u) = (bits(self.ladder[representation]), self.utilities[representation]);
        let mut level = 0.0_f64;
        for lower in 0..representation {
            let (c, v) = (bits(self.ladder[lower]), self.utilities[lower]);
            if v < u {
                level = level.max(self.vp * (self.gp + (b * v - c * u) / (b - c)));
            }
        }
        level
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LADDER, rates};
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-3, "{found} instead of {expected}");
    }

    /// Bitrates 1, 2 and 4 Mbit/s: utilities 0, ln 2 and 2 ln 2.
    #[test]
    fn the_levels_of_bola_basic_by_hand() {
        let mut levels = Levels::default();
        levels.set_ladder(&rates(&[1000, 2000, 4000]));
        levels.set_by_gp(5.0, 25.0, 3.0);
        // Vp = (25 - 3) / (2 ln 2 + 5) = 22 / 6.38629.
        near(levels.vp, 3.444879);
        near(levels.max_buffer(2), 22.0);
        near(levels.max_buffer(0), 17.2244);
        // Where 2 and 1 Mbit/s have equal scores: Vp (5 - ln 2); 4 and 2: Vp (5 + (4 ln 2 - 4 ln 2) / 2) = 5 Vp.
        near(levels.min_buffer(1), 14.836594);
        near(levels.min_buffer(2), 17.224395);
        assert_eq!(levels.min_buffer(0), 0.0);
        for (buffer, best) in [(0.0, 0), (14.83, 0), (14.84, 1), (17.22, 1), (17.23, 2), (22.0, 2), (40.0, 2)]
        {
            assert_eq!(levels.best(buffer), best, "{buffer} s");
        }
    }

    /// The ladder and the parameters of the paper: gp = 5, and ln(6000 / 230) = 3.261 as the highest utility.
    #[test]
    fn the_utilities_of_the_paper() {
        let mut levels = Levels::default();
        levels.set_ladder(&rates(&LADDER));
        near(levels.utilities[9], 3.2615);
        near(levels.utilities[8], 3.0845);
        near(levels.utilities[7], 2.5556);
        levels.set_by_gp(5.0, 25.0, 3.0);
        near(levels.vp, 22.0 / 8.2615);
        let mut last = 0;
        for tenth in 0..250 {
            let best = levels.best(f64::from(tenth) / 10.0);
            assert!(best >= last, "a higher buffer never has a lower representation");
            last = best;
        }
        assert_eq!(last, 9);
    }

    /// Levels of 10 and 30 s: gp = ln 4 / 2 = 0.693, Vp = 10 / gp = 14.427, as dash.js with utilities 1 to 1 + ln 4.
    #[test]
    fn the_levels_of_bola_e_by_hand() {
        let mut levels = Levels::default();
        levels.set_ladder(&rates(&[1000, 2000, 4000]));
        levels.set_by_levels(10.0, 30.0);
        near(levels.vp, 14.426950);
        near(levels.gp, 1.693147);
        near(levels.max_buffer(0), 24.42695);
        near(levels.max_buffer(2), 44.42695);
        // Vp (gp - ln 2) = Vp, and Vp gp.
        near(levels.min_buffer(1), 14.42695);
        near(levels.min_buffer(2), 24.42695);
    }

    #[test]
    fn odd_parameters_have_levels() {
        let mut levels = Levels::default();
        levels.set_ladder(&rates(&[1000]));
        levels.set_by_levels(10.0, 30.0);
        assert_eq!(levels.best(5.0), 0);
        levels.set_ladder(&rates(&[1000, 3000]));
        levels.set_by_levels(0.0, 0.0);
        assert!(levels.max_buffer(1).is_finite() && levels.min_buffer(1).is_finite());
        levels.set_by_gp(5.0, 1.0, 4.0);
        assert_eq!((levels.best(0.0), levels.best(9.0)), (0, 0), "no room for a segment");
    }
}
