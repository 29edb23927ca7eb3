//! The flavours of a product's older releases: the newest one without the features that they lack, as `servers.tsv` says.

use crate::release::Release;
use crate::servers::{self, AddedFeature};
use crate::{Flavour, Functions, MARIADB, MYSQL, Statements};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The feature that `FLUSH STATUS` without a scope resets only the session's counters, by its name in `servers.tsv`.
const FLUSH_OF_SESSION: &str = "FLUSH STATUS of the session alone";

static OF_MARIADB: LazyLock<Lines> = LazyLock::new(|| Lines::of(&MARIADB));
static OF_MYSQL: LazyLock<Lines> = LazyLock::new(|| Lines::of(&MYSQL));

/// Returns the flavour of a server with this version string, always the same reference for the same release. A version that cannot be
/// parsed gets the flavour of the oldest release.
pub fn of(version: &str) -> &'static Flavour {
    let lines: &'static Lines = if servers::product(version) == MARIADB.product { &OF_MARIADB } else { &OF_MYSQL };
    lines.find(Release::of(version), servers::support(version).admits_nears)
}

/// True if servers with this version string have `statement`, a name from the rows of kind `statement` in `servers.tsv`. False for a
/// statement that has no row there.
pub fn has_statement(version: &str, statement: &str) -> bool {
    let release = Release::of(version);
    let mut found = servers::added_features(servers::product(version));
    found.any(|since| since.kind == "statement" && since.names == statement && since.release <= release)
}

/// The flavours of all releases of one product. They are created once, and never freed.
struct Lines {
    newest: &'static Flavour,
    /// The releases that added a feature, the newest first.
    releases: Vec<Release>,
    /// First index: how many of `releases` are newer than the server, so that it lacks their features. Second index: 1 if near caches are
    /// admitted.
    flavours: Vec<[Flavour; 2]>,
}

impl Lines {
    fn of(newest: &'static Flavour) -> Lines {
        let mut features: Vec<AddedFeature> = servers::added_features(newest.product).collect();
        features.sort_by_key(|feature| std::cmp::Reverse(feature.release));
        let mut releases: Vec<Release> = features.iter().map(|feature| feature.release).collect();
        releases.dedup();
        let older = releases.iter().map(|oldest| {
            let missing = features.iter().filter(|feature| feature.release >= *oldest).copied().collect::<Vec<_>>();
            without(newest, &missing)
        });
        let admitting = |flavour: Flavour| {
            [false, true].map(|admits_nears| Flavour {
                statements: Statements { admits_nears, ..flavour.statements },
                ..flavour
            })
        };
        let flavours = std::iter::once(*newest).chain(older).map(admitting).collect();
        Lines { newest, releases, flavours }
    }

    /// Returns the flavour of a release. `admits_nears`: exact near caches may attach to it. If the release has all features of the newest
    /// one, this is the product's own static value.
    fn find(&'static self, release: Release, admits_nears: bool) -> &'static Flavour {
        let missing = self.releases.iter().filter(|one| **one > release).count();
        let is_newest = missing == 0 && admits_nears == self.newest.statements.admits_nears;
        if is_newest { self.newest } else { &self.flavours[missing][usize::from(admits_nears)] }
    }
}

/// Returns the newest flavour without the features in `missing`.
fn without(newest: &Flavour, missing: &[AddedFeature]) -> Flavour {
    let of_kind = |kind: &'static str| missing.iter().filter(move |since| since.kind == kind).map(|since| since.names);
    let functions: BTreeSet<&str> = of_kind("function").flat_map(|names| names.split(' ')).collect();
    let flushes_status_of_all =
        newest.statements.flushes_status_of_all || of_kind("statement").any(|statement| statement == FLUSH_OF_SESSION);
    Flavour {
        statements: Statements { flushes_status_of_all, ..newest.statements },
        functions: Functions {
            syntax: newest.functions.syntax.without(&functions),
            deterministic: newest.functions.deterministic.without(&functions),
            deterministic_if_tight: newest.functions.deterministic_if_tight.without(&functions),
            ..newest.functions
        },
        ..*newest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_built_in(version: &str, function: &str) -> bool {
        let known = &of(version).functions;
        [known.syntax, known.deterministic, known.deterministic_if_tight]
            .iter()
            .any(|names| names.contains(function.as_bytes()))
    }

    #[test]
    fn a_function_is_deterministic_only_from_the_release_on_that_has_it() {
        for (function, before, from) in [
            ("to_vector", "8.4.6", "9.0.1"),
            ("json_value", "8.0.20", "8.0.21-12"),
            ("rank", "5.7.44-log", "8.0.36-28"),
            ("json_extract", "5.6.51", "5.7.22"),
            ("sformat", "10.6.21-MariaDB", "5.5.5-10.11.6-MariaDB-log"),
        ] {
            assert!(!is_built_in(before, function), "{function} in {before}");
            assert!(is_built_in(from, function), "{function} in {from}");
        }
        for version in ["5.6.51", "8.0.36", "9.7.4-2", "10.6.21-MariaDB", "12.3.1-MariaDB", "what"] {
            assert!(is_built_in(version, "concat") && is_built_in(version, "count"), "{version}");
        }
    }

    #[test]
    fn every_name_that_some_line_lacks_is_one_that_the_newest_has() {
        for newest in [&MARIADB, &MYSQL] {
            let known = &newest.functions;
            let lists = [known.syntax, known.deterministic, known.deterministic_if_tight];
            let functions = servers::added_features(newest.product).filter(|since| since.kind == "function");
            for name in functions.flat_map(|since| since.names.split(' ')) {
                assert!(lists.iter().any(|names| names.contains(name.as_bytes())), "{name}");
            }
        }
    }

    #[test]
    fn a_version_has_its_lines_flavour_and_an_unreadable_one_the_oldest() {
        for old in ["10.11.19-MariaDB", "11.4.5-MariaDB-1", "eleven-MariaDB"] {
            assert!(of(old).statements.flushes_status_of_all, "{old}");
        }
        for new in ["11.5.2-MariaDB", "11.8.9-MariaDB-0+deb13u1", "12.1.2-MariaDB"] {
            assert_eq!(of(new), &MARIADB, "{new}");
        }
        assert_eq!(of("9.7.4-2"), &MYSQL);
        // Leases are given only where that was tested.
        assert!(!of("9.8.0").statements.admits_nears && is_built_in("9.8.0", "from_vector"));
        assert_eq!(of("8.0.36"), of("8.0.45-36"));
        assert!(has_statement("8.4.3", "SHOW BINARY LOG STATUS") && !has_statement("8.0.36", "SHOW BINARY LOG STATUS"));
    }
}
