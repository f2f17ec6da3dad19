//! Rows that a program adds to a room's table at run time: components from other crates, or written in Python.

use crate::parameter::{Room, Row};
use std::fmt;
use std::sync::{PoisonError, RwLock};

/// The maximum number of components added to one room.
pub const MAX_PLUGGED: usize = 1000;
/// The maximum length of an added component's name, in bytes.
pub const MAX_NAME: usize = 4096;

/// The rows added to a room. Lookups find them like the rows of its table; they last as long as the process.
#[derive(Debug)]
pub struct Plugged<B: 'static>(RwLock<Vec<Row<B>>>);

impl<B: Copy + 'static> Plugged<B> {
    /// No rows.
    pub const fn none() -> Plugged<B> {
        Plugged(RwLock::new(Vec::new()))
    }

    /// Adds a row to those of the table `own`. It replaces an added row of the same name for everything built from
    /// then on.
    ///
    /// # Errors
    /// See [`PlugError`].
    pub fn add(&self, own: &[Row<B>], row: Row<B>) -> Result<(), PlugError> {
        let (name, is_text) = (row.name, |text: &str| !text.chars().any(char::is_control));
        if name.is_empty() || name.len() > MAX_NAME || !is_text(name) {
            return Err(PlugError::Name);
        }
        if own.iter().any(|known| known.name == name) {
            return Err(PlugError::Taken);
        }
        let mut rows = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = rows.iter_mut().find(|known| known.name == name) {
            *known = row;
            return Ok(());
        }
        if rows.len() >= MAX_PLUGGED {
            return Err(PlugError::TooMany);
        }
        rows.push(row);
        Ok(())
    }

    /// Finds a row by name in the table `own` or among the added rows.
    pub fn find(&self, own: &[Row<B>], name: &str) -> Option<Row<B>> {
        own.iter().find(|row| row.name == name).copied().or_else(|| {
            let rows = self.0.read().unwrap_or_else(PoisonError::into_inner);
            rows.iter().find(|row| row.name == name).copied()
        })
    }

    /// The room with the added rows after its own.
    pub fn extend(&self, mut room: Room) -> Room {
        let rows = self.0.read().unwrap_or_else(PoisonError::into_inner);
        room.rows.extend(rows.iter().map(Row::face));
        room
    }
}

/// Why a component cannot be added to a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlugError {
    /// The room's own table has a component of this name.
    Taken,
    /// The name is empty, longer than [`MAX_NAME`] bytes, or contains control characters.
    Name,
    /// [`MAX_PLUGGED`] components were added already.
    TooMany,
}

impl fmt::Display for PlugError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlugError::Taken => {
                write!(f, "the name is taken by a component of quiclab; expected another one")
            }
            PlugError::Name => {
                write!(f, "not a name; expected 1 to {MAX_NAME} bytes of text without control characters")
            }
            PlugError::TooMany => write!(f, "{MAX_PLUGGED} components were added already; expected fewer"),
        }
    }
}

impl std::error::Error for PlugError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &'static str, build: u32) -> Row<u32> {
        Row { name, about: "a row", parameters: &[], build }
    }

    #[test]
    fn rows_can_be_added_and_replaced_but_not_shadow_the_table() {
        let (own, plugged) = ([row("own", 1)], Plugged::none());
        let find = |name| plugged.find(&own, name).map(|row| row.build);
        assert_eq!((plugged.add(&own, row("mine", 2)), find("mine")), (Ok(()), Some(2)));
        assert_eq!((plugged.add(&own, row("mine", 3)), find("mine")), (Ok(()), Some(3)));
        assert_eq!((plugged.add(&own, row("own", 4)), find("own")), (Err(PlugError::Taken), Some(1)));
        assert_eq!(find("nobody"), None);
        let room = Room { rows: vec![own[0].face()], ..Room::of::<()>("room", "a room", &[], None) };
        assert_eq!(plugged.extend(room).rows.iter().map(|row| row.name).collect::<Vec<_>>(), ["own", "mine"]);
    }

    #[test]
    fn names_and_counts_are_limited() {
        let plugged = Plugged::none();
        for name in ["", "two\nlines", String::leak("x".repeat(MAX_NAME + 1))] {
            assert_eq!(plugged.add(&[], row(name, 0)), Err(PlugError::Name));
        }
        for number in 0..MAX_PLUGGED {
            plugged.add(&[], row(String::leak(number.to_string()), 0)).unwrap();
        }
        assert_eq!(plugged.add(&[], row("one more", 0)), Err(PlugError::TooMany));
        assert_eq!(plugged.add(&[], row("7", 1)), Ok(()), "replaces another");
    }
}
