//! What a model draws: quantities with their laws, each with a random stream of its own.

use super::Fault;
use random::{Bounded, LawError, Stream};
use units::Duration;

/// A quantity that a model draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    /// Its name: `main-size`.
    pub name: &'static str,
    /// Its law, in bytes, objects or seconds.
    pub law: Bounded,
}

/// What a model draws.
pub type Laws = Vec<Quantity>;

/// A quantity with its random stream.
#[derive(Debug, Clone)]
pub(super) struct Draws {
    law: Bounded,
    stream: Stream,
}

impl Draws {
    /// The quantities, in their order. Each has a stream of its own, by its name: to change the law of one moves the draws
    /// of no other.
    pub(super) fn of(laws: &[Quantity], stream: &mut Stream) -> Vec<Draws> {
        let seed = stream.bits();
        laws.iter()
            .map(|quantity| Draws { law: quantity.law, stream: Stream::new(seed, quantity.name) })
            .collect()
    }

    /// The next number.
    pub(super) fn draw(&mut self) -> f64 {
        self.law.draw(&mut self.stream)
    }

    /// A number of objects or bytes: the draw to the nearest whole number, at least `least`.
    pub(super) fn whole(&mut self, least: u64) -> u64 {
        // Bounded far below 2^53 by the largest values of the options.
        (self.draw().round() as u64).max(least)
    }

    /// A number of seconds.
    pub(super) fn seconds(&mut self) -> Duration {
        Duration::from_nanos((self.draw() * 1e9).round() as u64)
    }
}

/// A quantity of this law; `option` is the one to blame if there is no such law.
pub(super) fn quantity(
    name: &'static str,
    option: &'static str,
    law: Result<Bounded, LawError>,
) -> Result<Quantity, Fault> {
    law.map(|law| Quantity { name, law }).map_err(|error| (option, error.to_string()))
}
