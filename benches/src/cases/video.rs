//! Ten minutes of video, beside a bulk transfer of the same bytes, and the decisions of each rate adaptation alone.

use std::cell::Cell;
use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;

use units::parameter::Arguments;
use units::{Duration, Time};
use video::abr::{ABRS, Abr, Download, HISTORY, Line, View};
use video::presentation::{self, Kind, TrackLine};

use crate::case::{Case, Protection, Transfer};
use crate::clock;
use crate::quiclab::{Run, Traces, transfer};

/// The network of the playback: a fifth of the rate of the bulk transfers, under CUBIC.
const DOCUMENT: &str = r#"
name = "video"
duration = "1 h"

[record]
tables = ["segment", "playback"]

[transport]
controller = "cubic"

[[link]]
name = "wire"
from = "server"
to = "client"
rate = "20 Mbit/s"
delay = "10 ms"
queue = "1 BDP"

[[flow]]
name = "download"
client = "client"
server = "server"
application = { type = "bulk" }
"#;

/// The bytes of ten minutes at 5027 kbit/s.
const BYTES: usize = 377_025_000;

/// That representation of the default ladder, for all segments.
const PLAYBACK: &str = r#"{ type = "video", presentation = { type = "ladder", duration = "600 s" }, abr = { type = "fixed", bitrate = "5027 kbit/s" } }"#;

/// What is measured of these runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// The playback, without tables.
    Playback,
    /// The same, for each data packet.
    Packet,
    /// The playback with the tables `segment` and `playback`.
    Tables,
    /// A bulk transfer of as many bytes.
    Bulk,
}

/// The case of a whole run.
pub(super) struct Whole {
    of: Of,
    /// Not measured; built at the first measurement.
    prepared: Option<Run>,
    last: Option<Transfer>,
    /// CPU time in seconds of the last playback, and its data packets: measured once for two cases.
    playback: Rc<Cell<Option<(f64, u64)>>>,
}

/// The cases of whole runs.
pub(super) fn runs() -> impl Iterator<Item = Whole> {
    let playback = Rc::default();
    let case = move |of| Whole { of, prepared: None, last: None, playback: Rc::clone(&playback) };
    [Of::Playback, Of::Packet, Of::Tables, Of::Bulk].into_iter().map(case)
}

impl Whole {
    /// One run: its CPU time in seconds, and its data packets.
    fn once(&mut self) -> (f64, u64) {
        let of = self.of;
        let traces = if of == Of::Tables { Traces::Tables } else { Traces::None };
        let application = match of {
            Of::Bulk => format!("{{ type = \"bulk\", size = \"{BYTES} B\" }}"),
            _ => PLAYBACK.to_owned(),
        };
        let set = [format!("flow.download.application={application}")];
        let prepared = self.prepared.get_or_insert_with(|| Run::of(DOCUMENT, Protection::Null, traces, &set));
        let (outcome, seconds) = clock::time(|| prepared.run());
        let transfer = transfer(&outcome);
        assert_eq!(transfer.bytes, BYTES as u64, "all bytes arrive");
        self.last = Some(transfer);
        (seconds, transfer.data_packets)
    }
}

impl Case for Whole {
    fn name(&self) -> &'static str {
        match self.of {
            Of::Playback => "video-playback",
            Of::Packet => "video-playback-packet",
            Of::Tables => "video-playback-tables",
            Of::Bulk => "video-bulk",
        }
    }

    fn unit(&self) -> &'static str {
        if self.of == Of::Packet { "ns" } else { "ms" }
    }

    fn about(&self) -> &'static str {
        match self.of {
            Of::Playback => "quiclab, ten minutes of video at 5027 kbit/s over HTTP/3: CPU time of the run",
            Of::Packet => "the same runs, for each data packet",
            Of::Tables => "the same, with the tables `segment` and `playback`",
            Of::Bulk => "quiclab, a bulk transfer of the same bytes over the same link",
        }
    }

    fn run(&mut self) -> f64 {
        if self.of == Of::Packet {
            let (seconds, packets) = self.playback.take().unwrap_or_else(|| self.once());
            return seconds * 1e9 / packets as f64;
        }
        let measured = self.once();
        if self.of == Of::Playback {
            self.playback.set(Some(measured));
        }
        measured.0 * 1e3
    }

    fn transfer(&self) -> Option<Transfer> {
        self.last.filter(|_| self.of != Of::Packet)
    }
}

const DECISIONS: usize = 200_000;
/// The limit of the player's buffer.
const MAX_BUFFER: Duration = Duration::from_secs(30);

/// The case: nanoseconds per decision of a rate adaptation.
pub(super) struct Deciding {
    row: usize,
    name: &'static str,
    line: TrackLine,
    /// The rates of the downloads in bit/s.
    rates: Vec<u64>,
}

