//! The data of the events that are read, in the current schema and those of other stacks.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::frames::{Frames, Scratch};
use super::number::number;
use super::{Integer, kind, present};
use crate::packets::{Packet, space};

/// From here on a gauge means "none": windows without a limit are written as the largest integer of some type.
const NO_LIMIT: f64 = (1u64 << 42) as f64;

#[derive(Deserialize)]
pub(super) struct Header<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    packet_type: Option<&'a str>,
    #[serde(default, deserialize_with = "present")]
    packet_number: Option<Integer>,
    #[serde(default, deserialize_with = "present")]
    packet_size: Option<Integer>,
}

#[derive(Deserialize)]
pub(super) struct Raw {
    #[serde(default, deserialize_with = "present")]
    length: Option<Integer>,
}

/// A packet that was declared lost.
#[derive(Deserialize)]
pub(super) struct Lost<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    header: Option<Header<'a>>,
    #[serde(borrow, default, deserialize_with = "present")]
    packet_type: Option<&'a str>,
    // So it is called by aioquic.
    #[serde(borrow, default, deserialize_with = "present", rename = "type")]
    other_type: Option<&'a str>,
    #[serde(default, deserialize_with = "present")]
    packet_number: Option<Integer>,
    #[serde(borrow, default, deserialize_with = "present")]
    trigger: Option<&'a str>,
}

impl<'a> Lost<'a> {
    /// Type, number and trigger.
    pub(super) fn known(&self) -> Option<(&'static str, i64, &'a str)> {
        let above = self.packet_type.or(self.other_type);
        let (word, number) = match &self.header {
            Some(header) => (header.packet_type.or(above)?, header.packet_number?),
            None => (above?, self.packet_number?),
        };
        Some((kind(word)?, number.0, self.trigger.unwrap_or_default()))
    }
}

/// The gauges of recovery. Those that are null are not there.
#[derive(Deserialize)]
pub(super) struct Metrics<'a> {
    #[serde(borrow)]
    congestion_window: Option<&'a RawValue>,
    // So it is called by aioquic, and by mvfst.
    #[serde(borrow)]
    cwnd: Option<&'a RawValue>,
    #[serde(borrow)]
    current_cwnd: Option<&'a RawValue>,
    #[serde(borrow)]
    bytes_in_flight: Option<&'a RawValue>,
    #[serde(borrow)]
    ssthresh: Option<&'a RawValue>,
    #[serde(borrow)]
    smoothed_rtt: Option<&'a RawValue>,
    #[serde(borrow)]
    latest_rtt: Option<&'a RawValue>,
    #[serde(borrow)]
    min_rtt: Option<&'a RawValue>,
    #[serde(borrow)]
    pacing_rate: Option<&'a RawValue>,
}

impl Metrics<'_> {
    /// The gauges by their places, with their values; none if one is no number.
    pub(super) fn values(&self) -> Option<impl Iterator<Item = (usize, f64)>> {
        let given = [
            self.congestion_window.or(self.cwnd).or(self.current_cwnd),
            self.bytes_in_flight,
            self.ssthresh,
            self.smoothed_rtt,
            self.latest_rtt,
            self.min_rtt,
            self.pacing_rate,
        ];
        let mut values = [f64::NAN; 7];
        for (value, raw) in values.iter_mut().zip(given) {
            if let Some(raw) = raw {
                *value = number(raw)?;
            }
        }
        Some(values.into_iter().enumerate().filter(|(_, value)| (0.0..NO_LIMIT).contains(value)))
    }
}

/// Data that went from one place to another.
#[derive(Deserialize)]
pub(super) struct Moved<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    from: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "present")]
    to: Option<&'a str>,
    #[serde(default, deserialize_with = "present")]
    stream_id: Option<Integer>,
    #[serde(default, deserialize_with = "present")]
    offset: Option<Integer>,
    #[serde(default, deserialize_with = "present")]
    length: Option<Integer>,
    #[serde(default, deserialize_with = "present")]
    raw: Option<Raw>,
}

impl Moved<'_> {
    /// The stream and the offset behind what the application wrote. Other moves, or without a place, tell nothing.
    pub(super) fn written(&self) -> Option<(i64, i64)> {
        let length = self.length.or(self.raw.as_ref().and_then(|raw| raw.length));
        if self.from != Some("application") || self.to != Some("transport") {
            return None;
        }
        Some((self.stream_id?.0, self.offset?.0 + length?.0))
    }
}

/// Reads the data of a packet.
pub(super) struct PacketSeed<'a> {
    packet: &'a mut Packet,
    scratch: &'a mut Scratch,
}

impl PacketSeed<'_> {
    /// Reads into a packet whose time is known; none if there is any doubt.
    pub(super) fn read(data: &str, packet: &mut Packet, scratch: &mut Scratch) -> Option<()> {
        packet.streams.clear();
        packet.acks.clear();
        packet.resets.clear();
        packet.others.clear();
        packet.credit.clear();
        let mut from = serde_json::Deserializer::from_str(data);
        PacketSeed { packet, scratch }.deserialize(&mut from).ok()?;
        from.end().ok()
    }
}

impl<'de> DeserializeSeed<'de> for PacketSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for PacketSeed<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("the data of a packet")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let mut header: Option<Header<'de>> = None;
        let mut raw: Option<Raw> = None;
        let mut above = Header { packet_type: None, packet_number: None, packet_size: None };
        let mut other_type: Option<&'de str> = None;
        let mut has_frames = false;
        while let Some(key) = map.next_key::<&'de str>()? {
            let is_new = match key {
                "header" => header.replace(map.next_value()?).is_none(),
                "raw" => raw.replace(map.next_value()?).is_none(),
                "packet_type" => above.packet_type.replace(map.next_value()?).is_none(),
                "type" => other_type.replace(map.next_value()?).is_none(),
                "packet_number" => above.packet_number.replace(map.next_value()?).is_none(),
                "packet_size" => above.packet_size.replace(map.next_value()?).is_none(),
                "frames" => {
                    map.next_value_seed(Frames { packet: &mut *self.packet, scratch: &mut *self.scratch })?;
                    !std::mem::replace(&mut has_frames, true)
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    true
                }
            };
            if !is_new {
                return Err(M::Error::custom("a key stands twice"));
            }
        }
        let doubt = || M::Error::custom("not the usual header");
        // A stateless reset has no header that could be read.
        let word = header.as_ref().and_then(|header| header.packet_type).or(above.packet_type).or(other_type);
        let word = kind(word.ok_or_else(doubt)?).ok_or_else(doubt)?;
        let header = header.unwrap_or(above);
        self.packet.number = match space(word) {
            Some(_) => header.packet_number.ok_or_else(doubt)?.0,
            None => -1,
        };
        self.packet.kind.clear();
        self.packet.kind.push_str(word);
        self.packet.size = match raw.and_then(|raw| raw.length).or(header.packet_size) {
            Some(size) => size.size().ok_or_else(doubt)?,
            None => -1,
        };
        Ok(())
    }
}
