//! The consumers of a run's records.

use crate::{Interest, Log, Record, Subject};
use std::io;

/// A consumer of the records of a run.
///
/// The host calls [`Sink::interest`] once before the run, passes every record in the order of time, and calls
/// [`Sink::finish`] at the end. After an error the sink gets no further records.
pub trait Sink {
    /// The events that the sink needs. It must ignore others, which may still be passed.
    fn interest(&self) -> Interest;
    /// Consumes a record.
    ///
    /// # Errors
    /// The error of the sink's output, such as a full disk.
    fn record(&mut self, subject: &Subject, record: &Record) -> io::Result<()>;
    /// Consumes records of one subject, in order.
    ///
    /// # Errors
    /// The error of the sink's output. The records after it are lost.
    fn records(&mut self, subject: &Subject, records: &[Record]) -> io::Result<()> {
        records.iter().try_for_each(|record| self.record(subject, record))
    }
    /// Consumes all records of a log of one subject, and removes them.
    ///
    /// # Errors
    /// The error of the sink's output. The records after it are lost.
    fn take(&mut self, subject: &Subject, log: &mut Log) -> io::Result<()> {
        log.pass_on(|records| self.records(subject, records))
    }
    /// Ends the run: flushes buffers.
    ///
    /// # Errors
    /// The error of the sink's output.
    fn finish(&mut self) -> io::Result<()>;
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn interest(&self) -> Interest {
        (**self).interest()
    }
    fn record(&mut self, subject: &Subject, record: &Record) -> io::Result<()> {
        (**self).record(subject, record)
    }
    fn records(&mut self, subject: &Subject, records: &[Record]) -> io::Result<()> {
        (**self).records(subject, records)
    }
    fn take(&mut self, subject: &Subject, log: &mut Log) -> io::Result<()> {
        (**self).take(subject, log)
    }
    fn finish(&mut self) -> io::Result<()> {
        (**self).finish()
    }
}

/// Several sinks as one. Its interest is the union of theirs, and each gets only the events of its own interest.
#[derive(Default)]
pub struct Fan<'a> {
    sinks: Vec<(Interest, Box<dyn Sink + 'a>)>,
}

impl<'a> Fan<'a> {
    /// Creates an empty fan.
    pub fn new() -> Fan<'a> {
        Fan::default()
    }
    /// Adds a sink. To use it after the run, add `&mut sink`.
    pub fn add(&mut self, sink: impl Sink + 'a) {
        self.sinks.push((sink.interest(), Box::new(sink)));
    }
    /// Whether there are no sinks.
    pub fn is_empty(&self) -> bool {
        self.sinks.is_empty()
    }
}

impl Sink for Fan<'_> {
    fn interest(&self) -> Interest {
        self.sinks.iter().fold(Interest::NONE, |all, (interest, _)| all.or(*interest))
    }
    fn record(&mut self, subject: &Subject, record: &Record) -> io::Result<()> {
        for (interest, sink) in &mut self.sinks {
            if interest.covers(&record.event) {
                sink.record(subject, record)?;
            }
        }
        Ok(())
    }
    /// With one sink, the log has only events that it needs; with several, record by record, so that after an error of one
    /// all have the same.
    fn take(&mut self, subject: &Subject, log: &mut Log) -> io::Result<()> {
        match &mut self.sinks[..] {
            [(_, sink)] => sink.take(subject, log),
            _ => log.pass_on(|records| records.iter().try_for_each(|record| self.record(subject, record))),
        }
    }
    /// Finishes every sink, even if one fails, and returns the first error.
    fn finish(&mut self) -> io::Result<()> {
        let mut first = Ok(());
        for (_, sink) in &mut self.sinks {
            first = first.and(sink.finish());
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Metrics, Role, Side, Subjects};
    use units::Time;

    struct Counter {
        interest: Interest,
        records: usize,
        finished: bool,
        fails: bool,
    }

    impl Counter {
        fn new(interest: Interest) -> Counter {
            Counter { interest, records: 0, finished: false, fails: false }
        }
    }

    impl Sink for Counter {
        fn interest(&self) -> Interest {
            self.interest
        }
        fn record(&mut self, _: &Subject, _: &Record) -> io::Result<()> {
            self.records += 1;
            Ok(())
        }
        fn finish(&mut self) -> io::Result<()> {
            self.finished = true;
            if self.fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    #[test]
    fn a_fan_has_the_union_of_interests_and_filters_for_each_sink() {
        let mut gauges = Counter::new(Interest { metrics: true, ..Interest::NONE });
        let mut lifecycle = Counter::new(Interest { lifecycle: true, ..Interest::NONE });
        gauges.fails = true;
        let mut subjects = Subjects::new();
        let end = subjects.register("download", Role::Connection(Side::Client));
        let mut fan = Fan::new();
        assert!(fan.is_empty());
        assert_eq!(fan.interest(), Interest::NONE);
        fan.add(&mut gauges);
        fan.add(&mut lifecycle);
        assert_eq!(fan.interest(), Interest { packets: false, metrics: true, lifecycle: true });
        for event in [
            Event::Metrics(Metrics::default()),
            Event::Metrics(Metrics::default()),
            Event::ConnectionState { state: "closed" },
        ] {
            fan.record(subjects.get(end), &Record { time: Time::ZERO, event }).unwrap();
        }
        assert_eq!(fan.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
        drop(fan);
        assert_eq!((gauges.records, lifecycle.records), (2, 1));
        assert!(gauges.finished && lifecycle.finished);
    }
}
