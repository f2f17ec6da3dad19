//! RobustMPC: Yin, Jindal, Sekar, Sinopoli, "A Control-Theoretic Approach for Dynamic Adaptive Video Streaming over HTTP",
//! SIGCOMM 2015, with the details of the implementation of Mao, Netravali, Alizadeh (Pensieve, SIGCOMM 2017).

use super::estimate::Harmonic;
use super::search::{Plan, Search, Terms};
use super::{Abr, Choice, StartOptions, View, bits, highest_at_most, rate_of};
use crate::quality::{Scale, Weights};
use units::parameter::{Options, Row};
use units::{Duration, Rate};

/// The options of RobustMPC.
#[derive(Debug, Clone, Copy, Options)]
struct MpcOptions {
    /// segments to look ahead (N)
    #[option(default = 5, within = 1..=10)]
    horizon: usize,
    /// downloads whose harmonic mean throughput is the prediction
    #[option(default = 5, within = 1..=64)]
    samples: usize,
    /// predictions whose worst relative error e divides it, by 1 + e (RobustMPC, section 4.3); 0 is the plain MPC
    #[option(default = 5, within = 0..=64)]
    errors: usize,
    /// quality of a bitrate: in Mbit/s (lin), its logarithm (log), or by the table of Pensieve (hd)
    #[option(default = "lin")]
    quality: Scale,
    /// weight of a second of stalls (mu); 4.3, 2.66 or 8 by the quality if not set (Pensieve, table 1)
    #[option(within = 0.0..=1e6)]
    rebuffering: Option<f64>,
    /// weight of changes of quality (lambda)
    #[option(default = 1.0, within = 0.0..=1e6)]
    switching: f64,
    #[options]
    start: StartOptions,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "mpc",
    about: "RobustMPC (Yin et al. 2015): the best quality of experience of the next segments at a cautious throughput",
    parameters: MpcOptions::PARAMETERS,
    build: &|arguments| Box::new(Mpc::new(&MpcOptions::of(arguments))),
};

/// The plan of the next segments with the best quality of experience, of which the first is asked for.
#[derive(Debug, Clone)]
pub struct Mpc {
    horizon: usize,
    scale: Scale,
    weights: Weights,
    initial: Rate,
    prediction: Harmonic,
    search: Search,
}

impl Mpc {
    fn new(options: &MpcOptions) -> Mpc {
        let usual = options.quality.weights();
        let rebuffering = options.rebuffering.unwrap_or(usual.rebuffering);
        Mpc {
            horizon: options.horizon,
            scale: options.quality,
            weights: Weights { rebuffering, switching: options.switching, ..usual },
            initial: options.start.bitrate(),
            prediction: Harmonic::new(options.samples, options.errors),
            search: Search::default(),
        }
    }

    /// The quality of a representation of a segment.
    fn quality(&self, view: &View<'_>, segment: usize, rate: Rate) -> f64 {
        self.scale.quality(rate, view.line.bitrates(segment)[0])
    }

    /// The best plan at a throughput in bit/s.
    fn plan(&mut self, view: &View<'_>, throughput: f64) -> Plan {
        let last = view.last_bitrate().map(|rate| self.quality(view, view.segment.saturating_sub(1), rate));
        let end = view.line.segments().min(view.segment + self.horizon).max(view.segment + 1);
        let mut search = std::mem::take(&mut self.search);
        search.clear();
        for segment in view.segment..end {
            let representations =
                view.line.bitrates(segment).iter().enumerate().map(|(representation, rate)| {
                    let size = view.line.size(segment, representation) as f64 * 8.0;
                    (self.quality(view, segment, *rate), size / throughput)
                });
            search.add(view.line.duration(segment).as_secs_f64(), representations);
        }
        let terms = Terms {
            rebuffering: self.weights.rebuffering,
            switching: self.weights.switching,
            max_buffer: view.max_buffer.as_secs_f64(),
        };
        let plan = search.solve(&terms, view.buffer.as_secs_f64(), last);
        self.search = search;
        plan
    }
}

