//! Options of a connection drawn from every row of the table, so that new options are included at once.

use quic::Config;
use random::Generator;
use units::parameter::{Kind, Options as _, Parameter, Value};
use units::{Duration, Size};

/// Bounds that keep a case short, or able to finish; all other rows are drawn from the whole range of their kind.
fn bounds(name: &str) -> Option<(u64, u64)> {
    Some(match name {
        // Durations in microseconds.
        "initial_rtt" => (1_000, 500_000),
        "max_ack_delay" => (1_000, 200_000),
        "max_idle_timeout" => (8_000_000, 40_000_000),
        "retry_token_lifetime" => (8_000_000, 40_000_000),
        "keep_alive" => (50_000, 20_000_000),
        // Sizes in bytes: without any credit there would be no transfer.
        "initial_max_data" => (3_000, 200_000),
        "initial_max_stream_data_bidi_local"
        | "initial_max_stream_data_bidi_remote"
        | "initial_max_stream_data_uni" => (2_000, 100_000),
        "send_buffer" => (2_000, 100_000),
        "send_queue" => (3_000, 200_000),
        "send_queue_low" => (0, 200_000),
        // Numbers.
        "initial_max_streams_bidi" | "initial_max_streams_uni" => (1, 20),
        "max_udp_payload" => (1200, 9000),
        "initial_window" => (1, 100),
        "pacing_burst" | "pacing_quantum" => (1, 40),
        "ack_ratio" | "peer_ack_ratio" => (1, 20),
        "min_ack_delay" | "peer_max_ack_delay" => (0, 100_000),
        "peer_reordering_threshold" => (0, 10),
        "key_update_after" => (1, 500),
        _ => return None,
    })
}

/// A number between the two, of any magnitude.
fn between(random: &mut Generator, (low, high): (u64, u64)) -> u64 {
    let span = high - low;
    let digits = 64 - span.leading_zeros();
    let masked =
        if digits == 0 { 0 } else { random.bits() >> (64 - 1 - random.below(u64::from(digits)) as u32) };
    low + masked.min(span)
}

/// A value of an option of any kind but components.
pub(crate) fn value(random: &mut Generator, parameter: &Parameter) -> Option<Value> {
    let bounds = bounds(parameter.name);
    Some(match parameter.kind {
        Kind::Duration => {
            Value::Duration(Duration::from_micros(between(random, bounds.unwrap_or((0, 2_000_000)))))
        }
        Kind::Size => Value::Size(Size::from_bytes(between(random, bounds.unwrap_or((0, 1_000_000))))),
        Kind::Integer(low, high) => Value::Integer(between(random, bounds.unwrap_or((low, high)))),
        Kind::Flag => Value::Flag(random.chance(0.5)),
        Kind::Preference(_) => {
            // All support 1: without a common version there would be no connection.
            let lists: [&[&str]; 3] = [&["1"], &["1", "2"], &["2", "1"]];
            let words = lists[random.below(lists.len() as u64) as usize].iter();
            Value::List(words.map(|word| Value::Text((*word).to_owned())).collect())
        }
        Kind::Choice(words) => Value::Text(words[random.below(words.len() as u64) as usize].to_owned()),
        _ => return None,
    })
}

/// Options of a connection, each default or drawn.
pub(crate) fn config(random: &mut Generator) -> Config {
    let mut given = Vec::new();
    for parameter in Config::PARAMETERS {
        let needs = matches!(
            parameter.name,
            "initial_max_data"
                | "initial_max_stream_data_bidi_local"
                | "initial_max_stream_data_bidi_remote"
                | "initial_max_stream_data_uni"
                | "send_buffer"
                | "max_idle_timeout"
        );
        let drawn = if needs || random.chance(0.5) { value(random, parameter) } else { None };
        given.extend(drawn.map(|value| (parameter.name, value)));
    }
    Config::with(&given).unwrap()
}
