//! Safe handles on OpenSSL's contexts, listeners, connections and streams. Nothing here blocks, and packets are read and
//! sent by [`Ssl::handle_events`] alone.

use crate::Failure;
use crate::ffi;
use std::ffi::{CStr, CString, c_char, c_int, c_uchar, c_uint, c_void};
use std::io::Write;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::time::Duration;

/// The application protocol, as ALPN has it: its length and its name.
static PROTOCOL: OnceLock<Vec<u8>> = OnceLock::new();

/// What each connection of one end is made from.
pub struct Context(*mut ffi::SSL_CTX);

impl Context {
    /// For a client that trusts these certificates.
    pub fn client(alpn: &str, chacha20: bool, ca: &Path) -> Result<Context, Failure> {
        // SAFETY: the method is static; a context that is null is refused by `new`.
        let context =
            Context::new(unsafe { ffi::SSL_CTX_new(ffi::OSSL_QUIC_client_method()) }, alpn, chacha20)?;
        let ca = path(ca)?;
        // SAFETY: the context lives, and the text ends with a zero.
        done("the certificates of --ca", unsafe { ffi::SSL_CTX_load_verify_file(context.0, ca.as_ptr()) })?;
        // SAFETY: the context lives; no callback is what null stands for.
        unsafe { ffi::SSL_CTX_set_verify(context.0, ffi::SSL_VERIFY_PEER, ptr::null()) };
        Ok(context)
    }

    /// For a server with this certificate chain.
    pub fn server(alpn: &str, chacha20: bool, cert: &Path, key: &Path) -> Result<Context, Failure> {
        // SAFETY: as in `client`.
        let context =
            Context::new(unsafe { ffi::SSL_CTX_new(ffi::OSSL_QUIC_server_method()) }, alpn, chacha20)?;
        let (cert, key) = (path(cert)?, path(key)?);
        // SAFETY: the context lives, and the texts end with a zero.
        unsafe {
            done("--cert", ffi::SSL_CTX_use_certificate_chain_file(context.0, cert.as_ptr()))?;
            done("--key", ffi::SSL_CTX_use_PrivateKey_file(context.0, key.as_ptr(), ffi::SSL_FILETYPE_PEM))?;
            ffi::SSL_CTX_set_alpn_select_cb(context.0, select_protocol, ptr::null_mut());
        }
        Ok(context)
    }

    fn new(raw: *mut ffi::SSL_CTX, alpn: &str, chacha20: bool) -> Result<Context, Failure> {
        if raw.is_null() {
            return Err(error("no context"));
        }
        let context = Context(raw);
        let protocol = PROTOCOL.get_or_init(|| [&[alpn.len() as u8], alpn.as_bytes()].concat());
        assert_eq!(&protocol[1..], alpn.as_bytes(), "one protocol for all of a process");
        let mode = ffi::SSL_MODE_ENABLE_PARTIAL_WRITE | ffi::SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER;
        // SAFETY: the context lives; the callback has the type that is asked for, and is static.
        unsafe {
            ffi::SSL_CTX_ctrl(raw, ffi::SSL_CTRL_MODE, mode, ptr::null_mut());
            ffi::SSL_CTX_set_keylog_callback(raw, log_key);
        }
        if chacha20 {
            let suite = c"TLS_CHACHA20_POLY1305_SHA256";
            // SAFETY: the context lives, and the text ends with a zero.
            done("ChaCha20-Poly1305", unsafe { ffi::SSL_CTX_set_ciphersuites(raw, suite.as_ptr()) })?;
        }
        Ok(context)
    }

    /// A server's listener on this socket, with a Retry for every client, or for none.
    pub fn listen(&self, socket: &UdpSocket, retry: bool) -> Result<Ssl, Failure> {
        let flags = if retry { 0 } else { ffi::SSL_LISTENER_FLAG_NO_VALIDATE };
        // SAFETY: the context lives.
        let listener =
            Ssl::from(unsafe { ffi::SSL_new_listener(self.0, flags) }).ok_or_else(|| error("no listener"))?;
        listener.attach(socket)?;
        // SAFETY: the listener lives.
        done("listen", unsafe { ffi::SSL_listen(listener.0) })?;
        Ok(listener)
    }

