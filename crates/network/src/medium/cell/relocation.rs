//! What becomes of a terminal and its packets when another site serves it.
//!
//! At a handover both directions of the terminal begin anew (TS 36.300 section 10.1.2, TS 38.300 section 9.2.3): the
//! blocks of HARQ are given up, the station forgets the terminal's backlog, and bearers are re-established. For the time of
//! the interruption nothing is sent. Then the terminal asks for grants at the new site.
//!
//! A terminal that has nothing to send needs no timer: its handovers are computed when it is needed again.

use super::terminal::{Requests, Terminal, ToNode};
use super::{Cells, DOWN, UP};
use crate::exits::Exits;
use trace::Event;

impl Terminal {
    /// The slot in which the next decision takes effect; the end of time if there is none.
    pub(super) fn next_decision(&self, slot_ns: u64) -> u64 {
        let next = self.trigger.as_ref().and_then(|trigger| trigger.next());
        next.map_or(u64::MAX, |at| at.as_nanos().div_ceil(slot_ns))
    }
}

impl Cells {
    /// Lets the handovers of a terminal happen that are due up to and in a slot.
    #[inline]
    pub(super) fn follow(&mut self, number: usize, slot: u64, exits: &mut Exits) {
        while self.terminals[number].decides_at <= slot {
            self.decide(number, exits);
        }
    }

    #[cold]
    fn decide(&mut self, number: usize, exits: &mut Exits) {
        let terminal = &mut self.terminals[number];
        let slot = terminal.decides_at;
        let serving = terminal.link.serving;
        let trigger = terminal.trigger.as_mut().expect("a decision is due to a trigger");
        let at = trigger.next().expect("a trigger decides at its time");
        let sites = &mut terminal.link.sites;
        let is_away = slot < terminal.away_until;
        let site = trigger.decide(serving, is_away, &mut |site| sites.sinr_db(site, at));
        terminal.decides_at = terminal.next_decision(self.slot_ns);
        if site != serving {
            self.hand_over(number, site, slot, exits);
        }
    }

    /// Another site serves a terminal from a slot on.
    fn hand_over(&mut self, number: usize, site: usize, slot: u64, exits: &mut Exits) {
        let now = self.start_of(slot);
        let in_air = self.in_air.iter().any(|sent| usize::from(sent.terminal) == number);
        assert!(!in_air, "a terminal is handed over while none of its blocks is in the air");
        let terminal = &mut self.terminals[number];
        for way in [DOWN, UP] {
            self.sites[terminal.link.serving].set_ready(way, number as u16, None);
            // The packets of an uplink stay at the terminal.
            let keeps = way == UP || self.forwarding;
            let direction = terminal.direction(way);
            if !keeps {
                direction.lose_waiting(now, exits);
            }
            let lost = direction.harq.flush();
            direction.air.lost += u64::from(lost);
            direction.air.handovers += 1;
            if direction.buffer.log().interest().metrics {
                direction.buffer.log().push(now, Event::Handover { site: site as u16, lost_blocks: lost });
            }
            let mut far = ToNode {
                buffer: &mut direction.buffer,
                air: &mut direction.air,
                exits,
                waiting: &mut direction.handed,
                handed: &mut self.handed,
                arrival: now + self.delay,
            };
            direction.bearer.reestablish(now, keeps, &mut far);
        }
        terminal.requests = Requests::default();
        terminal.link.move_to(site);
        terminal.away_until = slot + self.interruption;
    }
}
