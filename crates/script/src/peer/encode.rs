//! Encodes the packets that a script injects.

use super::{Peer, RESET_TOKEN, id, space_of};
use crate::shape::Shape;
use crate::syntax::{FieldValue, Item, Packet};
use crate::value::{Pattern, Value, Variables};
use crate::words::APPLICATION_CLOSE;
use tls::TAG_LENGTH;
use wire::frame::FieldSource;
use wire::header::{LongHeader, ShortHeader};
use wire::{
    ConnectionId, Data, Direction, Ecn, EcnCounts, Frame, PacketKind, Side, StreamId, Truncated, Version,
};

/// The minimum size of a datagram with a client's Initial packet (RFC 9000 section 14.1).
const LEAST_INITIAL: usize = 1200;
/// The largest UDP payload.
const LARGEST: usize = 65_527;
/// The default fields of a Retry packet: the new id and the token.
const RETRY_SOURCE: [u8; 8] = [0xf5; 8];
const RETRY_TOKEN: [u8; 8] = [0x70; 8];
/// A reserved version, which no endpoint supports (RFC 9000 section 15).
const RESERVED_VERSION: u32 = 0x1a2a_3a4a;
/// The maximum size of a packet with a long header.
const LARGEST_LONG: usize = 16_000;

/// A datagram to inject.
#[derive(Debug)]
pub(crate) struct Injected {
    pub(crate) bytes: Vec<u8>,
    pub(crate) ecn: Ecn,
    /// Its addresses, if they differ from the usual ones.
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    /// Its packets as shown in a report.
    pub(crate) shown: Vec<String>,
}

