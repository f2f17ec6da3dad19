//! Web traffic: a client that fetches objects of given sizes from a virtual site.

use crate::{Ends, Profile, http2_options};
use http::Priority;
use random::Stream;
use units::parameter::{Arguments, Default, Kind, Parameter, Row, Value};
use web::{Discard, Request, VirtualSite, WebClient, WebServer, alpn};

const SIZES: Parameter = Parameter {
    name: "sizes",
    kind: Kind::List(&Kind::Size),
    default: Default::Is("[\"100 kB\"]"),
    about: "sizes of the objects; with more objects the list repeats",
};
const COUNT: Parameter = Parameter {
    name: "count",
    kind: Kind::Integer(1, 100_000),
    default: Default::Absent,
    about: "number of objects; without it as many as there are sizes",
};
const CONCURRENCY: Parameter = Parameter {
    name: "concurrency",
    kind: Kind::Integer(1, 100_000),
    default: Default::Is("100"),
    about: "maximum number of concurrent requests; the server's stream limit applies too",
};

const URGENCIES: Parameter = Parameter {
    name: "urgencies",
    kind: Kind::List(&Kind::Integer(0, 7)),
    default: Default::Is("[3]"),
    about: "urgencies of the responses (RFC 9218), 0 the most urgent; with more objects the list repeats",
};
const INCREMENTAL: Parameter = Parameter {
    name: "incremental",
    kind: Kind::Flag,
    default: Default::Is("false"),
    about: "whether the client can use parts of a response (RFC 9218 section 4.2)",
};

pub(crate) const HQ: Row<Profile> = Row {
    name: "hq",
    about: "objects fetched over hq-interop (HTTP/0.9 on QUIC streams), as interoperability tests do",
    parameters: &[SIZES, COUNT, CONCURRENCY],
    build: Profile {
        alpn: |_| alpn::HQ,
        ..Profile::of(|arguments, _| {
            ends(arguments, arguments.integer("concurrency"), |_| Priority::default())
        })
    },
};

pub(crate) const CONNECTIONS: Parameter = Parameter {
    name: "connections",
    kind: Kind::Integer(1, transport::MAX_CONNECTIONS as u64),
    default: Default::Is("6"),
    about: "connections of HTTP/1.1, each opened when a request waits for one (RFC 9112 section 9.4 names no number)",
};

pub(crate) const HTTP1: Row<Profile> = Row {
    name: "http1",
    about: "objects fetched over HTTP/1.1 on several TCP connections, one at a time on each",
    parameters: &[SIZES, COUNT, CONNECTIONS],
    build: Profile {
        alpn: |_| alpn::HTTP1,
        over_quic: None,
        over_tcp: Some(|arguments| Ok(arguments.integer("connections") as usize)),
        ..Profile::of(|arguments, _| {
            ends(arguments, arguments.integer("connections"), |_| Priority::default())
        })
    },
};

pub(crate) const HTTP2: Row<Profile> = Row {
    name: "http2",
    about: "objects fetched over HTTP/2 on one TCP connection, with priorities",
    parameters: &[
        SIZES,
        COUNT,
        CONCURRENCY,
        URGENCIES,
        INCREMENTAL,
        http2_options::SCHEDULER,
        http2_options::STREAM_WINDOW,
        http2_options::CONNECTION_WINDOW,
    ],
    build: Profile {
        alpn: |_| alpn::HTTP2,
        over_quic: None,
        over_tcp: Some(|_| Ok(1)),
        check: http2_options::check,
        ..Profile::of(prioritized)
    },
};

pub(crate) const HTTP3: Row<Profile> = Row {
    name: "http3",
    about: "objects fetched over HTTP/3, with priorities",
    parameters: &[SIZES, COUNT, CONCURRENCY, URGENCIES, INCREMENTAL],
    build: Profile { alpn: |_| alpn::HTTP3, ..Profile::of(prioritized) },
};

fn prioritized(arguments: &Arguments, _: Stream) -> Ends {
    let urgencies: Vec<u8> = arguments
        .list("urgencies")
        .into_iter()
        .filter_map(|value| if let Value::Integer(urgency) = value { Some(urgency as u8) } else { None })
        .collect();
    let incremental = arguments.flag("incremental");
    ends(arguments, arguments.integer("concurrency"), |index| {
        let urgency = urgencies.get(index % urgencies.len().max(1)).copied();
        Priority { urgency: urgency.unwrap_or(Priority::default().urgency), incremental }
    })
}

fn ends(arguments: &Arguments, concurrency: u64, priority: impl Fn(usize) -> Priority) -> Ends {
    let sizes: Vec<u64> = arguments
        .list("sizes")
        .into_iter()
        .filter_map(|value| if let Value::Size(size) = value { Some(size.as_bytes()) } else { None })
        .collect();
    let count = if arguments.has("count") { arguments.integer("count") as usize } else { sizes.len() };
    let sizes = sizes.iter().copied().cycle().take(count);
    let requests = sizes.clone().enumerate().map(|(index, size)| {
        let path = format!("/{size}");
        Request { priority: priority(index), ..Request::get(path) }
    });
    let client = WebClient::new("server", requests.collect(), concurrency as usize, Box::new(Discard))
        .with_windows(http2_options::client_windows(arguments))
        .expecting(sizes.sum());
    Ends { client: Box::new(client), server: Box::new(server(arguments)) }
}

/// A server of virtual objects, with the HTTP/2 scheduler in the options, if any.
pub(crate) fn server(arguments: &Arguments) -> WebServer {
    let server = WebServer::new(Box::new(VirtualSite));
    match http2_options::scheduler(arguments) {
        Some(scheduler) => server.with_scheduler(scheduler),
        None => server,
    }
}
