//! Recorded capacity: a Mahimahi trace, which repeats when it ends.
//!
//! Each line of a trace is one opportunity, at a time in milliseconds, to send 1500 bytes. A packet that is
//! larger than the rest of an opportunity continues with the next one; several small packets share one;
//! capacity that no waiting packet can use is lost. A packet that arrives exactly at the time of an opportunity
//! can still use it.

use super::Server;
use super::error::{RateError, TraceError, TraceProblem};
use super::offset::Begin;
use std::sync::Arc;
use units::parameter::{File, Options, Row};
use units::table::{unit_of_times_in_comment, without_mark};
use units::{Duration, Rate, Size, Time};

/// The options of recorded capacity.
#[derive(Debug, Clone, Options)]
struct TraceOptions {
    /// the trace: one whole number per line, milliseconds, not decreasing
    #[option(example = "1\n1\n2\n5\n5\n5\n6\n11\n")]
    file: File,
    #[options]
    begin: Begin,
}

/// The bytes of one opportunity.
pub const OPPORTUNITY: u32 = 1500;
/// The first opportunity of a trace is earlier, in milliseconds: these are 11 days, and seconds since 1970 are more.
const LATEST_START: u32 = 1_000_000_000;
/// The maximum number of opportunities of a trace: an hour at 160 Mbit/s.
pub const MAX_OPPORTUNITIES: usize = 50_000_000;

pub(crate) const ROW: Row<super::Build> = Row {
    name: "trace",
    about: "recorded capacity (Mahimahi): each line is the time in ms of an opportunity to send 1500 bytes; repeated without end",
    parameters: TraceOptions::PARAMETERS,
    build: &|arguments, stream| {
        let TraceOptions { file, begin } = TraceOptions::of(arguments);
        let trace = Trace::parse(&file.text);
        let trace = trace.map_err(|error| RateError::Trace { path: file.path, error })?;
        let from = begin.offset(trace.duration(), stream)?;
        Ok(Server::Trace(Player::new(Arc::new(trace), from)))
    },
};

/// A recorded trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The milliseconds of the opportunities, not decreasing; the last one is above zero.
    opportunities: Vec<u32>,
}

/// An opportunity of a trace that repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Opportunity {
    /// The number of repetitions before.
    round: u64,
    /// Its place in the trace.
    place: usize,
}

impl Trace {
    /// Reads a trace. Empty lines and comments (`#`) are passed over.
    ///
    /// # Errors
    /// If a line is not a whole number of milliseconds, or less than the previous one; if there is no line, or
    /// more than [`MAX_OPPORTUNITIES`]; or if the last time is zero, since such a trace has no duration.
    pub fn parse(text: &str) -> Result<Trace, TraceError> {
        Trace::parse_up_to(MAX_OPPORTUNITIES, text)
    }

