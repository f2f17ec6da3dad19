//! What one terminal hears of several base stations.

use super::Channel;
use crate::decibel;
use units::Time;

/// The channels between one terminal and the base stations that may serve it.
#[derive(Debug, Clone)]
pub struct Sites {
    channels: Vec<Channel>,
    interference: f64,
}

impl Sites {
    /// The channels by site, at least one. Of the power that is received from the other sites, the share
    /// `interference` counts as noise, from 0 (they are silent, or on other carriers) to 1 (they always send). Only
    /// computed channels ([`super::Link`]) interfere: the others are ratios already.
    pub fn new(channels: Vec<Channel>, interference: f64) -> Sites {
        debug_assert!(!channels.is_empty(), "a terminal has a site");
        Sites { channels, interference }
    }

    /// The number of sites.
    pub fn count(&self) -> usize {
        self.channels.len()
    }

    /// The SINR in dB between the terminal and a site at `now`. Calls are in the order of time.
    pub fn sinr_db(&mut self, site: usize, now: Time) -> f64 {
        if self.interference == 0.0 || self.channels.len() == 1 {
            return self.channels[site].sinr_db(now);
        }
        let mut others = 0.0;
        for (other, channel) in self.channels.iter_mut().enumerate() {
            if let (true, Channel::Link(link)) = (other != site, channel) {
                others += decibel::to_ratio(link.received_dbm(now));
            }
        }
        match &mut self.channels[site] {
            Channel::Link(link) => {
                let noise = decibel::to_ratio(link.noise_dbm) + self.interference * others;
                link.received_dbm(now) - decibel::from_ratio(noise)
            }
            channel => channel.sinr_db(now),
        }
    }
}
