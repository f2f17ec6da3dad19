//! Events for viewers of `qlog_version` 0.3 (draft-ietf-quic-qlog-quic-events-02).

use super::errors::{crypto_alert, transport_error};
use super::frames::frames;
use super::json::Json;
use super::options::Schema;
use super::resume::resume_phase;
use super::state::{State, stream_type};
use crate::event::DropReason;
use crate::{Event, Packet, Record};
use std::net::SocketAddr;
use units::Time;

/// In this schema the length of a datagram includes its UDP header (section 3.3.10).
const UDP_HEADER: u64 = 8;

/// Writes a record, or nothing if the schema has no event for it.
pub(super) fn event(json: &mut Json, state: &mut State, record: &Record) {
    let time = record.time;
    match &record.event {
        Event::PacketSent(sent) => packet(json, time, "transport:packet_sent", sent),
        Event::PacketReceived(received) => packet(json, time, "transport:packet_received", received),
        Event::DatagramSent { number, length } => {
            datagram(json, time, "transport:datagrams_sent", (*number, *length));
        }
        Event::DatagramReceived { number, length } => {
            datagram(json, time, "transport:datagrams_received", (*number, *length));
        }
        Event::PacketDropped { kind, length, reason } => {
            begin(json, time, "transport:packet_dropped");
            json.open("header");
            json.word("packet_type", kind.qlog_name());
            json.close();
            raw_length(json, u64::from(*length));
            json.word("trigger", drop_trigger(*reason));
            end(json);
        }
        Event::PacketLost { kind, number, trigger } => {
            begin(json, time, "recovery:packet_lost");
            json.open("header");
            json.word("packet_type", kind.qlog_name());
            json.number("packet_number", *number);
            json.close();
            json.word("trigger", trigger.name());
            end(json);
        }
        Event::Metrics(metrics) => {
            let mark = json.len();
            begin(json, time, "recovery:metrics_updated");
            let empty = json.len();
            state.metrics(json, metrics);
            if json.len() == empty {
                json.truncate(mark);
            } else {
                end(json);
            }
        }
        Event::Gauge { name, value } if state.own_fields() && value.is_finite() => {
            begin(json, time, "recovery:metrics_updated");
            json.real(name, *value);
            end(json);
        }
        Event::CongestionState { state: new } => {
            begin(json, time, "recovery:congestion_state_updated");
            state.congestion(json, new);
            end(json);
        }
        Event::ResumePhase(change) => {
            begin(json, time, "recovery:careful_resume_phase_updated");
            resume_phase(json, change);
            end(json);
        }
        Event::StreamOpened { stream, .. } => stream_state(json, time, *stream, "open"),
        Event::StreamClosed { stream, .. } => stream_state(json, time, *stream, "closed"),
        Event::StreamWritten { stream, offset, length } => {
            begin(json, time, "transport:data_moved");
            json.number("stream_id", *stream);
            json.number("offset", *offset);
            json.number("length", *length);
            json.word("from", "application");
            json.word("to", "transport");
            end(json);
        }
        _ => connection(json, state, record),
    }
}

/// Writes the events that occur a few times per connection.
fn connection(json: &mut Json, state: &mut State, record: &Record) {
    let time = record.time;
    match &record.event {
        Event::ConnectionStarted { local, remote, source, original_destination } => {
            begin(json, time, "connectivity:connection_started");
            started(json, *local, *remote);
            json.hex("src_cid", source);
            json.hex("dst_cid", original_destination);
            end(json);
        }
        Event::ConnectionState { state: new } => {
            begin(json, time, "connectivity:connection_state_updated");
            state.connection(json, new);
            end(json);
        }
        Event::ConnectionClosed { local, application, code, reason } => {
            begin(json, time, "connectivity:connection_closed");
            owner(json, *local);
            closed(json, *application, *code);
            if !reason.is_empty() {
                json.string("reason", reason);
            }
            end(json);
        }
        Event::VersionInformation { server, client, chosen } => {
            begin(json, time, "transport:version_information");
            json.hex_list("server_versions", server);
            json.hex_list("client_versions", client);
            if let Some(chosen) = chosen {
                json.hex("chosen_version", &chosen.to_be_bytes());
            }
            end(json);
        }
        Event::ParametersSet { local, values } => {
            begin(json, time, "transport:parameters_set");
            owner(json, *local);
            parameters(json, values);
            end(json);
        }
        Event::ParametersRestored { values } => {
            begin(json, time, "transport:parameters_restored");
            parameters(json, values);
            end(json);
        }
        Event::KeyUpdated { key, phase } => {
            begin(json, time, "security:key_updated");
            json.word("key_type", key);
            // A required field, but traces contain no keys.
            json.literal("\"new\":\"\"");
            if let Some(phase) = phase {
                json.number("generation", *phase);
            }
            end(json);
        }
        Event::KeyDiscarded { key } => {
            begin(json, time, "security:key_retired");
            json.word("key_type", key);
            end(json);
        }
        // Events of links, and disabled gauges.
        _ => {}
    }
}

