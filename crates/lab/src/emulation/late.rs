//! What is watched of a world in real time: how late its elements are, and the packets at nodes that are captured.

use super::Outside;
use crate::capture::Tap;
use crate::scenario::{DIRECTIONS, NodeKind, Scenario};
use network::{NodeId, Packet, Watch};
use std::cell::{Cell, RefCell};
use units::{Duration, Lateness, Time};

/// After this many things that were done, the time of the outside is read again.
pub const READ_EVERY: u32 = 32;

/// Lateness beyond this spoils results: a tenth of the shortest delay of a link or a medium, but not less than 0.5 ms and not more
/// than 5 ms. Links without a delay do not count.
pub fn tolerance(scenario: &Scenario) -> Duration {
    let (least, most) = (Duration::from_micros(500), Duration::from_millis(5));
    let links = scenario.links.iter().flat_map(|link| [&link.forward, &link.backward]);
    let media = scenario.media.iter().map(|medium| &medium.kind.arguments);
    let delays = links.chain(media).map(network::series::base_delay);
    let shortest = delays.filter(|delay| !delay.is_zero()).min();
    shortest.map_or(most, |delay| Duration::from_nanos(delay.as_nanos() / 10).clamp(least, most))
}

/// How late an element of a world was.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementLateness {
    /// Its name: a node, the direction of a link (`cell forward`), or a medium.
    pub name: String,
    /// What it is: the kind of the node, `link`, or the type of the medium.
    pub kind: &'static str,
    /// How late it was whenever it acted: a packet reached it, or its timer expired.
    pub lateness: Lateness,
}

/// How late each element of a world was, by its number (see [`Watch`]).
#[derive(Debug)]
pub(super) struct Late {
    pub(super) whole: Lateness,
    elements: Vec<Lateness>,
}

impl Late {
    pub(super) fn new(scenario: &Scenario) -> Late {
        let elements = scenario.nodes.len() + 2 * scenario.links.len() + scenario.media.len();
        Late { whole: Lateness::default(), elements: vec![Lateness::default(); elements] }
    }

    /// The elements in the order of their numbers, without routers, where nothing is done.
    pub(super) fn elements(&self, scenario: &Scenario) -> Vec<ElementLateness> {
        let nodes = scenario.nodes.iter().map(|node| (node.name.clone(), node.kind.component().name));
        let links = scenario
            .links
            .iter()
            .flat_map(|link| DIRECTIONS.map(|(direction, _)| (format!("{} {direction}", link.name), "link")));
        let media = scenario.media.iter().map(|medium| (medium.name.clone(), medium.kind.name));
        let router = NodeKind::Router.component().name;
        nodes
            .chain(links)
            .chain(media)
            .zip(&self.elements)
            .filter(|((_, kind), _)| *kind != router)
            .map(|((name, kind), late)| ElementLateness { name, kind, lateness: late.clone() })
            .collect()
    }
}

/// Watches a turn of a world.
pub(super) struct Watching<'a> {
    late: RefCell<&'a mut Late>,
    outside: &'a dyn Outside,
    /// By node; may be shorter.
    taps: &'a [Option<Tap>],
    now: Cell<Time>,
    /// How many more things may be done before the time is read again.
    left: Cell<u32>,
}

impl<'a> Watching<'a> {
    pub(super) fn new(
        late: &'a mut Late,
        outside: &'a dyn Outside,
        taps: &'a [Option<Tap>],
        now: Time,
    ) -> Watching<'a> {
        Watching { late: RefCell::new(late), outside, taps, now: Cell::new(now), left: Cell::new(READ_EVERY) }
    }
}

impl Watch for &Watching<'_> {
    fn acts(self, element: usize, at: Time) {
        if self.left.get() == 0 {
            self.now.set(self.outside.now());
            self.left.set(READ_EVERY);
        }
        self.left.set(self.left.get() - 1);
        let late = self.now.get().since(at);
        let mut all = self.late.borrow_mut();
        all.whole.note(late);
        if let Some(element) = all.elements.get_mut(element) {
            element.note(late);
        }
    }

    fn reaches(self, node: NodeId, at: Time, packet: &Packet) {
        if let Some(Some(tap)) = self.taps.get(node.0 as usize) {
            // A capture that fails says so at its end.
            let _ = tap.packet(at, packet);
        }
    }
}
