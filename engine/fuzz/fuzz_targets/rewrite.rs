//! Fuzzes the rewriting of statements about the query cache: a rewritten text keeps its kind and has nothing left to rewrite.
#![no_main]

use flavour::MARIADB;
use libfuzzer_sys::fuzz_target;
use sql::{LexMode, classify, surface};

fuzz_target!(|text: &[u8]| {
    let mode = LexMode::new(&MARIADB);
    let Some(rewrite) = surface::rewrite(text, mode) else { return };
    assert!(!rewrite.renamed.is_empty());
    assert_eq!(surface::rewrite(&rewrite.text, mode), None);
    let kind = |text| std::mem::discriminant(&classify(text, mode).kind);
    assert_eq!(kind(text), kind(&rewrite.text));
});
