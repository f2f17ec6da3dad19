//! Frames in both schemas (quic-events-13 section 8.13; quic-events-02 appendix A.7).

use super::errors::{crypto_alert, transport_error};
use super::json::Json;
use super::options::Schema;
use crate::Contents;
use std::ops::RangeInclusive;
use units::Duration;
use wire::{Code, Direction, EcnCounts, Frame};

/// Writes the list of a packet's frames. A TCP segment is shown as frames too.
pub(super) fn frames(json: &mut Json, schema: Schema, contents: &Contents) {
    json.open_list("frames");
    match contents {
        Contents::Frames { ack_delay_exponent, .. } => {
            for frame in contents.frames() {
                json.item();
                write(json, schema, &frame, *ack_delay_exponent);
                json.close();
            }
        }
        Contents::Segment { data, acknowledges } => {
            if let Some(data) = data {
                json.item();
                stream(json, schema, (data.stream, data.offset, data.length, data.fin));
                json.close();
            }
            if *acknowledges {
                json.item();
                ack(json, schema, Duration::ZERO, std::iter::empty(), None);
                json.close();
            }
        }
    }
    json.close_list();
}

fn write(json: &mut Json, schema: Schema, frame: &Frame<'_>, ack_delay_exponent: u8) {
    match *frame {
        Frame::Padding { length } => {
            json.literal("\"frame_type\":\"padding\"");
            payload(json, schema, length as u64);
        }
        Frame::Ping => json.literal("\"frame_type\":\"ping\""),
        Frame::Ack(acked) => {
            ack(json, schema, acked.scaled_delay(ack_delay_exponent), acked.ranges(), acked.ecn());
        }
        Frame::Stream { id, offset, data, fin } => {
            stream(json, schema, (id.value(), offset, data.len() as u64, fin));
        }
        Frame::Crypto { offset, data } => {
            json.literal("\"frame_type\":\"crypto\"");
            json.number("offset", offset);
            length(json, schema, data.len() as u64);
        }
        Frame::ResetStream { id, code, final_size } => {
            json.literal("\"frame_type\":\"reset_stream\"");
            json.number("stream_id", id.value());
            application_error(json, schema, code);
            json.number("final_size", final_size);
        }
        Frame::StopSending { id, code } => {
            json.literal("\"frame_type\":\"stop_sending\"");
            json.number("stream_id", id.value());
            application_error(json, schema, code);
        }
        Frame::NewToken { token } => {
            json.literal("\"frame_type\":\"new_token\"");
            json.open("token");
            json.word("type", "resumption");
            length(json, schema, token.len() as u64);
            json.close();
        }
        Frame::MaxData { .. }
        | Frame::MaxStreamData { .. }
        | Frame::MaxStreams { .. }
        | Frame::DataBlocked { .. }
        | Frame::StreamDataBlocked { .. }
        | Frame::StreamsBlocked { .. } => flow_control(json, frame),
        Frame::NewConnectionId { sequence, retire_prior_to, id, token: _ } => {
            json.literal("\"frame_type\":\"new_connection_id\"");
            json.number("sequence_number", sequence);
            json.number("retire_prior_to", retire_prior_to);
            json.hex("connection_id", id.as_bytes());
        }
        Frame::RetireConnectionId { sequence } => {
            json.literal("\"frame_type\":\"retire_connection_id\"");
            json.number("sequence_number", sequence);
        }
        Frame::PathChallenge { data } => {
            json.literal("\"frame_type\":\"path_challenge\"");
            json.hex("data", &data);
        }
        Frame::PathResponse { data } => {
            json.literal("\"frame_type\":\"path_response\"");
            json.hex("data", &data);
        }
        Frame::ConnectionClose { code, frame_type, reason } => {
            close(json, schema, (false, code), reason);
            json.number("trigger_frame_type", frame_type);
        }
        Frame::ApplicationClose { code, reason } => close(json, schema, (true, Code(code)), reason),
        Frame::HandshakeDone => json.literal("\"frame_type\":\"handshake_done\""),
        Frame::Datagram { data, .. } => {
            json.literal("\"frame_type\":\"datagram\"");
            length(json, schema, data.len() as u64);
        }
        // The schemas do not define these frames.
        Frame::AckFrequency { .. }
        | Frame::ImmediateAck
        | Frame::Bdp { .. }
        | Frame::ResetStreamAt { .. } => unknown(json, schema, frame.frame_type()),
    }
}

/// A frame type that the schema does not define.
fn unknown(json: &mut Json, schema: Schema, frame_type: u64) {
    json.literal("\"frame_type\":\"unknown\"");
    let field = if schema == Schema::Current { "frame_type_bytes" } else { "raw_frame_type" };
    json.number(field, frame_type);
}

