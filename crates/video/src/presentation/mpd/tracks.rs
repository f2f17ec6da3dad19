//! The tracks of a period of an MPD: its adaptation sets and representations (ISO/IEC 23009-1, 5.3.3 and 5.3.5).

use super::element::Element;
use super::segments::{self, Initialization, ROUNDING, Segments};
use super::{Budget, MpdOptions, Window};
use crate::presentation::file::{TextError, quoted};
use crate::presentation::{
    Kind, MAX_BITRATE, MAX_ID, MAX_REPRESENTATIONS, Period, Representation, Track, constant_bytes,
};
use std::collections::BTreeSet;
use units::{Duration, Rate};

/// A period, and where its representations are.
#[derive(Debug)]
pub(super) struct PeriodDraft {
    pub(super) period: Period,
    pub(super) places: Vec<Place>,
}

/// A representation of the MPD.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) id: String,
    /// Its track and its number in the period, and its segments in the MPD; `None` if it is not taken.
    pub(super) taken: Option<(usize, usize, usize)>,
}

/// What marks an adaptation set of single pictures for fast forward.
const TRICK_MODE: &str = "http://dashif.org/guidelines/trickmode";

/// Reads a period.
pub(super) fn read(
    period: &Element<'_>,
    window: Window,
    options: MpdOptions,
    budget: &mut Budget,
) -> Result<PeriodDraft, TextError> {
    let mut places = Vec::new();
    let mut ids = BTreeSet::new();
    let mut sets: [Vec<Element<'_>>; 2] = [Vec::new(), Vec::new()];
    for set in period.children("AdaptationSet") {
        set.check_local()?;
        for representation in set.children("Representation") {
            let id = id(&representation)?;
            if !ids.insert(id) {
                return Err(representation.expected("id", id, "a name of its own in the period"));
            }
            places.push(Place { id: id.to_owned(), taken: None });
        }
        let marked = |name| set.children(name).any(|one| one.attribute("schemeIdUri") == Some(TRICK_MODE));
        if let Some(kind) = kind(&set)?
            && !marked("EssentialProperty")
            && !marked("SupplementalProperty")
        {
            sets[kind as usize].push(set);
        }
    }
    let mut tracks = Vec::new();
    for (kind, option, number) in
        [(Kind::Video, "video_set", options.video_set), (Kind::Audio, "audio_set", options.audio_set)]
    {
        let sets = &sets[kind as usize];
        if sets.is_empty() || number == 0 {
            continue;
        }
        let set = sets.get(number - 1).ok_or_else(|| {
            let (count, name) = (sets.len(), kind.name());
            period.wrong(format!("{count} adaptation sets of {name}; expected {option} of 1 to {count}"))
        })?;
        let taken = track(set, period, kind, window, options, budget)?;
        for (number, (representation, listed)) in taken.1.iter().enumerate() {
            let place = places.iter_mut().find(|place| place.id == *representation);
            if let Some(place) = place {
                place.taken = Some((tracks.len(), number, *listed));
            }
        }
        tracks.push(taken.0);
    }
    if tracks.is_empty() {
        return Err(period.wrong("no adaptation set of video or audio; expected at least one"));
    }
    Ok(PeriodDraft { period: Period { tracks }, places })
}

/// What an adaptation set has; `None` for subtitles and the like.
fn kind(set: &Element<'_>) -> Result<Option<Kind>, TextError> {
    let within = |name| set.children(name).find_map(|element| contents(&element));
    let found = contents(set).or_else(|| within("ContentComponent")).or_else(|| within("Representation"));
    match found {
        Some("video") => Ok(Some(Kind::Video)),
        Some("audio") => Ok(Some(Kind::Audio)),
        Some("text" | "image" | "application" | "font") => Ok(None),
        Some(other) => {
            Err(set
                .wrong(format!("its contents are {}; expected video, audio, text or image", quoted(other))))
        }
        None => {
            Err(set.wrong("neither contentType nor mimeType; expected one of them, as contentType=\"video\""))
        }
    }
}

/// The kind of contents that an element names: `video` in contentType, or before the slash of mimeType.
fn contents<'a>(element: &Element<'a>) -> Option<&'a str> {
    let of_type = || element.attribute("mimeType").map(|name| name.split('/').next().unwrap_or(""));
    element.attribute("contentType").or_else(of_type)
}

