//! Tests for both HTTP/3 and hq-interop.

use crate::bed::{Bed, config, context};
use crate::shelf::{Basket, Shelf, content};
use transport::Application;
use units::parameter::Value;
use web::{Request, Take};
use web::{WebClient, WebServer};

const ALPNS: [&[u8]; 2] = [b"h3", b"hq-interop"];

fn client(paths: &[String], basket: &Basket) -> WebClient {
    let requests = paths.iter().map(Request::get).collect();
    WebClient::new("server", requests, paths.len(), Box::new(basket.clone()))
}
fn server() -> WebServer {
    WebServer::new(Box::new(Shelf::default()))
}

#[test]
fn two_thousand_small_files_with_ten_streams_and_loss() {
    for alpn in ALPNS {
        let basket = Basket { take: Take::Length, ..Basket::default() };
        let paths: Vec<String> = (0..2000).map(|n| format!("/bytes/{}", 100 + n)).collect();
        let few = config(&[("initial_max_streams_bidi", Value::Integer(10))]);
        let mut bed = Bed::with(context(alpn), [config(&[]), few], client(&paths, &basket), server());
        bed.lose_every = 23;
        bed.run();
        assert!(bed.web_client.results().iter().all(|fetched| fetched.is_complete()));
        assert_eq!(bed.web_client.progress().bytes, (0..2000).map(|n| 100 + n).sum::<u64>());
        // An end can see a stream as closed, and open another one, before the other end does.
        assert!(bed.most_streams <= 20, "{}", bed.most_streams);
        assert!(bed.web_server.is_idle());
    }
}

/// A source without data for a while is read again; the response is not aborted.
#[test]
fn a_source_without_data_is_read_later() {
    for alpn in ALPNS {
        let basket = Basket::default();
        let paths = ["/late/50000", "/bytes/30000"].map(str::to_owned);
        let mut bed = Bed::new(alpn, client(&paths, &basket), server());
        bed.run();
        for (index, path) in paths.iter().enumerate() {
            let length: u64 = path.rsplit('/').next().unwrap().parse().unwrap();
            assert_eq!(bed.web_client.results()[index].failure, None);
            assert_eq!(basket.get(index).bytes, content(&path[1..], length));
        }
        assert!(bed.web_server.is_idle());
    }
}
