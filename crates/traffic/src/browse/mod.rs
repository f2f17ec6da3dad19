//! The application `page`: loads web pages over HTTP/1.1, HTTP/2 or HTTP/3, from one server or from several.

mod origins;

use crate::http2_options::Http2Options;
use crate::objects::{self, ConnectionsOptions};
use crate::profile::Many;
use crate::versions::{self, Version, VersionOptions};
use crate::{Ends, Profile};
use http::http1;
use http::qpack::Field;
use origins::Map;
pub(crate) use origins::ROW as ORIGIN;
use pages::{Object, Page, Pages};
use random::Generator;
use std::rc::Rc;
use std::sync::Arc;
use transport::Owned;
use units::Duration;
use units::parameter::{Arguments, Component, Options, Row};
use web::{Discard, Gate, MAX_FILL, Order, PageLoader, Part, Request, WebClient};

/// The server name in requests.
const AUTHORITY: &str = "server";
/// The maximum number of concurrent requests over HTTP/2 and HTTP/3.
const CONCURRENCY: usize = 100;

/// The options of the loading of pages.
#[derive(Debug, Clone, Options)]
struct PageOptions {
    #[options]
    version: VersionOptions,
    /// where the pages come from
    #[option(default = "ns3", room = "pages")]
    page: Component,
    /// number of pages, loaded one after another with reading times between them
    #[option(default = 1, within = 1..=100_000)]
    pages: usize,
    /// time to resolve the name of a host of the flow's server, once for each, before its first request
    #[option(default = "0 s")]
    dns: Duration,
    #[options]
    tcp: ConnectionsOptions,
    #[options]
    http2: Http2Options,
}

pub(crate) const ROW: Row<Profile> = Row {
    name: "page",
    about: "web pages, each object requested when its dependencies have arrived",
    parameters: PageOptions::PARAMETERS,
    build: Profile {
        alpn: versions::alpn,
        over_quic: Some(&versions::goes_over_quic),
        over_tcp: Some(&|arguments| {
            let options = PageOptions::of(arguments);
            options.version.over.tcp_connections(options.tcp.connections)
        }),
        check: &|arguments| {
            let options = PageOptions::of(arguments);
            options.version.over.check(&options.http2)
        },
        many: Some(Many {
            names: |arguments, branches| {
                Map::new(hosts(&PageOptions::of(arguments)), branches).map(Map::into_names)
            },
            build: build_many,
        }),
        ..Profile::of(&build)
    },
};

/// The model of pages, whose options were checked when the scenario was read.
fn model(component: &Component, random: &mut Generator) -> Box<dyn Pages> {
    let model = pages::build(component.name, &component.arguments, random);
    model.and_then(Result::ok).expect("the options of a model are checked when the scenario is read")
}

/// The hosts that pages name, the first of which is that of the first object.
fn hosts(options: &PageOptions) -> Vec<Arc<str>> {
    // Pages that name hosts are not drawn.
    model(&options.page, &mut Generator::new(0, "pages")).hosts()
}

fn build(arguments: &Arguments, random: Generator) -> Ends {
    let options = PageOptions::of(arguments);
    if options.dns.is_zero() {
        return over_one(&options, random);
    }
    build_many(arguments, &[], random).pop().expect("a page has a connection")
}

/// The ends of the only connection of a page.
fn over_one(options: &PageOptions, mut random: Generator) -> Ends {
    let mut model = model(&options.page, &mut random);
    let pages: Vec<Page> = std::iter::repeat_with(|| model.next()).take(options.pages).collect();
    let total = pages.iter().map(Page::bytes).sum();
    let concurrency = match options.version.over {
        Version::Http1 => options.tcp.connections,
        _ => CONCURRENCY,
    };
    let (requests, order) = plan(&pages, |_| AUTHORITY);
    let client = WebClient::ordered(AUTHORITY, requests, order, concurrency, Box::new(Discard))
        .with_windows(options.http2.client_windows())
        .expecting(total);
    Ends { client: Box::new(client), server: Box::new(objects::server(&options.http2)) }
}

/// The ends of a connection that nothing is asked of.
fn idle(http2: &Http2Options) -> Ends {
    let client = WebClient::new(AUTHORITY, Vec::new(), 1, Box::new(Discard));
    Ends { client: Box::new(client), server: Box::new(objects::server(http2)) }
}