    fn parse_up_to(limit: usize, text: &str) -> Result<Trace, TraceError> {
        let text = without_mark(text).trim_end();
        if let Some((line, unit)) = unit_of_times_in_comment(text, &["time_ms"]) {
            return Err(TraceError { line, problem: TraceProblem::Unit(unit) });
        }
        let mut opportunities: Vec<u32> = Vec::with_capacity((text.len() / 5).min(limit));
        let fail = |line: usize, problem| Err(TraceError { line, problem });
        // The lines of old systems end with a carriage return alone.
        let end = if text.contains('\n') { '\n' } else { '\r' };
        for (i, line) in text.split(end).map(str::trim).enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            // A spreadsheet's or a script's separator behind the only cell.
            let line = line.trim_end_matches([',', ';']);
            let quoted = line.strip_prefix('"').and_then(|line| line.strip_suffix('"'));
            let line = quoted.unwrap_or(line);
            let Some(ms) = number(line) else {
                if units::scaled(line, 0).is_some_and(|(ms, _)| ms > u64::from(u32::MAX)) {
                    return fail(i + 1, TraceProblem::TooLate(line.chars().take(40).collect()));
                }
                return fail(i + 1, TraceProblem::NotANumber(line.chars().take(40).collect()));
            };
            match opportunities.last() {
                None if ms >= LATEST_START => return fail(i + 1, TraceProblem::TooLate(line.to_owned())),
                Some(&before) if before > ms => {
                    return fail(i + 1, TraceProblem::Decreasing { before, at: ms });
                }
                _ if opportunities.len() >= limit => return fail(i + 1, TraceProblem::TooLong(limit)),
                _ => opportunities.push(ms),
            }
        }
        match opportunities.last() {
            None => fail(1, TraceProblem::Empty),
            Some(0) => fail(opportunities.len(), TraceProblem::NoDuration),
            Some(_) => Ok(Trace { opportunities }),
        }
    }

    /// Whether a text has the form of a trace, by its first line that says something: a number alone.
    pub fn is_form_of(text: &str) -> bool {
        let mut lines = without_mark(text).lines().map(str::trim);
        let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
        let is_table = |line: &str| {
            line.trim_end_matches([',', ';']).contains([',', ';', '\t', ' '])
                || line.starts_with("time_")
                || line.starts_with("sep=")
        };
        first.is_none_or(|line| !is_table(line))
    }

    /// The duration until it repeats.
    pub fn duration(&self) -> Duration {
        let last = self.opportunities.last().expect("a trace has opportunities");
        Duration::from_millis(u64::from(*last))
    }
    /// The milliseconds with opportunities, in rising order, each with their number.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        self.opportunities.chunk_by(|a, b| a == b).map(|same| (u64::from(same[0]), same.len() as u64))
    }
    /// The number of opportunities.
    pub fn opportunities(&self) -> usize {
        self.opportunities.len()
    }
    /// Its mean rate.
    pub fn mean_rate(&self) -> Rate {
        Rate::of(Size::from_bytes(self.opportunities.len() as u64 * u64::from(OPPORTUNITY)), self.duration())
    }

    /// The time of an opportunity.
    #[inline]
    fn time_of(&self, Opportunity { round, place }: Opportunity) -> Time {
        Time::ZERO + self.duration() * round + Duration::from_millis(u64::from(self.opportunities[place]))
    }

    /// The first opportunity that is not before `time`.
    fn first_from(&self, time: Time) -> Opportunity {
        let period = self.duration().as_nanos();
        let round = time.as_nanos() / period;
        let phase_ms = (time.as_nanos() % period).div_ceil(1_000_000);
        // The last time of a round is the zeroth of the next one.
        if round > 0 && phase_ms == 0 {
            let last = self
                .opportunities
                .partition_point(|ms| *ms < self.opportunities[self.opportunities.len() - 1]);
            return Opportunity { round: round - 1, place: last };
        }
        match self.opportunities.partition_point(|ms| u64::from(*ms) < phase_ms) {
            place if place < self.opportunities.len() => Opportunity { round, place },
            _ => Opportunity { round: round + 1, place: 0 },
        }
    }

    /// The bytes of the opportunities from `from` up to, but not including, `to`.
    pub fn capacity(&self, from: Time, to: Time) -> Size {
        let ordinal = |time: Time| {
            let Opportunity { round, place } = self.first_from(time);
            round * self.opportunities.len() as u64 + place as u64
        };
        Size::from_bytes(ordinal(to).saturating_sub(ordinal(from)) * u64::from(OPPORTUNITY))
    }
}

/// A whole number, however it is written: numpy writes `1.000000000000000000e+01`.
fn number(line: &str) -> Option<u32> {
    if line.bytes().all(|byte| byte.is_ascii_digit()) {
        return line.parse().ok();
    }
    let (value, is_rounded) = units::scaled(line, 0)?;
    u32::try_from(value).ok().filter(|_| !is_rounded)
}

/// The playback of a trace.
///
/// Its own times are times in the trace: the time of the world plus the offset at which the trace started.
#[derive(Debug, Clone)]
pub struct Player {
    trace: Arc<Trace>,
    /// The offset of time zero in the trace.
    offset: Duration,
    /// The next unused opportunity.
    next: Opportunity,
    /// The rest of the opportunity that was used last, and its time.
    left: u32,
    left_at: Time,
}

