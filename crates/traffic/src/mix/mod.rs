//! Several applications on one connection. Each sees a connection of its own, with streams that are numbered from 0.
//!
//! A stream that a part opens begins with two variable-length integers (RFC 9000 section 16): the number of the part, and
//! which of the part's streams of its kind it is; a datagram begins with the first of them. They are one byte each up
//! to 63. The other end tells by them whose the stream is, and gives it the same number there.

mod end;
mod routes;
mod transport;

use crate::profile::{Misfit, needs_datagrams};
use crate::{APPLICATIONS, Ends, Profile};
use end::{MixEnd, PartEnd};
use random::Stream;
use units::parameter::{Arguments, Component, Default, Kind, Parameter, Row, Value};
use wire::Side;

pub(crate) const ROW: Row<Profile> = Row {
    name: "mix",
    about: "several applications on one connection",
    parameters: &[Parameter {
        name: "parts",
        kind: Kind::List(&Kind::Component("applications")),
        default: Default::Required,
        about: "the applications, numbered from 0; any of bulk, messages and request-response",
    }],
    build: Profile {
        check,
        datagrams: |arguments| {
            parts(arguments).iter().any(|part| needs_datagrams(part.name, &part.arguments))
        },
        ..Profile::of(build)
    },
};

/// The most parts: their numbers take one byte.
const MOST: usize = 64;

/// The names of the applications that can be parts.
fn sharing() -> Vec<&'static str> {
    APPLICATIONS.iter().filter(|row| row.build.shares).map(|row| row.name).collect()
}

/// The parts.
fn parts(arguments: &Arguments) -> Vec<Component> {
    let components = arguments.list("parts").into_iter().filter_map(|value| match value {
        Value::Component(component) => Some(component),
        _ => None,
    });
    components.collect()
}

/// Whether the parts do: the option that does not, and what is wrong with it.
fn check(arguments: &Arguments) -> Result<(), Misfit> {
    let parts = parts(arguments);
    if parts.is_empty() || parts.len() > MOST {
        return Err(("parts", format!("{} of them; expected from 1 to {MOST}", parts.len())));
    }
    let sharing = sharing();
    match parts.iter().find(|part| !sharing.contains(&part.name)) {
        Some(part) => {
            Err(("parts", format!("found {:?}; expected any of {}", part.name, sharing.join(", "))))
        }
        None => Ok(()),
    }
}

fn build(arguments: &Arguments, mut random: Stream) -> Ends {
    let (mut clients, mut servers): (Vec<PartEnd>, Vec<PartEnd>) = (Vec::new(), Vec::new());
    for (number, part) in parts(arguments).into_iter().enumerate() {
        let stream = random.fork(&format!("part {number}"));
        // Names were checked.
        let Some(row) = APPLICATIONS.iter().find(|row| row.name == part.name) else { continue };
        let ends = (row.build.build)(&part.arguments, stream);
        let before = clients.iter().filter(|other| other.application == part.name).count();
        let name = if before == 0 { part.name.to_owned() } else { format!("{}-{}", part.name, before + 1) };
        let made = |end| PartEnd { name: name.clone(), application: part.name, end };
        clients.push(made(ends.client));
        servers.push(made(ends.server));
    }
    Ends {
        client: Box::new(MixEnd::new(Side::Client, clients)),
        server: Box::new(MixEnd::new(Side::Server, servers)),
    }
}