/// The ends of all connections of a page.
fn build_many(arguments: &Arguments, branches: &[&Arguments], mut random: Generator) -> Vec<Ends> {
    let options = PageOptions::of(arguments);
    let mut model = model(&options.page, &mut random);
    let mut hosts = model.hosts();
    if hosts.is_empty() {
        hosts.push(AUTHORITY.into());
    }
    let map = Map::new(hosts, branches).unwrap_or_else(|misfit| {
        panic!("the origins of a page are checked when the scenario is read: {}", misfit.problem)
    });
    let pages: Vec<Page> = std::iter::repeat_with(|| model.next()).take(options.pages).collect();
    let place = |object: &Object| {
        let known = object.host.as_ref().and_then(|host| map.hosts.iter().position(|known| known == host));
        // An object whose host is not named comes from the flow's own server.
        known.unwrap_or(0)
    };
    let objects = || pages.iter().flat_map(|page| &page.objects);
    let from: Vec<usize> = objects().map(place).collect();
    let (origins, ways) = map.loaded(&options);
    let mut totals = vec![0; ways.len()];
    for (object, host) in objects().zip(&from) {
        totals[map.connections()[*host]] += object.bytes;
    }
    let (mut requests, order) = plan(&pages, |object| &map.hosts[place(object)]);
    let names: Vec<Rc<str>> = origins.iter().map(|origin| Rc::clone(&origin.name)).collect();
    for (request, host) in requests.iter_mut().zip(&from) {
        request.authority = Some(Rc::clone(&names[*host]));
    }
    let count = ways.len();
    let loader = PageLoader::new(requests, order, from, origins, ways).expecting(&totals);
    let ends = |(client, http2): (Owned, &Http2Options)| Ends {
        client: Box::new(client),
        server: Box::new(objects::server(http2)),
    };
    Owned::all(loader, count).zip(map.http2(&options)).map(ends).collect()
}

/// The requests for pages, and the order in which they may be sent.
fn plan<'h>(pages: &[Page], host: impl Fn(&Object) -> &'h str) -> (Vec<Request>, Order) {
    let (mut requests, mut gates, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    let mut pause = Duration::ZERO;
    for page in pages {
        let start = requests.len();
        for object in &page.objects {
            requests.push(request(object, host(object)));
            let after = object.after.iter().map(|after| (start + after.object as usize, after.on_first_byte));
            gates.push(Gate { after: after.collect(), delay: object.parsing });
        }
        parts.push(Part { requests: start..requests.len(), pause });
        pause = page.reading;
    }
    let urgencies = requests.iter().map(|request| request.priority.urgency).collect();
    (requests, Order::of_pages(gates, parts, urgencies))
}

/// The request for an object of the virtual site.
fn request(object: &Object, authority: &str) -> Request {
    let mut query = Vec::new();
    if !object.think.is_zero() {
        query.push(format!("think={}", object.think.as_nanos()));
    }
    let (mut head, length) = (Vec::new(), Field::new("content-length", object.bytes.to_string()));
    http1::write_response(&mut head, 200, &[length]);
    if let Some(fill) = missing(object.header_bytes, head.len(), "x-fill") {
        query.push(format!("fill={fill}"));
    }
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    let mut request = Request::get(format!("/{}{query}", object.bytes));
    request.priority = object.priority;
    head.clear();
    http1::write_request(&mut head, request.method.as_str(), &request.path, authority, &request.fields());
    request.cookie = missing(object.request_bytes, head.len(), "cookie").unwrap_or(0) as usize;
    request
}

/// The length of a field value that pads a head of `size` bytes to the wanted size; `None` if no padding is needed.
fn missing(wanted: u64, size: usize, name: &str) -> Option<u64> {
    // In HTTP/1.1 a field has ": " and a line end beside its name and value.
    let value = wanted.checked_sub((size + name.len() + 4) as u64)?;
    (value > 0).then_some(value.min(MAX_FILL))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Target;
    use pages::{After, Kind};
    use units::Time;
    use web::{Method, Query, Site, VirtualSite};

    fn object(bytes: u64, after: &[u32]) -> Object {
        let after = after.iter().copied().map(After::complete).collect();
        Object { after, ..Object::new(Kind::Embedded, bytes) }
    }

    #[test]
    fn heads_are_padded_to_their_size() {
        for (request_bytes, header_bytes) in [(0, 0), (500, 300), (90, 60), (5000, 9000)] {
            let object = Object { request_bytes, header_bytes, ..object(1000, &[]) };
            let request = request(&object, AUTHORITY);
            let mut head = Vec::new();
            http1::write_request(&mut head, "GET", &request.path, AUTHORITY, &request.fields());
            let least = head.len() as u64;
            assert!(
                request_bytes <= least + 11 && (request.cookie == 0 || least == request_bytes),
                "{least}"
            );
            let target = Target::parse(request.path.as_bytes()).unwrap();
            let answer = VirtualSite.find(Query { method: Method::Get, target: &target, authority: None });
            head.clear();
            http1::write_response(&mut head, answer.status, &answer.fields().0);
            let least = head.len() as u64;
            assert!(header_bytes <= least + 11 && (answer.fill == 0 || least == header_bytes), "{least}");
        }
    }

    #[test]
    fn pages_follow_each_other() {
        let reading = Duration::from_millis(50);
        let page = Page { objects: vec![object(10, &[]), object(20, &[0])], reading };
        let (requests, mut order) = plan(&[page.clone(), page], |_| AUTHORITY);
        assert_eq!(
            requests.iter().map(|r| r.path.as_str()).collect::<Vec<_>>(),
            ["/10", "/20", "/10", "/20"]
        );
        order.start(Time::ZERO);
        for index in [0, 1] {
            assert_eq!((order.next(), order.take(index)), (Some(index), true));
            order.on_over(Time::ZERO, index);
        }
        assert_eq!((order.next(), order.wake_at()), (None, Some(Time::ZERO + reading)));
    }
}
