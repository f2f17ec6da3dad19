//! Files about connections on the wire: TLS secrets (SSLKEYLOGFILE) and qlog.

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

/// The files to write.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// A file to which TLS secrets are appended, in the format of SSLKEYLOGFILE (RFC 9850). They decrypt
    /// everything, so only the owner of the file can read it.
    pub key_log: Option<PathBuf>,
    /// A folder for a qlog file of each connection; it is created if necessary.
    pub qlog: Option<PathBuf>,
}

impl Recording {
    /// The trace events that connections must record for these files.
    pub(crate) fn interest(&self) -> Interest {
        if self.qlog.is_some() { Interest::ALL } else { Interest::NONE }
    }
}

/// The open files.
#[derive(Debug)]
pub(crate) struct Records {
    side: Side,
    key_log: Option<File>,
    qlog: Option<PathBuf>,
    opened: u64,
    /// The number of bytes that may wait for a file handle.
    allowed: Rc<Cell<usize>>,
    /// Connections with incomplete files.
    incomplete: u64,
    /// The first error of a file.
    pub(crate) failed: Option<LiveError>,
    /// Whether that error was reported.
    told: bool,
}

/// The qlog of a connection.
#[derive(Default)]
pub(crate) struct Log {
    writer: Option<Writer<Page>>,
    /// Whether its file was created, or could not be.
    begun: bool,
    path: PathBuf,
    /// Whether events of the connection were lost.
    broken: bool,
}

/// The qlog file of a connection. It is open only while it is written, which is rare, since the writer in front
/// of it has a buffer: the number of recorded connections is not limited by file handles.
#[derive(Debug)]
struct Page {
    path: PathBuf,
    /// Whether the file exists, and is appended to.
    made: bool,
    /// Bytes that wait for a file handle.
    late: Vec<u8>,
    /// The number of bytes that may wait in all files together.
    allowed: Rc<Cell<usize>>,
}

/// The maximum number of bytes that wait for a file handle, in one file and in all together.
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

    /// Keeps bytes until a file handle is available; returns `false` if too many are waiting.
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
    /// If the file or the folder cannot be created.
    pub(crate) fn new(side: Side, recording: &Recording) -> Result<Records, LiveError> {
        let key_log = recording.key_log.as_deref().map(open_key_log).transpose()?;
        if let Some(folder) = &recording.qlog {
            fs::create_dir_all(folder).map_err(|error| LiveError::File(folder.clone(), error))?;
        }
        let qlog = recording.qlog.clone();
        let allowed = Rc::new(Cell::new(MAX_LATE_TOGETHER));
        Ok(Records { side, key_log, qlog, opened: 0, allowed, incomplete: 0, failed: None, told: false })
    }

    /// The first error, once.
    pub(crate) fn take_complaint(&mut self) -> Option<LiveError> {
        let complaint = self.failed.take().filter(|_| !self.told);
        self.told |= complaint.is_some();
        complaint
    }
    /// The number of connections with incomplete files.
    pub(crate) fn incomplete(&self) -> u64 {
        self.incomplete
    }

    /// Writes the new records of a connection.
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
        let written = connection.log().pass_on(|records| match &mut log.writer {
            Some(writer) => records.iter().try_for_each(|record| writer.write(record)),
            None => Ok(()),
        });
        if let Err(error) = written {
            // The last line may be incomplete, so nothing is appended.
            log.writer = None;
            self.fail(log, log.path.clone(), error);
        }
    }

    /// Completes the files of a connection that has ended.
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

/// Opens the file of secrets so that only its owner can read it, even if it exists. A pipe or device keeps its
/// permissions.
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
