//! A JSON writer that does not allocate beyond its one buffer.

use units::{Duration, Time};

const HEX: &[u8; 16] = b"0123456789abcdef";
/// The two digits of each number below 100.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut at = 0;
    while at < pairs.len() {
        pairs[at] = [b'0' + (at / 10) as u8, b'0' + (at % 10) as u8];
        at += 1;
    }
    pairs
};

/// JSON under construction. Commas are inserted automatically.
#[derive(Debug, Clone, Default)]
pub(super) struct Json {
    text: Vec<u8>,
}

impl Json {
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.text
    }
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }
    pub(super) fn clear(&mut self) {
        self.text.clear();
    }
    /// Removes everything after the first `length` bytes.
    pub(super) fn truncate(&mut self, length: usize) {
        self.text.truncate(length);
    }
    /// Begins a text of a sequence: a record separator (RFC 7464 section 2.2) and a brace.
    pub(super) fn begin(&mut self) {
        self.text.extend_from_slice(b"\x1e{");
    }
    /// Ends a text: a brace and a line feed, which reveals truncated numbers (RFC 7464 section 2.4).
    pub(super) fn end(&mut self) {
        self.text.extend_from_slice(b"}\n");
    }
    #[inline]
    fn comma(&mut self) {
        if !matches!(self.text.last(), Some(b'{' | b'[')) {
            self.text.push(b',');
        }
    }
    /// A key of the current object, which must need no escapes.
    #[inline]
    pub(super) fn key(&mut self, key: &str) {
        self.comma();
        self.text.push(b'"');
        self.text.extend_from_slice(key.as_bytes());
        self.text.extend_from_slice(b"\":");
    }
    /// JSON text with its commas, as it is. Most of an event is text that never changes, and is written in few pieces.
    #[inline(always)]
    pub(super) fn put(&mut self, json: &'static str) {
        self.text.extend_from_slice(json.as_bytes());
    }
    /// JSON text in place of a key and its value: `"frame_type":"ping"`.
    #[inline]
    pub(super) fn literal(&mut self, json: &str) {
        self.comma();
        self.text.extend_from_slice(json.as_bytes());
    }
    /// The rest of a word that began in a literal, and its closing quote.
    #[inline]
    pub(super) fn continue_word(&mut self, rest: &str) {
        self.text.extend_from_slice(rest.as_bytes());
        self.text.push(b'"');
    }
    #[inline]
    pub(super) fn open(&mut self, key: &str) {
        self.key(key);
        self.text.push(b'{');
    }
    #[inline]
    pub(super) fn close(&mut self) {
        self.text.push(b'}');
    }
    #[inline]
    pub(super) fn open_list(&mut self, key: &str) {
        self.key(key);
        self.text.push(b'[');
    }
    #[inline]
    pub(super) fn close_list(&mut self) {
        self.text.push(b']');
    }
    /// Opens an object as an item of the current list.
    #[inline]
    pub(super) fn item(&mut self) {
        self.comma();
        self.text.push(b'{');
    }
    /// A number.
    #[inline]
    pub(super) fn digits(&mut self, value: u64) {
        self.text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }
    #[inline]
    pub(super) fn number(&mut self, key: &str, value: u64) {
        self.key(key);
        self.digits(value);
    }
    pub(super) fn boolean(&mut self, key: &str, value: bool) {
        self.key(key);
        self.text.extend_from_slice(if value { b"true" } else { b"false" });
    }
    /// `[a]` or `[a,b]` as an item of the current list.
    #[inline]
    pub(super) fn range(&mut self, first: u64, last: Option<u64>) {
        self.comma();
        self.text.push(b'[');
        self.digits(first);
        if let Some(last) = last {
            self.text.push(b',');
            self.digits(last);
        }
        self.text.push(b']');
    }
    /// A number as an item of the current list.
    pub(super) fn number_item(&mut self, value: u64) {
        self.comma();
        self.digits(value);
    }
    /// Nanoseconds as exact milliseconds, always with a fraction, so that every reader takes it for a float.
    #[inline]
    pub(super) fn millis(&mut self, nanos: u64) {
        self.digits(nanos / 1_000_000);
        let rest = (nanos % 1_000_000) as usize;
        let pairs = [rest / 10_000, rest / 100 % 100, rest % 100];
        let [[a, b], [c, d], [e, f]] = pairs.map(|pair| PAIRS[pair]);
        self.text.extend_from_slice(&[b'.', a, b, c, d, e, f]);
        let decimals = &self.text[self.text.len() - 5..];
        let zeros = decimals.iter().rev().take_while(|digit| **digit == b'0').count();
        self.text.truncate(self.text.len() - zeros);
    }
    #[inline]
    pub(super) fn span(&mut self, key: &str, span: Duration) {
        self.key(key);
        self.millis(span.as_nanos());
    }
    #[inline]
    pub(super) fn begin_at(&mut self, time: Time) {
        self.put("\x1e{\"time\":");
        self.millis(time.as_nanos());
    }
    /// A real number. Writes nothing if it is infinite or NaN, which JSON cannot represent.
    pub(super) fn real(&mut self, key: &str, value: f64) {
        if value.is_finite() {
            self.key(key);
            // The shortest digits that round-trip, always with a fraction or an exponent.
            self.display(format_args!("{value:?}"));
        }
    }
    /// A formatted value as a string, which must need no escapes.
    pub(super) fn shown(&mut self, key: &str, value: std::fmt::Arguments<'_>) {
        self.key(key);
        self.text.push(b'"');
        self.display(value);
        self.text.push(b'"');
    }
    fn display(&mut self, value: std::fmt::Arguments<'_>) {
        use std::io::Write;
        // Writing to a vector cannot fail.
        let _ = self.text.write_fmt(value);
    }
    /// A string that needs no escapes.
    #[inline]
    pub(super) fn word(&mut self, key: &str, word: &str) {
        self.key(key);
        self.text.push(b'"');
        self.text.extend_from_slice(word.as_bytes());
        self.text.push(b'"');
    }
    /// A string.
    pub(super) fn string(&mut self, key: &str, value: &str) {
        self.key(key);
        self.quote(value);
    }
    fn quote(&mut self, value: &str) {
        self.text.push(b'"');
        for byte in value.bytes() {
            match byte {
                b'"' | b'\\' => self.text.extend_from_slice(&[b'\\', byte]),
                // RFC 8259 section 7. A record separator would also end the text (RFC 7464 section 2.1).
                0..=0x1f => {
                    self.text.extend_from_slice(b"\\u00");
                    self.hex_digits(&[byte]);
                }
                _ => self.text.push(byte),
            }
        }
        self.text.push(b'"');
    }
    #[inline]
    fn hex_digits(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut digits = [[0; 2]; 8];
            for (pair, byte) in digits.iter_mut().zip(part) {
                *pair = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
            }
            self.text.extend_from_slice(digits[..part.len()].as_flattened());
        }
    }
    /// A list of 32-bit numbers in hexadecimal. Writes nothing if it is empty.
    pub(super) fn hex_list(&mut self, key: &str, values: &[u32]) {
        if values.is_empty() {
            return;
        }
        self.open_list(key);
        for value in values {
            self.comma();
            self.text.push(b'"');
            self.hex_digits(&value.to_be_bytes());
            self.text.push(b'"');
        }
        self.close_list();
    }
    #[inline]
    pub(super) fn hex(&mut self, key: &str, bytes: &[u8]) {
        self.key(key);
        self.text.push(b'"');
        self.hex_digits(bytes);
        self.text.push(b'"');
    }
    /// A hexadecimal string as an item of the current list.
    pub(super) fn hex_item(&mut self, bytes: &[u8]) {
        self.comma();
        self.text.push(b'"');
        self.hex_digits(bytes);
        self.text.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(write: impl FnOnce(&mut Json)) -> String {
        let mut json = Json::default();
        json.begin();
        write(&mut json);
        json.end();
        let text = String::from_utf8(json.text).unwrap();
        text.strip_prefix('\u{1e}').unwrap().strip_suffix('\n').unwrap().to_owned()
    }

    #[test]
    fn commas_and_braces() {
        let text = text(|json| {
            json.number("a", u64::MAX);
            json.open("b");
            json.close();
            json.open_list("c");
            json.item();
            json.boolean("d", true);
            json.close();
            json.item();
            json.literal("\"e\":0");
            json.close();
            json.close_list();
            json.open_list("f");
            json.range(1, None);
            json.range(3, Some(4));
            json.close_list();
            json.hex("g", &[0, 0xaf]);
            json.real("h", 1e300);
            json.real("i", f64::NAN);
        });
        let expected = "{\"a\":18446744073709551615,\"b\":{},\"c\":[{\"d\":true},{\"e\":0}],\"f\":[[1],[3,4]],\
                        \"g\":\"00af\",\"h\":1e300}";
        assert_eq!(text, expected);
    }

    #[test]
    fn milliseconds_are_exact() {
        for (nanos, shown) in [
            (0, "0.0"),
            (1, "0.000001"),
            (1_000, "0.001"),
            (20_000_000, "20.0"),
            (12_345_678, "12.345678"),
            (1_500_000, "1.5"),
            (u64::MAX, "18446744073709.551615"),
        ] {
            let mut json = Json::default();
            json.begin_at(Time::from_nanos(nanos));
            assert_eq!(json.text, format!("\x1e{{\"time\":{shown}").into_bytes());
        }
    }

    proptest! {
        #[test]
        fn any_text_round_trips(value in any::<String>()) {
            let text = text(|json| json.string("k", &value));
            let breaks_the_sequence = text.contains(['\u{1e}', '\n']);
            prop_assert!(!breaks_the_sequence);
            let read: serde_json::Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read["k"].as_str(), Some(value.as_str()));
        }
        #[test]
        fn any_real_number_round_trips(value in any::<f64>()) {
            let text = text(|json| json.real("k", value));
            let digits = text.strip_prefix("{\"k\":").and_then(|rest| rest.strip_suffix('}'));
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
            prop_assert_eq!(digits.map(|digits| digits.parse()), value.is_finite().then_some(Ok(value)));
        }
    }
}
