//! Rates that change at given times. A packet in service during a change is sent piece by piece.

use super::Server;
use super::error::{ChangesError, RateError};
use units::parameter::{Options, Row};
use units::{Duration, Rate, Size, Time};

/// The options of a list of rates.
#[derive(Debug, Clone, Options)]
struct ChangesOptions {
    /// [time, rate] pairs by rising time, the first at "0 s"; a rate of zero is an outage
    steps: Vec<(Duration, Rate)>,
    /// time after which the list starts again; without it the last rate stays
    repeat: Option<Duration>,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "changes",
    about: "a rate that changes at given times; a packet in transmission during a change continues at the new rate",
    parameters: ChangesOptions::PARAMETERS,
    build: &|arguments, _| {
        let options = ChangesOptions::of(arguments);
        let steps: Vec<_> = options.steps.into_iter().map(|(at, rate)| (Time::ZERO + at, rate)).collect();
        Changes::new(&steps, options.repeat).map(Server::Changes).map_err(RateError::Changes)
    },
};

/// Bits times 10^9: rate in bit/s times nanoseconds, so that nothing is rounded on the way.
type Work = u128;

const WORK_PER_BYTE: Work = 8_000_000_000;

#[derive(Debug, Clone, Copy)]
struct Step {
    at: Time,
    rate: u64,
    /// The work that could be done from zero up to `at`.
    before: Work,
}

/// A server with a changing rate. With `W(t)` the work that can be done up to `t`, a packet of work `w` that
/// starts at `s` ends at the first nanosecond at which `W(t) >= W(s) + w`. Back-to-back packets add up their
/// work and not their rounded ends, so that the rate is exact.
#[derive(Debug, Clone)]
pub struct Changes {
    steps: Vec<Step>,
    repeat: Option<Duration>,
    /// The work of one round of a repeating list.
    round: Work,
    /// The end of the last packet, and the work up to its exact end.
    free_at: Time,
    done: Work,
}

