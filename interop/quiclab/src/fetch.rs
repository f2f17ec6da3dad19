//! The client: each file is one request on a stream of its own.

use crate::diary::Diary;
use crate::files::Store;
use crate::socket::Socket;
use crate::stack::{Stack, after};
use crate::{Failure, settings};
use command_line::{Connections, Fetch, MIDWAY, Url};
use live::Clock;
use quic::{Config, Endpoint, EndpointOptions, Handle, Migration, Opening};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use trace::Interest;
use units::{Duration, Time};
use web::Request;
use web::WebClient;

/// Requests that are underway at a time; the server's limit on streams bounds them too.
const CONCURRENCY: usize = 2000;

/// Fetches all, within the time given.
pub(crate) fn fetch(options: &Fetch) -> Result<(), Failure> {
    let clock = Clock::start();
    let server = options.urls.first().ok_or("no URL")?.address;
    let socket = Socket::bind(any(server))?;
    let tls = settings::client(options, &clock)?;
    let diary = Diary::from_environment()?;
    let endpoint_options = EndpointOptions {
        interest: diary.as_ref().map_or(Interest::NONE, |_| Diary::INTEREST),
        ..EndpointOptions::new(socket.local(), tls)
    };
    let endpoint = Endpoint::new(endpoint_options, live::system_random()?);
    let config = settings::transport(&settings::changes(&options.shared))?;
    let mut stack = Stack::new(clock, endpoint, diary, vec![socket], None)?;
    let end = Time::ZERO + Duration::from_secs(options.timeout.as_secs());
    for (index, batch) in options.batches().iter().enumerate() {
        let early = index > 0 && options.connections == Connections::EarlyData;
        let resume = index > 0 && options.connections != Connections::Each;
        connection(&mut stack, options, &config, batch, (resume, early), end)?;
    }
    Ok(())
}

fn any(server: SocketAddr) -> SocketAddr {
    match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

/// Fetches files over one connection, and closes it.
fn connection(
    stack: &mut Stack,
    options: &Fetch,
    config: &Arc<Config>,
    urls: &[Url],
    (resume, early): (bool, bool),
    end: Time,
) -> Result<(), Failure> {
    let first = urls.first().ok_or("nothing to fetch")?;
    let requests: Vec<Request> = urls.iter().map(|url| Request::get(url.path.clone())).collect();
    let store = Store::new(urls.iter().map(|url| options.out.join(url.file())).collect());
    let client = WebClient::new(first.authority.clone(), requests, CONCURRENCY, Box::new(store));
    let opening = Opening { resume, early_data: early, ..Opening::new(first.address, Arc::clone(config)) };
    let now = stack.clock.now();
    let handle = stack.endpoint.connect(now, opening.to_host(first.host.clone()))?;
    stack.hosts.clear();
    stack.host(handle, Box::new(client))?;
    let mut moves = options.migrate;
    loop {
        let now = stack.clock.now();
        if now >= end {
            return Err(format!("not done after {:?}", options.timeout).into());
        }
        let midway = after(stack.hosts[0].connected_at, MIDWAY).filter(|_| moves);
        if midway.is_some_and(|at| at <= now) {
            moves = false;
            migrate(stack, handle)?;
        }
        let deadline = midway.map_or(end, |at| at.min(end));
        stack.turn(deadline)?;
        if let Some(reason) = &stack.hosts[0].ended {
            let progress = stack.hosts[0].application.progress();
            return if progress.finished_at.is_some() {
                Ok(())
            } else {
                Err(format!("closed: {reason}").into())
            };
        }
    }
}

/// To another local port: the path is tried first, and everything moves there if it works.
fn migrate(stack: &mut Stack, handle: Handle) -> Result<(), Failure> {
    let socket = Socket::bind(SocketAddr::new(stack.sockets[0].local().ip(), 0))?;
    let (now, local) = (stack.clock.now(), socket.local());
    stack.sockets.push(socket);
    let connection = stack.endpoint.get_mut(handle).ok_or("the connection is over before it moves")?;
    connection.migrate(now, local, Migration::Probe).map_err(|error| format!("{error:?}").into())
}
