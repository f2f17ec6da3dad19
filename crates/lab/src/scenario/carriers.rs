//! Reads the carriers of a document: links and media.

use super::error::ScenarioError;
use super::model::{Attachment, Link, Medium};
use super::names::Names;
use super::nodes::{Nodes, items};
use super::presets;
use super::read::{Reader, Section, names_of};
use super::sections::{AT, BACKWARD, BOTH, FORWARD, LINK_TABLE, LinkOptions, MEDIUM_TABLE, MediumOptions};
use super::source::{Place, one_of, quoted};
use super::tables::{table, tables};
use super::tree::parse_value;
use network::medium::Attached;
use units::parameter::{Arguments, Component, Options, Row};

/// Reads links and media. Each name is unique among both.
pub(super) fn read_carriers<'i>(
    reader: &mut Reader<'_>,
    top: &Section<'i>,
    nodes: &mut Nodes<'i>,
) -> Result<(Vec<Link>, Vec<Medium>), ScenarioError> {
    let mut names = Names::default();
    let links = read_links(reader, top, nodes, &mut names)?;
    let media = read_media(reader, top, nodes, &mut names)?;
    if links.is_empty() && media.is_empty() {
        let problem = "missing; expected at least one [[link]] or [[medium]]";
        return Err(reader.source.error(top.place, LINK_TABLE, problem));
    }
    Ok((links, media))
}

fn read_links<'i>(
    reader: &mut Reader<'_>,
    top: &Section<'i>,
    nodes: &mut Nodes<'i>,
    names: &mut Names<'i>,
) -> Result<Vec<Link>, ScenarioError> {
    let mut links = Vec::new();
    for section in tables(reader, top, LINK_TABLE, network::MAX_LINKS)? {
        let also = [&[FORWARD, BACKWARD, BOTH][..], &names_of(network::LINK)].concat();
        reader.check_keys(&section, LinkOptions::PARAMETERS, &also)?;
        let LinkOptions { name, preset, .. } = reader.options(&section)?;
        names.add(reader, &section, LinkOptions::NAME)?;
        let from = nodes.end_of_link(reader, &section, LinkOptions::FROM)?;
        let to = nodes.end_of_link(reader, &section, LinkOptions::TO)?;
        if from == to {
            let key = LinkOptions::TO.name;
            return Err(reader.wrong_at(&section, key, "a link from a node to itself", "another node"));
        }
        let preset = preset.map(|preset| preset.name);
        let forward = read_direction(reader, &section, FORWARD, preset)?;
        let backward = read_direction(reader, &section, BACKWARD, preset)?;
        check_covered(reader, &section)?;
        links.push(Link { name, from, to, forward, backward });
    }
    Ok(links)
}

/// Reads one direction of a link. Its own table hides `both`, both hide the table of the link, and that its preset.
fn read_direction(
    reader: &mut Reader<'_>,
    link: &Section<'_>,
    name: &str,
    preset: Option<&str>,
) -> Result<Arguments, ScenarioError> {
    let both = table(reader, link, BOTH)?;
    reader.check_keys(&both, network::LINK, &[])?;
    if let Some(twice) = both.entries().find(|entry| link.get(&entry.key).is_some()) {
        let key = &twice.key;
        let problem = format!("given twice; expected it either in {} or in {}", link.path(), both.path());
        return Err(reader.source.error(twice.place, &both.at(key), problem));
    }
    let own = table(reader, link, name)?;
    reader.check_keys(&own, network::LINK, &[])?;
    let preset = parse_value(presets::options(preset, name == FORWARD), Place::Default)
        .map_err(|error| reader.source.error(Place::Default, presets::ROOM, error.problem))?;
    let preset = reader.section(&preset, link.at(LinkOptions::PRESET.name))?;
    reader.arguments(network::LINK, &own.over(&both).over(link).over(&preset))
}

/// Checks the options of `both` and of the link that both directions override.
fn check_covered(reader: &mut Reader<'_>, link: &Section<'_>) -> Result<(), ScenarioError> {
    let (forward, backward) = (table(reader, link, FORWARD)?, table(reader, link, BACKWARD)?);
    let both = table(reader, link, BOTH)?.over(link);
    for parameter in network::LINK {
        let name = parameter.name;
        if let (Some(entry), Some(_), Some(_)) = (both.get(name), forward.get(name), backward.get(name)) {
            reader.value(&parameter.kind, &entry.item, &both.at(name))?;
        }
    }
    Ok(())
}

