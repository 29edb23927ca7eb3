//! Lines in the server's error log, each beginning with `FQC:`. Never a statement's text or a literal.

use crate::mariadb::abi::{ME_ERROR_LOG_ONLY, ME_NOTE, ME_WARNING};
use flavour::MARIADB;
use std::ffi::{CString, c_uint, c_ulong};

pub fn note(text: &str) {
    write(ME_NOTE, text);
}

pub fn warning(text: &str) {
    write(ME_WARNING, text);
}

pub fn error(text: &str) {
    write(0, text);
}

fn write(level: c_ulong, text: &str) {
    let Ok(server) = crate::mariadb::symbols::find() else {
        eprintln!("[ERROR] FQC: {text}");
        return;
    };
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    // SAFETY: a printf-like function with one %s and one NUL-terminated argument.
    unsafe { (server.print)(MARIADB.errors.unknown, c"FQC: %s".as_ptr(), level | ME_ERROR_LOG_ONLY, text.as_ptr()) };
}

/// A warning or error of the statement that runs on this thread, with a number of the server's own.
pub fn raise(number: c_uint, is_warning: bool, text: &str) {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    let flags = if is_warning { ME_WARNING } else { 0 };
    // SAFETY: as above.
    unsafe { (crate::mariadb::symbols::get().print)(number, c"%s".as_ptr(), flags, text.as_ptr()) };
}
