//! Generated traces: a mmWave street canyon, LTE from a moving car.
//!
//! Each model is built from stated parts and fitted to stated numbers: docs/traces.md describes these, and the
//! limits of the models. `quiclab trace generate` writes these traces.

mod lte;
mod mmwave;
pub(crate) mod parts;

use super::Server;
use super::changes::Changes;
use super::error::RateError;
use super::offset::Begin;
use random::Generator;
use units::parameter::{Choice, Options, Row};
use units::{Duration, Rate, Time};

/// The width of a step of every generated trace.
pub const STEP: Duration = Duration::from_millis(10);
/// The maximum duration.
pub const LONGEST: Duration = Duration::from_secs(3600);

/// A model of traces.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// The name.
    pub name: &'static str,
    /// One line of description.
    pub about: &'static str,
    /// The minimum duration: a shorter trace would miss the stated statistics.
    pub shortest: Duration,
    /// Draws the rates of this number of steps, in Mbit/s. At least one is above zero.
    make: fn(&mut Generator, usize) -> Vec<f64>,
}

/// The models.
pub static MODELS: &[Model] = &[mmwave::MODEL, lte::MODEL];
const NAMES: &[&str] = &[mmwave::MODEL.name, lte::MODEL.name];

/// The options of a generated trace.
#[derive(Debug, Clone, Options)]
struct GeneratedOptions {
    /// walking below a mmWave base station, or LTE from a moving car
    model: ModelName,
    /// length, after which it starts again: 60 s (mmwave) or 30 s to 3600 s
    #[option(default = "120 s")]
    duration: Duration,
    /// seed of the trace, as in `quiclab trace generate`, equal in all runs (default: it follows from the run's seed)
    #[option(within = 0..=i64::MAX as u64)]
    seed: Option<u64>,
    #[options]
    begin: Begin,
}

/// The names of [`MODELS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
enum ModelName {
    Mmwave,
    LteDriving,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "generated",
    about: "a trace from a model, different for each seed, repeated without end",
    parameters: GeneratedOptions::PARAMETERS,
    build: &|arguments, mut stream| {
        let options = GeneratedOptions::of(arguments);
        let (model, duration) = (options.model.word(), options.duration);
        let begin = stream.fork("offset");
        let steps = match options.seed {
            Some(seed) => generate(model, duration, seed)?,
            None => drawn(model, duration, &mut stream)?,
        };
        let lasts = STEP * steps.len() as u64;
        let from = options.begin.offset(lasts, begin)?;
        Changes::from(&steps, Some(lasts), from).map(Server::Changes).map_err(RateError::Changes)
    },
};

/// The trace of a model and a seed: rates with their start times, each for [`STEP`].
///
/// # Errors
/// If there is no such model, or the duration is not between its minimum and [`LONGEST`].
pub fn generate(model: &str, duration: Duration, seed: u64) -> Result<Vec<(Time, Rate)>, RateError> {
    drawn(model, duration, &mut Generator::new(seed, &format!("trace {model}")))
}

fn drawn(model: &str, duration: Duration, stream: &mut Generator) -> Result<Vec<(Time, Rate)>, RateError> {
    let Some(model) = MODELS.iter().find(|known| known.name == model) else {
        return Err(RateError::Model { name: model.to_owned(), known: NAMES });
    };
    if !(model.shortest..=LONGEST).contains(&duration) {
        return Err(RateError::Length {
            duration,
            model: model.name,
            shortest: model.shortest,
            longest: LONGEST,
        });
    }
    let steps = (duration.as_nanos() + STEP.as_nanos() / 2) / STEP.as_nanos();
    let rates = (model.make)(stream, steps as usize).into_iter().map(rate);
    Ok(rates.enumerate().map(|(at, rate)| (Time::ZERO + STEP * at as u64, rate)).collect())
}

/// Converts Mbit/s, rounded to kbit/s.
fn rate(mbps: f64) -> Rate {
    Rate::from_bits_per_sec((mbps * 1e3).round() as u64 * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::parameter::{Arguments, Component, Value};

    fn server(model: &str, seed: Option<u64>, stream: Generator) -> Server {
        let offset = Component { room: "offsets", name: "none", arguments: Arguments::default() };
        let mut arguments = vec![
            ("model", Value::Text(model.to_owned())),
            ("duration", Value::Duration(Duration::from_secs(60))),
            ("offset", Value::Component(offset)),
        ];
        arguments.extend(seed.map(|seed| ("seed", Value::Integer(seed))));
        (ROW.build)(&Arguments(arguments), stream).unwrap()
    }

    /// Bytes that it can send in each of the first seconds.
    fn course(server: &Server) -> Vec<u64> {
        let at = |s| Time::ZERO + Duration::from_secs(s);
        (0..20).map(|s| server.capacity(at(s), at(s + 1)).unwrap().as_bytes()).collect()
    }

    #[test]
    fn each_run_has_a_trace_of_its_own_unless_a_seed_is_given() {
        for model in MODELS {
            let of = |seed, run: u64| {
                course(&server(model.name, seed, Generator::new(run, "link a forward rate")))
            };
            assert_eq!(of(None, 1), of(None, 1), "{}", model.name);
            assert_ne!(of(None, 1), of(None, 2), "{}", model.name);
            assert_eq!(of(Some(7), 1), of(Some(7), 2), "{}", model.name);
            assert_ne!(of(Some(7), 1), of(Some(8), 1), "{}", model.name);
            let steps = generate(model.name, Duration::from_secs(60), 7).unwrap();
            let written = Changes::from(&steps, Some(Duration::from_secs(60)), Duration::ZERO).unwrap();
            assert_eq!(of(Some(7), 1), course(&Server::Changes(written)), "{}", model.name);
        }
    }

    #[test]
    fn steps_are_ten_milliseconds_and_durations_are_bounded() {
        let steps = generate("lte-driving", Duration::from_millis(30_014), 1).unwrap();
        assert_eq!((steps.len(), steps[1].0), (3001, Time::ZERO + STEP));
        let error = |model, s| generate(model, Duration::from_secs(s), 1).unwrap_err().to_string();
        assert_eq!(error("mmwave", 59), "59 s; expected from 60 s to 3600 s for mmwave");
        assert_eq!(error("lte-driving", 3601), "3601 s; expected from 30 s to 3600 s for lte-driving");
        assert_eq!(error("wifi", 60), "no model \"wifi\"; expected one of mmwave, lte-driving");
    }
}
