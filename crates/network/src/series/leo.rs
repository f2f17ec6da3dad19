//! A path over a low-orbit constellation: a pass of another satellite every 15 s.
//!
//! Satellites fly on circular orbits. For each slot one is drawn that is above the minimum elevation at the terminal and at
//! the gateway from the beginning of the slot to its end. Its slant ranges give the delay, that of the terminal gives the
//! rate, and where slots meet there is a gap with losses around it. docs/model/satellite.md has the equations and sources.

use super::{Drawn, LONGEST, Model, Series};
use crate::rate::generated::parts::{Wandering, normal, uniform};
use random::Generator;
use units::parameter::{Arguments, OptionError, Options};
use units::{Duration, Rate};

/// The options of the model.
#[derive(Debug, Clone, Options)]
struct LeoOptions {
    /// mean rate; above zero
    #[option(default = "120 Mbit/s")]
    rate: Rate,
    /// altitude of the satellites
    #[option(default = 550.0, within = 300.0..=2000.0)]
    altitude_km: f64,
    /// minimum elevation of a satellite at the terminal and at the gateway
    #[option(default = 25.0, within = 5.0..=60.0)]
    elevation_deg: f64,
    /// distance between terminal and gateway on the ground
    #[option(default = 300.0, within = 0.0..=1000.0)]
    gateway_km: f64,
    /// distance over inter-satellite links; 0 is a bent pipe
    #[option(default = 0.0, within = 0.0..=50_000.0)]
    isl_km: f64,
    /// one-way delay in addition to propagation: framing, processing, and the path from the gateway
    #[option(default = "7 ms")]
    ground: Duration,
    /// maximum that scheduling adds to the one-way delay in a slot, drawn for each slot
    #[option(default = "10 ms")]
    spread: Duration,
    /// time between changes of the satellite; 5 s to 60 s
    #[option(default = "15 s")]
    slot: Duration,
    /// mean time without a rate at a change, two thirds to four thirds of it; at most 1 s
    #[option(default = "45 ms")]
    gap: Duration,
    /// maximum loss in the 200 ms on each side of a gap, drawn for each change
    #[option(default = 0.5, probability)]
    loss: f64,
    /// length, after which it starts again: 30 s to 3600 s, best a multiple of the slot
    #[option(default = "120 s")]
    duration: Duration,
    #[options]
    drawn: Drawn,
}

pub(super) const MODEL: Model = Model {
    name: "leo",
    about: "a path over a low-orbit constellation, with another satellite every 15 s",
    shortest: (Duration::from_secs(30), "has no change of satellite"),
    parameters: LeoOptions::PARAMETERS,
    make,
    drawn: |arguments| LeoOptions::of(arguments).drawn,
    least_delay,
};

/// The width of a line.
const STEP: Duration = Duration::from_millis(10);
const STEP_S: f64 = STEP.as_nanos() as f64 * 1e-9;
/// Mean radius of the earth in km, its gravitational parameter in km^3/s^2, the speed of light in km/ms.
const EARTH: f64 = 6371.0;
const GRAVITY: f64 = 398_600.441_8;
const LIGHT: f64 = 299.792_458;
/// The signal-to-noise ratio of a satellite at the zenith in decibels. It falls with the square of the slant range.
const ZENITH_DB: f64 = 12.0;
/// Deviations of the logarithm of the rate: from slot to slot, by the load of the cell; and inside a slot, with its memory
/// in seconds.
const LEVEL: f64 = 0.3;
const INSIDE: (f64, f64) = (0.12, 1.0);
/// For how many steps packets are lost on each side of a gap.
const BURST: usize = 20;
/// Draws of a satellite before one that passes overhead is taken.
const DRAWS: usize = 10_000;

/// The geometry of the path.
struct Geometry {
    /// The radius of the orbit over that of the earth.
    ratio: f64,
    /// The cosine of the largest angle at the centre of the earth at which a satellite is above the minimum elevation.
    edge: f64,
    /// Radians in a second at the centre of the earth.
    speed: f64,
    /// The direction of the gateway from the centre of the earth; that of the terminal is (1, 0, 0).
    gateway: [f64; 3],
}

/// A pass: the satellite's angles along and across the track at the beginning of the slot, and its direction.
struct Pass {
    along: f64,
    across: f64,
    direction: f64,
}

impl Geometry {
    fn new(options: &LeoOptions) -> Result<Geometry, OptionError> {
        let (ratio, elevation) = (1.0 + options.altitude_km / EARTH, options.elevation_deg.to_radians());
        let edge = (elevation.cos() / ratio).acos() - elevation;
        let distance = options.gateway_km;
        if distance / EARTH > edge {
            let problem = format!(
                "{distance}; expected at most {:.0}, where a satellite above the terminal is at the minimum elevation",
                (edge * EARTH).floor()
            );
            return Err(("gateway_km", problem));
        }
        let speed = (GRAVITY / (EARTH * ratio).powi(3)).sqrt();
        Ok(Geometry { ratio, edge: edge.cos(), speed, gateway: [1.0, 0.0, 0.0] })
    }

