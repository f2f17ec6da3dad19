//! Rounds: each measures every case once, so that a change of the machine's speed affects all of them.

use crate::case::{Case, Ratio, Transfer};

/// One line of the results.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// The case's name.
    pub(crate) case: &'static str,
    /// The median of all rounds.
    pub(crate) value: f64,
    /// The unit of the value.
    pub(crate) unit: &'static str,
    /// The lowest and the highest of all rounds.
    pub(crate) range: (f64, f64),
    /// One sentence.
    pub(crate) about: &'static str,
    /// What the last round transferred.
    pub(crate) transfer: Option<Transfer>,
}

/// Measures every case `rounds` times, in turn, after one round that does not count, and calls `progress` after
/// each measurement.
pub(crate) fn measure(
    cases: &mut [Box<dyn Case>],
    ratios: &[Ratio],
    rounds: usize,
    progress: &mut dyn FnMut(usize, &str, f64),
) -> Vec<Row> {
    let mut values = vec![Vec::with_capacity(rounds); cases.len()];
    for round in 0..=rounds {
        for (case, values) in cases.iter_mut().zip(&mut values) {
            let value = case.run();
            progress(round, case.name(), value);
            if round > 0 {
                values.push(value);
            }
        }
    }
    let mut rows = Vec::with_capacity(cases.len() + ratios.len());
    for (case, values) in cases.iter().zip(&values) {
        let row = row(case.name(), case.unit(), case.about(), values);
        rows.push(Row { transfer: case.transfer(), ..row });
    }
    let of = |name: &str| cases.iter().position(|case| case.name() == name).map(|index| &values[index]);
    for ratio in ratios {
        // There is no ratio if one of its cases was not selected.
        let (Some(over), Some(under)) = (of(ratio.over), of(ratio.under)) else { continue };
        let quotients: Vec<f64> = over.iter().zip(under).map(|(over, under)| over / under).collect();
        rows.push(row(ratio.name, "ratio", ratio.about, &quotients));
    }
    rows
}

fn row(case: &'static str, unit: &'static str, about: &'static str, values: &[f64]) -> Row {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let range = (sorted[0], sorted[sorted.len() - 1]);
    Row { case, value: median(&sorted), unit, range, about, transfer: None }
}

/// The middle one of the sorted values, or the mean of the middle two.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scripted(&'static str, std::slice::Iter<'static, f64>);

    impl Case for Scripted {
        fn name(&self) -> &'static str {
            self.0
        }
        fn unit(&self) -> &'static str {
            "us"
        }
        fn about(&self) -> &'static str {
            ""
        }
        fn run(&mut self) -> f64 {
            *self.1.next().expect("a value for each round")
        }
    }

    fn scripted(name: &'static str, values: &'static [f64]) -> Box<dyn Case> {
        Box::new(Scripted(name, values.iter()))
    }

    const RATIOS: &[Ratio] = &[
        Ratio { name: "a-over-b", over: "a", under: "b", about: "" },
        Ratio { name: "a-over-c", over: "a", under: "c", about: "" },
    ];

    #[test]
    fn the_first_round_does_not_count_and_the_median_is_reported() {
        let mut cases = [scripted("a", &[900.0, 3.0, 1.0, 2.0]), scripted("b", &[900.0, 1.0, 4.0, 4.0])];
        let mut told = Vec::new();
        let rows = measure(&mut cases, RATIOS, 3, &mut |round, name, _| told.push((round, name.to_owned())));
        assert_eq!(
            told.iter().map(|(round, name)| format!("{round}{name}")).collect::<String>(),
            "0a0b1a1b2a2b3a3b"
        );
        assert_eq!((rows[0].value, rows[0].range), (2.0, (1.0, 3.0)));
        assert_eq!((rows[1].value, rows[1].range), (4.0, (1.0, 4.0)));
        // Round by round: 3/1, 1/4, 2/4.
        assert_eq!((rows[2].case, rows[2].value), ("a-over-b", 0.5));
        assert_eq!(rows.len(), 3, "there is no case c");
    }

    #[test]
    fn an_even_number_of_rounds_has_the_mean_of_the_middle_two() {
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), 3.0);
    }
}
