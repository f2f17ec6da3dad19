//! TLS 1.3 on the stream (RFC 8446): its handshake and its records with their real sizes, without cryptography.
//!
//! The ClientHello and the ServerHello are real messages. All later records look encrypted: a header, the content, the
//! content type, and 16 bytes in place of the tag (section 5.2). Captures therefore show TLS, and data waits for the
//! last byte of its record as with real TLS.

use crate::data::{Data, Run};
use crate::outgoing::Outgoing;
use crate::ready::Ready;
use std::collections::VecDeque;
use wire::Side;

/// The maximum content of a record (section 5.1).
const MAX_CONTENT: u64 = 1 << 14;
/// The maximum body of a record (section 5.2).
const MAX_BODY: u64 = MAX_CONTENT + 256;
const HEADER: usize = 5;
/// The bytes after the content: its type and the AEAD tag.
const TRAILER: usize = 17;
/// The maximum size of all handshake messages, which limits the certificate chain.
const MAX_HANDSHAKE: usize = 1 << 20;
/// Zeros in place of the tag.
const TAG: [u8; 16] = [0; 16];

/// ContentType (section 5.1).
mod content {
    pub(super) const CHANGE_CIPHER_SPEC: u8 = 20;
    pub(super) const ALERT: u8 = 21;
    pub(super) const HANDSHAKE: u8 = 22;
    pub(super) const APPLICATION_DATA: u8 = 23;
}

/// HandshakeType (section 4).
mod message {
    pub(super) const CLIENT_HELLO: u8 = 1;
    pub(super) const SERVER_HELLO: u8 = 2;
    pub(super) const ENCRYPTED_EXTENSIONS: u8 = 8;
    pub(super) const CERTIFICATE: u8 = 11;
    pub(super) const CERTIFICATE_VERIFY: u8 = 15;
    pub(super) const FINISHED: u8 = 20;
}

/// The parameters that determine the sizes of the handshake.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TlsSizes {
    /// The server name in the ClientHello (RFC 6066 section 3).
    pub server_name: String,
    /// The DER size of the server's two certificates together.
    pub certificate_chain: u64,
    /// The application protocol offered by the client and accepted by the server (ALPN, RFC 7301). If empty, the
    /// extension is omitted.
    pub alpn: &'static [u8],
    /// Whether the key exchange is X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem) instead of X25519.
    pub hybrid: bool,
}

/// The progress of the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Waits for the peer's first message.
    Hello,
    /// Waits for the peer's Finished.
    Finished,
    /// Data can flow.
    Open,
}

/// The received data is not valid TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotTls;

/// The record being received.
#[derive(Debug, Default)]
struct IncomingRecord {
    header: [u8; HEADER],
    /// Received bytes of the header.
    have: usize,
    /// Missing bytes of the body.
    left: u64,
    /// The content type and the tag, at the end.
    trailer: [u8; TRAILER],
    content: Ready,
}

/// The TLS layer of one end.
#[derive(Debug)]
pub(crate) struct Records {
    side: Side,
    sizes: TlsSizes,
    stage: Stage,
    /// Application data that is in no record yet.
    pending: Ready,
    written: u64,
    /// For each unacknowledged record: its end in the stream, and the application bytes up to there.
    unacknowledged: VecDeque<(u64, u64)>,
    framed: u64,
    acknowledged: u64,
    /// Whether close_notify was written (section 6.1).
    closed: bool,
    incoming: IncomingRecord,
    handshake: Vec<u8>,
    /// The content of complete records, for the application.
    pub(crate) ready: Ready,
}

impl Records {
    pub(crate) fn new(side: Side, sizes: TlsSizes) -> Records {
        Records {
            side,
            sizes,
            stage: Stage::Hello,
            pending: Ready::default(),
            written: 0,
            unacknowledged: VecDeque::new(),
            framed: 0,
            acknowledged: 0,
            closed: false,
            incoming: IncomingRecord::default(),
            handshake: Vec::new(),
            ready: Ready::default(),
        }
    }

