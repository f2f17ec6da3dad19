//! The tracks of a period of an MPD: its adaptation sets and representations (ISO/IEC 23009-1, 5.3.3 and 5.3.5).

use super::element::Element;
use super::indexed::{Index, Listed};
use super::segments::{self, Initialization, Listing, Segments};
use super::times::ROUNDING;
use super::{MpdOptions, Reading, Window};
use crate::presentation::file::{TextError, quoted};
use crate::presentation::{
    Kind, MAX_BITRATE, MAX_ID, MAX_REPRESENTATIONS, Period, Representation, Track, constant_bytes,
};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use units::{Duration, Rate};

/// A period, and where its representations are.
#[derive(Debug)]
pub(super) struct PeriodDraft {
    pub(super) period: Period,
    pub(super) places: Vec<ListedRepresentation>,
}

/// A representation of the MPD.
#[derive(Debug)]
pub(super) struct ListedRepresentation {
    pub(super) id: String,
    /// Its track and its number in the period, and its segments in the MPD; `None` if it is not taken.
    pub(super) taken: Option<(usize, usize, Listing)>,
    /// Whether both tracks have a representation with this id.
    pub(super) is_twice: bool,
}

/// What marks an adaptation set of single pictures for fast forward.
const TRICK_MODE: &str = "http://dashif.org/guidelines/trickmode";

/// Reads a period, which has this number, counted from 0.
pub(super) fn read(
    period: &Element<'_>,
    window: Window,
    number: usize,
    options: &MpdOptions,
    listed: &Listed,
    reading: &mut Reading,
) -> Result<PeriodDraft, TextError> {
    let mut draft = PeriodDraft { period: Period { tracks: Vec::new() }, places: places(period) };
    let sets = sets(period, reading);
    for (kind, option, chosen) in
        [(Kind::Video, "video_set", options.video_set), (Kind::Audio, "audio_set", options.audio_set)]
    {
        let sets = &sets[kind as usize];
        if sets.is_empty() || chosen == 0 {
            continue;
        }
        let (count, name) = (sets.len(), kind.name());
        let set = sets.get(chosen - 1).ok_or_else(|| {
            period.wrong(format!("{count} adaptation sets of {name}; expected {option} of 1 to {count}"))
        })?;
        let together = switching(set, sets);
        if kind == Kind::Video && count > together.len() {
            let of = if together.len() == 1 { "one".to_owned() } else { together.len().to_string() };
            reading.note(set.wrong(format!(
                "{of} of {count} adaptation sets of {name}, whose representations alone are played; {option} chooses"
            )));
        }
        if let (Kind::Audio, Some(language)) = (kind, set.attribute("lang").map(str::trim)) {
            if let Some(before) = reading.language.as_ref().filter(|one| !one.eq_ignore_ascii_case(language))
            {
                let (before, language) = (quoted(before), quoted(language));
                reading.note(set.wrong(format!(
                    "lang is {language}, and {before} in the period before; {option} chooses"
                )));
            }
            reading.language = Some(language.to_owned());
        }
        together.iter().try_for_each(Element::check_local)?;
        let source = Source { period: *period, number, window, listed };
        let taken = track(&together, kind, &source, options, reading)?;
        for (representation, (id, listing)) in taken.1.iter().enumerate() {
            if let Some(place) = draft.places.iter_mut().find(|place| place.id == *id) {
                place.is_twice = place.taken.is_some();
                place.taken = Some((draft.period.tracks.len(), representation, *listing));
            }
        }
        draft.period.tracks.push(taken.0);
    }
    if draft.period.tracks.is_empty() {
        let is_unknown = |set: &Element<'_>| {
            set.children("Representation").next().is_some() && matches!(contents(set), Contents::Unknown)
        };
        if let Some(set) = period.children("AdaptationSet").find(is_unknown) {
            return Err(set.wrong(format!("{UNKNOWN}; expected contentType or mimeType")));
        }
        let problem = "no adaptation set of video or audio with a Representation; expected at least one";
        return Err(period.wrong(problem));
    }
    Ok(draft)
}

