//! Which release of the engine this is.

use std::ffi::CStr;

/// The release date: the day of the last change that users notice. The control plane compares it with the least version that it
/// accepts, and upgrades no server that has the same.
pub const MINOR: u64 = 20_261_126;
pub const TEXT: &CStr = c"0.1.0";
