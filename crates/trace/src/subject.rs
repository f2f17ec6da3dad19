//! The subjects of records: connection ends, carriers and nodes.

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

/// The kind of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// One end of a connection.
    Connection(Side),
    /// One direction of a link with its queue.
    Link(Direction),
    /// One lane of a medium with its queue.
    Lane,
    /// A medium as a whole.
    Medium,
    /// A node other than a host: a middlebox.
    Node,
}

/// A connection end, a direction of a link, a lane of a medium, a medium or a node, as known to the sinks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    id: u32,
    role: Role,
    name: Arc<str>,
    label: Arc<str>,
}

impl Subject {
    /// The number, counted from 0 in the order of registration: an index for per-subject data.
    pub fn id(&self) -> u32 {
        self.id
    }
    /// The kind.
    pub fn role(&self) -> Role {
        self.role
    }
    /// The name of the connection, the link or the medium, which is shared by both ends, both directions or all
    /// lanes; or that of the node.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The name with the end, the direction or the nodes of the lane: `"download client"`, `"cell forward"`, `"air phone"`.
    /// For media and nodes just the name. Unique if names are.
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
    /// Creates an empty list.
    pub fn new() -> Subjects {
        Subjects::default()
    }
    /// Adds a subject and returns its number.
    ///
    /// # Panics
    /// After 2^32 subjects.
    pub fn register(&mut self, name: &str, role: Role) -> u32 {
        let label = match role {
            Role::Connection(side) => format!("{name} {}", side.name()),
            Role::Link(direction) => format!("{name} {}", direction.name()),
            Role::Lane | Role::Medium | Role::Node => name.to_owned(),
        };
        self.add(name, role, label)
    }
    /// Adds a lane of a medium, by the sending node and, if it is for one receiver only, the receiving node.
    ///
    /// # Panics
    /// After 2^32 subjects.
    pub fn register_lane(&mut self, medium: &str, from: &str, to: Option<&str>) -> u32 {
        let label = match to {
            Some(to) => format!("{medium} {from} {to}"),
            None => format!("{medium} {from}"),
        };
        self.add(medium, Role::Lane, label)
    }
    fn add(&mut self, name: &str, role: Role, label: String) -> u32 {
        let id = u32::try_from(self.all.len()).expect("fewer than 2^32 subjects");
        self.all.push(Subject { id, role, name: name.into(), label: label.into() });
        id
    }
    /// The subject with a number returned by [`Subjects::register`].
    ///
    /// # Panics
    /// If there is no such number.
    pub fn get(&self, id: u32) -> &Subject {
        &self.all[id as usize]
    }
    /// All subjects in the order of their numbers.
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
        let attachment = subjects.register_lane("air", "phone", None);
        let node = subjects.register("ap", Role::Node);
        assert_eq!((subjects.get(attachment).name(), subjects.get(attachment).label()), ("air", "air phone"));
        assert_eq!(subjects.get(node).label(), "ap");
        assert_eq!(subjects.iter().map(Subject::id).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }
}
