//! The options of a row as they are when nobody says.

use units::parameter::{Arguments, Default, Kind, Parameter, Value};

/// The values of these options: those named, written as in a scenario, and the defaults of all others.
///
/// # Panics
/// For an option that is none, one without a default, and a text that is no value.
pub fn arguments(parameters: &[Parameter], changed: &[(&str, &str)]) -> Arguments {
    let given = |parameter: &Parameter| {
        let chosen = changed.iter().find(|(name, _)| *name == parameter.name).map(|(_, text)| *text);
        match (chosen, parameter.default) {
            (Some(text), _) | (None, Default::Is(text)) => {
                Some((parameter.name, value(&parameter.kind, text)))
            }
            (None, Default::Absent) => None,
            (None, Default::Required) => panic!("option {:?} has no default", parameter.name),
        }
    };
    for (name, _) in changed {
        assert!(parameters.iter().any(|parameter| parameter.name == *name), "there is no option {name:?}");
    }
    Arguments(parameters.iter().filter_map(given).collect())
}

fn value(kind: &Kind, text: &str) -> Value {
    let bare = text.trim().trim_matches('"');
    match kind {
        Kind::Duration => Value::Duration(bare.parse().unwrap()),
        Kind::Rate => Value::Rate(bare.parse().unwrap()),
        Kind::Size => Value::Size(bare.parse().unwrap()),
        Kind::Limit => Value::Limit(bare.parse().unwrap()),
        Kind::Integer(..) => Value::Integer(bare.parse().unwrap()),
        Kind::Probability if bare.ends_with('%') => {
            Value::Number(bare.trim_end_matches('%').trim().parse::<f64>().unwrap() / 100.0)
        }
        Kind::Number(..) | Kind::Probability => Value::Number(bare.parse().unwrap()),
        Kind::Flag => Value::Flag(bare.parse().unwrap()),
        Kind::Text | Kind::Choice(_) => Value::Text(bare.to_owned()),
        Kind::List(inner) => {
            let items = bare.trim_start_matches('[').trim_end_matches(']').split(',');
            Value::List(items.filter(|item| !item.trim().is_empty()).map(|item| value(inner, item)).collect())
        }
        other => panic!("no option of a controller is of the kind {other:?}"),
    }
}
