//! The default options.

use crate::config::Config;
use units::parameter::{Arguments, Options, Unfilled, Value};

impl std::default::Default for Config {
    fn default() -> Config {
        Config::with(&[]).expect("every row of the table has a default")
    }
}

impl Config {
    /// The default options, replaced by those given.
    ///
    /// # Errors
    /// If a name is not an option.
    pub fn with(given: &[(&str, Value)]) -> Result<Config, Unfilled> {
        Arguments::filled(Config::PARAMETERS, given, &congestion::rooms()).map(|all| Config::of(&all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_default() {
        assert_eq!(Config::default().controller.name, "newreno");
        assert_eq!(Config::with(&[("mss", Value::Integer(1000))]).unwrap().mss, 1000);
        assert!(Config::with(&[("mtu", Value::Integer(1000))]).is_err());
    }
}
