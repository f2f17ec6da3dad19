//! Slow start: the standard one (RFC 9002 section 7.3.1) or HyStart++ (RFC 9406).

use crate::AckSample;
use crate::round::Rounds;
use units::Duration;
use units::parameter::{Choice, Options};

/// The options of slow start.
#[derive(Debug, Clone, Copy, Options)]
pub(crate) struct SlowStartOptions {
    /// how the window grows before the first loss: doubling until then, or until the RTT grows (HyStart++, RFC
    /// 9406)
    #[option(default = "standard")]
    slow_start: Kind,
    /// HyStart++: lower limit of the RTT growth that ends slow start (RFC 9406 section 4.3)
    #[option(default = "4 ms")]
    min_rtt_thresh: Duration,
    /// HyStart++: upper limit of the RTT growth that ends slow start (RFC 9406 section 4.3)
    #[option(default = "16 ms")]
    max_rtt_thresh: Duration,
    /// HyStart++: slow start ends when the RTT grows by the last round's minimum divided by this, within the two
    /// limits (RFC 9406 section 4.3)
    #[option(default = 8, within = 1..=1000)]
    min_rtt_divisor: u64,
    /// HyStart++: RTT samples that a round needs to count (RFC 9406 section 4.3)
    #[option(default = 8, within = 1..=1000)]
    n_rtt_sample: u64,
    /// HyStart++: conservative slow start grows this many times slower than slow start (RFC 9406 section 4.3)
    #[option(default = 4, within = 2..=1000)]
    css_growth_divisor: u64,
    /// HyStart++: round trips of conservative slow start before congestion avoidance (RFC 9406 section 4.3)
    #[option(default = 5, within = 1..=1000)]
    css_rounds: u64,
    /// HyStart++: packets that one acknowledgement may add; by default unlimited with pacing, 8 without (RFC 9406
    /// section 4.3)
    #[option(within = 1..=1_000_000)]
    l: Option<u64>,
}

/// The kinds of slow start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
enum Kind {
    Standard,
    #[word("hystart++")]
    HyStart,
}

/// The effect of an acknowledgement in slow start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Growth {
    /// The increase of the window in bytes.
    pub(crate) bytes: u64,
    /// Whether the threshold becomes the window, which ends slow start.
    pub(crate) done: bool,
}

/// The slow start of one sender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlowStart {
    /// `None` for the standard one.
    hystart: Option<HyStart>,
    /// Whether HyStart++ is configured; it is only used for the initial slow start (RFC 9406 section 4.3).
    initial: Option<HyStart>,
}

impl SlowStart {
    /// Creates the state from the options; `paced`: whether the sender is.
    pub(crate) fn new(options: &SlowStartOptions, paced: bool) -> SlowStart {
        let initial = (options.slow_start == Kind::HyStart).then(|| HyStart::new(options, paced));
        SlowStart { hystart: initial, initial }
    }
    /// The standard one, for controllers without a choice.
    pub(crate) fn standard() -> SlowStart {
        SlowStart { hystart: None, initial: None }
    }
    /// Processes an acknowledgement in slow start; `datagram`: the size of a full packet in bytes.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &AckSample<'_>, datagram: u64) -> Growth {
        match &mut self.hystart {
            // RFC 9002 section 7.3.1: by the bytes acknowledged.
            None => Growth { bytes: ack.acked_bytes, done: false },
            Some(hystart) => hystart.on_ack(ack, datagram),
        }
    }
    /// Slow start has ended, by congestion or otherwise. RFC 9406 section 4.3: later ones are standard.
    #[inline]
    pub(crate) fn stop(&mut self) {
        self.hystart = None;
    }
    /// Resets the state for another path.
    pub(crate) fn restart(&mut self, delivered: u64) {
        self.hystart = self.initial;
        if let Some(hystart) = &mut self.hystart {
            hystart.rounds.restart(delivered);
        }
    }
    /// The name in traces.
    pub(crate) fn state(&self) -> &'static str {
        match &self.hystart {
            Some(HyStart { conservative: Some(_), .. }) => "conservative_slow_start",
            _ => "slow_start",
        }
    }
}

/// Conservative slow start (RFC 9406 section 4.2, "CSS").
#[derive(Debug, Clone, Copy)]
struct Conservative {
    /// `cssBaselineMinRtt`.
    baseline: Duration,
    /// The number of rounds so far, including the one in which it began.
    rounds: u64,
}

