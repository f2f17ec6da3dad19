//! Presentations from an MPD, the manifest of MPEG-DASH (ISO/IEC 23009-1).
//!
//! Periods, representations and segments are those of the MPD; the page of the model in `docs/` has the rules.

#[cfg(test)]
mod corpus;
mod element;
mod indexed;
mod listed;
mod media;
mod segments;
mod span;
#[cfg(test)]
mod tests;
mod timeline;
mod times;
mod tracks;

use super::file::{self, TextError};
use super::{Fault, MAX_DURATION, MAX_SEGMENT_BYTES, MAX_SIZES, Presentation, Source};
use element::Element;
use random::Generator;
use units::parameter::{Arguments, File, Options, Row};
use units::{Duration, Size};

/// A minimal MPD: six seconds in two representations.
const SHORTEST: &str = r#"<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT6S"><Period>
<AdaptationSet contentType="video"><SegmentTemplate media="$RepresentationID$-$Number$.m4s" duration="2"/>
<Representation id="low" bandwidth="200000"/><Representation id="high" bandwidth="800000"/>
</AdaptationSet></Period></MPD>
"#;

/// The sizes of the segments of [`SHORTEST`].
const SHORTEST_SIZES: &str = "representation,segment,bytes\nlow,1,40000\nlow,2,50000\nlow,3,30000\nhigh,1,150000\nhigh,2,200000\nhigh,3,160000\n";

pub(super) const ROW: Row<Source> = Row {
    name: "mpd",
    about: "the presentation of an MPD (MPEG-DASH, ISO/IEC 23009-1)",
    parameters: MpdOptions::PARAMETERS,
    build: Source { build, notes },
};

/// The maximum number of notes about an MPD.
const MAX_NOTES: usize = 20;
/// The maximum number of adaptation sets of a kind in a period.
const MAX_SETS: u64 = 1_000;
/// The maximum number of elements, texts and comments of an MPD.
const MAX_NODES: u32 = 1_000_000;
/// The maximum number of attributes of an element; the time to read one grows with the square of it.
const MAX_ATTRIBUTES: usize = 100;
/// The maximum number of namespace declarations. Each nested one copies those around it.
const MAX_NAMESPACES: usize = 100;
/// What the namespaces of all editions begin with, in lower case.
const EDITIONS: &str = "urn:mpeg:dash:schema:mpd:";
/// The namespace of MPDs.
const NAMESPACE: &str = "urn:mpeg:dash:schema:mpd:2011";

/// The options of MPDs.
#[derive(Debug, Clone, Options)]
struct MpdOptions {
    /// the MPD: static, or dynamic, which is read as it is now
    #[option(example = SHORTEST)]
    file: File,
    /// the sizes of its segments, which an MPD does not contain (CSV): columns representation, segment, bytes, and
    /// seconds where it does not list them
    #[option(example = SHORTEST_SIZES)]
    sizes: Option<File>,
    /// duration of segments that the MPD does not list (SegmentBase); without it only a list of sizes says it
    segment: Option<Duration>,
    /// how much is played of a live presentation that states neither an end nor timeShiftBufferDepth
    #[option(default = "60 s")]
    window: Duration,
    /// number of the adaptation set of video in each period, counted from 1
    #[option(default = 1, within = 1..=MAX_SETS)]
    video_set: usize,
    /// number of the adaptation set of sound in each period, counted from 1; 0 for none
    #[option(default = 1, within = 0..=MAX_SETS)]
    audio_set: usize,
    /// bytes of an initialization segment whose size is not known
    #[option(default = "1 kB")]
    initialization: Size,
}

impl MpdOptions {
    fn check(&self) -> Result<(), Fault> {
        if self.initialization.as_bytes() > MAX_SEGMENT_BYTES {
            return Err(("initialization", format!("expected at most {MAX_SEGMENT_BYTES} bytes")));
        }
        if self.segment.is_some_and(Duration::is_zero) {
            return Err(("segment", "expected a duration above zero".to_owned()));
        }
        if self.window.is_zero() || self.window > MAX_DURATION {
            return Err(("window", format!("expected a duration above zero, at most {MAX_DURATION}")));
        }
        Ok(())
    }
}