fn begin(json: &mut Json, time: Time, name: &str) {
    json.begin_at(time);
    json.word("name", name);
    json.open("data");
}

fn end(json: &mut Json) {
    json.close();
    json.end();
}

/// They "can contain any number of unspecified fields" (sections 3.3.3 and 3.3.4).
fn parameters(json: &mut Json, values: &[(&'static str, u64)]) {
    for (name, value) in values {
        match *name {
            "disable_active_migration" | "grease_quic_bit" => json.boolean(name, *value != 0),
            _ => json.number(name, *value),
        }
    }
}

fn owner(json: &mut Json, local: bool) {
    json.word("owner", if local { "local" } else { "remote" });
}

fn raw_length(json: &mut Json, length: u64) {
    json.open("raw");
    json.number("length", length);
    json.close();
}

fn packet(json: &mut Json, time: Time, name: &str, packet: &Packet) {
    begin(json, time, name);
    json.open("header");
    json.word("packet_type", packet.kind.qlog_name());
    if let Some(number) = packet.number {
        json.number("packet_number", number);
    }
    for (length, id, bytes) in [("scil", "scid", &packet.source), ("dcil", "dcid", &packet.destination)] {
        if !bytes.is_empty() {
            json.number(length, bytes.len() as u64);
            json.hex(id, bytes);
        }
    }
    json.close();
    raw_length(json, u64::from(packet.length));
    if u32::try_from(packet.datagram).is_ok() {
        json.number("datagram_id", packet.datagram);
    }
    frames(json, Schema::V03, &packet.contents);
    end(json);
}

fn datagram(json: &mut Json, time: Time, name: &str, (number, length): (u64, u32)) {
    begin(json, time, name);
    json.number("count", 1);
    json.open_list("raw");
    json.item();
    json.number("length", u64::from(length) + UDP_HEADER);
    json.number("payload_length", u64::from(length));
    json.close();
    json.close_list();
    if u32::try_from(number).is_ok() {
        json.open_list("datagram_ids");
        json.number_item(number);
        json.close_list();
    }
    end(json);
}

fn started(json: &mut Json, local: SocketAddr, remote: SocketAddr) {
    json.word("ip_version", if local.is_ipv4() { "v4" } else { "v6" });
    json.shown("src_ip", format_args!("{}", local.ip()));
    json.shown("dst_ip", format_args!("{}", remote.ip()));
    json.word("protocol", "QUIC");
    json.number("src_port", u64::from(local.port()));
    json.number("dst_port", u64::from(remote.port()));
}

fn closed(json: &mut Json, application: bool, code: u64) {
    match (transport_error(code), crypto_alert(code)) {
        _ if application => json.number("application_code", code),
        (Some(name), _) => json.word("connection_code", name),
        (_, Some(alert)) => json.shown("connection_code", format_args!("crypto_error_0x1{alert:02x}")),
        _ => json.number("connection_code", code),
    }
}

/// The names in section 3.3.7.
const fn drop_trigger(reason: DropReason) -> &'static str {
    match reason {
        DropReason::KeyUnavailable => "key_unavailable",
        DropReason::DecryptionFailure => "payload_decrypt_error",
        DropReason::HeaderParse => "header_parse_error",
        DropReason::Duplicate => "duplicate",
        DropReason::UnknownConnection => "unknown_connection_id",
        DropReason::UnsupportedVersion => "unsupported_version",
        DropReason::Invalid => "unexpected_packet",
    }
}

fn stream_state(json: &mut Json, time: Time, stream: u64, new: &str) {
    begin(json, time, "transport:stream_state_updated");
    json.number("stream_id", stream);
    json.word("stream_type", stream_type(stream));
    json.word("new", new);
    end(json);
}
