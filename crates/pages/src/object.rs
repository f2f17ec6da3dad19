//! Web pages: their objects, and the dependencies, request and response of each.

use http::Priority;
use std::fmt;
use std::sync::Arc;
use units::Duration;

/// The maximum number of objects in a page.
pub const MAX_OBJECTS: usize = 10_000;
/// The maximum size of a part of an object (content, fields, request) in bytes: 1 TB.
pub const MAX_BYTES: u64 = 1_000_000_000_000;

/// A web page as loaded by a client. It is complete when its last object is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// At least one object, in the order in which a client requests those that it can.
    pub objects: Vec<Object>,
    /// The time from the complete page to the request for the next one, for a client that loads several.
    pub reading: Duration,
}

/// The role of an object in its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A document, which names others: HTML.
    Main,
    /// An object named by a document: a style sheet, a script, an image.
    Embedded,
}

/// An object of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// The role of the object in its page.
    pub kind: Kind,
    /// The host that it comes from, in lower case, if the page says so.
    pub host: Option<Arc<str>>,
    /// The size of the response content in bytes.
    pub bytes: u64,
    /// The minimum size of the response's header section in bytes, counted as names, values and four bytes per field
    /// (HTTP/1.1). 0: no padding.
    pub header_bytes: u64,
    /// The minimum size of the request in bytes, with its fields counted in the same way. 0: no padding.
    pub request_bytes: u64,
    /// The time from the complete request at the server to the start of the response.
    pub think: Duration,
    /// The priority of the response (RFC 9218).
    pub priority: Priority,
    /// The earlier objects that this one waits for, ascending. If empty, it is requested at the start.
    pub after: Vec<After>,
    /// The time from the last of [`Object::after`], or from the start, to the request.
    pub parsing: Duration,
}

/// A dependency on another object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct After {
    /// The index in the page.
    pub object: u32,
    /// Whether the first byte of its response suffices, as for a client that scans a document while it arrives.
    /// Otherwise the object must be complete.
    pub on_first_byte: bool,
}

impl After {
    /// A dependency on the complete object.
    pub fn complete(object: u32) -> After {
        After { object, on_first_byte: false }
    }
}

impl Object {
    /// An object of `bytes` bytes without dependencies.
    pub fn new(kind: Kind, bytes: u64) -> Object {
        Object {
            kind,
            host: None,
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

/// An error in a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageError {
    /// The page has no objects.
    Empty,
    /// The page has more than [`MAX_OBJECTS`].
    TooMany(usize),
    /// The object at this index depends on one that is not before it, or on one twice.
    Order(usize),
    /// The object at this index exceeds [`MAX_BYTES`].
    TooLarge(usize),
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PageError::Empty => f.write_str("a page without objects"),
            PageError::TooMany(count) => write!(f, "{count} objects, and a page has at most {MAX_OBJECTS}"),
            PageError::Order(at) => write!(f, "object {}: it can only wait for objects before it", at + 1),
            PageError::TooLarge(at) => write!(f, "object {}: more than {MAX_BYTES} bytes", at + 1),
        }
    }
}

impl std::error::Error for PageError {}

impl Page {
    /// Checks the limits, and that every object can be requested eventually.
    ///
    /// # Errors
    /// The first error.
    pub fn check(&self) -> Result<(), PageError> {
        if self.objects.is_empty() {
            return Err(PageError::Empty);
        }
        if self.objects.len() > MAX_OBJECTS {
            return Err(PageError::TooMany(self.objects.len()));
        }
        for (at, object) in self.objects.iter().enumerate() {
            let ascends = object.after.windows(2).all(|pair| pair[0].object < pair[1].object);
            if !ascends || object.after.last().is_some_and(|last| last.object as usize >= at) {
                return Err(PageError::Order(at));
            }
            if object.bytes.max(object.header_bytes).max(object.request_bytes) > MAX_BYTES {
                return Err(PageError::TooLarge(at));
            }
        }
        Ok(())
    }

    /// The total size of the content of all objects in bytes.
    pub fn bytes(&self) -> u64 {
        // At most MAX_OBJECTS times MAX_BYTES: 10^16.
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
    fn objects_only_depend_on_earlier_ones() {
        assert_eq!(page(&[&[], &[0], &[0, 1], &[]]).check(), Ok(()));
        assert_eq!(page(&[&[], &[1]]).check(), Err(PageError::Order(1)));
        assert_eq!(page(&[&[], &[], &[1, 0]]).check(), Err(PageError::Order(2)));
        assert_eq!(page(&[&[], &[0, 0]]).check(), Err(PageError::Order(1)));
    }

    #[test]
    fn pages_have_limits() {
        assert_eq!(page(&[]).check(), Err(PageError::Empty));
        let many = vec![[].as_slice(); MAX_OBJECTS + 1];
        assert_eq!(page(&many).check(), Err(PageError::TooMany(MAX_OBJECTS + 1)));
        let mut large = page(&[&[], &[]]);
        large.objects[1].bytes = MAX_BYTES + 1;
        assert_eq!(large.check(), Err(PageError::TooLarge(1)));
        large.objects[1].bytes = MAX_BYTES;
        assert_eq!((large.check(), large.bytes()), (Ok(()), MAX_BYTES + 10));
    }
}
