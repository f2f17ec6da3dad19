//! The SINR between one terminal and one base station over time.

mod fading;
mod loss;
mod series;
mod shadowing;
mod sites;
#[cfg(test)]
mod tests;

pub use fading::{Fading, doppler_hz};
pub use loss::{PathLoss, noise_dbm};
pub use series::{Between, MAX_POINTS, Series, SeriesError};
pub use shadowing::Shadowing;
pub use sites::Sites;

use crate::decibel;
use units::Time;

/// What a terminal hears of its base station, or the station of its terminal.
#[derive(Debug, Clone)]
pub enum Channel {
    /// The same SINR in dB at all times.
    Constant(f64),
    /// SINR from a file.
    Series(Series),
    /// SINR from power, distance, shadowing and fading.
    Link(Box<Link>),
}

impl Channel {
    /// A channel whose SINR is `sinr_db` at all times.
    pub fn constant(sinr_db: f64) -> Channel {
        Channel::Constant(sinr_db)
    }

    /// A channel that follows a series.
    pub fn series(series: Series) -> Channel {
        Channel::Series(series)
    }

    /// A channel that is computed from its parts.
    pub fn link(link: Link) -> Channel {
        Channel::Link(Box::new(link))
    }

    /// The SINR in dB at `now`. Calls are in the order of time: shadowing remembers where the terminal was.
    pub fn sinr_db(&mut self, now: Time) -> f64 {
        match self {
            Channel::Constant(sinr_db) => *sinr_db,
            Channel::Series(series) => series.at(now),
            Channel::Link(link) => link.sinr_db(now),
        }
    }
}

/// A straight line past the base station, which stands at the origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Motion {
    /// Position along the line at the start of the run, in metres from the point nearest to the station.
    pub start_m: f64,
    /// The least distance between the line and the station in metres, including the difference of heights.
    pub offset_m: f64,
    /// Metres per second along the line; negative values go the other way.
    pub speed_m_s: f64,
}

impl Motion {
    /// A terminal that stays at a distance in metres.
    pub fn still(distance_m: f64) -> Motion {
        Motion { start_m: 0.0, offset_m: distance_m, speed_m_s: 0.0 }
    }

    /// The distance to the station in metres at `now`.
    pub fn distance_m(&self, now: Time) -> f64 {
        let along = self.start_m + self.speed_m_s * now.as_secs_f64();
        (along * along + self.offset_m * self.offset_m).sqrt()
    }
}

/// The parts of a computed channel. Interference counts as noise of constant power: raise `noise_dbm` by it.
#[derive(Debug, Clone)]
pub struct Link {
    /// Transmitted power with the gains of both antennas, in dBm.
    pub power_dbm: f64,
    /// Noise in the bandwidth of the receiver, in dBm: see [`noise_dbm`].
    pub noise_dbm: f64,
    /// Where the terminal is.
    pub motion: Motion,
    /// Loss over distance.
    pub path_loss: PathLoss,
    /// Slow variation by obstacles, if any.
    pub shadowing: Option<Shadowing>,
    /// Fast variation by reflections, if any.
    pub fading: Option<Fading>,
}

impl Link {
    fn sinr_db(&mut self, now: Time) -> f64 {
        self.received_dbm(now) - self.noise_dbm
    }

    /// The received power in dBm.
    fn received_dbm(&mut self, now: Time) -> f64 {
        let loss_db = self.path_loss.db(self.motion.distance_m(now));
        let moved_m = (self.motion.speed_m_s * now.as_secs_f64()).abs();
        let shadow_db = self.shadowing.as_mut().map_or(0.0, |shadowing| shadowing.db(moved_m));
        let fading_db = self.fading.as_ref().map_or(0.0, |fading| decibel::from_ratio(fading.power(now)));
        self.power_dbm - loss_db + shadow_db + fading_db
    }
}
