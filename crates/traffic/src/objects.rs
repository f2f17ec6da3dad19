//! Web traffic: a client that fetches objects of given sizes from a virtual site.

use crate::http2_options::Http2Options;
use crate::{Ends, Profile};
use http::Priority;
use units::Size;
use units::parameter::{Options, Row};
use web::{Discard, Request, VirtualSite, WebClient, WebServer, alpn};

/// Which objects are fetched.
#[derive(Debug, Clone, Options)]
struct ObjectsOptions {
    /// sizes of the objects; with more objects the list repeats
    #[option(default = ["100 kB"])]
    sizes: Vec<Size>,
    /// number of objects; without it as many as there are sizes
    #[option(within = 1..=100_000)]
    count: Option<usize>,
}

/// The options of objects fetched on one connection.
#[derive(Debug, Clone, Options)]
struct HqOptions {
    #[options]
    objects: ObjectsOptions,
    /// maximum number of concurrent requests; the server's stream limit applies too
    #[option(default = 100, within = 1..=100_000)]
    concurrency: usize,
}

/// The connections of HTTP/1.1.
#[derive(Debug, Clone, Copy, Options)]
pub(crate) struct ConnectionsOptions {
    /// connections of HTTP/1.1, each opened when a request waits for one (RFC 9112 section 9.4 names no number)
    #[option(default = 6, within = 1..=transport::MAX_CONNECTIONS as u64)]
    pub(crate) connections: usize,
}

/// The options of objects fetched over HTTP/1.1.
#[derive(Debug, Clone, Options)]
struct Http1ObjectsOptions {
    #[options]
    objects: ObjectsOptions,
    #[options]
    tcp: ConnectionsOptions,
}

/// The options of objects fetched with priorities: over HTTP/3.
#[derive(Debug, Clone, Options)]
struct PrioritizedOptions {
    #[options]
    requests: HqOptions,
    /// urgencies of the responses (RFC 9218), 0 the most urgent; with more objects the list repeats
    #[option(default = [3], within = 0..=7)]
    urgencies: Vec<u8>,
    /// whether the client can use parts of a response (RFC 9218 section 4.2)
    #[option(default = false)]
    incremental: bool,
}

/// The options of objects fetched over HTTP/2.
#[derive(Debug, Clone, Options)]
struct Http2ObjectsOptions {
    #[options]
    prioritized: PrioritizedOptions,
    #[options(scheduler = "rfc9218", stream_window = "6 MiB", connection_window = "15 MiB")]
    http2: Http2Options,
}

pub(crate) const HQ: Row<Profile> = Row {
    name: "hq",
    about: "objects fetched over hq-interop (HTTP/0.9 on QUIC streams), as interoperability tests do",
    parameters: HqOptions::PARAMETERS,
    build: Profile {
        alpn: |_| alpn::HQ,
        ..Profile::of(&|arguments, _| {
            let HqOptions { objects, concurrency } = HqOptions::of(arguments);
            ends(&objects, concurrency, &Http2Options::default(), |_| Priority::default())
        })
    },
};

pub(crate) const HTTP1: Row<Profile> = Row {
    name: "http1",
    about: "objects fetched over HTTP/1.1 on several TCP connections, one at a time on each",
    parameters: Http1ObjectsOptions::PARAMETERS,
    build: Profile {
        alpn: |_| alpn::HTTP1,
        over_quic: None,
        over_tcp: Some(&|arguments| Ok(ConnectionsOptions::of(arguments).connections)),
        ..Profile::of(&|arguments, _| {
            let Http1ObjectsOptions { objects, tcp } = Http1ObjectsOptions::of(arguments);
            ends(&objects, tcp.connections, &Http2Options::default(), |_| Priority::default())
        })
    },
};

pub(crate) const HTTP2: Row<Profile> = Row {
    name: "http2",
    about: "objects fetched over HTTP/2 on one TCP connection, with priorities",
    parameters: Http2ObjectsOptions::PARAMETERS,
    build: Profile {
        alpn: |_| alpn::HTTP2,
        over_quic: None,
        over_tcp: Some(&|_| Ok(1)),
        check: &|arguments| Http2Options::of(arguments).check(),
        ..Profile::of(&|arguments, _| {
            let Http2ObjectsOptions { prioritized, http2 } = Http2ObjectsOptions::of(arguments);
            prioritized.ends(&http2)
        })
    },
};

pub(crate) const HTTP3: Row<Profile> = Row {
    name: "http3",
    about: "objects fetched over HTTP/3, with priorities",
    parameters: PrioritizedOptions::PARAMETERS,
    build: Profile {
        alpn: |_| alpn::HTTP3,
        ..Profile::of(&|arguments, _| PrioritizedOptions::of(arguments).ends(&Http2Options::default()))
    },
};

impl PrioritizedOptions {
    fn ends(&self, http2: &Http2Options) -> Ends {
        let HqOptions { objects, concurrency } = &self.requests;
        ends(objects, *concurrency, http2, |index| {
            let urgency = self.urgencies.get(index % self.urgencies.len().max(1)).copied();
            Priority {
                urgency: urgency.unwrap_or(Priority::default().urgency),
                incremental: self.incremental,
            }
        })
    }
}

fn ends(
    objects: &ObjectsOptions,
    concurrency: usize,
    http2: &Http2Options,
    priority: impl Fn(usize) -> Priority,
) -> Ends {
    let count = objects.count.unwrap_or(objects.sizes.len());
    let sizes = objects.sizes.iter().map(|size| size.as_bytes()).cycle().take(count);
    let requests = sizes.clone().enumerate().map(|(index, size)| {
        let path = format!("/{size}");
        Request { priority: priority(index), ..Request::get(path) }
    });
    let client = WebClient::new("server", requests.collect(), concurrency, Box::new(Discard))
        .with_windows(http2.client_windows())
        .expecting(sizes.sum());
    Ends { client: Box::new(client), server: Box::new(server(http2)) }
}

/// A server of virtual objects, with the HTTP/2 scheduler in the options, if any.
pub(crate) fn server(http2: &Http2Options) -> WebServer {
    let server = WebServer::new(Box::new(VirtualSite));
    match &http2.scheduler {
        Some(scheduler) => server.with_scheduler(scheduler.clone()),
        None => server,
    }
}
