//! The client's ports of a flow.

/// The client's ports, one for each connection of a flow: the port of the first connection, and a range for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ports {
    /// The port of the first connection.
    pub first: u16,
    /// The port of the second connection, and the first of the range.
    pub more: u16,
    /// The number of connections, at least 1.
    pub count: u16,
}

impl Ports {
    /// The port of a flow with a single connection.
    pub fn one(first: u16) -> Ports {
        Ports { first, more: first, count: 1 }
    }

    /// The port of the connection with an index.
    pub fn of(self, connection: usize) -> u16 {
        match connection {
            0 => self.first,
            _ => self.more + (connection - 1) as u16,
        }
    }

    /// The index of the connection at a port.
    #[inline]
    pub fn connection(self, port: u16) -> Option<usize> {
        if port == self.first {
            return Some(0);
        }
        port.checked_sub(self.more).filter(|at| at + 1 < self.count).map(|at| usize::from(at) + 1)
    }

    /// All ports, in the order of the connections.
    pub fn all(self) -> impl Iterator<Item = u16> {
        (0..usize::from(self.count)).map(move |connection| self.of(connection))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_connection_has_a_port() {
        let ports = Ports { first: 100, more: 200, count: 4 };
        assert_eq!(ports.all().collect::<Vec<_>>(), [100, 200, 201, 202]);
        for (connection, port) in ports.all().enumerate() {
            assert_eq!(ports.connection(port), Some(connection));
        }
        for other in [0, 99, 101, 199, 203, u16::MAX] {
            assert_eq!(ports.connection(other), None, "{other}");
        }
        assert_eq!(Ports::one(7).connection(7), Some(0));
        assert_eq!((Ports::one(7).connection(8), Ports::one(7).connection(6)), (None, None));
    }
}
