//! The server.

use crate::diary::Diary;
use crate::files::Folder;
use crate::socket::Socket;
use crate::stack::Stack;
use crate::{Failure, settings};
use command_line::Serve;
use live::Clock;
use quic::{Endpoint, EndpointOptions};
use std::net::SocketAddr;
use trace::Interest;
use units::Duration;
use web::WebServer;

/// Serves until the process is ended.
pub(crate) fn serve(options: &Serve) -> Result<(), Failure> {
    let clock = Clock::start();
    let mut changes = settings::changes(&options.shared);
    if options.retry {
        changes.push(("retry", "always"));
    }
    let mut sockets = vec![Socket::bind(options.listen)?];
    let local = sockets[0].local();
    let diary = Diary::from_environment()?;
    let endpoint_options = EndpointOptions {
        accept: Some(settings::transport(&changes)?),
        interest: diary.as_ref().map_or(Interest::NONE, |_| Diary::INTEREST),
        ..EndpointOptions::new(local, settings::server(options, &clock)?)
    };
    let mut endpoint = Endpoint::new(endpoint_options, live::system_random()?);
    if let Some(preferred) = options.preferred_address {
        let socket = Socket::bind(preferred)?;
        match socket.local() {
            SocketAddr::V4(address) => endpoint.set_preferred_address(Some(address), None),
            SocketAddr::V6(address) => endpoint.set_preferred_address(None, Some(address)),
        }
        sockets.push(socket);
    }
    let root = options.root.clone();
    let welcome = move || -> Box<dyn transport::Application> {
        Box::new(WebServer::new(Box::new(Folder(root.clone()))))
    };
    println!("listening on {local}");
    let mut stack = Stack::new(clock, endpoint, diary, sockets, Some(Box::new(welcome)))?;
    loop {
        let deadline = stack.clock.now() + Duration::from_secs(1);
        stack.turn(deadline)?;
        for host in &mut stack.hosts {
            if let Some(reason) = host.ended.take() {
                eprintln!("connection: {reason}");
            }
        }
    }
}