fn stream(json: &mut Json, schema: Schema, (stream, offset, size, fin): (u64, u64, u64, bool)) {
    json.put("\"frame_type\":\"stream\",\"stream_id\":");
    json.digits(stream);
    json.put(",\"offset\":");
    json.digits(offset);
    length(json, schema, size);
    if fin {
        json.put(",\"fin\":true");
    }
}

fn close(json: &mut Json, schema: Schema, (application, code): (bool, Code), reason: &[u8]) {
    json.literal("\"frame_type\":\"connection_close\"");
    json.word("error_space", if application { "application" } else { "transport" });
    close_error(json, schema, application, code.0);
    if !reason.is_empty() {
        // Bytes that are not UTF-8 are replaced.
        json.string("reason", &String::from_utf8_lossy(reason));
    }
}

fn flow_control(json: &mut Json, frame: &Frame<'_>) {
    let kind = |direction: Direction| match direction {
        Direction::Bidirectional => "bidirectional",
        Direction::Unidirectional => "unidirectional",
    };
    match *frame {
        Frame::MaxData { maximum } => {
            json.literal("\"frame_type\":\"max_data\"");
            json.number("maximum", maximum);
        }
        Frame::MaxStreamData { id, maximum } => {
            json.literal("\"frame_type\":\"max_stream_data\"");
            json.number("stream_id", id.value());
            json.number("maximum", maximum);
        }
        Frame::MaxStreams { direction, maximum } => {
            json.literal("\"frame_type\":\"max_streams\"");
            json.word("stream_type", kind(direction));
            json.number("maximum", maximum);
        }
        Frame::DataBlocked { limit } => {
            json.literal("\"frame_type\":\"data_blocked\"");
            json.number("limit", limit);
        }
        Frame::StreamDataBlocked { id, limit } => {
            json.literal("\"frame_type\":\"stream_data_blocked\"");
            json.number("stream_id", id.value());
            json.number("limit", limit);
        }
        Frame::StreamsBlocked { direction, limit } => {
            json.literal("\"frame_type\":\"streams_blocked\"");
            json.word("stream_type", kind(direction));
            json.number("limit", limit);
        }
        _ => {}
    }
}

fn ack(
    json: &mut Json,
    schema: Schema,
    delay: Duration,
    ranges: impl Iterator<Item = RangeInclusive<u64>>,
    ecn: Option<EcnCounts>,
) {
    json.put("\"frame_type\":\"ack\",\"ack_delay\":");
    json.millis(delay.as_nanos());
    // The list must not be empty, and every ACK frame acknowledges something (RFC 9000 section 19.3).
    let mut ranges = ranges.peekable();
    if ranges.peek().is_some() {
        json.open_list("acked_ranges");
        for range in ranges {
            // A single number should have no end, but some old viewers require it.
            let alone = schema == Schema::Current && range.start() == range.end();
            json.range(*range.start(), (!alone).then_some(*range.end()));
        }
        json.close_list();
    }
    // ECT(0), ECT(1), CE: the order of RFC 9000 section 19.3.2.
    if let Some(EcnCounts { ect0, ect1, ce }) = ecn {
        json.number("ect1", ect1);
        json.number("ect0", ect0);
        json.number("ce", ce);
    }
}

/// The Length field of a frame or the length of a token, which quic-events-13 has in `raw.length`.
fn length(json: &mut Json, schema: Schema, length: u64) {
    match schema {
        Schema::Current => {
            json.put(",\"raw\":{\"length\":");
            json.digits(length);
            json.put("}");
        }
        Schema::V03 => json.number("length", length),
    }
}

/// The length of a frame that has no Length field.
fn payload(json: &mut Json, schema: Schema, length: u64) {
    match schema {
        Schema::Current => {
            json.open("raw");
            json.number("payload_length", length);
            json.close();
        }
        Schema::V03 => json.number("payload_length", length),
    }
}

/// Only the application knows the meaning of its error codes (RFC 9000 section 20.2).
fn application_error(json: &mut Json, schema: Schema, code: u64) {
    if schema == Schema::Current {
        json.literal("\"error\":\"unknown\"");
    }
    json.number("error_code", code);
}

fn close_error(json: &mut Json, schema: Schema, application: bool, code: u64) {
    let key = if schema == Schema::Current { "error" } else { "error_code" };
    match (transport_error(code), crypto_alert(code)) {
        (Some(name), _) if !application => json.word(key, name),
        (_, Some(alert)) if !application => json.shown(key, format_args!("crypto_error_0x1{alert:02x}")),
        _ if schema == Schema::Current => application_error(json, schema, code),
        _ => json.number(key, code),
    }
    if schema == Schema::V03 {
        json.number("raw_error_code", code);
    }
}