/// The names of all representations, each once: those of sets that are not played may have a name twice.
fn places(period: &Element<'_>) -> Vec<ListedRepresentation> {
    let representations = period.children("AdaptationSet").flat_map(|set| set.children("Representation"));
    let ids: BTreeSet<&str> = representations.filter_map(|one| one.attribute("id")).collect();
    ids.into_iter()
        .map(|id| ListedRepresentation { id: id.to_owned(), taken: None, is_twice: false })
        .collect()
}

/// The adaptation sets of video and of audio, by [`Kind`].
fn sets<'a>(period: &Element<'a>, reading: &mut Reading) -> [Vec<Element<'a>>; 2] {
    let mut sets: [Vec<Element<'_>>; 2] = [Vec::new(), Vec::new()];
    for set in period.children("AdaptationSet") {
        let is_empty = set.children("Representation").next().is_none() && set.check_local().is_ok();
        match contents(&set) {
            Contents::Played(_) if is_empty => reading.note(set.wrong("no Representation; left out")),
            Contents::Played(kind) if !is_trick(&set) => {
                let others = Kind::ALL.into_iter().filter(|other| *other != kind && is_mixed(&set, *other));
                others.chain([kind]).for_each(|kind| sets[kind as usize].push(set));
            }
            Contents::Played(_) | Contents::Other => {}
            Contents::Unknown => reading.note(set.wrong(format!("{UNKNOWN}; left out"))),
        }
    }
    // What the presentation is about comes before what replaces it or is added to it.
    sets.iter_mut().for_each(|sets| sets.sort_by_key(|set| (!is_main(set), Reverse(preference(set)))));
    sets
}

/// Whether a set or a representation says that it is for fast forward.
fn is_trick(element: &Element<'_>) -> bool {
    let marked = |name| element.children(name).any(|one| one.attribute("schemeIdUri") == Some(TRICK_MODE));
    marked("EssentialProperty") || marked("SupplementalProperty")
}

/// What an adaptation set says of its rank among those that can replace each other (ISO/IEC 23009-1, 5.3.3.2).
fn preference(set: &Element<'_>) -> u64 {
    set.number("selectionPriority", 0, u64::MAX).ok().flatten().unwrap_or(1)
}

/// What says that a player may go from an adaptation set to others in the middle, as between representations (DASH-IF
/// interoperability points, 3.8): its value names them by their ids.
const SWITCHING: &str = "urn:mpeg:dash:adaptation-set-switching:2016";

/// A set, and those with which it is one: each of both names the other.
fn switching<'a>(set: &Element<'a>, sets: &[Element<'a>]) -> Vec<Element<'a>> {
    let names = |one: &Element<'_>, other: &Element<'_>| {
        let properties = one.children("SupplementalProperty").chain(one.children("EssentialProperty"));
        let mut values = properties
            .filter(|property| property.attribute("schemeIdUri") == Some(SWITCHING))
            .filter_map(|property| property.attribute("value"));
        let is_other = |id: &str| other.attribute("id").is_some_and(|known| known.trim() == id.trim());
        values.any(|value| value.split(',').any(is_other))
    };
    let is_with = |other: &&Element<'a>| *other != set && names(set, other) && names(other, set);
    std::iter::once(*set).chain(sets.iter().filter(is_with).copied()).collect()
}

/// Whether a set is one of those that are played by default: by its roles (ISO/IEC 23009-1, 5.8.5.5), if it has some; not if
/// it has a property that a player must know to play it (5.8.4.8), and not if it is for fast forward.
fn is_main(set: &Element<'_>) -> bool {
    let is_known = |property: Element<'_>| property.attribute("schemeIdUri") == Some(SWITCHING);
    if !set.children("EssentialProperty").all(is_known) || is_fast(set) {
        return false;
    }
    let is_purpose = |one: Element<'_>| {
        one.attribute("schemeIdUri") == Some(PURPOSES)
            && one.attribute("value").is_some_and(|value| IMPAIRED.contains(&value.trim()))
    };
    if set.children("Accessibility").any(is_purpose) {
        return false;
    }
    let is_role = |role: &Element<'_>| role.attribute("schemeIdUri") == Some(ROLES);
    let mut roles =
        set.children("Role").filter(is_role).filter_map(|role| role.attribute("value")).peekable();
    roles.peek().is_none() || roles.any(|role| !SECOND.contains(&role))
}

/// Whether all pictures of a set stand alone and may be shown faster, as sets for fast forward say that have no property.
fn is_fast(set: &Element<'_>) -> bool {
    let has = |one: &Element<'_>, name, is: fn(&str) -> bool| {
        one.attribute(name).or_else(|| set.attribute(name)).is_some_and(|value| is(value.trim()))
    };
    let is_faster = |rate: &str| rate.parse().is_ok_and(|rate: f64| rate > 1.0);
    set.children("Representation").all(|one| {
        has(&one, "codingDependency", |value| value == "false") && has(&one, "maxPlayoutRate", is_faster)
    })
}

