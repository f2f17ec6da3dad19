//! The file in which a server keeps what it has learned of paths (the option `resume`), so that a restart does not forget it.

mod document;

use crate::clock::Clock;
use crate::entropy::unique;
use crate::error::LiveError;
use congestion::{Learned, PathKey, PathStore, Resume, ResumeMode, StoreKey};
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use units::{Duration, Time};

/// The least time between two writes. A kill loses no more than this.
const INTERVAL: Duration = Duration::from_secs(5);

/// Paths that are read from a file at the start, and written to it when they have changed.
///
/// The file always has its former contents or the new ones: these are written to a file beside it, which takes its place. A
/// thread of its own does that, since a disk can take its time and the connections cannot wait.
#[derive(Debug)]
pub(crate) struct KnownPathsFile {
    file: PathBuf,
    store: PathStore,
    resume: Resume,
    clock: Clock,
    /// [`PathStore::changes`] at the last attempt to write.
    attempted: u64,
    /// Whether that attempt failed.
    behind: bool,
    next_at: Time,
    writer: Option<JoinHandle<io::Result<()>>>,
    /// The first error, until it is reported.
    failed: Option<LiveError>,
    told: bool,
}

impl KnownPathsFile {
    /// Reads the file, if there is one, and writes it once, so that a folder or disk that cannot be written is known at the start.
    ///
    /// # Errors
    /// [`LiveError::NothingToKeep`], [`LiveError::File`], [`LiveError::Document`] or [`LiveError::NotKept`].
    pub(crate) fn open(file: &Path, resume: Resume, clock: Clock) -> Result<KnownPathsFile, LiveError> {
        if resume.mode == ResumeMode::None || resume.store != StoreKey::Address {
            return Err(LiveError::NothingToKeep(resume.mode == ResumeMode::None));
        }
        let mut known = KnownPathsFile {
            file: file.to_owned(),
            store: PathStore::default(),
            resume,
            clock,
            attempted: 0,
            behind: false,
            next_at: Time::ZERO,
            writer: None,
            failed: None,
            told: false,
        };
        let bytes = read(file).map_err(|error| LiveError::File(file.to_owned(), error))?;
        if let Some(bytes) = bytes {
            let paths = document::read(&bytes)
                .map_err(|problem| LiveError::Document(file.to_owned(), problem.to_string()))?;
            for learned in paths.into_iter().filter(|learned| known.is_valid(learned)) {
                known.store.remember(PathKey::of(learned.ip, resume.by_prefix), learned);
            }
        }
        known.attempted = known.store.changes();
        write(file, &known.valid()).map_err(|error| LiveError::NotKept(file.to_owned(), error))?;
        known.next_at = clock.now() + INTERVAL;
        Ok(known)
    }

    /// The paths, for the endpoint.
    pub(crate) fn store(&self) -> &PathStore {
        &self.store
    }

    /// When [`KnownPathsFile::look`] has to be called next; it may be called at any time.
    pub(crate) fn due(&self) -> Option<Time> {
        (self.is_behind() || self.writer.is_some()).then_some(self.next_at)
    }

    /// Writes what has changed, and learns what became of the write before, if it is time for that.
    pub(crate) fn look(&mut self, now: Time) {
        if now < self.next_at {
            return;
        }
        if self.writer.as_ref().is_some_and(|writer| !writer.is_finished()) {
            self.next_at = now + INTERVAL;
            return;
        }
        self.end_write();
        if self.is_behind() {
            self.next_at = now + INTERVAL;
            self.attempted = self.store.changes();
            let (file, paths) = (self.file.clone(), self.valid());
            match std::thread::Builder::new().spawn(move || write(&file, &paths)) {
                Ok(writer) => self.writer = Some(writer),
                Err(error) => self.note(Err(error)),
            }
        }
    }

    /// Writes what has changed, and returns when that is done.
    pub(crate) fn finish(&mut self) {
        self.end_write();
        if self.is_behind() {
            self.attempted = self.store.changes();
            let written = write(&self.file, &self.valid());
            self.note(written);
        }
    }

    /// The first error in writing, once.
    pub(crate) fn take_complaint(&mut self) -> Option<LiveError> {
        self.failed.take()
    }

    fn is_behind(&self) -> bool {
        self.behind || self.store.changes() != self.attempted
    }

    /// Waits for the writer, if there is one.
    fn end_write(&mut self) {
        if let Some(writer) = self.writer.take() {
            let written = writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer has panicked")));
            self.note(written);
        }
    }

    fn note(&mut self, written: io::Result<()>) {
        self.behind = written.is_err();
        if let Err(error) = written
            && !std::mem::replace(&mut self.told, true)
        {
            self.failed = Some(LiveError::NotKept(self.file.clone(), error));
        }
    }

