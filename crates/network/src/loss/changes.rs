//! Loss with a probability that changes over time, given by a list or a file.

use super::Loss;
use crate::course::Course;
use crate::error::BuildError;
use crate::packet::Packet;
use crate::rate::{Column, TableKind};
use random::Generator;
use units::parameter::{File, Options, Row};
use units::{Duration, Time};

/// The options of a list of losses.
#[derive(Debug, Clone, Options)]
struct ChangesOptions {
    /// [time, probability] pairs by rising time, the first at "0 s"
    #[option(probability)]
    steps: Vec<(Duration, f64)>,
    /// time after which the list starts again; without it the last probability stays
    repeat: Option<Duration>,
}

/// The options of a file of losses.
#[derive(Debug, Clone, Options)]
struct TraceOptions {
    /// each line has a time in ms, counted from the first, and a probability from 0 to 1; or CSV with the header
    /// time_ms,loss (or another unit of time)
    #[option(example = "0 0.5\n5 1\n9.5 0\n")]
    file: File,
    /// time after which the list starts again; without it the last probability stays
    repeat: Option<Duration>,
}

/// Times and probabilities; without names the times are in milliseconds.
pub(crate) const TABLE: TableKind = TableKind { columns: &[Column::Loss], unnamed: ["time_ms", "loss"] };

pub(crate) const LIST: Row<super::Build> = Row {
    name: "changes",
    about: "each packet is lost with a probability that changes at given times",
    parameters: ChangesOptions::PARAMETERS,
    build: &|arguments, stream| {
        let options = ChangesOptions::of(arguments);
        let steps = options.steps.into_iter().map(|(at, probability)| (Time::ZERO + at, probability));
        let course = Course::new(steps.collect(), options.repeat);
        let course = course.map_err(|error| BuildError::Course { path: None, error })?;
        Ok(Some(Box::new(Changes { course, stream })))
    },
};

pub(crate) const FILE: Row<super::Build> = Row {
    name: "trace",
    about: "each packet is lost with a probability that a file gives over time",
    parameters: TraceOptions::PARAMETERS,
    build: &|arguments, stream| {
        let TraceOptions { file, repeat } = TraceOptions::of(arguments);
        let course = Course::parse(&file.text, TABLE, repeat, |loss| loss);
        let course = course.map_err(|error| BuildError::Course { path: Some(file.path), error })?;
        Ok(Some(Box::new(Changes { course, stream })))
    },
};

struct Changes {
    course: Course<f64>,
    stream: Generator,
}

impl Loss for Changes {
    fn loses(&mut self, done: Time, _packet: &Packet) -> bool {
        self.stream.chance(self.course.at(done))
    }
    fn check(&self) {
        let probability = self.course.check();
        assert!((0.0..=1.0).contains(&probability), "each step of the loss is a probability");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_that_of_the_time() {
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let course = Course::new(vec![(at(0), 0.0), (at(10), 0.25), (at(20), 1.0)], None).unwrap();
        let mut loss = Changes { course, stream: Generator::new(7, "test") };
        let address = ([10, 0, 0, 1], 1).into();
        let packet = Packet::new(address, address, Vec::new(), None);
        let mut lost = |ms: u64| (0..10_000).filter(|_| loss.loses(at(ms), &packet)).count();
        assert_eq!((lost(0), lost(9), lost(20)), (0, 0, 10_000));
        assert!((2350..2650).contains(&lost(15)));
    }

    #[test]
    fn probabilities_in_files_are_at_most_one() {
        let read = |cell: &str| Course::parse(&format!("0 {cell}\n"), TABLE, None, |loss| loss);
        assert_eq!(
            ["0", "0.25", "1", "1e-3"].map(|cell| read(cell).unwrap().at(Time::ZERO)),
            [0.0, 0.25, 1.0, 0.001]
        );
        for cell in ["1.01", "-0.1", "nan", "", "2 %", "1e1", "inf"] {
            assert!(read(cell).is_err(), "{cell}");
        }
    }
}
