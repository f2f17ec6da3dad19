//! The sink that writes one file per connection end.

use super::options::Options;
use super::writer::Writer;
use crate::{Interest, Record, Role, Sink, Subject};
use std::io::{self, Write};

/// A sink that writes a qlog file for every connection end, opened by a function when the end's first record comes.
pub struct Qlog<W, F> {
    options: Options,
    open: F,
    /// By the subject's number.
    files: Vec<Option<Writer<W>>>,
}

impl<W: Write, F: FnMut(&Subject) -> io::Result<W>> Qlog<W, F> {
    /// Files with these options. `open` gives the writer for a connection end, whose [`Subject::label`] makes a file
    /// name and `.sqlog` its ending. Writes are large: a buffer around a file is not needed.
    pub fn new(options: Options, open: F) -> Qlog<W, F> {
        Qlog { options, open, files: Vec::new() }
    }
    /// The writers behind, for those subjects that had a record, in the order of the subjects. To be called after
    /// [`Sink::finish`].
    pub fn into_writers(self) -> Vec<W> {
        self.files.into_iter().flatten().map(Writer::into_inner).collect()
    }
}

impl<W: Write, F: FnMut(&Subject) -> io::Result<W>> Sink for Qlog<W, F> {
    fn interest(&self) -> Interest {
        Interest::ALL
    }
    fn record(&mut self, subject: &Subject, record: &Record) -> io::Result<()> {
        let Role::Connection(side) = subject.role() else { return Ok(()) };
        let at = subject.id() as usize;
        if self.files.len() <= at {
            self.files.resize_with(at + 1, || None);
        }
        if self.files[at].is_none() {
            let out = (self.open)(subject)?;
            self.files[at] = Some(Writer::new(out, subject.label(), side, self.options.clone()));
        }
        self.files[at].as_mut().map_or(Ok(()), |file| file.write(record))
    }
    /// Flushes every file, also behind one that fails, and gives the first error.
    fn finish(&mut self) -> io::Result<()> {
        let mut first = Ok(());
        for file in self.files.iter_mut().flatten() {
            first = first.and(file.flush());
        }
        first
    }
}
