//! One split connection: the connection with the client, the one with the server, and the data between them.

use crate::capture::Tap;
use network::{Exits, Ledger, Packet};
use std::net::SocketAddr;
use tcp::{Arrival, Connection, State};
use trace::Log;
use units::{Duration, Time};

/// The two sides of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The proxy takes the place of the server.
    Client,
    /// The proxy takes the place of the client.
    Server,
}

impl Side {
    pub(super) const BOTH: [Side; 2] = [Side::Client, Side::Server];

    /// The name in a scenario.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Side::Client => "client",
            Side::Server => "server",
        }
    }
}

/// The connection on one side.
pub(super) struct Half {
    pub connection: Connection,
    /// The address whose place the proxy takes.
    pub local: SocketAddr,
    /// The number in the packets from that address: see [`Packet::flow`].
    pub flow: u32,
}

impl Half {
    /// Whether the connection needs no more memory.
    fn is_over(&self) -> bool {
        // A passive open returns to LISTEN when its client gives up.
        matches!(self.connection.state(), State::Closed | State::Listen)
    }

    /// Sends what the connection has to send; returns the number of packets.
    fn transmit(&mut self, now: Time, tap: Option<&Tap>, made: &mut Ledger, exits: &mut Exits) -> u64 {
        let mut sent = 0;
        loop {
            let mut bytes = exits.buffer();
            let Some(transmit) = self.connection.transmit(now, &mut bytes) else {
                exits.recycle(bytes);
                return sent;
            };
            let packet = exits.send_new(self.local, transmit.remote, bytes, transmit.hole);
            packet.ecn = transmit.ecn;
            packet.flow = self.flow;
            packet.data = transmit.carries_data;
            packet.carry_tcp();
            made.add(packet.flow, packet.size);
            capture(now, packet, tap);
            sent += 1;
        }
    }

    /// Whether the connection was lost before its data ended.
    fn is_broken(&self) -> bool {
        let broken = self.connection.close_reason().is_some_and(tcp::CloseReason::is_broken);
        broken || self.connection.state() == State::Listen
    }
}

/// Captures a packet. The capture keeps an error, and reports it at its end.
fn capture(now: Time, packet: &Packet, tap: Option<&Tap>) {
    if let Some(tap) = tap {
        let _ = tap.packet(now, packet);
    }
}

/// What came of serving a splice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Served {
    /// The packets sent on both sides.
    pub packets: u64,
    /// The bytes relayed to the server and to the client.
    pub relayed: [u64; 2],
    /// Whether a reset was handed through.
    pub reset: bool,
}

/// A connection that the proxy has split.
pub(super) struct Splice {
    /// The halves, by [`Side`].
    halves: [Half; 2],
    /// Its number among those of the flow.
    pub number: u32,
    /// The bytes in its buffers when it was last served.
    pub buffered: u64,
}

impl Splice {
    /// Joins the connection with the client, which waits for the client's SYN, and that with the server, which opens.
    pub(super) fn new(client: Half, server: Half, number: u32) -> Splice {
        Splice { halves: [client, server], number, buffered: 0 }
    }

    /// The connection on a side.
    pub(super) fn half(&self, side: Side) -> &Half {
        &self.halves[side as usize]
    }
    /// The logs of both connections, with the numbers in their packets.
    pub(super) fn logs(&mut self) -> [(u32, &mut Log); 2] {
        self.halves.each_mut().map(|half| (half.flow, half.connection.log()))
    }

    /// Hands a packet to the connection on a side, and returns its memory.
    pub(super) fn receive(
        &mut self,
        now: Time,
        side: Side,
        packet: Box<Packet>,
        tap: Option<&Tap>,
        exits: &mut Exits,
    ) {
        capture(now, &packet, tap);
        self.halves[side as usize].connection.receive(
            now,
            Arrival {
                remote: packet.source,
                ecn: packet.ecn,
                bytes: &packet.bytes,
                hole: packet.hole(),
                damage: packet.damage(),
            },
        );
        exits.discard(packet);
    }

    /// Handles the expiry of the timers.
    pub(super) fn wake(&mut self, now: Time) {
        for half in &mut self.halves {
            if half.connection.wake_at().is_some_and(|at| at <= now) {
                half.connection.wake(now);
            }
        }
    }

    /// Relays what has arrived, as far as the buffers have room: data, the end of the data, and resets; then sends. On each
    /// side an end of the data follows all data, and a reset overtakes it.
    /// `made` counts the packets that are sent.
    pub(super) fn serve(
        &mut self,
        now: Time,
        taps: [Option<&Tap>; 2],
        made: &mut Ledger,
        exits: &mut Exits,
    ) -> Served {
        let [client, server] = &mut self.halves;
        let mut served = Served {
            relayed: [
                relay(now, &mut client.connection, &mut server.connection),
                relay(now, &mut server.connection, &mut client.connection),
            ],
            ..Served::default()
        };
        for half in [&mut *client, &mut *server] {
            // The halves are asked for their state; their events say nothing more.
            while half.connection.poll_event().is_some() {}
        }
        let broken = [client.is_broken(), server.is_broken()];
        for (half, other_broke) in [(&mut *client, broken[1]), (&mut *server, broken[0])] {
            if other_broke && half.connection.state() != State::Closed {
                half.connection.reset(now);
                served.reset = true;
            }
        }
        for (half, tap) in self.halves.iter_mut().zip(taps) {
            served.packets += half.transmit(now, tap, made, exits);
        }
        self.buffered = self.halves.iter().map(|half| held(&half.connection)).sum();
        served
    }

    /// The time of the next timer, after `now`, so that the clock always advances.
    pub(super) fn wake_at(&self, now: Time) -> Option<Time> {
        let at = self.halves.iter().filter_map(|half| half.connection.wake_at()).min()?;
        Some(at.max(now + Duration::from_nanos(1)))
    }

    /// Whether nothing is left to do, not even in TIME-WAIT.
    pub(super) fn is_over(&self) -> bool {
        self.halves.iter().all(Half::is_over)
    }
    /// Whether both connections have ended, apart from answers to late segments.
    pub(super) fn has_ended(&self) -> bool {
        self.halves.iter().all(|half| half.is_over() || half.connection.is_over())
    }
}

/// The bytes that a connection keeps: those to be relayed, and those that its peer has not acknowledged.
fn held(connection: &Connection) -> u64 {
    match connection.state() {
        State::Closed | State::Listen | State::TimeWait => 0,
        _ => connection.readable_bytes() + connection.unacknowledged_bytes(),
    }
}

/// Relays data and its end in one direction; returns the bytes.
fn relay(now: Time, from: &mut Connection, to: &mut Connection) -> u64 {
    // An error is a connection that has ended: what follows is in its state.
    let Ok(read) = from.relay(now, to) else { return 0 };
    if read.finished {
        // Has no effect from the second time on.
        let _ = to.finish_writing();
    }
    read.bytes
}
