//! A value over time: a list of times and values, or a file with one of them in each line.

use std::fmt;
use units::{Duration, Time};

/// The maximum number of steps: a day in steps of 10 ms.
pub const MAX_STEPS: usize = 10_000_000;

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

    /// Reads a course from a file: each line has a time in milliseconds, whole or with decimals, and a value
    /// for `read`. Empty lines at the end are allowed.
    ///
    /// # Errors
    /// Those of [`Course::new`]; also if a line is invalid, with its number, or if there are more than
    /// [`MAX_STEPS`].
    pub(crate) fn parse(
        text: &str,
        repeat: Option<Duration>,
        read: impl Fn(&str) -> Option<V>,
    ) -> Result<Course<V>, CourseError> {
        let mut steps = Vec::new();
        for (number, line) in (1..).zip(text.trim_end().lines()) {
            let mut words = line.split_whitespace();
            let step = match (words.next().and_then(millis), words.next().and_then(&read), words.next()) {
                (Some(at), Some(value), None) => (Time::ZERO + at, value),
                _ => {
                    return Err(CourseError::Line { number, found: line.chars().take(40).collect() });
                }
            };
            if number > MAX_STEPS {
                return Err(CourseError::TooLong(MAX_STEPS));
            }
            steps.push(step);
        }
        Course::new(steps, repeat)
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
        self.steps[self.last].1
    }
}

/// Exact milliseconds with up to six decimals: `"12"`, `"0.25"`.
pub(crate) fn millis(text: &str) -> Option<Duration> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole.checked_mul(1_000_000)?.checked_add(part).map(Duration::from_nanos)
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
    /// A line of a file is not a time and a value.
    Line {
        /// The number of the line, from 1.
        number: usize,
        /// The line, or its beginning.
        found: String,
    },
    /// There are more steps than this.
    TooLong(usize),
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
            CourseError::Line { number, found } => {
                write!(f, "{number}: found {found:?}, expected milliseconds and a value, like \"1500 0.02\"")
            }
            CourseError::TooLong(most) => write!(f, "more than {most} steps"),
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

    #[test]
    fn files_are_read_strictly_and_mistakes_have_their_line() {
        let read = |text: &str| Course::parse(text, None, millis);
        let mut course = read("0 20\n  1.5   0.25\n100 7\n\n").unwrap();
        assert_eq!(course.at(Time::from_nanos(1_499_999)), Duration::from_millis(20));
        assert_eq!(course.at(Time::from_nanos(1_500_000)), Duration::from_micros(250));
        for (text, line) in [
            ("0 1\n2", 2),
            ("0 1\n2 3 4", 2),
            ("x 1", 1),
            ("0 -1", 1),
            ("0 1.0000001", 1),
            ("0 1\n\n2 1", 2),
            ("0 .", 1),
            ("0 1e3", 1),
        ] {
            assert!(
                matches!(read(text), Err(CourseError::Line { number, .. }) if number == line),
                "{text:?}"
            );
        }
        assert_eq!(read("0 1\n5 2\n5 3").err(), Some(CourseError::NotRising { before: at(5), at: at(5) }));
        assert_eq!(read(" \n").err(), Some(CourseError::Empty));
        assert_eq!(millis("18446744073709551615"), None);
    }
}
