//! Plain JSON of a qlog in two parts: the events one by one, and the document without them.
//!
//! A document is too large to be held if all its events are. Only brackets, strings and the keys on the way to the events
//! are looked at here; whether a part is JSON is found by whoever reads it.

/// Longer keys are not on the way to the events.
const LONGEST_KEY: usize = 8;

/// The way to the events: the keys of the objects around them; an array is between the two of a list of traces.
const WAYS: [&[Level]; 2] = [
    &[Level::Object(Key::Traces), Level::Array, Level::Object(Key::Events)],
    &[Level::Object(Key::Trace), Level::Object(Key::Events)],
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Trace,
    Traces,
    Events,
    Other,
}

/// An open bracket, of an object with its last key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Object(Key),
    Array,
}

/// Why the splitter stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The text is at its end.
    End,
    /// A list of events begins.
    List,
    /// An event is complete: [`Splitter::event`].
    Event,
}

/// Divides a document that is fed in pieces.
#[derive(Debug, Default)]
pub struct Splitter {
    skeleton: Vec<u8>,
    event: Vec<u8>,
    /// The outermost open brackets, as many as the way to the events has; how many there are in all.
    levels: Vec<Level>,
    depth: usize,
    /// The depth of the list of events that the text is in.
    list: Option<usize>,
    lists: usize,
    /// Whether the list has an event already.
    has_events: bool,
    is_string: bool,
    is_escaped: bool,
    string: Vec<u8>,
    is_done: bool,
    /// Line ends so far, and those before the event.
    line_ends: usize,
    event_line_ends: usize,
}

impl Splitter {
    /// The document without its events: in the place of those of a list stands the list's number, from 0 on.
    #[must_use]
    pub fn skeleton(&self) -> &[u8] {
        &self.skeleton
    }

    /// How many lists of events have begun.
    #[must_use]
    pub fn lists(&self) -> usize {
        self.lists
    }

    /// The event that was completed last.
    #[must_use]
    pub fn event(&self) -> &[u8] {
        self.event.trim_ascii()
    }

