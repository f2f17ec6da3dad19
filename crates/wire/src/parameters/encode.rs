//! The encoder of transport parameters.

use crate::ConnectionId;
use crate::parameters::{PreferredAddress, TransportParameters, VersionInformation, table};
use crate::varint::{self, encode};

impl TransportParameters {
    /// Appends the parameters that differ from their defaults. `unknown` is an additional parameter with an unknown
    /// identifier: `31 * N + 27` exercises the rule to ignore these (RFC 9000 section 18.1).
    pub fn encode(&self, out: &mut Vec<u8>, unknown: Option<(u64, &[u8])>) {
        // RFC 9000-7.4-2: not "more than once in a given transport parameters extension".
        put_id(out, table::ORIGINAL_DESTINATION_CONNECTION_ID, self.original_destination_connection_id);
        if let Some(token) = self.stateless_reset_token {
            put(out, table::STATELESS_RESET_TOKEN, &token);
        }
        let default = TransportParameters::default();
        for row in &table::INTEGERS {
            let value = (row.get)(self);
            if value != (row.get)(&default) {
                encode(out, row.id);
                encode(out, varint::size(value) as u64);
                encode(out, value);
            }
        }
        if self.disable_active_migration {
            put(out, table::DISABLE_ACTIVE_MIGRATION, &[]);
        }
        if let Some(address) = self.preferred_address {
            put(out, table::PREFERRED_ADDRESS, &preferred_address(&address));
        }
        put_id(out, table::INITIAL_SOURCE_CONNECTION_ID, self.initial_source_connection_id);
        put_id(out, table::RETRY_SOURCE_CONNECTION_ID, self.retry_source_connection_id);
        if self.grease_quic_bit {
            put(out, table::GREASE_QUIC_BIT, &[]);
        }
        if self.reset_stream_at {
            put(out, table::RESET_STREAM_AT, &[]);
        }
        if self.immediate_ack_bit {
            put(out, table::IMMEDIATE_ACK_BIT, &[]);
        }
        if let Some(delay) = self.min_ack_delay_us {
            encode(out, table::MIN_ACK_DELAY);
            encode(out, varint::size(delay) as u64);
            encode(out, delay);
        }
        if self.enable_bdp > 0 {
            encode(out, table::ENABLE_BDP);
            encode(out, varint::size(self.enable_bdp) as u64);
            encode(out, self.enable_bdp);
        }
        if let Some(information) = self.version_information {
            put(out, table::VERSION_INFORMATION, &version_information(&information));
        }
        if let Some((id, value)) = unknown {
            put(out, id, value);
        }
    }
}

fn put(out: &mut Vec<u8>, id: u64, value: &[u8]) {
    encode(out, id);
    encode(out, value.len() as u64);
    out.extend_from_slice(value);
}

fn put_id(out: &mut Vec<u8>, id: u64, value: Option<ConnectionId>) {
    if let Some(value) = value {
        put(out, id, value.as_bytes());
    }
}

fn preferred_address(address: &PreferredAddress) -> Vec<u8> {
    let mut out = Vec::with_capacity(41 + ConnectionId::MAX_LENGTH);
    out.extend(address.ipv4.map_or([0; 4], |v4| v4.ip().octets()));
    out.extend(address.ipv4.map_or(0, |v4| v4.port()).to_be_bytes());
    out.extend(address.ipv6.map_or([0; 16], |v6| v6.ip().octets()));
    out.extend(address.ipv6.map_or(0, |v6| v6.port()).to_be_bytes());
    out.push(address.id.len() as u8);
    out.extend(address.id.as_bytes());
    out.extend(address.token);
    out
}

fn version_information(information: &VersionInformation) -> Vec<u8> {
    let versions = std::iter::once(information.chosen).chain(information.available.iter());
    versions.flat_map(|version| version.0.to_be_bytes()).collect()
}
