//! UDP datagrams on their way into an endpoint and out of one.

use std::net::SocketAddr;
use wire::{Damage, Ecn, Hole};

/// A UDP datagram that arrived.
#[derive(Debug)]
pub struct Datagram<'a> {
    /// The address here that it came to. An unspecified IP address (0.0.0.0, ::) stands for whatever the system chose.
    pub local: SocketAddr,
    /// Where it came from.
    pub remote: SocketAddr,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Its payload, without the bytes of the hole. Opening it alters it.
    pub bytes: &'a mut [u8],
    /// Its virtual bytes.
    pub hole: Option<Hole>,
    /// Where it was altered, if the network knows.
    pub damage: Option<Damage>,
}

impl Datagram<'_> {
    /// Its length in bytes, hole included.
    #[inline]
    pub fn length(&self) -> usize {
        self.bytes.len() + self.hole.map_or(0, |hole| hole.length as usize)
    }
}

/// A UDP datagram that is to be sent; its bytes stand in the buffer that was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// The address here that it leaves from. An unspecified IP address (0.0.0.0, ::) leaves the choice to the system.
    pub local: SocketAddr,
    /// Where to.
    pub remote: SocketAddr,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Its virtual bytes, which do not stand in the buffer.
    pub hole: Option<Hole>,
    /// Whether it carries application data.
    pub carries_data: bool,
    /// Its length in bytes, hole included.
    pub length: usize,
}
