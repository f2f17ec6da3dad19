//! Pages according to the 3GPP model of web browsing (3GPP2 C.R1002, 3GPP TR 25.892; IEEE 802.16m-08/004 section 10.1;
//! ns-3's `ThreeGppHttpVariables`): one main object, a few embedded ones, parsing and reading times.

use super::drawn::{Draws, quantity};
use super::request_options::RequestOptions;
use super::{Built, Fault, Kind, Laws, Model, Page, Pages};
use random::{Beyond, Generator, Law};
use units::parameter::{Arguments, Options, Row};
use units::{Duration, Size};

/// The options of the model of 3GPP.
#[derive(Debug, Clone, Options)]
struct ThreeGppOptions {
    /// bytes of a main object: mean of the log-normal law without bounds
    #[option(default = "10710 B")]
    main_size_mean: Size,
    /// bytes of a main object: its standard deviation
    #[option(default = "25032 B")]
    main_size_deviation: Size,
    /// bytes of a main object: the smallest
    #[option(default = "100 B")]
    main_size_min: Size,
    /// bytes of a main object: the largest
    #[option(default = "2 MB")]
    main_size_max: Size,
    /// bytes of an embedded object: mean of the log-normal law without bounds
    #[option(default = "7758 B")]
    embedded_size_mean: Size,
    /// bytes of an embedded object: its standard deviation
    #[option(default = "126168 B")]
    embedded_size_deviation: Size,
    /// bytes of an embedded object: the smallest
    #[option(default = "50 B")]
    embedded_size_min: Size,
    /// bytes of an embedded object: the largest
    #[option(default = "2 MB")]
    embedded_size_max: Size,
    /// embedded objects: scale of the Pareto law, which is subtracted from the number drawn
    #[option(default = 2, within = 1..=1_000)]
    embedded_count_scale: u64,
    /// embedded objects: shape of the Pareto law
    #[option(default = 1.1, within = 1e-3..=1e3)]
    embedded_count_shape: f64,
    /// embedded objects: upper bound of the Pareto law, before the scale is subtracted
    #[option(default = 55, within = 1..=5_000)]
    embedded_count_max: u64,
    /// mean time from the complete main object to the requests for what it names (exponential)
    #[option(default = "130 ms")]
    parsing_mean: Duration,
    /// mean time between two pages (exponential)
    #[option(default = "30 s")]
    reading_mean: Duration,
    #[options]
    request: RequestOptions,
}

pub(super) const ROW: Row<Model> = Row {
    name: "3gpp",
    about: "web pages of 3GPP's evaluations: one main object, 5.64 embedded ones on average, parsing and reading times",
    parameters: ThreeGppOptions::PARAMETERS,
    build: Model { laws: |arguments| laws(&ThreeGppOptions::of(arguments)), pages, notes: |_| Vec::new() },
};

const MAIN_SIZE: usize = 0;
const EMBEDDED_SIZE: usize = 1;
const EMBEDDED_COUNT: usize = 2;
const PARSING: usize = 3;
const READING: usize = 4;

/// The maximum of parsing and reading times as a multiple of the mean. It is not part of the model, but a run must end.
const LONGEST_MEANS: f64 = 1e6;

fn laws(options: &ThreeGppOptions) -> Result<Laws, Fault> {
    // Sizes out of bounds are drawn again.
    let size = |sizes: [Size; 4]| {
        let [mean, deviation, least, most] = sizes.map(|size| size.as_bytes() as f64);
        log_normal(mean, deviation).within(least, most, Beyond::Redraw)
    };
    let main = size([
        options.main_size_mean,
        options.main_size_deviation,
        options.main_size_min,
        options.main_size_max,
    ]);
    let embedded = size([
        options.embedded_size_mean,
        options.embedded_size_deviation,
        options.embedded_size_min,
        options.embedded_size_max,
    ]);
    // The model moves the probability mass beyond the bound to the bound itself, which gives its mean of 5.64.
    let scale = options.embedded_count_scale as f64;
    let count = Law::Pareto { scale, shape: options.embedded_count_shape };
    let count = count.within(scale, options.embedded_count_max as f64, Beyond::Clamp);
    let time = |mean: Duration| {
        let mean = mean.as_secs_f64();
        if mean == 0.0 {
            return Law::Constant(0.0).unbounded();
        }
        Law::Exponential { rate: 1.0 / mean }.within(0.0, LONGEST_MEANS * mean, Beyond::Redraw)
    };
    Ok(vec![
        quantity("main-size", "main_size_max", main)?,
        quantity("embedded-size", "embedded_size_max", embedded)?,
        quantity("embedded-count", "embedded_count_max", count)?,
        quantity("parsing", "parsing_mean", time(options.parsing_mean))?,
        quantity("reading", "reading_mean", time(options.reading_mean))?,
    ])
}

/// The log-normal law with this mean and standard deviation.
fn log_normal(mean: f64, deviation: f64) -> Law {
    let variance = (deviation / mean).powi(2).ln_1p();
    Law::LogNormal { mu: mean.ln() - variance / 2.0, sigma: variance.sqrt() }
}

fn pages(arguments: &Arguments, stream: &mut Generator) -> Built {
    let options = ThreeGppOptions::of(arguments);
    let draws = Draws::of(&laws(&options)?, stream);
    Ok(Box::new(DrawnPages { draws, scale: options.embedded_count_scale, request: options.request }))
}

struct DrawnPages {
    draws: Vec<Draws>,
    scale: u64,
    request: RequestOptions,
}

impl Pages for DrawnPages {
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
    use super::super::testing::pages_of;
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
        for (option, value, at_fault) in [
            ("main_size_min", "3 MB", "main_size_max"),
            ("embedded_count_max", "1", "embedded_count_max"),
            ("main_size_mean", "0 B", "main_size_max"),
        ] {
            let options = ThreeGppOptions::written(&[(option, value)]).unwrap();
            assert_eq!(laws(&options).unwrap_err().0, at_fault);
        }
    }
}
