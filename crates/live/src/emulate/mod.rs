//! A scenario in real time, with real packets at its gates: `quiclab emulate`.
//!
//! Each gate has a TUN device in the network namespace of this process. The caller moves the device to the namespace of an
//! application, and gives it the gate's addresses. The world is that of a simulation. One
//! thread runs it by the monotonic clock, and says how late it was; the caller's thread only reports progress.

mod alarm;
mod device;

pub use device::DeviceCounts;

use crate::clock::Clock;
use alarm::Alarm;
use device::Device;
use lab::emulation::{self, Arrivals, Counts, Emulation, GateAddress, Outside};
use lab::{Options, Outcome, Prepared, RunError, Scenario};
use network::gate::GateCounts;
use network::{AnswerCounts, Packet};
use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration as StdDuration;
use units::{Duration, Lateness, Time};

/// How often progress is reported, and how long the world sleeps at most before it asks whether it is to go on.
const REPORT_EVERY: Duration = Duration::from_millis(50);
/// The MTU of the device of a gate whose carriers have no limit.
const LARGEST_MTU: u16 = 65_535;

/// Why an emulation cannot begin, or cannot go on.
#[derive(Debug)]
pub enum EmulateError {
    /// The scenario has no gate.
    NoGate,
    /// A device cannot be made: its name, and why.
    Device(String, io::Error),
    /// The world.
    Run(RunError),
    /// A device failed.
    Io(io::Error),
}

impl fmt::Display for EmulateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EmulateError::NoGate => {
                f.write_str("the scenario has no gate; expected a node with kind = \"gate\"")
            }
            EmulateError::Device(name, error) => write!(f, "cannot create the TUN device {name}: {error}"),
            EmulateError::Run(error) => error.fmt(f),
            EmulateError::Io(error) => write!(f, "a TUN device failed: {error}"),
        }
    }
}
impl std::error::Error for EmulateError {}

/// A gate and its device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateDevice {
    /// The gate.
    pub gate: GateAddress,
    /// The name of its device.
    pub device: String,
}

/// What has happened so far.
#[derive(Debug, Clone, PartialEq)]
pub struct EmulateStatus {
    /// The time since the start.
    pub now: Time,
    /// By gate: the packets in the world.
    pub gates: Vec<GateCounts>,
    /// By gate: the packets at its device.
    pub devices: Vec<DeviceCounts>,
    /// What nodes of the world have answered to packets from the gates.
    pub answers: AnswerCounts,
    /// Packets dropped because no node has their destination, or no route leads there.
    pub unroutable: u64,
    /// How late all elements of the world were for what they did.
    pub lateness: Lateness,
    /// Lateness beyond this spoils results ([`emulation::tolerance`]).
    pub tolerance: Duration,
}

/// The devices of a scenario's gates, before the world begins.
pub struct Emulator {
    gates: Vec<GateDevice>,
    devices: Vec<Device>,
}

impl Emulator {
    /// Makes a device for each gate, down and without an address. They vanish with this value.
    ///
    /// # Errors
    /// If there is no gate, or no permission for TUN devices.
    pub fn new(scenario: &Scenario) -> Result<Emulator, EmulateError> {
        let (mut gates, mut devices) = (Vec::new(), Vec::new());
        for (number, gate) in emulation::gates(scenario).into_iter().enumerate() {
            let device = format!("gate{number}");
            let mtu = u16::try_from(gate.mtu).unwrap_or(LARGEST_MTU);
            let made =
                Device::new(&device, mtu).map_err(|error| EmulateError::Device(device.clone(), error))?;
            devices.push(made);
            gates.push(GateDevice { gate, device });
        }
        if gates.is_empty() {
            return Err(EmulateError::NoGate);
        }
        Ok(Emulator { gates, devices })
    }

    /// The gates in the order of the scenario's nodes.
    pub fn gates(&self) -> &[GateDevice] {
        &self.gates
    }

