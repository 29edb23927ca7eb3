//! The program's log, on standard error.

use std::fmt::Arguments;
use std::io::{Write, stderr};

/// Writes a line of the log. A line that cannot be written is lost: a full disk behind standard error ends nothing else.
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(format_args!($($words)*)) };
}

pub fn line(words: Arguments) {
    let _ = writeln!(stderr(), "{words}");
}
