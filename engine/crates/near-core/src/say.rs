//! The program's log, on standard error.

use crate::one_line::one_line;
use std::fmt::Arguments;
use std::io::{Write, stderr};

/// Writes a line of the log. A line that cannot be written is lost: a full disk behind standard error ends nothing else.
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(format_args!($($words)*)) };
}

/// What other programs say may be among the words: a server cannot write a line of its own, or control a terminal.
pub fn line(words: Arguments) {
    let _ = writeln!(stderr(), "{}", one_line(&words.to_string(), usize::MAX));
}
