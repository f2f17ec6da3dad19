//! What happens at a given time and is nobody's own course: `[[event]]` in a scenario.
//!
//! An event acts on the world when its time has come, after everything else that happens at that instant; several at one
//! instant act in the order of the scenario.

mod cast;
mod forget;
mod interface;
mod migrate;

pub(crate) use cast::{Cast, CastFlow, CastNode};

use crate::error::RunError;
use network::{NodeId, Port};
use quic::{MigrateError, Migration};
use units::parameter::{Arguments, Component, Room, Row};
use units::{Duration, Time};

/// An option, and what is wrong with its value.
pub(crate) type Misfit = (&'static str, String);

/// Something that happens at a given time.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When, before the end of the run.
    pub at: Duration,
    /// What: a component of the room `events`.
    pub kind: Component,
}

/// What there is to know of a kind of event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    /// Whether it can happen: its nodes, interfaces and flows are there.
    pub check: fn(&Arguments, &Cast) -> Result<(), Misfit>,
    /// The flow that it brings to a port of its client's node, if it does that.
    pub moves: fn(&Arguments, &Cast) -> Option<(usize, Port)>,
    /// Lets it happen.
    pub act: fn(&Arguments, &mut Stage<'_>) -> Result<(), String>,
}

/// What an event acts on.
pub(crate) struct Stage<'w> {
    pub world: &'w mut dyn Acts,
    pub cast: &'w Cast,
}

/// What events can do to a world.
pub(crate) trait Acts {
    /// Takes a port down, or up again.
    fn set_port(&mut self, node: NodeId, port: Port, up: bool);
    /// Has the client of a flow, at this node, send from the address of a port.
    fn migrate(&mut self, node: NodeId, flow: usize, port: Port, how: Migration) -> Result<(), MigrateError>;
    /// Has a node lose its memory.
    fn forget(&mut self, node: NodeId);
}

/// The events.
pub(crate) static EVENTS: &[Row<Kind>] = &[interface::DOWN, interface::UP, migrate::ROW, forget::ROW];

/// The name of the room.
pub(crate) const ROOM: &str = "events";

/// The events as scenarios and `quiclab list` see them.
pub(crate) fn room() -> Room {
    Room::of(ROOM, "what happens at a given time", EVENTS, None)
}

fn kind(event: &Event) -> Option<&'static Kind> {
    EVENTS.iter().find(|row| row.name == event.kind.name).map(|row| &row.build)
}

/// Whether an event can happen with this cast.
pub(crate) fn check(event: &Event, cast: &Cast) -> Result<(), Misfit> {
    kind(event).map_or(Ok(()), |kind| (kind.check)(&event.kind.arguments, cast))
}

/// The ports that a flow is moved to by events.
pub(crate) fn ports_of(events: &[Event], cast: &Cast, flow: usize) -> Vec<Port> {
    let moved = events.iter().filter_map(|event| (kind(event)?.moves)(&event.kind.arguments, cast));
    moved.filter(|(moved, _)| *moved == flow).map(|(_, port)| port).collect()
}

/// The events of a run that have not happened yet.
pub(crate) struct Agenda {
    cast: Cast,
    /// The events with their numbers in the scenario, by time, the next one last.
    left: Vec<(usize, Event)>,
}

impl Agenda {
    /// `cast` is asked only if there are events.
    pub(crate) fn new(events: &[Event], cast: impl FnOnce() -> Cast) -> Agenda {
        let mut left: Vec<(usize, Event)> = events.iter().cloned().enumerate().collect();
        // Stable, so that those of one instant stay in order; then turned round.
        left.sort_by_key(|(_, event)| event.at);
        left.reverse();
        let cast = if left.is_empty() { Cast::default() } else { cast() };
        Agenda { cast, left }
    }

    /// When the next one happens.
    pub(crate) fn next_at(&self) -> Time {
        self.left.last().map_or(Time::NEVER, |(_, event)| Time::ZERO + event.at)
    }

    /// Lets everything happen that is due.
    pub(crate) fn act(&mut self, now: Time, world: &mut dyn Acts) -> Result<(), RunError> {
        while self.next_at() <= now {
            let Some((number, event)) = self.left.pop() else { break };
            let Some(kind) = kind(&event) else { continue };
            let mut stage = Stage { world, cast: &self.cast };
            (kind.act)(&event.kind.arguments, &mut stage).map_err(|problem| RunError::Component {
                place: format!("event {number} ({} at {})", event.kind.name, event.at),
                problem,
            })?;
        }
        Ok(())
    }
}
