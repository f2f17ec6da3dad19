//! Events in the current schema (draft-ietf-quic-qlog-quic-events-13).

use super::errors::{crypto_alert, transport_error};
use super::frames::frames;
use super::json::Json;
use super::options::Schema;
use super::resume::resume_phase;
use super::state::{State, is_unidirectional, stream_type};
use crate::{Event, Packet, Record};
use std::net::SocketAddr;
use units::Time;

/// Writes a record, or nothing if the schema has no event for it.
pub(super) fn event(json: &mut Json, state: &mut State, record: &Record) {
    let time = record.time;
    match &record.event {
        Event::PacketSent(sent) => packet(json, time, PACKET_SENT, sent),
        Event::PacketReceived(received) => packet(json, time, PACKET_RECEIVED, received),
        Event::DatagramSent { number, length } => {
            datagram(json, time, "udp_datagrams_sent", (*number, *length))
        }
        Event::DatagramReceived { number, length } => {
            datagram(json, time, "udp_datagrams_received", (*number, *length));
        }
        Event::PacketDropped { kind, length, reason } => {
            begin(json, time, "packet_dropped");
            json.open("header");
            json.word("packet_type", kind.qlog_name());
            json.close();
            raw_length(json, u64::from(*length));
            json.word("trigger", reason.name());
            end(json);
        }
        Event::PacketLost { kind, number, trigger } => {
            begin(json, time, "packet_lost");
            json.open("header");
            json.word("packet_type", kind.qlog_name());
            json.number("packet_number", *number);
            json.close();
            json.word("trigger", trigger.name());
            end(json);
        }
        Event::Metrics(metrics) => {
            let mark = json.len();
            begin(json, time, "recovery_metrics_updated");
            let empty = json.len();
            state.metrics(json, metrics);
            if json.len() == empty {
                json.truncate(mark);
            } else {
                end(json);
            }
        }
        // The event "can contain any number of unspecified fields to support different recovery approaches" (7.2).
        Event::Gauge { name, value } if state.own_fields() && value.is_finite() => {
            begin(json, time, "recovery_metrics_updated");
            json.real(name, *value);
            end(json);
        }
        Event::CongestionState { state: new } => {
            begin(json, time, "congestion_state_updated");
            state.congestion(json, new);
            end(json);
        }
        Event::ResumePhase(change) => {
            begin(json, time, "careful_resume_phase_updated");
            resume_phase(json, change);
            end(json);
        }
        Event::StreamOpened { stream, local } => streams(json, state, time, *stream, Some(*local)),
        Event::StreamClosed { stream, .. } => streams(json, state, time, *stream, None),
        Event::StreamWritten { stream, offset, length } => {
            begin(json, time, "stream_data_moved");
            json.number("stream_id", *stream);
            json.number("offset", *offset);
            json.word("from", "application");
            json.word("to", "transport");
            raw_length(json, *length);
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
            begin(json, time, "connection_started");
            endpoint(json, "local", *local, source);
            // A server does not yet have the connection id for its packets.
            let is_client = state.side() == crate::Side::Client;
            endpoint(json, "remote", *remote, if is_client { original_destination } else { &[] });
            end(json);
        }
        Event::ConnectionState { state: new } => {
            begin(json, time, "connection_state_updated");
            state.connection(json, new);
            end(json);
        }
        Event::MigrationState { state: new, local, remote } => {
            begin(json, time, "migration_state_updated");
            json.word("new", new.name());
            endpoint(json, "tuple_remote", *remote, &[]);
            endpoint(json, "tuple_local", *local, &[]);
            end(json);
        }
        Event::EcnState { state: new } => {
            begin(json, time, "ecn_state_updated");
            json.word("new", new.name());
            end(json);
        }
        Event::MtuUpdated { old, new, done } => {
            begin(json, time, "mtu_updated");
            json.number("old", u64::from(*old));
            json.number("new", u64::from(*new));
            json.boolean("done", *done);
            end(json);
        }
        Event::ConnectionClosed { local, application, code, reason } => {
            begin(json, time, "connection_closed");
            json.word("initiator", if *local { "local" } else { "remote" });
            close_error(json, *application, *code);
            if !reason.is_empty() {
                json.string("reason", reason);
            }
            json.word("trigger", close_trigger(*application, *code, reason));
            end(json);
        }
        Event::VersionInformation { server, client, chosen } => {
            begin(json, time, "version_information");
            json.hex_list("server_versions", server);
            json.hex_list("client_versions", client);
            if let Some(chosen) = chosen {
                json.hex("chosen_version", &chosen.to_be_bytes());
            }
            end(json);
        }
        Event::ParametersSet { local, values } => {
            begin(json, time, "parameters_set");
            json.word("initiator", if *local { "local" } else { "remote" });
            parameters(json, state.own_fields(), values);
            end(json);
        }
        Event::ParametersRestored { values } => {
            begin(json, time, "parameters_restored");
            parameters(json, state.own_fields(), values);
            end(json);
        }
        Event::KeyUpdated { key, phase } => {
            begin(json, time, "key_updated");
            json.word("key_type", key);
            if let Some(phase) = phase {
                json.number("key_phase", *phase);
            }
            // The initiator of later updates is unknown.
            if matches!(phase, None | Some(0)) {
                json.word("trigger", "tls");
            }
            end(json);
        }
        Event::KeyDiscarded { key } => {
            begin(json, time, "key_discarded");
            json.word("key_type", key);
            end(json);
        }
        // Events of links, and disabled gauges.
        _ => {}
    }
}

