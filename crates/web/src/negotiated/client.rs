//! The web client.

use crate::hq::{self, HqClient};
use crate::http1::{self, Http1Client};
use crate::http2::{self, Http2Client};
use crate::http3::{self, Http3Client};
use crate::load::{Loaded, load};
use crate::{Fetched, Fetches, Order, Request, Sink};
use http::Code;
use transport::{Application, Event, Progress, Report, Transport};
use units::Time;

/// A client that fetches a list of objects over one connection and then closes it. It speaks `h3`, `hq-interop`, `h2`
/// or `http/1.1`, as negotiated (ALPN), and closes the connection for any other protocol. For `http/1.1` it opens as
/// many streams, each of which is a TCP connection, as the transport permits.
///
/// In 0-RTT it sends requests as soon as [`Event::EarlyDataReady`] is reported; requests that the server rejects are
/// sent again.
#[derive(Debug)]
pub struct WebClient {
    authority: String,
    protocol: Option<Protocol>,
    fetches: Fetches,
    /// The flow-control windows granted to an HTTP/2 server.
    windows: http2::Windows,
}

#[derive(Debug)]
enum Protocol {
    Hq(HqClient),
    Http3(Box<Http3Client>),
    Http1(Http1Client),
    Http2(Box<Http2Client>),
}

impl WebClient {
    /// Creates a client for these requests, sent in this order, of which at most `concurrency` (at least 1) are in
    /// flight at a time; the peer's limit on streams applies too. `authority` is the host and port of the server:
    /// `example.org:4433`. Bodies are passed to `sink`.
    pub fn new(
        authority: impl Into<String>,
        requests: Vec<Request>,
        concurrency: usize,
        sink: Box<dyn Sink>,
    ) -> WebClient {
        WebClient {
            authority: authority.into(),
            protocol: None,
            fetches: Fetches::new(requests, concurrency, sink),
            windows: http2::Windows::default(),
        }
    }

    /// Creates a client for requests with an explicit order.
    pub fn ordered(
        authority: impl Into<String>,
        requests: Vec<Request>,
        order: Order,
        concurrency: usize,
        sink: Box<dyn Sink>,
    ) -> WebClient {
        let fetches = Fetches::ordered(requests, order, concurrency, sink);
        WebClient { authority: authority.into(), protocol: None, fetches, windows: http2::Windows::default() }
    }

    /// Creates a session: a client without requests, which [`WebClient::ask`] adds, on a connection that stays open
    /// until [`WebClient::end`].
    pub fn session(authority: impl Into<String>, concurrency: usize, sink: Box<dyn Sink>) -> WebClient {
        WebClient {
            authority: authority.into(),
            protocol: None,
            fetches: Fetches::session(concurrency, sink),
            windows: http2::Windows::default(),
        }
    }

    /// Adds a request to those of a session. It is sent as soon as the connection permits. Returns its index, by which
    /// [`WebClient::results`] tells how it goes.
    pub fn ask(&mut self, now: Time, request: Request, transport: &mut dyn Transport) -> usize {
        let index = self.fetches.add(now, request);
        self.send_requests(now, transport);
        index
    }

    /// Ends a session: the connection is closed when all requests are over.
    pub fn end(&mut self, now: Time, transport: &mut dyn Transport) {
        self.fetches.close(now);
        self.send_requests(now, transport);
    }

    /// Sets the flow-control windows of HTTP/2. The defaults are those of Chromium.
    #[must_use]
    pub fn with_windows(self, windows: http2::Windows) -> WebClient {
        WebClient { windows, ..self }
    }

    /// Sets the total size of all bodies for [`Progress::total`].
    #[must_use]
    pub fn expecting(mut self, bytes: u64) -> WebClient {
        self.expect(bytes);
        self
    }
    /// The same, later.
    pub(crate) fn expect(&mut self, bytes: u64) {
        self.fetches.expect_total(bytes);
    }
    /// Whether one more request could be sent at once, as far as the client limits them.
    pub(crate) fn has_room(&self) -> bool {
        self.fetches.has_room()
    }

    /// The host and port of the server, as given.
    pub fn authority(&self) -> &str {
        &self.authority
    }
    /// The results of the requests so far, in the order of the list.
    pub fn results(&self) -> &[Fetched] {
        self.fetches.results()
    }
    /// Whether every request is over, successful or not.
    pub fn is_over(&self) -> bool {
        self.fetches.are_over()
    }