fn build(arguments: &Arguments, _: &mut Generator) -> Result<Presentation, Fault> {
    let options = MpdOptions::of(arguments);
    let draft = draft(&options)?;
    let periods = draft.periods.into_iter().map(|period| period.period).collect();
    Presentation::new(periods).map_err(|error| ("file", format!("{}, {error}", options.file.path)))
}

/// What was left out of the MPD, and what was assumed; nothing if it cannot be read.
fn notes(arguments: &Arguments) -> Vec<String> {
    draft(&MpdOptions::of(arguments)).map(|draft| draft.notes).unwrap_or_default()
}

fn draft(options: &MpdOptions) -> Result<Draft, Fault> {
    options.check()?;
    let MpdOptions { file, sizes, .. } = options;
    let listed = sizes.as_ref().map_or_else(
        || Ok(indexed::Listed::new()),
        |sizes| {
            listed::durations(&sizes.text)
                .map_err(|error| -> Fault { ("sizes", format!("{}, {error}", sizes.path)) })
        },
    )?;
    let mut draft = parse(&file.text, options, &listed)
        .map_err(|error| -> Fault { ("file", format!("{}, {error}", file.path)) })?;
    draft.notes.iter_mut().for_each(|note| *note = format!("{}, {note}", file.path));
    if let Some(sizes) = sizes {
        let told = listed::apply(&sizes.text, &mut draft)
            .map_err(|error| -> Fault { ("sizes", format!("{}, {error}", sizes.path)) })?;
        draft.notes.extend(told.into_iter().map(|told| format!("{}, {told}", sizes.path)));
    }
    Ok(draft)
}

/// What an MPD says.
#[derive(Debug)]
struct Draft {
    periods: Vec<tracks::PeriodDraft>,
    notes: Vec<String>,
}

/// What was read so far: the number of segments that an MPD may still have in all its representations, and what was left
/// out or assumed.
#[derive(Debug)]
struct Reading {
    left: usize,
    notes: Vec<String>,
    /// The number of notes beyond [`MAX_NOTES`].
    more: usize,
    /// The language of the sound of the last period that says one.
    language: Option<String>,
}

impl Reading {
    fn new() -> Reading {
        Reading { left: MAX_SIZES, notes: Vec::new(), more: 0, language: None }
    }