impl Changes {
    /// Creates a server with these rates from these times on, repeated every `repeat`.
    ///
    /// # Errors
    /// If the list is empty, does not start at zero, is not increasing, or never sends anything.
    pub fn new(steps: &[(Time, Rate)], repeat: Option<Duration>) -> Result<Changes, ChangesError> {
        match steps.first() {
            None => return Err(ChangesError::Empty),
            Some((at, _)) if *at != Time::ZERO => return Err(ChangesError::FirstStep(*at)),
            Some(_) => {}
        }
        if let Some(pair) = steps.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return Err(ChangesError::NotRising { before: pair[0].0, at: pair[1].0 });
        }
        if steps.iter().all(|(_, rate)| *rate == Rate::ZERO) {
            return Err(ChangesError::AllZero);
        }
        let last = steps[steps.len() - 1].0;
        if let Some(repeat) = repeat.filter(|repeat| Time::ZERO + *repeat <= last) {
            return Err(ChangesError::RepeatTooShort { repeat, last });
        }
        let mut sums = Vec::with_capacity(steps.len());
        let mut before: Work = 0;
        for (i, (at, rate)) in steps.iter().enumerate() {
            let rate = rate.as_bits_per_sec();
            sums.push(Step { at: *at, rate, before });
            let next = steps.get(i + 1).map(|(next, _)| *next).or(repeat.map(|repeat| Time::ZERO + repeat));
            before = before.saturating_add(next.map_or(0, |next| work(rate, next.since(*at))));
        }
        assert!(repeat.is_none() || before > 0, "a round in which nothing is sent was refused");
        Ok(Changes { steps: sums, repeat, round: before, free_at: Time::ZERO, done: 0 })
    }

    /// Like [`Changes::new`], starting `offset` into the list. Without `repeat`, earlier entries are never
    /// used.
    ///
    /// # Errors
    /// The errors of [`Changes::new`]; also if nothing is ever sent after the offset.
    pub fn from(
        steps: &[(Time, Rate)],
        repeat: Option<Duration>,
        offset: Duration,
    ) -> Result<Changes, ChangesError> {
        let whole = Changes::new(steps, repeat)?;
        if offset.is_zero() {
            return Ok(whole);
        }
        let begin = Time::ZERO + offset;
        // The last step before it is in force there.
        let passed = steps.partition_point(|(at, _)| *at <= begin);
        let mut turned = vec![(Time::ZERO, steps[passed - 1].1)];
        turned.extend(steps[passed..].iter().map(|(at, rate)| (Time::ZERO + at.since(begin), *rate)));
        if let Some(repeat) = repeat {
            let again = steps.iter().take_while(|(at, _)| *at < begin);
            turned.extend(again.map(|(at, rate)| (*at + (repeat - offset), *rate)));
        }
        Changes::new(&turned, repeat)
    }

    /// The period of a repeating list.
    pub fn repeat(&self) -> Option<Duration> {
        self.repeat
    }

    /// The step in force at a time, and the start of its round.
    fn at(&self, time: Time) -> (usize, Time) {
        let phase = self.repeat.map_or(time.as_nanos(), |repeat| time.as_nanos() % repeat.as_nanos());
        let next = self.steps.partition_point(|step| step.at.as_nanos() <= phase);
        (next - 1, Time::from_nanos(time.as_nanos() - phase))
    }

    /// W: the work that can be done from zero up to a time.
    fn until(&self, time: Time) -> Work {
        let (step, base) = self.at(time);
        let step = &self.steps[step];
        let rounds = self.repeat.map_or(0, |repeat| base.as_nanos() / repeat.as_nanos());
        let here = work(step.rate, time.since(base + step.at.since(Time::ZERO)));
        self.round.saturating_mul(Work::from(rounds)).saturating_add(step.before).saturating_add(here)
    }

    /// The first nanosecond at which this much work can be done: the inverse of W.
    fn when(&self, target: Work) -> Time {
        if target == 0 {
            return Time::ZERO;
        }
        let (rounds, rest) = match self.repeat {
            // From 1 up to and including a whole round.
            Some(_) => ((target - 1) / self.round, (target - 1) % self.round + 1),
            None => (0, target),
        };
        // The last step before which less was done; the rest is never done in a step at rate zero.
        let step = &self.steps[self.steps.partition_point(|step| step.before < rest) - 1];
        if step.rate == 0 {
            return Time::NEVER;
        }
        let in_step = (rest - step.before).div_ceil(Work::from(step.rate));
        let base = rounds.saturating_mul(Work::from(self.repeat.unwrap_or_default().as_nanos()));
        let at = base.saturating_add(Work::from(step.at.as_nanos())).saturating_add(in_step);
        u64::try_from(at).map_or(Time::NEVER, Time::from_nanos)
    }

    /// The end of an outage, or `at` itself.
    pub(super) fn ready(&self, at: Time) -> Time {
        if at == Time::NEVER {
            return at;
        }
        let (step, base) = self.at(at);
        if self.steps[step].rate > 0 {
            return at;
        }
        let sending =
            |steps: &[Step]| steps.iter().find(|step| step.rate > 0).map(|step| step.at.since(Time::ZERO));
        match (sending(&self.steps[step..]), sending(&self.steps), self.repeat) {
            (Some(span), _, _) => base + span,
            (None, Some(span), Some(repeat)) => base + repeat + span,
            _ => Time::NEVER,
        }
    }

    pub(super) fn serve(&mut self, start: Time, size: u32) -> Time {
        // Nothing was sent between the exact end of the last packet and its whole nanosecond, unless the next
        // one was already waiting.
        let from = if start == self.free_at { self.done } else { self.until(start) };
        self.done = from.saturating_add(Work::from(size) * WORK_PER_BYTE);
        self.free_at = self.when(self.done).max(start);
        self.free_at
    }

    /// The mean: over one round of a repeating list, otherwise over all but the last step, which never ends;
    /// the rate of that one if it is the only one or the others send nothing.
    pub fn mean_rate(&self) -> Rate {
        let last = self.steps[self.steps.len() - 1];
        let end = self.repeat.map_or(last.at, |repeat| Time::ZERO + repeat);
        let forever = Rate::from_bits_per_sec(last.rate);
        if end == Time::ZERO {
            return forever;
        }
        match Rate::of(self.capacity(Time::ZERO, end), end.since(Time::ZERO)) {
            Rate::ZERO => forever,
            mean => mean,
        }
    }

    /// The bytes that can be sent between two times.
    pub fn capacity(&self, from: Time, to: Time) -> Size {
        let work = self.until(to).saturating_sub(self.until(from));
        Size::from_bytes(u64::try_from(work / WORK_PER_BYTE).unwrap_or(u64::MAX))
    }
}

