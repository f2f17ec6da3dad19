//! Sources: generators of times and sizes, for the datagrams of cross traffic, which is neither answered nor
//! congestion-controlled, and for the messages of an application.

mod file;
mod mavlink;
mod on_off;

use crate::OptionError;
use random::Stream;
use units::Duration;
use units::parameter::{Arguments, Component, Default, Kind, Parameter, Room, Row};

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
    pub build: fn(&Arguments, Stream) -> Box<dyn Source>,
    /// Checks that the options are consistent.
    pub check: fn(&Arguments) -> Result<(), OptionError>,
    /// The minimum and the maximum size in bytes, from checked options.
    pub sizes: fn(&Arguments) -> (u64, u64),
}

/// The maximum UDP payload over IPv4: 65535 bytes minus the headers of IP and UDP.
pub const LARGEST: u64 = 65_507;

const SIZE: Parameter = Parameter {
    name: "size",
    kind: Kind::Integer(1, LARGEST),
    default: Default::Is("1000"),
    about: "bytes of each UDP payload, of each message",
};

/// The sources.
pub static SOURCES: &[Row<Profile>] = &[
    Row {
        name: "constant",
        about: "one size at one interval",
        parameters: &[
            SIZE,
            Parameter {
                name: "gap",
                kind: Kind::Duration,
                default: Default::Required,
                about: "time between packets or messages",
            },
        ],
        build: Profile {
            build: |arguments, _| {
                Box::new(Constant { gap: arguments.duration("gap"), size: arguments.integer("size") })
            },
            check: check_gap,
            sizes: one_size,
        },
    },
    Row {
        name: "poisson",
        about: "one size at exponential intervals",
        parameters: &[
            SIZE,
            Parameter {
                name: "gap",
                kind: Kind::Duration,
                default: Default::Required,
                about: "mean time between packets or messages",
            },
        ],
        build: Profile {
            build: |arguments, stream| {
                Box::new(Poisson {
                    gap: arguments.duration("gap").as_nanos() as f64,
                    size: arguments.integer("size"),
                    stream,
                })
            },
            check: check_gap,
            sizes: one_size,
        },
    },
    Row {
        name: "uniform",
        about: "uniform sizes at uniform intervals",
        parameters: &[
            Parameter {
                name: "smallest",
                kind: Kind::Integer(1, LARGEST),
                default: Default::Required,
                about: "bytes of the smallest UDP payload",
            },
            Parameter {
                name: "largest",
                kind: Kind::Integer(1, LARGEST),
                default: Default::Required,
                about: "bytes of the largest UDP payload; no less than smallest",
            },
            Parameter {
                name: "shortest",
                kind: Kind::Duration,
                default: Default::Required,
                about: "shortest time between two datagrams",
            },
            Parameter {
                name: "longest",
                kind: Kind::Duration,
                default: Default::Required,
                about: "longest time between two datagrams; no less than shortest",
            },
        ],
        build: Profile {
            build: |arguments, stream| {
                let nanos = |name| arguments.duration(name).as_nanos();
                let gaps = (nanos("shortest"), nanos("longest"));
                Box::new(Uniform { sizes: uniform_sizes(arguments), gaps, stream })
            },
            check: check_uniform,
            sizes: uniform_sizes,
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
pub fn build(name: &str, arguments: &Arguments, stream: Stream) -> Option<Box<dyn Source>> {
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

fn check_gap(arguments: &Arguments) -> Result<(), OptionError> {
    above_zero("gap", arguments.duration("gap"))
}

/// The sizes of a source with a fixed size.
fn one_size(arguments: &Arguments) -> (u64, u64) {
    (arguments.integer("size"), arguments.integer("size"))
}

fn uniform_sizes(arguments: &Arguments) -> (u64, u64) {
    (arguments.integer("smallest"), arguments.integer("largest"))
}

fn check_uniform(arguments: &Arguments) -> Result<(), OptionError> {
    let (smallest, largest) = uniform_sizes(arguments);
    if largest < smallest {
        return Err(("largest", format!("{largest} is below smallest; expected {smallest} or more")));
    }
    let (shortest, longest) = (arguments.duration("shortest"), arguments.duration("longest"));
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
    stream: Stream,
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
    stream: Stream,
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
    use units::parameter::Value;

    fn ms(n: u64) -> Value {
        Value::Duration(Duration::from_millis(n))
    }

    /// The mean, minimum and maximum of 100 000 draws: gaps in milliseconds, sizes in bytes.
    fn drawn(name: &str, options: &[(&'static str, Value)]) -> [[f64; 3]; 2] {
        let arguments = Arguments(options.to_vec());
        assert_eq!(check(name, &arguments), Ok(()));
        let mut source = build(name, &arguments, Stream::new(1, "source")).unwrap();
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
        let bounds = [
            ("smallest", Value::Integer(100)),
            ("largest", Value::Integer(1000)),
            ("shortest", ms(25)),
            ("longest", ms(100)),
        ];
        let [gaps, sizes] = drawn("uniform", &bounds);
        assert!((gaps[0] - 62.5).abs() < 0.3 && gaps[1] >= 25.0 && gaps[2] <= 100.0, "{gaps:?}");
        assert!(gaps[1] < 25.1 && gaps[2] > 99.9);
        assert!((sizes[0] - 550.0).abs() < 3.0 && (sizes[1], sizes[2]) == (100.0, 1000.0), "{sizes:?}");

        let options = [("size", Value::Integer(7)), ("gap", ms(10))];
        assert_eq!(drawn("constant", &options), [[10.0; 3], [7.0; 3]].map(|row| row));
        let [gaps, sizes] = drawn("poisson", &options);
        assert!((gaps[0] - 10.0).abs() < 0.1 && gaps[2] > 80.0, "{gaps:?}");
        assert_eq!(sizes, [7.0; 3]);
    }

    #[test]
    fn inconsistent_options_are_rejected() {
        let uniform = |sizes: (u64, u64), gaps: (u64, u64)| {
            let arguments = Arguments(vec![
                ("smallest", Value::Integer(sizes.0)),
                ("largest", Value::Integer(sizes.1)),
                ("shortest", ms(gaps.0)),
                ("longest", ms(gaps.1)),
            ]);
            check("uniform", &arguments).map_err(|(option, _)| option)
        };
        assert_eq!(uniform((5, 5), (3, 3)), Ok(()));
        assert_eq!(uniform((5, 4), (3, 3)), Err("largest"));
        assert_eq!(uniform((5, 5), (3, 2)), Err("longest"));
        assert_eq!(uniform((5, 5), (0, 0)), Err("longest"));
        let constant = Arguments(vec![("size", Value::Integer(1)), ("gap", ms(0))]);
        assert_eq!(check("constant", &constant).map_err(|(option, _)| option), Err("gap"));
    }
}
