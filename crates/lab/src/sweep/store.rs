//! The finished runs of a sweep on disk: records with keys and checksums, in files that only grow.
//!
//! A segment starts with [`MAGIC`]. A record is the length of its contents (8 bytes, little endian), its key (32 bytes), the
//! first 8 bytes of the SHA-256 of length, key and contents, and the contents. Each session writes its own segment, so that
//! two sessions can run at once. A record that was cut off fails its checksum, and ends its segment.

use super::key::Key;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The first bytes of a segment.
const MAGIC: &[u8] = b"quiclab sweep segment 1\n";
/// The size of length, key and checksum.
const HEAD: usize = 8 + 32 + 8;
/// The maximum size of contents: some hundred million values of series.
pub(crate) const MAX_RECORD: u64 = 2 << 30;
/// The ending of the files of segments.
const ENDING: &str = "runs";

/// The place of the contents of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Location {
    segment: u32,
    offset: u64,
    length: u64,
}

/// The records of a folder.
#[derive(Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    segments: Vec<PathBuf>,
    known: BTreeMap<Key, Location>,
    writing: Option<Writing>,
}

#[derive(Debug)]
struct Writing {
    segment: u32,
    file: File,
    offset: u64,
}

impl Store {
    /// Opens a folder, which is created if necessary, and scans its records.
    pub(crate) fn open(folder: &Path) -> io::Result<Store> {
        fs::create_dir_all(folder)?;
        let mut segments: Vec<PathBuf> =
            fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
        segments.retain(|path| path.extension().is_some_and(|ending| ending == ENDING));
        segments.sort();
        let mut known = BTreeMap::new();
        for (number, path) in segments.iter().enumerate() {
            scan(path, number as u32, &mut known)?;
        }
        Ok(Store { folder: folder.to_owned(), segments, known, writing: None })
    }

    /// The records in the folder when it was opened. A store has them once, since a sweep may have a million.
    pub(crate) fn take_known(&mut self) -> BTreeMap<Key, Location> {
        std::mem::take(&mut self.known)
    }

    /// Writes a record. After an error, the next record starts a new segment.
    pub(crate) fn append(&mut self, record: &Sealed) -> io::Result<Location> {
        let mut writing = match self.writing.take() {
            Some(writing) => writing,
            None => self.start_segment()?,
        };
        assert!(record.bytes.len() >= HEAD, "a record begins with its length, key and checksum");
        writing.file.write_all(&record.bytes)?;
        let location = Location {
            segment: writing.segment,
            offset: writing.offset + HEAD as u64,
            length: (record.bytes.len() - HEAD) as u64,
        };
        writing.offset += record.bytes.len() as u64;
        self.writing = Some(writing);
        Ok(location)
    }

    /// Waits until the system has written all records to disk.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.writing.as_ref().map_or(Ok(()), |writing| writing.file.sync_data())
    }

    /// A reader of its records.
    pub(crate) fn contents(&self) -> Contents {
        Contents { segments: self.segments.clone(), open: None }
    }

    /// Starts a segment that no other session writes to.
    fn start_segment(&mut self) -> io::Result<Writing> {
        let mut number = self.segments.len();
        loop {
            let path = self.folder.join(format!("{number:06}.{ENDING}"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    file.write_all(MAGIC)?;
                    self.segments.push(path);
                    let segment = self.segments.len() as u32 - 1;
                    return Ok(Writing { segment, file, offset: MAGIC.len() as u64 });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

/// A record as it is written, with its checksum.
#[derive(Debug)]
pub(crate) struct Sealed {
    bytes: Vec<u8>,
}

impl Sealed {
    /// The record with these contents.
    pub(crate) fn new(key: Key, contents: &[u8]) -> Sealed {
        let mut bytes = Vec::with_capacity(HEAD + contents.len());
        bytes.extend_from_slice(&(contents.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&key.0);
        bytes.extend_from_slice(&checksum(&bytes, contents));
        bytes.extend_from_slice(contents);
        Sealed { bytes }
    }
}

/// Reads records.
#[derive(Debug)]
pub(crate) struct Contents {
    segments: Vec<PathBuf>,
    open: Option<(u32, File)>,
}

impl Contents {
    /// The contents of a record.
    pub(crate) fn read(&mut self, at: Location) -> io::Result<Vec<u8>> {
        let mut contents = vec![0; at.length as usize];
        self.seek(at)?.read_exact(&mut contents)?;
        Ok(contents)
    }

    /// The first field of a record's contents, after its length in 8 bytes, little endian.
    pub(crate) fn read_first(&mut self, at: Location) -> io::Result<Vec<u8>> {
        let file = self.seek(at)?;
        let mut length = [0; 8];
        file.read_exact(&mut length)?;
        let length = u64::from_le_bytes(length);
        if length > at.length {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut first = vec![0; length as usize];
        file.read_exact(&mut first)?;
        Ok(first)
    }

    /// The file of a record, at the start of its contents.
    fn seek(&mut self, at: Location) -> io::Result<&mut File> {
        if self.open.as_ref().is_none_or(|(segment, _)| *segment != at.segment) {
            let path = self.segments.get(at.segment as usize).expect("a record is in a segment of its store");
            self.open = Some((at.segment, File::open(path)?));
        }
        let (_, file) = self.open.as_mut().expect("the segment has been opened");
        file.seek(SeekFrom::Start(at.offset))?;
        Ok(file)
    }
}

/// Finds the records of a segment, up to the first invalid one.
fn scan(path: &Path, segment: u32, known: &mut BTreeMap<Key, Location>) -> io::Result<()> {
    let file = File::open(path)?;
    let end = file.metadata()?.len();
    let mut file = BufReader::new(file);
    let mut magic = [0; MAGIC.len()];
    if end < MAGIC.len() as u64 {
        return Ok(());
    }
    file.read_exact(&mut magic)?;
    if magic != *MAGIC {
        return Ok(());
    }
    let mut offset = MAGIC.len() as u64;
    let mut contents = Vec::new();
    while end - offset >= HEAD as u64 {
        let mut head = [0; HEAD];
        file.read_exact(&mut head)?;
        offset += HEAD as u64;
        let (head, sum) = head.split_at(40);
        let (length, key) = head.split_at(8);
        let length = u64::from_le_bytes(length.try_into().expect("a length has 8 bytes"));
        if length > MAX_RECORD || length > end - offset {
            break;
        }
        contents.resize(length as usize, 0);
        file.read_exact(&mut contents)?;
        if checksum(head, &contents) != sum {
            break;
        }
        let mut hash = [0; 32];
        hash.copy_from_slice(key);
        known.insert(Key(hash), Location { segment, offset, length });
        offset += length;
    }
    Ok(())
}

fn checksum(head: &[u8], contents: &[u8]) -> [u8; 8] {
    // The hash of the contents saves copying them behind the head.
    let both = [head, &tls::sha256(contents)].concat();
    let mut out = [0; 8];
    out.copy_from_slice(&tls::sha256(&both)[..8]);
    out
}
