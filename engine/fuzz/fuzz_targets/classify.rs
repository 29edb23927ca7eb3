//! Fuzzes the classification of statements: every text is classified in every mode, and a blank before it changes nothing.
#![no_main]

use flavour::{MARIADB, MYSQL};
use libfuzzer_sys::fuzz_target;
use sql::{Charset, LexMode, classify, mentions};

fuzz_target!(|input: (u8, &[u8])| {
    let (bits, text) = input;
    let mode = LexMode {
        ansi_quotes: bits & 1 != 0,
        no_backslash_escapes: bits & 2 != 0,
        ignore_space: bits & 4 != 0,
        charset: if bits & 8 != 0 { Charset::AsciiSuperset } else { Charset::Utf8 },
        ..LexMode::new(if bits & 16 != 0 { &MYSQL } else { &MARIADB })
    };
    let statement = classify(text, mode);
    let spaced = [b" /* x */\n".as_slice(), text].concat();
    assert_eq!(classify(&spaced, mode), statement);
    mentions(text, mode, |_| false);
});
