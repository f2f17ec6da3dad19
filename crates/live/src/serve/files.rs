//! The open files of a server, of which there is a bounded number at any load.
//!
//! A file is opened when it is requested and closed when its response ends. If there are more responses than
//! places, or no file handles are left, the least recently read file is closed, and opened again when its
//! client continues to read.

use super::Limits;
use crate::error::is_passing;
use rustix::fs::OFlags;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;
use web::Source;

/// The identity of a file, regardless of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    /// Inode numbers are reused. Not every file system records this time.
    created: Option<SystemTime>,
}

impl Identity {
    fn of(meta: &Metadata) -> Identity {
        Identity { device: meta.dev(), inode: meta.ino(), created: meta.created().ok() }
    }
}

#[derive(Debug)]
struct Open {
    file: File,
    connection: u64,
    /// The value of `reads` at its last read.
    used: u64,
}

/// The places for open files, shared by all connections.
#[derive(Debug)]
struct Places {
    limits: Limits,
    /// The open files by response.
    open: BTreeMap<u64, Open>,
    reads: u64,
    responses: u64,
}

impl Places {
    fn close_oldest(&mut self, connection: Option<u64>) -> bool {
        let of = |open: &&Open| connection.is_none_or(|connection| open.connection == connection);
        let oldest = self.open.values().filter(of).map(|open| open.used).min();
        let key = self.open.iter().find(|(_, open)| Some(open.used) == oldest).map(|(key, _)| *key);
        key.is_some_and(|key| self.open.remove(&key).is_some())
    }

    /// Opens a file for a response. Others may be closed to make room.
    fn open(&mut self, response: u64, connection: u64, path: &Path) -> io::Result<(Identity, u64)> {
        let own = self.open.values().filter(|open| open.connection == connection).count();
        if own >= self.limits.files_of_connection.max(1) {
            self.close_oldest(Some(connection));
        }
        if self.open.len() >= self.limits.files.max(1) {
            self.close_oldest(None);
        }
        // Opening a pipe would wait for its writer; a path that has become a link may lead out of the folder.
        let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits();
        let file = loop {
            match OpenOptions::new().read(true).custom_flags(flags as i32).open(path) {
                Err(error) if is_passing(&error) && self.close_oldest(None) => {}
                result => break result?,
            }
        };
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.reads += 1;
        self.open.insert(response, Open { file, connection, used: self.reads });
        Ok((Identity::of(&meta), meta.len()))
    }
}

/// The files of one connection.
#[derive(Debug, Clone)]
pub(super) struct Files {
    places: Rc<RefCell<Places>>,
    connection: u64,
}

impl Files {
    /// Creates places without open files.
    pub(super) fn new(limits: &Limits) -> Files {
        let places = Places { limits: *limits, open: BTreeMap::new(), reads: 0, responses: 0 };
        Files { places: Rc::new(RefCell::new(places)), connection: 0 }
    }
    /// A handle for another connection with the same limits.
    pub(super) fn of(&self, connection: u64) -> Files {
        Files { places: self.places.clone(), connection }
    }
    /// The number of open files of all connections.
    pub(super) fn open_count(&self) -> usize {
        self.places.borrow().open.len()
    }

    /// Opens a file; returns its contents and its size.
    ///
    /// # Errors
    /// Those of the system; see [`is_passing`] for temporary ones.
    pub(super) fn open(&self, path: PathBuf) -> io::Result<(Contents, u64)> {
        let mut places = self.places.borrow_mut();
        places.responses += 1;
        let response = places.responses;
        let (identity, length) = places.open(response, self.connection, &path)?;
        drop(places);
        Ok((Contents { files: self.clone(), response, path, identity }, length))
    }
}

/// The contents of a file.
#[derive(Debug)]
pub(super) struct Contents {
    files: Files,
    response: u64,
    path: PathBuf,
    identity: Identity,
}

impl Source for Contents {
    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let places = &mut *self.files.places.borrow_mut();
        if !places.open.contains_key(&self.response) {
            let opened = places.open(self.response, self.files.connection, &self.path);
            let (identity, _) = opened.map_err(|error| match is_passing(&error) {
                // The response continues when a place is free.
                true => io::ErrorKind::WouldBlock.into(),
                false => error,
            })?;
            if identity != self.identity {
                places.open.remove(&self.response);
                return Err(io::Error::other("another file has taken its place"));
            }
        }
        places.reads += 1;
        let Some(open) = places.open.get_mut(&self.response) else { return Ok(0) };
        open.used = places.reads;
        open.file.read_at(out, offset)
    }
}

impl Drop for Contents {
    fn drop(&mut self) {
        self.files.places.borrow_mut().open.remove(&self.response);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("quiclab-files-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn read(contents: &mut Contents, at: u64) -> io::Result<u8> {
        let mut byte = [0];
        let count = contents.read_at(at, &mut byte)?;
        assert_eq!(count, 1);
        Ok(byte[0])
    }

    #[test]
    fn few_are_open_and_all_are_read() {
        let folder = folder("few");
        let limits = Limits { files: 10, files_of_connection: 4, ..Limits::of(10) };
        let files = Files::new(&limits);
        let mut all = Vec::new();
        for number in 0..30_u8 {
            let path = folder.join(number.to_string());
            std::fs::write(&path, [number; 100]).unwrap();
            let (contents, length) = files.of(u64::from(number / 10)).open(path).unwrap();
            assert_eq!(length, 100);
            all.push(contents);
            assert!(files.open_count() <= (usize::from(number) + 1).min(10));
        }
        // No connection has more than its share, though there would be room.
        let places = files.places.borrow();
        for connection in 0..3 {
            assert!(places.open.values().filter(|open| open.connection == connection).count() <= 4);
        }
        drop(places);
        for at in 0..3 {
            for (number, contents) in all.iter_mut().enumerate() {
                assert_eq!(read(contents, at).unwrap(), number as u8);
            }
        }
        assert!(files.open_count() <= 10);
        drop(all);
        assert_eq!(files.open_count(), 0);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_that_was_replaced_is_not_mixed_with_the_other() {
        let folder = folder("replaced");
        let files = Files::new(&Limits { files: 1, ..Limits::of(10) });
        let [path, other, next] = ["a", "b", "c"].map(|name| folder.join(name));
        std::fs::write(&path, [1; 10]).unwrap();
        std::fs::write(&other, [2; 10]).unwrap();
        std::fs::write(&next, [3; 10]).unwrap();
        let (mut first, _) = files.open(path.clone()).unwrap();
        assert_eq!(read(&mut first, 0).unwrap(), 1);
        // While it is open, it is the same file.
        std::fs::rename(&next, &path).unwrap();
        assert_eq!(read(&mut first, 1).unwrap(), 1);
        let (_second, _) = files.open(other).unwrap();
        assert!(read(&mut first, 2).unwrap_err().to_string().contains("another file"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
