use super::names::{REFUSED, SAFE, SYNTAX, TIGHT};

fn is_sorted_lower(names: &[&str]) -> bool {
    names.is_sorted() && names.iter().all(|name| name.bytes().all(|byte| !byte.is_ascii_uppercase()))
}

#[test]
fn tables_can_be_searched() {
    let refused: Vec<&str> = REFUSED.iter().map(|(name, _)| *name).collect();
    for table in [SYNTAX, SAFE, TIGHT, &refused] {
        assert!(is_sorted_lower(table), "{table:?}");
    }
}

#[test]
fn no_name_is_in_two_tables() {
    let refused = REFUSED.iter().map(|(name, _)| name);
    let mut all: Vec<&str> = SYNTAX.iter().chain(SAFE).chain(TIGHT).chain(refused).copied().collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
}
