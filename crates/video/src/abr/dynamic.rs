//! By throughput while the buffer is low, by BOLA while it is high: the default of dash.js (DYNAMIC; Spiteri, Sitaraman,
//! Sparacio, MMSys 2018).

use super::abandonment;
use super::bola::{self, Bola};
use super::estimate;
use super::insufficient_buffer;
use super::throughput::{SAFETY_FACTOR, Throughput};
use super::{Abr, Choice, INITIAL_BITRATE, Underway, View};
use units::parameter::{Arguments, Kind, Parameter, Row};
use units::{Duration, Rate};

const RULE: &str = "rule";
const SWITCH_ON: &str = "switch_on";
const SWITCH_OFF: &str = "switch_off";
const RULES: &[&str] = &["dash.js", "paper"];

pub(crate) const ROW: Row<super::Build> = Row {
    name: "dynamic",
    about: "as dash.js: by throughput while the buffer is low, by BOLA while it is high",
    parameters: &[
        Parameter::with_default(
            RULE,
            Kind::Choice(RULES),
            "\"dash.js\"",
            "when to change to BOLA and back: by the buffer alone (dash.js), or if the other one would also choose more (paper)",
        ),
        Parameter::optional(
            SWITCH_ON,
            Kind::Duration,
            "buffer above which BOLA chooses; stable_buffer if not set, and 10 s with rule = \"paper\"",
        ),
        Parameter::optional(
            SWITCH_OFF,
            Kind::Duration,
            "buffer below which throughput chooses again; half of switch_on if not set, all of it with \
             rule = \"paper\"",
        ),
        abandonment::STABLE_BUFFER,
        bola::VARIANT,
        bola::OSCILLATION,
        bola::GP,
        bola::BMAX,
        bola::MINIMUM_BUFFER,
        bola::MINIMUM_BUFFER_PER_LEVEL,
        bola::PLACEHOLDER_DECAY,
        SAFETY_FACTOR,
        estimate::HALF_LIFE_FAST,
        estimate::HALF_LIFE_SLOW,
        estimate::LATENCY_HALF_LIFE_FAST,
        estimate::LATENCY_HALF_LIFE_SLOW,
        estimate::DEAD_TIME_LATENCY,
        INITIAL_BITRATE,
        insufficient_buffer::INSUFFICIENT_BUFFER,
        insufficient_buffer::INSUFFICIENT_BUFFER_FACTOR,
        insufficient_buffer::INSUFFICIENT_BUFFER_IGNORE,
        abandonment::ABANDON,
        abandonment::ABANDON_GRACE,
        abandonment::ABANDON_MULTIPLIER,
        abandonment::ABANDON_SAMPLES,
    ],
    build: &|arguments| Box::new(Dynamic::new(arguments)),
};

/// The buffer at which the rule of the paper changes.
const PAPER: Duration = Duration::from_secs(10);

/// Two algorithms, one of which chooses.
#[derive(Debug, Clone)]
pub struct Dynamic {
    throughput: Throughput,
    bola: Bola,
    compares: bool,
    switch_on: Duration,
    switch_off: Duration,
    is_bola: bool,
}

impl Dynamic {
    /// Reads the options of its row.
    pub fn new(arguments: &Arguments) -> Dynamic {
        let compares = RULES.iter().position(|word| *word == arguments.text(RULE)) == Some(1);
        let given = |option: &str| arguments.has(option).then(|| arguments.duration(option));
        let usual = if compares { PAPER } else { arguments.duration(abandonment::STABLE_BUFFER.name) };
        let switch_on = given(SWITCH_ON).unwrap_or(usual);
        let switch_off = given(SWITCH_OFF).unwrap_or(if compares { switch_on } else { switch_on / 2 });
        Dynamic {
            throughput: Throughput::new(arguments),
            bola: Bola::new(arguments),
            compares,
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
        if self.compares { self.choose_by_both(view) } else { self.choose_by_buffer(view) }
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
    use super::super::testing::{LADDER, Strip, arguments, download, view};
    use super::*;
    use units::Time;

    /// After three downloads at 3 Mbit/s.
    fn dynamic(line: &Strip, options: &[(&str, &str)]) -> Dynamic {
        let mut abr = Dynamic::new(&arguments(&ROW, options));
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
