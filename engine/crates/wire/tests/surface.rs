//! Results that are translated, changed or built.

mod support;

use support::{response, responses};
use wire::lenenc::Reader;
use wire::surface::{rename_columns, replace_values, text_result};
use wire::{Expect, OutcomeKind, Progress, ResponseTracker, capability, packets, push_packet, status};

const MODES: [&str; 6] =
    ["eof", "deprecate_eof", "track", "extended", "cached_metadata", "cached_metadata_deprecate_eof"];

fn assert_is_result(bytes: &[u8], capabilities: u64, rows: u64, columns: u64) {
    let progress = ResponseTracker::new(Expect::Query, capabilities).feed(bytes);
    let Progress::Done(outcome) = progress else { panic!("{progress:?}") };
    assert_eq!(outcome.kind, OutcomeKind::ResultSet { rows, columns });
}

/// Returns the name in the definition of a column of a result; columns are counted from 1.
fn column_name(bytes: &[u8], column: usize) -> String {
    let packet = packets(bytes).nth(column).expect("a definition");
    let mut reader = Reader::new(packet.payload);
    let name = (0..5).map_while(|_| reader.string()).last().expect("five strings");
    String::from_utf8(name.to_vec()).expect("UTF-8")
}

fn has(bytes: &[u8], wanted: &str) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted.as_bytes())
}

#[test]
fn columns_get_the_names_that_the_user_wrote() {
    for mode in MODES {
        let captured = response(&format!("{mode}.variable"));
        let names: [(&[u8], &[u8]); 1] = [(b"query_cache_size", b"a_longer_name_of_query_cache_size")];
        let renamed = rename_columns(&captured.bytes(), captured.capabilities, &names).expect("a result");
        assert_is_result(&renamed, captured.capabilities, 1, 2);
        assert_eq!(column_name(&renamed, 1), "@@a_longer_name_of_query_cache_size");
        assert_eq!(column_name(&renamed, 2), "@@GLOBAL.a_longer_name_of_query_cache_size / 1024");
        let back: [(&[u8], &[u8]); 1] = [(names[0].1, names[0].0)];
        assert_eq!(rename_columns(&renamed, captured.capabilities, &back), Some(captured.bytes()), "{mode}");
    }
}

#[test]
fn columns_of_a_prepared_statement_get_their_names_too() {
    let mut bytes = Vec::new();
    let mut sequence = 1;
    let definition = |name: &str| {
        let result = text_result(&[name], &[], 0, 2);
        packets(&result).nth(1).expect("a definition").payload.to_vec()
    };
    let eof = vec![0xFE, 0, 0, 2, 0];
    let first = vec![0, 9, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0];
    for payload in [first, definition("?"), eof.clone(), definition("@@fqc_size"), eof] {
        push_packet(&mut bytes, &mut sequence, &payload);
    }
    let renamed = rename_columns(&bytes, 0, &[(b"fqc_size", b"query_cache_size")]).expect("a prepared statement");
    assert_eq!((column_name(&renamed, 1), column_name(&renamed, 3)), ("?".into(), "@@query_cache_size".into()));
    assert!(matches!(ResponseTracker::new(Expect::Prepare, 0).feed(&renamed), Progress::Done(_)));
    for mode in MODES {
        let captured = response(&format!("{mode}.prepare"));
        assert_eq!(rename_columns(&captured.bytes(), captured.capabilities, &[]), Some(captured.bytes()), "{mode}");
    }
}

#[test]
fn a_prepared_statement_has_no_values_to_replace() {
    // Found by fuzzing.
    for mode in MODES {
        let captured = response(&format!("{mode}.prepare"));
        assert_eq!(replace_values(&captured.bytes(), captured.capabilities, &[("a", "b")]), None, "{mode}");
    }
}

#[test]
fn only_whole_names_of_variables_are_renamed() {
    let names: [(&[u8], &[u8]); 1] = [(b"fqc_size", b"query_cache_size")];
    for (before, after) in [
        ("@@fqc_size", "@@query_cache_size"),
        ("@@global.FQC_SIZE + @@fqc_size", "@@global.query_cache_size + @@query_cache_size"),
        ("fqc_size", "fqc_size"),
        ("@@fqc_size_x", "@@fqc_size_x"),
        ("@@x_fqc_size", "@@x_fqc_size"),
        ("", ""),
    ] {
        let result = text_result(&[before], &[], 0, 2);
        let renamed = rename_columns(&result, 0, &names).expect("a result");
        assert_eq!(column_name(&renamed, 1), after);
    }
}

#[test]
fn values_are_replaced_by_name() {
    for mode in MODES {
        let captured = response(&format!("{mode}.variables"));
        let values = [("query_cache_size", "123456789012345678901234567890"), ("QUERY_CACHE_TYPE", "REPLACED")];
        let replaced = replace_values(&captured.bytes(), captured.capabilities, &values).expect("a result");
        assert_is_result(&replaced, captured.capabilities, 6, 2);
        assert!(has(&replaced, "\x10query_cache_size\x1e123456789012345678901234567890"), "{mode}");
        assert!(has(&replaced, "\x10query_cache_type\x08REPLACED"), "{mode}");
        let untouched = replace_values(&captured.bytes(), captured.capabilities, &[("x", "y")]);
        assert_eq!(untouched, Some(captured.bytes()), "{mode}");
    }
}

#[test]
fn what_is_no_single_result_is_left_alone() {
    for captured in responses() {
        let name = captured.name.split('.').next_back().expect("a name");
        if ["ok", "error", "several", "procedure", "error_in_rows", "local_infile", "prepare_fails"].contains(&name) {
            assert_eq!(rename_columns(&captured.bytes(), captured.capabilities, &[]), None, "{}", captured.name);
            assert_eq!(replace_values(&captured.bytes(), captured.capabilities, &[]), None, "{}", captured.name);
        }
    }
}

#[test]
fn built_results_are_results_under_every_capability() {
    let rows = [vec![Some("a".to_owned()), None], vec![Some("é".repeat(300)), Some(String::new())]];
    for bits in 0..8 {
        let bit = |index: u32, capability| if bits >> index & 1 == 1 { capability } else { 0 };
        let capabilities = bit(0, capability::DEPRECATE_EOF)
            | bit(1, capability::MARIADB_EXTENDED_METADATA)
            | bit(2, capability::MARIADB_CACHE_METADATA);
        let result = text_result(&["x", "y"], &rows, capabilities, status::AUTOCOMMIT);
        assert_is_result(&result, capabilities, 2, 2);
        assert_is_result(&text_result(&["x"], &[], capabilities, 0), capabilities, 0, 1);
    }
}

#[test]
fn a_built_result_equals_the_servers() {
    // Definitions are not compared, because the server's width and flags say more about the expression.
    for mode in MODES {
        let captured = response(&format!("{mode}.empty_string"));
        let built = text_result(&[""], &[vec![Some(String::new())]], captured.capabilities, status::AUTOCOMMIT);
        let bytes = captured.bytes();
        let payloads = |bytes| {
            packets(bytes)
                .enumerate()
                .filter(|(index, _)| *index != 1)
                .map(|(_, packet)| packet.payload)
                .collect::<Vec<&[u8]>>()
        };
        assert_eq!(payloads(&built), payloads(&bytes), "{mode}");
        let length = |bytes| packets(bytes).nth(1).map(|packet| packet.payload.len());
        assert_eq!(length(&built), length(&bytes), "{mode}");
    }
}
