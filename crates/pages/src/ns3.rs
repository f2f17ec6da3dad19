//! Pages according to the model of the million most visited sites (Pries, Magyari, Tran-Gia, NGI 2012), as in the
//! extended QUIC module of ns-3 (Paro et al., MSWiM 2020, Table 1): the fitted laws, truncated at the measured maxima.

use super::drawn::{Draws, quantity};
use super::request_options::RequestOptions;
use super::{Built, Fault, Kind, Laws, Model, Page, Pages};
use random::{Beyond, Generator, Law};
use units::parameter::{Arguments, Options, Row};
use units::{Duration, Size};

/// The options of the model of ns-3.
#[derive(Debug, Clone, Options)]
struct Ns3Options {
    /// bytes of a main object: scale of the Weibull law
    #[option(default = 28242.8, within = 1e-9..=1e9)]
    main_size_scale: f64,
    /// bytes of a main object: shape of the Weibull law
    #[option(default = 0.814944, within = 1e-9..=1e9)]
    main_size_shape: f64,
    /// bytes of a main object: the largest
    #[option(default = "8 MB")]
    main_size_max: Size,
    /// main objects: mean of the logarithm
    #[option(default = 0.473844, within = -100.0..=100.0)]
    main_count_mu: f64,
    /// main objects: standard deviation of the logarithm
    #[option(default = 0.688471, within = 1e-9..=1e9)]
    main_count_sigma: f64,
    /// main objects: the most
    #[option(default = 212, within = 1..=5_000)]
    main_count_max: u64,
    /// bytes of an embedded object: mean of the logarithm
    #[option(default = 9.17979, within = -100.0..=100.0)]
    embedded_size_mu: f64,
    /// bytes of an embedded object: deviation of the logarithm
    #[option(default = 1.24646, within = 1e-9..=1e9)]
    embedded_size_sigma: f64,
    /// bytes of an embedded object: the largest
    #[option(default = "8 MB")]
    embedded_size_max: Size,
    /// embedded objects of a page: inverse of the exponential law's mean
    #[option(default = 0.03132, within = 1e-9..=1e9)]
    embedded_count_rate: f64,
    /// embedded objects of a page: the most
    #[option(default = 1920, within = 1..=5_000)]
    embedded_count_max: u64,
    /// seconds between two pages: mean of the logarithm
    #[option(default = -0.495204, within = -100.0..=100.0)]
    reading_mu: f64,
    /// seconds between two pages: standard deviation of the logarithm
    #[option(default = 2.7731, within = 1e-9..=1e9)]
    reading_sigma: f64,
    /// time between two pages: the longest
    #[option(default = "10000 s")]
    reading_max: Duration,
    #[options]
    request: RequestOptions,
}

pub(super) const ROW: Row<Model> = Row {
    name: "ns3",
    about: "pages of the most visited sites of 2012: several main objects, some 32 embedded ones (ns-3's QUIC module)",
    parameters: Ns3Options::PARAMETERS,
    build: Model { laws: |arguments| laws(&Ns3Options::of(arguments)), pages, notes: |_| Vec::new() },
};

const MAIN_SIZE: usize = 0;
const MAIN_COUNT: usize = 1;
const EMBEDDED_SIZE: usize = 2;
const EMBEDDED_COUNT: usize = 3;
const READING: usize = 4;

fn laws(options: &Ns3Options) -> Result<Laws, Fault> {
    let up_to = |law: Law, most: f64| law.within(0.0, most, Beyond::Redraw);
    let main_size = up_to(
        Law::Weibull { scale: options.main_size_scale, shape: options.main_size_shape },
        options.main_size_max.as_bytes() as f64,
    );
    let main_count = up_to(
        Law::LogNormal { mu: options.main_count_mu, sigma: options.main_count_sigma },
        options.main_count_max as f64,
    );
    let embedded_size = up_to(
        Law::LogNormal { mu: options.embedded_size_mu, sigma: options.embedded_size_sigma },
        options.embedded_size_max.as_bytes() as f64,
    );
    let embedded_count =
        up_to(Law::Exponential { rate: options.embedded_count_rate }, options.embedded_count_max as f64);
    let reading = up_to(
        Law::LogNormal { mu: options.reading_mu, sigma: options.reading_sigma },
        options.reading_max.as_secs_f64(),
    );
    // In the order of the constants above.
    Ok(vec![
        quantity("main-size", "main_size_max", main_size)?,
        quantity("main-count", "main_count_max", main_count)?,
        quantity("embedded-size", "embedded_size_max", embedded_size)?,
        quantity("embedded-count", "embedded_count_max", embedded_count)?,
        quantity("reading", "reading_max", reading)?,
    ])
}