    /// Whether data can flow.
    pub(crate) fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }
    /// Whether close_notify, which follows all data, was written.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }
    /// Bytes that are in no record yet.
    pub(crate) fn pending(&self) -> u64 {
        self.pending.len()
    }
    /// Application bytes written so far.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Stops if what was written, framed and acknowledged, or the record being received, contradicts itself.
    pub(crate) fn check(&self) {
        for queue in [&self.pending, &self.ready, &self.incoming.content] {
            queue.check();
        }
        assert_eq!(
            self.framed + self.pending.len(),
            self.written,
            "what was written is in a record, or waits for one"
        );
        assert!(self.acknowledged <= self.framed, "only records that were sent are acknowledged");
        let records = self.unacknowledged.iter().map(|(end, framed)| (*end, *framed));
        assert!(records.is_sorted(), "records follow each other in the stream");
        let IncomingRecord { have, left, .. } = self.incoming;
        assert!(
            have <= HEADER && left <= u64::from(u16::MAX),
            "a record has a header and the body that it says"
        );
        assert!(have == HEADER || left == 0, "the length of a record is known from its header");
        assert!(self.handshake.len() <= MAX_HANDSHAKE, "the memory of handshake messages is limited");
        assert!(self.stage == Stage::Open || !self.closed, "close_notify follows the handshake");
    }

    /// Sends the ClientHello (section 2, figure 1).
    pub(crate) fn start(&mut self, out: &mut Outgoing) {
        if self.side == Side::Client {
            let hello = client_hello(&self.sizes);
            // Section 5.1: for compatibility the first record has version 0x0301.
            record(out, content::HANDSHAKE, [3, 1], &hello);
        }
    }

    /// Accepts application data.
    pub(crate) fn write(&mut self, data: Data<'_>) {
        self.pending.push(match data {
            Data::Bytes(bytes) => Run::Bytes(bytes),
            Data::Virtual(length) => Run::Virtual { length, from: self.written },
        });
        self.written += data.len();
    }

    /// Puts application data into records until the stream is `wanted` bytes long. With `finish`, close_notify follows
    /// the last record.
    pub(crate) fn frame(&mut self, out: &mut Outgoing, wanted: u64, finish: bool) {
        if self.stage != Stage::Open {
            return;
        }
        while out.end() < wanted && self.pending.len() > 0 {
            let length = self.pending.len().min(MAX_CONTENT);
            let body = length + TRAILER as u64;
            out.push_bytes(&header(content::APPLICATION_DATA, [3, 3], body));
            self.pending.take(length, |run| match run {
                Run::Bytes(bytes) => out.push_bytes(bytes),
                Run::Virtual { length, from } => out.push_virtual(length, from),
            });
            out.push_bytes(&trailer(content::APPLICATION_DATA));
            self.framed += length;
            self.unacknowledged.push_back((out.end(), self.framed));
        }
        if finish && !self.closed && self.pending.len() == 0 {
            self.closed = true;
            // Level warning, close_notify.
            sealed(out, content::ALERT, &[1, 0]);
        }
    }

    /// The stream is acknowledged up to this offset. Returns the application bytes in fully acknowledged records.
    pub(crate) fn on_acknowledged(&mut self, place: u64) -> u64 {
        while let Some((end, application)) =
            self.unacknowledged.front().copied().filter(|(end, _)| *end <= place)
        {
            let _ = end;
            self.acknowledged = application;
            self.unacknowledged.pop_front();
        }
        self.acknowledged
    }

    /// Processes in-order data; responses are appended to `out`.
    pub(crate) fn take(&mut self, mut run: Run<'_>, out: &mut Outgoing) -> Result<(), NotTls> {
        while run.len() > 0 {
            if self.incoming.have < HEADER {
                let (first, rest) = split(run, (HEADER - self.incoming.have) as u64);
                copy(first, &mut self.incoming.header[self.incoming.have..]);
                self.incoming.have += first.len() as usize;
                run = rest;
                if self.incoming.have == HEADER {
                    self.begin()?;
                }
                continue;
            }
            let overhead = if self.is_sealed() { TRAILER as u64 } else { 0 };
            let content = self.incoming.left.saturating_sub(overhead);
            let (first, rest) = split(run, if content > 0 { content } else { self.incoming.left });
            if content > 0 {
                self.incoming.content.push(first);
            } else {
                copy(first, &mut self.incoming.trailer[TRAILER - self.incoming.left as usize..]);
            }
            self.incoming.left -= first.len();
            run = rest;
            if self.incoming.left == 0 {
                self.incoming.have = 0;
                self.complete(out)?;
            }
        }
        Ok(())
    }

    fn is_sealed(&self) -> bool {
        self.incoming.header[0] == content::APPLICATION_DATA
    }

    /// Handles a complete record header.
    fn begin(&mut self) -> Result<(), NotTls> {
        let [kind, major, _, high, low] = self.incoming.header;
        self.incoming.left = u64::from(u16::from_be_bytes([high, low]));
        let known = (content::CHANGE_CIPHER_SPEC..=content::APPLICATION_DATA).contains(&kind) && major == 3;
        // Section 5.1: handshake records are not empty; 5.2: an encrypted record has a type and a tag.
        let least = if self.is_sealed() { TRAILER as u64 } else { 1 };
        if known && (least..=MAX_BODY).contains(&self.incoming.left) { Ok(()) } else { Err(NotTls) }
    }

    /// Handles a complete record.
    fn complete(&mut self, out: &mut Outgoing) -> Result<(), NotTls> {
        let kind = if self.is_sealed() { self.incoming.trailer[0] } else { self.incoming.header[0] };
        let (sealed, open) = (self.is_sealed(), self.stage == Stage::Open);
        let Records { incoming, ready, handshake, .. } = self;
        match kind {
            content::APPLICATION_DATA if open && sealed => {
                incoming.content.take(u64::MAX, |run| ready.push(run));
            }
            content::HANDSHAKE => {
                let length = incoming.content.len() as usize;
                if handshake.len() + length > MAX_HANDSHAKE || open {
                    return Err(NotTls);
                }
                incoming.content.take(u64::MAX, |run| {
                    let at = handshake.len();
                    handshake.resize(at + run.len() as usize, 0);
                    copy(run, &mut handshake[at..]);
                });
                return self.messages(out);
            }
            // Section 5: ignored.
            content::CHANGE_CIPHER_SPEC | content::ALERT => {
                incoming.content.take(u64::MAX, |_| ());
            }
            _ => return Err(NotTls),
        }
        Ok(())
    }

    /// Handles the complete handshake messages.
    fn messages(&mut self, out: &mut Outgoing) -> Result<(), NotTls> {
        while let Some(&[kind, high, middle, low]) = self.handshake.first_chunk::<4>() {
            let length = 4 + (usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low));
            if length > MAX_HANDSHAKE {
                return Err(NotTls);
            }
            if self.handshake.len() < length {
                return Ok(());
            }
            self.handshake.drain(..length);
            match (self.side, self.stage, kind) {
                (Side::Server, Stage::Hello, message::CLIENT_HELLO) => {
                    self.answer(out);
                    self.stage = Stage::Finished;
                }
                (Side::Client, Stage::Hello, message::SERVER_HELLO) => self.stage = Stage::Finished,
                (Side::Client, Stage::Finished, message::FINISHED) => {
                    record(out, content::CHANGE_CIPHER_SPEC, [3, 3], &[1]);
                    sealed(out, content::HANDSHAKE, &filler(message::FINISHED, 32));
                    self.stage = Stage::Open;
                }
                (Side::Server, Stage::Finished, message::FINISHED) => self.stage = Stage::Open,
                (
                    Side::Client,
                    Stage::Finished,
                    message::ENCRYPTED_EXTENSIONS | message::CERTIFICATE | message::CERTIFICATE_VERIFY,
                ) => {}
                _ => return Err(NotTls),
            }
        }
        Ok(())
    }

    /// Sends the server's flight (section 2, figure 1).
    fn answer(&mut self, out: &mut Outgoing) {
        record(out, content::HANDSHAKE, [3, 3], &server_hello(&self.sizes));
        record(out, content::CHANGE_CIPHER_SPEC, [3, 3], &[1]);
        // Section 4.4.2: an empty context, the length of the list, and for each of two certificates its length and that
        // of its extensions.
        let certificate =
            self.sizes.certificate_chain.min(MAX_HANDSHAKE as u64 / 2) as usize + 1 + 3 + 2 * (3 + 2);
        // RFC 7301 section 3.1: the server's choice has the same format.
        let alpn = if self.sizes.alpn.is_empty() { 0 } else { 4 + 2 + 1 + self.sizes.alpn.len() };
        let flight = [
            filler(message::ENCRYPTED_EXTENSIONS, 2 + alpn),
            filler(message::CERTIFICATE, certificate),
            // Section 4.4.3: algorithm, length, and a signature by ECDSA on P-256.
            filler(message::CERTIFICATE_VERIFY, 2 + 2 + 71),
            filler(message::FINISHED, 32),
        ];
        sealed(out, content::HANDSHAKE, &flight.concat());
    }
}

