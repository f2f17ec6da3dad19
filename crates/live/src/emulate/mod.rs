//! A scenario in real time, with real packets at its gates: `quiclab emulate`.
//!
//! Each gate has a TUN device in the network namespace of this process. The caller moves the device to the namespace of an
//! application, and gives it the gate's addresses. The world is that of a simulation. One
//! thread runs it by the monotonic clock, and says how late it was.

mod device;

pub use device::DeviceCounts;

use crate::clock::Clock;
use device::Device;
use lab::emulation::{self, Arrivals, Counts, Emulation, GateAddress, Outside};
use lab::{Options, Outcome, Prepared, RunError, Scenario};
use network::Packet;
use network::gate::GateCounts;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::fmt;
use std::io;
use std::ops::ControlFlow;
use units::{Duration, Lateness, Time};

/// How long the world sleeps at most before it asks whether it is to go on.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);
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

    /// Runs the scenario from now on, until its duration is over or `progress`, which is called every 50 ms at least, breaks it.
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
        let prepared = Prepared::new(scenario).map_err(EmulateError::Run)?;
        let status = EmulateStatus {
            now: Time::ZERO,
            gates: vec![GateCounts::default(); self.devices.len()],
            devices: vec![DeviceCounts::default(); self.devices.len()],
            lateness: Lateness::default(),
            tolerance: emulation::tolerance(scenario),
        };
        let mut surroundings = Surroundings {
            clock: Clock::start(),
            devices: self.devices,
            status,
            reported: Time::ZERO,
            progress,
            is_over: false,
            failure: None,
        };
        let emulation = Emulation {
            scenario,
            prepared: &prepared,
            options,
            end: Time::ZERO + scenario.duration,
            captured,
            altered_leave: false,
        };
        let emulated = emulation.run(&mut surroundings).map_err(EmulateError::Run)?;
        match surroundings.failure {
            Some(error) => Err(EmulateError::Io(error)),
            None => {
                let status = EmulateStatus { lateness: emulated.lateness, ..surroundings.status };
                Ok((emulated.outcome, status))
            }
        }
    }
}

/// The clock and the devices around a world.
struct Surroundings<'p> {
    clock: Clock,
    devices: Vec<Device>,
    status: EmulateStatus,
    /// When progress was last reported.
    reported: Time,
    progress: &'p mut dyn FnMut(&EmulateStatus) -> ControlFlow<()>,
    is_over: bool,
    failure: Option<io::Error>,
}

impl Surroundings<'_> {
    /// Sleeps until a time, or until packets come from outside, which are taken.
    fn sleep(&mut self, until: Time, arrivals: &mut Arrivals) -> io::Result<()> {
        let left = until.since(self.clock.now()).min(LONGEST_SLEEP).as_nanos();
        let timeout = Timespec {
            tv_sec: i64::try_from(left / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: (left % 1_000_000_000) as i64,
        };
        let mut polled: Vec<PollFd<'_>> =
            self.devices.iter().map(|device| PollFd::new(device, PollFlags::IN)).collect();
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready: Vec<bool> = polled.iter().map(|polled| !polled.revents().is_empty()).collect();
        let now = self.clock.now();
        for (number, (device, _)) in
            self.devices.iter_mut().zip(ready).enumerate().filter(|(_, (_, ready))| *ready)
        {
            device.read((now, number), arrivals)?;
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
        if self.is_over {
            return None;
        }
        if let Err(error) = self.sleep(next, arrivals) {
            (self.failure, self.is_over) = (Some(error), true);
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
        self.status.gates.copy_from_slice(counts.gates);
        for (counts, device) in self.status.devices.iter_mut().zip(&self.devices) {
            *counts = device.counts;
        }
        if now.since(self.reported) >= LONGEST_SLEEP && !self.is_over {
            self.reported = now;
            self.status.lateness.clone_from(counts.lateness);
            self.is_over = (self.progress)(&self.status).is_break();
        }
    }
}
