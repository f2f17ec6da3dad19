//! qlog files, one for each connection, in the folder that QLOGDIR names.

use crate::Failure;
use quic::Connection;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use trace::qlog::{Options, Writer};
use trace::{Interest, Side};

/// The folder.
pub(crate) struct Diary {
    folder: PathBuf,
    number: u32,
}

/// What is written of one connection.
pub(crate) type Page = Writer<File>;

impl Diary {
    /// The one that is wanted, if one is.
    pub(crate) fn from_environment() -> Result<Option<Diary>, Failure> {
        let Some(folder) = std::env::var_os("QLOGDIR") else { return Ok(None) };
        let folder = PathBuf::from(folder);
        std::fs::create_dir_all(&folder)?;
        Ok(Some(Diary { folder, number: 0 }))
    }
    /// What connections have to note.
    pub(crate) const INTEREST: Interest = Interest::ALL;

    /// A page for a new connection.
    pub(crate) fn page(&mut self, side: Side) -> io::Result<Page> {
        let name = format!("{}-{}", side.name(), self.number);
        self.number += 1;
        let file = File::create(self.folder.join(format!("{name}.sqlog")))?;
        Ok(Writer::new(file, &name, side, Options::default()))
    }
}

/// Writes what a connection has noted. Nothing is kept back: the process may be ended at any time.
pub(crate) fn note(page: &mut Page, connection: &mut Connection) -> io::Result<()> {
    if connection.log().is_empty() {
        return Ok(());
    }
    for record in connection.log().drain() {
        page.write(&record)?;
    }
    page.flush()
}
