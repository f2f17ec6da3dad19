//! The keys of finished runs.

use crate::scenario::{Keep, Scenario};
use std::fmt;

/// The hash of a resolved scenario with its seed, of the version of quiclab and its sources, and of the kept results.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(pub [u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The version of the format of records.
const FORMAT: &str = "quiclab sweep 1";

impl Key {
    /// The key of the run of a scenario with its seed.
    pub(crate) fn of(scenario: &Scenario, keep: &Keep) -> Key {
        let mut text = format!("{FORMAT}\n{}\n{}\n", super::PROGRAM, keep.series.join(" "));
        if !keep.tables.is_empty() {
            text.push_str(&format!("keep {}\n", keep.tables.join(" ")));
        }
        // Files count by content, not by path.
        text.push_str(
            &scenario.to_toml_with(&|file| format!("{:?}", Key(tls::sha256(file.text.as_bytes())))),
        );
        Key(tls::sha256(text.as_bytes()))
    }
}
