//! Fetched files: each is whole, or absent.

use crate::entropy::unique;
use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use units::Size;
use web::{Fetched, Head, Sink, Take};

/// The progress of the files, for observers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FetchProgress {
    /// Received bytes.
    pub bytes: u64,
    /// Bytes of the files with a known length.
    pub total: u64,
    /// Complete files.
    pub files: u64,
}

/// The number of names that are tried for a temporary file.
const TRIES: usize = 8;

/// The files of one client's requests. A body is written next to its final place, under a unique hidden name,
/// and is renamed when it is whole; incomplete files are removed.
pub(super) struct Store {
    places: Vec<PathBuf>,
    open: Vec<Option<Partial>>,
    /// The maximum size of a file; `None`: unlimited.
    max_size: Option<Size>,
    progress: Rc<RefCell<FetchProgress>>,
}

impl Store {
    pub(super) fn new(places: Vec<PathBuf>, progress: Rc<RefCell<FetchProgress>>) -> Store {
        let open = places.iter().map(|_| None).collect();
        Store { places, open, max_size: None, progress }
    }
    /// The same with this limit on each file.
    pub(super) fn with_max_size(mut self, max_size: Option<Size>) -> Store {
        self.max_size = max_size;
        self
    }

    /// Checks the size of a response, as announced or as received so far.
    fn check_size(&self, bytes: u64) -> io::Result<()> {
        match self.max_size {
            Some(most) if bytes > most.as_bytes() => {
                Err(io::Error::other(format!("the response is larger than {most}, the limit of --max-size")))
            }
            _ => Ok(()),
        }
    }

    fn abandon(&mut self, request: usize) {
        if let Some(partial) = self.open[request].take() {
            let _ = fs::remove_file(partial.path);
        }
    }
}

/// A partially received body.
struct Partial {
    path: PathBuf,
    file: File,
}

impl Partial {
    /// Creates a file next to this place. `create_new` follows no link and opens no existing file, so that
    /// nobody else writes to it.
    fn beside(place: &Path) -> io::Result<Partial> {
        let mut tries = 0;
        loop {
            let path = place.with_file_name(format!(".fetch-{:016x}.part", unique()?));
            match File::options().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Partial { path, file }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < TRIES => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        (0..self.places.len()).for_each(|request| self.abandon(request));
    }
}

impl Sink for Store {
    fn begin(&mut self, request: usize, head: &Head) -> io::Result<Take> {
        if let Some(status) = head.status.filter(|status| *status != 200) {
            return Err(io::Error::other(format!("the server answers with status {status}")));
        }
        self.check_size(head.content_length.unwrap_or_default())?;
        // A repeated request starts over.
        self.abandon(request);
        self.open[request] = Some(Partial::beside(&self.places[request])?);
        self.progress.borrow_mut().total += head.content_length.unwrap_or_default();
        Ok(Take::Bytes)
    }

    fn bytes(&mut self, request: usize, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.check_size(offset + bytes.len() as u64)?;
        if let Some(partial) = &mut self.open[request] {
            partial.file.write_all(bytes)?;
            self.progress.borrow_mut().bytes += bytes.len() as u64;
        }
        Ok(())
    }

    fn end(&mut self, request: usize, fetched: &Fetched) -> io::Result<()> {
        if !fetched.is_complete() {
            self.abandon(request);
        } else if let Some(Partial { path, file }) = self.open[request].take() {
            drop(file);
            if let Err(error) = fs::rename(&path, &self.places[request]) {
                let _ = fs::remove_file(path);
                return Err(error);
            }
            self.progress.borrow_mut().files += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    #[test]
    fn a_file_is_whole_or_not_there() {
        let folder = std::env::temp_dir().join(format!("quiclab-store-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let names =
            || fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        let progress = Rc::new(RefCell::new(FetchProgress::default()));
        let mut store =
            Store::new(vec![folder.join("a"), folder.join("b"), folder.join("c")], progress.clone());
        let head = Head { status: Some(200), content_length: Some(3), content_type: None };
        assert!((0..2).all(|request| store.begin(request, &head).unwrap() == Take::Bytes));
        assert!(store.begin(2, &Head { status: Some(404), ..head }).unwrap_err().to_string().contains("404"));
        store.bytes(0, 0, b"abc").unwrap();
        assert_eq!(names().len(), 2);
        store.end(0, &Fetched { finished_at: Some(Time::ZERO), ..Fetched::default() }).unwrap();
        store.bytes(1, 0, b"ab").unwrap();
        drop(store);
        assert_eq!(names(), ["a"]);
        assert_eq!(fs::read(folder.join("a")).unwrap(), b"abc");
        assert_eq!(*progress.borrow(), FetchProgress { bytes: 5, total: 6, files: 1 });
        fs::remove_dir_all(&folder).unwrap();
    }

    /// A response that announces too much writes no file, and one that announces nothing is cut where it exceeds the limit.
    #[test]
    fn no_response_writes_more_than_the_limit() {
        let folder = std::env::temp_dir().join(format!("quiclab-store-limit-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let names =
            || fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        let head = |content_length| Head { status: Some(200), content_length, content_type: None };
        for most in [0, 1, 5] {
            let progress = Rc::new(RefCell::new(FetchProgress::default()));
            let store = Store::new(vec![folder.join("a")], progress);
            let mut store = store.with_max_size(Some(Size::from_bytes(most)));
            let error = store.begin(0, &head(Some(most + 1))).unwrap_err().to_string();
            assert!(error.contains("--max-size") && !error.contains('\n') && names().is_empty(), "{error}");
            assert_eq!(store.begin(0, &head(None)).unwrap(), Take::Bytes);
            for offset in 0..most {
                store.bytes(0, offset, b"x").unwrap();
            }
            assert!(store.bytes(0, most, b"x").is_err());
            store.end(0, &Fetched::default()).unwrap();
            assert!(names().is_empty(), "nothing is left");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    /// Two fetches of one file do not meet, names that are there are left alone, and no link is followed.
    #[test]
    fn nobody_else_is_written_to() {
        let folder = std::env::temp_dir().join(format!("quiclab-store-two-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let victim = folder.join("victim");
        fs::write(&victim, "mine").unwrap();
        for name in ["a", "a.part"] {
            std::os::unix::fs::symlink(&victim, folder.join(name)).unwrap();
        }
        let head = Head { status: Some(200), content_length: None, content_type: None };
        let progress = Rc::new(RefCell::new(FetchProgress::default()));
        let mut stores = [0, 1].map(|_| Store::new(vec![folder.join("a")], progress.clone()));
        for store in &mut stores {
            store.begin(0, &head).unwrap();
        }
        for (store, bytes) in stores.iter_mut().zip([b"one", b"two"]) {
            store.bytes(0, 0, bytes).unwrap();
        }
        for (store, bytes) in stores.iter_mut().zip([b"one", b"two"]) {
            store.end(0, &Fetched { finished_at: Some(Time::ZERO), ..Fetched::default() }).unwrap();
            assert_eq!(fs::read(folder.join("a")).unwrap(), bytes);
        }
        drop(stores);
        assert_eq!(fs::read(&victim).unwrap(), b"mine");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
        // A place that cannot be had leaves nothing behind.
        fs::remove_file(folder.join("a")).unwrap();
        fs::create_dir_all(folder.join("a/b")).unwrap();
        let mut store = Store::new(vec![folder.join("a")], progress);
        store.begin(0, &head).unwrap();
        assert!(store.end(0, &Fetched { finished_at: Some(Time::ZERO), ..Fetched::default() }).is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
        fs::remove_dir_all(&folder).unwrap();
    }
}
