//! The decoder of transport parameters.

use crate::parameters::{PreferredAddress, TransportParameters, VersionInformation, VersionList, table};
use crate::varint::{Reader, UnexpectedEnd};
use crate::{Code, ConnectionId, Side, Version};
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};

/// A problem with a transport parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterProblem {
    /// The bytes end within the parameter, or its value has a wrong length.
    Length,
    /// It occurs twice (RFC 9000 section 7.4).
    Duplicate,
    /// Its value is out of range (RFC 9000 section 18.2).
    Range,
    /// Only servers may send it (RFC 9000 section 18.2).
    ServerOnly,
    /// A preferred address without a connection id, or from a server with an empty connection id (RFC 9000 section
    /// 18.2).
    PreferredAddress,
}

/// A transport parameter error, which closes the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterError {
    /// The identifier of the parameter; `u64::MAX`, which is not an identifier, if it could not be read.
    pub id: u64,
    /// The problem.
    pub problem: ParameterProblem,
}

impl ParameterError {
    /// Always TRANSPORT_PARAMETER_ERROR (RFC 9000-7.4-1).
    pub const fn code(&self) -> Code {
        Code::TRANSPORT_PARAMETER_ERROR
    }
    /// The text for the reason phrase of the CONNECTION_CLOSE frame.
    pub const fn reason(&self) -> &'static str {
        match self.problem {
            ParameterProblem::Length => "a transport parameter of the wrong length",
            ParameterProblem::Duplicate => "a transport parameter that occurs twice",
            ParameterProblem::Range => "a transport parameter that is out of range",
            ParameterProblem::ServerOnly => "a transport parameter that only a server may send",
            ParameterProblem::PreferredAddress => "a preferred address without a connection ID",
        }
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id {
            u64::MAX => f.write_str(self.reason()),
            id => write!(f, "{} ({id:#04x})", self.reason()),
        }
    }
}
impl std::error::Error for ParameterError {}

impl From<UnexpectedEnd> for ParameterProblem {
    fn from(_: UnexpectedEnd) -> ParameterProblem {
        ParameterProblem::Length
    }
}

