//! HARQ: blocks that were not received are sent again, with the same size (TS 36.321 section 5.3.2, 5.4.2).
//!
//! Each direction of a terminal has eight processes. A process that has sent a block in slot n may send again, the
//! same block or a new one, in slot n + 2 p, where p is the time of processing at each end: 8 slots in LTE.

use super::bearer::Filling;

/// The number of processes of each direction of a terminal (TS 36.213 section 7, 8 for FDD).
const PROCESSES: usize = 8;

/// A block and the resources that it has in each attempt.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub filling: Filling,
    /// The number of the attempt, from 1; 0 if there is no block.
    pub attempt: u8,
    pub prbs: u16,
    pub mcs: u8,
    pub bytes: u32,
    /// The signal-to-noise ratio of all attempts together in dB.
    pub combined_db: f64,
    /// What the terminal says of its backlog, in bytes: with each block of an uplink.
    pub buffer_status: Option<u64>,
}

#[derive(Debug, Default)]
struct Process {
    block: Block,
    /// Whether the last attempt failed.
    waits: bool,
    /// From this slot on it may send.
    free_from: u64,
}

#[derive(Debug)]
pub(super) struct Harq {
    processes: [Process; PROCESSES],
    /// The number of processes that wait for another attempt.
    waiting: usize,
    /// The number of blocks that are in the air or wait.
    busy: usize,
    /// Slots from one attempt to the next.
    round_trip: u64,
    /// Attempts of a block.
    most: u8,
}

impl Harq {
    pub(super) fn new(round_trip: u64, most: u8) -> Harq {
        Harq { processes: Default::default(), waiting: 0, busy: 0, round_trip, most }
    }

    /// A process that can send a new block in a slot.
    pub(super) fn free(&self, slot: u64) -> Option<usize> {
        self.processes.iter().position(|process| !process.waits && process.free_from <= slot)
    }
    /// The first process that sends its block again in a slot.
    pub(super) fn due(&self, slot: u64) -> Option<usize> {
        if self.waiting == 0 {
            return None;
        }
        let due = |process: &&(usize, &Process)| process.1.waits && process.1.free_from <= slot;
        let all = self.processes.iter().enumerate();
        all.filter(|process| due(&process)).min_by_key(|(_, process)| process.free_from).map(|(at, _)| at)
    }
    /// The block of a process.
    pub(super) fn block(&mut self, process: usize) -> &mut Block {
        &mut self.processes[process].block
    }
    /// Reserves a process for a slot that comes.
    pub(super) fn reserve(&mut self, process: usize, slot: u64) {
        self.processes[process].free_from = slot + self.round_trip;
    }
    /// Whether a block is in the air, or waits for another attempt.
    pub(super) fn is_busy(&self) -> bool {
        self.busy > 0
    }
    /// Takes back a block that was received or given up.
    #[inline]
    pub(super) fn end(&mut self, process: usize, mut block: Block) {
        block.filling.clear();
        (block.attempt, block.buffer_status) = (0, None);
        self.processes[process].block = block;
        self.busy -= 1;
    }
    /// Gives up all blocks, of which none is in the air; returns their number.
    pub(super) fn flush(&mut self) -> u32 {
        let given_up = self.busy as u32;
        for process in &mut self.processes {
            process.block.filling.clear();
            (process.block.attempt, process.block.buffer_status) = (0, None);
            (process.waits, process.free_from) = (false, 0);
        }
        (self.waiting, self.busy) = (0, 0);
        given_up
    }
    /// Notes that a process sends in a slot.
    pub(super) fn send(&mut self, process: usize, slot: u64) {
        let process = &mut self.processes[process];
        self.waiting -= usize::from(std::mem::take(&mut process.waits));
        self.busy += usize::from(process.block.attempt == 0);
        process.block.attempt += 1;
        process.free_from = slot + self.round_trip;
    }
    /// Notes that an attempt failed; returns whether there is another one.
    pub(super) fn fail(&mut self, process: usize) -> bool {
        let process = &mut self.processes[process];
        process.waits = process.block.attempt < self.most;
        self.waiting += usize::from(process.waits);
        process.waits
    }
    /// Stops unless the processes are those that are counted; each block is in its process.
    pub(super) fn check(&self) {
        let count = |holds: fn(&Process) -> bool| self.processes.iter().filter(|it| holds(it)).count();
        assert_eq!(self.waiting, count(|it| it.waits), "the processes that wait for an attempt are counted");
        assert_eq!(self.busy, count(|it| it.block.attempt > 0), "the processes with a block are counted");
        for process in &self.processes {
            assert!(process.block.attempt <= self.most, "no block has more attempts than it may");
            assert!(!process.waits || process.block.attempt > 0, "what waits for another attempt is a block");
        }
    }
    /// The first slot in which a block is sent again.
    pub(super) fn next_due(&self) -> Option<u64> {
        if self.waiting == 0 {
            return None;
        }
        self.processes.iter().filter(|process| process.waits).map(|process| process.free_from).min()
    }
    /// The first slot in which a process is free.
    pub(super) fn next_free(&self) -> Option<u64> {
        self.processes.iter().filter(|process| !process.waits).map(|process| process.free_from).min()
    }
}