fn work(rate: u64, span: Duration) -> Work {
    Work::from(rate) * Work::from(span.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(steps: &[(u64, &str)], repeat: Option<u64>) -> Result<Changes, ChangesError> {
        let steps: Vec<(Time, Rate)> =
            steps.iter().map(|(ms, rate)| (at(*ms), rate.parse().unwrap())).collect();
        Changes::new(&steps, repeat.map(Duration::from_millis))
    }
    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_packet_over_a_change_is_sent_piece_by_piece() {
        let mut server = changes(&[(0, "12 Mbit/s"), (1, "0 bit/s"), (5, "6 Mbit/s")], None).unwrap();
        // Half of it in 0.5 ms before the outage, the other half at half the speed.
        assert_eq!(server.serve(Time::from_nanos(500_000), 1500), at(6));
        assert_eq!(server.serve(at(6), 1500), at(8));
        assert_eq!(server.capacity(Time::ZERO, at(7)), Size::from_bytes(1500 + 1500));
    }

    #[test]
    fn a_packet_that_ends_with_its_step_does_not_wait_for_the_next() {
        let mut server = changes(&[(0, "12 Mbit/s"), (1, "0 bit/s"), (5, "12 Mbit/s")], Some(6)).unwrap();
        assert_eq!(server.serve(at(0), 1500), at(1));
        assert_eq!(server.ready(at(1)), at(5));
        assert_eq!(server.serve(at(5), 1500), at(6), "the end of the round");
        assert_eq!(server.ready(at(6)), at(6));
        assert_eq!(server.serve(at(6), 3000), at(12), "1 ms, the outage of 4 ms, 1 ms");
        assert_eq!(server.serve(at(1_000_000 * 6 + 2), 1500), at(1_000_000 * 6 + 6));
    }

    #[test]
    fn back_to_back_packets_keep_the_rate_exactly() {
        let mut server = changes(&[(0, "100 Gbit/s"), (100_000, "1 Mbit/s")], None).unwrap();
        let end = (0..1_000_000).fold(Time::ZERO, |at, _| server.serve(at, 1252));
        assert_eq!(end, Time::from_nanos(100_160_000));
    }

    #[test]
    fn a_list_that_repeats_and_its_mean() {
        let mut server = changes(&[(0, "12 Mbit/s"), (2, "0 bit/s")], Some(4)).unwrap();
        assert_eq!(server.mean_rate(), "6 Mbit/s".parse().unwrap());
        assert_eq!(server.ready(at(2)), at(4));
        assert_eq!(server.serve(at(4), 1500), at(5));
        assert_eq!(server.capacity(at(5), at(13)), Size::from_bytes(2 * 3000));
    }

    #[test]
    fn a_list_can_begin_anywhere() {
        let steps = [(at(0), "12 Mbit/s"), (at(2), "0 bit/s"), (at(5), "6 Mbit/s")];
        let steps = steps.map(|(at, rate)| (at, rate.parse().unwrap()));
        let circle = Some(Duration::from_millis(8));
        let plain = Changes::new(&steps, circle).unwrap();
        for offset in 0..8 {
            let turned = Changes::from(&steps, circle, Duration::from_millis(offset)).unwrap();
            assert_eq!(turned.mean_rate(), plain.mean_rate());
            for (from, to) in [(0, 1), (0, 20), (3, 9), (5, 5), (7, 8)] {
                let expected = plain.capacity(at(from + offset), at(to + offset));
                assert_eq!(turned.capacity(at(from), at(to)), expected, "{offset}: {from} to {to}");
            }
            let ready = |changes: &Changes, ms| changes.ready(at(ms)).since(at(ms));
            assert_eq!(ready(&turned, 3), ready(&plain, 3 + offset), "{offset}");
        }
        let once = Changes::from(&steps, None, Duration::from_millis(3)).unwrap();
        assert_eq!((once.ready(at(0)), once.capacity(at(0), at(1000))), (at(2), Size::from_bytes(748_500)));
        let dead = Changes::from(&steps[..2], None, Duration::from_millis(2));
        assert_eq!(dead.unwrap_err(), ChangesError::AllZero);
    }

    #[test]
    fn the_last_rate_stays_and_zero_is_for_ever() {
        let mut dead = changes(&[(0, "12 Mbit/s"), (2, "0 bit/s")], None).unwrap();
        assert_eq!(dead.ready(at(2)), Time::NEVER);
        assert_eq!(dead.serve(at(1), 3000), Time::NEVER);
        assert_eq!(dead.ready(Time::NEVER), Time::NEVER);
        assert_eq!(dead.mean_rate(), "12 Mbit/s".parse().unwrap());
        let mut slow = changes(&[(0, "0 bit/s"), (1, "1 bit/s")], None).unwrap();
        assert_eq!(slow.ready(at(0)), at(1));
        assert_eq!(slow.serve(at(1), 1), at(8001));
    }

    #[test]
    fn a_slow_link_of_many_rounds_is_computed_at_once() {
        let steps = [(Time::ZERO, Rate::from_bits_per_sec(1)), (Time::from_nanos(1), Rate::ZERO)];
        let mut server = Changes::new(&steps, Some(Duration::from_nanos(1000))).unwrap();
        // 8 bits in pieces of 10^-9 bit, one each microsecond.
        assert_eq!(server.serve(Time::ZERO, 1), Time::from_nanos((8_000_000_000 - 1) * 1000 + 1));
    }

    #[test]
    fn lists_that_make_no_sense_are_refused() {
        let error = |steps: &[(u64, &str)], repeat| changes(steps, repeat).unwrap_err().to_string();
        assert_eq!(error(&[], None), "no steps; expected at least [[\"0 s\", \"2 Mbit/s\"]]");
        assert_eq!(error(&[(1, "1 Mbit/s")], None), "the first step is at 1 ms, not at \"0 s\"");
        assert_eq!(
            error(&[(0, "1 Mbit/s"), (2, "1 Mbit/s"), (2, "1 Mbit/s")], None),
            "the step at 2 ms does not come after the one at 2 ms"
        );
        assert_eq!(error(&[(0, "0 bit/s")], None), "all rates are zero: nothing is ever sent");
        assert_eq!(
            error(&[(0, "1 Mbit/s"), (5, "2 Mbit/s")], Some(5)),
            "repeat 5 ms is not after the last step at 5 ms"
        );
    }
}
