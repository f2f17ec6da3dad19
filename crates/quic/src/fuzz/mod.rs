//! Entry points for fuzzing: what a server issues and a client presents later, in any order and altered. The property tests of
//! this crate and the fuzz targets call the same functions.

mod bdp_frames;
mod tokens;

pub use bdp_frames::bdp_frames;
pub use tokens::tokens;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

/// One of a few client addresses; some are the same in IPv4 and in IPv6.
fn address(at: u8, port: u8) -> SocketAddr {
    let v4 = Ipv4Addr::new(192, 0, 2, at % 4);
    match at / 4 % 3 {
        0 => (v4, 50_000 + u16::from(port % 2)).into(),
        1 => (v4.to_ipv6_mapped(), 50_000).into(),
        _ => (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, u16::from(at)), 50_000).into(),
    }
}

/// Keeps something issued for later, in place of the oldest if there are many.
fn keep<T>(issued: &mut Vec<T>, new: T) {
    /// The maximum number kept.
    const MOST: usize = 64;
    if issued.len() == MOST {
        issued.remove(0);
    }
    issued.push(new);
}