impl TransportParameters {
    /// Decodes the parameters sent by the side `from`. Unknown parameters are ignored (RFC 9000 section 7.4.2).
    ///
    /// # Errors
    /// See [`ParameterProblem`].
    pub fn decode(bytes: &[u8], from: Side) -> Result<TransportParameters, ParameterError> {
        let mut parameters = TransportParameters::default();
        let mut seen = Vec::new();
        let mut reader = Reader::new(bytes);
        while !reader.is_empty() {
            let unread = |UnexpectedEnd| ParameterError { id: u64::MAX, problem: ParameterProblem::Length };
            let id = reader.varint().map_err(unread)?;
            seen.push(id);
            let error = |problem| ParameterError { id, problem };
            let value = reader.prefixed().map_err(|UnexpectedEnd| error(ParameterProblem::Length))?;
            parameters.set(id, value, from).map_err(error)?;
        }
        // All of them, including unknown ones. Sorting keeps the check of a long list fast.
        seen.sort_unstable();
        if let Some(pair) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ParameterError { id: pair[0], problem: ParameterProblem::Duplicate });
        }
        // draft-ietf-quic-ack-frequency section 3: min_ack_delay must not exceed max_ack_delay.
        if parameters.min_ack_delay_us.is_some_and(|least| least > parameters.max_ack_delay_ms * 1000) {
            return Err(ParameterError { id: table::MIN_ACK_DELAY, problem: ParameterProblem::Range });
        }
        // RFC 9000-18.2-5: "a violation of these requirements": an empty id.
        if parameters.preferred_address.is_some()
            && parameters.initial_source_connection_id == Some(ConnectionId::EMPTY)
        {
            let problem = ParameterProblem::PreferredAddress;
            return Err(ParameterError { id: table::PREFERRED_ADDRESS, problem });
        }
        Ok(parameters)
    }

    fn set(&mut self, id: u64, value: &[u8], from: Side) -> Result<(), ParameterProblem> {
        // RFC 9000-18.2-9: "receipt of any of these transport parameters" from a client.
        let server_only = || if from.is_client() { Err(ParameterProblem::ServerOnly) } else { Ok(()) };
        let connection_id = || ConnectionId::new(value).map(Some).ok_or(ParameterProblem::Length);
        match id {
            table::ORIGINAL_DESTINATION_CONNECTION_ID => {
                server_only()?;
                self.original_destination_connection_id = connection_id()?;
            }
            table::STATELESS_RESET_TOKEN => {
                server_only()?;
                self.stateless_reset_token = Some(value.try_into().map_err(|_| ParameterProblem::Length)?);
            }
            table::DISABLE_ACTIVE_MIGRATION => {
                if !value.is_empty() {
                    return Err(ParameterProblem::Length);
                }
                self.disable_active_migration = true;
            }
            table::GREASE_QUIC_BIT => {
                // RFC 9287-3-1: "receipt of a non-empty value".
                if !value.is_empty() {
                    return Err(ParameterProblem::Length);
                }
                self.grease_quic_bit = true;
            }
            table::RESET_STREAM_AT => {
                if !value.is_empty() {
                    return Err(ParameterProblem::Length);
                }
                self.reset_stream_at = true;
            }
            table::IMMEDIATE_ACK_BIT => {
                if !value.is_empty() {
                    return Err(ParameterProblem::Length);
                }
                self.immediate_ack_bit = true;
            }
            table::PREFERRED_ADDRESS => {
                server_only()?;
                self.preferred_address = Some(preferred_address(value)?);
            }
            table::INITIAL_SOURCE_CONNECTION_ID => self.initial_source_connection_id = connection_id()?,
            table::RETRY_SOURCE_CONNECTION_ID => {
                server_only()?;
                self.retry_source_connection_id = connection_id()?;
            }
            table::MIN_ACK_DELAY => {
                let mut reader = Reader::new(value);
                self.min_ack_delay_us = Some(reader.varint()?);
                if !reader.is_empty() {
                    return Err(ParameterProblem::Length);
                }
            }
            table::ENABLE_BDP => {
                let mut reader = Reader::new(value);
                self.enable_bdp = reader.varint()?;
                if !reader.is_empty() {
                    return Err(ParameterProblem::Length);
                }
                if self.enable_bdp > 3 {
                    return Err(ParameterProblem::Range);
                }
            }
            table::VERSION_INFORMATION => {
                let information = version_information(value)?;
                // RFC 9368 section 4: a client's list that lacks the chosen version is a parse error.
                if from.is_client() && !information.available.contains(information.chosen) {
                    return Err(ParameterProblem::Range);
                }
                self.version_information = Some(information);
            }
            _ => {
                // RFC 9000-7.4.2-1: "transport parameters that it does not support".
                let Some(row) = table::INTEGERS.iter().find(|row| row.id == id) else { return Ok(()) };
                let mut reader = Reader::new(value);
                let integer = reader.varint()?;
                if !reader.is_empty() {
                    return Err(ParameterProblem::Length);
                }
                if !row.range.contains(&integer) {
                    return Err(ParameterProblem::Range);
                }
                (row.set)(self, integer);
            }
        }
        Ok(())
    }
}

fn preferred_address(value: &[u8]) -> Result<PreferredAddress, ParameterProblem> {
    let mut reader = Reader::new(value);
    let ipv4 = SocketAddrV4::new(Ipv4Addr::from(reader.array::<4>()?), reader.u16()?);
    let ipv6 = SocketAddrV6::new(Ipv6Addr::from(reader.array::<16>()?), reader.u16()?, 0, 0);
    let length = usize::from(reader.u8()?);
    let id = ConnectionId::new(reader.bytes(length)?).ok_or(ParameterProblem::Length)?;
    let token = reader.array()?;
    if !reader.is_empty() {
        return Err(ParameterProblem::Length);
    }
    if id.is_empty() {
        return Err(ParameterProblem::PreferredAddress);
    }
    Ok(PreferredAddress {
        // An address is absent only if all its bytes are zero.
        ipv4: (ipv4 != SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0)).then_some(ipv4),
        ipv6: (ipv6 != SocketAddrV6::new(Ipv6Addr::UNSPECIFIED, 0, 0, 0)).then_some(ipv6),
        id,
        token,
    })
}

/// RFC 9368 section 4: an error if it is too short, if its length is not divisible by four, or if a version is zero.
fn version_information(value: &[u8]) -> Result<VersionInformation, ParameterProblem> {
    let mut reader = Reader::new(value);
    let mut next = || match reader.is_empty() {
        true => Ok(None),
        false => match Version(reader.u32()?) {
            Version::NEGOTIATION => Err(ParameterProblem::Range),
            version => Ok(Some(version)),
        },
    };
    let chosen = next()?.ok_or(ParameterProblem::Length)?;
    let mut available = VersionList::default();
    while let Some(version) = next()? {
        available.push(version);
    }
    Ok(VersionInformation { chosen, available })
}
