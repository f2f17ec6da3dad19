//! Sources: generators of times and sizes, for the datagrams of cross traffic, which is neither answered nor
//! congestion-controlled, and for the messages of an application.

mod file;
mod mavlink;
mod on_off;

use crate::OptionError;
use random::Generator;
use units::Duration;
use units::parameter::{Arguments, Component, Options, Room, Row};

/// Generates the times and sizes of datagrams or messages.
pub trait Source {
    /// The time since the previous one (or since the start), and the size in bytes: of a datagram's UDP payload, or of
    /// a message. `None` if there are no more.
    fn next(&mut self) -> Option<(Duration, u64)>;
}

/// The properties of a source, given its options.
#[derive(Debug, Clone, Copy)]
pub struct Profile {
    /// Builds the source from checked options.
    pub build: fn(&Arguments, Generator) -> Box<dyn Source>,
    /// Checks that the options are consistent.
    pub check: fn(&Arguments) -> Result<(), OptionError>,
    /// The minimum and the maximum size in bytes, from checked options.
    pub sizes: fn(&Arguments) -> (u64, u64),
}

/// The maximum UDP payload over IPv4: 65535 bytes minus the headers of IP and UDP.
pub const LARGEST: u64 = 65_507;

/// The option of sources with one size.
#[derive(Debug, Clone, Copy, Options)]
struct SizeOptions {
    /// bytes of each UDP payload, of each message
    #[option(default = 1000, within = 1..=LARGEST)]
    size: u64,
}

/// The options of constant sources.
#[derive(Debug, Clone, Options)]
struct ConstantOptions {
    #[options]
    each: SizeOptions,
    /// time between packets or messages
    gap: Duration,
}

/// The options of Poisson sources.
#[derive(Debug, Clone, Options)]
struct PoissonOptions {
    #[options]
    each: SizeOptions,
    /// mean time between packets or messages
    gap: Duration,
}

/// The options of uniform sources.
#[derive(Debug, Clone, Options)]
struct UniformOptions {
    /// bytes of the smallest UDP payload
    #[option(within = 1..=LARGEST)]
    smallest: u64,
    /// bytes of the largest UDP payload; no less than smallest
    #[option(within = 1..=LARGEST)]
    largest: u64,
    /// shortest time between two datagrams
    shortest: Duration,
    /// longest time between two datagrams; no less than shortest
    longest: Duration,
}

/// The sources.
pub static SOURCES: &[Row<Profile>] = &[
    Row {
        name: "constant",
        about: "one size at one interval",
        parameters: ConstantOptions::PARAMETERS,
        build: Profile {
            build: |arguments, _| {
                let ConstantOptions { each, gap } = ConstantOptions::of(arguments);
                Box::new(Constant { gap, size: each.size })
            },
            check: |arguments| above_zero("gap", ConstantOptions::of(arguments).gap),
            sizes: one_size,
        },
    },
    Row {
        name: "poisson",
        about: "one size at exponential intervals",
        parameters: PoissonOptions::PARAMETERS,
        build: Profile {
            build: |arguments, stream| {
                let PoissonOptions { each, gap } = PoissonOptions::of(arguments);
                Box::new(Poisson { gap: gap.as_nanos() as f64, size: each.size, stream })
            },
            check: |arguments| above_zero("gap", PoissonOptions::of(arguments).gap),
            sizes: one_size,
        },
    },
    Row {
        name: "uniform",
        about: "uniform sizes at uniform intervals",
        parameters: UniformOptions::PARAMETERS,
        build: Profile {
            build: |arguments, stream| {
                let options = UniformOptions::of(arguments);
                let gaps = (options.shortest.as_nanos(), options.longest.as_nanos());
                Box::new(Uniform { sizes: (options.smallest, options.largest), gaps, stream })
            },
            check: |arguments| check_uniform(&UniformOptions::of(arguments)),
            sizes: |arguments| {
                let options = UniformOptions::of(arguments);
                (options.smallest, options.largest)
            },
        },
    },
    on_off::ROW,
    mavlink::ROW,
    file::ROW,
];

/// The table of sources for scenarios and `quiclab list`.
pub fn room() -> Room {
    Room::of("sources", "when cross traffic or messages leave, and how large they are", SOURCES, None)
        .checked_by(check)
}

/// Builds the source with this name; `None` if there is no such row.
pub fn build(name: &str, arguments: &Arguments, stream: Generator) -> Option<Box<dyn Source>> {
    find(name).map(|profile| (profile.build)(arguments, stream))
}

/// Checks that the options are consistent.
///
/// # Errors
/// If a maximum is below the minimum, if endlessly many datagrams would be sent at one instant, or if a file is
/// invalid.
pub fn check(name: &str, arguments: &Arguments) -> Result<(), OptionError> {
    find(name).map_or(Ok(()), |profile| (profile.check)(arguments))
}

/// The minimum and the maximum size in bytes of the source with this name, from checked options.
pub fn sizes(name: &str, arguments: &Arguments) -> (u64, u64) {
    find(name).map_or((0, 0), |profile| (profile.sizes)(arguments))
}

