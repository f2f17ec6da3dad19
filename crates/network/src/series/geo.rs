//! A path over a geostationary satellite through a rain event, with adaptive coding and modulation.
//!
//! Rain attenuation follows the model of Maseng and Bakken as in Recommendation ITU-R P.1853: a lognormal function of an
//! Ornstein-Uhlenbeck process. The signal that is left selects a MODCOD of DVB-S2, a moment late, which gives the rate; what
//! the signal does not carry is lost. docs/model/satellite.md has the equations and sources.

use super::{Drawn, LONGEST, Model, Series};
use crate::rate::generated::parts::{Wandering, normal};
use random::Generator;
use units::parameter::{Arguments, OptionError, Options};
use units::{Duration, Rate};

/// The options of the model.
#[derive(Debug, Clone, Options)]
struct GeoOptions {
    /// rate with a clear sky; above zero
    #[option(default = "50 Mbit/s")]
    rate: Rate,
    /// one-way delay: terminal, satellite, gateway, and their processing
    #[option(default = "280 ms")]
    delay: Duration,
    /// maximum attenuation by rain, in the middle of the event; 0 is a clear sky
    #[option(default = 10.0, within = 0.0..=40.0)]
    peak_db: f64,
    /// attenuation by rain that is exceeded for 0.01 % of a year: the climate
    #[option(default = 20.0, within = 1.0..=60.0)]
    attenuation_db: f64,
    /// signal-to-noise ratio Es/N0 with a clear sky
    #[option(default = 15.0, within = -2.0..=30.0)]
    clear_db: f64,
    /// margin above its threshold that a MODCOD needs to be selected
    #[option(default = 0.5, within = 0.0..=10.0)]
    margin_db: f64,
    /// standard deviation of the fast changes of the signal
    #[option(default = 0.2, within = 0.0..=2.0)]
    scintillation_db: f64,
    /// delay from measuring the signal to the MODCOD that it selects; at most 10 s
    #[option(default = "600 ms")]
    lag: Duration,
    /// duration of the event, after which it starts again: 300 s to 3600 s
    #[option(default = "1200 s")]
    duration: Duration,
    #[options]
    drawn: Drawn,
}

pub(super) const MODEL: Model = Model {
    name: "geo",
    about: "a path over a geostationary satellite through a rain event, with the MODCODs of DVB-S2",
    shortest: (Duration::from_secs(300), "would let the rain come and go faster than rain does"),
    parameters: GeoOptions::PARAMETERS,
    make,
    drawn: |arguments| GeoOptions::of(arguments).drawn,
    least_delay: |arguments| GeoOptions::of(arguments).delay,
};

/// The width of a line.
const STEP: Duration = Duration::from_millis(100);
const STEP_S: f64 = STEP.as_nanos() as f64 * 1e-9;
/// ITU-R P.1853: the speed of the process in 1/s, and the cut-off of scintillation in Hz.
const BETA: f64 = 2e-4;
const CUT_OFF: f64 = 0.1;
/// The standard normal quantiles that 0.01 %, 1 % and 5 % of all time exceed. It rains for 5 % of the time.
const QUANTILE_001: f64 = 3.719;
const QUANTILE_1: f64 = 2.326;
const QUANTILE_RAIN: f64 = 1.645;
/// By how many decibels below its threshold a MODCOD loses all packets.
const WATERFALL_DB: f64 = 0.3;

/// The MODCODs of DVB-S2: Es/N0 in decibels for quasi-error-free reception, and bits for each symbol (EN 302 307-1, table 13:
/// normal frames, without pilots), without those that another one exceeds at a lower Es/N0.
const MODCODS: [(f64, f64); 22] = [
    (-2.35, 0.490_243),
    (-1.24, 0.656_448),
    (-0.30, 0.789_412),
    (1.00, 0.988_858),
    (2.23, 1.188_304),
    (3.10, 1.322_253),
    (4.03, 1.487_473),
    (4.68, 1.587_196),
    (5.18, 1.654_663),
    (5.50, 1.779_991),
    (6.42, 1.788_612),
    (6.62, 1.980_636),
    (7.91, 2.228_124),
    (8.97, 2.637_201),
    (10.21, 2.966_728),
    (11.03, 3.165_623),
    (11.61, 3.300_184),
    (12.73, 3.703_295),
    (13.64, 3.951_571),
    (14.28, 4.119_540),
    (15.69, 4.397_854),
    (16.05, 4.453_027),
];

