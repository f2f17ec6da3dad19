//! Packets for queues and middleboxes written in Python: the class `Packet`, and the packets that such a component has.
//!
//! The packets stay with the component's wrapper. Python gets a [`PythonPacket`] for each and says by its methods what
//! becomes of it; the wrapper carries that out after the call. What cannot be is refused in the line that asks for it.

use network::{Count, Packet, Port, Protocol};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::Time;
use wire::Ecn;

/// A packet is in its component.
const HELD: u8 = 0;
/// A packet has left its component.
const LEFT: u8 = 1;
/// A packet was dropped.
const DROPPED: u8 = 2;

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is marked with CE, and stays.
    Mark,
    /// It is dropped.
    Drop,
    /// It is sent on.
    Send,
}

/// The fates of packets, in the order in which Python decided on them.
#[derive(Default)]
struct Ledger(Mutex<Vec<(u64, Fate)>>);

impl Ledger {
    fn lines(&self) -> MutexGuard<'_, Vec<(u64, Fate)>> {
        // A panic cannot leave it in an inconsistent state.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A packet at a component: see quiclab.Packet.
#[pyclass(frozen, name = "Packet", module = "quiclab._quiclab")]
pub(crate) struct PythonPacket {
    /// Its number among the packets that arrived at the component, from 0.
    #[pyo3(get)]
    number: u64,
    /// Its size on the wire, with its IP header.
    #[pyo3(get)]
    size_bytes: u32,
    /// A number that all packets from one end of a flow have.
    #[pyo3(get)]
    flow: u32,
    /// Whether it carries application data.
    #[pyo3(get)]
    has_data: bool,
    /// "udp", which includes QUIC, "tcp" or "ip".
    #[pyo3(get)]
    protocol: &'static str,
    /// When it arrived, in seconds of virtual time.
    #[pyo3(get)]
    arrived_s: f64,
    /// The port of a middlebox by which it arrived; 0 elsewhere.
    #[pyo3(get)]
    port: u16,
    addresses: (SocketAddr, SocketAddr),
    /// The ECN field with which it arrived.
    arrived_ecn: Ecn,
    is_marked: AtomicBool,
    state: AtomicU8,
    /// Whether the component sends packets, as a middlebox does.
    is_sent: bool,
    ledger: Arc<Ledger>,
}

#[pymethods]
impl PythonPacket {
    /// The ECN field: "not-ect", "ect0", "ect1" or "ce" (RFC 3168 section 5).
    #[getter]
    fn ecn(&self) -> &'static str {
        match self.arrived_ecn {
            _ if self.is_marked.load(Ordering::Relaxed) => "ce",
            Ecn::NotEct => "not-ect",
            Ecn::Ect0 => "ect0",
            Ecn::Ect1 => "ect1",
            Ecn::Ce => "ce",
        }
    }

    /// The address and port of its sender.
    #[getter]
    fn source(&self) -> String {
        self.addresses.0.to_string()
    }

    /// The address and port that it is sent to.
    #[getter]
    fn destination(&self) -> String {
        self.addresses.1.to_string()
    }

    /// Marks it with CE if its ECN field allows that. Returns whether it has the mark.
    fn mark(&self) -> PyResult<bool> {
        self.expect_held("marked")?;
        if !self.arrived_ecn.is_capable() {
            return Ok(false);
        }
        if !self.is_marked.swap(true, Ordering::Relaxed) {
            self.ledger.lines().push((self.number, Fate::Mark));
        }
        Ok(true)
    }

    /// Drops it.
    fn drop(&self) -> PyResult<()> {
        self.leave("dropped", DROPPED, Fate::Drop)
    }

    /// Sends it on, from a middlebox.
    fn send(&self) -> PyResult<()> {
        if !self.is_sent {
            let problem = "a queue does not send packets; expected that dequeue returns it";
            return Err(PyValueError::new_err(problem));
        }
        self.leave("sent", LEFT, Fate::Send)
    }

    fn __repr__(&self) -> String {
        let state = match self.state.load(Ordering::Relaxed) {
            HELD => "",
            DROPPED => ", dropped",
            _ => ", sent",
        };
        let PythonPacket { number, size_bytes, flow, .. } = self;
        format!("<packet {number} of flow {flow}, {size_bytes} bytes{state}>")
    }
}

impl PythonPacket {
    /// A packet that has left already, to look at.
    pub(crate) fn sent(now: Time, number: u64, packet: &Packet) -> PythonPacket {
        let sent = PythonPacket::new((now, Port(0)), number, packet, &Custody::new(false));
        sent.state.store(LEFT, Ordering::Relaxed);
        sent
    }

