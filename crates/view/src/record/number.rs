//! Numbers of a qlog.

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::value::RawValue;

use super::LATEST_MS;

/// One more than what a variable-length integer of RFC 9000 section 16 can say.
const LARGEST: u64 = 1 << 62;

/// More bytes than a packet could have, even if somebody logs several as one.
const LONGEST: i64 = 1 << 32;

/// An integer of the protocol, which some stacks write as text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Integer(pub(super) i64);

impl Integer {
    /// As a number of bytes in a packet.
    pub(super) fn size(self) -> Option<i64> {
        (self.0 <= LONGEST).then_some(self.0)
    }
}

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Integer;

            fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                to.write_str("an integer of QUIC")
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Integer, E> {
                if value < LARGEST { Ok(Integer(value as i64)) } else { Err(E::custom("too large")) }
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Integer, E> {
                let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let value = text.parse().ok().filter(|_| is_plain);
                value.ok_or_else(|| E::custom("no integer")).and_then(|value| self.visit_u64(value))
            }
        }
        from.deserialize_any(Either)
    }
}

/// A number with all its digits: those of JSON's reader are not always the nearest double.
pub(super) fn number(raw: &RawValue) -> Option<f64> {
    let text = raw.get();
    text.starts_with(|first: char| first == '-' || first.is_ascii_digit()).then(|| text.parse().ok())?
}

/// A time or a span in milliseconds, as nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Milliseconds(i64);

impl Milliseconds {
    pub(super) fn nanoseconds(self) -> i64 {
        self.0
    }

    pub(super) fn of(raw: &RawValue) -> Option<Self> {
        let value = number(raw).filter(|value| value.abs() < LATEST_MS)?;
        // Integers have no rounding.
        if let Ok(whole) = raw.get().parse::<i64>() {
            return Some(Self(whole * 1_000_000));
        }
        Some(Self((value * 1e6).round_ties_even() as i64))
    }
}

impl<'de> Deserialize<'de> for Milliseconds {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(from)?;
        Self::of(raw).ok_or_else(|| D::Error::custom("no number of milliseconds"))
    }
}