fn pages(arguments: &Arguments, stream: &mut Generator) -> Built {
    let options = Ns3Options::of(arguments);
    let draws = Draws::of(&laws(&options)?, stream);
    Ok(Box::new(DrawnPages { draws, parents: stream.fork("parents"), request: options.request }))
}

struct DrawnPages {
    draws: Vec<Draws>,
    /// Selects the main object that names an embedded one.
    parents: Generator,
    request: RequestOptions,
}

impl Pages for DrawnPages {
    fn next(&mut self) -> Page {
        let mains = self.draws[MAIN_COUNT].whole(1);
        let embedded = self.draws[EMBEDDED_COUNT].whole(0);
        let mut objects = Vec::new();
        for place in 0..mains {
            let bytes = self.draws[MAIN_SIZE].whole(1);
            // The first is the document of the page, which names the others (scripts and frames of other sites).
            let after: &[u32] = if place == 0 { &[] } else { &[0] };
            objects.push(self.request.object(Kind::Main, bytes, after, Duration::ZERO));
        }
        for _ in 0..embedded {
            let bytes = self.draws[EMBEDDED_SIZE].whole(1);
            let parent = self.parents.below(mains) as u32;
            objects.push(self.request.object(Kind::Embedded, bytes, &[parent], Duration::ZERO));
        }
        Page { objects, reading: self.draws[READING].seconds() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::pages_of;
    use super::*;

    #[test]
    fn pages_of_ns3_have_the_shape_of_the_model() {
        for page in pages_of(&ROW, &[], 1, 500) {
            assert_eq!(page.check(), Ok(()));
            let mains = page.objects.iter().filter(|object| object.kind == Kind::Main).count();
            assert!((1..=212).contains(&mains) && page.objects.len() - mains <= 1920);
            // Main objects first, and all but the first named by the first.
            for (place, object) in page.objects.iter().enumerate() {
                let main = place < mains;
                assert_eq!(object.kind == Kind::Main, main);
                assert_eq!(object.after.len(), usize::from(place > 0));
                assert!(
                    object.after.iter().all(|after| (after.object as usize) < if main { 1 } else { mains })
                );
                assert!((1..=8_000_000).contains(&object.bytes));
            }
            assert!(page.reading <= Duration::from_secs(10_000));
        }
    }

    #[test]
    fn numbers_of_objects_have_the_means_of_the_laws() {
        let pages = pages_of(&ROW, &[], 2, 20_000);
        let mean =
            |of: &dyn Fn(&Page) -> usize| pages.iter().map(of).sum::<usize>() as f64 / pages.len() as f64;
        let mains = |page: &Page| page.objects.iter().filter(|object| object.kind == Kind::Main).count();
        // exp(mu + sigma^2 / 2) = 2.036, plus 0.03 since draws below 0.5 become 1. Standard error 0.011.
        let found = mean(&mains);
        assert!((found - 2.06).abs() < 0.05, "{found}");
        // 1 / 0.03132 = 31.93. Standard error 0.23.
        let found = mean(&|page| page.objects.len() - mains(page));
        assert!((found - 31.93).abs() < 1.0, "{found}");
    }

    #[test]
    fn changing_one_law_does_not_change_other_draws() {
        let usual = pages_of(&ROW, &[], 3, 50);
        let larger = pages_of(&ROW, &[("main_size_scale", "90000.0")], 3, 50);
        assert_ne!(usual, larger);
        for (usual, larger) in usual.iter().zip(&larger) {
            let rest = |page: &Page| {
                let mut page = page.clone();
                page.objects
                    .iter_mut()
                    .filter(|object| object.kind == Kind::Main)
                    .for_each(|main| main.bytes = 0);
                page
            };
            assert_eq!(rest(usual), rest(larger));
        }
    }

    #[test]
    fn a_maximum_that_no_draw_reaches_is_refused() {
        let small = Ns3Options::written(&[("embedded_size_max", "2 B")]).unwrap();
        let (option, problem) = laws(&small).unwrap_err();
        assert_eq!(option, "embedded_size_max");
        assert!(problem.contains("of the law lies inside of its bounds"), "{problem}");
    }

    #[test]
    fn request_options_apply_to_every_object() {
        let options = [
            ("request", "\"1 kB\""),
            ("think", "\"5 ms\""),
            ("main_urgency", "0"),
            ("embedded_urgency", "5"),
        ];
        for object in pages_of(&ROW, &options, 4, 20).iter().flat_map(|page| &page.objects) {
            assert_eq!((object.request_bytes, object.think), (1_000, Duration::from_millis(5)));
            assert_eq!(object.priority.urgency, if object.kind == Kind::Main { 0 } else { 5 });
        }
    }
}
