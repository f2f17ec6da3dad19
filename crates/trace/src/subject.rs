//! Which connection end or link direction a record belongs to.

use std::sync::Arc;

/// The two ends of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The end that opened the connection.
    Client,
    /// The end that accepted it.
    Server,
}

impl Side {
    /// `"client"` or `"server"`.
    pub const fn name(self) -> &'static str {
        match self {
            Side::Client => "client",
            Side::Server => "server",
        }
    }
}

/// The two directions of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the link's first node to its second, as the scenario names them.
    Forward,
    /// From the second to the first.
    Backward,
}

impl Direction {
    /// `"forward"` or `"backward"`.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Backward => "backward",
        }
    }
}

/// What kind of thing a subject is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// One end of a connection.
    Connection(Side),
    /// One direction of a link with its queue.
    Link(Direction),
}

/// One connection end or one link direction, as the sinks know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    id: u32,
    role: Role,
    name: Arc<str>,
    label: Arc<str>,
}

impl Subject {
    /// Its number, counted from 0 in the order of registration: an index for what a sink keeps of each.
    pub fn id(&self) -> u32 {
        self.id
    }
    /// What it is.
    pub fn role(&self) -> Role {
        self.role
    }
    /// The name of the connection or of the link, which both ends and both directions share.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The name with the end or the direction: `"download client"`, `"cell forward"`. Unique if names are.
    pub fn label(&self) -> &str {
        &self.label
    }
}

/// The subjects of a run.
#[derive(Debug, Clone, Default)]
pub struct Subjects {
    all: Vec<Subject>,
}

impl Subjects {
    /// None yet.
    pub fn new() -> Subjects {
        Subjects::default()
    }
    /// Adds a subject and gives its number.
    ///
    /// # Panics
    /// After 2^32 subjects.
    pub fn register(&mut self, name: &str, role: Role) -> u32 {
        let id = u32::try_from(self.all.len()).expect("fewer than 2^32 subjects");
        let part = match role {
            Role::Connection(side) => side.name(),
            Role::Link(direction) => direction.name(),
        };
        self.all.push(Subject { id, role, name: name.into(), label: format!("{name} {part}").into() });
        id
    }
    /// The subject with a number that [`Subjects::register`] gave.
    ///
    /// # Panics
    /// If the number was not given.
    pub fn get(&self, id: u32) -> &Subject {
        &self.all[id as usize]
    }
    /// All of them in the order of their numbers.
    pub fn iter(&self) -> std::slice::Iter<'_, Subject> {
        self.all.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_numbered_and_labelled() {
        let mut subjects = Subjects::new();
        let client = subjects.register("download", Role::Connection(Side::Client));
        let link = subjects.register("cell", Role::Link(Direction::Backward));
        assert_eq!((client, link), (0, 1));
        assert_eq!(subjects.get(client).label(), "download client");
        assert_eq!((subjects.get(link).name(), subjects.get(link).label()), ("cell", "cell backward"));
        assert_eq!(subjects.iter().map(Subject::id).collect::<Vec<_>>(), [0, 1]);
    }
}