    fn at(&self, pass: &Pass, seconds: f64) -> [f64; 3] {
        let along = pass.along + pass.direction * self.speed * seconds;
        let (across, along) = (pass.across.sin_cos(), along.sin_cos());
        [across.1 * along.1, across.1 * along.0, across.0]
    }

    /// The slant range in km to a satellite whose direction has this cosine.
    fn range(&self, cosine: f64) -> f64 {
        EARTH * (1.0 + self.ratio * self.ratio - 2.0 * self.ratio * cosine).sqrt()
    }

    /// The cosines at the terminal and at the gateway.
    fn cosines(&self, satellite: [f64; 3]) -> [f64; 2] {
        let at_gateway = satellite.iter().zip(self.gateway).map(|(a, b)| a * b).sum();
        [satellite[0], at_gateway]
    }

    /// Draws a pass that both see for this many seconds.
    fn pass(&self, stream: &mut Generator, seconds: f64) -> Pass {
        let widest = self.edge.acos();
        for _ in 0..DRAWS {
            let direction = if stream.chance(0.5) { 1.0 } else { -1.0 };
            let along = uniform(stream, -widest, widest);
            let pass = Pass { along, across: uniform(stream, -widest, widest), direction };
            let seen = |at| self.cosines(self.at(&pass, at)).iter().all(|cosine| *cosine >= self.edge);
            if seen(0.0) && seen(seconds) {
                return pass;
            }
        }
        Pass { along: -self.speed * seconds / 2.0, across: 0.0, direction: 1.0 }
    }
}

/// A slot: the pass, what scheduling adds to the delay, the level of the rate, the duration of the gap before it in steps,
/// and the loss around that.
struct Slot {
    pass: Pass,
    added: f64,
    level: f64,
    gap: usize,
    loss: f64,
}

fn make(arguments: &Arguments, stream: &mut Generator) -> Result<Series, OptionError> {
    let options = LeoOptions::of(arguments);
    let duration = options.duration;
    MODEL.check(duration)?;
    let (slot, gap) = (options.slot, options.gap);
    if !(Duration::from_secs(5)..=Duration::from_secs(60)).contains(&slot) {
        return Err(("slot", format!("{slot}; expected from 5 s to 60 s")));
    }
    if gap > Duration::from_secs(1) {
        return Err(("gap", format!("{gap}; expected at most 1 s")));
    }
    let rate = options.rate;
    if rate == Rate::ZERO {
        return Err(("rate", "0 bit/s; expected a rate above zero".to_owned()));
    }
    let mut geometry = Geometry::new(&options)?;
    let (distance, bearing) = (options.gateway_km / EARTH, uniform(stream, 0.0, std::f64::consts::TAU));
    geometry.gateway = [distance.cos(), distance.sin() * bearing.cos(), distance.sin() * bearing.sin()];
    let (steps, per_slot) = (steps_in(duration), steps_in(slot));
    let gap_s = gap.as_secs_f64();
    let slots: Vec<Slot> = (0..steps.div_ceil(per_slot))
        .map(|_| Slot {
            pass: geometry.pass(stream, slot.as_secs_f64()),
            added: uniform(stream, 0.0, millis(options.spread)),
            level: normal(stream, LEVEL),
            gap: (uniform(stream, gap_s * 2.0 / 3.0, gap_s * 4.0 / 3.0) / STEP_S).round() as usize,
            loss: uniform(stream, 0.0, options.loss),
        })
        .collect();
    let mut inside = Wandering::in_steps(STEP_S, stream, "inside", INSIDE.0, INSIDE.1);
    let fixed = millis(options.ground) + options.isl_km / LIGHT;
    let zenith = geometry.range(1.0);
    let mut values: Vec<(f64, f64, f64)> = (0..steps)
        .map(|at| {
            let (number, phase) = (at / per_slot, at % per_slot);
            let here = &slots[number];
            let ranges = geometry
                .cosines(geometry.at(&here.pass, phase as f64 * STEP_S))
                .map(|cosine| geometry.range(cosine));
            let delay = fixed + here.added + (ranges[0] + ranges[1]) / LIGHT;
            let signal = 10f64.powf(ZENITH_DB / 10.0) * (zenith / ranges[0]).powi(2);
            let rate = signal.ln_1p() * (here.level + inside.step()).exp();
            // There is no change where the series begins.
            let behind = number > 0 && phase < here.gap + BURST;
            let ahead = slots.get(number + 1).filter(|_| phase + BURST >= per_slot);
            let loss = match ahead {
                _ if behind => here.loss,
                Some(next) if (number + 1) * per_slot < steps => next.loss,
                _ => 0.0,
            };
            let silent = number > 0 && phase < here.gap;
            (if silent { 0.0 } else { rate }, delay, loss)
        })
        .collect();
    let mean = values.iter().map(|(rate, ..)| rate).sum::<f64>() / steps as f64;
    let scale = rate.as_bits_per_sec() as f64 / 1e6 / mean;
    values.iter_mut().for_each(|(rate, ..)| *rate *= scale);
    Ok(Series::of_steps(STEP, values.into_iter()))
}

