//! Writes lines to the server's error log, each beginning with `FQC:`. They never contain a statement's text or a literal.

use crate::server::{self, Level};
use std::io::{Write, stderr};

pub fn note(text: &str) {
    write(Level::Note, text);
}

pub fn warning(text: &str) {
    write(Level::Warning, text);
}

pub fn error(text: &str) {
    write(Level::Error, text);
}

fn write(level: Level, text: &str) {
    match server::find() {
        Some(server) => server.print(level, text),
        None => {
            let _ = writeln!(stderr(), "[ERROR] FQC: {text}");
        }
    }
}
