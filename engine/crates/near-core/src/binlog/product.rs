//! The differences between the products whose logs can be followed.

use flavour::{Flavour, servers};

/// The properties of a server whose log can be followed, which depend on product and version.
#[derive(Clone, Copy)]
pub struct BinlogProduct {
    pub flavour: &'static Flavour,
    /// True if transactions have GTIDs, and the server reports which ones are visible. Otherwise exactly the changes before the
    /// end of its log are visible.
    pub has_gtids: bool,
    /// The statement that returns the file and position of the log's end, and the databases to which the log is limited or which
    /// it ignores.
    pub status: &'static str,
    /// A statement that fails if the account lacks a privilege that the catalogue queries need. None if they need none.
    pub probe: Option<&'static str>,
    /// The variables that must have certain values for the log to contain every change.
    pub settings: &'static [RequiredSetting],
    /// The privileges that the account needs, as in GRANT.
    pub privileges: &'static str,
}

/// A variable of the server that decides whether its log can be followed.
pub struct RequiredSetting {
    /// The names of the variable in different versions; the first that the server has counts.
    pub names: &'static [&'static str],
    /// The values with which the log contains every change. An empty string also stands for a missing variable.
    pub required: &'static [&'static str],
    /// The message for any other value: what is wrong, and how to fix it.
    pub advice: &'static str,
}

const ON: &[&str] = &["ON", "1"];

const HAS_LOG: RequiredSetting = RequiredSetting {
    names: &["log_bin"],
    required: ON,
    advice: "the server has no binary log; add `log_bin` to its configuration, and restart it",
};
const IS_OF_ROWS: RequiredSetting = RequiredSetting {
    names: &["binlog_format"],
    required: &["ROW"],
    advice: "the server logs statements; run SET GLOBAL binlog_format = 'ROW', add `binlog_format = ROW` to its configuration, and \
        let clients reconnect",
};
const IS_OF_NO_CLUSTER: RequiredSetting = RequiredSetting {
    names: &["wsrep_on"],
    required: &["", "OFF", "0"],
    advice: "the server is a node of a Galera cluster; use rules here",
};
const HAS_NO_CACHE: RequiredSetting = RequiredSetting {
    names: &["query_cache_type"],
    required: &["", "OFF"],
    advice: "the server has a cache of its own, which may lag behind its log; run SET GLOBAL query_cache_type = OFF, remove \
        `query_cache_type` from its configuration, and let clients reconnect",
};

const MARIADB: BinlogProduct = BinlogProduct {
    flavour: &flavour::MARIADB,
    has_gtids: false,
    status: "SHOW MASTER STATUS",
    // Foreign keys that change other rows are only visible to accounts with PROCESS.
    probe: Some("SELECT 1 FROM information_schema.INNODB_SYS_FOREIGN LIMIT 1"),
    settings: &[
        IS_OF_NO_CLUSTER,
        HAS_LOG,
        IS_OF_ROWS,
        RequiredSetting {
            names: &["log_slave_updates"],
            required: ON,
            advice: "the server would not log what it replicates; add `log_slave_updates = ON` to its configuration, and restart it",
        },
        RequiredSetting {
            names: &["binlog_optimize_thread_scheduling"],
            required: ON,
            advice: "the server's log does not tell when a transaction can be seen; remove `binlog_optimize_thread_scheduling` \
                from its configuration, and restart it",
        },
        HAS_NO_CACHE,
    ],
    privileges: "REPLICATION SLAVE, BINLOG MONITOR, PROCESS",
};

const MYSQL: BinlogProduct = BinlogProduct {
    flavour: &flavour::MYSQL,
    has_gtids: true,
    status: "SHOW BINARY LOG STATUS",
    probe: None,
    settings: &[
        IS_OF_NO_CLUSTER,
        HAS_LOG,
        IS_OF_ROWS,
        RequiredSetting {
            names: &["log_replica_updates", "log_slave_updates"],
            required: ON,
            advice: "the server would not log what it replicates; remove `log_replica_updates` from its configuration, and restart it",
        },
        RequiredSetting {
            names: &["gtid_mode"],
            required: &["ON"],
            advice: "the server's log does not tell when a transaction can be seen; add `gtid_mode = ON` and \
                `enforce_gtid_consistency = ON` to its configuration, and restart it",
        },
        RequiredSetting {
            names: &["enforce_gtid_consistency"],
            required: ON,
            advice: "one transaction may have several numbers; run SET GLOBAL enforce_gtid_consistency = ON, and add \
                `enforce_gtid_consistency = ON` to the server's configuration",
        },
        HAS_NO_CACHE,
    ],
    privileges: "REPLICATION SLAVE, REPLICATION CLIENT",
};

/// The statement that returns the log position on MySQL servers that do not have the newer statement in [`MYSQL`] yet.
const OLDER_STATUS: &str = "SHOW MASTER STATUS";

