//! The checkout that a test program tests.
//!
//! The path is looked up when the program runs. A path that is compiled into a program stays that of the checkout which
//! compiled it, and a new checkout starts from the programs of an older one.

use std::env;
use std::path::{Path, PathBuf};

/// A file by its path below the folder `engine`, which lies above the package that cargo runs, or above the program.
pub fn file(path: &str) -> PathBuf {
    let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let starts = package.into_iter().chain(env::current_exe());
    let engine = |start: PathBuf| start.ancestors().find(|each| each.join("Cargo.lock").is_file()).map(Path::to_owned);
    starts.into_iter().find_map(engine).expect("a program that cargo runs, or below the folder `engine`").join(path)
}

/// The same as text, for a command's argument.
pub fn name(path: &str) -> String {
    file(path).into_os_string().into_string().expect("a path in UTF-8")
}

/// A program that cargo built together with this one.
pub fn program(name: &str) -> PathBuf {
    let tests = env::current_exe().expect("the path of this program");
    tests.parent().and_then(Path::parent).expect("cargo's folder of programs").join(name)
}
