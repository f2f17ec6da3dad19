//! Halves of surrogate pairs in JSON, which JavaScript writes where a text was cut, and which are no characters.

use std::borrow::Cow;

/// The JSON with U+FFFD in place of each half that stands alone. It is as long as before.
pub(super) fn replaced(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let mut lone = Vec::new();
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'\\') {
        at += found;
        match unit(bytes, at) {
            Some(0xd800..0xdc00) if matches!(unit(bytes, at + 6), Some(0xdc00..0xe000)) => at += 12,
            Some(0xd800..0xe000) => {
                lone.push(at);
                at += 6;
            }
            // An escape has two signs at least: the second may be a backslash.
            _ => at += 2,
        }
        if at >= bytes.len() {
            break;
        }
    }
    if lone.is_empty() {
        return json.into();
    }
    let mut text = json.to_owned();
    lone.into_iter().for_each(|at| text.replace_range(at..at + 6, "\\ufffd"));
    text.into()
}

/// The UTF-16 code unit that an escape of four hexadecimal digits at this place stands for; `None` if none begins there.
fn unit(bytes: &[u8], at: usize) -> Option<u32> {
    let escape = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits = escape.iter().all(u8::is_ascii_hexdigit).then(|| std::str::from_utf8(escape).ok())??;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn only_halves_that_stand_alone_are_replaced() {
        for (json, expected) in [
            (r#""\ud800""#, r#""\ufffd""#),
            (r#""\uDC00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""a\ud83dbc""#, r#""a\ufffdbc""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\\ud800""#, r#""\\ud800""#),
            (r#""\\\ud800""#, r#""\\\ufffd""#),
            (r#""\ud83d\n""#, r#""\ufffd\n""#),
            (r#""\ud8"#, r#""\ud8"#),
            (r#""é\ud800\"#, r#""é\ufffd\"#),
        ] {
            assert_eq!(replaced(json), expected);
        }
        assert!(matches!(replaced(r#""\u00e9\n""#), std::borrow::Cow::Borrowed(_)));
    }
}
