//! Paths in the checkout that a test program tests.
//!
//! The folder is looked up when the program runs. A path that is compiled into a program stays that of the checkout which compiled it, and
//! a new checkout starts from the programs of an older one.

use std::env;
use std::path::{Path, PathBuf};

/// The absolute path of a file that is named by its path below the folder `engine`. The file need not exist. Panics if the folder is found
/// neither above the package that cargo runs nor above this program.
pub fn file(path: &str) -> PathBuf {
    let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let starts = package.into_iter().chain(env::current_exe());
    let engine = |start: PathBuf| start.ancestors().find(|each| each.join("Cargo.lock").is_file()).map(Path::to_owned);
    starts.into_iter().find_map(engine).expect("a program that cargo runs, or below the folder `engine`").join(path)
}

/// The path that [`file`] returns, as text for a command's argument. Panics if it is not UTF-8.
pub fn name(path: &str) -> String {
    file(path).into_os_string().into_string().expect("a path in UTF-8")
}

/// The path of another program of this crate that cargo built with the same profile as this one. It may not have been built.
pub fn program(name: &str) -> PathBuf {
    let tests = env::current_exe().expect("the path of this program");
    tests.parent().and_then(Path::parent).expect("cargo's folder of programs").join(name)
}