impl Player {
    /// Starts the playback at `offset`.
    pub fn new(trace: Arc<Trace>, offset: Duration) -> Player {
        let next = trace.first_from(Time::ZERO + offset);
        Player { trace, offset, next, left: 0, left_at: Time::ZERO }
    }
    /// The trace.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The next time from `at` on at which bytes can be sent. Earlier opportunities are unused.
    pub(super) fn ready(&mut self, at: Time) -> Time {
        let inside = at + self.offset;
        if self.left_at == inside && self.left > 0 {
            return at;
        }
        if self.trace.time_of(self.next) < inside {
            self.next = self.next.max(self.trace.first_from(inside));
        }
        self.trace.time_of(self.next) - self.offset
    }

    pub(super) fn serve(&mut self, start: Time, size: u32) -> Time {
        let start = start + self.offset;
        if self.left_at != start {
            self.left = 0;
        }
        let shared = self.left.min(size);
        self.left -= shared;
        let (mut missing, mut at) = (size - shared, start);
        while missing > 0 {
            at = self.trace.time_of(self.next);
            debug_assert!(at >= start, "no opportunity before the start is used");
            self.next.place += 1;
            if self.next.place == self.trace.opportunities.len() {
                self.next = Opportunity { round: self.next.round + 1, place: 0 };
            }
            let used = missing.min(OPPORTUNITY);
            missing -= used;
            self.left = OPPORTUNITY - used;
        }
        self.left_at = at;
        at - self.offset
    }

