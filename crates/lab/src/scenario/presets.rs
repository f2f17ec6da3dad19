//! Presets of links: options of both directions that a name stands for.
//!
//! A preset is below the table of its link: any option beside it takes the place of that of the preset, and the resolved
//! scenario has the options, not the name. docs/model/satellite.md has the sources of all values.

use units::parameter::{Room, Row};

/// The name of the room of presets.
pub(super) const ROOM: &str = "presets";

/// The options of both directions, as tables of TOML. Forward is from the gateway to the terminal.
struct Preset {
    forward: &'static str,
    backward: &'static str,
}

static PRESETS: &[Row<Preset>] = &[
    Row {
        name: "geo",
        about: "satellite: geostationary, 50/10 Mbit/s, RTT 560 to 590 ms, DVB-RCS2 return link (ETSI EN 301 545-2); from the gateway to the terminal",
        parameters: &[],
        build: Preset { forward: GEO_FORWARD, backward: GEO_RETURN },
    },
    Row {
        name: "geo-constant",
        about: "satellite: geostationary without access to the return link: 50/10 Mbit/s, RTT 600 ms; from the gateway to the terminal",
        parameters: &[],
        build: Preset {
            forward: r#"{ rate = "50 Mbit/s", delay = "300 ms" }"#,
            backward: r#"{ rate = "10 Mbit/s", delay = "300 ms" }"#,
        },
    },
    Row {
        name: "geo-rain",
        about: "satellite: geo through a rain event of 20 min (ITU-R P.1853) with the MODCODs of DVB-S2 (ETSI EN 302 307-1); from the gateway to the terminal",
        parameters: &[],
        build: Preset {
            forward: r#"{ series = { type = "geo", rate = "50 Mbit/s", delay = "280 ms" } }"#,
            backward: GEO_RETURN,
        },
    },
    Row {
        name: "leo",
        about: "satellite: low orbit at 550 km, 120/15 Mbit/s, RTT 21 to 49 ms, another satellite every 15 s (Mohan et al., WWW 2024); from the gateway to the terminal",
        parameters: &[],
        build: Preset {
            forward: r#"{ series = { type = "leo", rate = "120 Mbit/s" }, queue = "100 ms" }"#,
            backward: r#"{ series = { type = "leo", rate = "15 Mbit/s" }, queue = "100 ms" }"#,
        },
    },
];

const GEO_FORWARD: &str = r#"{ rate = "50 Mbit/s", delay = "280 ms" }"#;
const GEO_RETURN: &str = r#"{ rate = { type = "dvb-rcs2", maximum = "10 Mbit/s", cra = "128 kbit/s", fca = "1 Mbit/s", frame = "26.5 ms", round_trip = "560 ms" }, delay = "280 ms" }"#;

/// The room of presets as scenarios and `quiclab list` see it.
pub(super) fn room() -> Room {
    Room::of(ROOM, "named sets of options of a link; an option given beside the name wins", PRESETS, None)
}

/// The options of one direction of a preset as a table of TOML; empty without one.
pub(super) fn options(preset: Option<&str>, forward: bool) -> &'static str {
    match preset.and_then(|name| PRESETS.iter().find(|row| row.name == name)) {
        Some(row) if forward => row.build.forward,
        Some(row) => row.build.backward,
        None => "{}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use std::path::Path;
    use units::Duration;

    fn scenario(link: &str) -> Scenario {
        let text = format!(
            "[[link]]\nname = \"sat\"\nfrom = \"gateway\"\nto = \"terminal\"\n{link}\n[[flow]]\nname = \"f\"\nclient = \
             \"terminal\"\nserver = \"gateway\"\napplication = \"bulk\"\n"
        );
        Scenario::parse(&text, Path::new("a.toml"), &[]).unwrap_or_else(|error| panic!("{link}: {error}"))
    }

    #[test]
    fn every_preset_is_a_link_and_the_resolved_scenario_has_its_options() {
        for row in PRESETS {
            let found = scenario(&format!("preset = \"{}\"", row.name));
            let round_trip = found.links[0].round_trip();
            let bounds = if row.name == "leo" { (20, 60) } else { (550, 600) };
            let (least, most) = (Duration::from_millis(bounds.0), Duration::from_millis(bounds.1));
            assert!((least..=most).contains(&round_trip), "{}: {round_trip}", row.name);
            let resolved = found.to_toml();
            assert!(!resolved.contains("preset"), "{resolved}");
            let again = Scenario::parse(&resolved, Path::new("a.toml"), &[]).unwrap();
            assert_eq!(again.links, found.links, "{}", row.name);
        }
    }

    #[test]
    fn an_option_beside_the_preset_wins_wherever_it_stands() {
        let rate = |link: &str| {
            let found = scenario(link);
            [&found.links[0].forward, &found.links[0].backward]
                .map(|values| values.value(network::DirectionOptions::RATE).name)
        };
        assert_eq!(rate("preset = \"geo\""), ["fixed", "dvb-rcs2"]);
        assert_eq!(rate("preset = \"geo\"\nrate = \"1 Mbit/s\""), ["fixed", "fixed"]);
        assert_eq!(rate("preset = \"geo\"\nboth = { rate = \"1 Mbit/s\" }"), ["fixed", "fixed"]);
        assert_eq!(rate("preset = \"geo\"\nforward = { rate = \"unlimited\" }"), ["unlimited", "dvb-rcs2"]);
        let found = scenario("preset = \"geo\"\nbackward = { delay = \"10 ms\" }");
        assert_eq!(found.links[0].round_trip(), Duration::from_millis(290));
    }
}
