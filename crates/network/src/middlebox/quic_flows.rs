//! What middleboxes of an access node tell apart by ports, addresses and sizes alone: the direction of a QUIC packet, its
//! flow, and whether it carries acknowledgements only.

use super::MiddleboxOptions;
use crate::address::Port;
use crate::error::BuildError;
use crate::packet::{Packet, Protocol};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use units::Time;
use units::parameter::Options;

/// The options of every such middlebox.
#[derive(Debug, Clone, Options)]
pub(super) struct FlowOptions {
    /// links and media to the terminals, whose packets are uplink (default: the first of two links, or of two
    /// media; required otherwise)
    wireless: Option<Vec<String>>,
    /// UDP ports of QUIC servers, or ranges of them (Zhao et al. 2020 section 3.2: "according to the port
    /// number")
    #[option(default = ["443", "4433-4688"])]
    ports: Vec<String>,
    /// largest UDP payload in bytes of a packet with acknowledgements only (section 3.2 leaves it open; default:
    /// learned, 4 bytes above the smallest of the last 64 to 128 packets, at most 100)
    #[option(within = SHORTEST as u64..=1200)]
    ack_only_size: Option<u32>,
    /// maximum number of flows, by addresses and ports; the flow that was silent longest makes room for a new one
    #[option(default = 256, within = 1..=100_000)]
    flows: usize,
}

/// The shortest UDP payload of a QUIC packet in bytes: a first byte, four bytes of packet number and payload, and the tag of
/// 16 bytes (RFC 9001 section 5.4.2).
const SHORTEST: u32 = 21;
/// The learned size is at most this: what is larger carries data.
const LARGEST: u32 = 100;
/// How much larger than the smallest packet one with acknowledgements only may be. A MAX_DATA frame with a value of four bytes
/// has five bytes; a further ACK range has two if it is short (RFC 9000 sections 19.3.1 and 19.9).
const MARGIN: u32 = 4;
/// The number of packets after which the smallest begins anew. The minimum of the period before counts as well.
const PERIOD: u32 = 64;

/// The direction of a QUIC packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From a terminal to a server.
    Up,
    /// From a server to a terminal.
    Down,
}

/// The terminal and the server of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ends {
    pub terminal: SocketAddr,
    pub server: SocketAddr,
}

/// Tells QUIC packets and their direction.
#[derive(Debug)]
pub(super) struct Classifier {
    /// Whether each port of the node leads to terminals.
    wireless: Vec<bool>,
    /// First and last port of each range.
    ports: Vec<(u16, u16)>,
}

impl Classifier {
    /// Reads `wireless` and `ports`.
    pub(super) fn new(own: &FlowOptions, options: &MiddleboxOptions<'_>) -> Result<Classifier, BuildError> {
        Ok(Classifier { wireless: wireless(own.wireless.as_deref(), options)?, ports: ports(&own.ports)? })
    }
    /// The direction and the ends of a packet; `None` if it is not QUIC, or goes from terminal to terminal's server.
    #[inline]
    pub(super) fn of(&self, port: Port, packet: &Packet) -> Option<(Direction, Ends)> {
        let serves = |address: &SocketAddr| {
            self.ports.iter().any(|(first, last)| (*first..=*last).contains(&address.port()))
        };
        let up = *self.wireless.get(usize::from(port.0))?;
        let server = if up { &packet.destination } else { &packet.source };
        if packet.protocol() != Protocol::Udp || !serves(server) {
            return None;
        }
        Some(if up {
            (Direction::Up, Ends { terminal: packet.source, server: packet.destination })
        } else {
            (Direction::Down, Ends { terminal: packet.destination, server: packet.source })
        })
    }
}

/// An unusable option.
pub(super) fn problem(option: &'static str, problem: String) -> BuildError {
    BuildError::Option { option, problem }
}

fn wireless(names: Option<&[String]>, options: &MiddleboxOptions<'_>) -> Result<Vec<bool>, BuildError> {
    let carriers = options.carriers.join(", ");
    let mut wireless = vec![false; options.carriers.len()];
    if let Some(names) = names {
        for name in names {
            let Some(port) = options.carriers.iter().position(|carrier| carrier == name) else {
                let found = format!("found {name:?}; expected one of {carriers}");
                return Err(problem("wireless", format!("no link or medium of this node, {found}")));
            };
            wireless[port] = true;
        }
    } else if wireless.len() > 2 || (1..wireless.len()).contains(&options.links) {
        let missing =
            format!("missing, and it is unclear where the terminals are; expected some of {carriers}");
        return Err(problem("wireless", missing));
    } else if let Some(first) = wireless.first_mut() {
        *first = true;
    }
    if wireless.iter().all(|is| *is) || wireless.iter().all(|is| !is) {
        let wrong = format!("all or none of the node's links and media; expected some of {carriers}");
        return Err(problem("wireless", wrong));
    }
    Ok(wireless)
}

