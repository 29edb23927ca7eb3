//! The parts of MySQL's plugin ABI that this plugin uses.
//!
//! Layouts follow the public headers `mysql/plugin.h`, `mysql/plugin_audit.h`, `mysql/service_command.h` and
//! `mysql/com_data.h` (plugin interface 1.11, audit interface 4.1). Only public structures are used: a `THD` stays opaque.

pub use crate::declared::abi::*;
use std::ffi::{c_char, c_int, c_uint, c_ulong, c_ulonglong, c_void};

pub const PLUGIN_INTERFACE_VERSION: c_int = 0x010b;
pub const AUDIT_INTERFACE_VERSION: c_int = 0x0401;
pub const DAEMON_PLUGIN: c_int = 3;
pub const AUDIT_PLUGIN: c_int = 5;

type Function = unsafe extern "C" fn(*mut c_void) -> c_int;

/// The declaration of a plugin (`st_mysql_plugin`). A null name ends the list of them.
#[repr(C)]
pub struct Plugin {
    pub kind: c_int,
    pub info: *const c_void,
    pub name: *const c_char,
    pub author: *const c_char,
    pub description: *const c_char,
    pub license: c_int,
    pub init: Option<Function>,
    pub check_uninstall: Option<Function>,
    pub deinit: Option<Function>,
    pub version: c_uint,
    pub status_vars: *const ShowVar,
    pub system_vars: *const *const c_void,
    pub reserved: *const c_void,
    pub flags: c_ulong,
}

/// The number of classes of audit events.
pub const CLASSES: usize = 13;

/// The part of the declaration that audit plugins have: the callback for events, and for each class a mask of the events that it receives.
#[repr(C)]
pub struct Audit {
    pub interface_version: c_int,
    pub release_thd: Option<unsafe extern "C" fn(*mut Thd)>,
    pub event_notify: Option<unsafe extern "C" fn(*mut Thd, c_uint, *const c_void) -> c_int>,
    pub class_mask: [c_ulong; CLASSES],
}

/// A string of the server: not terminated, and null if there is none.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LexString {
    pub str: *const c_char,
    pub length: usize,
}

pub const GENERAL_CLASS: c_uint = 0;
pub const GENERAL_LOG: c_uint = 1 << 0;
pub const GENERAL_STATUS: c_uint = 1 << 3;

/// An event of a command: its start (`GENERAL_LOG`) or its end (`GENERAL_STATUS`).
#[repr(C)]
pub struct EventGeneral {
    pub subclass: c_uint,
    pub error_code: c_int,
    pub thread_id: c_ulong,
    pub user: LexString,
    pub command: LexString,
    pub query: LexString,
    pub charset: *const c_void,
    pub time: c_ulonglong,
    pub rows: c_ulonglong,
    pub host: LexString,
    pub sql_command: LexString,
    pub external_user: LexString,
    pub ip: LexString,
}

pub const CONNECTION_CLASS: c_uint = 1;
pub const CONNECTION_CONNECT: c_uint = 1 << 0;
pub const CONNECTION_DISCONNECT: c_uint = 1 << 1;
pub const CONNECTION_CHANGE_USER: c_uint = 1 << 2;

/// An event of a login, a change of user or the end of a connection. `status` is 0 if it succeeded.
#[repr(C)]
pub struct EventConnection {
    pub subclass: c_uint,
    pub status: c_int,
    pub thread_id: c_ulong,
    pub user: LexString,
    pub priv_user: LexString,
    pub external_user: LexString,
    pub proxy_user: LexString,
    pub host: LexString,
    pub ip: LexString,
    pub database: LexString,
    pub connection_type: c_int,
}

pub const QUERY_CLASS: c_uint = 9;
pub const QUERY_NESTED_START: c_uint = 1 << 1;

/// An event of a statement that runs inside of another one, such as in a stored routine.
#[repr(C)]
pub struct EventQuery {
    pub subclass: c_uint,
    pub status: c_int,
    pub thread_id: c_ulong,
    pub sql_command: c_int,
    pub query: LexString,
    pub charset: *const c_void,
}

pub const COM_QUERY: c_int = 3;
pub const TEXT: c_int = 1;

/// A command with the text of a query: this variant of the server's union of commands, with space for any other variant.
#[repr(C)]
pub struct QueryCommand {
    pub query: *const c_char,
    pub length: c_uint,
    pub parameters: *const c_void,
    pub parameter_count: c_ulong,
    pub room: [u64; 8],
}

/// The callbacks that receive a result when a plugin runs a statement in the server's own process. The first argument of each is what the
/// caller has passed for them.
#[repr(C)]
pub struct Callbacks {
    pub start_result_metadata: unsafe extern "C" fn(*mut c_void, c_uint, c_uint, *const c_void) -> c_int,
    pub field_metadata: unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void) -> c_int,
    pub end_result_metadata: unsafe extern "C" fn(*mut c_void, c_uint, c_uint) -> c_int,
    pub start_row: unsafe extern "C" fn(*mut c_void) -> c_int,
    pub end_row: unsafe extern "C" fn(*mut c_void) -> c_int,
    pub abort_row: unsafe extern "C" fn(*mut c_void),
    pub get_client_capabilities: unsafe extern "C" fn(*mut c_void) -> c_ulong,
    pub get_null: unsafe extern "C" fn(*mut c_void) -> c_int,
    pub get_integer: unsafe extern "C" fn(*mut c_void, i64) -> c_int,
    pub get_longlong: unsafe extern "C" fn(*mut c_void, i64, c_uint) -> c_int,
    pub get_decimal: unsafe extern "C" fn(*mut c_void, *const c_void) -> c_int,
    pub get_double: unsafe extern "C" fn(*mut c_void, f64, u32) -> c_int,
    pub get_date: unsafe extern "C" fn(*mut c_void, *const c_void) -> c_int,
    pub get_time: unsafe extern "C" fn(*mut c_void, *const c_void, c_uint) -> c_int,
    pub get_datetime: unsafe extern "C" fn(*mut c_void, *const c_void, c_uint) -> c_int,
    pub get_string: unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_void) -> c_int,
    pub handle_ok: unsafe extern "C" fn(*mut c_void, c_uint, c_uint, c_ulonglong, c_ulonglong, *const c_char),
    pub handle_error: unsafe extern "C" fn(*mut c_void, c_uint, *const c_char, *const c_char),
    pub shutdown: unsafe extern "C" fn(*mut c_void, c_int),
    pub connection_alive: unsafe extern "C" fn(*mut c_void) -> bool,
}

const _: () = assert!(size_of::<Plugin>() == 112);
const _: () = assert!(size_of::<Audit>() == 24 + 8 * CLASSES);
const _: () = assert!(size_of::<EventGeneral>() == 16 + 3 * 16 + 24 + 4 * 16);
