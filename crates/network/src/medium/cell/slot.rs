//! What happens in a slot.
//!
//! A slot looks only at the terminals to which something happens in it: a block ends, a timer expires, a grant or a
//! repetition is due, or the scheduler chooses them. The others cost no more than their rank.

use super::terminal::{Direction, Grant, Terminal, ToNode};
use super::{Cells, DOWN, InAir, UP};
use crate::exits::Exits;
use trace::{BlockFate, Event};
use units::{Duration, Time};

/// The most bytes of headers and reports that a small block has beside its packets.
const OVERHEAD: u64 = 12;

impl Cells {
    /// Processes a slot, the next one in which something happens.
    pub(super) fn process(&mut self, slot: u64, exits: &mut Exits) {
        let now = self.start_of(slot);
        self.end_blocks(slot, now, exits);
        while let Some((_, number)) = self.timers.next().filter(|(at, _)| *at <= now) {
            self.timers.set(number, None);
            self.terminals[number].due = u64::MAX;
            visit(&mut self.visited, &mut self.terminals[number], number as u16, slot);
        }
        self.visited.sort_unstable();
        for at in 0..self.visited.len() {
            self.follow(self.visited[at].into(), slot, exits);
        }
        self.wake_bearers(now, exits);
        self.request(slot, now);
        self.grant(slot, now);
        self.send_downlink(slot, now, exits);
        self.send_uplink(slot, now, exits);
        self.plan(slot, now);
    }

    /// The blocks of the last slot have been received, or not.
    fn end_blocks(&mut self, slot: u64, now: Time, exits: &mut Exits) {
        let mut in_air = std::mem::take(&mut self.in_air);
        for sent in in_air.drain(..) {
            self.end_block(sent, now, exits);
            let number = sent.terminal;
            visit(&mut self.visited, &mut self.terminals[usize::from(number)], number, slot);
        }
        self.in_air = in_air;
    }

    fn end_block(&mut self, sent: InAir, now: Time, exits: &mut Exits) {
        let terminal = &mut self.terminals[usize::from(sent.terminal)];
        let (ahead, behind) = terminal.both(sent.way);
        let fate = match sent.failed {
            false => BlockFate::Received,
            true if ahead.harq.fail(sent.process) => BlockFate::Failed,
            true => BlockFate::Lost,
        };
        let block = ahead.harq.block(sent.process);
        let airtime_ns = self.slot_ns * u64::from(block.prbs) / u64::from(self.prbs);
        ahead.air.airtime += Duration::from_nanos(airtime_ns);
        ahead.buffer.stats.busy += Duration::from_nanos(airtime_ns);
        match block.attempt {
            1 => ahead.air.sent += 1,
            _ => ahead.air.again += 1,
        }
        ahead.air.lost += u64::from(fate == BlockFate::Lost);
        if ahead.buffer.log().interest().metrics {
            let (bytes, attempt, mcs, units) = (block.bytes, block.attempt, block.mcs, block.prbs);
            let airtime_ns = airtime_ns as u32;
            ahead
                .buffer
                .log()
                .push(now, Event::Block(trace::Block { bytes, airtime_ns, attempt, mcs, units, fate }));
        }
        if fate == BlockFate::Failed {
            return;
        }
        let mut block = std::mem::take(block);
        let arrival = now + self.delay;
        let mut far = ToNode {
            buffer: &mut ahead.buffer,
            air: &mut ahead.air,
            exits,
            waiting: &mut ahead.handed,
            handed: &mut self.handed,
            arrival,
        };
        if fate == BlockFate::Lost {
            for span in &block.filling.spans {
                ahead.bearer.give_up(now, *span, &mut far);
            }
        } else {
            for span in &block.filling.spans {
                ahead.bearer.receive(now, *span, &mut far);
            }
            if let Some(end) = block.filling.poll {
                ahead.bearer.note_poll(end);
            }
            if let Some(status) = block.filling.status.take() {
                let buffer = &mut behind.buffer;
                let mut far = ToNode {
                    buffer,
                    air: &mut behind.air,
                    exits,
                    waiting: &mut behind.handed,
                    handed: &mut self.handed,
                    arrival,
                };
                behind.bearer.take_status(now, &status, &mut far);
            }
            if let Some(bytes) = block.buffer_status {
                terminal.requests.note_status(bytes);
            }
        }
        terminal.direction(sent.way).harq.end(sent.process, block);
    }

