//! The list of everything that a scenario can contain.

use super::kind::words;
use super::nodes;
use super::presets;
use super::sections;
use super::topics::{self, Topic};
use crate::middlebox;
use serde_json::{Value as Json, json};
use std::sync::OnceLock;
use units::parameter::{Default, Kind, Parameter, Room};

/// All rooms with components for scenarios, and the tables of a scenario as the room `sections`. Components from outside are in them if they
/// were loaded before the first call: the reader asks for those by their place.
pub fn rooms() -> &'static [Room] {
    static ROOMS: OnceLock<Vec<Room>> = OnceLock::new();
    ROOMS.get_or_init(all)
}

fn all() -> Vec<Room> {
    let mut rooms =
        vec![sections::room(), nodes::kinds(), sections::visits(), presets::room(), crate::event::room()];
    rooms.push(foreign::room());
    rooms.extend(congestion::rooms());
    rooms.push(schedule::room());
    rooms.extend(network::rooms().into_iter().map(middlebox::complete));
    rooms.push(crate::proxy::sides());
    rooms.extend([
        traffic::room(),
        traffic::changes(),
        pages::room(),
        traffic::sources::room(),
        video::presentation::room(),
        video::abr::room(),
    ]);
    rooms
}

/// All rooms and their components as JSON, including those from outside so far, in the order of the topics: `[{name, about,
/// subject, shorthand, rows: [{name, about, page, parameters: [{name, kind, default, required, about, topic}]}]}]`.
///
/// * `subject` is the heading of the room in a list of all.
/// * `page` is the page of the documentation that describes the component. It is null if there is none.
/// * `default` is written as in a scenario file. It is null if the option has no default.
/// * `shorthand` is `{row, option}`: what a bare value stands for. It is null if the room has none.
/// * `topic` is the name of the room from which an option takes its component or its list of components. It is null for
///   other options.
pub fn rooms_json() -> String {
    let rooms: Vec<Json> =
        topics::by_topic(all()).iter().map(|(topic, room)| room_json(topic, room)).collect();
    Json::from(rooms).to_string()
}

fn room_json(topic: &Topic, room: &Room) -> Json {
    let rows = room.rows.iter().map(|row| {
        let parameters: Vec<Json> = row.parameters.iter().map(parameter_json).collect();
        let page = topic.page_of(row.name);
        json!({ "name": row.name, "about": row.about, "page": page, "parameters": parameters })
    });
    let shorthand = room.shorthand.map(|(row, option)| json!({ "row": row, "option": option }));
    let rows = rows.collect::<Vec<_>>();
    let subject = topic.subject;
    json!({ "name": room.name, "about": room.about, "subject": subject, "shorthand": shorthand, "rows": rows })
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
        "topic": room_of(&parameter.kind),
    })
}

/// The room whose components are the values of a kind, or items of its lists.
fn room_of(kind: &Kind) -> Option<&'static str> {
    match kind {
        Kind::Component(room) => Some(room),
        Kind::List(of) => room_of(of),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::read::Reader;
    use super::super::source::{Place, Source};
    use super::super::tree::parse_value;
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn names_are_unique_and_rooms_of_options_exist() {
        let rooms = rooms();
        let names: BTreeSet<&str> = rooms.iter().map(|room| room.name).collect();
        assert_eq!(names.len(), rooms.len());
        for room in rooms {
            let rows: BTreeSet<&str> = room.rows.iter().map(|row| row.name).collect();
            assert_eq!(rows.len(), room.rows.len(), "{}", room.name);
            for row in &room.rows {
                let options: BTreeSet<&str> = row.parameters.iter().map(|parameter| parameter.name).collect();
                assert_eq!(options.len(), row.parameters.len(), "{}", row.name);
                // The tables of media and events contain the options of their components.
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
    fn every_default_is_read_without_toml_as_with_it() {
        let source = Source { origin: Path::new("a.toml"), text: "", sets: &[], loads_code: true };
        let mut reader = Reader::new(source, rooms());
        let mut count = 0;
        let rows = rooms().iter().flat_map(|room| &room.rows);
        for parameter in rows.flat_map(|row| row.parameters) {
            let Default::Is(text) = parameter.default else { continue };
            let item = parse_value(text, Place::Default).unwrap();
            let value = reader.value(&parameter.kind, &item, parameter.name).unwrap();
            assert_eq!(parameter.kind.read(text, rooms()), Some(value), "{} = {text}", parameter.name);
            count += 1;
        }
        assert!(count > 400, "{count} defaults");
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
        assert_eq!((&duration["default"], &duration["topic"]), (&json!("\"60 s\""), &Json::Null));
        let visits = find(&find(&find(&list, "sections")["rows"], "flow")["parameters"], "visits");
        assert_eq!(visits["topic"], "visits");
        for (room, row, page) in [
            ("controllers", "cubic", json!("docs/model/cubic.md")),
            ("schedulers", "rr", json!("docs/model/scheduler-rr.md")),
            ("losses", "random", json!("docs/model/loss.md")),
            ("kinds", "gate", json!("docs/model/gates.md")),
            ("sections", "flow", Json::Null),
        ] {
            assert_eq!(find(&find(&list, room)["rows"], row)["page"], page, "{row}");
        }
        assert_eq!((&list[0]["subject"], &rates["subject"]), (&json!("Scenarios"), &json!("Links")));
    }
}
