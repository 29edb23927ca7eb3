//! Writes messages to MariaDB's error log, and to the client whose statement runs on this thread.

use crate::mariadb::abi::ME_WARNING;
use crate::mariadb::symbols::Symbols;
use flavour::MARIADB;
use std::ffi::{CString, c_uint, c_ulong};

/// Writes a line to the error log, after the prefix `FQC: `. `level` is a set of the server's flags `ME_...`.
pub fn print(symbols: &Symbols, level: c_ulong, text: &str) {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    // SAFETY: a printf-like function with one %s and one NUL-terminated argument.
    unsafe { (symbols.print)(MARIADB.errors.unknown, c"FQC: %s".as_ptr(), level, text.as_ptr()) };
}

/// Raises a warning or an error for the statement on this thread. `number` is one of the server's own error numbers.
pub fn raise(symbols: &Symbols, number: c_uint, is_warning: bool, text: &str) {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    let flags = if is_warning { ME_WARNING } else { 0 };
    // SAFETY: as above.
    unsafe { (symbols.print)(number, c"%s".as_ptr(), flags, text.as_ptr()) };
}
