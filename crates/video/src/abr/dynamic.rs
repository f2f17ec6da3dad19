//! By throughput while the buffer is low, by BOLA while it is high: the default of dash.js (DYNAMIC; Spiteri, Sitaraman,
//! Sparacio, MMSys 2018).

use super::abandonment::{AbandonOptions, StableOptions};
use super::bola::{Bola, BolaOptions, PlaceholderOptions, VariantOptions};
use super::throughput::{RateOptions, Throughput, ThroughputOptions};
use super::{Abr, Choice, Underway, View};
use units::parameter::{Options, Row};
use units::{Duration, Rate};

/// The options of the change between two algorithms, and theirs.
#[derive(Debug, Clone, Copy, Options)]
struct DynamicOptions {
    /// when to change to BOLA and back: by the buffer alone (dash.js), or if the other one would also choose more
    /// (paper)
    #[option(default = "dash.js")]
    rule: Rule,
    /// buffer above which BOLA chooses; stable_buffer if not set, and 10 s with rule = "paper"
    switch_on: Option<Duration>,
    /// buffer below which throughput chooses again; half of switch_on if not set, all of it with rule = "paper"
    switch_off: Option<Duration>,
    #[options]
    stable: StableOptions,
    #[options]
    shared: VariantOptions,
    #[options]
    placeholder: PlaceholderOptions,
    #[options]
    rate: RateOptions,
    #[options]
    abandon: AbandonOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, units::parameter::Choice)]
enum Rule {
    #[word("dash.js")]
    ByBuffer,
    #[word("paper")]
    ByBoth,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "dynamic",
    about: "as dash.js: by throughput while the buffer is low, by BOLA while it is high",
    parameters: DynamicOptions::PARAMETERS,
    build: &|arguments| Box::new(Dynamic::new(DynamicOptions::of(arguments))),
};

/// The buffer at which the rule of the paper changes.
const PAPER: Duration = Duration::from_secs(10);

/// Two algorithms, one of which chooses.
#[derive(Debug, Clone)]
pub struct Dynamic {
    throughput: Throughput,
    bola: Bola,
    rule: Rule,
    switch_on: Duration,
    switch_off: Duration,
    is_bola: bool,
}

impl Dynamic {
    fn new(options: DynamicOptions) -> Dynamic {
        let DynamicOptions { rule, stable, shared, placeholder, rate, abandon, .. } = options;
        let usual = match rule {
            Rule::ByBuffer => stable.stable_buffer,
            Rule::ByBoth => PAPER,
        };
        let switch_on = options.switch_on.unwrap_or(usual);
        let switch_off = options.switch_off.unwrap_or(match rule {
            Rule::ByBuffer => switch_on / 2,
            Rule::ByBoth => switch_on,
        });
        let (stable_buffer, abandons) = (stable.stable_buffer, abandon.abandon);
        Dynamic {
            throughput: Throughput::new(&ThroughputOptions { rate, abandon, stable }),
            bola: Bola::new(BolaOptions { shared, stable_buffer, placeholder, rate, abandon: abandons }),
            rule,
            switch_on,
            switch_off,
            is_bola: false,
        }
    }

    /// By the buffer alone: dash.js.
    fn choose_by_buffer(&mut self, view: &View<'_>) -> Choice {
        let enough = if self.is_bola { self.switch_off } else { self.switch_on };
        self.is_bola = view.buffer > enough;
        if self.is_bola {
            return self.bola.choose(view);
        }
        let choice = self.throughput.choose(view);
        self.bola.note(view, choice.wait);
        choice
    }

    /// Both choose. BOLA takes over if it chooses no less, and hands over if it chooses less.
    fn choose_by_both(&mut self, view: &View<'_>) -> Choice {
        let (bola, throughput) = (self.bola.choose(view), self.throughput.choose(view));
        if self.is_bola {
            let is_low = view.buffer < self.switch_off;
            self.is_bola = !(is_low && bola.representation < throughput.representation);
        } else {
            let is_high = view.buffer > self.switch_on;
            self.is_bola = is_high && bola.representation >= throughput.representation;
        }
        let choice = if self.is_bola { bola } else { throughput };
        self.bola.note(view, choice.wait);
        choice
    }
}

