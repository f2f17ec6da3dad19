//! Several applications on one connection. Each sees its own connection, with streams numbered from 0.
//!
//! A stream opened by a part begins with two variable-length integers (RFC 9000 section 16): the number of the part,
//! and the index among the part's streams of this kind. A datagram begins with the first of them. They take one byte
//! each up to 63. The other end uses them to find the part and to give the stream the same number there.

mod end;
mod routes;
mod transport;

use crate::profile::{OptionError, find, needs_datagrams, needs_partial_resets};
use crate::{APPLICATIONS, Ends, Profile};
use end::{MixEnd, PartEnd};
use random::Generator;
use units::parameter::{Arguments, Component, Options, Row};
use wire::Side;

/// The options of a mix.
#[derive(Debug, Clone, Options)]
struct MixOptions {
    /// the applications, numbered from 0; those that can share a connection, such as bulk and messages
    #[option(room = "applications")]
    parts: Vec<Component>,
}

pub(crate) const ROW: Row<Profile> = Row {
    name: "mix",
    about: "several applications on one connection",
    parameters: MixOptions::PARAMETERS,
    build: Profile {
        check: &check,
        datagrams: &|arguments| {
            parts(arguments).iter().any(|part| needs_datagrams(part.name, &part.arguments))
        },
        partial_resets: &|arguments| {
            parts(arguments).iter().any(|part| needs_partial_resets(part.name, &part.arguments))
        },
        ..Profile::of(&build)
    },
};

/// The maximum number of parts, whose numbers take one byte.
const MAX_PARTS: usize = 64;

/// The names of the applications that can share a connection.
fn shareable() -> Vec<&'static str> {
    APPLICATIONS.iter().filter(|row| row.build.shares).map(|row| row.name).collect()
}

/// The parts.
fn parts(arguments: &Arguments) -> Vec<Component> {
    MixOptions::of(arguments).parts
}

/// Checks that the parts can share a connection; the error is the option at fault and a description.
fn check(arguments: &Arguments) -> Result<(), OptionError> {
    let parts = parts(arguments);
    if parts.is_empty() || parts.len() > MAX_PARTS {
        return Err(("parts", format!("{} of them; expected from 1 to {MAX_PARTS}", parts.len())));
    }
    match parts.iter().find(|part| find(part.name).is_none_or(|profile| !profile.shares)) {
        Some(part) => {
            Err(("parts", format!("found {:?}; expected any of {}", part.name, shareable().join(", "))))
        }
        None => parts.iter().try_for_each(|part| check_part(part, &parts)),
    }
}

/// Checks the options of a part, and that it is the only one that a result can tell of.
fn check_part(part: &Component, parts: &[Component]) -> Result<(), OptionError> {
    let profile = find(part.name).expect("the reader knows the applications of the parts");
    let in_part = |(option, problem): OptionError| ("parts", format!("{}.{option}: {problem}", part.name));
    (profile.check)(&part.arguments).map_err(in_part)?;
    profile.over_quic.map_or(Ok(()), |check| check(&part.arguments)).map_err(in_part)?;
    let players = parts.iter().filter(|part| part.name == crate::video::ROW.name).count();
    match players {
        0 | 1 => Ok(()),
        more => Err(("parts", format!("found {more} of {:?}; expected one, or separate flows", part.name))),
    }
}

fn build(arguments: &Arguments, mut random: Generator) -> Ends {
    let (mut clients, mut servers): (Vec<PartEnd>, Vec<PartEnd>) = (Vec::new(), Vec::new());
    for (number, part) in parts(arguments).into_iter().enumerate() {
        let draws = random.fork(&format!("part {number}"));
        let profile = find(part.name).expect("the reader knows the applications of the parts");
        let ends = (profile.build)(&part.arguments, draws);
        // Equal runs have equal summaries, wherever the file of a class lies.
        let application = part.name.rsplit('/').next().expect("a name has a last part");
        let before = clients.iter().filter(|other| other.application == application).count();
        let name = if before == 0 { application.to_owned() } else { format!("{application}-{}", before + 1) };
        let alpn = (profile.alpn)(&part.arguments);
        let part_end = |end| PartEnd { name: name.clone(), application, alpn, end };
        clients.push(part_end(ends.client));
        servers.push(part_end(ends.server));
    }
    Ends {
        client: Box::new(MixEnd::new(Side::Client, clients)),
        server: Box::new(MixEnd::new(Side::Server, servers)),
    }
}
