//! The application `origin`: a server of some of the hosts of another flow's pages.
//!
//! A page has one connection of its own, and those of the flows with this application that name it. Which hosts share a
//! connection is known before the run: those that an origin's certificate covers over HTTP/2 and HTTP/3 (RFC 9110 section
//! 7.4, RFC 9113 section 9.1.1, RFC 9114 section 3.3), and none over HTTP/1.1.

use super::{CONCURRENCY, PageOptions, idle};
use crate::http2_options::Http2Options;
use crate::objects::ConnectionsOptions;
use crate::profile::{Branch, Misfit, Profile};
use crate::versions::{self, Version, VersionOptions};
use std::sync::Arc;
use units::Duration;
use units::parameter::{Arguments, Options, Row};
use web::{Origin, Way};
use wire::Side;

/// The options of an origin.
#[derive(Debug, Clone, Options)]
pub(super) struct OriginOptions {
    /// flow whose pages have objects from this server; its client opens the connection when it needs one
    of: String,
    /// hosts that this server answers for: "cdn.example"; "*.cdn.example" are all names below, "*" is any. Each other host belongs to the flow's own server
    #[option(default = ["*"])]
    hosts: Vec<String>,
    /// names in the server's certificate, as "*.cdn.example" for one label more: hosts that it covers share a connection over HTTP/2 and HTTP/3 (RFC 9110 section 7.4), each other host has its own (default: all its hosts share one)
    certificate: Option<Vec<String>>,
    /// time to resolve the name of a host, once for each, before its first request
    #[option(default = "0 s")]
    dns: Duration,
    #[options]
    version: VersionOptions,
    #[options]
    tcp: ConnectionsOptions,
    #[options]
    http2: Http2Options,
}

pub(crate) const ROW: Row<Profile> = Row {
    name: "origin",
    about: "a server of some of the hosts of another flow's pages, with a connection of its own",
    parameters: OriginOptions::PARAMETERS,
    build: Profile {
        alpn: versions::alpn,
        over_quic: Some(&versions::goes_over_quic),
        over_tcp: Some(&|arguments| {
            let options = OriginOptions::of(arguments);
            options.version.over.tcp_connections(options.tcp.connections)
        }),
        check: &|arguments| {
            let options = OriginOptions::of(arguments);
            let patterns = options.hosts.iter().map(|pattern| ("hosts", pattern));
            let names = options.certificate.iter().flatten().map(|pattern| ("certificate", pattern));
            for (option, pattern) in patterns.chain(names) {
                if let Err(problem) = check_pattern(pattern) {
                    return Err((option, problem));
                }
            }
            options.version.over.check(&options.http2)
        },
        branch: Some(Branch { of: |arguments| OriginOptions::of(arguments).of, from: Side::Client }),
        ..Profile::of(&|arguments, _| idle(&OriginOptions::of(arguments).http2))
    },
};

fn check_pattern(pattern: &str) -> Result<(), String> {
    let name = pattern.strip_prefix("*.").unwrap_or(pattern);
    let is_named = |sign: char| sign.is_ascii_alphanumeric() || "-._[]:".contains(sign);
    if pattern == "*" || !name.is_empty() && name.chars().all(is_named) {
        return Ok(());
    }
    Err(format!("found {pattern:?}; expected the name of a host, as \"cdn.example\" or \"*.cdn.example\""))
}

/// How well a pattern fits a host: the more of its name, the better; `None` if it does not.
fn fit(pattern: &str, host: &str) -> Option<usize> {
    let pattern = pattern.to_ascii_lowercase();
    if pattern == "*" {
        return Some(0);
    }
    match pattern.strip_prefix('*') {
        Some(end) => (host.len() > end.len() && host.ends_with(end)).then_some(end.len()),
        None => (pattern == host).then_some(usize::MAX),
    }
}

/// Whether a name in a certificate covers a host: `*` stands for one label (RFC 9525 section 6.3).
fn covers(name: &str, host: &str) -> bool {
    let name = name.to_ascii_lowercase();
    match name.strip_prefix("*.") {
        Some(rest) => host.split_once('.').is_some_and(|(label, below)| !label.is_empty() && below == rest),
        None => name == host,
    }
}

/// The hosts of pages, and the connections that lead to them.
pub(super) struct Map {
    /// The hosts, the first of which is that of the first object.
    pub(super) hosts: Vec<Arc<str>>,
    /// The branch of each host; `None` for the flow's own server.
    branches: Vec<Option<usize>>,
    /// The connection of each host.
    connections: Vec<usize>,
    /// The options of the branches.
    options: Vec<OriginOptions>,
    /// The branch of each connection.
    owners: Vec<Option<usize>>,
    /// The names of the connections of each branch.
    names: Vec<Vec<String>>,
}

