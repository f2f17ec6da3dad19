//! The names of segments in a SegmentTemplate (ISO/IEC 23009-1, 5.3.9.4.4).

use super::element::Element;
use crate::presentation::file::{TextError, quoted};

/// Checks the names of segments in the innermost element with such names: each segment must have one of its own.
/// `template` is the innermost element.
pub(super) fn check(template: &Element<'_>, named: Option<&Element<'_>>) -> Result<(), TextError> {
    let Some(element) = named else {
        return Err(template.wrong("no media; expected the names of its segments, with $Number$ or $Time$"));
    };
    let media = element.attribute("media").unwrap_or("");
    let wrong = |problem: &str| element.wrong(format!("media is {}; {problem}", quoted(media)));
    let mut pieces = media.split('$');
    pieces.next();
    let (mut numbers, mut times) = (false, false);
    while let Some(piece) = pieces.next() {
        // Identifiers are between two signs.
        if pieces.next().is_none() {
            return Err(wrong("expected $ in pairs, and $$ for the sign itself"));
        }
        let (name, format) =
            piece.split_once('%').map_or((piece, None), |(name, format)| (name, Some(format)));
        // The names are not used, and so neither is their width, nor whether it is decimal.
        let is_format = |format: &str| {
            let width = format.strip_suffix(['d', 'i', 'u', 'x', 'X', 'o']);
            width.is_some_and(|width| width.bytes().all(|byte| byte.is_ascii_digit()))
        };
        match name {
            "Number" | "Time" | "Bandwidth" | "SubNumber" if format.is_none_or(is_format) => {
                numbers |= name == "Number";
                times |= name == "Time";
            }
            "RepresentationID" | "" if format.is_none() => {}
            _ => {
                return Err(wrong(
                    "expected $RepresentationID$, $Bandwidth$, $Number$, $Number%05d$ or $Time$",
                ));
            }
        }
    }
    match (numbers, times) {
        (true, true) => Err(wrong("expected $Number$ or $Time$, not both")),
        (false, false) => Err(wrong("expected $Number$ or $Time$, so that each segment has a name")),
        _ => Ok(()),
    }
}
