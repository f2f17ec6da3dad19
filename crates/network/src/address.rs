//! The address plan: the node, and the port, of an IP address.
//!
//! A node has one address of its own, 10.0.x.y (RFC 1918) or fd00::n (RFC 4193) with n = 256 x + y: its index
//! plus one. Packets to it take the shortest route and may arrive by any port. The ports from 0 to 254 also
//! have an address each, 10.k.x.y or fd00::k:n with k = port + 1. Packets to it only arrive by that port.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A node, by its index in the order of definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// An attachment of a node to a carrier. The ports of a node are numbered from 0 in the order of definition, links first,
/// then media.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Port(pub u16);

/// The maximum number of nodes of a network: tables of next hops grow with its square, and an address has 16
/// bits for the node.
pub const MAX_NODES: usize = 10_000;
/// The maximum number of ports of a node with an address of their own.
pub const MAX_ADDRESSED_PORTS: u16 = 255;

const V4: u32 = 0x0a00_0000;
const V6: u128 = 0xfd00 << 112;
/// An address has eight bits for the port and sixteen for the node.
const PORT_SHIFT: u32 = 16;
const BITS: u32 = 24;

/// The address of a node.
pub fn node_address(node: NodeId, ipv6: bool) -> IpAddr {
    address(node.0 + 1, ipv6)
}

/// The address of a port of a node; `None` from port 255 on.
pub fn port_address(node: NodeId, port: Port, ipv6: bool) -> Option<IpAddr> {
    let number = u32::from(port.0) + 1;
    (port.0 < MAX_ADDRESSED_PORTS).then(|| address(number << PORT_SHIFT | (node.0 + 1), ipv6))
}

fn address(number: u32, ipv6: bool) -> IpAddr {
    if ipv6 {
        IpAddr::V6(Ipv6Addr::from(V6 | u128::from(number)))
    } else {
        IpAddr::V4(Ipv4Addr::from(V4 | number))
    }
}

/// The part of an address of this plan behind the prefix.
#[inline]
fn number(address: IpAddr) -> Option<u32> {
    let number = match address {
        IpAddr::V4(v4) => u32::from(v4) ^ V4,
        IpAddr::V6(v6) => u32::try_from(u128::from(v6) ^ V6).ok()?,
    };
    (number >> BITS == 0).then_some(number)
}

/// The node of an address of this plan, whether it is the address of the node or of a port.
#[inline]
pub fn node_of(address: IpAddr) -> Option<NodeId> {
    (number(address)? & 0xffff).checked_sub(1).map(NodeId)
}

/// The node whose own address this is; `None` for the address of a port, too.
#[inline]
pub(crate) fn owner_of(address: IpAddr) -> Option<NodeId> {
    let number = number(address)?;
    (number >> PORT_SHIFT == 0).then_some(NodeId(number.checked_sub(1)?))
}

/// The port of an address; `None` for the address of a node.
#[inline]
pub fn port_of(address: IpAddr) -> Option<Port> {
    let port = number(address)? >> PORT_SHIFT;
    port.checked_sub(1).map(|port| Port(port as u16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_nodes_are_one_to_one() {
        for n in [0, 1, 255, 9_999] {
            for ipv6 in [false, true] {
                let own = node_address(NodeId(n), ipv6);
                assert_eq!(
                    (node_of(own), owner_of(own), port_of(own)),
                    (Some(NodeId(n)), Some(NodeId(n)), None)
                );
                for port in [Port(0), Port(254)] {
                    let address = port_address(NodeId(n), port, ipv6).unwrap();
                    assert_eq!((node_of(address), port_of(address)), (Some(NodeId(n)), Some(port)));
                    assert_eq!(owner_of(address), None);
                }
                assert_eq!(port_address(NodeId(n), Port(255), ipv6), None);
            }
        }
        assert_eq!(node_address(NodeId(0), false).to_string(), "10.0.0.1");
        assert_eq!(node_address(NodeId(0), true).to_string(), "fd00::1");
        assert_eq!(port_address(NodeId(1), Port(1), false).unwrap().to_string(), "10.2.0.2");
        assert_eq!(port_address(NodeId(1), Port(1), true).unwrap().to_string(), "fd00::2:2");
        for other in ["9.0.0.1", "11.0.0.1", "10.0.0.0", "10.3.0.0", "fe00::1", "fd00::1:0:1"] {
            assert_eq!(node_of(other.parse().unwrap()), None, "{other}");
        }
    }
}
