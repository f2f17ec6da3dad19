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

/// The requests that are underway at a time unless told otherwise.
const MAX_REQUESTS: usize = 256;

/// The server's end of one connection. It speaks `h3`, `hq-interop`, `h2` or `http/1.1`, whichever the handshake agreed on (ALPN).
///
/// A response is written as far as its stream takes it, and goes on when the stream is writable. Over QUIC its source is read
/// when the client gives credit for it ([`Transport::room`]); beside what is written it holds its fields.
pub struct WebServer {
    site: Box<dyn Site>,
    max_requests: usize,
    /// The scheduler of HTTP/2; `None`: `rfc9218`.
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
    /// A server of this site.
    pub fn new(site: Box<dyn Site>) -> WebServer {
        WebServer { site, max_requests: MAX_REQUESTS, scheduler: None, protocol: None, closing: false }
    }

    /// The same with another scheduler than `rfc9218` for the responses of HTTP/2, out of the room of [`schedule`]. Over
    /// HTTP/3 the transport's scheduler chooses.
    #[must_use]
    pub fn with_scheduler(self, scheduler: Component) -> WebServer {
        WebServer { scheduler: Some(scheduler), ..self }
    }

    fn scheduler(&self) -> Box<dyn Scheduler> {
        let wanted = self.scheduler.as_ref();
        // There is no row of another name in a scenario that was read.
        wanted
            .and_then(|wanted| schedule::build(wanted.name, &wanted.arguments))
            .unwrap_or_else(|| Box::new(schedule::Ranked::<schedule::Rfc9218>::default()))
    }

    /// The same with another bound on the requests that are underway at a time (at least 1; by default 256). What comes
    /// beyond them waits unread.
    #[must_use]
    pub fn with_max_requests(mut self, max_requests: usize) -> WebServer {
        self.max_requests = max_requests;
        self
    }

    /// Takes no new requests from now on, and tells the client so where the protocol can (GOAWAY, RFC 9114 section 5.2);
    /// those that are underway are answered. When [`WebServer::is_idle`], the connection can be closed with
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

    /// Whether no request is underway.
    pub fn is_idle(&self) -> bool {
        match &self.protocol {
            None => true,
            Some(Protocol::Hq(hq)) => hq.is_idle(),
            Some(Protocol::Http3(http3)) => http3.is_idle(),
            Some(Protocol::Http1(http1)) => http1.is_idle(),
            Some(Protocol::Http2(http2)) => http2.is_idle(),
        }
    }

    fn choose(&mut self, transport: &mut dyn Transport) {
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
        // Streams of 0-RTT packets come before the handshake is complete.
        if self.protocol.is_none() && *event != Event::Ended {
            self.choose(transport);
            if self.protocol.is_none() && *event == Event::Connected {
                transport.close(Code::VERSION_FALLBACK.0, "no protocol that is spoken here");
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
            // What HTTP/1.1 and HTTP/2 have for it has the same number.
            _ => hq::NO_ERROR,
        }
    }
}