/// The scheme of purposes of sound (ETSI TS 103 285, table 5), and those that are for the visually impaired and for the hard
/// of hearing.
const PURPOSES: &str = "urn:tva:metadata:cs:AudioPurposeCS:2007";
const IMPAIRED: [&str; 2] = ["1", "2"];

/// The scheme of roles of MPEG-DASH.
const ROLES: &str = "urn:mpeg:dash:role:2011";

/// The roles of sets that replace the main one, or are added to it.
const SECOND: [&str; 9] = [
    "alternate",
    "supplementary",
    "commentary",
    "dub",
    "description",
    "emergency",
    "sign",
    "enhanced-audio-intelligibility",
    "karaoke",
];

/// Whether a set that does not say itself what it has contains a representation of this kind.
fn is_mixed(set: &Element<'_>, kind: Kind) -> bool {
    let says = named(set).is_some() || set.children("ContentComponent").next().is_some();
    !says && set.children("Representation").any(|one| own(&one) == Some(kind))
}

/// The kind that a representation states: its type, otherwise its codecs.
fn own(representation: &Element<'_>) -> Option<Kind> {
    let of_type = named(representation)
        .and_then(|word| CONTENTS.iter().find(|(known, _)| word.eq_ignore_ascii_case(known)))
        .map(|(_, kind)| *kind);
    of_type.unwrap_or_else(|| of_codecs(representation.attribute("codecs")?))
}

/// The kind of the first of these codecs.
fn of_codecs(codecs: &str) -> Option<Kind> {
    let codecs = codecs.trim().to_ascii_lowercase();
    CODECS.iter().find(|(begin, _)| codecs.starts_with(begin)).map(|(_, kind)| *kind)
}

/// Why an adaptation set is left out.
const UNKNOWN: &str = "neither contentType, mimeType and codecs nor its attributes say video or audio";

/// What an adaptation set has.
enum Contents {
    Played(Kind),
    /// Subtitles and the like.
    Other,
    Unknown,
}

/// The kinds by the first word of contentType or mimeType.
const CONTENTS: [(&str, Option<Kind>); 7] = [
    ("video", Some(Kind::Video)),
    ("audio", Some(Kind::Audio)),
    ("text", None),
    ("image", None),
    ("application", None),
    ("font", None),
    ("meta", None),
];

/// The kinds by the beginnings of codecs (RFC 6381), where nothing else says it.
const CODECS: [(&str, Kind); 16] = [
    ("avc", Kind::Video),
    ("hvc", Kind::Video),
    ("hev", Kind::Video),
    ("dvh", Kind::Video),
    ("dav", Kind::Video),
    ("vvc", Kind::Video),
    ("vp", Kind::Video),
    ("av01", Kind::Video),
    ("mp4v", Kind::Video),
    ("mp4a", Kind::Audio),
    ("ac-", Kind::Audio),
    ("ec-", Kind::Audio),
    ("opus", Kind::Audio),
    ("flac", Kind::Audio),
    ("dts", Kind::Audio),
    ("vorbis", Kind::Audio),
];

/// The attributes that only one kind has.
const ATTRIBUTES: [(&str, Kind); 8] = [
    ("audioSamplingRate", Kind::Audio),
    ("width", Kind::Video),
    ("height", Kind::Video),
    ("frameRate", Kind::Video),
    ("maxWidth", Kind::Video),
    ("maxHeight", Kind::Video),
    ("maxFrameRate", Kind::Video),
    ("sar", Kind::Video),
];

