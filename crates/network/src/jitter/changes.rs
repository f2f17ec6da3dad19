//! Delay that changes at given times, given by a list or a file.

use super::{Jitter, nanos};
use crate::course::Course;
use crate::error::BuildError;
use crate::rate::{Column, TableKind};
use units::parameter::{Arguments, Default, Kind, Parameter, Row, Value};
use units::{Duration, Time};

/// Times and delays; without names both in milliseconds.
pub(crate) const TABLE: TableKind = TableKind { columns: &[Column::Delay], unnamed: ["time_ms", "delay_ms"] };

const REPEAT: Parameter = Parameter {
    name: "repeat",
    kind: Kind::Duration,
    default: Default::Absent,
    about: "time after which the list starts again; without it the last delay stays",
};

pub(crate) const LIST: Row<super::Build> = Row {
    name: "changes",
    about: "a delay on top of the propagation delay that changes at given times",
    parameters: &[
        Parameter {
            name: "steps",
            kind: Kind::Pairs(&Kind::Duration, &Kind::Duration),
            default: Default::Required,
            about: "[time, delay] pairs by rising time, the first at \"0 s\"",
        },
        REPEAT,
    ],
    build: |arguments, _| {
        let steps = arguments.list("steps");
        let steps = steps.iter().filter_map(|pair| match pair {
            Value::List(pair) => match pair.as_slice() {
                [Value::Duration(at), Value::Duration(delay)] => Some((Time::ZERO + *at, *delay)),
                _ => None,
            },
            _ => None,
        });
        let course = Course::new(steps.collect(), repeat(arguments));
        let course = course.map_err(|error| BuildError::Course { path: None, error })?;
        Ok(Some(Box::new(Changes { course })))
    },
};

pub(crate) const FILE: Row<super::Build> = Row {
    name: "trace",
    about: "a delay on top of the propagation delay that a file gives over time",
    parameters: &[
        Parameter {
            name: "file",
            kind: Kind::File("0 0.5\n5 1\n9.5 0\n"),
            default: Default::Required,
            about: "each line has a time in ms, counted from the first, and the delay in ms; or CSV with the header \
                    time_ms,delay_ms (or another unit)",
        },
        REPEAT,
    ],
    build: |arguments, _| {
        let file = arguments.file("file");
        let course =
            Course::parse(&file.text, TABLE, repeat(arguments), |nanos| Duration::from_nanos(nanos as u64));
        let course = course.map_err(|error| BuildError::Course { path: Some(file.path.clone()), error })?;
        Ok(Some(Box::new(Changes { course })))
    },
};

fn repeat(arguments: &Arguments) -> Option<Duration> {
    arguments.has(REPEAT.name).then(|| arguments.duration(REPEAT.name))
}

struct Changes {
    course: Course<Duration>,
}

impl Jitter for Changes {
    fn shift(&mut self, done: Time) -> i64 {
        nanos(self.course.at(done))
    }
}
