//! Loss models and jitters with any options, under any sequence of packets.

use super::STEPS;
use crate::jitter::{self, JITTERS};
use crate::loss::{self, LOSSES};
use crate::packet::Packet;
use random::Generator;
use units::parameter::{Arguments, Default, File, Kind, Parameter, Value};
use units::{Duration, Time};

/// Runs a loss model: one byte for the row, one for its options, then one for each packet. Returns which packets are lost;
/// nothing if no packet ever is, or if the options are refused.
///
/// # Panics
/// If what is certain of the model does not hold after a packet.
pub fn losses(data: &[u8]) -> Vec<bool> {
    let Some((row, options, packets)) = split(data) else { return Vec::new() };
    let row = &LOSSES[row % LOSSES.len()];
    let built = loss::build(row.name, &drawn(row.parameters, options), stream(options));
    let Ok(Some(mut loss)) = built else { return Vec::new() };
    loss.check();
    let at = std::net::SocketAddr::from(([10, 0, 0, 1], 1000));
    let judge = |(done, byte): (Time, u8)| {
        let mut packet = Packet::new(at, at, Vec::new(), None);
        packet.data = byte & 1 == 0;
        let lost = loss.loses(done, &packet);
        loss.check();
        lost
    };
    packets.map(judge).collect()
}

/// Runs a jitter like [`losses`]. Returns the shifts in nanoseconds.
///
/// # Panics
/// If what is certain of the jitter does not hold after a packet.
pub fn jitters(data: &[u8]) -> Vec<i64> {
    let Some((row, options, packets)) = split(data) else { return Vec::new() };
    let row = &JITTERS[row % JITTERS.len()];
    let built = jitter::build(row.name, &drawn(row.parameters, options), stream(options));
    let Ok(Some(mut jitter)) = built else { return Vec::new() };
    jitter.check();
    let judge = |(done, _): (Time, u8)| {
        let shift = jitter.shift(done);
        jitter.check();
        shift
    };
    packets.map(judge).collect()
}

/// The row, the byte of its options, and the packets with the times at which their transmissions end.
fn split(data: &[u8]) -> Option<(usize, u8, impl Iterator<Item = (Time, u8)>)> {
    let ([row, options], packets) = data.split_first_chunk::<2>()?;
    let mut now = Time::ZERO;
    let timed = packets.iter().map(move |byte| {
        now += Duration::from_nanos(STEPS[usize::from(byte >> 5)]);
        (now, *byte)
    });
    Some((usize::from(*row), *options, timed))
}

fn stream(options: u8) -> Generator {
    Generator::new(options.into(), "fuzz")
}

/// The options of a row: two bits of the byte choose each value; those that may be absent are so for every other byte.
fn drawn(parameters: &[Parameter], byte: u8) -> Arguments {
    let values = parameters.iter().zip(0..).filter_map(|(option, at)| {
        let absent = option.default == Default::Absent && byte & 1 == 0;
        (!absent).then(|| (option.name, value(option.kind, usize::from(byte.rotate_right(at) & 3))))
    });
    Arguments(values.collect())
}

/// One of a few values of a kind, its extremes among them.
fn value(kind: Kind, which: usize) -> Value {
    let longest = Duration::from_nanos(u64::MAX);
    let spans = [Duration::ZERO, Duration::from_micros(1), Duration::from_millis(7), longest];
    match kind {
        Kind::Duration => Value::Duration(spans[which]),
        Kind::Probability => Value::Number([0.0, 0.01, 0.5, 1.0][which]),
        Kind::Integer(least, most) => Value::Integer([least, 3, 17, most][which].clamp(least, most)),
        Kind::Flag => Value::Flag(which % 2 == 1),
        Kind::File(example) => Value::File(File {
            path: "the-file".to_owned(),
            text: ["", "0 1\n", example, example][which].into(),
        }),
        // One number twice, and not in order.
        Kind::List(item) => Value::List((0..which + 2).map(|at| value(*item, (at * 3) % 4)).collect()),
        Kind::Pairs(left, right) => Value::List(
            (0..=which)
                .map(|at| Value::List(vec![value(*left, at), value(*right, (which + at) % 4)]))
                .collect(),
        ),
        other => panic!("no loss model or jitter has an option of the kind {other:?}"),
    }
}