/// What an adaptation set has: what it says itself, otherwise its components, of which video counts before others, otherwise
/// its first representation that says it: by its type, by codecs, or by attributes that only one kind has.
fn contents(set: &Element<'_>) -> Contents {
    let components: Vec<&str> = set.children("ContentComponent").filter_map(|one| named(&one)).collect();
    let known =
        |word: &str| CONTENTS.iter().find(|(known, _)| word.eq_ignore_ascii_case(known)).map(|one| one.1);
    let is_video = |name: &&&str| known(name) == Some(Some(Kind::Video));
    let component = components.iter().find(is_video).or(components.first()).copied();
    let elements = || std::iter::once(*set).chain(set.children("Representation"));
    if let Some(word) = named(set).or(component).or_else(|| elements().find_map(|one| named(&one))) {
        return match known(word) {
            Some(Some(kind)) => Contents::Played(kind),
            Some(None) => Contents::Other,
            None => Contents::Unknown,
        };
    }
    let codecs = elements().find_map(|one| one.attribute("codecs")).unwrap_or("").to_ascii_lowercase();
    // Subtitles have a width, too.
    let is_text = ["stpp", "wvtt"].iter().any(|begin| codecs.starts_with(begin));
    let has = |name| elements().any(|one| one.attribute(name).is_some());
    let of_attributes = || ATTRIBUTES.iter().find(|(name, _)| !is_text && has(*name)).map(|(_, kind)| *kind);
    let of_channels = || elements().any(|one| one.children("AudioChannelConfiguration").next().is_some());
    match of_codecs(&codecs).or_else(of_attributes) {
        Some(kind) => Contents::Played(kind),
        None if !is_text && of_channels() => Contents::Played(Kind::Audio),
        None => Contents::Unknown,
    }
}

/// The kind of contents that an element names: `video` in contentType, or before the slash of mimeType.
fn named<'a>(element: &Element<'a>) -> Option<&'a str> {
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

/// A period, and where else its segments may be known from.
struct Source<'a> {
    period: Element<'a>,
    /// Counted from 0.
    number: usize,
    window: Window,
    listed: &'a Listed,
}

