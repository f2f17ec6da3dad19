//! The client: each file is one request on a stream of its own.

use crate::{Failure, secure};
use bytes::Buf;
use command_line::{Connections, Fetch, MIDWAY, Url};
use quinn::{Connection, Endpoint, VarInt};
use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use tokio::task::JoinSet;

/// H3_NO_ERROR (RFC 9114 section 8.1).
const H3_NO_ERROR: u32 = 0x100;

/// Fetches all, within the time given.
pub async fn fetch(options: Fetch) -> Result<(), Failure> {
    let timeout = options.timeout;
    tokio::time::timeout(timeout, all(options)).await.map_err(|_| format!("not done after {timeout:?}"))?
}

async fn all(options: Fetch) -> Result<(), Failure> {
    let server = options.urls.first().ok_or("no URL")?.address;
    let any = any(server);
    let mut endpoint = Endpoint::client(any)?;
    endpoint.set_default_client_config(secure::client(&options)?);
    for (index, batch) in options.batches().into_iter().enumerate() {
        let early = index > 0 && options.connections == Connections::EarlyData;
        let connection = connect(&endpoint, &batch[0], early).await?;
        if options.shared.key_update || options.migrate {
            let (connection, endpoint) = (connection.clone(), endpoint.clone());
            let (update, migrate) = (options.shared.key_update, options.migrate);
            tokio::spawn(async move {
                tokio::time::sleep(MIDWAY).await;
                if update {
                    connection.force_key_update();
                }
                if migrate {
                    endpoint.rebind(std::net::UdpSocket::bind(any)?)?;
                }
                Ok::<(), std::io::Error>(())
            });
        }
        let again = index + 1 < options.batches().len() && options.connections != Connections::Each;
        if options.shared.alpn == "h3" {
            http3(&connection, batch, &options.out).await?;
        } else {
            hq(&connection, batch, &options.out).await?;
        }
        if again {
            // The ticket comes after the handshake; here all data has come as well, and one round trip is enough.
            tokio::time::sleep(connection.rtt()).await;
        }
        let code =
            if options.shared.alpn == "h3" { VarInt::from_u32(H3_NO_ERROR) } else { VarInt::from_u32(0) };
        connection.close(code, b"");
    }
    endpoint.wait_idle().await;
    Ok(())
}

fn any(server: SocketAddr) -> SocketAddr {
    match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

async fn connect(endpoint: &Endpoint, url: &Url, early: bool) -> Result<Connection, Failure> {
    let connecting = endpoint.connect(url.address, &url.host)?;
    if !early {
        return Ok(connecting.await?);
    }
    match connecting.into_0rtt() {
        Ok((connection, _accepted)) => Ok(connection),
        Err(_) => Err("nothing is remembered that 0-RTT could be sent with".into()),
    }
}

async fn finish(mut tasks: JoinSet<Result<(), Failure>>) -> Result<(), Failure> {
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

async fn hq(connection: &Connection, urls: Vec<Url>, out: &Path) -> Result<(), Failure> {
    let mut tasks = JoinSet::new();
    for url in urls {
        let (mut send, mut receive) = connection.open_bi().await?;
        let file = out.join(url.file());
        // Written before the next stream is opened, so that all of it can go in 0-RTT packets.
        send.write_all(format!("GET {}\r\n", url.path).as_bytes()).await?;
        send.finish()?;
        tasks.spawn(async move {
            let mut file = create(file)?;
            while let Some(chunk) = receive.read_chunk(usize::MAX, true).await? {
                file.write_all(&chunk.bytes)?;
            }
            Ok(())
        });
    }
    finish(tasks).await
}

async fn http3(connection: &Connection, urls: Vec<Url>, out: &Path) -> Result<(), Failure> {
    let (mut driver, mut requests) = h3::client::new(h3_quinn::Connection::new(connection.clone())).await?;
    let driver = tokio::spawn(async move { driver.wait_idle().await });
    let mut tasks = JoinSet::new();
    for url in urls {
        let uri = format!("https://{}{}", url.authority, url.path);
        let mut stream = requests.send_request(http::Request::get(uri).body(())?).await?;
        stream.finish().await?;
        let file = out.join(url.file());
        tasks.spawn(async move {
            let response = stream.recv_response().await?;
            if response.status() != 200 {
                return Err(format!("{}: {}", url.path, response.status()).into());
            }
            let mut file = create(file)?;
            while let Some(mut data) = stream.recv_data().await? {
                while data.has_remaining() {
                    let chunk = data.chunk();
                    file.write_all(chunk)?;
                    let length = chunk.len();
                    data.advance(length);
                }
            }
            Ok(())
        });
    }
    finish(tasks).await?;
    driver.abort();
    Ok(())
}

fn create(file: PathBuf) -> Result<std::io::BufWriter<std::fs::File>, Failure> {
    Ok(std::io::BufWriter::new(std::fs::File::create(file)?))
}
