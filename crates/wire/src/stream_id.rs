//! Stream ids, which encode the initiator and the direction (RFC 9000 section 2.1).

use std::fmt;

/// An end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The end that opened the connection.
    Client,
    /// The end that accepted it.
    Server,
}

impl Side {
    /// The other end.
    #[inline]
    pub const fn peer(self) -> Side {
        match self {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        }
    }
    /// Whether this is the client.
    #[inline]
    pub const fn is_client(self) -> bool {
        matches!(self, Side::Client)
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Client => "client",
            Side::Server => "server",
        })
    }
}

/// The direction of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Both directions.
    Bidirectional,
    /// Only from the initiator.
    Unidirectional,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Bidirectional => "bidirectional",
            Direction::Unidirectional => "unidirectional",
        })
    }
}

/// A stream id, 0 to 2^62 - 1: the lowest bit is the initiator, the next one the direction, the rest the index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(u64);

impl StreamId {
    /// The maximum number of streams of one type, 2^60 (RFC 9000 section 4.6).
    pub const MAX_COUNT: u64 = 1 << 60;

    /// The id of the stream with this initiator, direction and index. The index counts from 0 and is below
    /// [`StreamId::MAX_COUNT`].
    #[inline]
    pub const fn new(initiator: Side, direction: Direction, index: u64) -> StreamId {
        debug_assert!(index < StreamId::MAX_COUNT);
        let initiator = matches!(initiator, Side::Server) as u64;
        let direction = matches!(direction, Direction::Unidirectional) as u64;
        StreamId(index << 2 | direction << 1 | initiator)
    }
    /// The id with this value, at most 2^62 - 1.
    #[inline]
    pub const fn from_value(value: u64) -> StreamId {
        debug_assert!(value <= crate::varint::MAX);
        StreamId(value)
    }
    /// The value on the wire.
    #[inline]
    pub const fn value(self) -> u64 {
        self.0
    }
    /// The side that opens the stream.
    #[inline]
    pub const fn initiator(self) -> Side {
        if self.0 & 1 == 0 { Side::Client } else { Side::Server }
    }
    /// The direction.
    #[inline]
    pub const fn direction(self) -> Direction {
        if self.0 & 2 == 0 { Direction::Bidirectional } else { Direction::Unidirectional }
    }
    /// The index among the streams of its type, counted from 0.
    #[inline]
    pub const fn index(self) -> u64 {
        self.0 >> 2
    }
    /// Whether `side` may send data on it.
    #[inline]
    pub const fn sends(self, side: Side) -> bool {
        matches!(self.direction(), Direction::Bidirectional) || self.initiator() as u8 == side as u8
    }
    /// Whether `side` may receive data on it.
    #[inline]
    pub const fn receives(self, side: Side) -> bool {
        self.sends(side.peer())
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl fmt::Debug for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StreamId({}: {} {} {})", self.0, self.initiator(), self.direction(), self.index())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9000 table 1.
    #[test]
    fn the_two_low_bits_are_the_type() {
        use Direction::{Bidirectional, Unidirectional};
        use Side::{Client, Server};
        for (bits, initiator, direction) in [
            (0, Client, Bidirectional),
            (1, Server, Bidirectional),
            (2, Client, Unidirectional),
            (3, Server, Unidirectional),
        ] {
            for index in [0, 1, 77, StreamId::MAX_COUNT - 1] {
                let id = StreamId::new(initiator, direction, index);
                assert_eq!(id, StreamId::from_value(index << 2 | bits));
                assert_eq!((id.initiator(), id.direction(), id.index()), (initiator, direction, index));
                assert!(id.value() <= crate::varint::MAX);
                assert!(id.sends(initiator) && id.receives(initiator.peer()));
                assert_eq!(id.receives(initiator), direction == Bidirectional);
                assert_eq!(id.sends(initiator.peer()), direction == Bidirectional);
            }
        }
    }

    #[test]
    fn prints_its_meaning() {
        assert_eq!(format!("{:?}", StreamId::from_value(7)), "StreamId(7: server unidirectional 1)");
        assert_eq!(StreamId::from_value(7).to_string(), "7");
    }
}