fn read_media<'i>(
    reader: &mut Reader<'_>,
    top: &Section<'i>,
    nodes: &mut Nodes<'i>,
    names: &mut Names<'i>,
) -> Result<Vec<Medium>, ScenarioError> {
    let mut media = Vec::new();
    for section in tables(reader, top, MEDIUM_TABLE, network::MAX_MEDIA)? {
        let MediumOptions { name, station, .. } = reader.options(&section)?;
        names.add(reader, &section, MediumOptions::NAME)?;
        let row = reader.row_of(network::medium::room().name, &section, MediumOptions::KIND)?;
        reader.check_keys(
            &section,
            row.parameters,
            &[&names_of(MediumOptions::PARAMETERS)[..], &[AT]].concat(),
        )?;
        let ends = read_attached(reader, &section, nodes)?;
        let kind = Component {
            room: network::medium::room().name,
            name: row.name,
            arguments: reader.arguments(row.parameters, &section)?,
        };
        let attached: Vec<&str> = ends.iter().map(|node| nodes.names.name(*node)).collect();
        let attached = Attached { names: &attached, station: station.is_some() };
        network::medium::check(kind.name, &kind.arguments, attached)
            .map_err(|(option, problem)| reader.error_at(&section, option, problem))?;
        let at = table(reader, &section, AT)?;
        check_attached(reader, &at, nodes, &ends)?;
        let attachment = |&node: &usize| {
            let arguments = read_attachment(reader, (&section, &at), nodes.names.name(node), &row, attached)?;
            Ok(Attachment { node, arguments })
        };
        let attachments = ends.iter().map(attachment).collect::<Result<_, _>>()?;
        if station.is_none() && network::medium::needs_station(row.name) {
            let problem = format!(
                "missing; a medium of type {:?} has a station, expected the name of a node",
                row.name
            );
            return Err(reader.error_at(&section, MediumOptions::STATION.name, problem));
        }
        media.push(Medium { name, kind, station: station.is_some(), attachments });
    }
    Ok(media)
}

/// Reads the attached nodes: the station, if there is one, and the terminals.
fn read_attached<'i>(
    reader: &Reader<'_>,
    medium: &Section<'i>,
    nodes: &mut Nodes<'i>,
) -> Result<Vec<usize>, ScenarioError> {
    let mut all = Vec::new();
    let [station, terminals] = [MediumOptions::STATION.name, MediumOptions::TERMINALS.name];
    if let Some(entry) = medium.get(station) {
        all.push(nodes.attached(reader, &entry.item, &medium.at(station))?);
    }
    let Some(entry) = medium.get(terminals) else { return Ok(Vec::new()) };
    for (number, item) in items(&entry.item).iter().enumerate() {
        let path = format!("{}.{number}", medium.at(terminals));
        let node = nodes.attached(reader, item, &path)?;
        if all.contains(&node) {
            return Err(reader.wrong(item, &path, "attached twice", "another node"));
        }
        all.push(node);
    }
    if !(2..=network::MAX_ATTACHMENTS).contains(&all.len()) {
        let problem = format!(
            "too few or too many nodes, found {}; expected 2 to {}, the station among them",
            all.len(),
            network::MAX_ATTACHMENTS
        );
        return Err(reader.error_at(medium, terminals, problem));
    }
    Ok(all)
}

/// Checks that each table of an attachment has the name of an attached node.
fn check_attached(
    reader: &Reader<'_>,
    at: &Section<'_>,
    nodes: &Nodes<'_>,
    ends: &[usize],
) -> Result<(), ScenarioError> {
    let attached = || ends.iter().map(|node| nodes.names.name(*node));
    let stranger = at.entries().find(|entry| !attached().any(|name| name == entry.key));
    let Some(entry) = stranger else { return Ok(()) };
    let names = one_of(attached().take(20));
    let problem = format!("not attached, found {}; expected {names}", quoted(&entry.key));
    Err(reader.source.error(entry.place, &at.at(&entry.key), problem))
}

/// Checks that what is set for the station has an effect there.
fn check_station(reader: &Reader<'_>, own: &Section<'_>, medium: &str) -> Result<(), ScenarioError> {
    let options = network::medium::options_of_station(medium);
    let Some(entry) = own.entries().find(|entry| !options.contains(&entry.key.as_str())) else {
        return Ok(());
    };
    let options = one_of(options.iter().copied());
    let problem = format!("has no effect at the station; expected {options}, or the table of a terminal");
    Err(reader.source.error(entry.place, &own.at(&entry.key), problem))
}

/// Reads the options of one attachment. Its own table hides that of the medium.
fn read_attachment(
    reader: &mut Reader<'_>,
    (medium, at): (&Section<'_>, &Section<'_>),
    node: &str,
    row: &Row<()>,
    attached: Attached<'_>,
) -> Result<Arguments, ScenarioError> {
    let options = network::medium::options_of_attachment(row.name);
    let own = table(reader, at, node)?;
    let names = names_of(row.parameters);
    let allowed: Vec<&str> = names.into_iter().filter(|name| options.contains(name)).collect();
    reader.check_keys(&own, &[], &allowed)?;
    if attached.station && attached.names.first() == Some(&node) {
        check_station(reader, &own, row.name)?;
    }
    let whole = own.over(medium);
    let mut arguments = reader.arguments(row.parameters, &whole)?;
    network::medium::check(row.name, &arguments, attached)
        .map_err(|(option, problem)| reader.error_at(&whole, option, problem))?;
    arguments.0.retain(|(name, _)| options.contains(name));
    Ok(arguments)
}
