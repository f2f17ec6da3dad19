//! A series as parts of a link: a server, a delay and a loss, all on the clock of the simulation.

use super::file::Series;
use super::{FILE, FileOptions, MODELS, Selected, of};
use crate::course::Course;
use crate::direction::DirectionOptions;
use crate::error::BuildError;
use crate::jitter::Jitter;
use crate::loss::Loss;
use crate::packet::Packet;
use crate::rate::{self, Changes, RateError, Server};
use random::Generator;
use units::parameter::{Arguments, Component};
use units::{Duration, Time};

/// What a series gives to a direction of a link; `None` where it has no such column.
#[derive(Default)]
pub(crate) struct Playback {
    pub(crate) rate: Option<Server>,
    /// The smallest delay.
    pub(crate) delay: Option<Duration>,
    /// What is added to the smallest delay over time, if it changes.
    pub(crate) shift: Option<Box<dyn Jitter>>,
    /// The loss, if it has the column; `Some(None)` if the column has nothing but zeros.
    pub(crate) loss: Option<Option<Box<dyn Loss>>>,
}

/// Plays the series of a row. `shared` is a stream of the link, from which both directions draw the same; `own` is that
/// of the losses of this direction.
pub(crate) fn play(
    name: &str,
    arguments: &Arguments,
    mut shared: Generator,
    own: Generator,
) -> Result<Playback, BuildError> {
    let offsets = shared.fork("offset");
    let Some(selected) = of(name, arguments, &mut shared)? else { return Ok(Playback::default()) };
    let Selected { series, circle, begin } = selected;
    let lasts = if circle { series.duration() } else { series.alive() };
    let offset = rate::offset_into(&begin.offset, lasts, offsets)?;
    let repeat = circle.then(|| series.duration());
    let rates = series.rates().map(|rates| {
        let steps: Vec<_> = series.times().iter().copied().zip(rates.iter().copied()).collect();
        Changes::from(&steps, repeat, offset).map(Server::Changes)
    });
    let least = series.delays().map(|delays| *delays.iter().min().expect("a series has at least one step"));
    let shift = series.delays().zip(least).and_then(|(delays, least)| {
        let shifts = delays.iter().map(|delay| (*delay - least).as_nanos() as i64);
        course(&series, shifts, repeat, offset)
    });
    let loss = series.losses().map(|losses| course(&series, losses.iter().copied(), repeat, offset));
    let lossy = |losses| -> Box<dyn Loss> { Box::new(Losses { losses, stream: own }) };
    Ok(Playback {
        rate: rates.transpose().map_err(RateError::Changes)?,
        delay: least,
        shift: shift.map(|shifts| -> Box<dyn Jitter> { Box::new(Shifts(shifts)) }),
        loss: loss.map(|loss| loss.map(lossy)),
    })
}

/// The series among the options of a direction of a link; the options of other carriers have none.
fn series_of(arguments: &Arguments) -> Option<&Component> {
    arguments.chosen(DirectionOptions::SERIES)
}

/// The server of the series among the options of a direction of a link, if it has rates. A series that is drawn anew for
/// each run is a sample.
pub fn server(arguments: &Arguments) -> Option<Server> {
    let series = series_of(arguments)?;
    let stream = || Generator::new(0, "describe");
    play(series.name, &series.arguments, stream(), stream()).ok()?.rate
}

/// The propagation delay of a direction of a link by its options: `delay`, or the smallest of its series. Of a series that
/// is drawn anew for each run it is a lower bound.
pub fn base_delay(arguments: &Arguments) -> Duration {
    let delays = series_of(arguments).and_then(|series| {
        if let Some(model) = MODELS.iter().find(|model| model.name == series.name) {
            return Some((model.least_delay)(&series.arguments));
        }
        if series.name != FILE {
            return None;
        }
        let file = series.arguments.value(FileOptions::FILE);
        Series::parse(&file.text).ok()?.delays()?.iter().copied().min()
    });
    delays.unwrap_or_else(|| arguments.value(DirectionOptions::DELAY))
}

/// The options of a direction of a link in whose place its series stands.
pub fn replaced(arguments: &Arguments) -> Vec<&'static str> {
    let Some(series) = series_of(arguments) else { return Vec::new() };
    let mut stream = Generator::new(0, "describe");
    let Ok(Some(selected)) = of(series.name, &series.arguments, &mut stream) else { return Vec::new() };
    let series = selected.series;
    let columns = [
        (DirectionOptions::RATE.name, series.rates().is_some()),
        (DirectionOptions::DELAY.name, series.delays().is_some()),
        (DirectionOptions::LOSS.name, series.losses().is_some()),
    ];
    columns.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect()
}

/// A column over the time of the simulation; `None` if it is zero throughout.
fn course<V: Copy + PartialEq + std::default::Default>(
    series: &Series,
    values: impl Iterator<Item = V>,
    repeat: Option<Duration>,
    offset: Duration,
) -> Option<Column<V>> {
    let mut steps: Vec<(Time, V)> = series.times().iter().copied().zip(values).collect();
    // Equal values are one step.
    steps.dedup_by(|later, earlier| later.1 == earlier.1);
    if steps.iter().all(|(_, value)| *value == V::default()) {
        return None;
    }
    let course = Course::new(steps, repeat);
    let course = course.expect("a series begins at zero, and its times rise up to the repetition");
    Some(Column { course, offset })
}

struct Column<V> {
    course: Course<V>,
    offset: Duration,
}

impl<V: Copy> Column<V> {
    fn at(&mut self, time: Time) -> V {
        self.course.at(time + self.offset)
    }
}

struct Shifts(Column<i64>);

impl Jitter for Shifts {
    fn shift(&mut self, done: Time) -> i64 {
        self.0.at(done)
    }
}

struct Losses {
    losses: Column<f64>,
    stream: Generator,
}

impl Loss for Losses {
    fn loses(&mut self, done: Time, _packet: &Packet) -> bool {
        self.stream.chance(self.losses.at(done))
    }
}