/// Splits a run at an offset.
fn split(run: Run<'_>, at: u64) -> (Run<'_>, Run<'_>) {
    let at = at.min(run.len());
    match run {
        Run::Bytes(bytes) => {
            let (first, rest) = bytes.split_at(at as usize);
            (Run::Bytes(first), Run::Bytes(rest))
        }
        Run::Virtual { length, from } => {
            (Run::Virtual { length: at, from }, Run::Virtual { length: length - at, from: from + at })
        }
    }
}

/// Copies a run to the start of `place`.
fn copy(run: Run<'_>, place: &mut [u8]) {
    match run {
        Run::Bytes(bytes) => place[..bytes.len()].copy_from_slice(bytes),
        Run::Virtual { length, from } => wire::pattern::fill(from, &mut place[..length as usize]),
    }
}

fn header(kind: u8, version: [u8; 2], length: u64) -> [u8; HEADER] {
    let [high, low] = (length as u16).to_be_bytes();
    [kind, version[0], version[1], high, low]
}

fn trailer(kind: u8) -> [u8; TRAILER] {
    let mut trailer = [0; TRAILER];
    trailer[0] = kind;
    trailer[1..].copy_from_slice(&TAG);
    trailer
}

/// Writes an unencrypted record.
fn record(out: &mut Outgoing, kind: u8, version: [u8; 2], body: &[u8]) {
    out.push_bytes(&header(kind, version, body.len() as u64));
    out.push_bytes(body);
}

