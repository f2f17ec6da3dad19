//! The lengths of the messages, learned from a real handshake and one that resumes it.

use super::messages::kind;
use rustls::pki_types::ServerName;

/// The server's messages of the Handshake level, in order.
const FLIGHT: [u8; 4] =
    [kind::ENCRYPTED_EXTENSIONS, kind::CERTIFICATE, kind::CERTIFICATE_VERIFY, kind::FINISHED];
/// The server's messages when a session is resumed (RFC 8446 section 2.2).
const RESUMED_FLIGHT: [u8; 2] = [kind::ENCRYPTED_EXTENSIONS, kind::FINISHED];
/// Length of the extension early_data, which is empty in ClientHello and EncryptedExtensions (RFC 8446 section
/// 4.2.10).
pub(super) const EARLY_DATA: usize = 4;
/// Length of the extension server_name in EncryptedExtensions, where it is empty, and absent if a session is resumed
/// (RFC 6066 section 3).
pub(super) const NAME_TAKEN: usize = 4;

/// The length in bytes of each message with its header. Two of them also grow with their contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Without the transport parameters and the server's name.
    pub(super) client_hello: usize,
    pub(super) server_hello: usize,
    /// Without the transport parameters, the name of the protocol, and [`NAME_TAKEN`].
    pub(super) encrypted_extensions: usize,
    pub(super) certificate: usize,
    pub(super) certificate_verify: usize,
    pub(super) server_finished: usize,
    pub(super) client_finished: usize,
    pub(super) resumption: Resumption,
}

/// The sizes related to tickets; all 0 if there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Resumption {
    /// NewSessionTicket.
    pub(super) ticket: usize,
    /// The addition to the ClientHello: pre_shared_key.
    pub(super) offer: usize,
    /// The addition to the ServerHello: pre_shared_key.
    pub(super) choice: usize,
}

/// The messages of a real handshake, from which sizes are learned.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    pub(crate) client_hello: Vec<u8>,
    pub(crate) server_hello: Vec<u8>,
    pub(crate) server_flight: Vec<u8>,
    pub(crate) client_finished: Vec<u8>,
    /// Sent after the handshake.
    pub(crate) tickets: Vec<u8>,
    /// Length of either end's transport parameters.
    pub(crate) parameters: usize,
    /// Length of the protocol's name.
    pub(crate) protocol: usize,
    /// Length of the extension server_name: see [`server_name_size`].
    pub(crate) server_name: usize,
}

impl Sizes {
    /// Returns `None` if this is not a full handshake without client authentication.
    pub(crate) fn learn(transcript: &Transcript) -> Option<Sizes> {
        let [encrypted_extensions, certificate, certificate_verify, server_finished] =
            messages(&transcript.server_flight, FLIGHT)?;
        let [client_hello] = messages(&transcript.client_hello, [kind::CLIENT_HELLO])?;
        let name_taken = if transcript.server_name > 0 { NAME_TAKEN } else { 0 };
        Some(Sizes {
            client_hello: client_hello - transcript.parameters - transcript.server_name,
            server_hello: messages(&transcript.server_hello, [kind::SERVER_HELLO])?[0],
            encrypted_extensions: encrypted_extensions
                - transcript.parameters
                - transcript.protocol
                - name_taken,
            certificate,
            certificate_verify,
            server_finished,
            client_finished: messages(&transcript.client_finished, [kind::FINISHED])?[0],
            resumption: Resumption::default(),
        })
    }

    /// Learns the ticket sizes from a handshake that issued a ticket and from one that resumed it, with 0-RTT if that
    /// was enabled. Returns `None` if the latter is not a resumed handshake.
    pub(crate) fn learn_resumption(
        self,
        full: &Transcript,
        resumed: &Transcript,
        early: bool,
    ) -> Option<Sizes> {
        let early_data = if early { EARLY_DATA } else { 0 };
        let (ticket, _) = first_message(&full.tickets, kind::NEW_SESSION_TICKET)?;
        let [extensions, finished] = messages(&resumed.server_flight, RESUMED_FLIGHT)?;
        let expected = self.encrypted_extensions + resumed.parameters + resumed.protocol + early_data;
        let grown = |resumed: &Vec<u8>, full: &Vec<u8>| resumed.len().checked_sub(full.len());
        let resumption = Resumption {
            ticket,
            offer: grown(&resumed.client_hello, &full.client_hello)?.checked_sub(early_data)?,
            choice: grown(&resumed.server_hello, &full.server_hello)?,
        };
        let known = extensions == expected
            && finished == self.server_finished
            && resumed.client_finished.len() == self.client_finished;
        known.then_some(Sizes { resumption, ..self })
    }
}

/// Length of the extension server_name: zero for an address (RFC 6066 section 3).
pub(crate) fn server_name_size(name: &ServerName<'_>) -> usize {
    match name {
        ServerName::DnsName(name) => 9 + name.as_ref().len(),
        _ => 0,
    }
}

/// The sizes of the messages, if `bytes` consists of exactly these kinds.
fn messages<const N: usize>(bytes: &[u8], kinds: [u8; N]) -> Option<[usize; N]> {
    let (mut sizes, mut rest) = ([0; N], bytes);
    for (size, kind) in sizes.iter_mut().zip(kinds) {
        (*size, rest) = first_message(rest, kind)?;
    }
    rest.is_empty().then_some(sizes)
}

/// The size of the first message and the bytes after it, if it is of this kind.
fn first_message(bytes: &[u8], kind: u8) -> Option<(usize, &[u8])> {
    let (header, _) = bytes.split_first_chunk::<4>()?;
    let size = 4 + (usize::from(header[1]) << 16 | usize::from(header[2]) << 8 | usize::from(header[3]));
    (header[0] == kind && size <= bytes.len()).then(|| (size, &bytes[size..]))
}