    /// Counts further segments; `false` if they are too many.
    fn take(&mut self, segments: usize) -> bool {
        let left = self.left.checked_sub(segments);
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    /// Remembers something that is no reason to refuse the MPD, once: representations share their timelines.
    fn note(&mut self, what: TextError) {
        let what = what.to_string();
        if self.notes.contains(&what) {
            return;
        }
        if self.notes.len() < MAX_NOTES {
            self.notes.push(what);
        } else {
            self.more += 1;
        }
    }

    fn notes(mut self) -> Vec<String> {
        if self.more > 0 {
            self.notes.push(format!("{} more of the kind", self.more));
        }
        self.notes
    }
}

/// Reads an MPD.
///
/// # Errors
/// The first error, with its line.
fn parse(text: &str, options: &MpdOptions, listed: &indexed::Listed) -> Result<Draft, TextError> {
    let text = file::checked(text)?;
    if text.trim_start().starts_with("#EXTM3U") {
        return Err(TextError::line(1, "a playlist of HLS (#EXTM3U); expected an MPD (MPEG-DASH)"));
    }
    check_markup(text)?;
    let limits = roxmltree::ParsingOptions {
        allow_dtd: false,
        nodes_limit: MAX_NODES,
        ..roxmltree::ParsingOptions::default()
    };
    let document =
        roxmltree::Document::parse_with_options(text, limits).map_err(|error| refused(error, text))?;
    let mpd = root(&document)?;
    let is_static = match mpd.attribute("type") {
        None | Some("static") => true,
        Some("dynamic") => false,
        Some(other) => {
            return Err(mpd.wrong(format!("type is {}; expected static or dynamic", file::quoted(other))));
        }
    };
    let mut reading = Reading::new();
    let spans = span::spans(&mpd, &mut reading)?;
    let open = if is_static { None } else { Some(open(&mpd, options, &spans, &mut reading)?) };
    let mut periods: Vec<tracks::PeriodDraft> = Vec::with_capacity(spans.len());
    for (period, span) in spans {
        let window = Window { span, is_static, open };
        let number = periods.len();
        periods.push(tracks::read(&period, window, number, options, listed, &mut reading)?);
    }
    Ok(Draft { periods, notes: reading.notes() })
}

/// How much is played of a live presentation that states no end.
fn open(
    mpd: &Element<'_>,
    options: &MpdOptions,
    spans: &[span::Span<'_>],
    reading: &mut Reading,
) -> Result<Duration, TextError> {
    let depth = mpd.duration("timeShiftBufferDepth")?.filter(|depth| !depth.is_zero());
    let open = depth.unwrap_or(options.window).min(MAX_DURATION);
    if spans.iter().any(|(_, span)| span.is_none()) {
        let source = if depth.is_some() { "timeShiftBufferDepth" } else { "the option window" };
        reading.note(mpd.wrong(format!(
            "a live presentation without an end: what its timelines list is played, otherwise {open} ({source})"
        )));
    }
    Ok(open)
}

/// The duration of a period, if it is known, and whether its segments must fill it.
#[derive(Debug, Clone, Copy)]
struct Window {
    span: Option<Duration>,
    is_static: bool,
    /// How much is played of a live period whose duration is not known.
    open: Option<Duration>,
}

/// Refuses texts that would take long to parse.
fn check_markup(text: &str) -> Result<(), TextError> {
    if text.matches("xmlns").nth(MAX_NAMESPACES).is_some() {
        return Err(TextError::whole(format!("more than {MAX_NAMESPACES} namespaces (xmlns)")));
    }
    // Comments may have lines of this sign.
    let long = |tag: &str| !tag.starts_with('!') && tag.matches('=').nth(MAX_ATTRIBUTES).is_some();
    if text.split('<').any(long) {
        return Err(TextError::whole(format!("an element with more than {MAX_ATTRIBUTES} attributes")));
    }
    Ok(())
}

fn root<'a>(document: &'a roxmltree::Document<'a>) -> Result<Element<'a>, TextError> {
    let root = Element::root(document);
    let namespace = document.root_element().tag_name().namespace().unwrap_or("");
    // Editions differ in the year, and early ones in capitals; some tools leave it out.
    let is_known = namespace.is_empty() || namespace.to_ascii_lowercase().starts_with(EDITIONS);
    if document.root_element().tag_name().name() == "MPD" && is_known {
        return Ok(root);
    }
    let found = document.root_element().tag_name().name();
    Err(TextError::line(
        root.line(),
        format!(
            "the document is {} of namespace {}; expected MPD of namespace \"{NAMESPACE}\"",
            file::quoted(found),
            file::quoted(namespace)
        ),
    ))
}

/// Why this text is not read.
fn refused(error: roxmltree::Error, text: &str) -> TextError {
    let line = error.pos().row as usize;
    match error {
        roxmltree::Error::DtdDetected => {
            // The error has no position.
            let before = text.split("<!DOCTYPE").next().unwrap_or("");
            let line = 1 + before.matches('\n').count();
            let problem = "a document type definition (<!DOCTYPE>), which an MPD does not need: remove it";
            TextError::line(line, problem)
        }
        roxmltree::Error::NodesLimitReached => {
            TextError::whole(format!("more than {MAX_NODES} elements and texts"))
        }
        // These errors have no position either.
        roxmltree::Error::NoRootNode if text.trim().is_empty() => {
            TextError::whole("the document is empty; expected an MPD")
        }
        roxmltree::Error::NoRootNode
        | roxmltree::Error::UnclosedRootNode
        | roxmltree::Error::UnexpectedEndOfStream => {
            let line = 1 + text.trim_end().matches('\n').count();
            TextError::line(
                line,
                "not XML: the document ends here, before its elements do; expected all of it",
            )
        }
        // A message may contain pieces of the document.
        other => {
            let printable = |character: char| if character.is_control() { ' ' } else { character };
            let message: String = other.to_string().chars().map(printable).take(200).collect();
            TextError::line(line, format!("not XML: {message}"))
        }
    }
}
