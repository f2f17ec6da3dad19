//! Handover to the site with the best signal-to-noise ratio: event A3 of TS 36.331 section 5.5.4.4.
//!
//! The terminal measures all sites, and averages in dB (TS 36.331 section 5.5.3.2). A site that is better than the one
//! that serves the terminal by the hysteresis, for the time to trigger, takes over; of several, the best.

use super::{Build, Trigger};
use units::parameter::{Arguments, Options, Row};
use units::{Duration, Time};

/// The options of handovers by the signal-to-noise ratio.
#[derive(Debug, Clone, Options)]
struct SinrOptions {
    /// hysteresis: by how many dB another site must be better
    #[option(default = 3.0, within = 0.0..=30.0)]
    hysteresis: f64,
    /// time to trigger: for how long it must be better
    #[option(default = "256 ms")]
    time_to_trigger: Duration,
    /// time between measurements of all sites; at least 1 ms
    #[option(default = "40 ms")]
    period: Duration,
    /// time constant of the average over measurements; "0 s" for none
    #[option(default = "200 ms")]
    averaging: Duration,
}

pub(super) const ROW: Row<Build> = Row {
    name: "sinr",
    about: "the site with the best signal-to-noise ratio, with a hysteresis and a time to trigger (event A3)",
    parameters: SinrOptions::PARAMETERS,
    build: Build { build: |arguments, sites| Some(Box::new(Best::new(arguments, sites))), check },
};

fn check(arguments: &Arguments, sites: usize, channel: &str) -> Result<(), String> {
    if sites < 2 {
        return Err("there is one site; expected \"none\", or more sites (option sites)".to_owned());
    }
    if channel == "constant" {
        return Err(
            "a constant channel is the same at all sites; expected handover = \"times\", or channel \
                    = \"drawn\" or \"series\""
                .to_owned(),
        );
    }
    let SinrOptions { period, .. } = SinrOptions::of(arguments);
    if period < Duration::from_millis(1) {
        return Err(format!("period is too short, found {period}; expected at least 1 ms"));
    }
    Ok(())
}

struct Best {
    hysteresis: f64,
    time_to_trigger: Duration,
    period: Duration,
    /// The weight of a new measurement.
    weight: f64,
    next: Time,
    /// The averages of the sites in dB.
    averages: Vec<f64>,
    /// Since when each site has been better by the hysteresis.
    better_since: Vec<Option<Time>>,
}

impl Best {
    fn new(arguments: &Arguments, sites: usize) -> Best {
        let options = SinrOptions::of(arguments);
        let (period, averaging) = (options.period, options.averaging);
        let weight = match averaging.as_nanos() {
            0 => 1.0,
            averaging => 1.0 - (-(period.as_nanos() as f64) / averaging as f64).exp(),
        };
        Best {
            hysteresis: options.hysteresis,
            time_to_trigger: options.time_to_trigger,
            period,
            weight,
            next: Time::ZERO + period,
            averages: vec![0.0; sites],
            better_since: vec![None; sites],
        }
    }
    fn best(&self, among: impl Fn(usize) -> bool) -> Option<usize> {
        let all = (0..self.averages.len()).filter(|site| among(*site));
        // Of equal ones the first.
        all.rev().max_by(|one, other| self.averages[*one].total_cmp(&self.averages[*other]))
    }
}

impl Trigger for Best {
    fn start(&mut self, sinr_db: &mut dyn FnMut(usize) -> f64) -> usize {
        self.averages.iter_mut().enumerate().for_each(|(site, average)| *average = sinr_db(site));
        self.best(|_| true).expect("a cell has at least one site")
    }
    fn next(&self) -> Option<Time> {
        Some(self.next)
    }
    fn decide(&mut self, serving: usize, is_away: bool, sinr_db: &mut dyn FnMut(usize) -> f64) -> usize {
        let now = self.next;
        self.next = now + self.period;
        for (site, average) in self.averages.iter_mut().enumerate() {
            *average += self.weight * (sinr_db(site) - *average);
        }
        let bound = self.averages[serving] + self.hysteresis;
        for (average, since) in self.averages.iter().zip(&mut self.better_since) {
            // A terminal on its way to a site cannot be sent on.
            *since = (*average > bound && !is_away).then(|| since.unwrap_or(now));
        }
        let lasts = |site: usize| {
            self.better_since[site].is_some_and(|since| now.since(since) >= self.time_to_trigger)
        };
        match self.best(lasts) {
            Some(site) => {
                self.better_since.fill(None);
                site
            }
            None => serving,
        }
    }
}
