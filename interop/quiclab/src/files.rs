//! Files that are served, and files that are fetched.

use http::Target;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use web::{Answer, Body, Fetched, Head, Query, Sink, Site, Source, Take};

/// The plain files of a folder.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Site for Folder {
    fn find(&mut self, query: Query<'_>) -> Answer {
        match open(&self.0, query.target) {
            Some((file, length)) => Answer::found(Body::Source { length, source: Box::new(Bytes(file)) }),
            None => Answer::plain(404, "not found"),
        }
    }
}

fn open(root: &Path, target: &Target) -> Option<(File, u64)> {
    let [name] = target.segments.as_slice() else { return None };
    let file = File::open(command_line::file_below(root, name)?).ok()?;
    let length = file.metadata().ok()?.len();
    Some((file, length))
}

struct Bytes(File);

impl Source for Bytes {
    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(out, offset)
    }
}

/// Where answers go: a file for each request.
pub(crate) struct Store {
    files: Vec<PathBuf>,
    open: Vec<Option<BufWriter<File>>>,
}

impl Store {
    pub(crate) fn new(files: Vec<PathBuf>) -> Store {
        let open = files.iter().map(|_| None).collect();
        Store { files, open }
    }
}

impl Sink for Store {
    fn begin(&mut self, request: usize, head: &Head) -> io::Result<Take> {
        if let Some(status) = head.status.filter(|status| *status != 200) {
            return Err(io::Error::other(format!("status {status}")));
        }
        self.open[request] = Some(BufWriter::with_capacity(1 << 16, File::create(&self.files[request])?));
        Ok(Take::Bytes)
    }
    fn bytes(&mut self, request: usize, _offset: u64, bytes: &[u8]) -> io::Result<()> {
        match &mut self.open[request] {
            Some(file) => file.write_all(bytes),
            None => Ok(()),
        }
    }
    fn end(&mut self, request: usize, _fetched: &Fetched) -> io::Result<()> {
        match self.open[request].take() {
            Some(mut file) => file.flush(),
            None => Ok(()),
        }
    }
}
