//! Files that are fetched: each is whole, or not there.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use traffic::web::{Fetched, Head, Sink, Take};

/// How far the files are, for who watches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FetchProgress {
    /// Bytes that came.
    pub bytes: u64,
    /// Bytes of the files whose length is known.
    pub total: u64,
    /// Files that are whole.
    pub files: u64,
}

/// Where the bodies of one client's requests go. A body is written beside its place, under the same name with `.part`
/// behind it, and gets its name when it is whole; what is not is removed.
pub(super) struct Store {
    places: Vec<PathBuf>,
    open: Vec<Option<File>>,
    progress: Rc<RefCell<FetchProgress>>,
}

impl Store {
    pub(super) fn new(places: Vec<PathBuf>, progress: Rc<RefCell<FetchProgress>>) -> Store {
        let open = places.iter().map(|_| None).collect();
        Store { places, open, progress }
    }

    fn abandon(&mut self, request: usize) {
        if self.open[request].take().is_some() {
            let _ = fs::remove_file(part(&self.places[request]));
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        (0..self.places.len()).for_each(|request| self.abandon(request));
    }
}

/// Where a body is until it is whole.
fn part(place: &Path) -> PathBuf {
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    place.with_file_name(name)
}

impl Sink for Store {
    fn begin(&mut self, request: usize, head: &Head) -> io::Result<Take> {
        if let Some(status) = head.status.filter(|status| *status != 200) {
            return Err(io::Error::other(format!("the server answers with status {status}")));
        }
        // A request that is repeated begins anew.
        self.abandon(request);
        self.open[request] = Some(File::create(part(&self.places[request]))?);
        self.progress.borrow_mut().total += head.content_length.unwrap_or_default();
        Ok(Take::Bytes)
    }

    fn bytes(&mut self, request: usize, _offset: u64, bytes: &[u8]) -> io::Result<()> {
        if let Some(file) = &mut self.open[request] {
            file.write_all(bytes)?;
            self.progress.borrow_mut().bytes += bytes.len() as u64;
        }
        Ok(())
    }

    fn end(&mut self, request: usize, fetched: &Fetched) -> io::Result<()> {
        if !fetched.is_complete() {
            self.abandon(request);
        } else if self.open[request].take().is_some() {
            let place = &self.places[request];
            fs::rename(part(place), place)?;
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
}
