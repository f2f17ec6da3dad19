//! Rust sources with comments and literals blanked out, at unchanged positions.

use std::ops::Range;

/// Replaces comments, strings and character literals with spaces. All positions and line numbers stay the same.
pub fn blank(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => end_of_line(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => end_of_block_comment(bytes, at),
            b'"' => end_of_string(bytes, at),
            b'r' | b'b' | b'c' if !(at > 0 && is_word(bytes[at - 1])) => match end_of_prefixed(bytes, at) {
                Some(end) => end,
                None => {
                    at += 1;
                    continue;
                }
            },
            b'\'' => match end_of_char(source, at) {
                Some(end) => end,
                None => {
                    at += 1;
                    continue;
                }
            },
            _ => {
                at += 1;
                continue;
            }
        };
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    // Only whole literals and comments were replaced, each byte by a space, so this is still UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

/// [`blank`], with items marked `#[cfg(test)]` blanked out too.
pub fn without_tests(source: &str) -> String {
    let mut out = blank(source).into_bytes();
    for item in test_items(source) {
        for byte in &mut out[item] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    String::from_utf8(out).unwrap_or_default()
}

/// The byte ranges of items marked `#[cfg(test)]`.
pub fn test_items(source: &str) -> Vec<Range<usize>> {
    const MARK: &str = "#[cfg(test)]";
    let code = blank(source);
    let mut items = Vec::new();
    let mut from = 0;
    while let Some(found) = code[from..].find(MARK) {
        let start = from + found;
        from = end_of_item(code.as_bytes(), start + MARK.len());
        items.push(start..from);
    }
    items
}

/// The line number of this byte, counted from 1.
pub fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// A token of blanked code, and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// A word (identifier, keyword, number), `::`, or one character.
    pub text: &'a str,
    /// The offset of its first byte.
    pub at: usize,
}

impl Token<'_> {
    /// Whether it is an identifier, a keyword or a number.
    pub fn is_word(&self) -> bool {
        self.text.as_bytes().first().is_some_and(|byte| is_word(*byte))
    }
}

/// The tokens of blanked code.
pub fn tokens(code: &str) -> Vec<Token<'_>> {
    let bytes = code.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let length = if is_word(bytes[at]) {
            bytes[at..].iter().take_while(|byte| is_word(**byte)).count()
        } else if code[at..].starts_with("::") {
            2
        } else {
            1
        };
        if !bytes[at].is_ascii_whitespace() {
            tokens.push(Token { text: &code[at..at + length], at });
        }
        at += length;
    }
    tokens
}

/// The offset after the brace that closes the one at `open`, or the end of the code if there is none.
pub fn end_of_block(code: &[u8], open: usize) -> usize {
    let mut depth = 0usize;
    for (offset, byte) in code[open..].iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return open + offset + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

/// Letters, digits, `_`, and every byte of a non-ASCII character.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn end_of_line(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| from + length)
}

/// Block comments nest.
fn end_of_block_comment(bytes: &[u8], from: usize) -> usize {
    let mut depth = 0usize;
    let mut at = from;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// `from` is the position of the opening quote.
fn end_of_string(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// `b"..."`, `c"..."`, `r"..."`, `r#"..."#`, `br#"..."#`; `None` if it is just a word.
fn end_of_prefixed(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    if matches!(bytes[at], b'b' | b'c') {
        at += 1;
    }
    if bytes.get(at) == Some(&b'"') && at > from {
        return Some(end_of_string(bytes, at));
    }
    if bytes.get(at) != Some(&b'r') {
        return None;
    }
    at += 1;
    let hashes = bytes[at..].iter().take_while(|byte| **byte == b'#').count();
    at += hashes;
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    at += 1;
    while at < bytes.len() {
        if bytes[at] == b'"'
            && bytes[at + 1..].iter().take(hashes).filter(|byte| **byte == b'#').count() == hashes
        {
            return Some(at + 1 + hashes);
        }
        at += 1;
    }
    Some(bytes.len())
}

/// `None` if the quote starts a lifetime.
fn end_of_char(source: &str, from: usize) -> Option<usize> {
    let rest = &source[from + 1..];
    let mut characters = rest.char_indices();
    let (_, first) = characters.next()?;
    if first == '\\' {
        // The escaped character may be a quote, so search for the closing one after it.
        let (_, escaped) = characters.next()?;
        let after = 1 + escaped.len_utf8();
        return rest[after..].find('\'').map(|length| from + 1 + after + length + 1);
    }
    match characters.next()? {
        (offset, '\'') => Some(from + 1 + offset + 1),
        _ => None,
    }
}

/// The end of the item whose attributes end at `from`: that of its block, or its semicolon.
fn end_of_item(code: &[u8], from: usize) -> usize {
    let mut brackets = 0usize;
    for (offset, byte) in code[from..].iter().enumerate() {
        match byte {
            b'(' | b'[' => brackets += 1,
            b')' | b']' => brackets = brackets.saturating_sub(1),
            b';' if brackets == 0 => return from + offset + 1,
            b'{' if brackets == 0 => return end_of_block(code, from + offset),
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanking_keeps_positions() {
        for (source, code) in [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            (r#"f("x \" y", 'z', '\'', 'é')"#, "f(        ,    ,     ,     )"),
            ("r#\"a \" b\"# + r\"c\"", "           +     "),
            ("b\"x\" b'y' c\"z\"", "     b        "),
            ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
            ("number \"x\"", "number    "),
            ("'\\u{1F600}' x", "            x"),
        ] {
            let blanked = blank(source);
            assert_eq!(blanked, code, "{source}");
            assert_eq!(blanked.len(), source.len(), "{source}");
        }
    }

    #[test]
    fn an_open_literal_ends_with_the_file() {
        for source in ["\"abc", "/* abc", "r#\"abc\"", "'\\", "\"abc\\"] {
            assert_eq!(blank(source).len(), source.len(), "{source}");
        }
    }

    #[test]
    fn test_items_go() {
        let source = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { {} } }\nfn c() {}\n#[cfg(test)]\nuse x::{y};\nfn d() {}";
        let code = without_tests(source);
        assert!(code.contains("fn a") && code.contains("fn c") && code.contains("fn d"));
        assert!(!code.contains("fn b") && !code.contains("tests"));
        assert_eq!(code.lines().count(), source.lines().count());
    }

    #[test]
    fn words_and_marks() {
        let words: Vec<&str> = tokens("use a::{b, c_1};").iter().map(|token| token.text).collect();
        assert_eq!(words, ["use", "a", "::", "{", "b", ",", "c_1", "}", ";"]);
    }

    #[test]
    fn lines_count_from_one() {
        assert_eq!(line_of("a\nb\nc", 0), 1);
        assert_eq!(line_of("a\nb\nc", 4), 3);
    }
}