/// The state of HyStart++ (RFC 9406 section 4.2).
#[derive(Debug, Clone, Copy)]
struct HyStart {
    options: SlowStartOptions,
    rounds: Rounds,
    /// `lastRoundMinRTT` and `currentRoundMinRTT`; `None` for infinity.
    last_round: Option<Duration>,
    this_round: Option<Duration>,
    /// `rttSampleCount`.
    samples: u64,
    conservative: Option<Conservative>,
}

impl HyStart {
    fn new(options: &SlowStartOptions, paced: bool) -> HyStart {
        HyStart {
            options: SlowStartOptions { l: options.l.or((!paced).then_some(8)), ..*options },
            rounds: Rounds::new(),
            last_round: None,
            this_round: None,
            samples: 0,
            conservative: None,
        }
    }

    fn on_ack(&mut self, ack: &AckSample<'_>, datagram: u64) -> Growth {
        let SlowStartOptions { css_growth_divisor, css_rounds, l, .. } = self.options;
        let mut done = false;
        if self.rounds.on_ack(ack) {
            // Section 4.2: the current minimum becomes the last, and the new round has none.
            self.last_round = self.this_round.take();
            self.samples = 0;
            if let Some(css) = &mut self.conservative {
                // "If CSS_ROUNDS rounds are complete, enter congestion avoidance."; a partial first round counts.
                done = css.rounds >= css_rounds;
                css.rounds += 1;
            }
        }
        if done {
            return Growth { bytes: 0, done };
        }
        // "cwnd = cwnd + min(N, L * SMSS)", and a fraction of it in CSS, before the RTT is evaluated.
        let mut bytes = l.map_or(ack.acked_bytes, |l| ack.acked_bytes.min(l * datagram));
        if self.conservative.is_some() {
            bytes /= css_growth_divisor;
        }
        let latest = ack.rtt.latest();
        self.this_round = Some(self.this_round.map_or(latest, |least| least.min(latest)));
        self.samples += 1;
        self.judge();
        Growth { bytes, done }
    }

