//! Datagrams: UDP's, on their way into an endpoint and out of one, and those of applications.

use crate::{Data, DatagramError};
use std::net::SocketAddr;
use wire::{Damage, Ecn, Hole, TypedPacket};

/// A received UDP datagram.
#[derive(Debug)]
pub struct Datagram<'a> {
    /// The local address. An unspecified IP address (0.0.0.0, ::) stands for the system's choice.
    pub local: SocketAddr,
    /// The address of the sender.
    pub remote: SocketAddr,
    /// The ECN field.
    pub ecn: Ecn,
    /// The payload, without the bytes of the hole. Opening a packet alters it.
    pub bytes: &'a mut [u8],
    /// The virtual bytes of the payload.
    pub hole: Option<Hole>,
    /// Where the datagram was altered, if the network knows.
    pub damage: Option<Damage>,
}

impl Datagram<'_> {
    /// The length of the payload in bytes, hole included.
    #[inline]
    pub fn length(&self) -> usize {
        self.bytes.len() + self.hole.map_or(0, |hole| hole.length as usize)
    }
}

/// Where a datagram has arrived, and how it was marked.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// The local address.
    pub local: &'a SocketAddr,
    /// The address of the sender.
    pub remote: &'a SocketAddr,
    /// The ECN field.
    pub ecn: Ecn,
}

/// A UDP datagram to send; its payload is in the place that the caller gave ([`Outgoing`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// The local address. An unspecified IP address (0.0.0.0, ::) leaves the choice to the system.
    pub local: SocketAddr,
    /// The address of the receiver.
    pub remote: SocketAddr,
    /// The ECN field.
    pub ecn: Ecn,
    /// The virtual bytes of the payload, which are not among the bytes there.
    pub hole: Option<Hole>,
    /// Whether it carries application data.
    pub carries_data: bool,
    /// The length of the payload in bytes, hole included.
    pub length: usize,
    /// Whether the connection that sent it has neither more to send now nor anything to tell its host. It is not active any
    /// more then.
    pub last: bool,
}

/// The place for the payload of a datagram to send.
#[derive(Debug)]
pub struct Outgoing<'a> {
    /// For the bytes. It is empty.
    pub bytes: &'a mut Vec<u8>,
    /// For a packet that stays typed, in place of all bytes, if the network takes such packets. It is empty.
    pub typed: Option<&'a mut Option<TypedPacket>>,
}

impl<'a> Outgoing<'a> {
    /// A place for bytes only.
    #[inline]
    pub fn bytes(bytes: &'a mut Vec<u8>) -> Outgoing<'a> {
        Outgoing { bytes, typed: None }
    }
}

/// The datagrams of an application (RFC 9221).
pub trait Datagrams {
    /// Sends a datagram, which arrives whole or not at all; returns its number for later events.
    ///
    /// # Errors
    /// See [`DatagramError`]. [`DatagramError::NotNegotiated`] on a transport without datagrams.
    fn send_datagram(&mut self, data: Data<'_>) -> Result<u64, DatagramError>;
    /// Takes the oldest received datagram and appends its bytes to `into`, if given; returns its length.
    fn read_datagram(&mut self, into: Option<&mut Vec<u8>>) -> Option<u64>;
    /// The maximum length in bytes of a datagram now; `None` without datagrams.
    fn max_datagram_size(&self) -> Option<usize>;
}

/// A transport without datagrams.
pub trait WithoutDatagrams {}

impl<T: WithoutDatagrams> Datagrams for T {
    fn send_datagram(&mut self, _: Data<'_>) -> Result<u64, DatagramError> {
        Err(DatagramError::NotNegotiated)
    }
    fn read_datagram(&mut self, _: Option<&mut Vec<u8>>) -> Option<u64> {
        None
    }
    fn max_datagram_size(&self) -> Option<usize> {
        None
    }
}