/// A case for each rate adaptation, with the defaults of its options.
pub(super) fn decisions() -> impl Iterator<Item = Deciding> {
    (0..ABRS.len()).map(|row| {
        let name = String::leak(format!("video-decision-{}", ABRS[row].name));
        Deciding { row, name, line: line(), rates: rates() }
    })
}

/// The default ladder, which is the first row, with sizes that vary.
fn line() -> TrackLine {
    let row = &presentation::PRESENTATIONS[0];
    let arguments = Arguments::written(row.parameters, &[("variation", "0.2")], &[]).expect("an option");
    let presentation =
        (row.build.build)(&arguments, &mut random::Generator::new(1, "bench")).expect("it is sound");
    TrackLine::new(Arc::new(presentation), Kind::Video).expect("there is video")
}

/// Between 0.3 and 6 Mbit/s, so that all representations are chosen; by a walk, since a path changes slowly.
fn rates() -> Vec<u64> {
    let mut stream = random::Generator::new(1, "rates");
    let mut rate = 2e6_f64;
    let walk = |_| {
        rate = (rate * (0.8 + 0.41 * stream.unit())).clamp(3e5, 6e6);
        rate as u64
    };
    (0..1000).map(walk).collect()
}

impl Deciding {
    fn abr(&self) -> Box<dyn Abr> {
        let row = &ABRS[self.row];
        let arguments = Arguments::filled(row.parameters, &[], &[]).expect("every option has a default");
        (row.build)(&arguments)
    }

    /// A player without a network: each segment comes at the rate whose turn it is. Returns the sum of what was chosen.
    fn play(&self, abr: &mut dyn Abr, decisions: usize) -> usize {
        let (mut now, mut buffer, mut last) = (Time::ZERO, Duration::ZERO, None);
        let mut downloads: Vec<Download> = Vec::with_capacity(2 * HISTORY);
        let mut sum = 0;
        for turn in 0..decisions {
            let segment = turn % self.line.segments();
            if segment == 0 && turn > 0 {
                abr.on_seek();
                buffer = Duration::ZERO;
            }
            let scene = |now, buffer, last| View {
                now,
                buffer,
                max_buffer: MAX_BUFFER,
                is_playing: !buffer.is_zero(),
                stalled: Duration::ZERO,
                segment,
                last,
                line: &self.line,
                downloads: &[],
                latency: None,
            };
            let recent = &downloads[downloads.len().saturating_sub(HISTORY)..];
            let choice = abr.choose(&View { downloads: recent, ..scene(now, buffer, last) });
            let representation = choice.representation;
            sum += representation + 1;
            let asked_at = now + choice.wait;
            let bytes = self.line.size(segment, representation);
            let took = Duration::from_nanos(bytes * 8_000_000 / (self.rates[turn % self.rates.len()] / 1000));
            now = asked_at + Duration::from_millis(20) + took;
            let room = MAX_BUFFER - self.line.duration(segment);
            buffer = (buffer - now.since(asked_at - choice.wait)) + self.line.duration(segment);
            last = Some(representation);
            if downloads.len() == 2 * HISTORY {
                downloads.drain(..HISTORY);
            }
            let first_at = asked_at + Duration::from_millis(20);
            downloads.push(Download { segment, representation, bytes, asked_at, first_at, last_at: now });
            let recent = &downloads[downloads.len().saturating_sub(HISTORY)..];
            abr.on_download(&View { downloads: recent, ..scene(now, buffer, last) });
            // The next segment is asked for when it has room.
            now += buffer - room;
            buffer = buffer.min(room);
        }
        sum
    }
}

impl Case for Deciding {
    fn name(&self) -> &'static str {
        self.name
    }

    fn unit(&self) -> &'static str {
        "ns"
    }

    fn about(&self) -> &'static str {
        "quiclab, this rate adaptation alone: processing a download and choosing among ten representations"
    }

    fn run(&mut self) -> f64 {
        let mut abr = self.abr();
        let (sum, seconds) = clock::time(|| black_box(self.play(abr.as_mut(), DECISIONS)));
        assert!(sum >= DECISIONS, "representations were chosen");
        seconds * 1e9 / DECISIONS as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is measured is adaptation: all choose several representations but the one that does not adapt.
    #[test]
    fn rate_adaptations_adapt() {
        let mean = |case: Deciding| (case.name, case.play(case.abr().as_mut(), 1000) as f64 / 1000.0);
        let means: Vec<_> = decisions().map(mean).collect();
        assert!(means.iter().filter(|(_, mean)| *mean == 1.0).count() == 1, "{means:?}");
        assert!(means.iter().all(|(_, mean)| (1.0..8.5).contains(mean)), "{means:?}");
    }

    #[test]
    fn a_playback_has_the_bytes_of_the_bulk_transfer() {
        for mut case in runs().filter(|case| case.of != Of::Packet) {
            assert!(case.run() > 0.0);
            let transfer = case.transfer().expect("a run");
            assert!((260_000..265_000).contains(&transfer.data_packets), "{:?}: {transfer:?}", case.of);
        }
    }
}
