//! Rate adaptation written in Python: the classes `AbrView`, `Download` and `PartialDownload` passed to it, and the rate
//! adaptation of `video` that calls it.
//!
//! Python is called once per choice, and for the optional methods of its class.

use crate::outside::{Code, fail, nonsense};
use lab::outside::PlugError;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyTuple};
use std::sync::Arc;
use units::parameter::{Arguments, Choice as _, Row};
use units::{Duration, Rate, Time};
use video::abr::{Abr, Choice, Line, View};
use video::quality::{Behind, Playback, Played, Scale, Stall};

/// The longest wait before a segment is asked for, in seconds.
const MAX_WAIT_S: f64 = 1e6;
/// The longest playback that is put into numbers, in seconds: a year.
const LONGEST_S: f64 = 366.0 * 86_400.0;

/// A complete download of a segment: see quiclab.AbrView.
#[pyclass(frozen, get_all, module = "quiclab._quiclab")]
#[derive(Clone)]
pub(crate) struct Download {
    /// The segment, counted from 0.
    segment: usize,
    /// The representation, counted from 0.
    representation: usize,
    /// The bytes of the segment.
    bytes: u64,
    /// When it was requested, in seconds of virtual time.
    asked_s: f64,
    /// When its first byte arrived.
    first_byte_s: f64,
    /// When its last byte arrived.
    last_byte_s: f64,
}

impl From<&video::abr::Download> for Download {
    fn from(download: &video::abr::Download) -> Download {
        Download {
            segment: download.segment,
            representation: download.representation,
            bytes: download.bytes,
            asked_s: download.asked_at.as_secs_f64(),
            first_byte_s: download.first_at.as_secs_f64(),
            last_byte_s: download.last_at.as_secs_f64(),
        }
    }
}

/// A download that is not complete: see quiclab.Abr.abandon.
#[pyclass(frozen, get_all, module = "quiclab._quiclab")]
pub(crate) struct PartialDownload {
    /// The segment, counted from 0.
    segment: usize,
    /// The representation, counted from 0.
    representation: usize,
    /// The bytes that arrived so far.
    bytes: u64,
    /// All bytes of the segment.
    total_bytes: u64,
    /// When it was requested, in seconds of virtual time.
    asked_s: f64,
    /// When its first byte arrived.
    first_byte_s: f64,
}

/// The segments of a track, copied once for each player.
struct Segments {
    durations_s: Vec<f64>,
    bitrates: Vec<Arc<[u64]>>,
    sizes: Vec<Box<[u64]>>,
}

impl Segments {
    fn new(line: &dyn Line) -> Segments {
        let mut segments = Segments { durations_s: Vec::new(), bitrates: Vec::new(), sizes: Vec::new() };
        for segment in 0..line.segments() {
            let rates: Vec<u64> = line.bitrates(segment).iter().map(|rate| rate.as_bits_per_sec()).collect();
            let sizes = (0..rates.len()).map(|representation| line.size(segment, representation)).collect();
            // All segments of a period share one list.
            let rates = match segments.bitrates.last() {
                Some(before) if **before == *rates => Arc::clone(before),
                _ => rates.into(),
            };
            segments.durations_s.push(line.duration(segment).as_secs_f64());
            segments.bitrates.push(rates);
            segments.sizes.push(sizes);
        }
        segments
    }
}

/// What is known when a choice is made: see quiclab.Abr.choose.
#[pyclass(frozen, module = "quiclab._quiclab")]
pub(crate) struct AbrView {
    /// The time, in seconds of virtual time.
    #[pyo3(get)]
    now_s: f64,
    /// The media in the buffer that are not played yet, in seconds.
    #[pyo3(get)]
    buffer_s: f64,
    /// The limit of the buffer: a segment is requested when it fits.
    #[pyo3(get)]
    max_buffer_s: f64,
    /// Whether playback has begun and is not interrupted.
    #[pyo3(get)]
    is_playing: bool,
    /// The time for which playback has been stalled so far.
    #[pyo3(get)]
    stalled_s: f64,
    /// The segment to choose for, counted from 0.
    #[pyo3(get)]
    segment: usize,
    /// The representation of the segment before; None for the first one.
    #[pyo3(get)]
    last: Option<usize>,
    /// The bitrate of the segment before, in bit/s; None for the first one.
    #[pyo3(get)]
    last_bitrate_bps: Option<u64>,
    /// The complete downloads, the last one at the end: at most 64.
    #[pyo3(get)]
    downloads: Vec<Download>,
    /// Live: how far playback is behind the filming; otherwise None.
    #[pyo3(get)]
    latency_s: Option<f64>,
    line: Arc<Segments>,
}