/// The given values by name.
pub(crate) struct Values(Vec<(&'static str, Value)>);

impl Values {
    pub(crate) fn of(given: &[FieldValue], variables: &Variables) -> Result<Values, String> {
        let mut values = Vec::new();
        for given in given {
            let value = value_of(&given.pattern, variables);
            let value = value.ok_or_else(|| format!("{:?} has no value that fits", given.field.name))?;
            fits(given.field.name, &value)?;
            values.push((given.field.name, value));
        }
        Ok(Values(values))
    }
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(field, _)| *field == name).map(|(_, value)| value)
    }
    fn try_int(&self, name: &str) -> Option<u64> {
        match self.get(name) {
            Some(Value::Int(value)) => Some(*value),
            _ => None,
        }
    }
    /// The value, or 0.
    pub(crate) fn int(&self, name: &str) -> u64 {
        self.try_int(name).unwrap_or_default()
    }
    /// The value, if given.
    fn span(&self, name: &str) -> units::Duration {
        match self.get(name) {
            Some(Value::Span(span)) => *span,
            _ => units::Duration::ZERO,
        }
    }
    pub(crate) fn bytes(&self, name: &str) -> Option<&[u8]> {
        match self.get(name) {
            Some(Value::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }
    pub(crate) fn word(&self, name: &str) -> &'static str {
        match self.get(name) {
            Some(Value::Word(word)) => word,
            _ => "",
        }
    }
    fn stream(&self) -> StreamId {
        StreamId::from_value(self.int("stream"))
    }
    pub(crate) fn direction(&self) -> Direction {
        if self.word("direction") == "uni" { Direction::Unidirectional } else { Direction::Bidirectional }
    }
    /// Bytes, or those of a text.
    fn bytes_of(&self, name: &str) -> Option<&[u8]> {
        self.bytes(name).or_else(|| self.text(name).map(str::as_bytes))
    }
}

/// The error for contents that do not fit into a packet.
fn fits(name: &str, value: &Value) -> Result<(), String> {
    match (name, value) {
        ("key_phase" | "spin" | "immediate_ack", Value::Int(bit)) if *bit > 1 => {
            Err(format!("{name:?} is a bit: expected 0 or 1, found {bit}"))
        }
        ("version", Value::Int(version)) if *version > u64::from(u32::MAX) => {
            Err(format!("{name:?} has 32 bits, and {version} has more"))
        }
        ("destination" | "source" | "id", Value::Bytes(bytes)) if ConnectionId::new(bytes).is_none() => {
            Err(format!("{name:?} has {} bytes; a connection id has at most 20", bytes.len()))
        }
        _ => Ok(()),
    }
}

/// Evaluates a given field.
fn value_of(pattern: &Pattern, variables: &Variables) -> Option<Value> {
    let int = |pattern: &Pattern| match value_of(pattern, variables) {
        Some(Value::Int(value)) => Some(value),
        _ => None,
    };
    match pattern {
        Pattern::Is(expression) => expression.value(variables),
        Pattern::Flag => Some(Value::Flag),
        Pattern::Ranges(ranges, _) => {
            let mut all = Vec::new();
            for (low, high) in ranges {
                all.push((int(low)?, int(high)?));
            }
            all.sort_unstable_by(|a, b| b.cmp(a));
            Some(Value::Ranges(all))
        }
        _ => None,
    }
}

fn kind_of(word: &str) -> PacketKind {
    match word {
        "initial" => PacketKind::Initial,
        "0rtt" => PacketKind::ZeroRtt,
        "handshake" => PacketKind::Handshake,
        "retry" => PacketKind::Retry,
        "version_negotiation" => PacketKind::VersionNegotiation,
        "stateless_reset" => PacketKind::StatelessReset,
        _ => PacketKind::OneRtt,
    }
}

impl Peer {
    /// Encodes a datagram with these packets and consumes their packet numbers.
    ///
    /// # Errors
    /// If something cannot be encoded, with its packet.
    pub(crate) fn inject<'a>(
        &mut self,
        packets: &'a [Packet],
        variables: &Variables,
    ) -> Result<Injected, (&'a Packet, String)> {
        let mut datagram =
            Injected { bytes: Vec::new(), ecn: Ecn::NotEct, from: None, to: None, shown: Vec::new() };
        for (index, packet) in packets.iter().enumerate() {
            let is_last = index + 1 == packets.len();
            self.add(&mut datagram, packet, variables, is_last).map_err(|problem| (packet, problem))?;
        }
        Ok(datagram)
    }

    fn add(
        &mut self,
        datagram: &mut Injected,
        packet: &Packet,
        variables: &Variables,
        is_last: bool,
    ) -> Result<(), String> {
        let header = Values::of(&packet.header, variables)?;
        let kind = kind_of(packet.kind);
        datagram.ecn = match header.word("ecn") {
            "ect0" => Ecn::Ect0,
            "ect1" => Ecn::Ect1,
            "ce" => Ecn::Ce,
            _ => datagram.ecn,
        };
        datagram.from = header.text("from").map(str::to_owned).or(datagram.from.take());
        datagram.to = header.text("to").map(str::to_owned).or(datagram.to.take());
        match kind {
            PacketKind::StatelessReset => {
                let token =
                    header.bytes("token").and_then(|token| token.try_into().ok()).unwrap_or(RESET_TOKEN);
                wire::header::stateless_reset(&mut datagram.bytes, &[0x5a; 24], token);
                datagram.shown.push("stateless_reset".to_owned());
                return Ok(());
            }
            PacketKind::Retry => return self.retry(datagram, &header),
            PacketKind::VersionNegotiation => {
                // RFC 9000 section 17.2.1: the ids of the client's packet, swapped.
                let (to, from) = (self.destination, self.original_destination.unwrap_or(id(&super::ID)));
                let version = header.try_int("version").map_or(RESERVED_VERSION, |version| version as u32);
                let offered = [Version(version)];
                wire::header::version_negotiation(
                    &mut datagram.bytes,
                    0,
                    to.as_bytes(),
                    from.as_bytes(),
                    &offered,
                );
                datagram.shown.push(format!("version_negotiation [version {version:#010x}]"));
                return Ok(());
            }
            _ => {}
        }
        let number = match &packet.number {
            Pattern::Any => self.spaces[space_of(kind)].next_number,
            pattern => match value_of(pattern, variables) {
                Some(Value::Int(number)) => number,
                _ => return Err("the packet number has no value".to_owned()),
            },
        };
        let mut payload = Vec::new();
        for item in &packet.frames {
            self.frame(kind, item, variables, &mut payload)?;
        }
        if payload.len() > if kind == PacketKind::OneRtt { LARGEST - 100 } else { LARGEST_LONG } {
            return Err("the packet is too large".to_owned());
        }
        let is_client_initial = kind == PacketKind::Initial && self.side == Side::Client;
        let least = match header.get("size") {
            Some(Value::Int(size)) => (*size as usize).min(LARGEST),
            _ if is_client_initial && is_last => LEAST_INITIAL,
            _ => 0,
        };
        let space = &mut self.spaces[space_of(kind)];
        space.next_number = space.next_number.max(number + 1);
        let start = datagram.bytes.len();
        self.seal(&mut datagram.bytes, kind, number, &header, &payload);
        let lacks = least.saturating_sub(datagram.bytes.len());
        if lacks > 0 {
            // PADDING frames fill the packet (RFC 9000 section 19.1).
            if kind != PacketKind::OneRtt && payload.len() + lacks > LARGEST_LONG {
                return Err(format!("a packet with a long header cannot have {least} bytes here"));
            }
            datagram.bytes.truncate(start);
            payload.resize(payload.len() + lacks, 0);
            self.seal(&mut datagram.bytes, kind, number, &header, &payload);
        }
        datagram.shown.push(shown(packet.kind, number, &payload, self.config.ack_delay_exponent));
        Ok(())
    }

    /// A Retry packet (RFC 9000 section 17.2.5), which only a server sends.
    fn retry(&mut self, datagram: &mut Injected, header: &Values) -> Result<(), String> {
        let Some(original) = self.original_destination else {
            return Err("a Retry packet answers a client's Initial packet, but none has arrived".to_owned());
        };
        let source = header.bytes("source").map_or(id(&RETRY_SOURCE), id);
        let token = header.bytes("token").unwrap_or(&RETRY_TOKEN);
        let mut packet = Vec::new();
        wire::header::retry(&mut packet, Version::V1, self.destination, source, token);
        let tag = tls::retry_integrity_tag(Version::V1.0, original.as_bytes(), &packet);
        datagram.bytes.extend(packet.iter().chain(&tag));
        datagram.shown.push("retry".to_owned());
        if self.retry_source.is_none() {
            self.forget(source);
        }
        Ok(())
    }

    /// Encodes a packet. Its tag of zeros matches every key.
    fn seal(&self, bytes: &mut Vec<u8>, kind: PacketKind, number: u64, header: &Values, payload: &[u8]) {
        let destination = header.bytes("destination").map_or(self.destination, id);
        let source = header.bytes("source").map_or(id(&super::ID), id);
        let number = Truncated::with_length(number, 4);
        if kind == PacketKind::OneRtt {
            let key_phase = header.try_int("key_phase").map_or(self.key_phase, |phase| phase == 1);
            let start = bytes.len();
            ShortHeader { destination, spin: header.int("spin") == 1, key_phase, number }.write(bytes);
            if header.int("immediate_ack") == 1 {
                bytes[start] |= wire::FirstByte::IMMEDIATE_ACK;
            }
            bytes.extend_from_slice(payload);
            bytes.resize(bytes.len() + TAG_LENGTH, 0);
        } else {
            let token = header.bytes("token").unwrap_or_default();
            let version = header.try_int("version").map_or(Version::V1, |version| Version(version as u32));
            let written = LongHeader { kind, version, destination, source, token, number }.write(bytes);
            bytes.extend_from_slice(payload);
            bytes.resize(bytes.len() + TAG_LENGTH, 0);
            written.set_length(bytes, payload.len() + TAG_LENGTH);
        }
    }

    /// Encodes a frame.
    fn frame(
        &mut self,
        kind: PacketKind,
        item: &Item,
        variables: &Variables,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let mut values = Values::of(&item.fields, variables)?;
        match item.entry.name {
            "ACK" => return self.ack(&values, out),
            "CRYPTO" => return self.crypto(kind, &values, out),
            "STREAM" | "DATAGRAM" => return stream(item.entry.name, &values, out),
            "NEW_CONNECTION_ID" => {
                let new = values.bytes("id").map_or_else(|| made_id(values.int("sequence")), id);
                if values.get("id").is_none() {
                    values.0.push(("id", Value::Bytes(new.as_bytes().to_vec())));
                }
                self.issued.push(new);
            }
            _ => {}
        }
        let frame = simple(item.entry.name, &values)?;
        frame.encode(out);
        Ok(())
    }

    fn ack(&self, values: &Values, out: &mut Vec<u8>) -> Result<(), String> {
        let Some(Value::Ranges(ranges)) = values.get("ranges") else {
            return Err("ACK without ranges".to_owned());
        };
        if ranges.iter().any(|(start, end)| start > end) {
            return Err("an ACK range ends below its start".to_owned());
        }
        if ranges.windows(2).any(|pair| pair[1].1.saturating_add(1) >= pair[0].0) {
            return Err("two ACK ranges touch or overlap".to_owned());
        }
        let delay = match values.get("delay") {
            Some(Value::Span(delay)) => delay.as_micros() >> self.config.ack_delay_exponent.min(20),
            _ => 0,
        };
        let has_counts = ["ect0", "ect1", "ce"].iter().any(|name| values.get(name).is_some());
        let counts = has_counts.then(|| EcnCounts {
            ect0: values.int("ect0"),
            ect1: values.int("ect1"),
            ce: values.int("ce"),
        });
        let ranges = ranges.iter().map(|(start, end)| *start..=*end);
        wire::frame::ack(out, ranges, delay, counts, LARGEST_LONG);
        Ok(())
    }

    /// A range of the handshake bytes of this level: by default, all that were not injected yet.
    fn crypto(&mut self, kind: PacketKind, values: &Values, out: &mut Vec<u8>) -> Result<(), String> {
        let space = &mut self.spaces[space_of(kind)];
        let written = space.written.len() as u64;
        let offset = values.try_int("offset").unwrap_or(space.injected);
        let length = values.try_int("length").unwrap_or(written.saturating_sub(offset));
        let end = offset.saturating_add(length);
        if end > written {
            return Err(format!("TLS has written {written} bytes at this level, not {end}"));
        }
        space.injected = space.injected.max(end);
        Frame::Crypto { offset, data: &space.written[offset as usize..end as usize] }.encode(out);
        Ok(())
    }
}

