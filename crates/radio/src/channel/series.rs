//! SINR over time from a file.

use std::fmt;
use units::Time;

/// The largest number of points of a series.
pub const MAX_POINTS: usize = 1_000_000;

/// What holds between two points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Between {
    /// The value of the earlier point.
    #[default]
    Held,
    /// A straight line in dB.
    Linear,
}

/// Points in time with their SINR. Before the first point holds the first value, after the last the last.
#[derive(Debug, Clone)]
pub struct Series {
    points: Vec<(Time, f64)>,
    between: Between,
    /// The number of points that are not later than the last call.
    passed: usize,
}

/// Why points are not a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesError {
    /// No points, or more than [`MAX_POINTS`].
    Count(usize),
    /// The line or point, from 1, that is not a time in seconds and a finite number of dB, or one for each site.
    Malformed(usize),
    /// The line or point, from 1, whose time is not after the one before.
    Order(usize),
}

impl fmt::Display for SeriesError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SeriesError::Count(count) => {
                write!(out, "a series of SINR has {count} points: 1 to {MAX_POINTS} are allowed")
            }
            SeriesError::Malformed(line) => {
                write!(
                    out,
                    "point {line} of a series of SINR: expected seconds and -300 to 300 dB, like \"0.5 12.3\", with one value for all \
                     sites, or one for each"
                )
            }
            SeriesError::Order(line) => {
                write!(out, "point {line} of a series of SINR is not after the point before it")
            }
        }
    }
}

impl std::error::Error for SeriesError {}

impl Series {
    /// A series of points with increasing times and finite values in dB.
    pub fn new(points: Vec<(Time, f64)>, between: Between) -> Result<Series, SeriesError> {
        if points.is_empty() || points.len() > MAX_POINTS {
            return Err(SeriesError::Count(points.len()));
        }
        if let Some(bad) = points.iter().position(|(_, db)| !db.is_finite()) {
            return Err(SeriesError::Malformed(bad + 1));
        }
        if let Some(bad) = points.windows(2).position(|pair| pair[0].0 >= pair[1].0) {
            return Err(SeriesError::Order(bad + 2));
        }
        Ok(Series { points, between, passed: 0 })
    }

    /// Reads lines of seconds and dB, separated by spaces, tabs or a comma: of the series of `site`, counted from 0,
    /// where each line has a value for each of `sites`; a line with one value has it for all. Empty lines and lines
    /// that start with `#` count for the number in an error, and are skipped.
    pub fn parse(text: &str, between: Between, (site, sites): (usize, usize)) -> Result<Series, SeriesError> {
        let mut points: Vec<(Time, f64)> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let point = point(line, site, sites).ok_or(SeriesError::Malformed(index + 1))?;
            if points.last().is_some_and(|last| last.0 >= point.0) {
                return Err(SeriesError::Order(index + 1));
            }
            if points.len() == MAX_POINTS {
                return Err(SeriesError::Count(MAX_POINTS + 1));
            }
            points.push(point);
        }
        Series::new(points, between)
    }

    /// The SINR in dB at `now`. Calls in the order of time cost no search.
    pub fn at(&mut self, now: Time) -> f64 {
        if self.passed > 0 && self.points[self.passed - 1].0 > now {
            self.passed = self.points.partition_point(|point| point.0 <= now);
        }
        while self.points.get(self.passed).is_some_and(|point| point.0 <= now) {
            self.passed += 1;
        }
        let Some(earlier) = self.passed.checked_sub(1).map(|index| self.points[index]) else {
            return self.points[0].1;
        };
        match (self.between, self.points.get(self.passed)) {
            (Between::Linear, Some(later)) => {
                let share =
                    now.since(earlier.0).as_nanos() as f64 / later.0.since(earlier.0).as_nanos() as f64;
                earlier.1 + share * (later.1 - earlier.1)
            }
            _ => earlier.1,
        }
    }
}

/// A line of a file: its time, and the value of a site.
fn point(line: &str, site: usize, sites: usize) -> Option<(Time, f64)> {
    let mut words = line.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    let seconds = words.next()?.parse::<f64>().ok().filter(|seconds| (0.0..1e9).contains(seconds))?;
    let (mut count, mut own) = (0, None);
    for word in words {
        let db = word.parse::<f64>().ok().filter(|db| (-300.0..=300.0).contains(db))?;
        if count == 0 || count == site {
            own = Some(db);
        }
        count += 1;
    }
    let valid = count == 1 || count == sites;
    valid.then_some((Time::from_nanos((seconds * 1e9).round() as u64), own?))
}
