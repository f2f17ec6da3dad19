//! The parts of a presentation that are asked for one by one, and their paths on a virtual server.

use super::{Kind, Presentation};
use std::fmt;
use std::str::FromStr;

/// A segment of a representation, or its initialization segment. All its numbers are counted from 0.
///
/// Its path has them counted from 1: `/2/video/3/15.m4s` is segment 15 of the third representation of the video in
/// the second period, `/2/video/3/init.mp4` its initialization segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// The period.
    pub period: usize,
    /// The kind of the track.
    pub kind: Kind,
    /// The representation, by rising bitrate.
    pub representation: usize,
    /// The segment within the period; `None` for the initialization segment.
    pub segment: Option<usize>,
}

/// A text is not the path of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoPart;

impl fmt::Display for NoPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the path of a segment; expected one like /1/video/3/15.m4s or /1/video/3/init.mp4")
    }
}

impl std::error::Error for NoPart {}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/{}/{}/", self.period + 1, self.kind.name(), self.representation + 1)?;
        match self.segment {
            Some(segment) => write!(f, "{}.m4s", segment + 1),
            None => f.write_str("init.mp4"),
        }
    }
}

impl FromStr for Part {
    type Err = NoPart;

    fn from_str(text: &str) -> Result<Part, NoPart> {
        let mut words = text.strip_prefix('/').ok_or(NoPart)?.splitn(4, '/');
        let mut next = || words.next().ok_or(NoPart);
        let (period, kind, representation, name) = (next()?, next()?, next()?, next()?);
        let segment = match name {
            "init.mp4" => None,
            _ => Some(index(name.strip_suffix(".m4s").ok_or(NoPart)?)?),
        };
        let kind = Kind::ALL.into_iter().find(|known| known.name() == kind).ok_or(NoPart)?;
        Ok(Part { period: index(period)?, kind, representation: index(representation)?, segment })
    }
}

/// The index of a number counted from 1, which is written without zeros in front, so that each part has one path.
fn index(text: &str) -> Result<usize, NoPart> {
    if text.starts_with(['0', '+']) {
        return Err(NoPart);
    }
    text.parse::<usize>().map(|number| number - 1).map_err(|_| NoPart)
}

impl Presentation {
    /// The bytes of a part; `None` if the presentation does not have it, or it is an initialization segment of 0 bytes.
    pub fn bytes_of(&self, part: &Part) -> Option<u64> {
        let track = self.periods.get(part.period)?.track(part.kind)?;
        let representation = track.representations.get(part.representation)?;
        match part.segment {
            Some(segment) => representation.sizes.get(segment).copied(),
            None => Some(representation.initialization).filter(|bytes| *bytes > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::presentation;
    use super::*;

    #[test]
    fn a_path_is_read_as_it_is_written() {
        for (path, period, kind, representation, segment) in [
            ("/2/video/3/15.m4s", 1, Kind::Video, 2, Some(14)),
            ("/1/audio/1/init.mp4", 0, Kind::Audio, 0, None),
        ] {
            let part = Part { period, kind, representation, segment };
            assert_eq!((part.to_string().as_str(), path.parse()), (path, Ok(part)));
        }
        for path in [
            "",
            "/",
            "1/video/1/1.m4s",
            "/0/video/1/1.m4s",
            "/1/text/1/1.m4s",
            "/1/video/1/1",
            "/1/video/1/01.m4s",
            "/1/video/+1/1.m4s",
            "/1/video/1/1.m4s/",
            "/1/video/99999999999999999999/1.m4s",
        ] {
            assert_eq!(path.parse::<Part>(), Err(NoPart), "{path}");
        }
    }

    #[test]
    fn a_part_has_its_bytes() {
        let mut presentation = presentation();
        presentation.periods[1].tracks[0].representations[1].sizes[1] = 7;
        let bytes = |path: &str| presentation.bytes_of(&path.parse().unwrap());
        assert_eq!(bytes("/2/video/2/2.m4s"), Some(7));
        for path in ["/3/video/1/1.m4s", "/2/video/3/1.m4s", "/2/video/2/3.m4s", "/2/video/2/init.mp4"] {
            assert_eq!(bytes(path), None, "{path}");
        }
    }
}
