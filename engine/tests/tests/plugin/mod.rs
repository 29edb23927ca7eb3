//! The path of the tested library, and numbers that choose how long to test it.

use fqc_tests::checkout;
use std::path::PathBuf;

/// The path of the tested library: `FQC_PLUGIN`, or else the one that the build leaves in `dist`. Panics if there is no such file.
pub fn path() -> PathBuf {
    let built = || checkout::file("dist/fqc.so");
    let path = std::env::var_os("FQC_PLUGIN").map_or_else(built, PathBuf::from);
    assert!(
        path.is_file(),
        "no plugin at {}: build the engine, or set FQC_PLUGIN to the path of fqc.so",
        path.display()
    );
    path
}

/// The whole number in this environment variable, or `default` if it is not set. Panics if it is no whole number.
#[allow(dead_code, reason = "not every test program has a size to choose")]
pub fn number(name: &str, default: u64) -> u64 {
    let Ok(value) = std::env::var(name) else { return default };
    value.parse().unwrap_or_else(|_| panic!("{name} must be a whole number, not `{value}`"))
}
