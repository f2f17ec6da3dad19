//! A value over time: a list of times and values, or a table in a file.

use crate::rate::{SeriesError, Table, TableKind};
use std::fmt;
use units::{Duration, Time};

/// A value that changes at given times.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Course<V> {
    steps: Vec<(Time, V)>,
    repeat: Option<Duration>,
    /// The step of the last query, which the next one usually shares.
    last: usize,
}

impl<V: Copy> Course<V> {
    /// Creates a course with these values from these times on, repeated every `repeat`.
    ///
    /// # Errors
    /// If the list is empty, does not start at zero, is not increasing, or ends after its repetition.
    pub(crate) fn new(steps: Vec<(Time, V)>, repeat: Option<Duration>) -> Result<Course<V>, CourseError> {
        match steps.first() {
            None => return Err(CourseError::Empty),
            Some((at, _)) if *at != Time::ZERO => return Err(CourseError::FirstStep(*at)),
            Some(_) => {}
        }
        if let Some(pair) = steps.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return Err(CourseError::NotRising { before: pair[0].0, at: pair[1].0 });
        }
        let last = steps[steps.len() - 1].0;
        if let Some(repeat) = repeat.filter(|repeat| Time::ZERO + *repeat <= last) {
            return Err(CourseError::RepeatTooShort { repeat, last });
        }
        Ok(Course { steps, repeat, last: 0 })
    }

    /// Reads a course from a table of times and one value, whose last value stays, or which is repeated.
    ///
    /// # Errors
    /// If a line is invalid, or the repetition ends before the last line.
    pub(crate) fn parse(
        text: &str,
        kind: TableKind,
        repeat: Option<Duration>,
        value: impl Fn(f64) -> V,
    ) -> Result<Course<V>, CourseError> {
        let table = Table::parse(text, kind).map_err(CourseError::File)?;
        let values = table.columns.into_iter().flat_map(|(_, values)| values).map(value);
        Course::new(table.times.into_iter().zip(values).collect(), repeat)
    }

    /// The value at a time.
    pub(crate) fn at(&mut self, time: Time) -> V {
        let phase = self.repeat.map_or(time.as_nanos(), |repeat| time.as_nanos() % repeat.as_nanos());
        let phase = Time::from_nanos(phase);
        let holds = |step: usize| {
            self.steps[step].0 <= phase && self.steps.get(step + 1).is_none_or(|(next, _)| phase < *next)
        };
        if !holds(self.last) {
            self.last = self.steps.partition_point(|(at, _)| *at <= phase) - 1;
        }
        debug_assert!(self.steps[self.last].0 <= phase, "a step holds from its time on");
        self.steps[self.last].1
    }

    /// Stops unless the step of the last query is one, between those before and after it. Returns its value.
    pub(crate) fn check(&self) -> V {
        let around = &self.steps[self.last.saturating_sub(1)..(self.last + 2).min(self.steps.len())];
        assert!(
            around.windows(2).all(|pair| pair[0].0 < pair[1].0),
            "the steps of a course follow each other"
        );
        assert!(self.steps[0].0 == Time::ZERO, "a course begins at zero: each time has a step");
        self.steps[self.last].1
    }
}

/// An error in a course.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CourseError {
    /// There are no steps.
    Empty,
    /// The first step is at this time, not at zero.
    FirstStep(Time),
    /// A step does not follow the previous one in time.
    NotRising {
        /// The previous step.
        before: Time,
        /// The step.
        at: Time,
    },
    /// The list repeats before its last step.
    RepeatTooShort {
        /// The period of the repetition.
        repeat: Duration,
        /// The last step.
        last: Time,
    },
    /// A file is not a table of times and values.
    File(SeriesError),
}

impl fmt::Display for CourseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CourseError::Empty => f.write_str("no steps; expected at least one, at \"0 s\""),
            CourseError::FirstStep(at) => write!(f, "the first step is at {at}, not at \"0 s\""),
            CourseError::NotRising { before, at } => {
                write!(f, "the step at {at} does not come after the one at {before}")
            }
            CourseError::RepeatTooShort { repeat, last } => {
                write!(f, "repeat {repeat} is not after the last step at {last}")
            }
            CourseError::File(error) => error.fmt(f),
        }
    }
}
impl std::error::Error for CourseError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_value_stays_until_the_next_and_the_list_repeats() {
        let steps = || vec![(at(0), 'a'), (at(10), 'b'), (at(15), 'c')];
        let mut once = Course::new(steps(), None).unwrap();
        assert_eq!(
            [0, 9, 10, 14, 15, 99_999, 3].map(|ms| once.at(at(ms))),
            ['a', 'a', 'b', 'b', 'c', 'c', 'a']
        );
        let mut again = Course::new(steps(), Some(Duration::from_millis(20))).unwrap();
        assert_eq!(
            [19, 20, 29, 30, 35, 2_000_012].map(|ms| again.at(at(ms))),
            ['c', 'a', 'a', 'b', 'c', 'b']
        );
    }

    #[test]
    fn lists_that_make_no_sense_are_refused() {
        let error = |steps: &[u64], repeat: Option<u64>| {
            let steps = steps.iter().map(|ms| (at(*ms), ())).collect();
            Course::new(steps, repeat.map(Duration::from_millis)).unwrap_err().to_string()
        };
        assert_eq!(error(&[], None), "no steps; expected at least one, at \"0 s\"");
        assert_eq!(error(&[1], None), "the first step is at 1 ms, not at \"0 s\"");
        assert_eq!(error(&[0, 2, 2], None), "the step at 2 ms does not come after the one at 2 ms");
        assert_eq!(error(&[0, 5], Some(5)), "repeat 5 ms is not after the last step at 5 ms");
    }

    /// As the other tables: every form of CSV, and the mean of lines of the same time.
    #[test]
    fn files_are_tables_and_mistakes_have_their_line() {
        let kind = crate::jitter::TABLE;
        let read = |text: &str| Course::parse(text, kind, None, |nanos| Duration::from_nanos(nanos as u64));
        for text in [
            "0 20\n  1.5   0.25\n100 7\n\n",
            "time_ms,delay_ms\n0,20\n1.5,0.25\n100,7\n",
            "\u{feff}Time_s;Delay_ms;note\r\n0;20;a\r\n0,0015;0,25;\r\n0,1;7;\r\n",
            "# time_ms delay_ms\n0e0\t2e1\n1.5\t0.25\n1e2\t7\n",
            "7 10\n7 30\n8.5 0.25\n107 7\n",
        ] {
            let mut course = read(text).unwrap();
            assert_eq!(course.at(Time::from_nanos(1_499_999)), Duration::from_millis(20), "{text}");
            assert_eq!(course.at(Time::from_nanos(1_500_000)), Duration::from_micros(250), "{text}");
            assert_eq!(course.at(at(100)), Duration::from_millis(7), "{text}");
        }
        for (text, line) in [
            ("0 1\n2", 2),
            ("0 1\n2 3 4", 2),
            ("x 1", 1),
            ("0 -1", 1),
            ("0 1\n\n2 -1", 3),
            ("0 .", 1),
            ("0 1\n5 2\n4 3", 3),
            ("0 1\n1 1e99", 2),
            (" \n", 1),
        ] {
            let line_of = |error: &SeriesError| error.line == line;
            assert!(matches!(read(text), Err(CourseError::File(error)) if line_of(&error)), "{text:?}");
        }
        let short = Course::parse("0 1\n5 2\n", kind, Some(Duration::from_millis(5)), |nanos| nanos);
        assert_eq!(short.unwrap_err().to_string(), "repeat 5 ms is not after the last step at 5 ms");
    }
}
