//! Elements of an MPD and their attributes, for errors with a line.

use crate::presentation::file::{TextError, quoted};
use units::Duration;

const XLINK: &str = "http://www.w3.org/1999/xlink";

/// An element of the namespace of MPDs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element<'a>(roxmltree::Node<'a, 'a>);

impl<'a> Element<'a> {
    pub(super) fn root(document: &'a roxmltree::Document<'a>) -> Element<'a> {
        Element(document.root_element())
    }

    /// The line in which it begins, counted from 1.
    pub(super) fn line(&self) -> usize {
        self.0.document().text_pos_at(self.0.range().start).row as usize
    }

    /// An error in this element.
    pub(super) fn wrong(&self, problem: impl std::fmt::Display) -> TextError {
        TextError::line(self.line(), format!("{}: {problem}", self.name()))
    }

    pub(super) fn name(&self) -> &'a str {
        self.0.tag_name().name()
    }

    /// The children with this name. Those of other namespaces are extensions, which a reader may leave out.
    pub(super) fn children(&self, name: &'static str) -> impl Iterator<Item = Element<'a>> + use<'a> {
        let namespace = self.0.tag_name().namespace();
        let named = move |node: &roxmltree::Node<'a, 'a>| {
            node.is_element() && node.tag_name().name() == name && node.tag_name().namespace() == namespace
        };
        self.0.children().filter(named).map(Element)
    }

    /// The child with this name, of which there is at most one.
    pub(super) fn child(&self, name: &'static str) -> Result<Option<Element<'a>>, TextError> {
        let mut all = self.children(name);
        let first = all.next();
        match all.next() {
            Some(second) => Err(second.wrong("a second one in the same element; expected one")),
            None => Ok(first),
        }
    }

    /// An attribute without a namespace.
    pub(super) fn attribute(&self, name: &str) -> Option<&'a str> {
        self.0.attributes().find(|one| one.namespace().is_none() && one.name() == name).map(|one| one.value())
    }

    /// Whether its contents are elsewhere, and the link says that there are none.
    pub(super) fn is_resolved_to_nothing(&self) -> bool {
        self.0.attribute((XLINK, "href")) == Some("urn:mpeg:dash:resolve-to-zero:2013")
    }

    /// Refuses an element whose contents are elsewhere. What it has in the file holds until it is replaced.
    pub(super) fn check_local(&self) -> Result<(), TextError> {
        if self.0.has_attribute((XLINK, "href")) && !self.0.has_children() {
            return Err(
                self.wrong("xlink:href: nothing is fetched; expected the contents in the file itself")
            );
        }
        Ok(())
    }

    /// An error in the value of an attribute.
    pub(super) fn expected(&self, name: &str, value: &str, expected: &str) -> TextError {
        self.wrong(format!("{name} is {}; expected {expected}", quoted(value)))
    }

    /// A whole number from `least` to `most`.
    pub(super) fn number(&self, name: &str, least: u64, most: u64) -> Result<Option<u64>, TextError> {
        let Some(text) = self.attribute(name) else { return Ok(None) };
        let value = whole(text).filter(|value| (least..=most).contains(value));
        value.map(Some).ok_or_else(|| {
            let most = if most == u64::MAX { "2^64 - 1".to_owned() } else { most.to_string() };
            self.expected(name, text, &format!("a whole number from {least} to {most}"))
        })
    }

    /// A duration (ISO 8601).
    pub(super) fn duration(&self, name: &str) -> Result<Option<Duration>, TextError> {
        let Some(text) = self.attribute(name) else { return Ok(None) };
        iso_duration(text).map(Some).ok_or_else(|| {
            self.expected(name, text, "a duration of days, hours, minutes and seconds, as \"PT1H2M3.5S\"")
        })
    }
}

/// A number in digits; XML schema allows spaces around it.
fn whole(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// Reads `P1DT2H3M4.5S`. Years and months must be 0, since they have no fixed duration. Digits below a nanosecond are
/// ignored.
fn iso_duration(text: &str) -> Option<Duration> {
    let (date, time) = match text.trim().strip_prefix('P')?.split_once('T') {
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (text.trim().strip_prefix('P')?, ""),
    };
    if date.is_empty() && time.is_empty() {
        return None;
    }
    let date = fields(date, &[('Y', 0), ('M', 0), ('D', 86_400)])?;
    let time = fields(time, &[('H', 3_600), ('M', 60), ('S', 1)])?;
    let nanos = date.checked_add(time)?;
    u64::try_from(nanos).ok().map(Duration::from_nanos)
}

/// The nanoseconds of numbers that are followed by these letters, in their order, each with its seconds.
fn fields(mut text: &str, letters: &[(char, u128)]) -> Option<u128> {
    let mut nanos: u128 = 0;
    let mut letters = letters.iter();
    while !text.is_empty() {
        let at = text.find(|character: char| !(character.is_ascii_digit() || character == '.'))?;
        let letter = text[at..].chars().next()?;
        let (_, seconds) = letters.find(|(known, _)| *known == letter)?;
        let (whole, fraction) = match text[..at].split_once('.') {
            Some((_, "")) => return None,
            Some((_, fraction)) if letter != 'S' || fraction.contains('.') => return None,
            Some(parts) => parts,
            None => (&text[..at], ""),
        };
        let whole: u64 = whole.parse().ok()?;
        if *seconds == 0 && whole > 0 {
            return None;
        }
        let mut digits = fraction.bytes().map(|byte| u128::from(byte - b'0'));
        let fraction = (0..9).fold(0, |sum, _| sum * 10 + digits.next().unwrap_or(0));
        nanos += u128::from(whole) * seconds * 1_000_000_000 + fraction;
        text = &text[at + letter.len_utf8()..];
    }
    Some(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_exact() {
        for (text, nanos) in [
            ("PT0S", 0),
            ("PT1H2M3.5S", 3_723_500_000_000),
            ("P1DT1S", 86_401_000_000_000),
            ("P2D", 172_800_000_000_000),
            ("P0Y0M0DT0H3M30.000S", 210_000_000_000),
            ("PT0.000000001S", 1),
            ("PT0.1234567899S", 123_456_789),
            (" PT90M ", 5_400_000_000_000),
            ("PT734.166687S", 734_166_687_000),
            ("PT18446744073.709551615S", u64::MAX),
        ] {
            assert_eq!(iso_duration(text), Some(Duration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_duration_is_refused() {
        for text in [
            "",
            "P",
            "PT",
            "P1DT",
            "6",
            "6 s",
            "-PT6S",
            "PT-6S",
            "PTNaNS",
            "PTS",
            "PT.5S",
            "PT5.S",
            "PT1.5.5S",
            "PT1.5M",
            "PT1S2M",
            "PT1S1S",
            "PT6",
            "PT6s",
            "P1Y",
            "P1M",
            "P1W",
            "PT1e3S",
            "PT1é",
            "PT18446744073.709551616S",
            "PT99999999999999999999S",
            "P18446744073709551615D",
        ] {
            assert_eq!(iso_duration(text), None, "{text}");
        }
    }
}
