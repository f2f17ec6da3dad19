//! All that can stand in a scenario, and what the rooms themselves have to say about it.

use super::kind::words;
use super::nodes;
use super::read::Fault;
use super::sections;
use random::Stream;
use serde_json::{Value as Json, json};
use units::parameter::{Component, Default, Kind, Parameter, Room};

/// Every room whose components a scenario can name, and the tables of a scenario (room `sections`).
pub fn rooms() -> Vec<Room> {
    let mut rooms = vec![
        sections::room(),
        nodes::kinds(),
        sections::visits(),
        crate::event::room(),
        congestion::room(),
        schedule::room(),
    ];
    rooms.extend(network::rooms());
    rooms.extend([traffic::room(), traffic::changes(), pages::room(), traffic::sources::room()]);
    rooms
}

/// [`rooms`] as JSON: `[{name, about, shorthand, rows: [{name, about, parameters: [{name, kind, default, required,
/// about}]}]}]`. A default is written as in a scenario file, null where there is none; `shorthand` is null or
/// `{row, option}`.
pub fn rooms_json() -> String {
    let rooms: Vec<Json> = rooms().iter().map(room_json).collect();
    Json::from(rooms).to_string()
}

fn room_json(room: &Room) -> Json {
    let rows = room.rows.iter().map(|row| {
        let parameters: Vec<Json> = row.parameters.iter().map(parameter_json).collect();
        json!({ "name": row.name, "about": row.about, "parameters": parameters })
    });
    let shorthand = room.shorthand.map(|(row, option)| json!({ "row": row, "option": option }));
    json!({ "name": room.name, "about": room.about, "shorthand": shorthand, "rows": rows.collect::<Vec<_>>() })
}

fn parameter_json(parameter: &Parameter) -> Json {
    let default = match parameter.default {
        Default::Is(text) => Some(text),
        Default::Required | Default::Absent => None,
    };
    json!({
        "name": parameter.name,
        "kind": words(&parameter.kind),
        "default": default,
        "required": parameter.default == Default::Required,
        "about": parameter.about,
    })
}

/// Asks a component's room whether its options do. Those that can say no are rates (a malformed trace, a list of changes
/// that does not rise), sources (a largest size below the smallest), pages (a law without a share inside of its bounds, a
/// malformed file) and applications.
pub(super) fn check(component: &Component) -> Result<(), Fault> {
    if component.room == traffic::sources::room().name {
        let checked = traffic::sources::check(component.name, &component.arguments);
        return checked.map_err(|(option, problem)| Fault { option, problem });
    }
    if component.room == pages::room().name {
        let checked = pages::check(component.name, &component.arguments);
        return checked.map_err(|(option, problem)| Fault { option, problem });
    }
    if component.room == traffic::room().name {
        let checked = traffic::check(component.name, &component.arguments);
        return checked.map_err(|(option, problem)| Fault { option, problem });
    }
    if component.room != network::rate::room().name {
        return Ok(());
    }
    match network::rate::build(component.name, &component.arguments, Stream::new(0, "check")) {
        Ok(_) => Ok(()),
        Err(error) => {
            let option = error.option().unwrap_or_else(|| culprit(component));
            Err(Fault { option, problem: error.to_string() })
        }
    }
}

/// The option that a complaint is about: its file if it has one, else its first one.
fn culprit(component: &Component) -> &'static str {
    let parameters = rooms()
        .iter()
        .find(|room| room.name == component.room)
        .and_then(|room| room.rows.iter().find(|row| row.name == component.name))
        .map_or(&[][..], |row| row.parameters);
    let file = parameters.iter().find(|parameter| matches!(parameter.kind, Kind::File(_)));
    file.or(parameters.first()).map_or("", |parameter| parameter.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_components_are_there() {
        let rooms = rooms();
        let names: BTreeSet<&str> = rooms.iter().map(|room| room.name).collect();
        assert_eq!(names.len(), rooms.len());
        for room in &rooms {
            let rows: BTreeSet<&str> = room.rows.iter().map(|row| row.name).collect();
            assert_eq!(rows.len(), room.rows.len(), "{}", room.name);
            for row in &room.rows {
                let options: BTreeSet<&str> = row.parameters.iter().map(|parameter| parameter.name).collect();
                assert_eq!(options.len(), row.parameters.len(), "{}", row.name);
                // The tables of media and events are components themselves.
                let own = room.name == "sections" && ["medium", "event"].contains(&row.name);
                assert!(
                    own || !options.contains("type"),
                    "{}: `type` is the key of the row itself",
                    row.name
                );
                assert!(!row.about.is_empty() && !row.about.contains('\n'), "{}", row.name);
                for parameter in row.parameters {
                    assert!(
                        !parameter.about.is_empty() && !parameter.about.contains('\n'),
                        "{}",
                        parameter.name
                    );
                    if let Kind::Component(of) = parameter.kind {
                        assert!(names.contains(of), "{}.{}: no room {of}", row.name, parameter.name);
                    }
                }
            }
        }
    }

    #[test]
    fn the_list_is_json_with_every_option() {
        let list: Json = serde_json::from_str(&rooms_json()).unwrap();
        let find = |list: &Json, name: &str| {
            list.as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap().clone()
        };
        let rates = find(&list, "rates");
        assert_eq!(rates["shorthand"], json!({ "row": "fixed", "option": "rate" }));
        let rate = find(&find(&rates["rows"], "fixed")["parameters"], "rate");
        assert_eq!(
            (&rate["kind"], &rate["default"], &rate["required"]),
            (&json!("rate"), &Json::Null, &json!(true))
        );
        let duration = find(&find(&find(&list, "sections")["rows"], "scenario")["parameters"], "duration");
        assert_eq!(duration["default"], "\"60 s\"");
    }
}
