//! Always the same representation: no rate adaptation, for comparison.

use super::{Abr, Choice, View, bits, highest_at_most};
use units::parameter::{Arguments, Options, Row};
use units::{Duration, Rate};

/// The options of one representation.
#[derive(Debug, Clone, Options)]
pub(super) struct FixedOptions {
    /// the representation, counted from 0 by rising bitrate; the highest if there are fewer; 0 if neither option is
    /// set
    #[option(within = 0..=1000)]
    pub(super) representation: Option<usize>,
    /// the highest representation of at most this bitrate; the lowest if there is none
    pub(super) bitrate: Option<Rate>,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "fixed",
    about: "no rate adaptation: one representation, by its number or its bitrate",
    parameters: FixedOptions::PARAMETERS,
    build: &|arguments| Box::new(Fixed::new(arguments)),
};

/// One representation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixed {
    /// By its number.
    Representation(usize),
    /// The highest of at most a bitrate.
    Bitrate(Rate),
}

impl Fixed {
    /// Reads the options of its row.
    pub fn new(arguments: &Arguments) -> Fixed {
        let FixedOptions { representation, bitrate } = FixedOptions::of(arguments);
        match bitrate {
            Some(bitrate) => Fixed::Bitrate(bitrate),
            None => Fixed::Representation(representation.unwrap_or(0)),
        }
    }
}

impl Abr for Fixed {
    fn choose(&mut self, view: &View<'_>) -> Choice {
        let bitrates = view.line.bitrates(view.segment);
        let representation = match *self {
            Fixed::Representation(number) => number.min(bitrates.len() - 1),
            Fixed::Bitrate(rate) => highest_at_most(bitrates, bits(rate)),
        };
        Choice { representation, wait: Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LADDER, Strip, arguments, rates, view};
    use super::*;

    fn choice(options: &[(&str, &str)], line: &Strip, segment: usize) -> usize {
        let mut fixed = Fixed::new(&arguments(&ROW, options));
        fixed.choose(&view(line, segment, None, 0, 30_000)).representation
    }

    #[test]
    fn by_number_or_by_bitrate() {
        let mut line = Strip::new(&LADDER, 2, 3);
        line.ladders[1] = rates(&[300, 1000]);
        assert_eq!(choice(&[], &line, 0), 0);
        assert_eq!(choice(&[("representation", "4")], &line, 0), 4);
        assert_eq!(choice(&[("representation", "4")], &line, 1), 1, "another period has fewer");
        assert_eq!(choice(&[("bitrate", "1 Mbit/s")], &line, 0), 4);
        assert_eq!(choice(&[("bitrate", "1 Mbit/s")], &line, 1), 1, "at most includes equal");
        assert_eq!(choice(&[("bitrate", "100 kbit/s")], &line, 0), 0);
    }

    #[test]
    fn two_ways_to_say_it_are_refused() {
        let both = arguments(&ROW, &[("representation", "4"), ("bitrate", "1 Mbit/s")]);
        let (option, says) = (super::super::room().check)("fixed", &both).unwrap_err();
        assert_eq!(
            (option, says.as_str()),
            ("bitrate", "a representation is given as well; expected only one of the two")
        );
    }
}
