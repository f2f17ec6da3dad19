//! What an archive has that is not played as it stands, and why: how many entries, and the first of each reason.

use std::fmt;

/// A number of entries in words.
pub(super) fn entries(count: usize) -> String {
    format!("{count} {}", if count == 1 { "entry" } else { "entries" })
}

/// Why an entry did not use the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unused {
    /// No answer came: the request was never made, blocked or given up.
    NeverMade,
    /// The response came from a cache, a service worker or the browser itself.
    Local,
    /// The URL is not http or https.
    NotHttp,
    /// The method is CONNECT: a tunnel through a proxy (RFC 9110 section 9.3.6), not a request for an object.
    Connect,
    /// There is no request, or no time at which it began, as far as they can be read.
    Unreadable,
}

/// The words for reasons, in the order of [`Unused`].
const UNUSED: [&str; 5] = [
    "never made, blocked or given up (no HTTP status)",
    "from a cache, a service worker or the browser itself",
    "not http or https",
    "with the method CONNECT, which asks a proxy for a tunnel and not for an object",
    "without a request, its url or its startedDateTime, so that they cannot be played",
];

/// What an entry says of itself that cannot all be true, or does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// There is content, and `_transferSize`, which includes the header, is not above `headersSize`.
    Transferred,
    /// `bodySize` is 0, and there is content that came over the network.
    Body,
    /// The field `content-length` is 0, and there is content.
    Length,
    /// The date is before 1970, or a day or more from those of the page.
    Date,
    /// `content.compression` is not below `content.size`.
    Compression,
    /// A response that has no content has a `bodySize`.
    Bodiless,
    /// `request.bodySize` is 0, and the field `content-length` is not.
    Request,
    /// There is no `pageref`, and there are several pages.
    Page,
    /// The time has no zone, and others have one.
    Zone,
    /// The content is compressed, and its size on the wire is not known.
    Unpacked,
    /// `content.size` is 0 or absent, and there is text.
    Text,
    /// `bodySize` is that of the unpacked content, and the field `content-length` that of the packed.
    Packed,
    /// `_transferSize` is far above the content.
    Above,
    /// The content is that of the whole, of which a part was sent.
    Part,
    /// The time is not the sum of the timings.
    Timings,
    /// The response was pushed by the server.
    Pushed,
}

/// The words for doubts, in the order of [`Doubt`].
const DOUBTS: [&str; 16] = [
    "with content, but a _transferSize not above headersSize, which is not used",
    "with content, but a bodySize of 0, which is not used",
    "with content, but a content-length of 0, which is not used",
    "with a startedDateTime of another day than those of their page: the time of the entry before, or behind, is taken",
    "with a content.compression not below content.size: content.size is taken",
    "with a bodySize, but a status or method without content: nothing is sent",
    "with a request.bodySize of 0 and a content-length: the latter is taken",
    "without a pageref: they belong to the page that had begun last",
    "with a time without a zone: the zone of the others is taken",
    "with compressed content whose size on the wire is not known: the size of the unpacked content is taken",
    "with text and a content.size of 0, or none: the length of the text is taken",
    "with a bodySize of the unpacked content and a lower content-length: the latter is taken",
    "with a _transferSize far above the content, which is taken as it stands",
    "with a part of the content, whose size content-range says: the size of the part is taken",
    "with a time that is not the sum of the timings: the sum is taken",
    "pushed by the server: they are requested as the others",
];

/// Numbers of entries by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tally<const REASONS: usize> {
    words: &'static [&'static str; REASONS],
    /// By reason: the number of entries, and the number of the first.
    reasons: [(usize, usize); REASONS],
}

impl<const REASONS: usize> Tally<REASONS> {
    fn new(words: &'static [&'static str; REASONS]) -> Self {
        Tally { words, reasons: [(0, 0); REASONS] }
    }

    /// Counts an entry, whose number is counted from 1.
    fn add(&mut self, reason: usize, number: usize) {
        let (count, first) = &mut self.reasons[reason];
        if *count == 0 {
            *first = number;
        }
        *count += 1;
    }

    /// The reasons that there are: the number of entries, the words, and the number of the first entry.
    fn given(&self) -> impl Iterator<Item = (usize, &'static str, usize)> {
        let given = self.reasons.iter().zip(self.words).filter(|((count, _), _)| *count > 0);
        given.map(|((count, first), words)| (*count, *words, *first))
    }
}

/// The entries that were left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LeftOut(Tally<5>);

impl LeftOut {
    pub(super) fn new() -> LeftOut {
        LeftOut(Tally::new(&UNUSED))
    }
    pub(super) fn add(&mut self, why: Unused, number: usize) {
        self.0.add(why as usize, number);
    }
    /// The number of entries.
    pub(super) fn count(&self) -> usize {
        self.0.reasons.iter().map(|(count, _)| count).sum()
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (count, words, first)) in self.0.given().enumerate() {
            let separator = if at > 0 { "; " } else { "" };
            write!(f, "{separator}{count} {words}, the first is entry {first}")?;
        }
        Ok(())
    }
}

/// The entries that were settled in one of several ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Doubts(Tally<16>);

impl Doubts {
    pub(super) fn new() -> Doubts {
        Doubts(Tally::new(&DOUBTS))
    }
    pub(super) fn add(&mut self, what: Doubt, number: usize) {
        self.0.add(what as usize, number);
    }
    /// A note for each kind: how many of all entries there are, and what of them.
    pub(super) fn notes(&self, of: usize) -> impl Iterator<Item = String> {
        let words = move |(count, words, first)| {
            format!("{count} of {} {words}; the first is entry {first}", entries(of))
        };
        self.0.given().map(words)
    }
}