/// Two satellites at the zenith, and nothing that scheduling adds.
fn least_delay(arguments: &Arguments) -> Duration {
    let options = LeoOptions::of(arguments);
    let way = 2.0 * options.altitude_km + options.isl_km;
    options.ground + Duration::from_micros((way / LIGHT * 1e3) as u64)
}

fn steps_in(duration: Duration) -> usize {
    ((duration.min(LONGEST).as_nanos() + STEP.as_nanos() / 2) / STEP.as_nanos()) as usize
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::generate;
    use units::parameter::Value;

    fn arguments(given: &[(&str, Value)]) -> Arguments {
        Arguments::filled(MODEL.parameters, given, &crate::rooms()).unwrap()
    }
    fn error(given: &[(&str, Value)]) -> String {
        generate("leo", &arguments(given), 1).unwrap_err().to_string()
    }

    /// 550 km are 1.835 ms, and 25 degrees are 1123 km and 3.747 ms.
    #[test]
    fn ranges_are_those_of_circular_orbits() {
        let geometry = Geometry::new(&LeoOptions::of(&arguments(&[]))).unwrap();
        assert!((geometry.range(1.0) / LIGHT - 1.8346).abs() < 1e-3);
        assert!((geometry.range(geometry.edge) - 1123.3).abs() < 0.1);
        // An orbit of 550 km takes 95.5 minutes.
        assert!((std::f64::consts::TAU / geometry.speed / 60.0 - 95.5).abs() < 0.1);
    }

    #[test]
    fn paths_keep_their_laws() {
        for seed in 1..=20 {
            let series = generate("leo", &arguments(&[]), seed).unwrap();
            assert_eq!(series.duration(), Duration::from_secs(120));
            let delays = series.delays().unwrap();
            let (least, most) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
            assert!(
                *least >= Duration::from_millis(10) && *most <= Duration::from_millis(30),
                "{least} {most}"
            );
            assert!(*least >= least_delay(&arguments(&[])), "{least}");
            let rates = series.rates().unwrap();
            let silent: Vec<usize> = (0..rates.len()).filter(|at| rates[*at] == Rate::ZERO).collect();
            assert!(silent.iter().all(|at| (1..8).contains(&(at / 1500)) && at % 1500 < 6), "{silent:?}");
            assert!(
                (1..8).all(|slot| (3..=6).contains(&silent.iter().filter(|at| *at / 1500 == slot).count()))
            );
            let mean =
                rates.iter().map(|rate| rate.as_bits_per_sec() as f64).sum::<f64>() / rates.len() as f64;
            assert!((mean / 120e6 - 1.0).abs() < 1e-4, "{mean}");
            let losses = series.losses().unwrap();
            let middle = (0..losses.len()).filter(|at| (26..1480).contains(&(at % 1500)));
            assert!(middle.into_iter().all(|at| losses[at] == 0.0));
            let share = losses.iter().sum::<f64>() / losses.len() as f64;
            assert!((0.001..0.015).contains(&share), "{share}");
        }
    }

    #[test]
    fn files_have_what_is_generated_and_seeds_differ() {
        let of = |seed| generate("leo", &arguments(&[]), seed).unwrap();
        assert_eq!(Series::parse(&of(3).to_csv()).unwrap(), of(3));
        assert_ne!(of(3), of(4));
        // The same path at another rate.
        let slow =
            generate("leo", &arguments(&[("rate", Value::Rate("12 Mbit/s".parse().unwrap()))]), 3).unwrap();
        assert_eq!((slow.delays(), slow.losses()), (of(3).delays(), of(3).losses()));
    }

    #[test]
    fn options_out_of_range_are_refused() {
        assert_eq!(
            error(&[("duration", Value::Duration(Duration::from_secs(20)))]),
            "20 s; expected from 30 s to 3600 s for leo: a shorter one has no change of satellite"
        );
        assert!(
            error(&[("slot", Value::Duration(Duration::from_secs(1)))]).starts_with("1 s; expected from 5 s")
        );
        assert!(
            error(&[("gap", Value::Duration(Duration::from_secs(2)))])
                .starts_with("2 s; expected at most 1 s")
        );
        assert!(error(&[("gateway_km", Value::Number(1000.0))]).starts_with("1000; expected at most 940"));
    }
}
