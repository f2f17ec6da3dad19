//! The web server.

use crate::Site;
use crate::hq::{self, HqServer};
use crate::http1::{self, Http1Server};
use crate::http2::{self, Http2Server};
use crate::http3::{self, Http3Server};
use http::Code;
use schedule::{self, Scheduler};
use transport::{Application, Event, Progress, Transport};
use units::Time;
use units::parameter::Component;

/// The default maximum number of requests in progress.
const MAX_REQUESTS: usize = 256;

/// The server end of a connection. It speaks `h3`, `hq-interop`, `h2` or `http/1.1`, as negotiated (ALPN).
///
/// A response is written as far as its stream accepts it, and continues when the stream is writable. Over QUIC the
/// source of the body is read when the client grants credit ([`room`](transport::FlowControl::room)), so that only the fields are stored
/// in addition to the written data.
pub struct WebServer {
    site: Box<dyn Site>,
    max_requests: usize,
    /// The HTTP/2 scheduler; `None` for `rfc9218`.
    scheduler: Option<Component>,
    protocol: Option<Protocol>,
    closing: bool,
}

#[derive(Debug)]
enum Protocol {
    Hq(HqServer),
    Http3(Box<Http3Server>),
    Http1(Http1Server),
    Http2(Box<Http2Server>),
}

impl std::fmt::Debug for WebServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebServer").field("protocol", &self.protocol).finish()
    }
}

impl WebServer {
    /// Creates a server of this site.
    pub fn new(site: Box<dyn Site>) -> WebServer {
        WebServer { site, max_requests: MAX_REQUESTS, scheduler: None, protocol: None, closing: false }
    }

    /// Sets the scheduler for HTTP/2 responses from the table of [`schedule`]; the default is `rfc9218`. Over HTTP/3
    /// the transport's scheduler decides.
    #[must_use]
    pub fn with_scheduler(self, scheduler: Component) -> WebServer {
        WebServer { scheduler: Some(scheduler), ..self }
    }

    fn scheduler(&self) -> Box<dyn Scheduler> {
        let wanted = self.scheduler.as_ref();
        // A scenario was checked and only contains names of existing rows.
        wanted
            .and_then(|wanted| schedule::build(wanted.name, &wanted.arguments))
            .unwrap_or_else(|| Box::new(schedule::Ranked::<schedule::Rfc9218>::default()))
    }

    /// Sets the maximum number of requests in progress (at least 1; default 256). Others wait unread.
    #[must_use]
    pub fn with_max_requests(mut self, max_requests: usize) -> WebServer {
        self.max_requests = max_requests;
        self
    }

    /// Accepts no more requests, and notifies the client if the protocol supports it (GOAWAY, RFC 9114 section 5.2);
    /// requests in progress are completed. When [`WebServer::is_idle`], the connection can be closed with
    /// [`Application::no_error`].
    pub fn shut_down(&mut self, transport: &mut dyn Transport) {
        self.closing = true;
        match &mut self.protocol {
            None => {}
            Some(Protocol::Hq(hq)) => hq.shut_down(),
            Some(Protocol::Http3(http3)) => http3.shut_down(transport),
            Some(Protocol::Http1(http1)) => http1.shut_down(),
            Some(Protocol::Http2(http2)) => http2.shut_down(transport),
        }
    }

    /// Whether no request is in progress.
    pub fn is_idle(&self) -> bool {
        match &self.protocol {
            None => true,
            Some(Protocol::Hq(hq)) => hq.is_idle(),
            Some(Protocol::Http3(http3)) => http3.is_idle(),
            Some(Protocol::Http1(http1)) => http1.is_idle(),
            Some(Protocol::Http2(http2)) => http2.is_idle(),
        }
    }

    fn select_protocol(&mut self, transport: &mut dyn Transport) {
        self.protocol = match transport.alpn() {
            Some(hq::ALPN) => Some(Protocol::Hq(HqServer::new(self.max_requests))),
            Some(http3::ALPN) => Some(Protocol::Http3(Box::new(Http3Server::new(self.max_requests)))),
            Some(http1::ALPN) => Some(Protocol::Http1(Http1Server::default())),
            Some(http2::ALPN) => Some(Protocol::Http2(Box::new(Http2Server::new(self.scheduler())))),
            _ => None,
        };
        if self.closing {
            self.shut_down(transport);
        }
    }
}

impl Application for WebServer {
    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport) {
        // 0-RTT streams arrive before the handshake is complete.
        if self.protocol.is_none() && *event != Event::Ended {
            self.select_protocol(transport);
            if self.protocol.is_none() && *event == Event::Connected {
                transport.close(Code::VERSION_FALLBACK.0, "no protocol in common");
            }
        }
        match &mut self.protocol {
            Some(Protocol::Hq(hq)) => hq.on_event(now, event, &mut *self.site, transport),
            Some(Protocol::Http3(http3)) => http3.on_event(now, event, &mut *self.site, transport),
            Some(Protocol::Http1(http1)) => http1.on_event(now, event, &mut *self.site, transport),
            Some(Protocol::Http2(http2)) => http2.on_event(now, event, &mut *self.site, transport),
            None => {}
        }
    }

    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        match &mut self.protocol {
            None => {}
            Some(Protocol::Hq(hq)) => hq.wake(now, &mut *self.site, transport),
            Some(Protocol::Http3(http3)) => http3.wake(now, transport),
            Some(Protocol::Http1(http1)) => http1.wake(now, &mut *self.site, transport),
            Some(Protocol::Http2(http2)) => http2.wake(now, transport),
        }
    }
    fn wake_at(&self) -> Option<Time> {
        match &self.protocol {
            None => None,
            Some(Protocol::Hq(hq)) => hq.wake_at(),
            Some(Protocol::Http3(http3)) => http3.wake_at(),
            Some(Protocol::Http1(http1)) => http1.wake_at(),
            Some(Protocol::Http2(http2)) => http2.wake_at(),
        }
    }

    fn progress(&self) -> Progress {
        Progress::default()
    }

    fn no_error(&self) -> u64 {
        match &self.protocol {
            Some(Protocol::Http3(_)) => Code::NO_ERROR.0,
            // The corresponding codes of HTTP/1.1 and HTTP/2 are equal.
            _ => hq::NO_ERROR,
        }
    }
}