    /// What is worth keeping: the paths by address whose lifetime has not ended.
    fn valid(&self) -> Vec<Learned> {
        let by_address = |(key, _): &(PathKey, Learned)| matches!(key, PathKey::Address(_));
        let paths = self.store.entries().into_iter().filter(by_address).map(|(_, learned)| learned);
        paths.filter(|learned| self.is_valid(learned)).collect()
    }
    fn is_valid(&self, learned: &Learned) -> bool {
        // The clock of the connections, which does not follow when the system's date is set.
        let epoch_ms = u64::try_from(self.clock.date_of_zero().as_millis()).unwrap_or(u64::MAX);
        let date_ms = epoch_ms.saturating_add(self.clock.now().since(Time::ZERO).as_millis());
        !self.resume.checks.lifetime || learned.is_fresh(date_ms, self.resume.lifetime)
    }
}

impl Drop for KnownPathsFile {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The bytes of a file, one more than a document may have at most; `None` if there is no file.
fn read(file: &Path) -> io::Result<Option<Vec<u8>>> {
    // Opening a pipe would wait for its writer.
    let opened = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(file);
    let opened = match opened {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        result => result?,
    };
    if !opened.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file; expected a regular file, or a new name"));
    }
    let mut bytes = Vec::new();
    opened.take(document::MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Writes a document of these paths, which takes the file's place when it is on the disk. Only its owner can read it.
fn write(file: &Path, paths: &[Learned]) -> io::Result<()> {
    let name = format!(".known-paths-{:016x}.part", unique()?);
    let part = file.with_file_name(name);
    let written = (|| {
        let mut made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
        made.write_all(document::write(paths).as_bytes())?;
        made.sync_all()?;
        fs::rename(&part, file)?;
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    })();
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

/// Reads bytes as a document, and writes what it contains.
///
/// # Panics
/// If a document that was written reads differently.
#[cfg(feature = "fuzz")]
pub(crate) fn fuzz(bytes: &[u8]) -> Result<usize, String> {
    let paths = document::read(bytes).map_err(|problem| problem.to_string())?;
    assert_eq!(document::read(document::write(&paths).as_bytes()).as_ref(), Ok(&paths));
    Ok(paths.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use congestion::Saved;

    /// The folder of a test, removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("quiclab-known-{}-{name}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }
        fn file(&self) -> PathBuf {
            self.0.join("known.json")
        }
        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        }
    }
    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn resume() -> Resume {
        Resume {
            mode: ResumeMode::Careful,
            store: StoreKey::Address,
            lifetime: Duration::from_secs(3600),
            ..Resume::default()
        }
    }
    fn open(folder: &Folder, resume: Resume) -> Result<KnownPathsFile, LiveError> {
        KnownPathsFile::open(&folder.file(), resume, Clock::start())
    }
    fn now_ms() -> u64 {
        Clock::start().date_of_zero().as_millis() as u64
    }
    fn learned(last: u8, age_ms: u64) -> Learned {
        let saved = Saved { window: 3_750_000, rtt: Duration::from_millis(600) };
        Learned { saved, ip: [192, 0, 2, last].into(), date_ms: now_ms() - age_ms }
    }
    fn remember(known: &KnownPathsFile, learned: Learned) {
        known.store().remember(PathKey::of(learned.ip, known.resume.by_prefix), learned);
    }
    fn on_disk(folder: &Folder) -> Vec<Learned> {
        document::read(&fs::read(folder.file()).unwrap()).unwrap()
    }
    /// When the next write may begin.
    fn later(known: &KnownPathsFile) -> Time {
        known.next_at
    }

    #[test]
    fn a_restart_forgets_nothing_that_is_valid() {
        let folder = Folder::new("restart");
        let mut known = open(&folder, resume()).unwrap();
        assert!(on_disk(&folder).is_empty(), "a file that is missing is made at once");
        let paths = [learned(1, 10_000), learned(2, 3_599_000), learned(1, 20_000)];
        let old = learned(3, 3_601_000);
        let ahead = Learned { date_ms: now_ms() + 60_000, ..learned(4, 0) };
        for learned in [paths[0], old, paths[1], ahead, paths[2]] {
            remember(&known, learned);
        }
        known.finish();
        assert_eq!(on_disk(&folder), paths[1..], "ages are kept, and the order");
        assert_eq!(folder.names(), ["known.json"]);
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(folder.file()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "addresses of clients are nobody's business");
        let again = open(&folder, resume()).unwrap();
        assert_eq!(again.store().get(PathKey::of(paths[2].ip, false)), Some(paths[2]));
        assert_eq!(again.store().len(), 2);
        let shorter = Resume { lifetime: Duration::from_secs(60), ..resume() };
        assert_eq!(
            open(&folder, shorter).unwrap().valid(),
            [paths[2]],
            "a lifetime that has ended meanwhile"
        );
        // The newest of a prefix is that prefix.
        fs::write(folder.file(), document::write(&paths[..2])).unwrap();
        let by_prefix = open(&folder, Resume { by_prefix: true, ..resume() }).unwrap();
        assert_eq!(by_prefix.store().entries(), [(PathKey::of(paths[1].ip, true), paths[1])]);
    }

    #[test]
    fn only_paths_by_address_are_kept() {
        let folder = Folder::new("kinds");
        let known = open(&folder, resume()).unwrap();
        known.store().remember(PathKey::Ticket([7; 16]), learned(1, 1_000));
        drop(known);
        assert!(on_disk(&folder).is_empty(), "the keys of tickets do not outlive the process");
        for nothing in [
            Resume::default(),
            Resume { store: StoreKey::Ticket, ..resume() },
            Resume { store: StoreKey::Off, ..resume() },
        ] {
            let error = open(&folder, nothing).unwrap_err().to_string();
            assert!(error.contains("expected careful or seed, with store"), "{error}");
        }
        let defaults = crate::Settings::read(&["transport.resume=careful".to_owned()]).unwrap();
        assert!(open(&folder, defaults.transport.resume).is_ok());
    }

    /// A change is written, but not more often than every few seconds.
    #[test]
    fn changes_are_written_now_and_then() {
        let folder = Folder::new("changes");
        let mut known = open(&folder, resume()).unwrap();
        assert_eq!(known.due(), None, "nothing has changed");
        remember(&known, learned(1, 1_000));
        let first = later(&known);
        assert_eq!(known.due(), Some(first));
        known.look(Time::ZERO);
        assert!(known.writer.is_none(), "too early");
        known.look(first);
        assert_eq!(known.due(), Some(first + INTERVAL), "when it is known what became of the write");
        known.end_write();
        assert_eq!(known.due(), None);
        remember(&known, learned(2, 1_000));
        known.look(first + Duration::from_millis(4_999));
        assert!(known.writer.is_none());
        assert_eq!(on_disk(&folder).len(), 1, "not yet");
        known.look(first + INTERVAL);
        known.end_write();
        assert_eq!((on_disk(&folder).len(), known.due()), (2, None));
        known.store().clear();
        drop(known);
        assert!(on_disk(&folder).is_empty());
    }

    #[test]
    fn a_file_that_cannot_be_written_is_told_once() {
        let folder = Folder::new("gone");
        let mut known = open(&folder, resume()).unwrap();
        fs::remove_dir_all(&folder.0).unwrap();
        for number in 0..3 {
            remember(&known, learned(number, 1_000));
            known.look(later(&known));
            while !known.writer.as_ref().is_none_or(JoinHandle::is_finished) {
                std::thread::yield_now();
            }
            known.look(known.due().unwrap());
            let told = known.take_complaint().map(|error| error.to_string());
            assert_eq!(told.is_some(), number == 0, "{told:?}");
            assert!(told.is_none_or(|told| told.contains("known.json: cannot be written (No such file")));
            assert!(known.due().is_some(), "it is tried again");
        }
        known.end_write();
        fs::create_dir_all(&folder.0).unwrap();
        known.look(later(&known));
        known.end_write();
        assert_eq!((on_disk(&folder).len(), known.due()), (3, None));
    }

    #[test]
    fn a_file_of_something_else_is_left_alone() {
        let folder = Folder::new("mistakes");
        let large = " ".repeat(document::MAX_BYTES + 1);
        for (text, says) in [
            ("[transport]", "it is not JSON"),
            ("{\"version\": 1}", "JSON of something else"),
            (&large, "longer than 1048576 bytes"),
        ] {
            fs::write(folder.file(), text).unwrap();
            let error = open(&folder, resume()).unwrap_err().to_string();
            assert!(
                error.starts_with(&folder.file().display().to_string()) && error.contains(says),
                "{error}"
            );
            assert_eq!(fs::read_to_string(folder.file()).unwrap(), text);
        }
        fs::remove_file(folder.file()).unwrap();
        let at = |path: &Path| KnownPathsFile::open(path, resume(), Clock::start()).unwrap_err().to_string();
        assert!(at(&folder.0).contains("not a regular file"));
        assert!(at(Path::new("/dev/null")).contains("not a regular file"));
        assert!(
            at(&folder.0.join("none/known.json")).contains("expected a file in a folder that can be written")
        );
        assert!(folder.names().is_empty());
    }

    /// Whoever reads the file at any time finds a whole document.
    #[test]
    fn it_is_never_half_written() {
        let folder = Folder::new("whole");
        let known = open(&folder, resume()).unwrap();
        for number in 0..=u8::MAX {
            remember(&known, learned(number, 1_000));
        }
        let (file, paths) = (folder.file(), known.valid());
        let writer = std::thread::spawn(move || {
            (0..30).for_each(|round| write(&file, &paths[..256 - 255 * (round % 2)]).unwrap());
        });
        let mut seen = std::collections::BTreeSet::new();
        while !writer.is_finished() {
            seen.insert(on_disk(&folder).len());
        }
        writer.join().unwrap();
        assert!(seen.is_subset(&[0, 1, 256].into()), "{seen:?}");
        assert_eq!(folder.names(), ["known.json"]);
    }
}
