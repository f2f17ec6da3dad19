//! Scenarios: TOML documents that describe simulations.
//!
//! The reader is strict: an unknown key, an invalid value or an unknown name is an error, whose one line says what is wrong,
//! where, and what would be right ([`ScenarioError`]). The rows of the rooms ([`rooms`]) define the content of a document;
//! nothing here knows a component by name.
//!
//! ```toml
//! name = "two-hosts"            # default: the name of the file
//! seed = 1
//! duration = "60 s"
//!
//! [record]                      # which tables are kept
//! [tls]                         # TLS exchange, packet protection
//! [transport]                   # the endpoints of all flows
//! controller = { type = "newreno", beta = 0.7 }
//! [tcp]                         # the same for flows over TCP
//!
//! [[node]]                      # only if links alone do not say enough
//! name = "client"
//! kind = "host"
//!
//! [[link]]
//! name = "cell"
//! from = "server"
//! to = "client"
//! delay = "20 ms"               # both directions; also as both = { delay = "20 ms" }
//! forward = { rate = "10 Mbit/s", queue = "1 BDP" }
//! backward = { rate = "2 Mbit/s" }
//!
//! [[flow]]
//! name = "download"
//! client = "client"
//! server = "server"
//! application = { type = "bulk", size = "10 MB" }
//! [flow.transport]              # different options of this flow
//! initial_window = 32
//! ```
//!
//! A `[sweep]` table varies values by their paths ([`Template`]). A single run checks the table, but does not use it.
//!
//! ```toml
//! [sweep]
//! repetitions = 10
//! flow.download.transport.ack_ratio = [1, 2, 10]
//! link.cell.delay = { from = "10 ms", to = "100 ms", step = "30 ms" }
//!
//! [[sweep.zip]]                 # these vary together
//! link.cell.forward.rate = ["1 Mbit/s", "10 Mbit/s"]
//! link.cell.forward.queue = ["20 packets", "100 packets"]
//! ```
//!
//! A component is the name of its row (`"newreno"`: all defaults), a table with the name as its `type`, or, if the room has
//! a shorthand, a bare value: `loss = "1 %"`. A document declares either all of its nodes with `[[node]]` or none.
//!
//! [`Scenario::to_toml`] writes the document with all defaults, which is read as the same scenario.

mod alone;
mod between;
mod branches;
mod carriers;
mod connections;
mod describe;
mod document;
mod error;
mod files;
mod flows;
mod gate_names;
mod kind;
mod memory;
mod model;
mod names;
mod nodes;
pub mod outside;
mod overridden;
pub(crate) mod place;
mod presets;
mod quantity;
mod range;
mod read;
mod resolved;
mod rooms;
mod schema;
mod sections;
mod set;
mod source;
mod stacks;
mod sweep;
mod tables;
mod template;
mod topics;
mod topology;
mod tree;
mod unshown;
mod write;

pub use crate::event::Event;
pub use crate::nearest::{edits, nearest};
pub(crate) use branches::families;
pub use connections::MAX_FLOWS;
pub(crate) use connections::{client_port, server_port};
pub(crate) use describe::unqueued_rtt;
pub use describe::{describe, file_notes};
pub use error::ScenarioError;
pub use flows::MAX_CROSS_TRAFFIC;
pub(crate) use gate_names::is_host_name;
pub use model::{
    Attachment, CrossTraffic, Flow, IpVersion, Link, Medium, Node, NodeKind, Protocol, Remembered, Scenario,
    Visit,
};
pub use quantity::{Unit, quantity};
pub use rooms::{rooms, rooms_json};
pub use schema::schema_json;
pub use sections::Seeds;
pub(crate) use sections::{RecordOptions, TableName};
pub use sweep::{Axis, Group, Keep, MAX_RUNS, Plan};
pub use template::Template;
pub(crate) use topology::{DIRECTIONS, Surroundings, build_middlebox};

/// The values of a document, for callers that have them without its text.
pub mod values {
    pub use super::tree::{Entry, Item, MAX_BRACKETS, MAX_DOCUMENT, Node};
}