/// A default id, which differs by its sequence number.
fn made_id(sequence: u64) -> ConnectionId {
    id(&(0xf0f0_f0f0_f0f0_f0f0_u64 ^ sequence.rotate_left(8)).to_be_bytes())
}

/// STREAM and DATAGRAM, with the bytes of [`wire::pattern`].
fn stream(name: &str, values: &Values, out: &mut Vec<u8>) -> Result<(), String> {
    let length = values.int("length");
    if length > LARGEST as u64 {
        return Err(format!("{length} bytes do not fit into a datagram"));
    }
    let offset = values.int("offset");
    let mut data = vec![0; length as usize];
    wire::pattern::fill(offset, &mut data);
    let data = Data::Bytes(&data);
    let frame = match name {
        "STREAM" => Frame::Stream { id: values.stream(), offset, data, fin: values.get("fin").is_some() },
        _ => Frame::Datagram { data, to_end: false },
    };
    frame.encode(out);
    Ok(())
}

/// Frames whose fields are encoded as they are.
fn simple<'a>(name: &str, values: &'a Values) -> Result<Frame<'a>, String> {
    if name == APPLICATION_CLOSE {
        let reason = values.bytes_of("reason").unwrap_or_default();
        return Ok(Frame::ApplicationClose { code: values.int("code"), reason });
    }
    Frame::named(name, &values).unwrap_or_else(|| Err(format!("{name} cannot be injected")))
}

impl<'a> FieldSource<'a> for &'a Values {
    fn integer(&self, name: &'static str) -> u64 {
        match name.strip_suffix("_us") {
            Some(span) => self.span(span).as_micros(),
            // Of PADDING no more than fits.
            None if name == "length" => self.int(name).min(LARGEST as u64),
            None => self.int(name),
        }
    }
    fn bytes(&self, name: &'static str) -> Option<&'a [u8]> {
        self.bytes_of(name)
    }
    fn direction(&self) -> Direction {
        Values::direction(self)
    }
}

/// A packet as shown in a report.
fn shown(kind: &str, number: u64, payload: &[u8], ack_delay_exponent: u8) -> String {
    let frames = wire::Frames::new(payload, 0).map_while(Result::ok);
    let frames = frames.filter_map(|frame| Shape::of_frame(&frame, ack_delay_exponent));
    let frames: Vec<String> = frames.map(|shape| shape.to_string()).collect();
    format!("{kind} #{number} {}", frames.join(", "))
}
