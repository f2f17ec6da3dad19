//! End-to-end tests of hq-interop.

use crate::bed::{Bed, config, context, size};
use crate::shelf::{Basket, Shelf, content};
use transport::Application;
use units::Duration;
use web::{Failure, Head, Method, Request, Take};
use web::{WebClient, WebServer};

const HQ: &[u8] = b"hq-interop";

fn client(paths: &[&str], concurrency: usize, basket: &Basket) -> WebClient {
    let requests = paths.iter().map(|path| Request::get(*path)).collect();
    WebClient::new("server", requests, concurrency, Box::new(basket.clone()))
}
fn server() -> WebServer {
    WebServer::new(Box::new(Shelf::default()))
}

#[test]
fn objects_of_all_kinds_arrive_whole() {
    let basket = Basket::default();
    let paths = ["/bytes/100000", "/whole/30000", "/virtual/50000", "/bytes/0", "/bytes/1"];
    let mut bed = Bed::new(HQ, client(&paths, 3, &basket), server());
    bed.run();
    for (index, path) in paths.iter().enumerate() {
        let name = &path[1..];
        let length = name.split('/').nth(1).unwrap().parse().unwrap();
        let kept = basket.get(index);
        if name.starts_with("virtual") {
            assert!(wire::pattern::matches(0, &kept.bytes), "the response is the whole stream");
            assert_eq!(kept.bytes.len() as u64, length);
        } else {
            assert_eq!(kept.bytes, content(name, length), "{path}");
        }
        let fetched = &bed.web_client.results()[index];
        assert_eq!(kept.head, Some(Head::default()));
        assert_eq!((fetched.bytes, fetched.status, &fetched.failure), (length, None, &None));
        assert_eq!(kept.ended.as_ref(), Some(fetched));
    }
    assert_eq!(bed.closes[1].as_ref().unwrap().code(), (true, bed.web_server.no_error()));
    assert!(bed.web_client.progress().finished_at.is_some());
    assert_eq!(bed.web_client.progress().bytes, 180_001);
}

#[test]
fn unanswerable_requests_are_reset_and_others_continue() {
    let basket = Basket::default();
    let paths = ["/nothing", "/../x", "/bytes/1000", "/broken/100000", "relative", "/a b"];
    let mut bed = Bed::new(HQ, client(&paths, 1, &basket), server());
    bed.run();
    let failures: Vec<_> = bed.web_client.results().iter().map(|fetched| fetched.failure.clone()).collect();
    assert_eq!(failures[..3], [Some(Failure::Reset(1)), Some(Failure::Reset(1)), None]);
    assert_eq!(failures[3..], [Some(Failure::Reset(2)), Some(Failure::Reset(1)), Some(Failure::Unsupported)]);
    assert_eq!(bed.web_client.progress().finished_at, None, "not all came");
    assert!(bed.web_client.is_over());
}

#[test]
fn a_small_send_buffer_slows_but_does_not_block_the_server() {
    let basket = Basket::default();
    let narrow = config(&[("send_buffer", size(3000))]);
    let paths = ["/bytes/200000", "/whole/100000"];
    let mut bed = Bed::with(context(HQ), [config(&[]), narrow], client(&paths, 2, &basket), server());
    bed.run();
    assert_eq!(basket.get(0).bytes, content("bytes/200000", 200_000));
    assert_eq!(basket.get(1).bytes, content("whole/100000", 100_000));
}

#[test]
fn requests_beyond_the_servers_bound_wait() {
    let basket = Basket::default();
    let paths = ["/bytes/20000"; 30];
    let narrow = config(&[("send_buffer", size(3000))]);
    let server = server().with_max_requests(2);
    let mut bed = Bed::with(context(HQ), [config(&[]), narrow], client(&paths, 30, &basket), server);
    bed.run();
    assert!(bed.web_client.results().iter().all(|fetched| fetched.is_complete() && fetched.bytes == 20_000));
    let times: Vec<_> = bed.web_client.results().iter().map(|fetched| fetched.finished_at.unwrap()).collect();
    assert!(times[29].since(times[0]) > Duration::from_millis(100), "they came one after another");
}

