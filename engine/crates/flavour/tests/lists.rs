//! Tests that no function is in two lists.

use flavour::{Flavour, MARIADB, MYSQL};

fn functions(flavour: &Flavour) -> Vec<&'static str> {
    let known = &flavour.functions;
    let plain = [known.syntax, known.deterministic, known.deterministic_if_tight, known.deterministic_with_argument];
    let refused = known.refused.as_slice().iter().map(|(_, names)| *names);
    plain.into_iter().chain(refused).flat_map(|names| names.as_slice()).copied().collect()
}

#[test]
fn no_function_is_in_two_lists() {
    for flavour in [&MARIADB, &MYSQL] {
        let mut all = functions(flavour);
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count, "{flavour:?}");
    }
}
