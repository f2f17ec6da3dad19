//! A site of known bytes, and a sink that stores everything.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use web::{Answer, Body, Fetched, Head, Query, Sink, Site, Source, Take};

/// The bytes of the object with this name and length.
pub(crate) fn content(name: &str, length: u64) -> Vec<u8> {
    let start = name.bytes().fold(7u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
    (0..length).map(|at| (start.wrapping_add(at * 13 + at / 251)) as u8).collect()
}

/// The requests to a shelf.
pub(crate) type Asked = Rc<RefCell<Vec<String>>>;

/// A site: `/bytes/<n>` is read in pieces, `/whole/<n>` at once, `/virtual/<n>` is virtual, `/broken/<n>` fails in the
/// middle, `/late/<n>` has no data at every other read.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    /// The methods, folders and names of the requests.
    pub(crate) asked: Asked,
}

impl Site for Shelf {
    fn find(&mut self, query: Query<'_>) -> Answer {
        let path = query.target.segments.join("/");
        self.asked.borrow_mut().push(format!("{} {path}", query.method.as_str()));
        let Some((kind, length)) = path.split_once('/') else { return Answer::plain(404, "nothing") };
        let Ok(length) = length.parse::<u64>() else { return Answer::plain(404, "nothing") };
        let body = match kind {
            "bytes" => Body::Source { length, source: Box::new(Pieces(content(&path, length))) },
            "broken" => Body::Source { length, source: Box::new(Pieces(content(&path, length / 2))) },
            "late" => Body::Source { length, source: Box::new(Late(Pieces(content(&path, length)), false)) },
            "whole" => Body::Bytes(content(&path, length)),
            "virtual" => Body::Virtual(length),
            _ => return Answer::plain(404, "nothing"),
        };
        Answer { content_type: Some("application/octet-stream".into()), ..Answer::found(body) }
    }
}

/// Returns its bytes in pieces of odd sizes.
struct Pieces(Vec<u8>);

impl Source for Pieces {
    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let rest = &self.0[(offset as usize).min(self.0.len())..];
        let count = rest.len().min(out.len()).min(7001);
        out[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

/// The same with no data at every other read. The second field is whether data is available now.
struct Late(Pieces, bool);

impl Source for Late {
    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 { Err(io::ErrorKind::WouldBlock.into()) } else { self.0.read_at(offset, out) }
    }
}

/// The data stored for one request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    pub(crate) head: Option<Head>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) ended: Option<Fetched>,
}

/// A sink that stores everything.
#[derive(Debug, Clone)]
pub(crate) struct Basket {
    pub(crate) kept: Rc<RefCell<BTreeMap<usize, Kept>>>,
    /// What it needs of bodies.
    pub(crate) take: Take,
    /// The maximum number of bytes that it accepts per body.
    pub(crate) limit: usize,
}

impl Default for Basket {
    fn default() -> Basket {
        Basket { kept: Rc::default(), take: Take::Bytes, limit: usize::MAX }
    }
}

impl Basket {
    pub(crate) fn get(&self, request: usize) -> Kept {
        self.kept.borrow().get(&request).cloned().unwrap_or_default()
    }
}

impl Sink for Basket {
    fn begin(&mut self, request: usize, head: &Head) -> io::Result<Take> {
        let mut kept = self.kept.borrow_mut();
        kept.insert(request, Kept { head: Some(head.clone()), ..Kept::default() });
        Ok(self.take)
    }
    fn bytes(&mut self, request: usize, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut kept = self.kept.borrow_mut();
        let kept = kept.get_mut(&request).unwrap();
        assert_eq!(kept.bytes.len() as u64, offset);
        if kept.bytes.len() + bytes.len() > self.limit {
            return Err(io::Error::other("the basket is full"));
        }
        kept.bytes.extend_from_slice(bytes);
        Ok(())
    }
    fn end(&mut self, request: usize, fetched: &Fetched) -> io::Result<()> {
        let mut kept = self.kept.borrow_mut();
        let kept = kept.entry(request).or_default();
        assert_eq!(kept.ended, None, "a request ends once");
        kept.ended = Some(fetched.clone());
        Ok(())
    }
}