/// Writes the content as records that look encrypted.
fn sealed(out: &mut Outgoing, kind: u8, content: &[u8]) {
    for piece in content.chunks(MAX_CONTENT as usize) {
        out.push_bytes(&header(content::APPLICATION_DATA, [3, 3], (piece.len() + TRAILER) as u64));
        out.push_bytes(piece);
        out.push_bytes(&trailer(kind));
    }
}

/// A handshake message of zeros.
fn filler(kind: u8, length: usize) -> Vec<u8> {
    let mut message = vec![0; 4 + length];
    let [.., high, middle, low] = length.to_be_bytes();
    message[..4].copy_from_slice(&[kind, high, middle, low]);
    message
}

/// Bytes with a length prefix of `N` bytes.
fn field<const N: usize>(bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len().to_be_bytes();
    [&length[length.len() - N..], bytes].concat()
}

fn extension(kind: u16, body: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &field::<2>(body)].concat()
}

/// Section 4.1.2, as sent by browsers and libraries: compatibility mode, three suites, one key share.
fn client_hello(sizes: &TlsSizes) -> Vec<u8> {
    let (group, share): ([u8; 2], usize) = if sizes.hybrid { ([0x11, 0xec], 1216) } else { ([0, 0x1d], 32) };
    let name = [&[0][..], &field::<2>(sizes.server_name.as_bytes())].concat();
    let shares = [&group[..], &field::<2>(&vec![7; share])].concat();
    let alpn = if sizes.alpn.is_empty() {
        Vec::new()
    } else {
        // RFC 7301 section 3.1.
        extension(16, &field::<2>(&field::<1>(sizes.alpn)))
    };
    let extensions = [
        extension(0, &field::<2>(&name)),
        alpn,
        extension(10, &field::<2>(&[group[0], group[1], 0, 0x17])),
        extension(13, &field::<2>(&[4, 3, 8, 4, 4, 1, 5, 3, 8, 5, 5, 1, 8, 6, 6, 1])),
        extension(43, &field::<1>(&[3, 4])),
        extension(45, &field::<1>(&[1])),
        extension(51, &field::<2>(&shares)),
    ];
    let body = [
        &[3, 3][..],
        &[7; 32],
        &field::<1>(&[7; 32]),
        &field::<2>(&[0x13, 1, 0x13, 2, 0x13, 3]),
        &field::<1>(&[0]),
        &field::<2>(&extensions.concat()),
    ]
    .concat();
    [&[message::CLIENT_HELLO][..], &field::<3>(&body)].concat()
}