    /// Enters conservative slow start when the minimum RTT of a round has grown, and leaves it if that proves wrong.
    fn judge(&mut self) {
        let SlowStartOptions { min_rtt_thresh, max_rtt_thresh, min_rtt_divisor, n_rtt_sample, .. } =
            self.options;
        if self.samples < n_rtt_sample {
            return;
        }
        let Some(this_round) = self.this_round else { return };
        match self.conservative {
            None => {
                let Some(last_round) = self.last_round else { return };
                // "RttThresh = max(MIN_RTT_THRESH, min(lastRoundMinRTT / MIN_RTT_DIVISOR, MAX_RTT_THRESH))".
                let threshold = (last_round / min_rtt_divisor).min(max_rtt_thresh).max(min_rtt_thresh);
                if this_round >= last_round + threshold {
                    self.conservative = Some(Conservative { baseline: this_round, rounds: 1 });
                }
            }
            // "If currentRoundMinRTT < cssBaselineMinRtt ... resume slow start including HyStart++".
            Some(css) if this_round < css.baseline => self.conservative = None,
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Path, SETUP, arguments, lose, ms};
    use crate::{CONTROLLERS, Controller};
    use units::parameter::Value;

    /// A sender of this name with HyStart++ and these options.
    fn sender(name: &str, changes: &[(&'static str, Value)]) -> Box<dyn Controller> {
        let row = CONTROLLERS.iter().find(|row| row.name == name).unwrap();
        let mut all = vec![("slow_start", Value::Text("hystart++".to_owned()))];
        all.extend_from_slice(changes);
        (row.build)(&arguments(row.parameters, &all), SETUP)
    }
    fn packets(sender: &dyn Controller) -> u64 {
        sender.allowance().window / 1000
    }

    /// RFC 9406 section 4.2: a threshold of 100 ms / 8 = 12.5 ms on this path.
    #[test]
    fn a_round_with_a_longer_rtt_slows_it_down_and_five_such_end_it() {
        for name in ["newreno", "cubic"] {
            let mut s = sender(name, &[]);
            let mut path = Path::new();
            path.round(&mut *s, ms(100), 0);
            path.round(&mut *s, ms(112), 0);
            assert_eq!((packets(&*s), s.state()), (40, "slow_start"), "{name}: 12 ms is below the threshold");
            // 112 / 8 = 14 ms.
            path.round(&mut *s, ms(126), 0);
            // The eighth sample reveals it: eight packets count in full, 32 count a quarter.
            assert_eq!((packets(&*s), s.state()), (40 + 8 + 32 / 4, "conservative_slow_start"), "{name}");
            for round in 0..4 {
                let before = s.allowance().window;
                path.round(&mut *s, ms(130), 0);
                assert_eq!(s.state(), "conservative_slow_start", "{round}");
                assert!((s.allowance().window - before).abs_diff(before / 4) <= 1000, "a quarter, {round}");
            }
            let before = packets(&*s);
            path.round(&mut *s, ms(130), 0);
            assert_eq!(
                s.state(),
                "congestion_avoidance",
                "{name}: after five rounds, the first of them in part"
            );
            assert!(s.ssthresh().unwrap() / 1000 <= packets(&*s) && packets(&*s) <= before + 1);
        }
    }

    /// RFC 9406 section 4.2: "resume slow start".
    #[test]
    fn when_the_rtt_falls_again_it_goes_on() {
        let mut s = sender("newreno", &[]);
        let mut path = Path::new();
        path.round(&mut *s, ms(100), 0);
        path.round(&mut *s, ms(120), 0);
        assert_eq!(s.state(), "conservative_slow_start");
        path.round(&mut *s, ms(119), 0);
        assert_eq!((s.state(), s.ssthresh()), ("slow_start", None));
        let before = packets(&*s);
        path.round(&mut *s, ms(119), 0);
        assert_eq!(packets(&*s), 2 * before);
    }

    /// RFC 9406 section 4.3: the limits of the threshold, and the number of samples it requires.
    #[test]
    fn the_threshold_has_limits_and_wants_samples() {
        let slowed = |changes: &[(&'static str, Value)], first, second| {
            let mut s = sender("newreno", changes);
            let mut path = Path::new();
            path.round(&mut *s, ms(first), 0);
            path.round(&mut *s, ms(second), 0);
            s.state() == "conservative_slow_start"
        };
        assert!(!slowed(&[], 10, 13) && slowed(&[], 10, 14), "4 ms at least");
        assert!(!slowed(&[], 800, 815) && slowed(&[], 800, 816), "16 ms is enough anywhere");
        assert!(slowed(&[("min_rtt_thresh", Value::Duration(ms(2)))], 10, 12));
        assert!(!slowed(&[("max_rtt_thresh", Value::Duration(ms(40)))], 800, 839));
        assert!(slowed(&[("min_rtt_divisor", Value::Integer(50))], 800, 816));
        assert!(!slowed(&[("n_rtt_sample", Value::Integer(21))], 100, 200), "a round of 20 samples");
        assert!(slowed(&[("n_rtt_sample", Value::Integer(20))], 100, 200));
    }

    /// RFC 9406 section 4.2: L packets per acknowledgement, without pacing.
    #[test]
    fn an_unpaced_sender_grows_by_eight_packets_for_an_acknowledgement() {
        use crate::testing::{Ack, at};
        let grown = |changes: &[(&'static str, Value)]| {
            let mut s = sender("cubic", changes);
            Ack::new(at(1000), 100_000).tell(&mut *s);
            packets(&*s) - 10
        };
        assert_eq!(grown(&[]), 100);
        assert_eq!(grown(&[("pacing", Value::Flag(false))]), 8);
        assert_eq!(grown(&[("l", Value::Integer(3))]), 3);
    }

    /// RFC 9406 section 4.3: only for the initial slow start; section 4.2: congestion ends it.
    #[test]
    fn a_later_slow_start_is_the_standard_one() {
        let mut s = sender("newreno", &[]);
        let mut path = Path::new();
        path.round(&mut *s, ms(100), 0);
        let now = path.now;
        lose(&mut *s, now, now, 1);
        s.on_signal(&crate::Signal::PersistentCongestion);
        path.round(&mut *s, ms(100), 0);
        path.round(&mut *s, ms(200), 0);
        assert_eq!((packets(&*s), s.state()), (8, "slow_start"));
    }
}