/// The distribution of attenuation: exp(m + s X) less the offset, with X standard normal.
struct Climate {
    m: f64,
    s: f64,
    offset: f64,
}

impl Climate {
    /// From the attenuation that is exceeded for 0.01 % of a year, and that for 1 %, which ITU-R P.618 derives from it.
    fn new(exceeded_001: f64) -> Climate {
        let exponent = -(0.655 - 0.045 * exceeded_001.ln());
        let exceeded_1 = exceeded_001 * 100f64.powf(exponent);
        let s = (exceeded_001 / exceeded_1).ln() / (QUANTILE_001 - QUANTILE_1);
        let m = exceeded_1.ln() - s * QUANTILE_1;
        Climate { m, s, offset: (m + s * QUANTILE_RAIN).exp() }
    }
    fn attenuation(&self, x: f64) -> f64 {
        ((self.m + self.s * x).exp() - self.offset).max(0.0)
    }
    /// The inverse of `attenuation`.
    fn x(&self, attenuation: f64) -> f64 {
        ((attenuation + self.offset).ln() - self.m) / self.s
    }
}

/// The process from `from` to `to` in this many steps: an Ornstein-Uhlenbeck process with both ends given.
fn bridge(stream: &mut Generator, from: f64, to: f64, steps: usize) -> Vec<f64> {
    let mut x = from;
    let keep = (-BETA * STEP_S).exp();
    let mut path = Vec::with_capacity(steps);
    for left in (1..=steps).rev() {
        path.push(x);
        // After one step, given the value at the end of all that are left.
        let rest = keep.powi(left as i32 - 1);
        let (one, others) = (1.0 - keep * keep, 1.0 - rest * rest);
        let whole = 1.0 - (keep * rest).powi(2);
        let mean = (keep * others * x + rest * one * to) / whole;
        x = mean + normal(stream, (one * others / whole).max(0.0).sqrt());
    }
    path
}

/// The best MODCOD for a signal: its threshold, and bits for each symbol; `None` if there is none.
fn modcod(signal: f64) -> Option<(f64, f64)> {
    MODCODS.iter().copied().take_while(|(threshold, _)| *threshold <= signal).last()
}