    /// Cancels a request unless it is over.
    pub fn cancel(&mut self, now: Time, request: usize, transport: &mut dyn Transport) {
        if self.fetches.withdraw(now, request) {
            if self.fetches.are_over() {
                transport.close(self.no_error(), "done");
            }
            return;
        }
        match &mut self.protocol {
            None => {}
            Some(Protocol::Hq(hq)) => hq.cancel(now, request, &mut self.fetches, transport),
            Some(Protocol::Http3(http3)) => http3.cancel(now, request, &mut self.fetches, transport),
            Some(Protocol::Http1(http1)) => http1.cancel(now, request, &mut self.fetches, transport),
            Some(Protocol::Http2(http2)) => http2.cancel(now, request, &mut self.fetches, transport),
        }
    }

    fn send_requests(&mut self, now: Time, transport: &mut dyn Transport) {
        match &mut self.protocol {
            None => {}
            Some(Protocol::Hq(hq)) => hq.send_requests(now, &mut self.fetches, transport),
            Some(Protocol::Http3(http3)) => http3.send_requests(now, &mut self.fetches, transport),
            Some(Protocol::Http1(http1)) => http1.send_requests(now, &mut self.fetches, transport),
            Some(Protocol::Http2(http2)) => http2.send_requests(now, &mut self.fetches, transport),
        }
    }

    fn select_protocol(&mut self, transport: &mut dyn Transport) {
        self.protocol = match transport.alpn() {
            Some(hq::ALPN) => Some(Protocol::Hq(HqClient::default())),
            Some(http3::ALPN) => Some(Protocol::Http3(Box::new(Http3Client::new(&self.authority)))),
            Some(http1::ALPN) => Some(Protocol::Http1(Http1Client::new(&self.authority))),
            Some(http2::ALPN) => {
                Some(Protocol::Http2(Box::new(Http2Client::new(&self.authority, &self.windows))))
            }
            _ => None,
        };
    }
}

impl Application for WebClient {
    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport) {
        match event {
            Event::EarlyDataReady => {
                self.fetches.start(now);
                self.fetches.set_early(true);
                self.select_protocol(transport);
            }
            Event::Connected => {
                self.fetches.start(now);
                self.fetches.set_early(false);
                if self.protocol.is_none() {
                    self.select_protocol(transport);
                }
                if self.protocol.is_none() {
                    transport.close(Code::VERSION_FALLBACK.0, "no protocol in common");
                }
            }
            _ => {}
        }
        match &mut self.protocol {
            Some(Protocol::Hq(hq)) => hq.on_event(now, event, &mut self.fetches, transport),
            Some(Protocol::Http3(http3)) => http3.on_event(now, event, &mut self.fetches, transport),
            Some(Protocol::Http1(http1)) => http1.on_event(now, event, &mut self.fetches, transport),
            Some(Protocol::Http2(http2)) => http2.on_event(now, event, &mut self.fetches, transport),
            None if *event == Event::Ended => self.fetches.fail_waiting(now),
            None => {}
        }
        if self.fetches.take_released() {
            self.send_requests(now, transport);
        }
        if let Event::EarlyDataRejected { resent: false } = event {
            // The streams are lost, and another protocol may be negotiated.
            self.protocol = None;
        }
    }

    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        self.fetches.wake(now);
        self.send_requests(now, transport);
    }
    fn wake_at(&self) -> Option<Time> {
        self.fetches.wake_at()
    }

    fn progress(&self) -> Progress {
        self.fetches.progress()
    }

    fn report(&mut self, _: Time) -> Report {
        let fetches = &self.fetches;
        let object = |(index, result)| {
            let urgency = fetches.request(index).priority.urgency;
            Loaded { connection: 0, urgency, result }
        };
        let load = load(fetches.order(), fetches.results().iter().enumerate().map(object));
        let load = Some(load);
        Report { progress: self.progress(), load, ..Report::default() }
    }

    fn no_error(&self) -> u64 {
        match &self.protocol {
            Some(Protocol::Http3(_)) => Code::NO_ERROR.0,
            Some(Protocol::Http1(_)) => http1::NO_ERROR,
            Some(Protocol::Http2(_)) => ::http::http2::Code::NO_ERROR.0.into(),
            Some(Protocol::Hq(_)) | None => hq::NO_ERROR,
        }
    }
}
