//! Events at given times: `[[event]]` in a scenario.
//!
//! An event acts after everything else at its time. Events at the same time act in the order of the scenario.

mod forget;
mod interface;
mod migrate;
mod tamper;
mod targets;

pub(crate) use targets::{TargetFlow, TargetNode, Targets};

use crate::error::RunError;
use network::{NodeId, Port};
use quic::{MigrateError, Migration};
use units::parameter::{Arguments, Component, Key, OptionError, Room, Row};
use units::{Duration, Time};

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
    pub check: fn(&Arguments, &Targets) -> Result<(), OptionError>,
    /// The option that names a flow, if it has one.
    pub flow: Option<Key<String>>,
    /// The flow that it moves to a port of its client's node, if it moves one.
    pub moves: fn(&Arguments, &Targets) -> Option<(usize, Port)>,
    /// Executes it.
    pub act: fn(&Arguments, &mut Context<'_>) -> Result<(), String>,
}

/// The objects of an event.
pub(crate) struct Context<'w> {
    pub world: &'w mut dyn Actions,
    pub targets: &'w Targets,
}

/// The actions of events on a world.
pub(crate) trait Actions {
    /// Sets a port up or down.
    fn set_port(&mut self, node: NodeId, port: Port, up: bool);
    /// Makes the client of a flow, at this node, send from the address of a port.
    fn migrate(&mut self, node: NodeId, flow: usize, port: Port, how: Migration) -> Result<(), MigrateError>;
    /// Makes a node forget its state.
    fn forget(&mut self, node: NodeId);
    /// Makes a host alter what servers have given its QUIC clients; capacities are multiplied with the factor.
    fn tamper(&mut self, node: NodeId, factor: f64);
}

/// The events.
pub(crate) static EVENTS: &[Row<Kind>] =
    &[interface::DOWN, interface::UP, migrate::ROW, forget::ROW, tamper::ROW];

/// The name of the room.
pub(crate) const ROOM: &str = "events";

/// The room of events.
pub(crate) fn room() -> Room {
    Room::of(ROOM, "what happens at a given time", EVENTS, None)
}

fn kind(event: &Event) -> &'static Kind {
    let row = EVENTS.iter().find(|row| row.name == event.kind.name);
    &row.expect("the reader refuses unknown events").build
}

/// Checks that an event is possible in a scenario.
pub(crate) fn check(event: &Event, targets: &Targets) -> Result<(), OptionError> {
    (kind(event).check)(&event.kind.arguments, targets)
}

impl Event {
    /// The name of the flow that it is about, if it is about one.
    pub(crate) fn flow(&self) -> Option<String> {
        kind(self).flow.map(|option| self.kind.arguments.value(option))
    }
}

/// The ports to which events move a flow.
pub(crate) fn ports_of(events: &[Event], targets: &Targets, flow: usize) -> Vec<Port> {
    let moved = events.iter().filter_map(|event| (kind(event).moves)(&event.kind.arguments, targets));
    moved.filter(|(moved, _)| *moved == flow).map(|(_, port)| port).collect()
}

/// The future events of a run.
pub(crate) struct Agenda {
    targets: Targets,
    /// The events with their numbers in the scenario, in reverse order of time.
    left: Vec<(usize, Event)>,
}

impl Agenda {
    /// Creates an agenda. `targets` is called only if there are events.
    pub(crate) fn new(events: &[Event], targets: impl FnOnce() -> Targets) -> Agenda {
        let mut left: Vec<(usize, Event)> = events.iter().cloned().enumerate().collect();
        // The sort is stable, so that events at the same time stay in order.
        left.sort_by_key(|(_, event)| event.at);
        left.reverse();
        let targets = if left.is_empty() { Targets::default() } else { targets() };
        Agenda { targets, left }
    }

    /// The time of the next event.
    pub(crate) fn next_at(&self) -> Time {
        self.left.last().map_or(Time::NEVER, |(_, event)| Time::ZERO + event.at)
    }

    /// Executes all events that are due.
    pub(crate) fn act(&mut self, now: Time, world: &mut dyn Actions) -> Result<(), RunError> {
        while self.next_at() <= now {
            let (number, event) = self.left.pop().expect("an event that is due is left");
            let mut context = Context { world, targets: &self.targets };
            (kind(&event).act)(&event.kind.arguments, &mut context).map_err(|problem| {
                RunError::Component {
                    place: format!("event {number} ({} at {})", event.kind.name, event.at),
                    problem,
                }
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::parameter::{Kind, Value};

    /// A value for each option of a row, with names that no scenario has.
    fn sample(row: &Row<super::Kind>) -> Arguments {
        let value = |kind: Kind| match kind {
            Kind::Choice(words) => Value::Text(words[0].to_owned()),
            Kind::Text => Value::Text("nowhere".to_owned()),
            Kind::Number(least, _) => Value::Number(least),
            kind => panic!("no sample of {kind:?}"),
        };
        Arguments(row.parameters.iter().map(|option| (option.name, value(option.kind))).collect())
    }

    #[test]
    fn every_event_names_the_option_with_an_unknown_target() {
        for row in EVENTS {
            let arguments = sample(row);
            let event =
                Event { at: Duration::ZERO, kind: Component { room: ROOM, name: row.name, arguments } };
            let (option, problem) = check(&event, &Targets::default()).unwrap_err();
            assert!(row.parameters.iter().any(|known| known.name == option), "{}: {option}", row.name);
            assert!(problem.contains("\"nowhere\""), "{}: {problem}", row.name);
            assert_eq!(ports_of(&[event], &Targets::default(), 0), [], "{}", row.name);
        }
    }
}
