//! Handovers at given times.

use super::{Build, Trigger};
use units::parameter::{Arguments, Options, Row};
use units::{Duration, Time};

/// The options of handovers at given times.
#[derive(Debug, Clone, Options)]
struct TimesOptions {
    /// [time, site] pairs by rising time, sites counted from 0; before the first time, site 0 serves
    #[option(within = 0..=63)]
    steps: Vec<(Duration, usize)>,
}

pub(super) const ROW: Row<Build> = Row {
    name: "times",
    about: "the serving site changes at given times",
    parameters: TimesOptions::PARAMETERS,
    build: Build {
        build: |arguments, _| Some(Box::new(Times { steps: steps(arguments), next: 0 })),
        check: |arguments, sites, _| check(&steps(arguments), sites),
    },
};

fn steps(arguments: &Arguments) -> Vec<(Time, usize)> {
    let steps = TimesOptions::of(arguments).steps;
    steps.into_iter().map(|(at, site)| (Time::ZERO + at, site)).collect()
}

fn check(steps: &[(Time, usize)], sites: usize) -> Result<(), String> {
    if steps.is_empty() {
        return Err("no steps; expected at least one, or \"none\"".to_owned());
    }
    if let Some(pair) = steps.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        return Err(format!("{} does not come after {}; expected rising times", pair[1].0, pair[0].0));
    }
    match steps.iter().find(|(_, site)| *site >= sites) {
        Some((_, site)) => {
            Err(format!("no site {site}; expected 0 to {}: option sites has {sites}", sites - 1))
        }
        None => Ok(()),
    }
}

struct Times {
    steps: Vec<(Time, usize)>,
    next: usize,
}

impl Trigger for Times {
    fn start(&mut self, _: &mut dyn FnMut(usize) -> f64) -> usize {
        let first = self.steps.first().filter(|(at, _)| *at == Time::ZERO);
        self.next = usize::from(first.is_some());
        first.map_or(0, |(_, site)| *site)
    }
    fn next(&self) -> Option<Time> {
        self.steps.get(self.next).map(|(at, _)| *at)
    }
    fn decide(&mut self, _: usize, _: bool, _: &mut dyn FnMut(usize) -> f64) -> usize {
        let (_, site) = self.steps.get(self.next).expect("a decision is due at the time of a step");
        self.next += 1;
        *site
    }
}