/// What a user should know about the file of a valid component of this room: what was skipped and rounded in it.
pub fn notes(component: &Component) -> Vec<String> {
    if component.name == file::ROW.name { file::notes(&component.arguments) } else { Vec::new() }
}

fn find(name: &str) -> Option<&'static Profile> {
    SOURCES.iter().find(|row| row.name == name).map(|row| &row.build)
}

fn above_zero(option: &'static str, span: Duration) -> Result<(), OptionError> {
    if span.is_zero() { Err((option, "0 s; expected a time above zero".to_owned())) } else { Ok(()) }
}

/// The sizes of a source with a fixed size.
fn one_size(arguments: &Arguments) -> (u64, u64) {
    let SizeOptions { size } = SizeOptions::of(arguments);
    (size, size)
}

fn check_uniform(options: &UniformOptions) -> Result<(), OptionError> {
    let UniformOptions { smallest, largest, shortest, longest } = *options;
    if largest < smallest {
        return Err(("largest", format!("{largest} is below smallest; expected {smallest} or more")));
    }
    if longest < shortest || longest.is_zero() {
        let least =
            if shortest.is_zero() { "a time above zero".to_owned() } else { format!("{shortest} or more") };
        return Err(("longest", format!("{longest} is too short; expected {least}")));
    }
    Ok(())
}

struct Constant {
    gap: Duration,
    size: u64,
}

impl Source for Constant {
    fn next(&mut self) -> Option<(Duration, u64)> {
        Some((self.gap, self.size))
    }
}

struct Poisson {
    /// The mean in nanoseconds.
    gap: f64,
    size: u64,
    stream: Generator,
}

impl Source for Poisson {
    fn next(&mut self) -> Option<(Duration, u64)> {
        let gap = self.stream.exponential() * self.gap;
        Some((Duration::from_nanos(gap.round() as u64), self.size))
    }
}

struct Uniform {
    sizes: (u64, u64),
    /// In nanoseconds.
    gaps: (u64, u64),
    stream: Generator,
}

impl Source for Uniform {
    fn next(&mut self) -> Option<(Duration, u64)> {
        let mut draw = |(from, to): (u64, u64)| from + self.stream.below((to - from).saturating_add(1));
        let gap = draw(self.gaps);
        Some((Duration::from_nanos(gap), draw(self.sizes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(name: &str, options: &[(&str, &str)]) -> Arguments {
        let row = SOURCES.iter().find(|row| row.name == name).unwrap();
        Arguments::written(row.parameters, options, &[]).unwrap()
    }

    /// The mean, minimum and maximum of 100 000 draws: gaps in milliseconds, sizes in bytes.
    fn drawn(name: &str, options: &[(&str, &str)]) -> [[f64; 3]; 2] {
        let arguments = arguments(name, options);
        assert_eq!(check(name, &arguments), Ok(()));
        let mut source = build(name, &arguments, Generator::new(1, "source")).unwrap();
        let draws: Vec<_> = (0..100_000).map(|_| source.next().unwrap()).collect();
        let of = |values: Vec<f64>| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            [mean, least, values.iter().copied().fold(0.0, f64::max)]
        };
        [
            of(draws.iter().map(|(gap, _)| gap.as_secs_f64() * 1e3).collect()),
            of(draws.iter().map(|(_, size)| *size as f64).collect()),
        ]
    }

    #[test]
    fn draws_follow_the_law() {
        let bounds = [("smallest", "100"), ("largest", "1000"), ("shortest", "25 ms"), ("longest", "100 ms")];
        let [gaps, sizes] = drawn("uniform", &bounds);
        assert!((gaps[0] - 62.5).abs() < 0.3 && gaps[1] >= 25.0 && gaps[2] <= 100.0, "{gaps:?}");
        assert!(gaps[1] < 25.1 && gaps[2] > 99.9);
        assert!((sizes[0] - 550.0).abs() < 3.0 && (sizes[1], sizes[2]) == (100.0, 1000.0), "{sizes:?}");

        let options = [("size", "7"), ("gap", "10 ms")];
        assert_eq!(drawn("constant", &options), [[10.0; 3], [7.0; 3]].map(|row| row));
        let [gaps, sizes] = drawn("poisson", &options);
        assert!((gaps[0] - 10.0).abs() < 0.1 && gaps[2] > 80.0, "{gaps:?}");
        assert_eq!(sizes, [7.0; 3]);
    }

    #[test]
    fn inconsistent_options_are_rejected() {
        let uniform = |sizes: (u64, u64), gaps: (u64, u64)| {
            let ms = Duration::from_millis;
            let options = UniformOptions {
                smallest: sizes.0,
                largest: sizes.1,
                shortest: ms(gaps.0),
                longest: ms(gaps.1),
            };
            check_uniform(&options).map_err(|(option, _)| option)
        };
        assert_eq!(uniform((5, 5), (3, 3)), Ok(()));
        assert_eq!(uniform((5, 4), (3, 3)), Err("largest"));
        assert_eq!(uniform((5, 5), (3, 2)), Err("longest"));
        assert_eq!(uniform((5, 5), (0, 0)), Err("longest"));
        let constant = arguments("constant", &[("size", "1"), ("gap", "0 s")]);
        assert_eq!(check("constant", &constant).map_err(|(option, _)| option), Err("gap"));
    }
}