    fn new((now, port): (Time, Port), number: u64, packet: &Packet, custody: &Custody) -> PythonPacket {
        PythonPacket {
            number,
            size_bytes: packet.size,
            flow: packet.flow,
            has_data: packet.data,
            protocol: match packet.protocol() {
                Protocol::Udp => "udp",
                Protocol::Tcp => "tcp",
                Protocol::Ip => "ip",
            },
            arrived_s: now.as_secs_f64(),
            port: port.0,
            addresses: (packet.source, packet.destination),
            arrived_ecn: packet.ecn,
            is_marked: AtomicBool::new(false),
            state: AtomicU8::new(HELD),
            is_sent: custody.sends,
            ledger: Arc::clone(&custody.ledger),
        }
    }

    fn is_held(&self) -> bool {
        self.state.load(Ordering::Relaxed) == HELD
    }

    /// A packet that has left is out of reach.
    fn expect_held(&self, wanted: &str) -> PyResult<()> {
        if self.is_held() {
            return Ok(());
        }
        let problem = format!("{} cannot be {wanted}; expected a packet that is still here", self.__repr__());
        Err(PyValueError::new_err(problem))
    }

    fn leave(&self, wanted: &str, state: u8, fate: Fate) -> PyResult<()> {
        self.expect_held(wanted)?;
        self.state.store(state, Ordering::Relaxed);
        self.ledger.lines().push((self.number, fate));
        Ok(())
    }
}

/// A packet with what Python has of it.
struct Held {
    packet: Box<Packet>,
    /// `None` if it arrived after the component had failed.
    face: Option<Py<PythonPacket>>,
}

/// The packets that a component has, by their numbers.
pub(crate) struct Custody {
    packets: BTreeMap<u64, Held>,
    arrived: u64,
    count: Count,
    sends: bool,
    ledger: Arc<Ledger>,
}

impl Custody {
    /// No packets. `sends` says whether the component sends them, as a middlebox does.
    pub(crate) fn new(sends: bool) -> Custody {
        let ledger = Arc::default();
        Custody { packets: BTreeMap::new(), arrived: 0, count: Count::default(), sends, ledger }
    }

    pub(crate) fn count(&self) -> Count {
        debug_assert_eq!(self.count.packets, self.packets.len() as u64, "what is counted is what is here");
        self.count
    }

    /// Shows every packet that is here, in any order.
    pub(crate) fn each(&self, show: &mut dyn FnMut(&Packet)) {
        self.packets.values().for_each(|held| show(&held.packet));
    }

    /// Takes a packet that arrives; returns its number.
    pub(crate) fn take(&mut self, packet: Box<Packet>) -> u64 {
        let number = self.arrived;
        self.arrived += 1;
        self.count.add(packet.size);
        self.packets.insert(number, Held { packet, face: None });
        number
    }

    /// What Python gets of the packet with this number, which has just arrived.
    pub(crate) fn face<'py>(
        &mut self,
        py: Python<'py>,
        now: Time,
        number: u64,
        port: Port,
    ) -> PyResult<Bound<'py, PythonPacket>> {
        let held = self.packets.get(&number).expect("a packet that has just arrived is here");
        let face = Bound::new(py, PythonPacket::new((now, port), number, &held.packet, self))?;
        self.packets.entry(number).and_modify(|held| held.face = Some(face.clone().unbind()));
        Ok(face)
    }

    /// The number of a packet that Python gave back; `None` if it is no packet that is here.
    pub(crate) fn number_of(&self, given: &Bound<'_, PyAny>) -> Option<u64> {
        let face = given.cast::<PythonPacket>().ok()?;
        let number = face.get().number;
        let known = self.packets.get(&number)?.face.as_ref()?;
        (known.is(face) && face.get().is_held()).then_some(number)
    }

    /// Does what Python decided in the last call: it marks packets, and hands over those that leave. Returns the number
    /// of marked packets.
    pub(crate) fn settle(&mut self, mut leave: impl FnMut(Fate, Box<Packet>)) -> u64 {
        let mut marked = 0;
        let lines = std::mem::take(&mut *self.ledger.lines());
        for (number, fate) in lines {
            match fate {
                Fate::Mark => {
                    let held = self.packets.get_mut(&number);
                    held.expect("a packet is marked before it leaves").packet.ecn = Ecn::Ce;
                    marked += 1;
                }
                Fate::Drop | Fate::Send => {
                    leave(fate, self.release(number).expect("a packet leaves once"));
                }
            }
        }
        marked
    }

    /// Takes a packet out; `None` if it is not here.
    pub(crate) fn release(&mut self, number: u64) -> Option<Box<Packet>> {
        let Held { packet, face } = self.packets.remove(&number)?;
        self.count.remove(packet.size);
        if let Some(face) = face
            && face.get().is_held()
        {
            face.get().state.store(LEFT, Ordering::Relaxed);
        }
        Some(packet)
    }

    /// Takes the first packet out.
    pub(crate) fn release_first(&mut self) -> Option<Box<Packet>> {
        let number = *self.packets.first_key_value()?.0;
        self.release(number)
    }
}