fn begin(json: &mut Json, time: Time, name: &str) {
    json.begin_at(time);
    json.put(",\"name\":\"quic:");
    json.continue_word(name);
    json.put(",\"data\":{");
}

fn end(json: &mut Json) {
    json.close();
    json.end();
}

fn raw_length(json: &mut Json, length: u64) {
    json.open("raw");
    json.number("length", length);
    json.close();
}

/// The events of packets, between their time and the type of the packet.
const PACKET_SENT: &str = ",\"name\":\"quic:packet_sent\",\"data\":{\"header\":{\"packet_type\":\"";
const PACKET_RECEIVED: &str = ",\"name\":\"quic:packet_received\",\"data\":{\"header\":{\"packet_type\":\"";

fn packet(json: &mut Json, time: Time, name: &'static str, packet: &Packet) {
    json.begin_at(time);
    json.put(name);
    json.continue_word(packet.kind.qlog_name());
    if let Some(number) = packet.number {
        json.put(",\"packet_number\":");
        json.digits(number);
    }
    if !packet.source.is_empty() {
        json.hex("scid", &packet.source);
    }
    if !packet.destination.is_empty() {
        json.hex("dcid", &packet.destination);
    }
    json.put("},\"raw\":{\"length\":");
    json.digits(u64::from(packet.length));
    json.put("}");
    // A 32-bit field: larger numbers are omitted.
    if u32::try_from(packet.datagram).is_ok() {
        json.put(",\"datagram_id\":");
        json.digits(packet.datagram);
    }
    frames(json, Schema::Current, &packet.contents);
    json.put("}}\n");
}

fn datagram(json: &mut Json, time: Time, name: &str, (number, length): (u64, u32)) {
    begin(json, time, name);
    json.number("count", 1);
    json.open_list("raw");
    json.item();
    // Only the UDP payload (5.10).
    json.number("length", u64::from(length));
    json.close();
    json.close_list();
    if u32::try_from(number).is_ok() {
        json.open_list("datagram_ids");
        json.number_item(number);
        json.close_list();
    }
    end(json);
}

fn endpoint(json: &mut Json, key: &str, address: SocketAddr, id: &[u8]) {
    json.open(key);
    let (ip, port) = match address {
        SocketAddr::V4(_) => ("ip_v4", "port_v4"),
        SocketAddr::V6(_) => ("ip_v6", "port_v6"),
    };
    json.shown(ip, format_args!("{}", address.ip()));
    json.number(port, u64::from(address.port()));
    if !id.is_empty() {
        json.open_list("connection_ids");
        json.hex_item(id);
        json.close_list();
    }
    json.close();
}

fn close_error(json: &mut Json, application: bool, code: u64) {
    let key = if application { "application_error" } else { "connection_error" };
    match (transport_error(code), crypto_alert(code)) {
        (Some(name), _) if !application => json.word(key, name),
        (_, Some(alert)) if !application => json.shown(key, format_args!("crypto_error_0x1{alert:02x}")),
        _ => {
            json.word(key, "unknown");
            json.number("error_code", code);
        }
    }
}

fn close_trigger(application: bool, code: u64, reason: &str) -> &'static str {
    match (application, code, reason) {
        (true, ..) => "application",
        (false, 0, "idle timeout") => "idle_timeout",
        (false, 0, "no common version") => "version_mismatch",
        (false, 0, "stateless reset") => "stateless_reset",
        (false, 0, _) => "unspecified",
        (false, ..) => "error",
    }
}

/// The integer transport parameters of the schema (5.3), and the boolean ones.
const NUMBERS: [&str; 12] = [
    "max_idle_timeout",
    "max_udp_payload_size",
    "ack_delay_exponent",
    "max_ack_delay",
    "active_connection_id_limit",
    "initial_max_data",
    "initial_max_stream_data_bidi_local",
    "initial_max_stream_data_bidi_remote",
    "initial_max_stream_data_uni",
    "initial_max_streams_bidi",
    "initial_max_streams_uni",
    "max_datagram_frame_size",
];
const FLAGS: [&str; 3] = ["disable_active_migration", "grease_quic_bit", "reset_stream_at"];

fn parameters(json: &mut Json, own_fields: bool, values: &[(&'static str, u64)]) {
    for (name, value) in values {
        if FLAGS.contains(name) {
            json.boolean(name, *value != 0);
        } else if own_fields || NUMBERS.contains(name) {
            json.number(name, *value);
        }
    }
}

/// Writes the state of a stream, once for each of its sides here (5.13). `opened` is whether this end opened it; `None`
/// if it was closed.
fn streams(json: &mut Json, state: &State, time: Time, stream: u64, opened: Option<bool>) {
    let own = state.is_own(stream);
    for (side, is_there) in
        [("sending", own || !is_unidirectional(stream)), ("receiving", !own || !is_unidirectional(stream))]
    {
        if !is_there {
            continue;
        }
        begin(json, time, "stream_state_updated");
        json.number("stream_id", stream);
        json.word("stream_type", stream_type(stream));
        match opened {
            Some(_) => json.literal("\"old\":\"idle\",\"new\":\"open\""),
            None => json.literal("\"old\":\"open\",\"new\":\"closed\""),
        }
        json.word("stream_side", side);
        if let Some(local) = opened {
            json.word("trigger", if local { "local" } else { "remote" });
        }
        end(json);
    }
}
