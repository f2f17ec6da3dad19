//! Web traffic in the simulator: a client that fetches so many objects of these sizes, from a site of virtual ones.

use crate::web::{Answer, Body, Discard, Method, Query, Request, Site};
use crate::{Ends, WebClient, WebServer};
use http::Priority;
use units::parameter::{Arguments, Default, Kind, Parameter, Row, Value};

const SIZES: Parameter = Parameter {
    name: "sizes",
    kind: Kind::List(&Kind::Size),
    default: Default::Is("[\"100 kB\"]"),
    about: "sizes of the objects; with more objects than sizes they begin anew",
};
const COUNT: Parameter = Parameter {
    name: "count",
    kind: Kind::Integer(1, 100_000),
    default: Default::Absent,
    about: "objects; without it as many as there are sizes",
};
const CONCURRENCY: Parameter = Parameter {
    name: "concurrency",
    kind: Kind::Integer(1, 100_000),
    default: Default::Is("100"),
    about: "requests that are underway at a time; the server's limit on streams bounds them too",
};

const URGENCIES: Parameter = Parameter {
    name: "urgencies",
    kind: Kind::List(&Kind::Integer(0, 7)),
    default: Default::Is("[3]"),
    about: "urgencies of the responses (RFC 9218), 0 the most urgent; with more objects they begin anew",
};
const INCREMENTAL: Parameter = Parameter {
    name: "incremental",
    kind: Kind::Flag,
    default: Default::Is("false"),
    about: "whether the client can use parts of a response (RFC 9218 section 4.2)",
};

pub(crate) const HQ: Row<crate::Build> = Row {
    name: "hq",
    about: "objects fetched over hq-interop (HTTP/0.9 on QUIC streams), as interoperability tests do",
    parameters: &[SIZES, COUNT, CONCURRENCY],
    build: |arguments, _| ends(arguments, |_| Priority::default()),
};

pub(crate) const HTTP3: Row<crate::Build> = Row {
    name: "http3",
    about: "objects fetched over HTTP/3, with priorities",
    parameters: &[SIZES, COUNT, CONCURRENCY, URGENCIES, INCREMENTAL],
    build: |arguments, _| {
        let urgencies: Vec<u8> = arguments
            .list("urgencies")
            .into_iter()
            .filter_map(|value| if let Value::Integer(urgency) = value { Some(urgency as u8) } else { None })
            .collect();
        let incremental = arguments.flag("incremental");
        ends(arguments, |index| {
            let urgency = urgencies.get(index % urgencies.len().max(1)).copied();
            Priority { urgency: urgency.unwrap_or(Priority::default().urgency), incremental }
        })
    },
};

fn ends(arguments: &Arguments, priority: impl Fn(usize) -> Priority) -> Ends {
    let sizes: Vec<u64> = arguments
        .list("sizes")
        .into_iter()
        .filter_map(|value| if let Value::Size(size) = value { Some(size.as_bytes()) } else { None })
        .collect();
    let count = if arguments.has("count") { arguments.integer("count") as usize } else { sizes.len() };
    let sizes = sizes.iter().copied().cycle().take(count);
    let requests = sizes.clone().enumerate().map(|(index, size)| {
        let path = format!("/{size}");
        Request { path, method: Method::Get, priority: priority(index) }
    });
    let concurrency = arguments.integer("concurrency") as usize;
    let client =
        WebClient::new("server", requests.collect(), concurrency, Box::new(Discard)).expecting(sizes.sum());
    Ends { client: Box::new(client), server: Box::new(WebServer::new(Box::new(VirtualSite))) }
}

/// A site of virtual objects: `/<bytes>` has as many bytes as it says, and nothing else is there.
#[derive(Debug, Clone, Copy)]
pub struct VirtualSite;

/// The largest virtual object: more than any run sends, and inside QUIC's limit of 2^62 - 1 with its fields.
const LARGEST: u64 = 1 << 60;

impl Site for VirtualSite {
    fn find(&mut self, query: Query<'_>) -> Answer {
        let size = match query.target.segments.as_slice() {
            [name] if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) => name.parse().ok(),
            _ => None,
        };
        match size.filter(|size| *size <= LARGEST) {
            Some(size) => Answer::found(Body::Virtual(size)),
            None => Answer::plain(404, "not found"),
        }
    }
}