/// Returns the query for the number of tables that the session has created, also by routines; some may be temporary tables. None for
/// products where another query of this program returns that number already.
pub fn created_tables_query(flavour: &'static Flavour) -> Option<&'static str> {
    (flavour.product == servers::MYSQL).then_some("SHOW SESSION STATUS LIKE 'Com_create_table'")
}

impl BinlogProduct {
    /// Returns the properties for a server of this version, as in its greeting. None if `fqc-near` may not follow its log.
    pub fn of(version: &str) -> Option<BinlogProduct> {
        if !servers::support(version).has_followable_log {
            return None;
        }
        let flavour = flavour::of(version);
        let product = if flavour.product == servers::MARIADB { MARIADB } else { MYSQL };
        let has_statement = product.status == OLDER_STATUS || flavour::has_statement(version, product.status);
        Some(BinlogProduct { flavour, status: if has_statement { product.status } else { OLDER_STATUS }, ..product })
    }

    /// Returns what is wrong with the first unfit variable and how to fix it; none if all have fit values. `value` returns the
    /// server's value of a variable, or none if the server does not have it.
    pub fn first_problem<'a>(&self, value: impl Fn(&str) -> Option<&'a str>) -> Option<&'static str> {
        let is_fit = |setting: &RequiredSetting| {
            let found = setting.names.iter().find_map(|name| value(name)).unwrap_or_default();
            setting.required.iter().any(|required| required.eq_ignore_ascii_case(found))
        };
        self.settings.iter().find(|setting| !is_fit(setting)).map(|setting| setting.advice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what [`BinlogProduct::first_problem`] says if the variables have the values in `good`, and the variable `name` has the value
    /// `other`.
    fn first_problem(
        product: &BinlogProduct,
        good: &[(&str, &'static str)],
        name: &str,
        other: &'static str,
    ) -> Option<&'static str> {
        product.first_problem(|asked| {
            let (of, value) = good.iter().find(|(of, _)| *of == asked)?;
            Some(if *of == name { other } else { *value })
        })
    }

    #[test]
    fn what_is_missing_is_told_with_what_mends_it() {
        let common =
            [("log_bin", "ON"), ("binlog_format", "ROW"), ("log_slave_updates", "ON"), ("query_cache_type", "OFF")];
        let mariadb = [&common[..], &[("binlog_optimize_thread_scheduling", "ON"), ("wsrep_on", "OFF")]].concat();
        let mysql = [&common[..], &[("gtid_mode", "ON"), ("enforce_gtid_consistency", "ON")]].concat();
        for (product, good) in [(&MARIADB, &mariadb), (&MYSQL, &mysql)] {
            assert_eq!(first_problem(product, good, "", ""), None);
            for (name, value, advice) in [
                ("log_bin", "OFF", "add `log_bin`"),
                ("binlog_format", "MIXED", "SET GLOBAL binlog_format = 'ROW'"),
                ("log_slave_updates", "OFF", "log what it replicates"),
                ("query_cache_type", "DEMAND", "SET GLOBAL query_cache_type = OFF"),
            ] {
                assert!(
                    first_problem(product, good, name, value).is_some_and(|problem| problem.contains(advice)),
                    "{name}"
                );
            }
        }
        assert!(first_problem(&MARIADB, &mariadb, "wsrep_on", "ON").is_some_and(|problem| problem.contains("Galera")));
        let scheduling = first_problem(&MARIADB, &mariadb, "binlog_optimize_thread_scheduling", "OFF");
        assert!(scheduling.is_some_and(|problem| problem.contains("remove `binlog_optimize_thread_scheduling`")));
        for mode in ["OFF", "ON_PERMISSIVE"] {
            assert!(
                first_problem(&MYSQL, &mysql, "gtid_mode", mode)
                    .is_some_and(|problem| problem.contains("`gtid_mode = ON`"))
            );
        }
        let consistency = first_problem(&MYSQL, &mysql, "enforce_gtid_consistency", "WARN");
        assert!(consistency.is_some_and(|problem| problem.contains("SET GLOBAL enforce_gtid_consistency")));
    }

    #[test]
    fn an_older_server_has_only_the_functions_of_its_line() {
        let is_built_in = |version, function: &str| {
            BinlogProduct::of(version)
                .is_some_and(|product| product.flavour.functions.deterministic.contains(function.as_bytes()))
        };
        assert!(!is_built_in("8.0.36", "to_vector") && is_built_in("9.7.4-2", "to_vector"));
        assert!(!is_built_in("10.6.21-MariaDB", "sformat") && is_built_in("10.11.6-MariaDB", "sformat"));
    }

    #[test]
    fn a_version_tells_the_product_and_how_it_is_asked() {
        let status = |version| BinlogProduct::of(version).map(|product| (product.flavour.product, product.status));
        assert_eq!(status("10.11.6-MariaDB-log"), Some(("MariaDB", "SHOW MASTER STATUS")));
        assert_eq!(status("8.0.36"), Some(("MySQL", "SHOW MASTER STATUS")));
        assert_eq!(status("8.4.3"), Some(("MySQL", "SHOW BINARY LOG STATUS")));
        assert_eq!(status("9.7.4-2"), Some(("MySQL", "SHOW BINARY LOG STATUS")));
        assert_eq!((status("5.7.44-log"), status("what")), (None, None));
    }
}
