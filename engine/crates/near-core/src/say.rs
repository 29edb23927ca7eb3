//! The program's log, on standard error.

use crate::one_line::one_line;
use std::fmt::Arguments;
use std::io::{Write, stderr};

/// Writes one line to the program's log; the arguments are those of `format!`. A line that cannot be written is lost: a full disk
/// behind standard error must not end anything else.
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(format_args!($($words)*)) };
}

/// Writes these words as one line to the log. They may contain text of other programs: line breaks become spaces and control
/// characters are removed, so such text can neither add lines nor control a terminal.
pub fn line(words: Arguments) {
    let _ = writeln!(stderr(), "{}", one_line(&words.to_string(), usize::MAX));
}
