//! End-to-end tests of HTTP/3.

use crate::bed::{Bed, config, context, size};
use crate::shelf::{Basket, Shelf, content};
use http::Code;
use transport::Application;
use units::Duration;
use web::{Failure, Head, Method, Request};
use web::{WebClient, WebServer};

const H3: &[u8] = b"h3";

fn requests(paths: &[&str]) -> Vec<Request> {
    paths.iter().map(|path| Request::get(*path)).collect()
}
fn client(paths: &[&str], concurrency: usize, basket: &Basket) -> WebClient {
    WebClient::new("server", requests(paths), concurrency, Box::new(basket.clone()))
}
fn server() -> WebServer {
    WebServer::new(Box::new(Shelf::default()))
}

#[test]
fn objects_of_all_kinds_arrive_whole() {
    let basket = Basket::default();
    let paths = ["/bytes/100000", "/whole/30000", "/virtual/50000", "/bytes/0", "/bytes/1"];
    let mut bed = Bed::new(H3, client(&paths, 3, &basket), server());
    bed.run();
    for (index, path) in paths.iter().enumerate() {
        let name = &path[1..];
        let length: u64 = name.split('/').nth(1).unwrap().parse().unwrap();
        let kept = basket.get(index);
        if !name.starts_with("virtual") {
            assert_eq!(kept.bytes, content(name, length), "{path}");
        }
        let fetched = &bed.web_client.results()[index];
        let head = Head {
            status: Some(200),
            content_length: Some(length),
            content_type: Some("application/octet-stream".to_owned()),
        };
        assert_eq!(kept.head, Some(head));
        assert_eq!((fetched.bytes, fetched.status, &fetched.failure), (length, Some(200), &None));
        assert_eq!(kept.ended.as_ref(), Some(fetched));
    }
    assert_eq!(bed.web_server.no_error(), 0x100);
    assert_eq!(bed.closes[1].as_ref().unwrap().code(), (true, 0x100));
    assert_eq!(bed.web_client.progress().bytes, 180_001);
}

#[test]
fn statuses_and_broken_sources() {
    let basket = Basket::default();
    let paths = ["/nothing", "/../x", "/bytes/1000", "/broken/100000", "relative", "/a b"];
    let mut bed = Bed::new(H3, client(&paths, 1, &basket), server());
    bed.run();
    let results = bed.web_client.results();
    let statuses: Vec<_> = results.iter().map(|fetched| fetched.status).collect();
    // A reset overtakes data that was sent before it.
    assert_eq!(statuses, [Some(404), Some(400), Some(200), None, None, None]);
    assert_eq!(basket.get(0).bytes, b"nothing\n");
    assert_eq!(results[3].failure, Some(Failure::Reset(Code::INTERNAL_ERROR.0)));
    assert_eq!(results[4].failure, Some(Failure::Unsupported));
    assert_eq!(results[5].failure, Some(Failure::Unsupported));
}

/// RFC 9110 section 9.3.2: the response to HEAD has the length but no content.
#[test]
fn a_head_has_no_content() {
    let basket = Basket::default();
    let requests = vec![Request { method: Method::Head, ..Request::get("/bytes/5000") }];
    let client = WebClient::new("server", requests, 1, Box::new(basket.clone()));
    let mut bed = Bed::new(H3, client, server());
    bed.run();
    assert_eq!(basket.get(0).head.unwrap().content_length, Some(5000));
    assert!(bed.web_client.results()[0].is_complete());
    assert_eq!(bed.web_client.results()[0].bytes, 0);
}

#[test]
fn a_small_send_buffer_slows_but_does_not_block_both_ends() {
    let basket = Basket::default();
    let narrow = || config(&[("send_buffer", size(100))]);
    let long = format!("/bytes/200?{}", "q".repeat(3000));
    let paths = ["/bytes/20000", "/whole/10000", &long];
    let mut bed = Bed::with(context(H3), [narrow(), narrow()], client(&paths, 3, &basket), server());
    bed.run();
    assert_eq!(basket.get(0).bytes, content("bytes/20000", 20_000));
    assert_eq!(basket.get(1).bytes, content("whole/10000", 10_000));
    assert_eq!(basket.get(2).bytes, content("bytes/200", 200));
}

/// RFC 9114 section 4.2.2: fields beyond the server's limit are not sent.
#[test]
fn a_request_larger_than_the_peers_limit_is_not_sent() {
    let basket = Basket::default();
    let long = format!("/bytes/200?{}", "q".repeat(33_000));
    let paths = ["/bytes/1", &long];
    let mut bed = Bed::new(H3, client(&paths, 1, &basket), server());
    bed.run();
    assert!(bed.web_client.results()[0].is_complete());
    assert_eq!(bed.web_client.results()[1].failure, Some(Failure::Unsupported));
}

#[test]
fn a_client_that_cancels_ends_one_request() {
    let basket = Basket { limit: 150_000, ..Basket::default() };
    let paths = ["/bytes/200000", "/bytes/1000000", "/bytes/100", "/bytes/101"];
    let mut bed = Bed::new(H3, client(&paths, 3, &basket), server());
    assert!(bed.run_until(Duration::from_secs(5), |bed| bed.web_client.results()[1].bytes > 10_000));
    let now = bed.now;
    bed.on_client(|client, transport| client.cancel(now, 1, transport));
    bed.run();
    let results = bed.web_client.results();
    assert_eq!(results[0].failure, Some(Failure::Sink("the basket is full".to_owned())));
    assert_eq!(results[1].failure, Some(Failure::Cancelled));
    assert!(results[2].is_complete() && results[3].is_complete());
    assert!(bed.web_server.is_idle());
}

/// RFC 9114 section 5.2: requests in progress are answered, later ones are not processed.
#[test]
fn a_server_that_goes_away_completes_requests_in_progress() {
    let basket = Basket::default();
    let paths = ["/bytes/300000", "/bytes/300001", "/bytes/100"];
    let mut bed = Bed::new(H3, client(&paths, 2, &basket), server());
    assert!(bed.run_until(Duration::from_secs(5), |bed| bed.web_client.results()[0].bytes > 1000));
    bed.on_server(|server, transport| server.shut_down(transport));
    bed.run();
    let results = bed.web_client.results();
    assert!(results[0].is_complete() && results[1].is_complete());
    assert_eq!(results[2].failure, Some(Failure::NotProcessed));
    assert!(bed.web_server.is_idle());
}
