//! Events at given times: `[[event]]` in a scenario.
//!
//! An event acts after everything else at its time. Events at the same time act in the order of the scenario.

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

/// An invalid option and a description.
pub(crate) type Misfit = (&'static str, String);

/// An event at a given time.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its time, before the end of the run.
    pub at: Duration,
    /// Its kind: a component of the room `events`.
    pub kind: Component,
}

/// A kind of event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    /// Checks that its nodes, interfaces and flows exist and support it.
    pub check: fn(&Arguments, &Cast) -> Result<(), Misfit>,
    /// The flow that it moves to a port of its client's node, if it moves one.
    pub moves: fn(&Arguments, &Cast) -> Option<(usize, Port)>,
    /// Executes it.
    pub act: fn(&Arguments, &mut Stage<'_>) -> Result<(), String>,
}

/// The objects of an event.
pub(crate) struct Stage<'w> {
    pub world: &'w mut dyn Acts,
    pub cast: &'w Cast,
}

/// The actions of events on a world.
pub(crate) trait Acts {
    /// Sets a port up or down.
    fn set_port(&mut self, node: NodeId, port: Port, up: bool);
    /// Makes the client of a flow, at this node, send from the address of a port.
    fn migrate(&mut self, node: NodeId, flow: usize, port: Port, how: Migration) -> Result<(), MigrateError>;
    /// Makes a node forget its state.
    fn forget(&mut self, node: NodeId);
}

/// The events.
pub(crate) static EVENTS: &[Row<Kind>] = &[interface::DOWN, interface::UP, migrate::ROW, forget::ROW];

/// The name of the room.
pub(crate) const ROOM: &str = "events";

/// The room of events.
pub(crate) fn room() -> Room {
    Room::of(ROOM, "what happens at a given time", EVENTS, None)
}

fn kind(event: &Event) -> Option<&'static Kind> {
    EVENTS.iter().find(|row| row.name == event.kind.name).map(|row| &row.build)
}

/// Checks that an event is possible in a scenario.
pub(crate) fn check(event: &Event, cast: &Cast) -> Result<(), Misfit> {
    kind(event).map_or(Ok(()), |kind| (kind.check)(&event.kind.arguments, cast))
}

/// The ports to which events move a flow.
pub(crate) fn ports_of(events: &[Event], cast: &Cast, flow: usize) -> Vec<Port> {
    let moved = events.iter().filter_map(|event| (kind(event)?.moves)(&event.kind.arguments, cast));
    moved.filter(|(moved, _)| *moved == flow).map(|(_, port)| port).collect()
}

/// The future events of a run.
pub(crate) struct Agenda {
    cast: Cast,
    /// The events with their numbers in the scenario, in reverse order of time.
    left: Vec<(usize, Event)>,
}

impl Agenda {
    /// Creates an agenda. `cast` is called only if there are events.
    pub(crate) fn new(events: &[Event], cast: impl FnOnce() -> Cast) -> Agenda {
        let mut left: Vec<(usize, Event)> = events.iter().cloned().enumerate().collect();
        // The sort is stable, so that events at the same time stay in order.
        left.sort_by_key(|(_, event)| event.at);
        left.reverse();
        let cast = if left.is_empty() { Cast::default() } else { cast() };
        Agenda { cast, left }
    }

    /// The time of the next event.
    pub(crate) fn next_at(&self) -> Time {
        self.left.last().map_or(Time::NEVER, |(_, event)| Time::ZERO + event.at)
    }

    /// Executes all events that are due.
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
