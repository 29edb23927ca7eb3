//! The parts of MariaDB's plugin ABI that this plugin uses.
//!
//! Layouts follow the public headers `mysql/plugin.h`, `mysql/plugin_audit.h` and `mysql/service_*.h`
//! (MariaDB plugin interface 1.15, audit interface 3.2). Only public structures are used: a `THD` stays opaque.

pub use crate::declared::abi::*;
use std::ffi::{c_char, c_int, c_uint, c_ulong, c_ulonglong, c_void};

pub const MARIA_PLUGIN_INTERFACE_VERSION: c_int = 0x010f;
pub const AUDIT_INTERFACE_VERSION: c_int = 0x0302;
pub const AUDIT_PLUGIN: c_int = 5;
pub const MATURITY_STABLE: c_uint = 5;

/// The declaration of a plugin (`st_maria_plugin`). A null name ends the list of them.
#[repr(C)]
pub struct Plugin {
    pub kind: c_int,
    pub info: *const c_void,
    pub name: *const c_char,
    pub author: *const c_char,
    pub description: *const c_char,
    pub license: c_int,
    pub init: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
    pub deinit: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
    pub version: c_uint,
    pub status_vars: *const ShowVar,
    pub system_vars: *const *const c_void,
    pub version_info: *const c_char,
    pub maturity: c_uint,
}

/// The part of the declaration that audit plugins have: the callback for events, and the classes of events that it receives, one bit each.
#[repr(C)]
pub struct Audit {
    pub interface_version: c_int,
    pub release_thd: Option<unsafe extern "C" fn(*mut Thd)>,
    pub event_notify: Option<unsafe extern "C" fn(*mut Thd, c_uint, *const c_void)>,
    pub class_mask: [c_ulong; 1],
}

/// A string of the server: not terminated, and null if there is none.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LexString {
    pub str: *const c_char,
    pub length: usize,
}

pub const GENERAL_CLASS: c_uint = 0;
pub const GENERAL_LOG: c_uint = 0;
pub const GENERAL_STATUS: c_uint = 3;

/// An event of a statement or a command: its start (`GENERAL_LOG`), its result, or its end (`GENERAL_STATUS`).
#[repr(C)]
pub struct EventGeneral {
    pub subclass: c_uint,
    pub error_code: c_int,
    pub thread_id: c_ulong,
    pub user: *const c_char,
    pub user_length: c_uint,
    pub command: *const c_char,
    pub command_length: c_uint,
    pub query: *const c_char,
    pub query_length: c_uint,
    pub charset: *const c_void,
    pub time: c_ulonglong,
    pub rows: c_ulonglong,
    pub query_id: c_ulonglong,
    pub database: LexString,
}

pub const CONNECTION_CLASS: c_uint = 1;
pub const CONNECTION_CONNECT: c_uint = 0;
pub const CONNECTION_CHANGE_USER: c_uint = 2;

/// An event of a login, a change of user or the end of a connection. `status` is 0 if it succeeded.
#[repr(C)]
pub struct EventConnection {
    pub subclass: c_uint,
    pub status: c_int,
    pub thread_id: c_ulong,
    pub user: *const c_char,
    pub user_length: c_uint,
    pub priv_user: *const c_char,
    pub priv_user_length: c_uint,
    pub external_user: *const c_char,
    pub external_user_length: c_uint,
    pub proxy_user: *const c_char,
    pub proxy_user_length: c_uint,
    pub host: *const c_char,
    pub host_length: c_uint,
    pub ip: *const c_char,
    pub ip_length: c_uint,
    pub database: LexString,
}

pub const TABLE_CLASS: c_uint = 15;
pub const TABLE_LOCK: c_uint = 0;
pub const TABLE_RENAME: c_uint = 3;

/// An event of a table: it is locked, created, altered, dropped or renamed.
#[repr(C)]
pub struct EventTable {
    pub subclass: c_uint,
    pub thread_id: c_ulong,
    pub user: *const c_char,
    pub priv_user: *const c_char,
    pub priv_host: *const c_char,
    pub external_user: *const c_char,
    pub proxy_user: *const c_char,
    pub host: *const c_char,
    pub ip: *const c_char,
    pub database: LexString,
    pub table: LexString,
    pub new_database: LexString,
    pub new_table: LexString,
    pub read_only: c_int,
    pub query_id: c_ulonglong,
}

/// The header of a growable array of the server, the type of `all_status_vars`.
#[repr(C)]
pub struct DynamicArray {
    pub buffer: *mut c_void,
    pub elements: usize,
    pub max_elements: usize,
    pub increment: usize,
    pub element_size: usize,
    /// Private to the server. A server in which the whole header has another size is refused.
    pub rest: [usize; 2],
}

/// The SQL service: functions of the server that connect a plugin to the server that it runs in, and run its queries.
#[repr(C)]
pub struct SqlService {
    pub init: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    pub connect_local: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    pub connect: unsafe extern "C" fn(),
    pub errno: unsafe extern "C" fn(*mut c_void) -> c_uint,
    pub error: unsafe extern "C" fn(*mut c_void) -> *const c_char,
    pub query: unsafe extern "C" fn(*mut c_void, *const c_char, c_ulong) -> c_int,
    pub affected_rows: unsafe extern "C" fn(*mut c_void) -> c_ulonglong,
    pub num_rows: unsafe extern "C" fn(*mut c_void) -> c_ulonglong,
    pub store_result: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    pub free_result: unsafe extern "C" fn(*mut c_void),
    pub fetch_row: unsafe extern "C" fn(*mut c_void) -> *const *const c_char,
    pub close: unsafe extern "C" fn(*mut c_void),
    pub options: unsafe extern "C" fn(),
    pub fetch_lengths: unsafe extern "C" fn(*mut c_void) -> *const c_ulong,
    pub set_character_set: unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int,
    pub num_fields: unsafe extern "C" fn(*mut c_void) -> c_uint,
}

pub const ME_ERROR_LOG_ONLY: c_ulong = 128;
pub const ME_NOTE: c_ulong = 1024;
pub const ME_WARNING: c_ulong = 2048;

const _: () = assert!(size_of::<Plugin>() == 104);