    /// The bytes of the opportunities from one time up to, but not including, another.
    pub(super) fn capacity(&self, from: Time, to: Time) -> Size {
        self.trace.capacity(from + self.offset, to + self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }
    fn player(text: &str) -> Player {
        Player::new(Arc::new(Trace::parse(text).unwrap()), Duration::ZERO)
    }
    /// What a link does: the packet waits for an opportunity, then it goes.
    fn send(link: &mut Player, at: Time, size: u32) -> Time {
        let start = link.ready(at);
        link.serve(start, size)
    }

    #[test]
    fn large_packets_take_several_and_small_ones_share_one() {
        let mut link = player("1\n1\n3\n7\n10\n");
        assert_eq!(send(&mut link, ms(0), 2000), ms(1), "one and a third of the two at 1 ms");
        assert_eq!(send(&mut link, ms(1), 600), ms(1));
        assert_eq!(send(&mut link, ms(1), 600), ms(3), "400 left at 1 ms, the rest at 3 ms");
        assert_eq!(send(&mut link, ms(5), 1500), ms(7), "what was left at 3 ms is lost");
        assert_eq!(send(&mut link, ms(7), 4000), ms(11), "10 ms, then again from the start: 11, 11");
        assert_eq!(send(&mut link, ms(11), 500), ms(11), "500 were left");
        assert_eq!(link.ready(ms(11)), ms(13));
    }

    #[test]
    fn it_wraps_and_skips_what_nobody_uses() {
        let mut link = player("2\n5\n");
        assert_eq!(link.trace().mean_rate(), Rate::from_bits_per_sec(4_800_000));
        assert_eq!(link.trace().duration(), Duration::from_millis(5));
        assert_eq!(link.ready(ms(0)), ms(2));
        assert_eq!(link.ready(ms(3)), ms(5), "the one at 2 ms found nothing to carry");
        assert_eq!(send(&mut link, ms(5), 1500), ms(5));
        assert_eq!(send(&mut link, ms(5), 1500), ms(7));
        assert_eq!(send(&mut link, ms(1003), 1500), ms(1005));
        assert_eq!(send(&mut link, Time::from_nanos(1_005_000_001), 1500), ms(1007));
    }

    #[test]
    fn it_can_begin_anywhere() {
        const TRACE: &str = "1\n1\n3\n7\n10\n";
        for offset in 0..10 {
            let trace = Arc::new(Trace::parse(TRACE).unwrap());
            let mut turned = Player::new(trace, Duration::from_millis(offset));
            let mut plain = player(TRACE);
            for (at, size) in [(0, 700), (0, 700), (2, 3000), (9, 1500), (40, 100), (40, 2000)] {
                let expected = send(&mut plain, ms(at + offset), size);
                assert_eq!(
                    send(&mut turned, ms(at), size) + Duration::from_millis(offset),
                    expected,
                    "{offset}"
                );
            }
            assert_eq!(turned.capacity(ms(1), ms(25)), plain.capacity(ms(1 + offset), ms(25 + offset)));
        }
    }

    #[test]
    fn an_opportunity_at_zero_comes_again_with_the_last() {
        let mut link = player("0\n4\n");
        assert_eq!(send(&mut link, ms(0), 1500), ms(0));
        let ends: Vec<Time> = (0..4).map(|_| send(&mut link, ms(0), 1500)).collect();
        assert_eq!(ends, [ms(4), ms(4), ms(8), ms(8)]);
    }

    #[test]
    fn capacity_counts_from_the_first_time_up_to_but_without_the_second() {
        let link = player("2\n5\n");
        assert_eq!(link.trace().capacity(ms(0), ms(10)), Size::from_bytes(3 * 1500));
        assert_eq!(link.trace().capacity(ms(5), ms(6)), Size::from_bytes(1500));
        assert_eq!(link.trace().capacity(ms(0), ms(5_000)), Size::from_bytes(1999 * 1500));
        assert_eq!(link.trace().capacity(ms(6), ms(6)), Size::ZERO);
    }

    #[test]
    fn malformed_traces_are_refused_with_their_line() {
        let error = |text: &str| Trace::parse(text).unwrap_err().to_string();
        assert!(error("").starts_with("1: the trace is empty"));
        assert!(error("\n\n").starts_with("1: the trace is empty"));
        assert!(error("0\n0\n").starts_with("2: the last time is 0 ms"));
        assert_eq!(error("1\n2\nx\n"), "3: found \"x\", expected a whole number of milliseconds");
        assert_eq!(error("5\n4\n"), "2: 4 ms comes after 5 ms; times must not decrease");
        assert_eq!(Trace::parse("\u{feff}1\n2\n"), Trace::parse("1\n2\n"));
        assert_eq!(error("# times in us\n1000\n"), "1: the comment has \"us\"; expected milliseconds");
        assert_eq!(Trace::parse("# time (ms), 60 s\n5\n"), Trace::parse("5\n"));
        assert_eq!(Trace::parse("# ms\n1\n\n 2 \r\n\n"), Trace::parse("1\n2\n"));
        assert_eq!(error("1\n\nx\n"), "3: found \"x\", expected a whole number of milliseconds");
        let csv = error("time_ms,rate_mbps\n0,20\n");
        assert_eq!(
            csv,
            "1: found \"time_ms,rate_mbps\", expected a whole number of milliseconds; CSV is for type = \"series\", and \
             begins with the line time_ms,rate_mbps"
        );
        let name = "; CSV is for type = \"series\", and begins with the line time_ms,rate_mbps";
        assert!(error("rate_mbps\n10\n").ends_with(name) && error("Rate (Mbit/s)\n10\n").ends_with(name));
        for line in ["-1", "1.5", "1e-1", "1e10", "nan", "4294967296", "1 2", "0x10", "\u{661}"] {
            assert!(error(line).starts_with("1: found "), "{line}");
        }
        assert!(
            error("1526371200000\n")
                .starts_with("1: found \"1526371200000\"; expected milliseconds from the start")
        );
        assert!(
            error("1526371200\n1526371201\n").contains("expected milliseconds from the start of the trace")
        );
        assert_eq!(Trace::parse("1\r2\r"), Trace::parse("1\n2\n"));
        assert_eq!(Trace::parse("\"1\"\n\"2\",\n"), Trace::parse("1\n2\n"));
        assert_eq!(error("# tick = 10 ms\n1\n"), "1: the comment has \"ms\"; expected milliseconds");
        assert_eq!(Trace::parse("1,\n2;\n"), Trace::parse("1\n2\n"));
        assert!(Trace::parse("1\r\n2\n\n").is_ok());
        assert_eq!(Trace::parse("1.000000000000000000e+00\n1.2e1\n20.0\n"), Trace::parse("1\n12\n20\n"));
        assert!(Trace::parse_up_to(2, "1\n2\n").is_ok());
        assert_eq!(Trace::parse_up_to(2, "1\n2\n3").unwrap_err().to_string(), "3: more than 2 opportunities");
    }
}
