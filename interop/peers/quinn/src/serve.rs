//! The server: each stream is a request for one file.

use crate::{Failure, secure};
use bytes::Bytes;
use command_line::{MIDWAY, Serve, file_below};
use quinn::{Connection, Endpoint, Incoming, RecvStream, SendStream};
use std::path::PathBuf;
use std::sync::Arc;

/// Serves until the process is ended.
pub async fn serve(options: Serve) -> Result<(), Failure> {
    let endpoint = Endpoint::server(secure::server(&options)?, options.listen)?;
    println!("listening on {}", endpoint.local_addr()?);
    let options = Arc::new(options);
    while let Some(incoming) = endpoint.accept().await {
        if options.retry && !incoming.remote_address_validated() {
            incoming.retry()?;
            continue;
        }
        let options = Arc::clone(&options);
        tokio::spawn(async move {
            if let Err(error) = connection(incoming, options).await {
                eprintln!("connection: {error}");
            }
        });
    }
    Ok(())
}

async fn connection(incoming: Incoming, options: Arc<Serve>) -> Result<(), Failure> {
    let connecting = incoming.accept()?;
    let http = options.shared.alpn == "h3";
    let connection = if http {
        // A server of HTTP/3 opens streams at once, and quinn does not wake it if it does so before the whole
        // ClientHello has come.
        connecting.await?
    } else {
        // What came in 0-RTT packets is answered before the handshake is complete.
        match connecting.into_0rtt() {
            Ok((connection, _accepted)) => connection,
            Err(connecting) => connecting.await?,
        }
    };
    if options.shared.key_update {
        let connection = connection.clone();
        tokio::spawn(async move {
            tokio::time::sleep(MIDWAY).await;
            connection.force_key_update();
        });
    }
    if http {
        return http3(connection, options.root.clone()).await;
    }
    loop {
        let (send, receive) = match connection.accept_bi().await {
            Ok(streams) => streams,
            Err(quinn::ConnectionError::ApplicationClosed(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let root = options.root.clone();
        tokio::spawn(async move {
            if let Err(error) = hq(send, receive, root).await {
                eprintln!("stream: {error}");
            }
        });
    }
}

/// One request of hq-interop: `GET /NAME`, answered with the bytes of the file.
async fn hq(mut send: SendStream, mut receive: RecvStream, root: PathBuf) -> Result<(), Failure> {
    let request = receive.read_to_end(4096).await?;
    let line = String::from_utf8(request)?;
    let path = line.strip_prefix("GET ").ok_or("not a GET")?.trim_end();
    match file_below(&root, path) {
        Some(file) => {
            send.write_chunk(Bytes::from(std::fs::read(file)?)).await?;
            send.finish()?;
        }
        None => send.reset(1_u8.into())?,
    }
    // Kept until it was received, or the connection is gone.
    send.stopped().await?;
    Ok(())
}

async fn http3(connection: Connection, root: PathBuf) -> Result<(), Failure> {
    let mut http = h3::server::Connection::new(h3_quinn::Connection::new(connection)).await?;
    loop {
        let resolver = match http.accept().await {
            Ok(Some(resolver)) => resolver,
            Ok(None) => return Ok(()),
            Err(error) if error.is_h3_no_error() => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let root = root.clone();
        tokio::spawn(async move {
            let answer = async {
                let (request, mut stream) = resolver.resolve_request().await?;
                let file = file_below(&root, request.uri().path());
                let status = if file.is_some() { 200 } else { 404 };
                stream.send_response(http::Response::builder().status(status).body(())?).await?;
                if let Some(file) = file {
                    stream.send_data(Bytes::from(std::fs::read(file)?)).await?;
                }
                stream.finish().await?;
                Ok::<(), Failure>(())
            };
            if let Err(error) = answer.await {
                eprintln!("request: {error}");
            }
        });
    }
}
