//! A web page: its objects, what each must wait for, and how each is asked for and answered.

use http::Priority;
use std::fmt;
use units::Duration;

/// The most objects that a page can have.
pub const MOST_OBJECTS: usize = 10_000;
/// The most bytes that a part of an object (content, fields, request) can have: 1 TB.
pub const MOST_BYTES: u64 = 1_000_000_000_000;

/// A web page, as a client loads it. It is complete when the last of its objects is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its objects, in the order in which a client that can ask for several of them asks. At least one.
    pub objects: Vec<Object>,
    /// The time from the complete page to the request for the next one, for a client that loads several.
    pub reading: Duration,
}

/// What an object is to its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A document, which names others: HTML.
    Main,
    /// What a document names: a style sheet, a script, an image.
    Embedded,
}

/// An object of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// What it is to its page.
    pub kind: Kind,
    /// Bytes of the content of the response.
    pub bytes: u64,
    /// Bytes that the header section of the response has at least, as names, values and four bytes for each field
    /// (HTTP/1.1). 0: no more than it needs.
    pub header_bytes: u64,
    /// Bytes that the request has at least, with its fields counted in the same way. 0: no more than it needs.
    pub request_bytes: u64,
    /// The time from the complete request at the server to the begin of the response.
    pub think: Duration,
    /// How urgent the response is (RFC 9218).
    pub priority: Priority,
    /// What this one waits for; the objects ascend, and are all before it. Nothing: it is asked for at the start.
    pub after: Vec<After>,
    /// The time from when the last of [`Object::after`] came, or from the start, to the request.
    pub parsing: Duration,
}

/// An object that another one waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct After {
    /// Its place in the page.
    pub object: u32,
    /// Whether it suffices that the first byte of its response has come, as where a client looks through a document while
    /// it comes; else it must be complete.
    pub begun: bool,
}

impl After {
    /// This object must be complete.
    pub fn complete(object: u32) -> After {
        After { object, begun: false }
    }
}

impl Object {
    /// An object of so many bytes, with nothing that it must wait for.
    pub fn new(kind: Kind, bytes: u64) -> Object {
        Object {
            kind,
            bytes,
            header_bytes: 0,
            request_bytes: 0,
            think: Duration::ZERO,
            priority: Priority::default(),
            after: Vec::new(),
            parsing: Duration::ZERO,
        }
    }
}

/// What is wrong with a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageError {
    /// It has no objects.
    Empty,
    /// It has more than [`MOST_OBJECTS`].
    TooMany(usize),
    /// The object at this place waits for one that is not before it, or for one twice.
    Order(usize),
    /// The object at this place has more than [`MOST_BYTES`].
    TooLarge(usize),
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PageError::Empty => f.write_str("a page without objects"),
            PageError::TooMany(count) => write!(f, "{count} objects, and a page has at most {MOST_OBJECTS}"),
            PageError::Order(at) => write!(f, "object {}: it can wait for objects before it only", at + 1),
            PageError::TooLarge(at) => write!(f, "object {}: more than {MOST_BYTES} bytes", at + 1),
        }
    }
}

impl std::error::Error for PageError {}

impl Page {
    /// Whether it is such that every object is asked for sooner or later.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), PageError> {
        if self.objects.is_empty() {
            return Err(PageError::Empty);
        }
        if self.objects.len() > MOST_OBJECTS {
            return Err(PageError::TooMany(self.objects.len()));
        }
        for (at, object) in self.objects.iter().enumerate() {
            let ascends = object.after.windows(2).all(|pair| pair[0].object < pair[1].object);
            if !ascends || object.after.last().is_some_and(|last| last.object as usize >= at) {
                return Err(PageError::Order(at));
            }
            if object.bytes.max(object.header_bytes).max(object.request_bytes) > MOST_BYTES {
                return Err(PageError::TooLarge(at));
            }
        }
        Ok(())
    }

    /// Bytes of content of all objects together.
    pub fn bytes(&self) -> u64 {
        // At most MOST_OBJECTS times MOST_BYTES: 10^16.
        self.objects.iter().map(|object| object.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(after: &[&[u32]]) -> Page {
        let objects = after.iter().map(|after| {
            let after = after.iter().copied().map(After::complete).collect();
            Object { after, ..Object::new(Kind::Main, 10) }
        });
        Page { objects: objects.collect(), reading: Duration::ZERO }
    }

    #[test]
    fn objects_wait_for_those_before_them() {
        assert_eq!(page(&[&[], &[0], &[0, 1], &[]]).check(), Ok(()));
        assert_eq!(page(&[&[], &[1]]).check(), Err(PageError::Order(1)));
        assert_eq!(page(&[&[], &[], &[1, 0]]).check(), Err(PageError::Order(2)));
        assert_eq!(page(&[&[], &[0, 0]]).check(), Err(PageError::Order(1)));
    }

    #[test]
    fn pages_have_limits() {
        assert_eq!(page(&[]).check(), Err(PageError::Empty));
        let many = vec![[].as_slice(); MOST_OBJECTS + 1];
        assert_eq!(page(&many).check(), Err(PageError::TooMany(MOST_OBJECTS + 1)));
        let mut large = page(&[&[], &[]]);
        large.objects[1].bytes = MOST_BYTES + 1;
        assert_eq!(large.check(), Err(PageError::TooLarge(1)));
        large.objects[1].bytes = MOST_BYTES;
        assert_eq!((large.check(), large.bytes()), (Ok(()), MOST_BYTES + 10));
    }
}
