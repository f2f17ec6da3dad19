//! What a finished run is known by.

use crate::scenario::{Keep, Scenario};
use std::fmt;

/// The hash of a resolved scenario with its seed, of the version of quiclab and its sources, and of what is kept of the
/// run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(pub [u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What has to change when records are written in another way.
const FORMAT: &str = "quiclab sweep 1";

impl Key {
    /// The key of a run of this scenario with its own seed.
    pub(crate) fn of(scenario: &Scenario, keep: &Keep) -> Key {
        let mut text = format!("{FORMAT}\n{}\n{}\n", super::PROGRAM, keep.series.join(" "));
        if !keep.tables.is_empty() {
            text.push_str(&format!("keep {}\n", keep.tables.join(" ")));
        }
        // A file that was moved is the same, one that was changed is another.
        text.push_str(
            &scenario.to_toml_with(&|file| format!("{:?}", Key(tls::sha256(file.text.as_bytes())))),
        );
        Key(tls::sha256(text.as_bytes()))
    }
}
