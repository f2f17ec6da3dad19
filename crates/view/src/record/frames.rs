//! The frames of a packet.

use std::fmt::{self, Write as _};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::number::{Integer, Milliseconds};
use crate::packets::{Ack, Credit, DATAGRAMS, Other, Packet, StreamFrame};

/// Words longer than this are cut off on the page.
const LONGEST_WORD: usize = 64;

/// The types of frames whose other spellings are left to the caller, and so are types that are not here.
const TYPES: [&str; 22] = [
    "padding",
    "ping",
    "ack",
    "reset_stream",
    "stop_sending",
    "crypto",
    "new_token",
    "stream",
    "max_data",
    "max_stream_data",
    "max_streams",
    "data_blocked",
    "stream_data_blocked",
    "streams_blocked",
    "new_connection_id",
    "retire_connection_id",
    "path_challenge",
    "path_response",
    "connection_close",
    "handshake_done",
    "datagram",
    "unknown",
];

/// What other drafts and stacks call fields of frames.
const OTHER_FIELDS: [&str; 4] = ["id", "len", "maximum_data", "data_limit"];

/// Memory that is used again for each frame.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    text: String,
    values: Vec<i64>,
    ranges: Vec<(i64, i64)>,
}

/// Reads the frames into a packet.
pub(super) struct Frames<'a> {
    pub(super) packet: &'a mut Packet,
    pub(super) scratch: &'a mut Scratch,
}

impl<'de> DeserializeSeed<'de> for Frames<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Frames<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("frames")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut frames: S) -> Result<(), S::Error> {
        while frames
            .next_element_seed(Frame { packet: &mut *self.packet, scratch: &mut *self.scratch })?
            .is_some()
        {}
        Ok(())
    }
}

/// Reads a frame into a packet.
struct Frame<'a> {
    packet: &'a mut Packet,
    scratch: &'a mut Scratch,
}

impl<'de> DeserializeSeed<'de> for Frame<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Frame<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a frame")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        // Its type comes first nearly everywhere; a frame of which it does not is left to others.
        let name = match map.next_entry::<&'de str, &'de str>()? {
            Some(("frame_type", name)) => name,
            _ => return Err(M::Error::custom("the type is not first")),
        };
        match name {
            "stream" | "datagram" => self.data(map, name == "stream"),
            "ack" => self.ack(map),
            _ if TYPES.contains(&name) => self.other(map, name),
            _ => Err(M::Error::custom("no type of the schema")),
        }
    }
}

/// Puts a value where there is none yet.
fn once<E: Error, T>(place: &mut Option<T>, value: T) -> Result<(), E> {
    if place.replace(value).is_some() { Err(E::custom("a key stands twice")) } else { Ok(()) }
}

#[derive(serde::Deserialize)]
struct Raw {
    #[serde(default, deserialize_with = "super::present")]
    payload_length: Option<Integer>,
    #[serde(default, deserialize_with = "super::present")]
    length: Option<Integer>,
}

impl Frame<'_> {
    fn data<'de, M: MapAccess<'de>>(self, mut map: M, is_stream: bool) -> Result<(), M::Error> {
        let (mut stream, mut offset, mut length, mut fin, mut raw) = (None, None, None, None, None);
        while let Some(key) = map.next_key::<&'de str>()? {
            match key {
                "stream_id" => once(&mut stream, map.next_value::<Integer>()?)?,
                "offset" => once(&mut offset, map.next_value::<Integer>()?)?,
                // A field of its own until 0.3, part of `raw` since.
                "length" => once(&mut length, map.next_value::<Integer>()?)?,
                "raw" => once(&mut raw, map.next_value::<Raw>()?)?,
                "fin" => once(&mut fin, map.next_value::<bool>()?)?,
                "frame_type" => return Err(M::Error::custom("a key stands twice")),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let doubt = || M::Error::custom("not the usual frame");
        let length = length.or(raw.and_then(|raw| raw.payload_length.or(raw.length)));
        let length = length.and_then(Integer::size).ok_or_else(doubt)?;
        self.packet.streams.push(if is_stream {
            StreamFrame {
                stream: stream.ok_or_else(doubt)?.0,
                offset: offset.map_or(0, |offset| offset.0),
                length,
                // The FIN bit is left out by some when it is not set.
                fin: fin.unwrap_or(false),
            }
        } else {
            StreamFrame { stream: DATAGRAMS, offset: 0, length, fin: false }
        });
        Ok(())
    }

    fn ack<'de, M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let mut delay = None;
        let mut ranges = None;
        while let Some(key) = map.next_key::<&'de str>()? {
            match key {
                "ack_delay" => once(&mut delay, map.next_value::<&RawValue>()?)?,
                "acked_ranges" => {
                    self.scratch.ranges.clear();
                    let seed = AckedRanges(&mut self.scratch.ranges);
                    once(&mut ranges, map.next_value_seed(seed)?)?;
                }
                "frame_type" => return Err(M::Error::custom("a key stands twice")),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let delay = match delay {
            Some(raw) => Milliseconds::of(raw).map(Milliseconds::nanoseconds).filter(|&delay| delay >= 0),
            None => Some(0),
        };
        let delay = delay.ok_or_else(|| M::Error::custom("no delay"))?;
        // Without ranges they may stand under another name.
        ranges.ok_or_else(|| M::Error::custom("no ranges"))?;
        let ranges = self.scratch.ranges.clone();
        self.packet.acks.push(Ack { delay, ranges });
        Ok(())
    }

    /// A frame as a text with places for its numbers, so that equal frames of different numbers share their text.
    fn other<'de, M: MapAccess<'de>>(self, mut map: M, name: &str) -> Result<(), M::Error> {
        let Scratch { text, values, .. } = self.scratch;
        text.clear();
        values.clear();
        plain::<M::Error>(name)?;
        text.push_str(name);
        text.make_ascii_uppercase();
        let start = text.len();
        let mut keys: [Option<&'de str>; 8] = [None; 8];
        let (mut stream, mut limit) = (None, None);
        let limit_name = if name.ends_with("blocked") { "limit" } else { "maximum" };
        for place in 0.. {
            let Some(key) = map.next_key::<&'de str>()? else { break };
            if place == keys.len() || key == "frame_type" || keys.contains(&Some(key)) {
                return Err(M::Error::custom("more keys than usual"));
            }
            if OTHER_FIELDS.contains(&key) || key.bytes().any(|byte| byte.is_ascii_uppercase()) {
                return Err(M::Error::custom("a field of others"));
            }
            keys[place] = Some(key);
            let number = map.next_value_seed(Value {
                key,
                text: &mut *text,
                values: &mut *values,
                start,
                is_inner: false,
            })?;
            if key == "stream_id" {
                stream = number;
            } else if key == limit_name {
                limit = Some(number);
            }
        }
        let doubt = || M::Error::custom("not the usual frame");
        match name {
            "reset_stream" => self.packet.resets.push(stream.ok_or_else(doubt)?),
            "max_data" | "max_stream_data" | "data_blocked" | "stream_data_blocked" => {
                let stream = if name.contains("stream") { stream.ok_or_else(doubt)? } else { -1 };
                if let Some(limit) = limit {
                    let limit = limit.ok_or_else(doubt)?;
                    self.packet.credit.push(Credit { is_blocked: limit_name == "limit", stream, limit });
                }
            }
            _ => {}
        }
        // Behind the name stands a blank even if there is nothing more.
        let text = text.trim_end_matches(' ').to_owned();
        self.packet.others.push(Other { text, values: values.clone() });
        Ok(())
    }
}

/// The ranges of an ACK frame.
struct AckedRanges<'a>(&'a mut Vec<(i64, i64)>);

