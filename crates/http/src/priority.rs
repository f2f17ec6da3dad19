//! Priorities of responses: the Priority field of RFC 9218, a dictionary of RFC 8941.

use std::fmt;

/// The priority parameters of a response (RFC 9218 section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Priority {
    /// The urgency from 0, the most urgent, to 7 (section 4.1).
    pub urgency: u8,
    /// Whether the client can use parts of the response before it is complete (section 4.2).
    pub incremental: bool,
}

impl Default for Priority {
    /// Urgency 3, not incremental: the priority of a message without the field.
    fn default() -> Priority {
        Priority { urgency: 3, incremental: false }
    }
}

impl fmt::Display for Priority {
    /// The value of the field, without defaults: `u=1, i`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.urgency, self.incremental) {
            (3, false) => Ok(()),
            (3, true) => f.write_str("i"),
            (urgency, false) => write!(f, "u={urgency}"),
            (urgency, true) => write!(f, "u={urgency}, i"),
        }
    }
}

/// The value of a dictionary member; kinds without a use are not distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Integer(i64),
    Boolean(bool),
    Other,
}

impl Priority {
    /// Reads a field value or the Priority Field Value of a PRIORITY_UPDATE frame.
    ///
    /// Parameters that are unknown, out of range or of the wrong type are ignored (RFC 9218 section 4). A value that
    /// is not a dictionary is ignored as a whole (RFC 8941 section 4.2): `None`.
    pub fn parse(text: &[u8]) -> Option<Priority> {
        let mut priority = Priority::default();
        let mut reader = Reader { rest: text };
        reader.spaces(b" ");
        while !reader.rest.is_empty() {
            let name = reader.key()?;
            let value = if reader.take(b'=') { reader.member()? } else { Value::Boolean(true) };
            reader.parameters()?;
            // RFC 8941 section 4.2.2: of members with the same name the last one counts, whatever its value.
            match (name, value) {
                (b"u", Value::Integer(urgency @ 0..=7)) => priority.urgency = urgency as u8,
                (b"u", _) => priority.urgency = Priority::default().urgency,
                (b"i", Value::Boolean(incremental)) => priority.incremental = incremental,
                (b"i", _) => priority.incremental = false,
                _ => {}
            }
            reader.spaces(b" \t");
            if reader.rest.is_empty() {
                break;
            }
            if !reader.take(b',') {
                return None;
            }
            reader.spaces(b" \t");
            // A trailing comma is an error.
            if reader.rest.is_empty() {
                return None;
            }
        }
        Some(priority)
    }
}

