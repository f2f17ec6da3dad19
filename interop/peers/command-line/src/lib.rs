//! The command line that every peer of the matrix understands; `interop/README.md` is its manual.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The exit code for what a peer cannot do, as the QUIC interop runner has it.
pub const UNSUPPORTED: i32 = 127;

/// How long after its handshake a connection updates its keys or migrates, if it was told to: the transfer is on its
/// way by then, and the peer's connection ids have come.
pub const MIDWAY: Duration = Duration::from_millis(300);

/// What a peer was asked to do.
#[derive(Debug)]
pub enum Command {
    /// Say who it is and what it cannot do.
    About,
    /// Serve a folder until it is ended by a signal.
    Serve(Serve),
    /// Fetch files and end.
    Fetch(Fetch),
}

/// What both commands know.
#[derive(Debug)]
pub struct Shared {
    /// The application protocol: `hq-interop` or `h3`.
    pub alpn: String,
    /// Compatible version negotiation up to version 2 (RFC 9369).
    pub version2: bool,
    /// Offer or accept ChaCha20-Poly1305 only.
    pub chacha20: bool,
    /// Update the keys once, [`MIDWAY`].
    pub key_update: bool,
    /// Explicit congestion notification is a must.
    pub ecn: bool,
}

/// `serve`: the options of a server.
#[derive(Debug)]
pub struct Serve {
    /// What both commands know.
    pub shared: Shared,
    /// Where to listen.
    pub listen: SocketAddr,
    /// The certificate chain, PEM.
    pub cert: PathBuf,
    /// Its private key, PEM (PKCS #8).
    pub key: PathBuf,
    /// The folder that is served.
    pub root: PathBuf,
    /// Answer each first Initial with a Retry.
    pub retry: bool,
    /// The preferred address to announce (RFC 9000 section 9.6).
    pub preferred_address: Option<SocketAddr>,
}

/// `fetch`: the options of a client.
#[derive(Debug)]
pub struct Fetch {
    /// What both commands know.
    pub shared: Shared,
    /// The folder for what is fetched.
    pub out: PathBuf,
    /// The certificates to trust, PEM.
    pub ca: PathBuf,
    /// What connections the files come over.
    pub connections: Connections,
    /// Move to another local port, [`MIDWAY`].
    pub migrate: bool,
    /// How long all may take.
    pub timeout: Duration,
    /// What to fetch; all from one server.
    pub urls: Vec<Url>,
}

/// How many connections a client makes, and which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connections {
    /// One for all files.
    One,
    /// One for the first file, another, resumed, for the others.
    Resume,
    /// The same, with the requests of the second in 0-RTT packets.
    EarlyData,
    /// One for each file, one after the other.
    Each,
}

/// `https://HOST:PORT/NAME`.
#[derive(Debug, Clone)]
pub struct Url {
    /// The name or address for TLS, without brackets.
    pub host: String,
    /// Where to send.
    pub address: SocketAddr,
    /// `HOST:PORT` as it was written.
    pub authority: String,
    /// From the slash on.
    pub path: String,
}