impl<'de> DeserializeSeed<'de> for AckedRanges<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for AckedRanges<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("ranges of packet numbers")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut ranges: S) -> Result<(), S::Error> {
        while let Some(range) = ranges.next_element::<Range>()? {
            self.0.push((range.0, range.1));
        }
        Ok(())
    }
}

/// A range of packet numbers: first and last, or the only one.
struct Range(i64, i64);

impl<'de> serde::Deserialize<'de> for Range {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Ends;
        impl<'de> Visitor<'de> for Ends {
            type Value = Range;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a range of packet numbers")
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut ends: S) -> Result<Range, S::Error> {
                let doubt = || S::Error::custom("not the usual range");
                let first = ends.next_element::<Integer>()?.ok_or_else(doubt)?.0;
                let last = ends.next_element::<Integer>()?.map_or(first, |last| last.0);
                if first > last || ends.next_element::<IgnoredAny>()?.is_some() {
                    return Err(doubt());
                }
                Ok(Range(first, last))
            }
        }
        from.deserialize_seq(Ends)
    }
}

/// Refuses words that the page would show otherwise than they are.
fn plain<E: Error>(word: &str) -> Result<(), E> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'{' && byte != b'}';
    if word.len() <= LONGEST_WORD && word.bytes().all(is_plain) {
        Ok(())
    } else {
        Err(E::custom("not a plain word"))
    }
}

/// Adds a field of a frame to its text, and its number to the numbers. Gives the number of a field that is one.
struct Value<'a> {
    key: &'a str,
    text: &'a mut String,
    values: &'a mut Vec<i64>,
    /// Where the fields begin in the text.
    start: usize,
    /// Whether it is within another.
    is_inner: bool,
}

impl Value<'_> {
    fn part<E: Error>(self, words: fmt::Arguments<'_>) -> Result<(), E> {
        plain::<E>(self.key)?;
        self.text.push_str(if self.text.len() == self.start { " " } else { ", " });
        self.text.write_fmt(words).map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = Option<i64>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Option<i64>, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = Option<i64>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a field of a frame")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Option<i64>, E> {
        let value = i64::try_from(value).ok().filter(|&value| value < 1 << 62);
        let value = value.ok_or_else(|| E::custom("too large"))?;
        self.values.push(value);
        match self.key {
            "length" | "payload_length" => self.part(format_args!("{{}} B"))?,
            key => self.part(format_args!("{key} {{}}"))?,
        }
        Ok(Some(value))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Option<i64>, E> {
        let key = self.key;
        self.part(format_args!("{key} {}", if value { "True" } else { "False" }))?;
        Ok(None)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Option<i64>, E> {
        plain::<E>(value)?;
        let key = self.key;
        self.part(format_args!("{key} {value}"))?;
        Ok(None)
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Option<i64>, M::Error> {
        let mut keys: [Option<&'de str>; 4] = [None; 4];
        for place in 0.. {
            let Some(key) = map.next_key::<&'de str>()? else { break };
            if self.is_inner || place == keys.len() || keys.contains(&Some(key)) {
                return Err(M::Error::custom("more keys than usual"));
            }
            keys[place] = Some(key);
            let (text, values) = (&mut *self.text, &mut *self.values);
            map.next_value_seed(Value { key, text, values, start: self.start, is_inner: true })?;
        }
        Ok(None)
    }
}
