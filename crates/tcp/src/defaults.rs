//! Connections with every option as it is by default.

use crate::config::{Config, PARAMETERS};
use congestion::CONTROLLERS;
use units::parameter::{Arguments, Component, Default, Kind, Parameter, Value};

impl std::default::Default for Config {
    fn default() -> Config {
        Config::from(&arguments(PARAMETERS))
    }
}

/// The defaults of these rows, as far as they have any.
fn arguments(rows: &[Parameter]) -> Arguments {
    Arguments(rows.iter().filter_map(|row| Some((row.name, default_of(row)?))).collect())
}

fn default_of(row: &Parameter) -> Option<Value> {
    let Default::Is(text) = row.default else { return None };
    let text = text.trim_matches('"');
    match row.kind {
        Kind::Duration => text.parse().ok().map(Value::Duration),
        Kind::Size => text.parse().ok().map(Value::Size),
        Kind::Rate => text.parse().ok().map(Value::Rate),
        Kind::Integer(..) => text.parse().ok().map(Value::Integer),
        Kind::Number(..) => text.parse().ok().map(Value::Number),
        Kind::Flag => text.parse().ok().map(Value::Flag),
        Kind::Choice(_) | Kind::Text => Some(Value::Text(text.to_owned())),
        Kind::Component(room) => {
            let row = CONTROLLERS.iter().find(|row| row.name == text)?;
            Some(Value::Component(Component { room, name: row.name, arguments: arguments(row.parameters) }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_default() {
        for row in PARAMETERS {
            let given = matches!(row.default, Default::Is(_));
            assert_eq!(default_of(row).is_some(), given, "{}", row.name);
        }
        assert_eq!(Config::default().controller.name, "newreno");
    }
}