    /// A client's connection over this socket, which resumes a session if there is one.
    pub fn connect(
        &self,
        socket: &UdpSocket,
        server: SocketAddr,
        name: &str,
        session: Option<&Session>,
        idle: Duration,
    ) -> Result<Ssl, Failure> {
        // SAFETY: the context lives.
        let connection = Ssl::from(unsafe { ffi::SSL_new(self.0) }).ok_or_else(|| error("no connection"))?;
        connection.attach(socket)?;
        connection.is_driven_here()?;
        connection.goes_to(server)?;
        let (raw, name) = (connection.0, CString::new(name)?);
        let protocol = PROTOCOL.get().ok_or("a context has a protocol")?;
        let host = name.as_ptr().cast_mut().cast::<c_void>();
        // SAFETY: the connection and the session live; what the pointers lead to is copied.
        unsafe {
            done("the name", ffi::SSL_ctrl(raw, ffi::SSL_CTRL_SET_TLSEXT_HOSTNAME, 0, host) as c_int)?;
            done("the name", ffi::SSL_set1_dnsname(raw, name.as_ptr()))?;
            // The one function that returns 0 if it succeeds.
            let refused = ffi::SSL_set_alpn_protos(raw, protocol.as_ptr(), protocol.len() as c_uint);
            done("the protocol", c_int::from(refused == 0))?;
            if let Some(session) = session {
                done("the session", ffi::SSL_set_session(raw, session.0))?;
            }
        }
        let class = ffi::SSL_VALUE_CLASS_FEATURE_REQUEST;
        connection.set_value(class, ffi::SSL_VALUE_QUIC_IDLE_TIMEOUT, idle.as_millis() as u64)?;
        Ok(connection)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: it was made by `SSL_CTX_new`, and what else needs it has counted itself in.
        unsafe { ffi::SSL_CTX_free(self.0) }
    }
}

/// A session that can be resumed.
pub struct Session(*mut ffi::SSL_SESSION);

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: it was counted in by `SSL_get1_session`.
        unsafe { ffi::SSL_SESSION_free(self.0) }
    }
}

/// A listener, a connection or a stream.
pub struct Ssl(*mut ffi::SSL);

/// What came of a read.
pub enum Read {
    Bytes(usize),
    Later,
    End,
}

impl Ssl {
    fn from(raw: *mut ffi::SSL) -> Option<Ssl> {
        (!raw.is_null()).then_some(Ssl(raw))
    }

    fn attach(&self, socket: &UdpSocket) -> Result<(), Failure> {
        socket.set_nonblocking(true)?;
        // SAFETY: the object lives; the socket outlives it, by the order of the fields of who owns both.
        done("the socket", unsafe { ffi::SSL_set_fd(self.0, socket.as_raw_fd()) })?;
        // SAFETY: the object lives.
        done("not blocking", unsafe { ffi::SSL_set_blocking_mode(self.0, 0) })
    }

    fn set_value(&self, class: u32, id: u32, value: u64) -> Result<(), Failure> {
        // SAFETY: the object lives.
        done("a setting", unsafe { ffi::SSL_set_value_uint(self.0, class, id, value) })
    }

    fn goes_to(&self, server: SocketAddr) -> Result<(), Failure> {
        let (family, bytes) = match server.ip() {
            IpAddr::V4(ip) => (2, ip.octets().to_vec()),
            IpAddr::V6(ip) => (10, ip.octets().to_vec()),
        };
        // SAFETY: the address is made, filled from bytes that live, copied and freed here.
        unsafe {
            let address = ffi::BIO_ADDR_new();
            let port = server.port().to_be();
            let made = ffi::BIO_ADDR_rawmake(address, family, bytes.as_ptr().cast(), bytes.len(), port);
            let set = done("the address", made)
                .and_then(|()| done("the address", ffi::SSL_set1_initial_peer_addr(self.0, address)));
            ffi::BIO_ADDR_free(address);
            set
        }
    }

    /// A connection whose streams are all opened and accepted by name, and whose packets [`Ssl::handle_events`] handles.
    fn is_driven_here(&self) -> Result<(), Failure> {
        // SAFETY: the connection lives.
        unsafe {
            done("streams", ffi::SSL_set_default_stream_mode(self.0, ffi::SSL_DEFAULT_STREAM_MODE_NONE))?;
            let policy = ffi::SSL_INCOMING_STREAM_POLICY_ACCEPT;
            done("streams", ffi::SSL_set_incoming_stream_policy(self.0, policy, 0))?;
        }
        let (class, explicit) = (ffi::SSL_VALUE_CLASS_GENERIC, ffi::SSL_VALUE_EVENT_HANDLING_MODE_EXPLICIT);
        self.set_value(class, ffi::SSL_VALUE_EVENT_HANDLING_MODE, explicit)
    }