impl AbrView {
    fn new(view: &View<'_>, line: Arc<Segments>) -> AbrView {
        AbrView {
            now_s: view.now.as_secs_f64(),
            buffer_s: view.buffer.as_secs_f64(),
            max_buffer_s: view.max_buffer.as_secs_f64(),
            is_playing: view.is_playing,
            stalled_s: view.stalled.as_secs_f64(),
            segment: view.segment,
            last: view.last,
            last_bitrate_bps: view.last_bitrate().map(Rate::as_bits_per_sec),
            downloads: view.downloads.iter().map(Download::from).collect(),
            latency_s: view.latency.map(Duration::as_secs_f64),
            line,
        }
    }

    fn of<'l, T>(&self, items: &'l [T], segment: usize) -> PyResult<&'l T> {
        items.get(segment).ok_or_else(|| {
            let count = self.line.durations_s.len();
            PyIndexError::new_err(format!("there is no segment {segment}; the presentation has {count}"))
        })
    }
}

#[pymethods]
impl AbrView {
    /// The number of segments of the presentation.
    #[getter]
    fn segments(&self) -> usize {
        self.line.durations_s.len()
    }

    /// The duration of the segment to choose for, in seconds.
    #[getter]
    fn duration_s(&self) -> PyResult<f64> {
        self.duration_s_of(self.segment)
    }

    /// The bitrates that the segment to choose for has, in bit/s, rising.
    #[getter]
    fn bitrates_bps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.bitrates_bps_of(py, self.segment)
    }

    /// The bytes of the segment to choose for in each representation.
    #[getter]
    fn sizes_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.sizes_bytes_of(py, self.segment)
    }

    /// The duration of a segment, in seconds.
    fn duration_s_of(&self, segment: usize) -> PyResult<f64> {
        self.of(&self.line.durations_s, segment).copied()
    }

    /// The bitrates that a segment has, in bit/s, rising.
    fn bitrates_bps_of<'py>(&self, py: Python<'py>, segment: usize) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.of(&self.line.bitrates, segment)?.iter())
    }

    /// The bytes of a segment in each representation.
    fn sizes_bytes_of<'py>(&self, py: Python<'py>, segment: usize) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.of(&self.line.sizes, segment)?.iter())
    }
}

/// The quality of a bitrate by a scale of the QoE ("lin", "log", "hd"), where `lowest_bps` is the lowest bitrate.
#[pyfunction]
pub(crate) fn segment_quality(scale: &str, bitrate_bps: u64, lowest_bps: u64) -> PyResult<f64> {
    let [bitrate, lowest] = [bitrate_bps, lowest_bps].map(Rate::from_bits_per_sec);
    Ok(read_scale(scale)?.quality(bitrate, lowest))
}

/// What a second of stalls costs by a scale of the QoE.
#[pyfunction]
pub(crate) fn stall_cost(scale: &str) -> PyResult<f64> {
    Ok(read_scale(scale)?.weights().rebuffering)
}