fn id<'a>(representation: &Element<'a>) -> Result<&'a str, TextError> {
    let id = representation
        .attribute("id")
        .ok_or_else(|| representation.wrong("no id; expected a name of its own"))?;
    if id.is_empty() || id.len() > MAX_ID || id.chars().any(char::is_control) {
        return Err(representation.expected("id", id, &format!("1 to {MAX_ID} printable bytes")));
    }
    Ok(id)
}

/// A representation, its element for errors, and its number of segments in the MPD.
type Read<'a> = (Representation, Element<'a>, usize);

/// Reads an adaptation set: the track, and the name of each of its representations with the segments it has in the MPD.
fn track(
    set: &Element<'_>,
    period: &Element<'_>,
    kind: Kind,
    window: Window,
    options: MpdOptions,
    budget: &mut Budget,
) -> Result<(Track, Vec<(String, usize)>), TextError> {
    let mut durations: Option<Vec<Duration>> = None;
    let mut all: Vec<Read<'_>> = Vec::new();
    for element in set.children("Representation") {
        if all.len() == MAX_REPRESENTATIONS {
            return Err(element.wrong(format!("more than {MAX_REPRESENTATIONS} in an adaptation set")));
        }
        let segments = segments::read(&[element, *set, *period], window, budget)?;
        match &durations {
            None => durations = Some(segments.durations.clone()),
            Some(durations) => check_same(&element, durations, &segments.durations)?,
        }
        let listed = segments.listed;
        all.push((representation(&element, set, segments, options)?, element, listed));
    }
    let Some(durations) = durations else {
        return Err(set.wrong("no Representation; expected at least one"));
    };
    all.sort_by_key(|(representation, ..)| representation.bitrate);
    if let Some(pair) = all.windows(2).find(|pair| pair[0].0.bitrate == pair[1].0.bitrate) {
        let (first, second) = (&pair[0].0.id, &pair[1].1);
        let bandwidth = pair[1].0.bitrate.as_bits_per_sec();
        let problem =
            format!("bandwidth is {bandwidth}, as of representation {}; expected another", quoted(first));
        return Err(second.wrong(problem));
    }
    let names = all.iter().map(|(representation, _, listed)| (representation.id.clone(), *listed)).collect();
    let representations = all.into_iter().map(|(representation, ..)| representation).collect();
    Ok((Track { kind, durations, representations }, names))
}

/// Checks that the segments of a representation are those of the first one.
fn check_same(element: &Element<'_>, first: &[Duration], other: &[Duration]) -> Result<(), TextError> {
    if first.len() != other.len() {
        return Err(element.wrong(format!(
            "{} segments; expected {}, as the first representation of the adaptation set has",
            other.len(),
            first.len()
        )));
    }
    let (mut one, mut two) = (Duration::ZERO, Duration::ZERO);
    for (at, (first, other)) in first.iter().zip(other).enumerate() {
        one += *first;
        two += *other;
        if one.max(two) - one.min(two) > ROUNDING {
            return Err(element.wrong(format!(
                "segment {} ends after {two}; expected {one}, as in the first representation of the adaptation set",
                at + 1
            )));
        }
    }
    Ok(())
}

fn representation(
    element: &Element<'_>,
    set: &Element<'_>,
    segments: Segments,
    options: MpdOptions,
) -> Result<Representation, TextError> {
    if element.attribute("dependencyId").is_some() {
        return Err(
            element.wrong("dependencyId: layers are not read; expected representations that are complete")
        );
    }
    let bandwidth = element.number("bandwidth", 1, MAX_BITRATE.as_bits_per_sec())?;
    let bandwidth = bandwidth.ok_or_else(|| element.wrong("no bandwidth; expected it in bit/s"))?;
    let bitrate = Rate::from_bits_per_sec(bandwidth);
    let sizes = match segments.sizes {
        Some(mut sizes) => {
            sizes.truncate(segments.durations.len());
            sizes
        }
        None => segments.durations.iter().map(|duration| constant_bytes(bitrate, *duration)).collect(),
    };
    let pixels = |name| -> Result<Option<u32>, TextError> {
        let of = |element: &Element<'_>| element.number(name, 1, u64::from(u32::MAX));
        Ok(of(element)?.or(of(set)?).map(|pixels| pixels as u32))
    };
    let initialization = match segments.initialization {
        Initialization::None => 0,
        Initialization::Unknown => options.initialization,
        Initialization::Bytes(bytes) => bytes,
    };
    let resolution = pixels("width")?.zip(pixels("height")?);
    Ok(Representation { id: id(element)?.to_owned(), bitrate, resolution, initialization, sizes })
}