use source::Source;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Scenario {
    /// Reads a scenario from its document. `origin` is the path of the document, which errors contain; files are relative to
    /// its folder, and it is the default of the scenario's name. `sets` are changes to the document, each like
    /// `link.cell.forward.rate=10 Mbit/s`, which are applied in order before all checks.
    ///
    /// # Errors
    /// The first mistake.
    pub fn parse(text: &str, origin: &Path, sets: &[String]) -> Result<Scenario, ScenarioError> {
        let source = Source { origin, text, sets, loads_code: true };
        template::read(&source, &BTreeMap::new()).map(|(scenario, ..)| scenario)
    }

    /// Reads the scenario of results, to look at it: code from outside is not loaded, and keeps the options that the document
    /// gives it. Such a scenario can be described and written, and not run.
    ///
    /// # Errors
    /// The first mistake.
    pub fn parse_recorded(text: &str, origin: &Path, sets: &[String]) -> Result<Scenario, ScenarioError> {
        let source = Source { origin, text, sets, loads_code: false };
        template::read(&source, &BTreeMap::new()).map(|(scenario, ..)| scenario)
    }

    /// [`Scenario::parse`] without changes, with the values of the text, which is longest to read. A document nested deeper
    /// than [`values::MAX_BRACKETS`], or longer than [`values::MAX_DOCUMENT`], must be read from its text.
    ///
    /// # Errors
    /// Those of [`Scenario::parse`].
    pub fn of_values(
        document: Vec<values::Entry>,
        text: &str,
        origin: &Path,
    ) -> Result<Scenario, ScenarioError> {
        let source = Source { origin, text, sets: &[], loads_code: true };
        match template::read_tree(values::Node::Table(document).into(), &source, &BTreeMap::new()) {
            Ok((scenario, ..)) => Ok(scenario),
            // The text has the place of the mistake.
            Err(_) => Scenario::parse(text, origin, &[]),
        }
    }

    /// Reads a document like that of [`Scenario::to_toml`], with the texts of its files by the absolute paths in it.
    ///
    /// # Errors
    /// The first mistake.
    pub fn parse_with_files(
        text: &str,
        files: &BTreeMap<PathBuf, Arc<str>>,
    ) -> Result<Scenario, ScenarioError> {
        let source = Source { origin: Path::new("scenario.toml"), text, sets: &[], loads_code: true };
        template::read(&source, files).map(|(scenario, ..)| scenario)
    }

    /// Reads a scenario file, at most 16 MiB long.
    ///
    /// # Errors
    /// If it cannot be read, or the first mistake in it.
    pub fn from_file(path: impl AsRef<Path>, sets: &[String]) -> Result<Scenario, ScenarioError> {
        let path = path.as_ref();
        let text = read_document(path).map_err(|error| ScenarioError {
            place: source::one_line(&path.to_string_lossy()),
            key: String::new(),
            problem: files::reason(&error),
        })?;
        Scenario::parse(&text, path, sets)
    }

    /// The document with all defaults, in a fixed order. Reading it gives an equal scenario, and the same text again. Paths
    /// of files are absolute.
    pub fn to_toml(&self) -> String {
        write::to_toml(self)
    }

    /// [`Scenario::to_toml`] for others to read: paths of files in the user's home begin with `~`. Reading it on this machine
    /// gives an equal scenario, from any folder.
    pub fn to_toml_anywhere(&self) -> String {
        let homes = files::homes();
        self.to_toml_with(&|file| files::anywhere(Path::new(&file.path), &homes))
    }

    /// [`Scenario::to_toml`] for a file in a folder: paths of files are relative to it, or begin with `~` where only the way
    /// through the user's home would lead there. Nothing in it says where that home is.
    pub fn to_toml_in(&self, folder: &Path) -> String {
        let homes = files::homes();
        // Without links and dots, as ".." leads to the folder that is really above.
        let folder = folder.canonicalize().or_else(|_| std::path::absolute(folder));
        let folder = folder.unwrap_or_default();
        self.to_toml_with(&|file| files::relative(Path::new(&file.path), &folder, &homes))
    }
}

fn read_document(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    // One more byte than the limit, so that the reader notices.
    units::file::regular(path)?.take(tree::MAX_DOCUMENT as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}
