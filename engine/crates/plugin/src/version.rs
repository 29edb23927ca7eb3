//! Which release of the engine this is.

use std::ffi::CStr;

/// The release date; the control plane compares it with the least version that it accepts.
pub const MINOR: u64 = 20_261_120;
pub const TEXT: &CStr = c"0.1.0";