/// The numbers of a playback that was watched, as the summary of a run has them: seconds, Mbit/s, and QoE per segment.
///
/// Times count from the request of the viewer. `played` has the bitrate, the lowest bitrate (both in bit/s) and the seconds
/// shown of each segment, in order; `stalls` the start and the length of each stall in seconds; `behind`, of a live
/// presentation, each latency and how long it was that, in seconds.
#[pyfunction]
#[pyo3(signature = (*, start_up_s, end_s, played, stalls, behind))]
pub(crate) fn experience<'py>(
    py: Python<'py>,
    start_up_s: Option<f64>,
    end_s: f64,
    played: Vec<(u64, u64, f64)>,
    stalls: Vec<(f64, f64)>,
    behind: Vec<(f64, f64)>,
) -> PyResult<Bound<'py, PyDict>> {
    let span = |seconds: f64| {
        if !(0.0..=LONGEST_S).contains(&seconds) {
            let problem = format!("{seconds} is not a duration: expected 0 to {LONGEST_S:.0} seconds");
            return Err(PyValueError::new_err(problem));
        }
        Ok(Duration::from_secs_f64(seconds))
    };
    let played = played.into_iter().map(|(bitrate, lowest, seconds)| {
        let [bitrate, lowest] = [bitrate, lowest].map(Rate::from_bits_per_sec);
        Ok(Played { bitrate, lowest, duration: span(seconds)? })
    });
    let stalls = stalls
        .into_iter()
        .map(|(start, length)| Ok(Stall { start: Time::ZERO + span(start)?, length: span(length)? }));
    let behind = behind
        .into_iter()
        .map(|(latency, lasted)| Ok(Behind { latency: span(latency)?, lasted: span(lasted)? }));
    let playback = Playback {
        asked_at: Time::ZERO,
        start_up: start_up_s.map(span).transpose()?,
        played: played.collect::<PyResult<_>>()?,
        stalls: stalls.collect::<PyResult<_>>()?,
        behind: behind.collect::<PyResult<_>>()?,
        end: Time::ZERO + span(end_s)?,
    };
    let of = playback.experience();
    let numbers = PyDict::new(py);
    numbers.set_item("start_up_s", start_up_s)?;
    numbers.set_item("stalls", of.stalls)?;
    numbers.set_item("switches", of.switches)?;
    numbers.set_item("segments_played", playback.played.len())?;
    for (name, value) in [
        ("stalled_s", of.stall_time.as_secs_f64()),
        ("stall_ratio", of.stall_ratio),
        ("bitrate_mean_mbps", of.mean_bitrate.as_mbit_per_sec()),
        ("bitrate_time_mean_mbps", of.time_weighted_bitrate.as_mbit_per_sec()),
        ("switch_mean_mbps", of.mean_switch.as_mbit_per_sec()),
        ("qoe_lin", of.qoe[0].per_segment),
        ("qoe_log", of.qoe[1].per_segment),
        ("qoe_hd", of.qoe[2].per_segment),
    ] {
        numbers.set_item(name, value)?;
    }
    if let Some(mean) = of.mean_latency {
        numbers.set_item("latency_mean_s", mean.as_secs_f64())?;
        for (name, part) in [("latency_p50_s", 0.5), ("latency_p95_s", 0.95)] {
            let latency = playback.latency_percentile(part).map(|latency| latency.as_secs_f64());
            numbers.set_item(name, latency)?;
        }
    }
    Ok(numbers)
}

fn read_scale(word: &str) -> PyResult<Scale> {
    Scale::of_word(word).ok_or_else(|| {
        let known = Scale::WORDS.join(", ");
        PyValueError::new_err(format!("unknown scale {word:?}; expected one of {known}"))
    })
}

/// The optional methods that a class defines.
#[derive(Debug, Default)]
struct OptionalMethods {
    download: bool,
    abandon: bool,
    seek: bool,
    estimate: bool,
}

/// Adds a class to the rate adaptations.
pub(crate) fn plug(code: Code, face: Row<()>) -> Result<(), PlugError> {
    video::abr::plug(face.built_by(Box::leak(Box::new(move |arguments: &Arguments| -> Box<dyn Abr> {
        Python::attach(|py| Box::new(PythonAbr::new(py, &code, arguments)))
    }))))
}

/// A rate adaptation that calls a Python object.
pub(crate) struct PythonAbr {
    /// `None` after an error, which ends the run.
    object: Option<Py<PyAny>>,
    methods: OptionalMethods,
    line: Option<Arc<Segments>>,
}

impl std::fmt::Debug for PythonAbr {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("PythonAbr").field("methods", &self.methods).finish_non_exhaustive()
    }
}

impl PythonAbr {
    fn new(py: Python<'_>, code: &Code, arguments: &Arguments) -> PythonAbr {
        let mut abr = PythonAbr { object: None, methods: OptionalMethods::default(), line: None };
        let made = code
            .make(py, arguments)
            .and_then(|(object, own)| object.call_method0("start").map(|_| (object, own)));
        match made {
            Ok((object, own)) => {
                let has = |name: &str| own.contains(name);
                abr.methods = OptionalMethods {
                    download: has("on_download"),
                    abandon: has("abandon"),
                    seek: has("on_seek"),
                    estimate: has("estimate"),
                };
                abr.object = Some(object.unbind());
            }
            Err(error) => fail(error, None),
        }
        abr
    }