impl Abr for Dynamic {
    fn choose(&mut self, view: &View<'_>) -> Choice {
        match self.rule {
            Rule::ByBuffer => self.choose_by_buffer(view),
            Rule::ByBoth => self.choose_by_both(view),
        }
    }
    fn on_download(&mut self, view: &View<'_>) {
        self.throughput.on_download(view);
        self.bola.on_download(view);
    }
    fn abandon(&mut self, view: &View<'_>, underway: &Underway) -> Option<usize> {
        let lower = self.throughput.abandon(view, underway)?;
        self.bola.give_up(view, underway.segment, lower);
        Some(lower)
    }
    fn on_seek(&mut self) {
        self.throughput.on_seek();
        self.bola.on_seek();
        self.is_bola = false;
    }
    fn estimate(&self) -> Option<Rate> {
        self.throughput.estimate()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LADDER, Strip, download, view};
    use super::*;
    use units::Time;

    /// After three downloads at 3 Mbit/s.
    fn dynamic(line: &Strip, options: &[(&str, &str)]) -> Dynamic {
        let mut abr = Dynamic::new(DynamicOptions::written(options).unwrap());
        for segment in 0..3 {
            let downloads = [download(segment, 375_000, [0, 0, 1000])];
            abr.on_download(&View {
                downloads: &downloads,
                ..view(line, segment + 1, Some(0), 4000, 40_000)
            });
        }
        abr
    }

    fn at(abr: &mut Dynamic, line: &Strip, buffer: u64) -> (bool, usize) {
        let choice = abr.choose(&view(line, 3, Some(6), buffer, 40_000));
        (abr.is_bola, choice.representation)
    }

    #[test]
    fn dash_js_changes_by_the_buffer_with_hysteresis() {
        let line = Strip::new(&LADDER, 9, 3);
        let mut abr = dynamic(&line, &[]);
        assert_eq!(at(&mut abr, &line, 12_000), (false, 6), "2,700 kbit/s");
        assert_eq!(at(&mut abr, &line, 12_001), (true, 6), "BOLA-E starts by throughput");
        assert!(at(&mut abr, &line, 6001).0);
        assert_eq!(at(&mut abr, &line, 6000), (false, 6));
        assert!(!at(&mut abr, &line, 12_000).0);
        let mut abr = dynamic(&line, &[("switch_on", "20 s"), ("switch_off", "1 s")]);
        assert!(
            !at(&mut abr, &line, 20_000).0 && at(&mut abr, &line, 20_001).0 && at(&mut abr, &line, 1001).0
        );
        abr.on_seek();
        assert!(!at(&mut abr, &line, 19_999).0);
    }

    /// BOLA-BASIC with a buffer of 25 s chooses 2,056 kbit/s from 15.97 s on, as much as the throughput allows, and 688 at 14 s.
    #[test]
    fn the_paper_also_compares() {
        let line = Strip::new(&LADDER, 9, 3);
        let mut abr =
            dynamic(&line, &[("rule", "paper"), ("variant", "bola-basic"), ("insufficient_buffer", "false")]);
        assert_eq!(at(&mut abr, &line, 14_000), (false, 6), "BOLA would choose less");
        let (is_bola, chosen) = at(&mut abr, &line, 19_000);
        assert!(is_bola && chosen >= 6);
        assert!(at(&mut abr, &line, 10_000).0, "not below 10 s");
        assert_eq!(at(&mut abr, &line, 9999), (false, 6));
    }

    #[test]
    fn one_rule_of_abandonment_for_both() {
        let line = Strip::new(&LADDER, 9, 3);
        let mut abr = dynamic(&line, &[("abandon_samples", "1"), ("switch_on", "2 s")]);
        assert!(at(&mut abr, &line, 5000).0);
        let now = Time::ZERO + Duration::from_secs(2);
        let view = View { now, ..view(&line, 3, Some(9), 4000, 40_000) };
        let (total, asked_at) = (2_250_000, Time::ZERO);
        let underway =
            Underway { segment: 3, representation: 9, bytes: 100_000, total, asked_at, first_at: asked_at };
        assert_eq!(abr.abandon(&view, &underway), Some(1), "331 of 360 kbit/s");
        assert_eq!(abr.choose(&view).representation, 1);
    }
}