    /// Runs the scenario from now on, until its duration is over or `progress`, which is called about every 50 ms, breaks it.
    /// `captured` are nodes beside the gates at which packets are captured (see [`emulation::Emulation`]).
    ///
    /// # Errors
    /// See [`EmulateError`].
    pub fn run(
        self,
        scenario: &Scenario,
        options: &Options,
        captured: &[usize],
        progress: &mut dyn FnMut(&EmulateStatus) -> ControlFlow<()>,
    ) -> Result<(Outcome, EmulateStatus), EmulateError> {
        let mut last = EmulateStatus {
            now: Time::ZERO,
            gates: vec![GateCounts::default(); self.devices.len()],
            devices: vec![DeviceCounts::default(); self.devices.len()],
            answers: AnswerCounts::default(),
            unroutable: 0,
            lateness: Lateness::default(),
            tolerance: emulation::tolerance(scenario),
        };
        let is_over = AtomicBool::new(false);
        let (reports, reported) = sync_channel(1);
        let surroundings = Surroundings {
            clock: Clock::start(),
            alarm: Alarm::default(),
            devices: self.devices,
            status: last.clone(),
            reported: Time::ZERO,
            reports,
            is_over: &is_over,
            failure: None,
        };
        // What `progress` does takes time that a packet would wait for.
        thread::scope(|scope| {
            let world = scope.spawn(move || surroundings.run(scenario, options, captured));
            loop {
                match reported.recv_timeout(StdDuration::from_nanos(REPORT_EVERY.as_nanos())) {
                    Ok(status) => last = status,
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if !is_over.load(Ordering::Relaxed) && progress(&last).is_break() {
                    is_over.store(true, Ordering::Relaxed);
                }
            }
            world.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }
}

/// The clock and the devices around a world.
struct Surroundings<'r> {
    clock: Clock,
    alarm: Alarm,
    devices: Vec<Device>,
    status: EmulateStatus,
    /// When progress was last reported.
    reported: Time,
    reports: SyncSender<EmulateStatus>,
    /// Whether the caller has broken the run.
    is_over: &'r AtomicBool,
    failure: Option<io::Error>,
}

impl Surroundings<'_> {
    /// Runs a world in this thread.
    fn run(
        mut self,
        scenario: &Scenario,
        options: &Options,
        captured: &[usize],
    ) -> Result<(Outcome, EmulateStatus), EmulateError> {
        let prepared = Prepared::new(scenario).map_err(EmulateError::Run)?;
        let emulation = Emulation {
            scenario,
            prepared: &prepared,
            options,
            end: Time::ZERO + scenario.duration,
            captured,
            altered_leave: false,
        };
        alarm::hasten();
        let emulated = emulation.run(&mut self).map_err(EmulateError::Run)?;
        match self.failure {
            Some(error) => Err(EmulateError::Io(error)),
            None => Ok((emulated.outcome, EmulateStatus { lateness: emulated.lateness, ..self.status })),
        }
    }

    /// Sleeps until a time, or until packets come from outside, which are taken.
    fn sleep(&mut self, until: Time, arrivals: &mut Arrivals) -> io::Result<()> {
        let until = until.min(self.clock.now() + REPORT_EVERY);
        let devices = self.devices.iter().enumerate().filter(|(_, device)| !device.counts.is_deleted);
        self.alarm.sleep(&self.clock, until, devices)?;
        let now = self.clock.now();
        for (number, device) in self.devices.iter_mut().enumerate() {
            if self.alarm.has_woken(number) {
                device.read(now, number, arrivals)?;
            }
        }
        Ok(())
    }
}

impl Outside for Surroundings<'_> {
    fn begin(&mut self) {
        self.clock = Clock::start();
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn wait(&mut self, next: Time, arrivals: &mut Arrivals) -> Option<Time> {
        if self.failure.is_some() || self.is_over.load(Ordering::Relaxed) {
            return None;
        }
        if let Err(error) = self.sleep(next, arrivals) {
            self.failure = Some(error);
            return None;
        }
        Some(self.clock.now())
    }

    fn leave(&mut self, gate: usize, _: Time, packet: Packet) -> Vec<u8> {
        self.devices[gate].write(packet)
    }

    fn flush(&mut self) {
        self.devices.iter_mut().for_each(Device::flush);
    }

    fn counted(&mut self, now: Time, counts: &Counts<'_>) {
        self.status.now = now;
        self.status.answers = counts.answers;
        self.status.unroutable = counts.unroutable;
        self.status.gates.copy_from_slice(counts.gates);
        for (counts, device) in self.status.devices.iter_mut().zip(&self.devices) {
            *counts = device.counts;
        }
        if now.since(self.reported) >= REPORT_EVERY {
            self.reported = now;
            self.status.lateness.clone_from(counts.lateness);
            // One that the caller has not looked at yet is recent enough.
            let _ = self.reports.try_send(self.status.clone());
        }
    }
}
