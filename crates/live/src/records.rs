//! What is written about connections on the wire: their secrets (SSLKEYLOGFILE) and their qlog.

use crate::error::{LiveError, is_passing};
use quic::Connection;
use std::cell::Cell;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use trace::qlog::{Options, Writer};
use trace::{Interest, Side};

/// Where to.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// A file that the secrets of TLS are added to, in the format of SSLKEYLOGFILE (RFC 9850). Who has them can read
    /// everything, so it is made readable for its owner alone.
    pub key_log: Option<PathBuf>,
    /// A folder that gets a qlog file for each connection; it is made if it is not there.
    pub qlog: Option<PathBuf>,
}

impl Recording {
    /// What connections note in their logs for it.
    pub(crate) fn interest(&self) -> Interest {
        if self.qlog.is_some() { Interest::ALL } else { Interest::NONE }
    }
}

/// The files.
#[derive(Debug)]
pub(crate) struct Records {
    side: Side,
    key_log: Option<File>,
    qlog: Option<PathBuf>,
    opened: u64,
    /// Bytes that may wait for a handle.
    allowed: Rc<Cell<usize>>,
    /// Connections of which not everything was written.
    incomplete: u64,
    /// The first file that could not be written.
    pub(crate) failed: Option<LiveError>,
    /// Whether it was reported.
    told: bool,
}

/// The qlog of a connection, once it has one.
#[derive(Default)]
pub(crate) struct Log {
    writer: Option<Writer<Page>>,
    /// Whether its file was made, or could not be.
    begun: bool,
    path: PathBuf,
    /// Whether something could not be written of what is recorded of the connection.
    broken: bool,
}

/// The qlog file of a connection. It is open only while it is written, which is rare, for the writer before it has a buffer of its
/// own: so handles do not limit how many connections are recorded.
#[derive(Debug)]
struct Page {
    path: PathBuf,
    /// Whether it is there, and is added to.
    made: bool,
    /// What could not be written because there was no handle.
    late: Vec<u8>,
    /// Bytes that may wait in all files together.
    allowed: Rc<Cell<usize>>,
}

/// The most that waits for a handle in one file, in bytes, and in all together.
const MAX_LATE: usize = 256 * 1024;
const MAX_LATE_TOGETHER: usize = 16 * 1024 * 1024;

impl Page {
    fn open(&mut self) -> io::Result<File> {
        let file = match self.made {
            true => File::options().append(true).open(&self.path)?,
            false => File::create(&self.path)?,
        };
        self.made = true;
        Ok(file)
    }

    /// Keeps bytes until there is a handle; `false` if too many wait already.
    fn keep(&mut self, bytes: &[u8]) -> bool {
        let left = self.allowed.get().checked_sub(bytes.len());
        match left.filter(|_| self.late.len() + bytes.len() <= MAX_LATE) {
            Some(left) => {
                self.allowed.set(left);
                self.late.extend_from_slice(bytes);
                true
            }
            None => false,
        }
    }

    fn take_late(&mut self) -> Vec<u8> {
        self.allowed.set(self.allowed.get() + self.late.len());
        std::mem::take(&mut self.late)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.take_late();
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.open() {
            Ok(mut file) => {
                file.write_all(&self.take_late())?;
                file.write_all(bytes)?;
            }
            Err(error) if is_passing(&error) && self.keep(bytes) => {}
            Err(error) => return Err(error),
        }
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        if self.late.is_empty() {
            return Ok(());
        }
        let mut file = self.open()?;
        file.write_all(&self.take_late())
    }
}

impl Records {
    /// # Errors
    /// If the file or the folder cannot be made.
    pub(crate) fn new(side: Side, recording: &Recording) -> Result<Records, LiveError> {
        let key_log = recording.key_log.as_deref().map(open_key_log).transpose()?;
        if let Some(folder) = &recording.qlog {
            fs::create_dir_all(folder).map_err(|error| LiveError::File(folder.clone(), error))?;
        }
        let qlog = recording.qlog.clone();
        let allowed = Rc::new(Cell::new(MAX_LATE_TOGETHER));
        Ok(Records { side, key_log, qlog, opened: 0, allowed, incomplete: 0, failed: None, told: false })
    }

