//! The sink that writes one file per connection end.

use super::options::Options;
use super::writer::Writer;
use crate::{Interest, Record, Role, Sink, Subject};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// A sink that writes a qlog file for every connection end. A function opens the file when the first record arrives.
pub struct Qlog<W, F> {
    options: Options,
    open: F,
    /// The names of connections without a file.
    left_out: BTreeSet<String>,
    /// Indexed by subject number.
    files: Vec<File<W>>,
}

/// The file of a connection end.
enum File<W> {
    /// Nothing was recorded yet.
    Unopened,
    /// The end has no file.
    LeftOut,
    Open(Box<Writer<W>>),
}

impl<W: Write, F: FnMut(&Subject) -> io::Result<W>> Qlog<W, F> {
    /// Creates the sink. `open` returns the writer for a connection end; [`Subject::label`] with the ending `.sqlog` is
    /// a suitable file name. Writes are large, so the writer needs no buffer.
    pub fn new(options: Options, open: F) -> Qlog<W, F> {
        Qlog { options, open, left_out: BTreeSet::new(), files: Vec::new() }
    }
    /// Excludes the connections with these names: those of protocols other than QUIC, for which the schema is made.
    #[must_use]
    pub fn leaving_out(self, names: impl IntoIterator<Item = String>) -> Qlog<W, F> {
        Qlog { left_out: names.into_iter().collect(), ..self }
    }
    /// The writers of the subjects with records, in the order of the subjects. Call [`Sink::finish`] first.
    pub fn into_writers(self) -> Vec<W> {
        let open = self.files.into_iter().filter_map(|file| match file {
            File::Open(writer) => Some(writer.into_inner()),
            _ => None,
        });
        open.collect()
    }
}

impl<W: Write, F: FnMut(&Subject) -> io::Result<W>> Sink for Qlog<W, F> {
    fn interest(&self) -> Interest {
        Interest::ALL
    }
    fn record(&mut self, subject: &Subject, record: &Record) -> io::Result<()> {
        self.records(subject, std::slice::from_ref(record))
    }
    fn records(&mut self, subject: &Subject, records: &[Record]) -> io::Result<()> {
        let Role::Connection(side) = subject.role() else { return Ok(()) };
        let at = subject.id() as usize;
        if self.files.len() <= at {
            self.files.resize_with(at + 1, || File::Unopened);
        }
        if let File::Unopened = self.files[at] {
            self.files[at] = if self.left_out.contains(subject.name()) {
                File::LeftOut
            } else {
                let out = (self.open)(subject)?;
                File::Open(Box::new(Writer::new(out, subject.label(), side, self.options.clone())))
            };
        }
        match &mut self.files[at] {
            File::Open(file) => records.iter().try_for_each(|record| file.write(record)),
            _ => Ok(()),
        }
    }
    /// Flushes every file, even if one fails, and returns the first error.
    fn finish(&mut self) -> io::Result<()> {
        let mut first = Ok(());
        for file in &mut self.files {
            if let File::Open(file) = file {
                first = first.and(file.flush());
            }
        }
        first
    }
}
