//! The program's log, on standard error.

use crate::one_line::one_line;
use std::fmt::Arguments;
use std::io::{Write, stderr};

/// Writes a line to the log. A line that cannot be written is lost: a full disk behind standard error must not end anything else.
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(format_args!($($words)*)) };
}

/// Writes these words as one line. They may contain text of other programs, which cannot add lines of their own or control a
/// terminal.
pub fn line(words: Arguments) {
    let _ = writeln!(stderr(), "{}", one_line(&words.to_string(), usize::MAX));
}