fn make(arguments: &Arguments, stream: &mut Generator) -> Result<Series, OptionError> {
    let options = GeoOptions::of(arguments);
    let duration = options.duration;
    MODEL.check(duration)?;
    let (rate, delay, lag) = (options.rate, options.delay, options.lag);
    if rate == Rate::ZERO {
        return Err(("rate", "0 bit/s; expected a rate above zero".to_owned()));
    }
    if lag > Duration::from_secs(10) {
        return Err(("lag", format!("{lag}; expected at most 10 s")));
    }
    let (clear, margin) = (options.clear_db, options.margin_db);
    let Some((_, best)) = modcod(clear - margin) else {
        let problem =
            format!("{clear}; expected at least -2.35 and the margin, which the first MODCOD needs");
        return Err(("clear_db", problem));
    };
    let climate = Climate::new(options.attenuation_db);
    let steps = ((duration.min(LONGEST).as_nanos() + STEP.as_nanos() / 2) / STEP.as_nanos()) as usize;
    let (dry, peak) = (QUANTILE_RAIN, climate.x(options.peak_db));
    let mut process = bridge(stream, dry, peak, steps / 2);
    process.extend(bridge(stream, peak, dry, steps - steps / 2));
    // Nothing is above the peak.
    process.iter_mut().for_each(|x| *x = peak - (peak - *x).abs());
    let memory = 1.0 / (std::f64::consts::TAU * CUT_OFF);
    let deviation = options.scintillation_db;
    let mut fast = Wandering::in_steps(STEP_S, stream, "scintillation", deviation, memory);
    let signals: Vec<f64> = process.iter().map(|x| clear - climate.attenuation(*x) + fast.step()).collect();
    let late = (lag.as_nanos() / STEP.as_nanos()) as usize;
    let values = (0..steps).map(|at| {
        // The series is a circle.
        let seen = signals[(at + steps - late) % steps];
        match modcod((seen - margin).min(clear - margin)) {
            Some((threshold, bits)) => {
                let lacking = threshold - signals[at];
                let mbps = rate.as_bits_per_sec() as f64 / 1e6 * bits / best;
                (mbps, delay.as_secs_f64() * 1e3, (lacking / WATERFALL_DB).clamp(0.0, 1.0))
            }
            None => (0.0, delay.as_secs_f64() * 1e3, 1.0),
        }
    });
    Ok(Series::of_steps(STEP, values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::generate;
    use units::parameter::Value;

    fn made(given: &[(&str, Value)], seed: u64) -> Series {
        let arguments = Arguments::filled(MODEL.parameters, given, &crate::rooms()).unwrap();
        generate("geo", &arguments, seed).unwrap()
    }
    fn mbps(series: &Series) -> Vec<f64> {
        series.rates().unwrap().iter().map(|rate| rate.as_bits_per_sec() as f64 / 1e6).collect()
    }

    /// 20 dB for 0.01 % of a year are 1.8 dB for 1 % and about 7 dB for 0.1 %, as ITU-R P.618 has it.
    #[test]
    fn the_climate_is_that_of_its_attenuation() {
        let climate = Climate::new(20.0);
        let total = |quantile: f64| (climate.m + climate.s * quantile).exp();
        assert!((total(QUANTILE_001) - 20.0).abs() < 0.01);
        assert!((total(QUANTILE_1) - 1.82).abs() < 0.02, "{}", total(QUANTILE_1));
        assert!((6.5..7.6).contains(&total(3.090)), "{}", total(3.090));
        assert!((climate.attenuation(climate.x(10.0)) - 10.0).abs() < 1e-9);
        assert!(climate.attenuation(QUANTILE_RAIN) < 1e-9);
    }

    /// Steps of the process: its ends are given, and between them it wanders as it would without.
    #[test]
    fn a_bridge_has_its_ends_and_the_speed_of_the_process() {
        let path = bridge(&mut Generator::new(1, "test"), 1.0, 3.0, 100_000);
        assert!((path[0] - 1.0).abs() < 1e-9 && (path[99_999] - 3.0).abs() < 0.1);
        let squares = path.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum::<f64>();
        let expected = 2.0 * BETA * STEP_S * 99_999.0;
        assert!((squares / expected - 1.0).abs() < 0.03, "{squares} {expected}");
    }

    #[test]
    fn modcods_rise_and_the_best_one_is_selected() {
        assert!(MODCODS.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1));
        assert_eq!(modcod(-2.36), None);
        assert_eq!(modcod(1.0), Some((1.00, 0.988_858)));
        assert_eq!(modcod(100.0), Some((16.05, 4.453_027)));
    }

    #[test]
    fn rain_lowers_the_rate_and_the_sky_is_clear_at_both_ends() {
        for seed in 1..=10 {
            let series = made(&[], seed);
            assert_eq!(series.duration(), Duration::from_secs(1200));
            assert!(series.delays().unwrap().iter().all(|delay| *delay == Duration::from_millis(280)));
            let rates = mbps(&series);
            let most = rates.iter().copied().fold(0.0, f64::max);
            assert!((most - 50.0).abs() < 1e-9, "{most}");
            // 15 dB less 10 dB less the margin of 0.5 dB: QPSK 3/4, give or take scintillation.
            let bottom = rates[6000] / 50.0 * modcod(14.5).unwrap().1;
            assert!((1.18..1.6).contains(&bottom), "{bottom}");
            assert!(rates[..100].iter().chain(&rates[11_900..]).all(|rate| *rate > 40.0));
            let lost = series.losses().unwrap().iter().sum::<f64>() / 12_000.0;
            assert!(lost < 0.02, "{lost}");
        }
    }

    #[test]
    fn a_clear_sky_is_constant_and_a_deep_fade_is_an_outage() {
        let zero = |name| (name, Value::Number(0.0));
        let clear =
            made(&[zero("peak_db"), zero("scintillation_db"), ("attenuation_db", Value::Number(1.0))], 1);
        assert!(mbps(&clear)[0] == 50.0);
        let deep = made(&[("peak_db", Value::Number(30.0))], 1);
        let rates = mbps(&deep);
        assert_eq!((rates[6000], deep.losses().unwrap()[6000]), (0.0, 1.0));
        assert_eq!(Series::parse(&deep.to_csv()).unwrap(), deep);
    }
}
