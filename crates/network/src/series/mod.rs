//! Series: rate, delay and loss of a direction of a link over time, on one clock.
//!
//! A series has one or more of these columns. Each takes the place of the option of the same name, and all of them change at
//! the same times, start again at the same time, and begin at the same offset. The rate is that at which a packet is sent,
//! over a change piece by piece; delay and loss are those at the end of its last bit. A shorter delay does not change the
//! order of packets unless the link has `reorder`.

mod file;
mod geo;
mod leo;
mod played;

pub use crate::rate::LONGEST_DELAY;
pub use file::Series;
pub(crate) use file::TABLE;
pub(crate) use played::{Playback, play};
pub use played::{base_delay, replaced, server};

use crate::error::BuildError;
use crate::rate::{RateError, SeriesError};
use random::Generator;
use units::Duration;
use units::parameter::{Arguments, Component, File, Key, OptionError, Options, Parameter, Room, Row};

/// The option of the part of a series with which a run begins.
#[derive(Debug, Clone, Options)]
struct Begin {
    /// where in the series a run begins, the same for both directions: none (at its start), a time, or random, drawn
    /// anew for each seed
    #[option(default = "none", room = "offsets")]
    offset: Component,
}

/// The seed of a series that is drawn.
#[derive(Debug, Clone, Options)]
struct Drawn {
    /// seed of the series, as in `quiclab trace generate`, equal in all runs (default: it follows from the run's seed,
    /// the same for both directions of a link)
    #[option(within = 0..=i64::MAX as u64)]
    seed: Option<u64>,
    #[options]
    begin: Begin,
}

/// The name of a series in a file.
const FILE: &str = "file";

/// The options of a series in a file.
#[derive(Debug, Clone, Options)]
struct FileOptions {
    /// CSV with the header time_ms (or another unit of time) and one or more of rate_mbps, delay_ms (one way), loss
    /// (0 to 1): from time 0 on, each line until the next one
    #[option(example = "time_ms,rate_mbps,delay_ms,loss\n0,20,15,0\n5,0,15,0\n9,7,12.5,0.5\n")]
    file: File,
    /// whether it starts again at its end; otherwise its last line stays in force
    #[option(default = true)]
    circle: bool,
    #[options]
    begin: Begin,
}

/// The option with the table of a series, and of every other component of this crate that has one.
pub(crate) const FILE_OPTION: Key<File> = FileOptions::FILE;

/// A model of a path, which draws series.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// Its name, which is that of its row.
    pub name: &'static str,
    /// One line of description.
    pub about: &'static str,
    /// The minimum duration, and why a shorter series would not be of this model.
    pub shortest: (Duration, &'static str),
    /// Its options.
    pub parameters: &'static [Parameter],
    /// Draws a series. The options are valid by themselves.
    make: fn(&Arguments, &mut Generator) -> Result<Series, OptionError>,
    /// What every model has.
    drawn: fn(&Arguments) -> Drawn,
    /// The smallest delay of any series with these options.
    least_delay: fn(&Arguments) -> Duration,
}

/// The models.
pub static MODELS: &[Model] = &[leo::MODEL, geo::MODEL];

/// The maximum duration of a generated series.
pub const LONGEST: Duration = Duration::from_secs(3600);

/// A series, and how it is played.
struct Selected {
    series: Series,
    /// Whether it starts again at its end.
    circle: bool,
    begin: Begin,
}

/// Reads or draws a series; `None` without one. The stream is that of the link: both directions draw the same.
type Build = fn(&Arguments, &mut Generator) -> Result<Option<Selected>, BuildError>;

/// The kinds of series.
static SERIES: &[Row<Build>] = &[
    Row {
        name: "none",
        about: "none: rate, delay and loss are the link's own options",
        parameters: &[],
        build: |_, _| Ok(None),
    },
    Row {
        name: FILE,
        about: "a file; each of its columns replaces the link's option of that name",
        parameters: FileOptions::PARAMETERS,
        build: |arguments, _| {
            let FileOptions { file, circle, begin } = FileOptions::of(arguments);
            let fail = |error: SeriesError| RateError::Series { path: file.path.clone(), error };
            Ok(Some(Selected { series: Series::parse(&file.text).map_err(fail)?, circle, begin }))
        },
    },
    leo::MODEL.row(|arguments, stream| seeded(&leo::MODEL, arguments, stream)),
    geo::MODEL.row(|arguments, stream| seeded(&geo::MODEL, arguments, stream)),
];

impl Model {
    const fn row(&self, build: Build) -> Row<Build> {
        Row { name: self.name, about: self.about, parameters: self.parameters, build }
    }
}

/// The room of the series as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    let about = "rate, delay and loss of a direction of a link over time, on one clock";
    Room::of("series", about, SERIES, Some((FILE, FileOptions::FILE.name))).checked_by(check)
}

fn check(name: &str, arguments: &Arguments) -> Result<(), OptionError> {
    let Err(error) = play(name, arguments, Generator::new(0, "check"), Generator::new(0, "check")) else {
        return Ok(());
    };
    let option = match &error {
        BuildError::Option { option, .. } => option,
        BuildError::Rate(error) => error.option().unwrap_or(FileOptions::FILE.name),
        error => unreachable!("a series fails by an option or by its rates: {error}"),
    };
    Err((option, error.to_string()))
}

/// Draws the series of a model and a seed, with all options of its row but the seed.
///
/// # Errors
/// If there is no such model, or an option is out of range; the error names the option.
pub fn generate(model: &str, arguments: &Arguments, seed: u64) -> Result<Series, BuildError> {
    let Some(model) = MODELS.iter().find(|known| known.name == model) else {
        return Err(BuildError::Unknown { room: "series", name: model.to_owned() });
    };
    drawn(model, arguments, &mut Generator::new(seed, &format!("series {}", model.name)))
}

fn drawn(model: &Model, arguments: &Arguments, stream: &mut Generator) -> Result<Series, BuildError> {
    let series = (model.make)(arguments, stream);
    series.map_err(|(option, problem)| BuildError::Option { option, problem })
}

impl Model {
    /// The problem of a duration that the model does not have.
    fn check(&self, duration: Duration) -> Result<(), OptionError> {
        let (shortest, why) = self.shortest;
        if (shortest..=LONGEST).contains(&duration) {
            return Ok(());
        }
        let expected = format!("expected from {shortest} to {LONGEST} for {}", self.name);
        Err(("duration", format!("{duration}; {expected}: a shorter one {why}")))
    }
}

/// The series of a model with its own seed, if it has one, or else drawn from the stream.
fn seeded(
    model: &Model,
    arguments: &Arguments,
    stream: &mut Generator,
) -> Result<Option<Selected>, BuildError> {
    let Drawn { seed, begin } = (model.drawn)(arguments);
    let series = match seed {
        Some(seed) => generate(model.name, arguments, seed),
        None => drawn(model, arguments, stream),
    };
    Ok(Some(Selected { series: series?, circle: true, begin }))
}

/// The series of a row, if it has one.
fn of(name: &str, arguments: &Arguments, stream: &mut Generator) -> Result<Option<Selected>, BuildError> {
    match SERIES.iter().find(|row| row.name == name) {
        Some(row) => (row.build)(arguments, stream),
        None => Err(BuildError::Unknown { room: "series", name: name.to_owned() }),
    }
}
