//! Pages according to the 3GPP model of web browsing (3GPP2 C.R1002, 3GPP TR 25.892; IEEE 802.16m-08/004 section 10.1;
//! ns-3's `ThreeGppHttpVariables`): one main object, a few embedded ones, parsing and reading times.

use super::drawn::{Draws, quantity};
use super::request_options::{EMBEDDED_URGENCY, MAIN_URGENCY, REQUEST, RequestOptions, THINK};
use super::{Built, Fault, Kind, Laws, Model, Page, Pages};
use random::{Beyond, Law, Stream};
use units::Duration;
use units::parameter::{Arguments, Default, Kind as OptionKind, Parameter, Row};

const fn option(
    name: &'static str,
    kind: OptionKind,
    default: &'static str,
    about: &'static str,
) -> Parameter {
    Parameter { name, kind, default: Default::Is(default), about }
}

pub(super) const ROW: Row<Model> = Row {
    name: "3gpp",
    about: "web pages of 3GPP's evaluations: one main object, 5.64 embedded ones on average, parsing and reading times",
    parameters: &[
        option(
            "main_size_mean",
            OptionKind::Size,
            "\"10710 B\"",
            "bytes of a main object: mean of the log-normal law without bounds",
        ),
        option(
            "main_size_deviation",
            OptionKind::Size,
            "\"25032 B\"",
            "bytes of a main object: its standard deviation",
        ),
        option("main_size_min", OptionKind::Size, "\"100 B\"", "bytes of a main object: the smallest"),
        option("main_size_max", OptionKind::Size, "\"2 MB\"", "bytes of a main object: the largest"),
        option(
            "embedded_size_mean",
            OptionKind::Size,
            "\"7758 B\"",
            "bytes of an embedded object: mean of the log-normal law without bounds",
        ),
        option(
            "embedded_size_deviation",
            OptionKind::Size,
            "\"126168 B\"",
            "bytes of an embedded object: its standard deviation",
        ),
        option(
            "embedded_size_min",
            OptionKind::Size,
            "\"50 B\"",
            "bytes of an embedded object: the smallest",
        ),
        option("embedded_size_max", OptionKind::Size, "\"2 MB\"", "bytes of an embedded object: the largest"),
        option(
            "embedded_count_scale",
            OptionKind::Integer(1, 1_000),
            "2",
            "embedded objects: scale of the Pareto law, which is subtracted from the number drawn",
        ),
        option(
            "embedded_count_shape",
            OptionKind::Number(1e-3, 1e3),
            "1.1",
            "embedded objects: shape of the Pareto law",
        ),
        option(
            "embedded_count_max",
            OptionKind::Integer(1, 5_000),
            "55",
            "embedded objects: upper bound of the Pareto law, before the scale is subtracted",
        ),
        option(
            "parsing_mean",
            OptionKind::Duration,
            "\"130 ms\"",
            "mean time from the complete main object to the requests for what it names (exponential)",
        ),
        option("reading_mean", OptionKind::Duration, "\"30 s\"", "mean time between two pages (exponential)"),
        REQUEST,
        THINK,
        MAIN_URGENCY,
        EMBEDDED_URGENCY,
    ],
    build: Model { laws, pages, notes: |_| Vec::new() },
};

const MAIN_SIZE: usize = 0;
const EMBEDDED_SIZE: usize = 1;
const EMBEDDED_COUNT: usize = 2;
const PARSING: usize = 3;
const READING: usize = 4;

/// The maximum of parsing and reading times as a multiple of the mean. It is not part of the model, but a run must end.
const LONGEST_MEANS: f64 = 1e6;

fn laws(arguments: &Arguments) -> Result<Laws, Fault> {
    let bytes = |name| arguments.size(name).as_bytes() as f64;
    // Sizes out of bounds are drawn again.
    let size = |mean, deviation, least, most| {
        log_normal(bytes(mean), bytes(deviation)).within(bytes(least), bytes(most), Beyond::Redraw)
    };
    let main = size("main_size_mean", "main_size_deviation", "main_size_min", "main_size_max");
    let embedded =
        size("embedded_size_mean", "embedded_size_deviation", "embedded_size_min", "embedded_size_max");
    // The model moves the probability mass beyond the bound to the bound itself, which gives its mean of 5.64.
    let scale = arguments.integer("embedded_count_scale") as f64;
    let count = Law::Pareto { scale, shape: arguments.number("embedded_count_shape") };
    let count = count.within(scale, arguments.integer("embedded_count_max") as f64, Beyond::Clamp);
    let time = |name| {
        let mean = arguments.duration(name).as_secs_f64();
        if mean == 0.0 {
            return Law::Constant(0.0).unbounded();
        }
        Law::Exponential { rate: 1.0 / mean }.within(0.0, LONGEST_MEANS * mean, Beyond::Redraw)
    };
    Ok(vec![
        quantity("main-size", "main_size_max", main)?,
        quantity("embedded-size", "embedded_size_max", embedded)?,
        quantity("embedded-count", "embedded_count_max", count)?,
        quantity("parsing", "parsing_mean", time("parsing_mean"))?,
        quantity("reading", "reading_mean", time("reading_mean"))?,
    ])
}

