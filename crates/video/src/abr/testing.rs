//! Lines, views and downloads for the tests of rate adaptation.

use super::{Build, Download, Line, View};
use units::parameter::{Arguments, Row};
use units::{Duration, Rate, Time};

/// The ladder of Big Buck Bunny in the BOLA paper, in kbit/s.
pub(super) const LADDER: [u64; 10] = [230, 331, 477, 688, 991, 1427, 2056, 2962, 5027, 6000];

/// Rates in kbit/s.
pub(super) fn rates(kbit: &[u64]) -> Vec<Rate> {
    kbit.iter().map(|rate| Rate::from_bits_per_sec(rate * 1000)).collect()
}

/// Segments of one duration, by periods with ladders of their own. Segments have the sizes of their bitrates, or those given.
#[derive(Debug, Clone)]
pub(super) struct Strip {
    pub(super) duration: Duration,
    /// The ladder of each segment.
    pub(super) ladders: Vec<Vec<Rate>>,
    /// The size of each segment in thousandths of what its bitrate says.
    pub(super) permille: Vec<u64>,
}

impl Strip {
    pub(super) fn new(kbit: &[u64], segments: usize, seconds: u64) -> Strip {
        Strip {
            duration: Duration::from_secs(seconds),
            ladders: vec![rates(kbit); segments],
            permille: vec![1000; segments],
        }
    }
}

impl Line for Strip {
    fn segments(&self) -> usize {
        self.ladders.len()
    }
    fn duration(&self, _segment: usize) -> Duration {
        self.duration
    }
    fn bitrates(&self, segment: usize) -> &[Rate] {
        &self.ladders[segment]
    }
    fn size(&self, segment: usize, representation: usize) -> u64 {
        let full = self.ladders[segment][representation].bytes_in(self.duration).as_bytes();
        full * self.permille[segment] / 1000
    }
}

/// A download of a segment in its lowest representation, with the times of request, first and last byte in ms.
pub(super) fn download(segment: usize, bytes: u64, [asked, first, last]: [u64; 3]) -> Download {
    let at = |ms: u64| Time::ZERO + Duration::from_millis(ms);
    Download {
        segment,
        representation: 0,
        bytes,
        asked_at: at(asked),
        first_at: at(first),
        last_at: at(last),
    }
}

/// A view while the presentation is played: the buffer and its limit in ms.
pub(super) fn view(line: &dyn Line, segment: usize, last: Option<usize>, buffer: u64, max: u64) -> View<'_> {
    View {
        now: Time::ZERO,
        buffer: Duration::from_millis(buffer),
        max_buffer: Duration::from_millis(max),
        is_playing: true,
        stalled: Duration::ZERO,
        segment,
        last,
        line,
        downloads: &[],
        latency: None,
    }
}

/// The options of a row, some of them given.
pub(super) fn arguments(row: &Row<Build>, options: &[(&str, &str)]) -> Arguments {
    Arguments::written(row.parameters, options, &[]).expect("options of the row")
}