/// Section 4.1.3.
fn server_hello(sizes: &TlsSizes) -> Vec<u8> {
    let (group, share): ([u8; 2], usize) = if sizes.hybrid { ([0x11, 0xec], 1120) } else { ([0, 0x1d], 32) };
    let shares = [&group[..], &field::<2>(&vec![7; share])].concat();
    let extensions = [extension(43, &[3, 4]), extension(51, &shares)].concat();
    let body =
        [&[3, 3][..], &[7; 32], &field::<1>(&[7; 32]), &[0x13, 1, 0], &field::<2>(&extensions)].concat();
    [&[message::SERVER_HELLO][..], &field::<3>(&body)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes() -> TlsSizes {
        TlsSizes {
            server_name: "server.example".to_owned(),
            certificate_chain: 3000,
            alpn: b"",
            hybrid: false,
        }
    }

    /// Transfers all pending data from one end to the other, in pieces of `step` bytes.
    fn hand_over(out: &mut Outgoing, from: &mut u64, to: &mut Records, answer: &mut Outgoing, step: u64) {
        while *from < out.end() {
            let end = (*from + step).min(out.end());
            let mut bytes = Vec::new();
            let hole = out.copy(*from..end, &mut bytes);
            *from = end;
            let (at, length, offset) =
                hole.map_or((bytes.len(), 0, 0), |h| (h.at as usize, h.length, h.offset));
            to.take(Run::Bytes(&bytes[..at]), answer).unwrap();
            to.take(Run::Virtual { length: length.into(), from: offset }, answer).unwrap();
            to.take(Run::Bytes(&bytes[at..]), answer).unwrap();
        }
    }

    #[test]
    fn an_exchange_and_data_in_pieces_of_any_size() {
        for step in [1, 2, 5, 17, 22, 1448, 100_000] {
            let (mut client, mut server) =
                (Records::new(Side::Client, sizes()), Records::new(Side::Server, sizes()));
            let (mut up, mut down) = (Outgoing::default(), Outgoing::default());
            let (mut up_at, mut down_at) = (0, 0);
            client.start(&mut up);
            client.write(Data::Virtual(40_000));
            client.write(Data::Bytes(&[wire::pattern::byte(40_000), wire::pattern::byte(40_001)]));
            hand_over(&mut up, &mut up_at, &mut server, &mut down, step);
            assert!(!server.is_open() && down.end() > 3000 && down.end() < 3500, "{}", down.end());
            hand_over(&mut down, &mut down_at, &mut client, &mut up, step);
            assert!(client.is_open());
            client.frame(&mut up, u64::MAX, true);
            assert!(client.is_closed());
            hand_over(&mut up, &mut up_at, &mut server, &mut down, step);
            assert!(server.is_open());
            let mut got = Vec::new();
            server.ready.take(u64::MAX, |run| {
                let at = got.len();
                got.resize(at + run.len() as usize, 0);
                copy(run, &mut got[at..]);
            });
            assert!(got.len() == 40_002 && wire::pattern::matches(0, &got), "{step}");
            assert_eq!(client.on_acknowledged(up.end()), 40_002);
        }
    }

    /// RFC 8446 section 5.1: data waits for the last byte of its record, and is acknowledged with it.
    #[test]
    fn data_waits_for_its_record() {
        let (mut client, mut server) =
            (Records::new(Side::Client, sizes()), Records::new(Side::Server, sizes()));
        (client.stage, server.stage) = (Stage::Open, Stage::Open);
        let (mut up, mut down, mut at) = (Outgoing::default(), Outgoing::default(), 0);
        client.write(Data::Virtual(1000));
        client.frame(&mut up, 1, false);
        assert_eq!((up.end(), client.pending()), (5 + 1000 + 17, 0));
        let mut bytes = Vec::new();
        up.copy(0..5, &mut bytes);
        server.take(Run::Bytes(&bytes), &mut down).unwrap();
        server.take(Run::Virtual { length: 1000, from: 0 }, &mut down).unwrap();
        assert_eq!((server.ready.len(), client.on_acknowledged(1021)), (0, 0));
        at += 1005;
        hand_over(&mut up, &mut at, &mut server, &mut down, 100);
        assert_eq!((server.ready.len(), client.on_acknowledged(1022)), (1000, 1000));
    }

    /// RFC 8446 section 5: invalid or premature records end the connection.
    #[test]
    fn nonsense_is_refused() {
        for bytes in [
            &[99, 3, 3, 0, 5][..],
            &[22, 2, 0, 0, 5],
            &[23, 3, 3, 0, 16],
            &[22, 3, 3, 0, 0],
            &[23, 3, 3, 0xff, 0xff],
            // Data, and a Finished, before any hello.
            &[&[23, 3, 3, 0, 18, 1, 23][..], &TAG].concat(),
            &[22, 3, 3, 0, 4, 20, 0, 0, 0],
            // A message that exceeds the limit.
            &[22, 3, 3, 0, 4, 1, 0xff, 0xff, 0xff],
        ] {
            let mut server = Records::new(Side::Server, sizes());
            assert_eq!(server.take(Run::Bytes(bytes), &mut Outgoing::default()), Err(NotTls), "{bytes:?}");
        }
    }
}