impl Abr for Mpc {
    fn choose(&mut self, view: &View<'_>) -> Choice {
        let representation = match self.prediction.throughput() {
            None => highest_at_most(view.line.bitrates(view.segment), bits(self.initial)),
            Some(throughput) => self.plan(view, throughput.max(1e-3)).first,
        };
        Choice { representation, wait: Duration::ZERO }
    }
    fn on_download(&mut self, view: &View<'_>) {
        if let Some(download) = view.downloads.last() {
            self.prediction.add(download);
        }
    }
    fn estimate(&self) -> Option<Rate> {
        self.prediction.throughput().map(rate_of)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LADDER, Strip, download, rates, view};
    use super::*;
    use proptest::prelude::*;
    use units::parameter::Choice as _;

    /// After a download of 1 s at this many kbit/s.
    fn mpc(options: &[(&str, &str)], line: &Strip, kbit: u64) -> Mpc {
        let mut abr = Mpc::new(&MpcOptions::written(options).unwrap());
        let downloads = [download(0, kbit * 125, [0, 0, 1000])];
        abr.on_download(&View { downloads: &downloads, ..view(line, 1, Some(0), 4000, 60_000) });
        abr
    }

    /// Segments of 4 s at 1 and 3 Mbit/s, a throughput of 2 Mbit/s: they take 2 and 6 s. Two segments ahead, from 1 Mbit/s.
    #[test]
    fn two_segments_by_hand() {
        let line = Strip::new(&[1000, 3000], 9, 4);
        let mut abr = mpc(&[("horizon", "2")], &line, 2000);
        let mut at = |buffer| abr.choose(&view(&line, 1, Some(0), buffer, 60_000)).representation;
        // 1, 1: 2 without stalls. 1, 3: 4 - 2 = 2, 4 s of buffer suffice. 3, 3: 6 - 2 = 4, and 8 s of buffer.
        assert_eq!(at(8000), 1);
        // 3, 1: 4 - 4 = 0. 3, 3 stalls for 1 s with 7 s of buffer: -0.3. Equal first segments of 1, 1 and 1, 3.
        assert_eq!(at(7000), 0);
        assert_eq!(at(0), 0);
        // 3, 3 stalls for 0.4 s: 4 - 1.72 = 2.28.
        assert_eq!(at(7600), 1);
        assert_eq!(abr.estimate(), Some(Rate::from_bits_per_sec(2_000_000)));
    }

    /// Segments of 4 s at 1 and 3 Mbit/s, 1.5 Mbit/s, from 1 Mbit/s. The next one is small (0.67 or 2 s), the one after it
    /// not (2.67 or 8 s). With 6 s of buffer, 8 s are left after 3 Mbit/s: enough for 3, 3 (4 without stalls). But where
    /// the limit is 10 s the player asks for the second one with 6 s left, and 2 s of stalls cost 8.6.
    #[test]
    fn a_segment_waits_until_it_has_room() {
        let (duration, ladder) = (Duration::from_secs(4), rates(&[1000, 3000]));
        let line = Strip { duration, ladders: vec![ladder; 3], permille: vec![1000, 250, 1000] };
        let mut abr = mpc(&[("horizon", "2")], &line, 1500);
        let mut at = |limit| abr.choose(&view(&line, 1, Some(0), 6000, limit)).representation;
        assert_eq!((at(12_000), at(10_000)), (1, 0));
    }

    #[test]
    fn a_horizon_ends_with_the_presentation() {
        let line = Strip::new(&[1000, 3000], 9, 4);
        let mut abr = mpc(&[], &line, 2000);
        // The last segment alone: 3 - 2 = 1 is no better than 1, which stays; with 3 before, 3 is better than 1 - 2.
        assert_eq!(abr.choose(&view(&line, 8, Some(1), 6000, 60_000)).representation, 1);
        assert_eq!(abr.choose(&view(&line, 8, Some(1), 0, 60_000)).representation, 0, "a stall of 6 s");
    }

    #[test]
    fn weights_follow_the_scale() {
        let line = Strip::new(&LADDER, 9, 3);
        let of = |options: &[(&str, &str)]| mpc(options, &line, 2000).weights.rebuffering;
        assert_eq!((of(&[]), of(&[("quality", "log")]), of(&[("quality", "hd")])), (4.3, 2.66, 8.0));
        assert_eq!(of(&[("quality", "hd"), ("rebuffering", "3.0")]), 3.0);
    }

