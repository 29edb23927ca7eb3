//! The parts of the plugin ABI that MariaDB and MySQL have in common: system and status variables.
//!
//! Layouts follow the public header `mysql/plugin.h` of both. Only public structures are used: a `THD` stays opaque.

use std::ffi::{CStr, c_char, c_int, c_long, c_longlong, c_uint, c_ulong, c_ulonglong, c_void};

/// A session of the server. Opaque: the plugin only passes its address back to functions of the server.
#[repr(C)]
pub struct Thd(c_void);

pub const LICENSE_BSD: c_int = 2;

/// The declaration of one status variable. A row with a null name ends a list.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ShowVar {
    pub name: *const c_char,
    pub value: *const c_void,
    pub kind: c_int,
    /// Read by MySQL only; padding in MariaDB.
    pub scope: c_int,
}

pub const SHOW_UNDEF: c_int = 0;
pub const SHOW_ULONGLONG: c_int = 4;
/// The value is a pointer to a pointer to the text.
pub const SHOW_CHAR_PTR: c_int = 6;
pub const SHOW_GLOBAL: c_int = 1;

pub const VAR_BOOL: c_int = 0x0001;
pub const VAR_LONGLONG: c_int = 0x0004;
pub const VAR_STR: c_int = 0x0005;
pub const VAR_ENUM: c_int = 0x0006;
pub const VAR_UNSIGNED: c_int = 0x0080;
pub const VAR_THDLOCAL: c_int = 0x0100;
pub const VAR_READONLY: c_int = 0x0200;
pub const VAR_NOCMDOPT: c_int = 0x0800;

/// The value that a user gave to `SET`. It is read through the server's own conversion functions, and only while the check runs.
#[repr(C)]
pub struct GivenValue {
    pub value_type: unsafe extern "C" fn(*mut GivenValue) -> c_int,
    pub val_str: unsafe extern "C" fn(*mut GivenValue, *mut c_char, *mut c_int) -> *const c_char,
    pub val_real: unsafe extern "C" fn(*mut GivenValue, *mut f64) -> c_int,
    pub val_int: unsafe extern "C" fn(*mut GivenValue, *mut c_longlong) -> c_int,
    pub is_unsigned: unsafe extern "C" fn(*mut GivenValue) -> c_int,
}

pub const VALUE_TYPE_STRING: c_int = 0;
pub const VALUE_TYPE_INT: c_int = 2;

/// A function that checks a value before it is assigned. Arguments: the session, the variable's declaration, where to store the value to
/// assign, and the given value. It returns 0 to accept the value; otherwise it has raised an error.
pub type Check = unsafe extern "C" fn(*mut Thd, *mut c_void, *mut c_void, *mut GivenValue) -> c_int;
/// A function that assigns a checked value. Arguments: the session, the variable's declaration, the variable's own storage, and what the
/// check has stored.
pub type Update = unsafe extern "C" fn(*mut Thd, *mut c_void, *mut c_void, *const c_void);

/// The start of each system variable's declaration. The server checks the value itself if there is no `check`, and assigns it itself if
/// there is no `update`.
#[repr(C)]
pub struct VarHeader {
    pub flags: c_int,
    pub name: *const c_char,
    pub comment: *const c_char,
    pub check: Option<Check>,
    pub update: Option<Update>,
}

/// The declaration of a global variable that is an unsigned number. The server rounds its values down to multiples of `block`.
#[repr(C)]
pub struct GlobalNumber {
    pub header: VarHeader,
    pub value: *mut c_ulonglong,
    pub default: c_ulonglong,
    pub min: c_ulonglong,
    pub max: c_ulonglong,
    pub block: c_ulonglong,
}

/// The declaration of a global variable that is ON or OFF.
#[repr(C)]
pub struct GlobalBool {
    pub header: VarHeader,
    pub value: *mut c_char,
    pub default: c_char,
}

/// The declaration of a global variable that is a text.
#[repr(C)]
pub struct GlobalString {
    pub header: VarHeader,
    pub value: *mut *const c_char,
    pub default: *const c_char,
}

/// The declaration of a variable with one of some names as its value, global and for each session. `offset` and `resolve` are filled in by
/// the server.
#[repr(C)]
pub struct SessionEnum {
    pub header: VarHeader,
    pub offset: c_int,
    pub default: c_ulong,
    pub resolve: Option<unsafe extern "C" fn(*mut Thd, c_int) -> *mut c_ulong>,
    pub typelib: *const TypeLib,
}

/// The declaration of a variable that is ON or OFF, global and for each session. `offset` and `resolve` are filled in by the server.
#[repr(C)]
pub struct SessionBool {
    pub header: VarHeader,
    pub offset: c_int,
    pub default: c_char,
    pub resolve: Option<unsafe extern "C" fn(*mut Thd, c_int) -> *mut c_char>,
}

/// The names of the values of a `SessionEnum`.
#[repr(C)]
pub struct TypeLib {
    /// The number of names. MariaDB's field is 32 bits wide, so it reads the lower half.
    pub count: usize,
    pub name: *const c_char,
    pub names: *const *const c_char,
    pub lengths: *const c_uint,
}

/// A static variable whose address is in a declaration for the server, which reads or writes it.
#[repr(transparent)]
pub struct Shared<T>(pub std::cell::UnsafeCell<T>);

// SAFETY: the server serialises its own accesses (plugin lock, system-variable lock); this library accesses only values that fit into
// a machine word, see each use.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    pub const fn new(value: T) -> Self {
        Shared(std::cell::UnsafeCell::new(value))
    }
    pub const fn get(&self) -> *mut T {
        self.0.get()
    }
}

const _: () = assert!(size_of::<ShowVar>() == 24);
const _: () = assert!(size_of::<c_long>() == 8, "64-bit servers only");
const _: () = assert!(cfg!(target_endian = "little"), "the count of a `TypeLib` is read in two widths");

/// Returns the start of a declaration whose values the server checks and assigns itself.
pub const fn header(flags: c_int, name: &'static CStr, comment: &'static CStr) -> VarHeader {
    VarHeader { flags, name: name.as_ptr(), comment: comment.as_ptr(), check: None, update: None }
}