#[test]
fn a_sink_that_refuses_and_a_client_that_cancels_end_one_request_each() {
    let basket = Basket { limit: 150_000, ..Basket::default() };
    let paths = ["/bytes/200000", "/bytes/1000000", "/bytes/100", "/bytes/101"];
    let mut bed = Bed::new(HQ, client(&paths, 3, &basket), server());
    assert!(bed.run_until(Duration::from_secs(5), |bed| bed.web_client.results()[1].bytes > 10_000));
    let now = bed.now;
    for request in [1, 3, 3] {
        bed.on_client(|client, transport| client.cancel(now, request, transport));
    }
    bed.run();
    let results = bed.web_client.results();
    assert_eq!(results[0].failure, Some(Failure::Sink("the basket is full".to_owned())));
    assert_eq!(results[1].failure, Some(Failure::Cancelled));
    assert!(results[2].is_complete());
    assert_eq!((results[3].requested_at.is_some(), results[3].is_complete()), (true, true), "over before");
    assert!(bed.web_server.is_idle());
}

#[test]
fn head_is_unsupported_and_a_sink_may_cancel() {
    let basket = Basket { take: Take::Nothing, ..Basket::default() };
    let requests =
        vec![Request { method: Method::Head, ..Request::get("/bytes/5") }, Request::get("/bytes/90000")];
    let client = WebClient::new("server", requests, 2, Box::new(basket.clone()));
    let mut bed = Bed::new(HQ, client, server());
    bed.run();
    assert_eq!(bed.web_client.results()[0].failure, Some(Failure::Unsupported));
    assert_eq!(bed.web_client.results()[1].failure, Some(Failure::Cancelled));
    assert_eq!(basket.get(1).bytes, Vec::<u8>::new());
}

#[test]
fn a_server_that_shuts_down_refuses_later_requests() {
    let basket = Basket::default();
    let mut bed = Bed::new(HQ, client(&["/bytes/300000", "/bytes/5"], 1, &basket), server());
    assert!(bed.run_until(Duration::from_secs(5), |bed| bed.web_client.results()[0].bytes > 0));
    bed.on_server(|server, transport| server.shut_down(transport));
    bed.run();
    assert!(bed.web_client.results()[0].is_complete());
    assert_eq!(bed.web_client.results()[1].failure, Some(Failure::Reset(1)));
}

#[test]
fn an_unknown_protocol_closes_the_connection() {
    let basket = Basket::default();
    let tls = tls::Context::new(&tls::Options::default(), &[b"other"], 7).unwrap();
    let mut bed = Bed::with(tls, [config(&[]), config(&[])], client(&["/bytes/1"], 1, &basket), server());
    bed.run();
    assert_eq!(bed.web_client.results()[0].failure, Some(Failure::NotProcessed));
    assert!(bed.closes[0].as_ref().is_some_and(|reason| reason.code() == (true, 0x110)));
}

/// The think time of a server applies to hq-interop too, for each request separately.
#[test]
fn a_server_thinks() {
    let basket = Basket::default();
    let paths = ["/10?think=60000000", "/20", "/30?think=20000000"];
    let site = WebServer::new(Box::new(web::VirtualSite));
    let mut bed = Bed::new(HQ, client(&paths, 3, &basket), site);
    bed.run();
    let results = bed.web_client.results();
    let began = |index: usize| results[index].first_at.unwrap().as_nanos();
    let sizes: Vec<u64> = results.iter().map(|fetched| fetched.bytes).collect();
    assert_eq!(sizes, [10, 20, 30]);
    // All three were sent at once.
    let later = [began(0) - began(1), began(2) - began(1)].map(|nanos| nanos / 1_000_000);
    assert_eq!(later, [60, 20], "milliseconds");
    assert!(bed.web_server.is_idle());
}
