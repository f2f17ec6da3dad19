//! Delay that changes at given times, given by a list or a file.

use super::{Jitter, nanos};
use crate::course::Course;
use crate::error::BuildError;
use crate::rate::{Column, TableKind};
use units::parameter::{File, Options, Row};
use units::{Duration, Time};

/// The options of a list of delays.
#[derive(Debug, Clone, Options)]
struct ChangesOptions {
    /// [time, delay] pairs by rising time, the first at "0 s"
    steps: Vec<(Duration, Duration)>,
    /// time after which the list starts again; without it the last delay stays
    repeat: Option<Duration>,
}

/// The options of a file of delays.
#[derive(Debug, Clone, Options)]
struct TraceOptions {
    /// each line has a time in ms, counted from the first, and the delay in ms; or CSV with the header
    /// time_ms,delay_ms (or another unit)
    #[option(example = "0 0.5\n5 1\n9.5 0\n")]
    file: File,
    /// time after which the list starts again; without it the last delay stays
    repeat: Option<Duration>,
}

/// Times and delays; without names both in milliseconds.
pub(crate) const TABLE: TableKind = TableKind { columns: &[Column::Delay], unnamed: ["time_ms", "delay_ms"] };

pub(crate) const LIST: Row<super::Build> = Row {
    name: "changes",
    about: "a delay on top of the propagation delay that changes at given times",
    parameters: ChangesOptions::PARAMETERS,
    build: &|arguments, _| {
        let options = ChangesOptions::of(arguments);
        let steps = options.steps.into_iter().map(|(at, delay)| (Time::ZERO + at, delay));
        let course = Course::new(steps.collect(), options.repeat);
        let course = course.map_err(|error| BuildError::Course { path: None, error })?;
        Ok(Some(Box::new(Changes { course })))
    },
};

pub(crate) const FILE: Row<super::Build> = Row {
    name: "trace",
    about: "a delay on top of the propagation delay that a file gives over time",
    parameters: TraceOptions::PARAMETERS,
    build: &|arguments, _| {
        let TraceOptions { file, repeat } = TraceOptions::of(arguments);
        let course = Course::parse(&file.text, TABLE, repeat, |nanos| Duration::from_nanos(nanos as u64));
        let course = course.map_err(|error| BuildError::Course { path: Some(file.path), error })?;
        Ok(Some(Box::new(Changes { course })))
    },
};

struct Changes {
    course: Course<Duration>,
}

impl Jitter for Changes {
    fn shift(&mut self, done: Time) -> i64 {
        nanos(self.course.at(done))
    }
    fn check(&self) {
        self.course.check();
    }
}
