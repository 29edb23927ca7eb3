//! What the server's process exports, by name.

use crate::faults;
use std::ffi::{CStr, c_void};

pub fn symbol(name: &CStr) -> Result<*mut c_void, String> {
    // SAFETY: `name` is NUL-terminated; dlsym only reads it.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    let is_hidden = || faults::wish("symbol").is_some_and(|wish| name.to_bytes() == wish.as_bytes());
    if found.is_null() || is_hidden() {
        Err(format!("this server does not export {}", name.to_string_lossy()))
    } else {
        Ok(found)
    }
}

/// An exported function.
///
/// # Safety
/// `F` is a function pointer type with the signature of the symbol.
pub unsafe fn function<F: Copy>(name: &CStr) -> Result<F, String> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: the caller's promise, and the same size.
    symbol(name).map(|found| unsafe { std::mem::transmute_copy::<*mut c_void, F>(&found) })
}
