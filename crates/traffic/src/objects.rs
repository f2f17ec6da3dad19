//! Web traffic in the simulator: a client that fetches so many objects of these sizes, from a site of virtual ones.

use crate::web::{Answer, Body, Discard, Query, Request, Site};
use crate::{Ends, Profile, WebClient, WebServer, hq, http1, http2, http3};
use http::{Priority, Target};
use random::Stream;
use units::Duration;
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

pub(crate) const HQ: Row<Profile> = Row {
    name: "hq",
    about: "objects fetched over hq-interop (HTTP/0.9 on QUIC streams), as interoperability tests do",
    parameters: &[SIZES, COUNT, CONCURRENCY],
    build: Profile {
        alpn: |_| hq::ALPN,
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
        alpn: |_| http1::ALPN,
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
        http2::SCHEDULER,
        http2::STREAM_WINDOW,
        http2::CONNECTION_WINDOW,
    ],
    build: Profile {
        alpn: |_| http2::ALPN,
        over_quic: None,
        over_tcp: Some(|_| Ok(1)),
        check: http2::check,
        ..Profile::of(prioritized)
    },
};

pub(crate) const HTTP3: Row<Profile> = Row {
    name: "http3",
    about: "objects fetched over HTTP/3, with priorities",
    parameters: &[SIZES, COUNT, CONCURRENCY, URGENCIES, INCREMENTAL],
    build: Profile { alpn: |_| http3::ALPN, ..Profile::of(prioritized) },
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
        .with_windows(http2::client_windows(arguments))
        .expecting(sizes.sum());
    Ends { client: Box::new(client), server: Box::new(server(arguments)) }
}

/// A server of virtual objects, with the scheduler of HTTP/2 that the options name.
pub(crate) fn server(arguments: &Arguments) -> WebServer {
    let server = WebServer::new(Box::new(VirtualSite));
    match http2::scheduler(arguments) {
        Some(scheduler) => server.with_scheduler(scheduler),
        None => server,
    }
}

/// A site of virtual objects: `/<bytes>` has as many bytes as it says, and nothing else is there. A query says more:
/// `/<bytes>?think=<nanoseconds>&fill=<bytes>` is answered after a while, with a field that makes the head larger by so much.
#[derive(Debug, Clone, Copy)]
pub struct VirtualSite;

/// The largest virtual object: more than any run sends, and inside QUIC's limit of 2^62 - 1 with its fields.
const LARGEST: u64 = 1 << 60;
/// The longest time that the site thinks: as long as a page can say.
const LONGEST: u64 = u64::MAX;
/// The most that makes a head larger: it is inside of what clients take.
pub(crate) const MOST_FILL: u64 = 16_384;

/// Digits as a number up to a limit.
fn number(digits: &str, most: u64) -> Option<u64> {
    let is_one = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|number| is_one && *number <= most)
}

fn find(target: &Target) -> Option<Answer> {
    let [name] = target.segments.as_slice() else { return None };
    let mut answer = Answer::found(Body::Virtual(number(name, LARGEST)?));
    for part in target.query.iter().flat_map(|query| query.split('&')) {
        match part.split_once('=')? {
            ("think", digits) => answer.think = Duration::from_nanos(number(digits, LONGEST)?),
            ("fill", digits) => answer.fill = number(digits, MOST_FILL)? as usize,
            _ => return None,
        }
    }
    Some(answer)
}

impl Site for VirtualSite {
    fn find(&mut self, query: Query<'_>) -> Answer {
        find(query.target).unwrap_or_else(|| Answer::plain(404, "not found"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_site_has_an_object_of_every_size() {
        let find = |path: &str| find(&Target::parse(path.as_bytes()).unwrap());
        assert_eq!(find("/1?think=18446744073709551615").unwrap().think, Duration::from_nanos(u64::MAX));
        let answer = find("/1000?think=5000&fill=20").unwrap();
        assert_eq!((answer.body.len(), answer.think.as_nanos(), answer.fill), (1000, 5000, 20));
        assert_eq!(find("/0").unwrap().body.len(), 0);
        for bad in [
            "/",
            "/a",
            "/-1",
            "/+1",
            "/1/2",
            "/1?",
            "/1?think=x",
            "/1?fill=16385",
            "/1?other=1",
            "/1152921504606846977",
        ] {
            assert!(find(bad).is_none(), "{bad}");
        }
    }
}
