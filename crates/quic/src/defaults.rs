//! The default options of a connection.

use crate::config::Config;
use units::parameter::{Arguments, Options, Room, Unfilled, Value};

impl std::default::Default for Config {
    fn default() -> Config {
        Config::with(&[]).expect("every row of the table has a default")
    }
}

impl Config {
    /// The tables that contain the components among the options.
    pub fn rooms() -> [Room; 3] {
        {
            let [controllers, resumptions, _] = congestion::rooms();
            [controllers, crate::schedule::room(), resumptions]
        }
    }

    /// The default options, except for those given.
    ///
    /// # Errors
    /// If a name is not an option.
    pub fn with(given: &[(&str, Value)]) -> Result<Config, Unfilled> {
        Arguments::filled(Config::PARAMETERS, given, &Config::rooms()).map(|all| Config::of(&all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_default() {
        assert_eq!(Config::default().controller.name, "newreno");
        assert_eq!(Config::with(&[("initial_window", Value::Integer(7))]).unwrap().initial_window, Some(7));
        assert!(Config::with(&[("window", Value::Integer(7))]).is_err());
    }
}