    /// The timers of bearers.
    fn wake_bearers(&mut self, now: Time, exits: &mut Exits) {
        let arrival = now + self.delay;
        for number in &self.visited {
            let terminal = &mut self.terminals[usize::from(*number)];
            for way in [DOWN, UP] {
                let Direction { buffer, bearer, air, handed: waiting, .. } = terminal.direction(way);
                if bearer.is_due(now) {
                    let handed = &mut self.handed;
                    bearer.wake(now, &mut ToNode { buffer, air, exits, waiting, handed, arrival });
                }
            }
        }
    }

    /// Terminals with packets that the station does not know of ask for a grant at their next opportunity.
    fn request(&mut self, slot: u64, now: Time) {
        for number in &self.visited {
            let terminal = &mut self.terminals[usize::from(*number)];
            if slot >= terminal.away_until && terminal.has_to_ask(now) {
                let phase = (u64::from(*number) * 7) % self.request_period;
                let opportunity = (slot + self.request_period - 1 - phase) / self.request_period;
                terminal.requests.requested =
                    Some(opportunity * self.request_period + phase + self.processing);
            }
        }
    }

    /// Grants the resource blocks of the uplink in the slot that comes after the time of processing.
    fn grant(&mut self, slot: u64, now: Time) {
        let target = slot + self.processing;
        self.sites.iter_mut().for_each(|site| site.left = self.prbs);
        for number in &self.visited {
            let terminal = &mut self.terminals[usize::from(*number)];
            let site = &mut self.sites[terminal.link.serving];
            let Terminal { uplink, requests, .. } = terminal;
            if let Some(process) = uplink.harq.due(target)
                && uplink.harq.block(process).prbs <= site.left
            {
                let block = uplink.harq.block(process);
                site.left -= block.prbs;
                let (prbs, mcs, bytes) = (block.prbs, block.mcs, 0);
                requests.grants.push_back(Grant { slot: target, process, prbs, mcs, bytes });
                uplink.harq.reserve(process, target);
            }
            if requests.requested.is_some_and(|at| at <= slot) {
                requests.requested = None;
                requests.known = requests.known.max(self.first_grant);
            }
            site.set_ready(UP, *number, terminal.ready(UP, now, self.processing));
        }
        for site in 0..self.sites.len() {
            let site = &mut self.sites[site];
            site.rank(UP, slot, self.prbs, &mut self.terminals);
            let mut at = 0;
            while let Some((number, share)) = site.select(UP, at) {
                at += 1;
                let terminal = &mut self.terminals[usize::from(number)];
                let Terminal { uplink, requests, link, .. } = terminal;
                let mcs = link.scheme(slot).expect("a terminal that is ranked is in reach");
                let process = uplink.harq.free(target).expect("a terminal that is ranked has a free process");
                let (prbs, bytes) = link.standard.fitting(mcs, requests.known + OVERHEAD, share, true);
                site.left -= prbs;
                let takes = u64::from(bytes) - OVERHEAD.min(u64::from(bytes));
                requests.known = requests.known.saturating_sub(takes);
                requests.grants.push_back(Grant { slot: target, process, prbs, mcs, bytes });
                uplink.harq.reserve(process, target);
                site.schedulers[UP].note(slot, number, 8 * bytes);
                visit(&mut self.visited, terminal, number, slot);
            }
        }
    }