/// Reads structured fields (RFC 8941 section 4.2).
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn spaces(&mut self, which: &[u8]) {
        self.run(|byte| which.contains(&byte));
    }
    fn take(&mut self, byte: u8) -> bool {
        match self.rest.strip_prefix(&[byte]) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
    fn run(&mut self, admits: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| !admits(*byte)).unwrap_or(self.rest.len());
        let (run, rest) = self.rest.split_at(end);
        self.rest = rest;
        run
    }

    /// 4.2.3.3.
    fn key(&mut self) -> Option<&'a [u8]> {
        self.rest.first().filter(|byte| byte.is_ascii_lowercase() || **byte == b'*')?;
        Some(self.run(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-' | b'.' | b'*')
        }))
    }

    /// 4.2.1.1: an item or an inner list.
    fn member(&mut self) -> Option<Value> {
        if !self.take(b'(') {
            return self.item();
        }
        loop {
            self.spaces(b" ");
            if self.take(b')') {
                return Some(Value::Other);
            }
            self.item()?;
            self.parameters()?;
            if !matches!(self.rest.first(), Some(b' ' | b')')) {
                return None;
            }
        }
    }

    /// 4.2.3.1.
    fn item(&mut self) -> Option<Value> {
        match *self.rest.first()? {
            b'-' | b'0'..=b'9' => self.number(),
            b'"' => self.string(),
            b'?' => {
                let (mark, rest) = self.rest.split_at_checked(2)?;
                self.rest = rest;
                matches!(mark[1], b'0' | b'1').then_some(Value::Boolean(mark[1] == b'1'))
            }
            b':' => {
                self.rest = &self.rest[1..];
                self.run(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
                self.take(b':').then_some(Value::Other)
            }
            byte if byte.is_ascii_alphabetic() || byte == b'*' => {
                self.run(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte));
                Some(Value::Other)
            }
            _ => None,
        }
    }

    /// 4.2.4: up to 15 digits, or 12 digits, a point and 3 digits.
    fn number(&mut self) -> Option<Value> {
        let negative = self.take(b'-');
        let digits = self.run(|byte| byte.is_ascii_digit());
        if self.take(b'.') {
            let fraction = self.run(|byte| byte.is_ascii_digit());
            let fits = (1..=12).contains(&digits.len()) && (1..=3).contains(&fraction.len());
            return fits.then_some(Value::Other);
        }
        if !(1..=15).contains(&digits.len()) {
            return None;
        }
        let value = digits.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
        Some(Value::Integer(if negative { -value } else { value }))
    }

    /// 4.2.5.
    fn string(&mut self) -> Option<Value> {
        self.rest = &self.rest[1..];
        loop {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            match byte {
                b'"' => return Some(Value::Other),
                b'\\' => {
                    let (&escaped, rest) = self.rest.split_first()?;
                    self.rest = rest;
                    if !matches!(escaped, b'"' | b'\\') {
                        return None;
                    }
                }
                0x20..=0x7e => {}
                _ => return None,
            }
        }
    }

    /// 4.2.3.2.
    fn parameters(&mut self) -> Option<()> {
        while self.take(b';') {
            self.spaces(b" ");
            self.key()?;
            if self.take(b'=') {
                self.item()?;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(urgency: u8, incremental: bool) -> Option<Priority> {
        Some(Priority { urgency, incremental })
    }

    /// RFC 9218 sections 4.1, 4.2, 5.
    #[test]
    fn the_examples_of_rfc_9218() {
        assert_eq!(Priority::parse(b"u=0"), of(0, false));
        assert_eq!(Priority::parse(b"u=5, i"), of(5, true));
        assert_eq!(Priority::parse(b"u=1"), of(1, false));
        assert_eq!(Priority::parse(b""), of(3, false));
    }

    /// RFC 9218 section 4: what is unknown, out of range or of another type is ignored.
    #[test]
    fn unknown_parameters_are_ignored() {
        for (text, urgency, incremental) in [
            ("u=8, i", 3, true),
            ("u=-1", 3, false),
            ("u=1.0", 3, false),
            ("u, i=?1", 3, true),
            ("i=?0", 3, false),
            ("i=1", 3, false),
            ("u=\"2\"", 3, false),
            ("x=(1 \"a\\\"b\";q=2 tok:en/*);y, u=6;z=:YQ==:, *k", 6, false),
            ("u=1,u=2", 2, false),
            ("u=1,u=9", 3, false),
            (" u=4\t,\t i ", 4, true),
        ] {
            assert_eq!(Priority::parse(text.as_bytes()), of(urgency, incremental), "{text}");
        }
    }

    /// RFC 8941 section 4.2: a field that does not parse is ignored.
    #[test]
    fn invalid_dictionaries_are_ignored() {
        for text in [
            "u=",
            "U=1",
            "u=1,",
            "u=1 i",
            ",u=1",
            "u=1;;",
            "u=(1",
            "u=(1,2)",
            "u=\"a",
            "u=?2",
            "u=1234567890123456",
            "\u{e9}",
            "u==1",
            "u=:a",
        ] {
            assert_eq!(Priority::parse(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(urgency in 0u8..8, incremental: bool) {
            let priority = Priority { urgency, incremental };
            prop_assert_eq!(Priority::parse(priority.to_string().as_bytes()), Some(priority));
        }

        #[test]
        fn no_input_panics(text in proptest::collection::vec(
            prop_oneof![any::<u8>(), proptest::sample::select(b"ui=,;()\"?:01- ".to_vec())], 0..40))
        {
            if let Some(priority) = Priority::parse(&text) {
                prop_assert!(priority.urgency < 8);
            }
        }
    }
}