impl Map {
    /// The map of these hosts.
    ///
    /// # Errors
    /// If the branches do not fit the hosts.
    pub(super) fn new(hosts: Vec<Arc<str>>, branches: &[&Arguments]) -> Result<Map, Misfit> {
        let options: Vec<OriginOptions> =
            branches.iter().map(|arguments| OriginOptions::of(arguments)).collect();
        let wrong = |branch: usize, option, problem| Misfit { branch: Some(branch), option, problem };
        if hosts.is_empty() && !options.is_empty() {
            let problem =
                "its pages name no hosts; expected type = \"har\", or a list with a column \"host\"";
            return Err(wrong(0, "of", problem.to_owned()));
        }
        let mut of_hosts = Vec::new();
        for host in &hosts {
            let best = |origin: &OriginOptions| origin.hosts.iter().filter_map(|name| fit(name, host)).max();
            let fits: Vec<_> = options.iter().map(best).collect();
            let most = fits.iter().copied().max().flatten();
            let mut those = fits.iter().enumerate().filter(|(_, fit)| most.is_some() && **fit == most);
            let first = those.next().map(|(branch, _)| branch);
            if let Some((second, _)) = those.next() {
                let problem = format!(
                    "{host:?} fits another origin of these pages as well; expected it in one of them"
                );
                return Err(wrong(second, "hosts", problem));
            }
            of_hosts.push(first);
        }
        for (branch, origin) in options.iter().enumerate() {
            let is_known =
                |name: &&String| name.starts_with('*') || hosts.iter().any(|host| fit(name, host).is_some());
            if let Some(name) = origin.hosts.iter().find(|name| !is_known(name)) {
                let known: Vec<&str> = hosts.iter().map(|host| &**host).collect();
                let problem = format!(
                    "no object of these pages is from {name:?}; expected any of {}",
                    known.join(", ")
                );
                return Err(wrong(branch, "hosts", problem));
            }
        }
        if let (Some(host), Some(Some(branch))) = (hosts.first(), of_hosts.first()) {
            let problem = format!(
                "the first object of the first page is from {host:?}, and so from the flow's own server; expected other hosts"
            );
            return Err(wrong(*branch, "hosts", problem));
        }
        let mut map = Map {
            connections: vec![0; hosts.len()],
            names: vec![Vec::new(); options.len()],
            owners: vec![None],
            branches: of_hosts,
            hosts,
            options,
        };
        map.connect();
        Ok(map)
    }

    /// Gives each host of a branch a connection.
    fn connect(&mut self) {
        for (branch, origin) in self.options.iter().enumerate() {
            let (first, mut shared) = (self.owners.len(), None);
            for (place, host) in self.hosts.iter().enumerate() {
                if self.branches[place] != Some(branch) {
                    continue;
                }
                let names = origin.certificate.as_ref();
                let is_covered = origin.version.over != Version::Http1
                    && names.is_none_or(|names| names.iter().any(|name| covers(name, host)));
                if let Some(connection) = shared.filter(|_| is_covered) {
                    self.connections[place] = connection;
                    continue;
                }
                let connection = self.owners.len();
                if is_covered {
                    shared = Some(connection);
                }
                self.connections[place] = connection;
                self.owners.push(Some(branch));
                // The first one has the name of the flow.
                self.names[branch].push(if connection == first { String::new() } else { host.to_string() });
            }
            if self.names[branch].is_empty() {
                self.owners.push(Some(branch));
                self.names[branch].push(String::new());
            }
        }
    }

    /// The names of the connections of each branch.
    pub(super) fn into_names(self) -> Vec<Vec<String>> {
        self.names
    }

    /// The origins and connections, as a loader of pages needs them.
    pub(super) fn loaded(&self, page: &PageOptions) -> (Vec<Origin>, Vec<Way>) {
        let origins = self.hosts.iter().enumerate().map(|(place, host)| Origin {
            name: host.to_string().into(),
            connection: self.connections[place],
            dns: self.branches[place].map_or(page.dns, |branch| self.options[branch].dns),
        });
        let way = |owner: &Option<usize>| {
            let (over, tcp, http2) = match owner {
                None => (page.version.over, &page.tcp, &page.http2),
                Some(branch) => {
                    let OriginOptions { version, tcp, http2, .. } = &self.options[*branch];
                    (version.over, tcp, http2)
                }
            };
            let concurrency = if over == Version::Http1 { tcp.connections } else { CONCURRENCY };
            Way { concurrency, windows: http2.client_windows() }
        };
        (origins.collect(), self.owners.iter().map(way).collect())
    }

    /// The options of HTTP/2 of each connection's server.
    pub(super) fn http2<'o>(&'o self, page: &'o PageOptions) -> impl Iterator<Item = &'o Http2Options> {
        self.owners.iter().map(|owner| owner.map_or(&page.http2, |branch| &self.options[branch].http2))
    }

    /// The connection of each host.
    pub(super) fn connections(&self) -> &[usize] {
        &self.connections
    }
}
