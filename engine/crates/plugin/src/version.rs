//! The release of the engine.

use std::ffi::CStr;

/// The release date as a number (`fqc_minor_version`): the day of the last change that users notice. The control plane compares it with the
/// lowest version that it accepts, and does not upgrade a server that has the same one.
pub const RELEASE_DATE: u64 = 20_261_130;
/// The version of the product (`fqc_version`), which is that of this crate.
pub const TEXT: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(text) => text,
    Err(_) => panic!("cargo's version of this crate has a null byte"),
};
