//! The random quantities of a model, each with its own law and random stream.

use super::Fault;
use random::{Bounded, Generator, LawError};
use units::Duration;

/// A random quantity of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    /// The name, such as `main-size`.
    pub name: &'static str,
    /// The law, in bytes, objects or seconds.
    pub law: Bounded,
}

/// The random quantities of a model.
pub type Laws = Vec<Quantity>;

/// A quantity with its random stream.
#[derive(Debug, Clone)]
pub(super) struct Draws {
    law: Bounded,
    stream: Generator,
}

impl Draws {
    /// The quantities in order. Each has its own stream, seeded by its name: changing the law of one does not affect
    /// the others.
    pub(super) fn of(laws: &[Quantity], stream: &mut Generator) -> Vec<Draws> {
        let seed = stream.bits();
        laws.iter()
            .map(|quantity| Draws { law: quantity.law, stream: Generator::new(seed, quantity.name) })
            .collect()
    }

    /// Draws the next number.
    pub(super) fn draw(&mut self) -> f64 {
        self.law.draw(&mut self.stream)
    }

    /// Draws a number of objects or bytes, rounded to the nearest integer of at least `least`.
    pub(super) fn whole(&mut self, least: u64) -> u64 {
        // The maxima of the options are far below 2^53.
        (self.draw().round() as u64).max(least)
    }

    /// Draws a number of seconds.
    pub(super) fn seconds(&mut self) -> Duration {
        Duration::from_nanos((self.draw() * 1e9).round() as u64)
    }
}

/// A quantity with this law. `option` is the option at fault if there is no such law.
pub(super) fn quantity(
    name: &'static str,
    option: &'static str,
    law: Result<Bounded, LawError>,
) -> Result<Quantity, Fault> {
    law.map(|law| Quantity { name, law }).map_err(|error| (option, error.to_string()))
}
