//! Looks up symbols that the server's process exports.

use crate::faults;
use flavour::servers;
use std::ffi::{CStr, CString, c_char, c_int, c_void};

/// Returns the address of a function or variable that the server's process exports, by its current name or the one that it had in older
/// servers. The error says that there is none.
pub fn symbol(name: &CStr) -> Result<*mut c_void, String> {
    let older = || CString::new(servers::older_symbol(name.to_str().ok()?)?).ok();
    let found = find(name).or_else(|| find(&older()?));
    found.ok_or_else(|| format!("this server does not export {}", name.to_string_lossy()))
}

/// Returns the address of a symbol by exactly this name. None if it is not exported, or if a test hides it (`FQC_FAULT`).
fn find(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: `name` is NUL-terminated; dlsym only reads it.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    let is_hidden = || faults::argument("symbol").is_some_and(|wish| name.to_bytes() == wish.as_bytes());
    (!found.is_null() && !is_hidden()).then_some(found)
}

/// Returns the address of a variable that the server exports. An error if it exports none, or if the variable's size is not that of `T`: a
/// server whose variable has grown or shrunk is refused.
pub fn variable<T>(name: &CStr) -> Result<*const T, String> {
    let found = symbol(name)?;
    match size(found) {
        Some(bytes) if bytes == size_of::<T>() => Ok(found.cast_const().cast()),
        _ => Err(format!("{} has another size in this server than {} bytes", name.to_string_lossy(), size_of::<T>())),
    }
}

#[repr(C)]
struct DlInfo {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

unsafe extern "C" {
    fn dladdr1(address: *const c_void, info: *mut DlInfo, extra: *mut *mut c_void, flags: c_int) -> c_int;
}
const RTLD_DL_SYMENT: c_int = 1;

/// Returns the size in bytes of the exported function or variable that starts at this address; none if no symbol starts there.
pub fn size(start: *mut c_void) -> Option<usize> {
    let mut info = DlInfo {
        file: std::ptr::null(),
        base: std::ptr::null_mut(),
        symbol: std::ptr::null(),
        address: std::ptr::null_mut(),
    };
    let mut entry = std::ptr::null_mut();
    // SAFETY: `info` and `entry` have space for what the loader writes; on success `entry` is the symbol's entry in its table.
    unsafe {
        let found = dladdr1(start, &mut info, &mut entry, RTLD_DL_SYMENT) != 0 && !entry.is_null();
        (found && info.address == start).then(|| (*entry.cast::<libc::Elf64_Sym>()).st_size as usize)
    }
}

/// Returns the version string of the server that this library is loaded into, even if that server lacks what the engine needs. An error if
/// it exports no version. A test may replace the version (`FQC_FAULT`).
pub fn server_version() -> Result<String, String> {
    if let Some(wished) = faults::argument("version") {
        return Ok(wished);
    }
    real_server_version()
}

/// Returns the version string of the server that this library is loaded into, even if a test has set another one with
/// the fault `version:`. An error if the server exports no version.
pub fn real_server_version() -> Result<String, String> {
    // SAFETY: `server_version` is a NUL-terminated array that is written once, before plugins load.
    symbol(c"server_version").map(|text| unsafe { CStr::from_ptr(text.cast()) }.to_string_lossy().into_owned())
}

/// Returns a function that the server exports. The error says that it exports none by this name.
///
/// # Safety
/// `F` is a function pointer type with the signature of the symbol.
pub unsafe fn function<F: Copy>(name: &CStr) -> Result<F, String> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: the caller guarantees the signature, and the sizes are equal.
    symbol(name).map(|found| unsafe { std::mem::transmute_copy::<*mut c_void, F>(&found) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU8, AtomicU64};

    #[test]
    fn a_variable_of_another_size_is_none() {
        // A variable of the C library; it is a pointer.
        assert!(variable::<AtomicU64>(c"environ").is_ok());
        let refused = variable::<AtomicU8>(c"environ").unwrap_err();
        assert_eq!(refused, "environ has another size in this server than 1 bytes");
        assert_eq!(variable::<AtomicU8>(c"no_such_thing"), Err("this server does not export no_such_thing".into()));
    }
}