    /// Waits until a packet has come, something is due, or this time is over.
    pub fn wait(&self, socket: &UdpSocket, most: Duration) -> Result<(), Failure> {
        let (mut left, mut is_infinite) = (ffi::timeval { seconds: 0, microseconds: 0 }, 0);
        // SAFETY: the object lives, and both pointers lead to what is on the stack.
        done("the timer", unsafe { ffi::SSL_get_event_timeout(self.0, &mut left, &mut is_infinite) })?;
        let due = Duration::new(left.seconds as u64, left.microseconds as u32 * 1000);
        let wait = if is_infinite == 0 { most.min(due) } else { most };
        // SAFETY: the object lives.
        let is_full = unsafe { ffi::SSL_net_write_desired(self.0) } != 0;
        let events = if is_full { ffi::POLLIN | ffi::POLLOUT } else { ffi::POLLIN };
        let mut polled = ffi::pollfd { fd: socket.as_raw_fd(), events, revents: 0 };
        // SAFETY: one descriptor, on the stack. A wait that a signal cuts short is no failure.
        unsafe { ffi::poll(&mut polled, 1, wait.as_micros().div_ceil(1000) as c_int) };
        Ok(())
    }

    /// Reads the packets that have come, and sends those that can go.
    pub fn handle_events(&self) {
        // SAFETY: the object lives. A failure shows itself in the next call that is about something.
        unsafe { ffi::SSL_handle_events(self.0) };
        clear();
    }

    /// Goes on with the handshake of a client; gives whether it is done.
    pub fn connected(&self) -> Result<bool, Failure> {
        clear();
        // SAFETY: the connection lives.
        self.progress("the handshake", unsafe { ffi::SSL_connect(self.0) })
    }

    /// Goes on with the handshake of a server; gives whether it is done.
    pub fn accepted(&self) -> Result<bool, Failure> {
        clear();
        // SAFETY: the connection lives.
        self.progress("the handshake", unsafe { ffi::SSL_do_handshake(self.0) })
    }

    fn progress(&self, what: &str, returned: c_int) -> Result<bool, Failure> {
        // SAFETY: the object lives, and `returned` is of the call before this one.
        match unsafe { ffi::SSL_get_error(self.0, returned) } {
            _ if returned == 1 => Ok(true),
            ffi::SSL_ERROR_WANT_READ | ffi::SSL_ERROR_WANT_WRITE => Ok(false),
            _ => Err(error(what)),
        }
    }

    /// The next connection that came to a listener.
    pub fn accept_connection(&self) -> Result<Option<Ssl>, Failure> {
        // SAFETY: the listener lives.
        let raw = unsafe { ffi::SSL_accept_connection(self.0, ffi::SSL_ACCEPT_CONNECTION_NO_BLOCK) };
        let Some(connection) = Ssl::from(raw) else { return Ok(None) };
        // SAFETY: the connection lives.
        done("not blocking", unsafe { ffi::SSL_set_blocking_mode(connection.0, 0) })?;
        connection.is_driven_here()?;
        Ok(Some(connection))
    }

    /// The next stream that the other end opened.
    pub fn accept_stream(&self) -> Option<Ssl> {
        // SAFETY: the connection lives.
        Ssl::from(unsafe { ffi::SSL_accept_stream(self.0, ffi::SSL_ACCEPT_STREAM_NO_BLOCK) })
    }

    /// A stream of this end, in both directions, if the other end admits one more.
    pub fn open_stream(&self) -> Result<Option<Ssl>, Failure> {
        let (class, id) = (ffi::SSL_VALUE_CLASS_GENERIC, ffi::SSL_VALUE_QUIC_STREAM_BIDI_LOCAL_AVAIL);
        let mut admitted = 0;
        // SAFETY: the connection lives, and the pointer leads to what is on the stack.
        done("streams", unsafe { ffi::SSL_get_value_uint(self.0, class, id, &mut admitted) })?;
        if admitted == 0 {
            return Ok(None);
        }
        // SAFETY: the connection lives.
        let stream = Ssl::from(unsafe { ffi::SSL_new_stream(self.0, ffi::SSL_STREAM_FLAG_NO_BLOCK) });
        stream.map(Some).ok_or_else(|| error("a stream"))
    }

    /// Reads of a stream.
    pub fn read(&self, into: &mut [u8]) -> Result<Read, Failure> {
        clear();
        let mut length = 0;
        // SAFETY: the stream lives; as many bytes as there are may be written.
        let returned = unsafe { ffi::SSL_read_ex(self.0, into.as_mut_ptr().cast(), into.len(), &mut length) };
        // SAFETY: as above, and it is of the call before this one.
        match unsafe { ffi::SSL_get_error(self.0, returned) } {
            _ if returned == 1 => Ok(Read::Bytes(length)),
            ffi::SSL_ERROR_WANT_READ => Ok(Read::Later),
            ffi::SSL_ERROR_ZERO_RETURN => Ok(Read::End),
            _ => Err(error("read")),
        }
    }

    /// Writes to a stream as much of its last bytes as there is room for; gives how much. The FIN goes with the last one.
    pub fn write_last(&self, bytes: &[u8]) -> Result<usize, Failure> {
        clear();
        let (mut length, flags) = (0, ffi::SSL_WRITE_FLAG_CONCLUDE);
        // SAFETY: the stream lives; as many bytes as there are may be read.
        let returned =
            unsafe { ffi::SSL_write_ex2(self.0, bytes.as_ptr().cast(), bytes.len(), flags, &mut length) };
        self.progress("write", returned).map(|written| if written { length } else { 0 })
    }

