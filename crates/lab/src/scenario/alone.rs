//! Endpoint options by their scenario names, for programs without a simulated network.

use super::error::ScenarioError;
use super::model::Scenario;
use std::path::Path;

/// A minimal scenario.
const LEAST: &str = r#"
duration = "1 s"
[[link]]
name = "wire"
from = "server"
to = "client"
delay = "1 ms"
[[flow]]
name = "flow"
client = "client"
server = "server"
application = { type = "bulk", size = "1 kB" }
"#;

impl Scenario {
    /// A scenario for its options [`Scenario::transport`] and [`Scenario::tls`], to which these changes are applied in
    /// order: `transport.ack_ratio=4`, `tls.cipher=aes256gcm`.
    ///
    /// # Errors
    /// The first mistake.
    pub fn of_options(sets: &[String]) -> Result<Scenario, ScenarioError> {
        Scenario::parse(LEAST, Path::new("options"), sets)
    }
}