fn ports(texts: &[String]) -> Result<Vec<(u16, u16)>, BuildError> {
    let mut ports = Vec::new();
    for text in texts {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.trim().parse::<u16>(), last.trim().parse::<u16>()) {
            (Ok(first), Ok(last)) if first <= last => ports.push((first, last)),
            _ => {
                let wrong = format!(
                    "not a port, found {text:?}; expected a number up to 65535 or a range like \"4433-4435\""
                );
                return Err(problem("ports", wrong));
            }
        }
    }
    if ports.is_empty() {
        return Err(problem("ports", "empty; expected at least one port".to_owned()));
    }
    Ok(ports)
}

/// Tells packets with acknowledgements only from others of one direction of a flow, by their size.
#[derive(Debug, Clone)]
pub(super) struct AckOnly {
    fixed: Option<u32>,
    /// The smallest payloads in this period and in the one before.
    smallest: [u32; 2],
    seen: u32,
}

impl AckOnly {
    /// Reads `ack_only_size`.
    pub(super) fn new(options: &FlowOptions) -> AckOnly {
        AckOnly { fixed: options.ack_only_size, smallest: [u32::MAX; 2], seen: 0 }
    }
    /// Whether a packet carries acknowledgements only, as far as its size tells. A payload that is too short for QUIC does
    /// not, and nothing is learned from it.
    #[inline]
    pub(super) fn judge(&mut self, packet: &Packet) -> bool {
        let payload = packet.payload() as u32;
        if payload < SHORTEST {
            return false;
        }
        if let Some(largest) = self.fixed {
            return payload <= largest;
        }
        self.smallest[0] = self.smallest[0].min(payload);
        self.seen += 1;
        let largest = self.smallest[0].min(self.smallest[1]).saturating_add(MARGIN).min(LARGEST);
        if self.seen == PERIOD {
            (self.smallest, self.seen) = ([u32::MAX, self.smallest[0]], 0);
        }
        payload <= largest
    }
}

/// The remembered flows, each with a state. A flow keeps its slot until it is forgotten.
#[derive(Debug)]
pub(super) struct Flows<F> {
    by_ends: BTreeMap<Ends, usize>,
    slots: Vec<(Time, Ends, F)>,
    most: usize,
}

/// The slot of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// It is known.
    Known(usize),
    /// It is new; the state in its slot is that of a forgotten flow, if any.
    New(usize),
}

impl<F> Flows<F> {
    /// Reads `flows`.
    pub(super) fn new(options: &FlowOptions) -> Flows<F> {
        Flows { by_ends: BTreeMap::new(), slots: Vec::new(), most: options.flows }
    }
    /// The flow with these ends, which has a packet now. A new one starts with the state `fresh`, or takes the slot of the
    /// flow that was silent for longest; its state is then left to the caller.
    pub(super) fn find(&mut self, now: Time, ends: Ends, fresh: impl FnOnce() -> F) -> Found {
        if let Some(slot) = self.by_ends.get(&ends) {
            self.slots[*slot].0 = now;
            return Found::Known(*slot);
        }
        if self.slots.len() < self.most {
            self.by_ends.insert(ends, self.slots.len());
            self.slots.push((now, ends, fresh()));
            return Found::New(self.slots.len() - 1);
        }
        let slot = (0..self.slots.len()).min_by_key(|slot| self.slots[*slot].0);
        let slot = slot.expect("a table that is full has a flow");
        let known = self.by_ends.remove(&self.slots[slot].1);
        debug_assert_eq!(known, Some(slot), "a flow is found by its ends");
        self.by_ends.insert(ends, slot);
        (self.slots[slot].0, self.slots[slot].1) = (now, ends);
        Found::New(slot)
    }
    /// The states in all slots.
    pub(super) fn states(&self) -> impl Iterator<Item = &F> {
        self.slots.iter().map(|(_, _, state)| state)
    }
    /// Stops unless each flow has a slot and is found by its ends, and `check` its state.
    pub(super) fn check(&self, mut check: impl FnMut(usize, &F)) {
        assert_eq!(self.by_ends.len(), self.slots.len(), "each flow has its slot");
        assert!(self.slots.len() <= self.most, "no more flows are remembered than may be");
        for (slot, (_, ends, state)) in self.slots.iter().enumerate() {
            assert_eq!(self.by_ends.get(ends), Some(&slot), "a flow is found by its ends");
            check(slot, state);
        }
    }
    /// The state in a slot.
    #[inline]
    pub(super) fn state(&mut self, slot: usize) -> &mut F {
        &mut self.slots[slot].2
    }
}

#[cfg(test)]
pub(super) mod testing;

#[cfg(test)]
mod tests;