    /// The first failure, once.
    pub(crate) fn take_complaint(&mut self) -> Option<LiveError> {
        let complaint = self.failed.take().filter(|_| !self.told);
        self.told |= complaint.is_some();
        complaint
    }
    /// Connections of which not everything was written.
    pub(crate) fn incomplete(&self) -> u64 {
        self.incomplete
    }

    /// Writes down what a connection has to tell.
    pub(crate) fn take(&mut self, log: &mut Log, connection: &mut Connection) {
        if let Some(file) = &mut self.key_log {
            let lines: String =
                connection.take_secrets().iter().map(|secret| format!("{secret}\n")).collect();
            if let Err(error) = file.write_all(lines.as_bytes()) {
                self.fail(log, PathBuf::from("SSLKEYLOGFILE"), error);
            }
        }
        let Some(folder) = &self.qlog else { return };
        if !std::mem::replace(&mut log.begun, true) {
            self.opened += 1;
            let name =
                format!("{}-{}", if self.side == Side::Client { "client" } else { "server" }, self.opened);
            log.path = folder.join(format!("{name}.sqlog"));
            let (path, allowed) = (log.path.clone(), self.allowed.clone());
            let mut page = Page { path, made: false, late: Vec::new(), allowed };
            match page.open() {
                Err(error) if !is_passing(&error) => self.fail(log, log.path.clone(), error),
                _ => log.writer = Some(Writer::new(page, &name, self.side, Options::default())),
            }
        }
        let mut failed = None;
        for record in connection.log().drain() {
            if failed.is_none()
                && let Some(writer) = &mut log.writer
            {
                failed = writer.write(&record).err();
            }
        }
        if let Some(error) = failed {
            // The last line may be incomplete, so nothing is appended.
            log.writer = None;
            self.fail(log, log.path.clone(), error);
        }
    }

    /// A connection is over.
    pub(crate) fn end(&mut self, log: &mut Log) {
        if let Some(mut writer) = log.writer.take()
            && let Err(error) = writer.flush()
        {
            self.fail(log, log.path.clone(), error);
        }
    }

    fn fail(&mut self, log: &mut Log, path: PathBuf, error: io::Error) {
        self.incomplete += u64::from(!std::mem::replace(&mut log.broken, true));
        self.failed.get_or_insert(LiveError::File(path, error));
    }
}

/// Opens the file of secrets, for nobody but its owner, also if it exists already. A pipe or device keeps its permissions.
fn open_key_log(path: &Path) -> Result<File, LiveError> {
    let open = || {
        let file = File::options().append(true).create(true).mode(0o600).open(path)?;
        let meta = file.metadata()?;
        if meta.is_file() && meta.mode() & 0o077 != 0 {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        Ok(file)
    };
    open().map_err(|error| LiveError::File(path.to_owned(), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What waits has a bound in each file and in all together, and what was written or given up makes room.
    #[test]
    fn what_waits_for_handles_is_bounded() {
        let allowed = Rc::new(Cell::new(600_000));
        let page = || Page { path: PathBuf::new(), made: false, late: Vec::new(), allowed: allowed.clone() };
        let [mut first, mut second, mut third] = [page(), page(), page()];
        assert!(first.keep(&[0; 200_000]) && !first.keep(&[0; 100_000]), "256 kB for each");
        assert!(second.keep(&[0; 200_000]) && third.keep(&[0; 200_000]));
        assert!(!second.keep(&[0; 1]), "600 kB for all");
        assert_eq!(first.take_late().len(), 200_000);
        drop(third);
        assert_eq!(allowed.get(), 400_000);
        assert!(second.keep(&[0; 50_000]));
    }
}
