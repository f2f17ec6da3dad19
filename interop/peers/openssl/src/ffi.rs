//! What is used of OpenSSL's interface in C, and of the system's: types, constants and functions as their headers have them.

#![allow(non_camel_case_types)]

use std::ffi::{c_char, c_int, c_long, c_uchar, c_uint, c_ulong, c_void};

macro_rules! opaque {
    ($($name:ident),*) => { $(#[repr(C)] pub struct $name { _private: [u8; 0] })* };
}
opaque!(SSL, SSL_CTX, SSL_METHOD, SSL_SESSION, BIO_ADDR);

/// Of the system's `poll`.
#[repr(C)]
pub struct pollfd {
    pub fd: c_int,
    pub events: i16,
    pub revents: i16,
}
pub const POLLIN: i16 = 1;
pub const POLLOUT: i16 = 4;

#[repr(C)]
pub struct timeval {
    pub seconds: i64,
    pub microseconds: i64,
}

#[repr(C)]
pub struct SSL_SHUTDOWN_EX_ARGS {
    pub quic_error_code: u64,
    pub quic_reason: *const c_char,
}

/// How a connection ended.
#[repr(C)]
pub struct SSL_CONN_CLOSE_INFO {
    pub error_code: u64,
    pub frame_type: u64,
    pub reason: *const c_char,
    pub reason_len: usize,
    pub flags: u32,
}

pub const SSL_FILETYPE_PEM: c_int = 1;
pub const SSL_VERIFY_PEER: c_int = 1;
pub const SSL_CTRL_MODE: c_int = 33;
pub const SSL_CTRL_SET_TLSEXT_HOSTNAME: c_int = 55;
pub const SSL_MODE_ENABLE_PARTIAL_WRITE: c_long = 1;
pub const SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER: c_long = 2;
pub const SSL_ERROR_WANT_READ: c_int = 2;
pub const SSL_ERROR_WANT_WRITE: c_int = 3;
pub const SSL_ERROR_ZERO_RETURN: c_int = 6;
pub const SSL_TLSEXT_ERR_OK: c_int = 0;
pub const SSL_TLSEXT_ERR_ALERT_FATAL: c_int = 2;
pub const OPENSSL_NPN_NEGOTIATED: c_int = 1;
pub const SSL_KEY_UPDATE_REQUESTED: c_int = 1;
pub const SSL_DEFAULT_STREAM_MODE_NONE: u32 = 0;
pub const SSL_INCOMING_STREAM_POLICY_ACCEPT: c_int = 1;
pub const SSL_STREAM_FLAG_NO_BLOCK: u64 = 2;
pub const SSL_ACCEPT_STREAM_NO_BLOCK: u64 = 1;
pub const SSL_ACCEPT_CONNECTION_NO_BLOCK: u64 = 1;
pub const SSL_LISTENER_FLAG_NO_VALIDATE: u64 = 2;
pub const SSL_WRITE_FLAG_CONCLUDE: u64 = 1;
pub const SSL_SHUTDOWN_FLAG_RAPID: u64 = 1;
pub const SSL_SHUTDOWN_FLAG_NO_BLOCK: u64 = 4;
pub const SSL_VALUE_CLASS_GENERIC: u32 = 0;
pub const SSL_VALUE_CLASS_FEATURE_REQUEST: u32 = 1;
pub const SSL_VALUE_QUIC_STREAM_BIDI_LOCAL_AVAIL: u32 = 1;
pub const SSL_VALUE_QUIC_IDLE_TIMEOUT: u32 = 5;
pub const SSL_VALUE_EVENT_HANDLING_MODE: u32 = 6;
pub const SSL_VALUE_EVENT_HANDLING_MODE_EXPLICIT: u64 = 2;

pub type KeyLog = extern "C" fn(*const SSL, *const c_char);
pub type AlpnSelect =
    extern "C" fn(*mut SSL, *mut *const c_uchar, *mut c_uchar, *const c_uchar, c_uint, *mut c_void) -> c_int;

unsafe extern "C" {
    pub fn poll(fds: *mut pollfd, count: c_ulong, milliseconds: c_int) -> c_int;

    pub fn OSSL_QUIC_client_method() -> *const SSL_METHOD;
    pub fn OSSL_QUIC_server_method() -> *const SSL_METHOD;
    pub fn ERR_get_error() -> c_ulong;
    pub fn ERR_error_string_n(code: c_ulong, text: *mut c_char, length: usize);

    pub fn SSL_CTX_new(method: *const SSL_METHOD) -> *mut SSL_CTX;
    pub fn SSL_CTX_free(context: *mut SSL_CTX);
    pub fn SSL_CTX_ctrl(
        context: *mut SSL_CTX,
        command: c_int,
        number: c_long,
        pointer: *mut c_void,
    ) -> c_long;
    pub fn SSL_CTX_use_certificate_chain_file(context: *mut SSL_CTX, file: *const c_char) -> c_int;
    pub fn SSL_CTX_use_PrivateKey_file(context: *mut SSL_CTX, file: *const c_char, kind: c_int) -> c_int;
    pub fn SSL_CTX_load_verify_file(context: *mut SSL_CTX, file: *const c_char) -> c_int;
    pub fn SSL_CTX_set_verify(context: *mut SSL_CTX, mode: c_int, callback: *const c_void);
    pub fn SSL_CTX_set_ciphersuites(context: *mut SSL_CTX, names: *const c_char) -> c_int;
    pub fn SSL_CTX_set_keylog_callback(context: *mut SSL_CTX, callback: KeyLog);
    pub fn SSL_CTX_set_alpn_select_cb(context: *mut SSL_CTX, callback: AlpnSelect, argument: *mut c_void);
    pub fn SSL_select_next_proto(
        out: *mut *const c_uchar,
        out_length: *mut c_uchar,
        server: *const c_uchar,
        server_length: c_uint,
        client: *const c_uchar,
        client_length: c_uint,
    ) -> c_int;

    pub fn SSL_new(context: *mut SSL_CTX) -> *mut SSL;
    pub fn SSL_free(ssl: *mut SSL);
    pub fn SSL_ctrl(ssl: *mut SSL, command: c_int, number: c_long, pointer: *mut c_void) -> c_long;
    pub fn SSL_set_fd(ssl: *mut SSL, fd: c_int) -> c_int;
    pub fn SSL_set_alpn_protos(ssl: *mut SSL, protocols: *const c_uchar, length: c_uint) -> c_int;
    pub fn SSL_set1_dnsname(ssl: *mut SSL, name: *const c_char) -> c_int;
    pub fn SSL_set1_initial_peer_addr(ssl: *mut SSL, address: *const BIO_ADDR) -> c_int;
    pub fn SSL_set_blocking_mode(ssl: *mut SSL, is_blocking: c_int) -> c_int;
    pub fn SSL_set_default_stream_mode(ssl: *mut SSL, mode: u32) -> c_int;
    pub fn SSL_set_incoming_stream_policy(ssl: *mut SSL, policy: c_int, code: u64) -> c_int;
    pub fn SSL_get_value_uint(ssl: *mut SSL, class: u32, id: u32, value: *mut u64) -> c_int;
    pub fn SSL_set_value_uint(ssl: *mut SSL, class: u32, id: u32, value: u64) -> c_int;
    pub fn SSL_connect(ssl: *mut SSL) -> c_int;
    pub fn SSL_do_handshake(ssl: *mut SSL) -> c_int;
    pub fn SSL_get_error(ssl: *const SSL, returned: c_int) -> c_int;
    pub fn SSL_handle_events(ssl: *mut SSL) -> c_int;
    pub fn SSL_get_event_timeout(ssl: *mut SSL, left: *mut timeval, is_infinite: *mut c_int) -> c_int;
    pub fn SSL_net_write_desired(ssl: *mut SSL) -> c_int;
    pub fn SSL_key_update(ssl: *mut SSL, kind: c_int) -> c_int;
    pub fn SSL_get1_session(ssl: *mut SSL) -> *mut SSL_SESSION;
    pub fn SSL_set_session(ssl: *mut SSL, session: *mut SSL_SESSION) -> c_int;
    pub fn SSL_SESSION_is_resumable(session: *const SSL_SESSION) -> c_int;
    pub fn SSL_SESSION_free(session: *mut SSL_SESSION);
    pub fn SSL_shutdown_ex(
        ssl: *mut SSL,
        flags: u64,
        arguments: *const SSL_SHUTDOWN_EX_ARGS,
        length: usize,
    ) -> c_int;
    pub fn SSL_get_conn_close_info(ssl: *mut SSL, info: *mut SSL_CONN_CLOSE_INFO, length: usize) -> c_int;

    pub fn SSL_new_listener(context: *mut SSL_CTX, flags: u64) -> *mut SSL;
    pub fn SSL_listen(ssl: *mut SSL) -> c_int;
    pub fn SSL_accept_connection(ssl: *mut SSL, flags: u64) -> *mut SSL;
    pub fn SSL_new_stream(ssl: *mut SSL, flags: u64) -> *mut SSL;
    pub fn SSL_accept_stream(ssl: *mut SSL, flags: u64) -> *mut SSL;
    pub fn SSL_read_ex(ssl: *mut SSL, bytes: *mut c_void, length: usize, read: *mut usize) -> c_int;
    pub fn SSL_write_ex2(
        ssl: *mut SSL,
        bytes: *const c_void,
        length: usize,
        flags: u64,
        written: *mut usize,
    ) -> c_int;

    pub fn BIO_ADDR_new() -> *mut BIO_ADDR;
    pub fn BIO_ADDR_free(address: *mut BIO_ADDR);
    pub fn BIO_ADDR_rawmake(
        address: *mut BIO_ADDR,
        family: c_int,
        bytes: *const c_void,
        length: usize,
        port: u16,
    ) -> c_int;
}