/// The log-normal law with this mean and standard deviation.
fn log_normal(mean: f64, deviation: f64) -> Law {
    let variance = (deviation / mean).powi(2).ln_1p();
    Law::LogNormal { mu: mean.ln() - variance / 2.0, sigma: variance.sqrt() }
}

fn pages(arguments: &Arguments, stream: &mut Stream) -> Built {
    let draws = Draws::of(&laws(arguments)?, stream);
    let scale = arguments.integer("embedded_count_scale");
    Ok(Box::new(Generator { draws, scale, request: RequestOptions::of(arguments) }))
}

struct Generator {
    draws: Vec<Draws>,
    scale: u64,
    request: RequestOptions,
}

impl Pages for Generator {
    fn next(&mut self) -> Page {
        let main = self.draws[MAIN_SIZE].whole(1);
        let embedded = self.draws[EMBEDDED_COUNT].whole(self.scale) - self.scale;
        let parsing = self.draws[PARSING].seconds();
        let mut objects = vec![self.request.object(Kind::Main, main, &[], Duration::ZERO)];
        for _ in 0..embedded {
            let bytes = self.draws[EMBEDDED_SIZE].whole(1);
            objects.push(self.request.object(Kind::Embedded, bytes, &[0], parsing));
        }
        Page { objects, reading: self.draws[READING].seconds() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::After;
    use super::super::testing::{arguments, pages_of};
    use super::*;

    #[test]
    fn mean_and_deviation_give_the_parameters_that_the_standard_prints() {
        for (mean, deviation, mu, sigma) in
            [(10_710.0, 25_032.0, 8.35, 1.37), (7_758.0, 126_168.0, 6.17, 2.36)]
        {
            let Law::LogNormal { mu: found, sigma: spread } = log_normal(mean, deviation) else {
                unreachable!()
            };
            assert!((found - mu).abs() < 0.005 && (spread - sigma).abs() < 0.005, "{found} {spread}");
        }
    }

    #[test]
    fn pages_have_the_shape_of_the_model() {
        for page in pages_of(&ROW, &[], 1, 500) {
            assert_eq!(page.check(), Ok(()));
            assert!(page.objects.len() <= 1 + 53);
            let main = &page.objects[0];
            assert!(
                main.kind == Kind::Main && main.after.is_empty() && (100..=2_000_000).contains(&main.bytes)
            );
            for object in &page.objects[1..] {
                assert!(
                    object.kind == Kind::Embedded
                        && object.after == [After::complete(0)]
                        && object.parsing == page.objects[1].parsing
                );
                assert!((50..=2_000_000).contains(&object.bytes));
            }
        }
    }

    /// 5.64 embedded objects as in the tables of the model, which requires that numbers above 55 count as 55.
    #[test]
    fn counts_and_times_have_the_expected_means() {
        let pages = pages_of(&ROW, &[], 2, 40_000);
        let mean = |of: &dyn Fn(&Page) -> f64| pages.iter().map(of).sum::<f64>() / pages.len() as f64;
        // Standard error 0.05.
        let embedded = mean(&|page| (page.objects.len() - 1) as f64);
        assert!((embedded - 5.64).abs() < 0.2, "{embedded}");
        let reading = mean(&|page| page.reading.as_secs_f64());
        assert!((reading - 30.0).abs() < 0.75, "{reading}");
    }

    #[test]
    fn times_can_be_zero() {
        let none = [("parsing_mean", "\"0 s\""), ("reading_mean", "\"0 s\"")];
        for page in pages_of(&ROW, &none, 3, 20) {
            assert!(page.reading.is_zero() && page.objects.iter().all(|object| object.parsing.is_zero()));
        }
    }

    #[test]
    fn bounds_that_cross_are_refused() {
        let crossed = arguments(&ROW, &[("main_size_min", "\"3 MB\"")]);
        assert_eq!(laws(&crossed).unwrap_err().0, "main_size_max");
        let crossed = arguments(&ROW, &[("embedded_count_max", "1")]);
        assert_eq!(laws(&crossed).unwrap_err().0, "embedded_count_max");
        let nothing = arguments(&ROW, &[("main_size_mean", "\"0 B\"")]);
        assert_eq!(laws(&nothing).unwrap_err().0, "main_size_max");
    }
}