impl Url {
    fn parse(text: &str) -> Result<Url, Mistake> {
        let wrong = || Mistake(format!("{text:?} is not of the form https://ADDRESS:PORT/NAME"));
        let rest = text.strip_prefix("https://").ok_or_else(wrong)?;
        let (authority, path) = rest.split_at(rest.find('/').ok_or_else(wrong)?);
        let (name, port) = authority.rsplit_once(':').ok_or_else(wrong)?;
        let host = name.trim_start_matches('[').trim_end_matches(']');
        let ip = if host == "localhost" { "127.0.0.1" } else { host };
        let address = SocketAddr::new(ip.parse().map_err(|_| wrong())?, port.parse().map_err(|_| wrong())?);
        Ok(Url { host: host.to_owned(), address, authority: authority.to_owned(), path: path.to_owned() })
    }
    /// The name of the file.
    pub fn file(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// A command line that cannot be understood.
#[derive(Debug)]
pub struct Mistake(String);

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a peer is, and what it cannot do.
#[derive(Debug)]
pub struct About {
    /// What it is called.
    pub name: &'static str,
    /// The package that it is made with. If it brings something else, its version ends with that one's, behind a plus.
    pub package: &'static str,
    /// Features by their names on the command line, without dashes, and why it does not have them. `h3` and `follow`
    /// (a server that answers a client wherever that is now) are features, too.
    pub cannot: &'static [(&'static str, &'static str)],
}

impl About {
    /// As JSON, with the version that the lock file pins. The texts have nothing in them that would have to be escaped.
    pub fn json(&self) -> String {
        let package = format!("name = \"{}\"\nversion = \"", self.package);
        let version =
            include_str!("../../Cargo.lock").split(&package).nth(1).and_then(|rest| rest.split('"').next());
        let rows: Vec<String> =
            self.cannot.iter().map(|(feature, why)| format!("    \"{feature}\": \"{why}\"")).collect();
        let version = version.and_then(|version| version.rsplit('+').next());
        let name = format!("{} {}", self.name, version.unwrap_or_default());
        format!("{{\n  \"name\": \"{name}\",\n  \"cannot\": {{\n{}\n  }}\n}}", rows.join(",\n"))
    }

    /// Reads the command line. Ends the process if it cannot be understood, or asks for what the peer cannot do.
    pub fn command(&self) -> Command {
        let mut arguments = std::env::args().skip(1);
        let word = arguments.next().unwrap_or_default();
        let mut options = match Options::read(arguments) {
            Ok(options) => options,
            Err(mistake) => end(&mistake.to_string(), 2),
        };
        for (feature, why) in self.cannot {
            if options.flags.contains_key(*feature)
                || options.flags.get("alpn").is_some_and(|alpn| alpn == feature)
            {
                end(&format!("unsupported: {feature}: {why}"), UNSUPPORTED);
            }
        }
        let command = match word.as_str() {
            "about" => Ok(Command::About),
            "serve" => options.serve().map(Command::Serve),
            "fetch" => options.fetch().map(Command::Fetch),
            _ => Err(Mistake("about, serve or fetch?".to_owned())),
        };
        match command {
            Ok(command) => command,
            Err(mistake) => end(&mistake.to_string(), 2),
        }
    }
}

fn end(message: &str, code: i32) -> ! {
    eprintln!("{message}");
    std::process::exit(code)
}

/// Options with a value.
const VALUES: &[&str] =
    &["alpn", "listen", "cert", "key", "root", "preferred-address", "out", "ca", "timeout"];
/// Options without.
const FLAGS: &[&str] =
    &["v2", "chacha20", "key-update", "ecn", "retry", "resume", "early-data", "each", "migrate"];

struct Options {
    flags: BTreeMap<String, String>,
    others: Vec<String>,
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Options, Mistake> {
        let mut options = Options { flags: BTreeMap::new(), others: Vec::new() };
        while let Some(argument) = arguments.next() {
            match argument.strip_prefix("--") {
                Some(flag) if FLAGS.contains(&flag) => {
                    options.flags.insert(flag.to_owned(), String::new());
                }
                Some(name) if VALUES.contains(&name) => {
                    let value = arguments.next().ok_or_else(|| Mistake(format!("--{name} has no value")))?;
                    options.flags.insert(name.to_owned(), value);
                }
                Some(name) => return Err(Mistake(format!("no option --{name}"))),
                None => options.others.push(argument),
            }
        }
        Ok(options)
    }

    fn flag(&self, name: &str) -> bool {
        self.flags.contains_key(name)
    }
    fn maybe<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, Mistake> {
        match self.flags.get(name) {
            None => Ok(None),
            Some(text) => {
                text.parse().map(Some).map_err(|_| Mistake(format!("--{name} {text}: not understood")))
            }
        }
    }
    fn must<T: std::str::FromStr>(&self, name: &str) -> Result<T, Mistake> {
        self.maybe(name)?.ok_or_else(|| Mistake(format!("--{name} is missing")))
    }

    fn shared(&self) -> Result<Shared, Mistake> {
        Ok(Shared {
            alpn: self.maybe("alpn")?.unwrap_or_else(|| "hq-interop".to_owned()),
            version2: self.flag("v2"),
            chacha20: self.flag("chacha20"),
            key_update: self.flag("key-update"),
            ecn: self.flag("ecn"),
        })
    }
    fn serve(&mut self) -> Result<Serve, Mistake> {
        Ok(Serve {
            shared: self.shared()?,
            listen: self.must("listen")?,
            cert: self.must("cert")?,
            key: self.must("key")?,
            root: self.must("root")?,
            retry: self.flag("retry"),
            preferred_address: self.maybe("preferred-address")?,
        })
    }
    fn fetch(&mut self) -> Result<Fetch, Mistake> {
        let connections = match (self.flag("early-data"), self.flag("resume"), self.flag("each")) {
            (true, _, _) => Connections::EarlyData,
            (_, true, _) => Connections::Resume,
            (_, _, true) => Connections::Each,
            _ => Connections::One,
        };
        Ok(Fetch {
            shared: self.shared()?,
            out: self.must("out")?,
            ca: self.must("ca")?,
            connections,
            migrate: self.flag("migrate"),
            timeout: Duration::from_secs(self.maybe("timeout")?.unwrap_or(60)),
            urls: self.others.iter().map(|text| Url::parse(text)).collect::<Result<_, _>>()?,
        })
    }
}

impl Fetch {
    /// The files of each connection.
    pub fn batches(&self) -> Vec<Vec<Url>> {
        match self.connections {
            Connections::One => vec![self.urls.clone()],
            Connections::Each => self.urls.iter().map(|url| vec![url.clone()]).collect(),
            Connections::Resume | Connections::EarlyData => {
                let (first, others) = self.urls.split_at(self.urls.len().min(1));
                vec![first.to_vec(), others.to_vec()]
            }
        }
    }
}

/// The file below `root` that a request asks for, if its name is a plain one.
pub fn file_below(root: &std::path::Path, path: &str) -> Option<PathBuf> {
    let name = path.trim_start_matches('/');
    let plain = !name.is_empty() && !name.starts_with('.') && !name.contains('/');
    plain.then(|| root.join(name)).filter(|file| file.is_file())
}