    /// The line that the text is in, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line_ends + 1
    }

    /// The line in which the last event begins, complete or not.
    #[must_use]
    pub fn event_line(&self) -> usize {
        self.event_line_ends + 1
    }

    /// What there is of an event that is not complete.
    #[must_use]
    pub fn unfinished(&self) -> &[u8] {
        if self.is_done { &[] } else { self.event() }
    }

    /// How many bytes are held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.skeleton.len().max(self.event.len())
    }

    /// Reads on, and returns how many bytes were read and why it stopped.
    pub fn feed(&mut self, text: &[u8]) -> (usize, Stop) {
        if std::mem::take(&mut self.is_done) {
            self.event.clear();
        }
        let mut at = 0;
        while at < text.len() {
            let from = at;
            if self.is_string && !self.is_escaped {
                let rest = &text[at..];
                at += rest.iter().position(|byte| matches!(byte, b'"' | b'\\')).unwrap_or(rest.len());
                self.keep(&text[from..at]);
                self.remember(&text[from..at]);
                if at == text.len() {
                    break;
                }
            }
            let byte = text[at];
            at += 1;
            if let Some(stop) = self.byte(byte) {
                return (at, stop);
            }
        }
        (at, Stop::End)
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.list.is_none() {
            self.skeleton.extend_from_slice(bytes);
            return;
        }
        if self.event.is_empty() {
            // An event begins with its first sign.
            if bytes.trim_ascii().is_empty() {
                return;
            }
            self.event_line_ends = self.line_ends;
        }
        self.event.extend_from_slice(bytes);
    }

    /// Remembers a string that may be a key.
    fn remember(&mut self, bytes: &[u8]) {
        let room = (LONGEST_KEY + 1).saturating_sub(self.string.len());
        self.string.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn byte(&mut self, byte: u8) -> Option<Stop> {
        self.line_ends += usize::from(byte == b'\n');
        if self.is_string {
            self.keep(&[byte]);
            self.remember(&[byte]);
            if self.is_escaped {
                self.is_escaped = false;
            } else if byte == b'\\' {
                self.is_escaped = true;
            } else {
                self.is_string = false;
            }
            return None;
        }
        let is_outer = self.list == Some(self.depth);
        match byte {
            b',' | b']' if is_outer => {
                if byte == b']' {
                    self.list = None;
                    self.close();
                    self.keep(b"]");
                }
                // Between brackets alone there is no event.
                let is_empty = byte == b']' && !self.has_events && self.event.trim_ascii().is_empty();
                self.has_events = true;
                self.is_done = true;
                return (!is_empty).then_some(Stop::Event);
            }
            b'"' => {
                self.is_string = true;
                self.string.clear();
            }
            b':' => {
                if self.depth == self.levels.len()
                    && let Some(Level::Object(key)) = self.levels.last_mut()
                {
                    *key = match self.string.as_slice() {
                        b"trace\"" => Key::Trace,
                        b"traces\"" => Key::Traces,
                        b"events\"" => Key::Events,
                        _ => Key::Other,
                    };
                }
            }
            b'[' if self.depth == self.levels.len() && WAYS.contains(&self.levels.as_slice()) => {
                self.keep(format!("[{}", self.lists).as_bytes());
                self.depth += 1;
                self.list = Some(self.depth);
                self.lists += 1;
                self.has_events = false;
                self.event.clear();
                return Some(Stop::List);
            }
            b'[' => self.open(Level::Array),
            b'{' => self.open(Level::Object(Key::Other)),
            b']' | b'}' => self.close(),
            _ => {}
        }
        self.keep(&[byte]);
        None
    }

    fn open(&mut self, level: Level) {
        if self.depth == self.levels.len() && self.depth < WAYS[0].len() {
            self.levels.push(level);
        }
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.levels.truncate(self.depth);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The skeleton and the events of a text that is fed in pieces of a size.
    fn split(text: &str, size: usize) -> (String, Vec<(usize, String)>) {
        let mut splitter = Splitter::default();
        let mut events = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            let mut rest = piece;
            while !rest.is_empty() {
                let (read, stop) = splitter.feed(rest);
                rest = &rest[read..];
                if stop == Stop::Event {
                    events.push((splitter.lists(), String::from_utf8_lossy(splitter.event()).into_owned()));
                }
            }
        }
        (String::from_utf8_lossy(splitter.skeleton()).into_owned(), events)
    }

    proptest! {
        #[test]
        fn events_are_taken_out_however_the_text_is_fed(size in 1usize..200) {
            let text = r#"{"events":[1],"x\"":[{"events":[2]}],"traces":[{"events":[{"a":[1,{"events":[]}],"b":"],\"\\"} ,7],"title":"{"},{"events":[]},{"common_fields":{"events":[3]}}],"trace":{"events":[4]}}"#;
            let (skeleton, events) = split(text, size);
            prop_assert_eq!(skeleton, r#"{"events":[1],"x\"":[{"events":[2]}],"traces":[{"events":[0],"title":"{"},{"events":[1]},{"common_fields":{"events":[3]}}],"trace":{"events":[2]}}"#);
            let expected = [(1, r#"{"a":[1,{"events":[]}],"b":"],\"\\"}"#), (1, "7"), (3, "4")];
            prop_assert_eq!(events, expected.map(|(list, text)| (list, text.to_owned())));
        }

        #[test]
        fn an_event_has_its_line(size in 1usize..40) {
            let text = "{\n\"traces\": [{\"events\": [\n\n {\n\"a\": 1},\n 2, 3\n, {\"b\":\n";
            let mut splitter = Splitter::default();
            let mut lines = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                let mut rest = piece;
                while !rest.is_empty() {
                    let (read, stop) = splitter.feed(rest);
                    rest = &rest[read..];
                    if stop == Stop::Event {
                        lines.push(splitter.event_line());
                    }
                }
            }
            prop_assert_eq!(lines, [4, 6, 6]);
            prop_assert_eq!((splitter.line(), splitter.event_line()), (8, 7));
            prop_assert_eq!(splitter.unfinished(), b"{\"b\":");
        }

        #[test]
        fn any_text_is_divided(text in r#"[\[\]{}",:a \\]{0,60}"#, size in 1usize..9) {
            let (skeleton, events) = split(&text, size);
            prop_assert!(skeleton.len() + events.iter().map(|event| event.1.len()).sum::<usize>() <= text.len() + 30);
            prop_assert_eq!(split(&text, 100), (skeleton, events));
        }
    }
}
