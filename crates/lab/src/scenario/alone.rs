//! Options without a network: for what has endpoints and no simulated world, by the names that they have in a scenario.

use super::error::ScenarioError;
use super::model::Scenario;
use std::path::Path;

/// The least scenario that there is.
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
    /// The options in [`Scenario::transport`] and [`Scenario::tls`] after these changes, each as
    /// `transport.ack_ratio=4` or `tls.cipher=aes256gcm`, the later ones over the earlier ones; everything else in the
    /// scenario is of no account.
    ///
    /// # Errors
    /// The first mistake.
    pub fn of_options(sets: &[String]) -> Result<Scenario, ScenarioError> {
        Scenario::parse(LEAST, Path::new("options"), sets)
    }
}
