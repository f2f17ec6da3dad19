//! Which connection end, carrier or node a record belongs to.

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
    /// One attachment of a medium with its queue.
    Attachment,
    /// A medium as a whole.
    Medium,
    /// A node that is not a host: a middlebox.
    Node,
}

/// One connection end, one direction of a link, one attachment of a medium, one medium or one node, as the sinks know it.
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
    /// The name of the connection, of the link or of the medium, which both ends, both directions and all attachments share;
    /// or that of the node.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The name with the end, the direction or the attached node: `"download client"`, `"cell forward"`, `"air phone"`. Media
    /// and nodes have their name alone. Unique if names are.
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
        let label = match role {
            Role::Connection(side) => format!("{name} {}", side.name()),
            Role::Link(direction) => format!("{name} {}", direction.name()),
            Role::Attachment | Role::Medium | Role::Node => name.to_owned(),
        };
        self.add(name, role, label)
    }
    /// Adds an attachment of a medium, by the name of its node.
    ///
    /// # Panics
    /// After 2^32 subjects.
    pub fn register_attachment(&mut self, medium: &str, node: &str) -> u32 {
        self.add(medium, Role::Attachment, format!("{medium} {node}"))
    }
    fn add(&mut self, name: &str, role: Role, label: String) -> u32 {
        let id = u32::try_from(self.all.len()).expect("fewer than 2^32 subjects");
        self.all.push(Subject { id, role, name: name.into(), label: label.into() });
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
        let attachment = subjects.register_attachment("air", "phone");
        let node = subjects.register("ap", Role::Node);
        assert_eq!((subjects.get(attachment).name(), subjects.get(attachment).label()), ("air", "air phone"));
        assert_eq!(subjects.get(node).label(), "ap");
        assert_eq!(subjects.iter().map(Subject::id).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }
}