    #[test]
    fn nothing_known_and_one_representation() {
        let line = Strip::new(&LADDER, 9, 3);
        let fresh = |options| Mpc::new(&MpcOptions::written(options).unwrap());
        assert_eq!(fresh(&[]).choose(&view(&line, 0, None, 0, 60_000)).representation, 0);
        let initial = fresh(&[("initial_bitrate", "1 Mbit/s")]).choose(&view(&line, 0, None, 0, 60_000));
        assert_eq!(initial.representation, 4);
        let one = Strip::new(&[1000], 9, 3);
        assert_eq!(mpc(&[], &one, 10).choose(&view(&one, 8, Some(0), 0, 60_000)).representation, 0);
    }

    /// The value of the best plan, and the first representations with which it is reached, by trying all.
    fn exhaustive(abr: &Mpc, view: &View<'_>, throughput: f64, first: Option<usize>) -> f64 {
        let end = view.line.segments().min(view.segment + abr.horizon);
        let last = view.last_bitrate().map(|rate| abr.quality(view, view.segment.saturating_sub(1), rate));
        fn rest(
            abr: &Mpc,
            view: &View<'_>,
            at: (usize, usize),
            state: (f64, Option<f64>, f64),
            first: Option<usize>,
        ) -> f64 {
            let (segment, end) = at;
            let (buffer, last, throughput) = state;
            if segment == end {
                return 0.0;
            }
            let bitrates = view.line.bitrates(segment);
            let mut best = f64::NEG_INFINITY;
            for (representation, rate) in bitrates.iter().enumerate() {
                if first.is_some_and(|first| first != representation) {
                    continue;
                }
                let quality = abr.quality(view, segment, *rate);
                let time = view.line.size(segment, representation) as f64 * 8.0 / throughput;
                let duration = view.line.duration(segment).as_secs_f64();
                // The player asks for it when it has room.
                let buffer = buffer.min((view.max_buffer.as_secs_f64() - duration).max(0.0));
                let stall = (time - buffer).max(0.0);
                let after = (buffer - time).max(0.0) + duration;
                let change = last.map_or(0.0, |last| (quality - last).abs());
                let value = quality - abr.weights.rebuffering * stall - abr.weights.switching * change;
                best = best.max(
                    value + rest(abr, view, (segment + 1, end), (after, Some(quality), throughput), None),
                );
            }
            best
        }
        rest(abr, view, (view.segment, end), (view.buffer.as_secs_f64(), last, throughput), first)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// Its choice begins a plan that is as good as the best of all plans.
        #[test]
        fn the_search_is_exact(
            ladders in proptest::collection::vec(proptest::collection::vec(100u64..8000, 1..6), 6),
            permille in proptest::collection::vec(300u64..2000, 6),
            segment in 0usize..6,
            last in proptest::option::of(0usize..6),
            buffer in 0u64..30_000,
            kbit in 50u64..12_000,
            quality in 0usize..3,
            switching in 0u8..3,
        ) {
            let ladders: Vec<_> = ladders.into_iter().map(|mut ladder| { ladder.sort_unstable(); rates(&ladder) }).collect();
            let line = Strip { duration: Duration::from_secs(3), ladders, permille };
            let switching = f64::from(switching).to_string();
            let options = [("quality", Scale::WORDS[quality]), ("switching", switching.as_str()), ("horizon", "4")];
            let mut abr = mpc(&options, &line, kbit);
            let view = view(&line, segment, last, buffer, 20_000);
            let throughput = kbit as f64 * 1000.0;
            let Plan { value, first: chosen } = abr.plan(&view, throughput);
            let best = exhaustive(&abr, &view, throughput, None);
            let found = exhaustive(&abr, &view, throughput, Some(chosen));
            prop_assert!((best - found).abs() < 1e-9, "{chosen}: {found} instead of {best}");
            prop_assert!((value - best).abs() < 1e-9);
        }
    }
}