    /// Updates the keys of a connection.
    pub fn update_keys(&self) -> Result<(), Failure> {
        // SAFETY: the connection lives.
        done("key update", unsafe { ffi::SSL_key_update(self.0, ffi::SSL_KEY_UPDATE_REQUESTED) })
    }

    /// The session, as soon as the server has sent a ticket.
    pub fn session(&self) -> Option<Session> {
        // SAFETY: the connection lives; what is returned is counted in, or null.
        let raw = unsafe { ffi::SSL_get1_session(self.0) };
        let session = (!raw.is_null()).then_some(Session(raw))?;
        // SAFETY: the session lives.
        (unsafe { ffi::SSL_SESSION_is_resumable(session.0) } == 1).then_some(session)
    }

    /// How the connection ended, if it has.
    pub fn end(&self) -> Option<String> {
        let mut info = ffi::SSL_CONN_CLOSE_INFO {
            error_code: 0,
            frame_type: 0,
            reason: ptr::null(),
            reason_len: 0,
            flags: 0,
        };
        // SAFETY: the connection lives, and the pointer leads to what is on the stack.
        let ended = unsafe { ffi::SSL_get_conn_close_info(self.0, &mut info, size_of_val(&info)) };
        (ended == 1).then(|| format!("closed with code {:#x}, flags {}", info.error_code, info.flags))
    }

    /// Closes a connection; what was not sent of streams is not waited for.
    pub fn close(&self) {
        let flags = ffi::SSL_SHUTDOWN_FLAG_RAPID | ffi::SSL_SHUTDOWN_FLAG_NO_BLOCK;
        // SAFETY: the connection lives; no arguments are what null stands for.
        unsafe { ffi::SSL_shutdown_ex(self.0, flags, ptr::null(), 0) };
        self.handle_events();
    }
}

impl Drop for Ssl {
    fn drop(&mut self) {
        // SAFETY: it was returned by a function that makes it ours; streams count their connection in.
        unsafe { ffi::SSL_free(self.0) }
    }
}

fn path(file: &Path) -> Result<CString, Failure> {
    Ok(CString::new(file.to_str().ok_or("the path of a file is not UTF-8")?)?)
}

/// What most functions return: 1, or there is a reason.
fn done(what: &str, returned: c_int) -> Result<(), Failure> {
    if returned == 1 { Ok(()) } else { Err(error(what)) }
}

/// The reasons that OpenSSL keeps, in one line.
fn error(what: &str) -> Failure {
    let mut text = what.to_owned();
    // SAFETY: takes the oldest of the reasons of this thread.
    while let code @ 1.. = unsafe { ffi::ERR_get_error() } {
        let mut line: [c_char; 256] = [0; 256];
        // SAFETY: OpenSSL writes at most as many bytes as the text has, and a zero at their end.
        let line = unsafe {
            ffi::ERR_error_string_n(code, line.as_mut_ptr(), line.len());
            CStr::from_ptr(line.as_ptr())
        };
        text = format!("{text}: {}", line.to_string_lossy());
    }
    text.into()
}

/// Forgets reasons of earlier failures, which `SSL_get_error` would take for those of the next call.
fn clear() {
    // SAFETY: takes the oldest of the reasons of this thread.
    while unsafe { ffi::ERR_get_error() } != 0 {}
}

extern "C" fn log_key(_: *const ffi::SSL, line: *const c_char) {
    let Some(path) = std::env::var_os("SSLKEYLOGFILE") else { return };
    // SAFETY: the line ends with a zero.
    let line = unsafe { CStr::from_ptr(line) }.to_string_lossy();
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    if let Err(error) = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes())) {
        eprintln!("SSLKEYLOGFILE: {error}");
    }
}

extern "C" fn select_protocol(
    _: *mut ffi::SSL,
    out: *mut *const c_uchar,
    out_length: *mut c_uchar,
    offered: *const c_uchar,
    offered_length: c_uint,
    _: *mut c_void,
) -> c_int {
    let ours = PROTOCOL.get().map_or(&[][..], Vec::as_slice);
    // SAFETY: all pointers are those of the callback, or lead to what is static.
    let chosen = unsafe {
        let length = ours.len() as c_uint;
        ffi::SSL_select_next_proto(out, out_length, ours.as_ptr(), length, offered, offered_length)
    };
    if chosen == ffi::OPENSSL_NPN_NEGOTIATED {
        ffi::SSL_TLSEXT_ERR_OK
    } else {
        ffi::SSL_TLSEXT_ERR_ALERT_FATAL
    }
}