    fn send_downlink(&mut self, slot: u64, now: Time, exits: &mut Exits) {
        self.sites.iter_mut().for_each(|site| site.left = self.prbs);
        for number in &self.visited {
            let terminal = &mut self.terminals[usize::from(*number)];
            let site = &mut self.sites[terminal.link.serving];
            if let Some(process) = terminal.downlink.harq.due(slot)
                && terminal.downlink.harq.block(process).prbs <= site.left
            {
                site.left -= terminal.downlink.harq.block(process).prbs;
                self.in_air.push(terminal.send(DOWN, process, slot, now));
            }
            site.set_ready(DOWN, *number, terminal.ready(DOWN, now, self.processing));
        }
        for site in 0..self.sites.len() {
            let site = &mut self.sites[site];
            site.rank(DOWN, slot, self.prbs, &mut self.terminals);
            let mut at = 0;
            while let Some((number, share)) = site.select(DOWN, at) {
                at += 1;
                let terminal = &mut self.terminals[usize::from(number)];
                let mcs = terminal.link.scheme(slot).expect("a terminal that is ranked is in reach");
                let process = terminal.downlink.harq.free(slot);
                let process = process.expect("a terminal that is ranked has a free process");
                let wanted = terminal.downlink.backlog() + terminal.uplink.report(now) + OVERHEAD;
                let (prbs, bytes) = terminal.link.standard.fitting(mcs, wanted, share, false);
                visit(&mut self.visited, terminal, number, slot);
                if !terminal.fill(DOWN, &Grant { slot, prbs, mcs, bytes, process }, now, exits) {
                    continue;
                }
                site.left -= prbs;
                self.in_air.push(terminal.send(DOWN, process, slot, now));
                site.schedulers[DOWN].note(slot, number, 8 * bytes);
            }
        }
    }

    fn send_uplink(&mut self, slot: u64, now: Time, exits: &mut Exits) {
        for number in &self.visited {
            let terminal = &mut self.terminals[usize::from(*number)];
            while let Some(grant) =
                terminal.requests.grants.front().copied().filter(|grant| grant.slot <= slot)
            {
                terminal.requests.grants.pop_front();
                let again = terminal.uplink.harq.block(grant.process).attempt > 0;
                if again || terminal.fill(UP, &grant, now, exits) {
                    self.in_air.push(terminal.send(UP, grant.process, slot, now));
                }
            }
        }
    }

    /// Determines what comes next for the terminals to which something happened, and the next slot.
    fn plan(&mut self, slot: u64, now: Time) {
        let mut visited = std::mem::take(&mut self.visited);
        for number in visited.drain(..) {
            let terminal = &mut self.terminals[usize::from(number)];
            let site = &mut self.sites[terminal.link.serving];
            for way in [DOWN, UP] {
                site.set_ready(way, number, terminal.ready(way, now, self.processing));
            }
            let next = terminal.next_slot(slot, now, self.slot_ns, self.processing);
            if cfg!(debug_assertions) {
                terminal.check();
            }
            self.set_due(number, next);
        }
        self.visited = visited;
        self.next_slot = self.find_next_slot(slot + 1);
    }

    /// Sets the next slot in which something happens to a terminal.
    pub(super) fn set_due(&mut self, number: u16, slot: Option<u64>) {
        let due = slot.unwrap_or(u64::MAX);
        let terminal = &mut self.terminals[usize::from(number)];
        if std::mem::replace(&mut terminal.due, due) != due {
            self.timers.set(number.into(), slot.map(|slot| self.start_of(slot)));
        }
    }

    /// The first slot from `soon` on in which something can happen.
    fn find_next_slot(&self, soon: u64) -> Option<u64> {
        if !self.in_air.is_empty() {
            return Some(soon);
        }
        let ready = self.sites.iter().filter_map(|site| site.next_slot(soon)).min();
        let due = self.timers.at().map(|at| at.as_nanos() / self.slot_ns);
        [ready, due].into_iter().flatten().min()
    }
}

/// Notes that something happens to a terminal in a slot.
fn visit(visited: &mut Vec<u16>, terminal: &mut Terminal, number: u16, slot: u64) {
    if std::mem::replace(&mut terminal.visited, slot + 1) != slot + 1 {
        visited.push(number);
    }
}
