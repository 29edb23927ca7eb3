//! `engine/servers.tsv`: the features of each release series of the servers, and what is admitted on it.
//!
//! A version of a series that has no row counts as a server of the product's `other` series. A version that cannot be parsed counts as
//! older than every release, so that no function counts as built in that may not be.

use crate::release::Release;

const TABLE: &str = include_str!("../../../servers.tsv");

pub const MARIADB: &str = "MariaDB";
pub const MYSQL: &str = "MySQL";

/// Whether the plugin loads into a server: the column `plugin` of `servers.tsv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginSupport {
    /// The plugin loads. The test suites or long runs of testers were on servers of this series.
    Tested,
    /// The plugin loads with a warning in the error log.
    Warns,
    /// The plugin loads only if the administrator has allowed it (`fqc_allow_untested_server`).
    IfAllowed,
    /// The plugin does not load, whatever the administrator allows.
    Never,
}

/// The row of one release series in `servers.tsv`: whether the plugin, leases to near caches, and following the binary log are admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesSupport {
    /// Whether the plugin loads.
    pub plugin: PluginSupport,
    /// The plugin attaches near caches (`fqc-near`) and gives them leases, that is, the right to serve results for a short time.
    pub admits_nears: bool,
    /// `fqc-near` may follow the binary log of this series.
    pub has_followable_log: bool,
}

/// A feature of a product, and the release that added it: a row of kind `since` in `servers.tsv`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddedFeature {
    pub release: Release,
    /// The kind of the feature: `function`, `statement` or `symbol`.
    pub kind: &'static str,
    /// Names, separated by spaces.
    pub names: &'static str,
}

/// Returns the product of a server with this version string: MariaDB if it contains that word, otherwise MySQL.
pub fn product(version: &str) -> &'static str {
    if version.contains(MARIADB) { MARIADB } else { MYSQL }
}

/// Returns the row for a server with this version string: the one of the most specific series, or else the row `other` of its product. A
/// version without a number never has a followable log.
pub fn support(version: &str) -> SeriesSupport {
    support_in(TABLE, version)
}

/// Returns the release series of a product that the plugin is tested on, in ascending order.
pub fn tested(product: &str) -> Vec<&'static str> {
    let rows = rows(TABLE).filter_map(|columns| match columns[..] {
        ["line", of, series, "tested", ..] if of == product => Some(series),
        _ => None,
    });
    rows.collect()
}

/// Returns the name that the symbol `name` has in older servers. None if they have no other name for it.
pub fn older_symbol(name: &str) -> Option<&'static str> {
    rows(TABLE).find_map(|columns| match columns[..] {
        ["since", _, _, "symbol", newer, older] if newer == name => Some(older),
        _ => None,
    })
}

/// Returns the features of a product that its older releases lack, each with the release that added it.
pub(crate) fn added_features(product: &'static str) -> impl Iterator<Item = AddedFeature> {
    rows(TABLE).filter_map(move |columns| match columns[..] {
        ["since", of, release, kind, names, ..] if of == product => {
            Some(AddedFeature { release: Release::of(release), kind, names })
        }
        _ => None,
    })
}

fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

fn support_in(table: &'static str, version: &str) -> SeriesSupport {
    let product = product(version);
    let number = Release::number(version);
    let is_of = |series: &str| number.strip_prefix(series).is_some_and(|rest| rest.starts_with('.'));
    let lines = rows(table).filter_map(|columns| match columns[..] {
        ["line", of, series, plugin, exact, log, ..] if of == product => Some((series, read(plugin, exact, log))),
        _ => None,
    });
    let fitting = lines.filter(|(series, _)| *series == OTHER || is_of(series));
    let specific = |(series, _): &(&str, SeriesSupport)| if *series == OTHER { 0 } else { series.len() };
    let found = fitting.max_by_key(specific).expect("each product has a row for its other series").1;
    SeriesSupport { has_followable_log: found.has_followable_log && !number.is_empty(), ..found }
}

const OTHER: &str = "other";

fn read(plugin: &str, exact: &str, log: &str) -> SeriesSupport {
    let plugin = match plugin {
        "tested" => PluginSupport::Tested,
        "warns" => PluginSupport::Warns,
        "asked" => PluginSupport::IfAllowed,
        _ => PluginSupport::Never,
    };
    SeriesSupport { plugin, admits_nears: exact == "yes", has_followable_log: log == "yes" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn plugin(version: &str) -> PluginSupport {
        support(version).plugin
    }

    #[test]
    fn a_tested_line_is_known_by_the_start_of_its_versions() {
        for tested in [
            "10.11.19-MariaDB-0+deb12u1",
            "5.5.5-10.11.6-MariaDB-log",
            "11.4.5-MariaDB-1",
            "11.8.9-MariaDB-0+deb13u1 from Debian",
            "9.7.4-2",
        ] {
            assert_eq!(plugin(tested), PluginSupport::Tested, "{tested}");
        }
    }

    #[test]
    fn a_series_without_a_row_is_admitted_as_its_product_says() {
        for other in ["10.6.21-MariaDB", "11.80.1-MariaDB", "11.8-MariaDB", "12.3.1-MariaDB", "110.11.1-MariaDB"] {
            assert_eq!(plugin(other), PluginSupport::Warns, "{other}");
        }
        for other in ["8.0.36-28", "8.4.6", "9.70.1", "9.8.0", "10.0.1", ""] {
            assert_eq!(plugin(other), PluginSupport::IfAllowed, "{other}");
        }
        for other in ["5.7.44-log", "5.6.51", "5.5.62"] {
            assert_eq!(plugin(other), PluginSupport::Never, "{other}");
        }
    }

    #[test]
    fn a_line_that_the_table_lacks_is_no_tested_one() {
        const WITHOUT: &str = "line\tMySQL\t8.0\tasked\tno\tyes\nline\tMySQL\tother\tasked\tno\tyes";
        assert_eq!(support_in(WITHOUT, "9.7.4").plugin, PluginSupport::IfAllowed);
    }

    #[test]
    fn logs_of_mysql_are_followed_from_8_0_on_and_leases_are_mariadbs() {
        for (version, has_log, admits) in [
            ("10.6.21-MariaDB", true, true),
            ("12.3.1-MariaDB", true, true),
            ("5.7.44-log", false, false),
            ("what", false, false),
            ("8.0.36", true, false),
            ("8.4.3", true, false),
            ("9.7.4-2", true, false),
        ] {
            let line = support(version);
            assert_eq!((line.has_followable_log, line.admits_nears), (has_log, admits), "{version}");
        }
    }

    #[test]
    fn every_row_is_one_that_is_read() {
        let mut series = BTreeSet::new();
        for columns in rows(TABLE) {
            match columns[..] {
                ["line", product, name, plugin, exact, log, _, _, _, tests] => {
                    assert!(["tested", "warns", "asked", "never"].contains(&plugin), "{columns:?}");
                    assert!([exact, log].iter().all(|word| ["yes", "no"].contains(word)), "{columns:?}");
                    assert!(["all", "part", "none"].contains(&tests), "{columns:?}");
                    assert!(series.insert((product, name)), "twice: {columns:?}");
                }
                ["since", MARIADB | MYSQL, release, "function" | "statement", _]
                | ["since", MYSQL, release, "symbol", _, _] => {
                    assert!(Release::of(release) > Release::of(""), "{columns:?}");
                }
                _ => panic!("{columns:?}"),
            }
        }
        assert!([MARIADB, MYSQL].iter().all(|product| series.contains(&(*product, OTHER))));
    }
}
