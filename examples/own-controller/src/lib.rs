//! An example of a congestion controller in a crate of its own: a window that follows the delay.
//!
//! It holds as many packets in the queue as its option says, and halves at a loss. What is needed is the trait
//! [`Controller`], a [`ROW`] with the options, and [`congestion::plug`].

use congestion::{AckSample, Allowance, Build, Controller, Sent, Setup, Signal};
use units::Time;
use units::parameter::{Arguments, Default, Kind, Parameter, Row};

/// How scenarios name it, and what they can say: `controller = { type = "keeper", queued = 4 }`.
pub const ROW: Row<Build> = Row {
    name: "keeper",
    about: "an example: keeps some packets in the queue, and halves at a loss",
    parameters: &[Parameter {
        name: "queued",
        kind: Kind::Integer(1, 1000),
        default: Default::Is("4"),
        about: "packets that it wants to have in the queue",
    }],
    build: &|arguments, setup| Box::new(Keeper::new(arguments, setup)),
};

/// The state of one sender.
#[derive(Debug)]
pub struct Keeper {
    packet: u64,
    queued: u64,
    window: u64,
    /// What was sent up to then has had its answer.
    answered: Time,
}

impl Keeper {
    /// A sender with the initial window.
    pub fn new(arguments: &Arguments, setup: Setup) -> Keeper {
        let (packet, window) = (setup.max_datagram_size, setup.initial_window);
        Keeper { packet, queued: arguments.integer("queued"), window, answered: Time::ZERO }
    }
}

impl Controller for Keeper {
    fn on_sent(&mut self, _sent: &Sent) {}

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        if ack.newest_sent_at <= self.answered {
            return;
        }
        // Once in a round trip: what was in the queue is the share of the window that the delay above the least one is.
        self.answered = ack.now;
        let (least, latest) = (ack.rtt.min().as_nanos(), ack.rtt.latest().as_nanos().max(1));
        let in_queue = self.window * latest.saturating_sub(least) / latest;
        if in_queue < self.queued * self.packet {
            self.window += self.packet;
        } else {
            self.window = (self.window - self.packet).max(2 * self.packet);
        }
    }

    fn on_signal(&mut self, signal: &Signal<'_>) {
        match *signal {
            Signal::Lost { now, newest_sent_at, .. } if newest_sent_at > self.answered => {
                self.answered = now;
                self.window = (self.window / 2).max(2 * self.packet);
            }
            // Careful Resume: to half of what an earlier connection has saved, and back if there was congestion.
            Signal::Resume { adjustment, .. } => {
                if let Some(window) = adjustment.window() {
                    self.window = window.max(2 * self.packet);
                }
            }
            _ => {}
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance::new(self.window, None)
    }

    fn state(&self) -> &'static str {
        "keeping"
    }
}
