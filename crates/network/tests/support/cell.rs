//! A cell without a world around it.

use super::{arguments, ms};
use network::medium::{self, LaneView, Medium, MediumOptions};
use network::{Exits, NodeId, Packet, node_address};
use random::Generator;
use std::net::SocketAddr;
use trace::Interest;
use units::Time;

/// A cell without a world around it.
pub struct Cell {
    pub medium: Box<dyn Medium>,
    pub exits: Exits,
    pub now: Time,
    /// What arrived: when, at which attachment, and the number of the packet.
    pub got: Vec<(Time, u16, u32)>,
}

impl Cell {
    pub fn new(name: &str, seed: u64, cell: &[(&str, &str)], terminals: &[&[(&str, &str)]]) -> Cell {
        let row = medium::MEDIA.iter().find(|row| row.name == name).unwrap();
        let own = |given: &[(&str, &str)]| arguments(row.parameters, &[cell, given].concat());
        let mut attachments = vec![("medium cell enb".to_owned(), own(&[]))];
        let names = (0..).map(|number| format!("medium cell {number}"));
        attachments.extend(names.zip(terminals.iter().map(|given| own(given))));
        let options = MediumOptions {
            arguments: &own(&[]),
            attachments: &attachments,
            station: true,
            name: "medium cell",
            stream: &|name| Generator::new(seed, name),
            flows: &[],
            delays: true,
            interest: Interest::NONE,
        };
        let medium = medium::build(name, &options).unwrap();
        Cell { medium, exits: Exits::default(), now: Time::ZERO, got: Vec::new() }
    }
    /// Sends a packet of this size from one attachment to another at a time.
    pub fn send(&mut self, at: Time, ends: (u16, u16), number: u32, size: u32) {
        self.run(at);
        let address = |end: u16| SocketAddr::new(node_address(NodeId(end.into()), false), 1);
        let mut packet = Packet::new(address(ends.0), address(ends.1), vec![0; size as usize - 28], None);
        packet.flow = number;
        self.medium.offer(at, ends.0, ends.1, Box::new(packet), &mut self.exits);
    }
    /// Runs up to and at a time.
    pub fn run(&mut self, until: Time) {
        while let Some(at) = self.medium.wake_at().filter(|at| *at <= until) {
            assert!(at >= self.now, "time goes back from {} to {at}", self.now);
            self.now = at;
            while self.medium.is_due(at) {
                if let Some((to, packet)) = self.medium.deliver(at, &mut self.exits) {
                    self.got.push((at, to, packet.flow));
                }
            }
        }
        self.now = until;
        self.medium.catch_up(until, &mut self.exits);
    }
    pub fn lane(&self, number: usize) -> LaneView<'_> {
        self.medium.lane(number)
    }
    pub fn rate_mbps(&self, lane: usize) -> f64 {
        self.lane(lane).stats.delivered.bytes as f64 * 8e-6 / self.now.as_secs_f64()
    }
}

/// Keeps the downlink queues of some terminals filled with packets of 1500 bytes.
pub fn saturate(cell: &mut Cell, terminals: u16, seconds: u64) {
    let mut number = 0;
    for step in 0..100 * seconds {
        for terminal in 1..=terminals {
            let waiting = cell.lane(2 * usize::from(terminal - 1)).stats.inside.packets;
            for _ in waiting..200 {
                cell.send(ms(10 * step), (0, terminal), number, 1500);
                number += 1;
            }
        }
        cell.run(ms(10 * (step + 1)));
    }
}