/// Reads adaptation sets that are one: the track, and the name of each of its representations with its segments in the MPD.
/// Representations that do not fit to the first one are left out.
fn track(
    sets: &[Element<'_>],
    kind: Kind,
    source: &Source<'_>,
    options: &MpdOptions,
    reading: &mut Reading,
) -> Result<(Track, Vec<(String, Listing)>), TextError> {
    let mut durations: Option<Vec<Duration>> = None;
    let mut all: Vec<(Representation, Listing)> = Vec::new();
    for (set, element) in
        sets.iter().flat_map(|set| set.children("Representation").map(move |one| (set, one)))
    {
        if all.len() == MAX_REPRESENTATIONS {
            return Err(element.wrong(format!("more than {MAX_REPRESENTATIONS} in an adaptation set")));
        }
        if let Some(other) = own(&element).filter(|other| *other != kind) {
            let (other, kind) = (other.name(), kind.name());
            reading.note(element.wrong(format!("{other} in an adaptation set of {kind}; left out")));
            continue;
        }
        if is_trick(&element) {
            reading.note(element.wrong("for fast forward (trick mode); left out"));
            continue;
        }
        if element.attribute("dependencyId").is_some() {
            reading.note(element.wrong("dependencyId: layers are not read; left out"));
            continue;
        }
        let id = id(&element)?;
        let index = Index { listed: source.listed, segment: options.segment, period: source.number, id };
        let levels = [element, *set, source.period];
        let segments = segments::read(&levels, &index, source.window, reading)?;
        if let Some(problem) = durations.as_ref().and_then(|first| difference(first, &segments.durations)) {
            reading.note(element.wrong(format!("{problem}; left out")));
            continue;
        }
        durations.get_or_insert_with(|| segments.durations.clone());
        let listing = segments.listing;
        let has_sizes = segments.sizes.is_some();
        let representation = representation(&element, set, segments, options)?;
        if has_sizes && let Some(problem) = odd_sizes(&representation, durations.as_deref().unwrap_or(&[])) {
            reading.note(element.wrong(problem));
        }
        if let Some((other, _)) = all.iter().find(|(other, _)| other.bitrate == representation.bitrate) {
            let (bandwidth, other) = (representation.bitrate.as_bits_per_sec(), quoted(&other.id));
            reading.note(
                element.wrong(format!("bandwidth is {bandwidth}, as of representation {other}; left out")),
            );
        } else if all.iter().any(|(other, _)| other.id == representation.id) {
            return Err(element.expected("id", id, "a name of its own in the adaptation set"));
        } else {
            all.push((representation, listing));
        }
    }
    let Some(durations) = durations else {
        return Err(sets[0].wrong("no Representation that is read; expected at least one"));
    };
    all.sort_by_key(|(representation, _)| representation.bitrate);
    let highest = all.last().map_or(LEAST_VIDEO, |(representation, _)| representation.bitrate);
    if kind == Kind::Video && highest < LEAST_VIDEO {
        let highest = highest.as_bits_per_sec();
        return Err(
            sets[0].wrong(format!("the highest bandwidth is {highest} bit/s; expected bit/s, not kbit/s"))
        );
    }
    let names = all.iter().map(|(representation, listing)| (representation.id.clone(), *listing)).collect();
    let representations = all.into_iter().map(|(representation, _)| representation).collect();
    Ok((Track { kind, durations, representations }, names))
}

/// No video has less: its bandwidth would be in kbit/s.
const LEAST_VIDEO: Rate = Rate::from_bits_per_sec(5_000);

/// How the segments of a representation differ from those of the first one; none if they are the same.
fn difference(first: &[Duration], other: &[Duration]) -> Option<String> {
    if first.len() != other.len() {
        return Some(format!(
            "{} segments; the first representation of the adaptation set has {}",
            other.len(),
            first.len()
        ));
    }
    let (mut one, mut two) = (Duration::ZERO, Duration::ZERO);
    for (at, (first, other)) in first.iter().zip(other).enumerate() {
        one += *first;
        two += *other;
        if one.max(two) - one.min(two) > ROUNDING {
            return Some(format!(
                "segment {} ends after {two}, and after {one} in the first representation of the adaptation set",
                at + 1
            ));
        }
    }
    None
}

/// What is odd about the sizes of a representation beside its bandwidth; none if they fit.
fn odd_sizes(representation: &Representation, durations: &[Duration]) -> Option<String> {
    let whole = durations.iter().fold(Duration::ZERO, |sum, duration| sum + *duration);
    let expected = constant_bytes(representation.bitrate, whole);
    let bytes = representation.sizes.iter().fold(0_u64, |sum, size| sum.saturating_add(*size));
    let is_far = bytes.saturating_mul(FAR) <= expected || expected.saturating_mul(FAR) <= bytes;
    is_far.then(|| {
        format!("its mediaRange have {bytes} bytes together, and its bandwidth makes {expected}; the ranges are taken")
    })
}

/// A note is given if the sizes are at least this many times those of the bandwidth, or the other way round.
const FAR: u64 = 10;

fn representation(
    element: &Element<'_>,
    set: &Element<'_>,
    segments: Segments,
    options: &MpdOptions,
) -> Result<Representation, TextError> {
    let bandwidth = element.number("bandwidth", 1, MAX_BITRATE.as_bits_per_sec())?;
    let bandwidth = bandwidth.ok_or_else(|| element.wrong("no bandwidth; expected it in bit/s"))?;
    let bitrate = Rate::from_bits_per_sec(bandwidth);
    // Who plays a part of a segment loads the whole.
    let mut whole = segments.durations.clone();
    whole.iter_mut().take(1).for_each(|first| *first += segments.listing.cut);
    whole.iter_mut().next_back().into_iter().for_each(|last| *last += segments.listing.rest);
    let sizes = match segments.sizes {
        Some(sizes) => {
            let of = |(size, duration): (Option<u64>, &Duration)| {
                size.unwrap_or_else(|| constant_bytes(bitrate, *duration))
            };
            sizes.into_iter().zip(&whole).map(of).collect()
        }
        None => whole.iter().map(|duration| constant_bytes(bitrate, *duration)).collect(),
    };
    // They are only shown.
    let pixels = |name| {
        let of = |element: &Element<'_>| element.number(name, 1, u64::from(u32::MAX)).ok().flatten();
        of(element).or(of(set)).map(|pixels| pixels as u32)
    };
    let initialization = match segments.initialization {
        Initialization::None => 0,
        Initialization::Unknown => options.initialization.as_bytes(),
        Initialization::Bytes(bytes) => bytes,
    };
    let resolution = pixels("width").zip(pixels("height"));
    Ok(Representation { id: id(element)?.to_owned(), bitrate, resolution, initialization, sizes })
}
