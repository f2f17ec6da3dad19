//! From the logs of endpoints and links to the sinks.

use std::io;
use trace::{Fan, Log, Role, Sink, Subjects};

/// The sinks of a run and the subjects that they know.
pub(crate) struct Recorder<'a> {
    sinks: Fan<'a>,
    subjects: Subjects,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(sinks: Fan<'a>) -> Recorder<'a> {
        Recorder { sinks, subjects: Subjects::new() }
    }
    pub(crate) fn interest(&self) -> trace::Interest {
        self.sinks.interest()
    }
    pub(crate) fn register(&mut self, name: &str, role: Role) -> u32 {
        self.subjects.register(name, role)
    }
    pub(crate) fn register_attachment(&mut self, medium: &str, node: &str) -> u32 {
        self.subjects.register_attachment(medium, node)
    }
    /// Takes what waits in a log.
    pub(crate) fn take(&mut self, subject: u32, log: &mut Log) -> io::Result<()> {
        let subject = self.subjects.get(subject);
        // Where they lie: an event is large, and nothing here keeps it.
        for record in log.drain().as_slice() {
            self.sinks.record(subject, record)?;
        }
        Ok(())
    }
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.sinks.finish()
    }
}