    /// Calls a function with the object. An exception discards it.
    fn with<T>(&mut self, call: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        let object = self.object.as_ref()?;
        match Python::attach(|py| call(py, object.bind(py))) {
            Ok(value) => Some(value),
            Err(error) => {
                fail(error, self.object.take().as_ref());
                None
            }
        }
    }

    /// The view for Python.
    fn view(&mut self, view: &View<'_>) -> AbrView {
        let line = self.line.get_or_insert_with(|| Arc::new(Segments::new(view.line)));
        AbrView::new(view, Arc::clone(line))
    }
}

impl Abr for PythonAbr {
    fn choose(&mut self, view: &View<'_>) -> Choice {
        let given = self.view(view);
        let count = view.line.bitrates(view.segment).len();
        let choice = self.with(|_, object| {
            let answer = object.call_method1("choose", (given,))?;
            read_choice(&answer, count).ok_or_else(|| {
                let most = count - 1;
                nonsense(
                    object,
                    "choose",
                    &answer,
                    &format!("a representation from 0 to {most}, or a pair of one and the seconds to wait"),
                )
            })
        });
        choice.unwrap_or(Choice { representation: 0, wait: Duration::ZERO })
    }

    fn on_download(&mut self, view: &View<'_>) {
        if self.methods.download {
            let given = self.view(view);
            self.with(|_, object| object.call_method1("on_download", (given,)).map(drop));
        }
    }

    fn abandon(&mut self, view: &View<'_>, underway: &video::abr::Underway) -> Option<usize> {
        if !self.methods.abandon {
            return None;
        }
        let given = self.view(view);
        let own = underway.representation;
        let underway = PartialDownload {
            segment: underway.segment,
            representation: own,
            bytes: underway.bytes,
            total_bytes: underway.total,
            asked_s: underway.asked_at.as_secs_f64(),
            first_byte_s: underway.first_at.as_secs_f64(),
        };
        self.with(|_, object| {
            let answer = object.call_method1("abandon", (given, underway))?;
            if answer.is_none() {
                return Ok(None);
            }
            read_number(&answer).filter(|lower| *lower < own).map(Some).ok_or_else(|| {
                nonsense(
                    object,
                    "abandon",
                    &answer,
                    &format!("None, or a representation below that of the download, {own}"),
                )
            })
        })
        .flatten()
    }

    fn on_seek(&mut self) {
        if self.methods.seek {
            self.with(|_, object| object.call_method0("on_seek").map(drop));
        }
    }

    fn estimate(&self) -> Option<Rate> {
        let object = self.object.as_ref().filter(|_| self.methods.estimate)?;
        let estimate = Python::attach(|py| {
            let object = object.bind(py);
            let answer = object.call_method0("estimate")?;
            if answer.is_none() {
                return Ok(None);
            }
            let rate = answer.extract::<f64>().ok().filter(|rate| rate.is_finite() && *rate >= 0.0);
            let rate = rate.map(|rate| Some(Rate::from_bits_per_sec(rate.round() as u64)));
            rate.ok_or_else(|| nonsense(object, "estimate", &answer, "None, or a rate in bit/s"))
        });
        estimate.unwrap_or_else(|error| {
            fail(error, self.object.as_ref());
            None
        })
    }
}

/// A representation, or a pair of one and a wait in seconds.
fn read_choice(answer: &Bound<'_, PyAny>, count: usize) -> Option<Choice> {
    let known = |representation: usize| (representation < count).then_some(representation);
    let Ok(pair) = answer.cast::<PyTuple>() else {
        return Some(Choice { representation: known(read_number(answer)?)?, wait: Duration::ZERO });
    };
    if pair.len() != 2 {
        return None;
    }
    let representation = known(read_number(&pair.get_item(0).ok()?)?)?;
    let wait = pair.get_item(1).ok()?.extract::<f64>().ok()?;
    (0.0..=MAX_WAIT_S).contains(&wait).then(|| Choice { representation, wait: Duration::from_secs_f64(wait) })
}

/// A whole number of 0 or more. True and False are none: comparisons have them as results.
fn read_number(answer: &Bound<'_, PyAny>) -> Option<usize> {
    let is_number = answer.is_instance_of::<PyInt>() || answer.hasattr("__index__").unwrap_or(false);
    (is_number && !answer.is_instance_of::<PyBool>()).then(|| answer.extract().ok()).flatten()
}
