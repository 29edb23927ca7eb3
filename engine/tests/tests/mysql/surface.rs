//! Statements and variables of the query cache that MySQL does not know, or has removed, work with the engine as they do on MariaDB.

use crate::shared::enter;
use crate::traps::{all, rows_text, small_table, until};
use fqc_tests::client::{Client, Login};

const READ: &str = "SELECT SUM(v) FROM t";

#[test]
fn what_mysql_has_dropped_of_its_query_cache_is_understood() {
    let mut arena = enter("dropped");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    let mut reader = arena.client();
    arena.check_never_hit(&mut reader, "SELECT SQL_NO_CACHE SUM(v) FROM t", READ);
    let mut on_demand = arena.client_with(&["SET SESSION query_cache_type = DEMAND"]);
    arena.check_never_hit(&mut on_demand, READ, "SELECT SQL_CACHE SUM(v) FROM t");
    for statement in ["FLUSH QUERY CACHE", "RESET QUERY CACHE"] {
        arena.warm(&mut reader, READ);
        admin.must(statement).unwrap();
        assert!(!arena.ask(&mut reader, READ).1, "{statement}");
    }
    all(
        &mut admin,
        &["CREATE USER dropped@'%' IDENTIFIED BY ''", "CREATE ROLE resets", "GRANT RELOAD ON *.* TO resets"],
    );
    let mut low = arena.client_as(&Login { database: None, ..Login::user("dropped", "") });
    for statement in ["FLUSH QUERY CACHE", "RESET QUERY CACHE"] {
        assert_eq!(rows_text(&low.query(statement).unwrap()), "error 1227", "{statement}");
    }
    all(&mut admin, &["GRANT resets TO dropped@'%'"]);
    all(&mut low, &["SET ROLE resets", "FLUSH QUERY CACHE", "RESET QUERY CACHE"]);
    all(&mut admin, &["DROP USER dropped@'%'", "DROP ROLE resets"]);
}

fn counter(admin: &mut Client, name: &str) -> u64 {
    let shown = rows_text(&admin.must(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).unwrap());
    shown.split_once(',').and_then(|(_, value)| value.parse().ok()).unwrap_or_else(|| panic!("{name}: {shown}"))
}

#[test]
fn rules_reports_observation_and_verification_work() {
    let mut arena = enter("offered");
    let mut admin = arena.client();
    ["t", "u"].into_iter().for_each(|table| small_table(&mut admin, table, "InnoDB"));
    let mut reader = arena.client();
    arena.warm(&mut reader, READ);
    reader.must("SELECT RAND() FROM t").unwrap();
    for (report, word) in [
        ("QUERIES", "SELECT SUM(v) FROM t"),
        ("TABLES", "offered,t"),
        ("REASONS", "nondeterministic"),
        ("STATUS", "Hits"),
    ] {
        let rows = rows_text(&admin.must(&format!("SHOW FQC {report}")).unwrap());
        assert!(rows.contains(word), "{report}: {rows}");
    }
    admin.must(r#"SET GLOBAL fqc_rules = '[{"table": "offered.t", "cache": "never"}]'"#).unwrap();
    arena.check_never_hit(&mut reader, READ, "SELECT SUM(v) FROM u");
    admin.must("SET GLOBAL fqc_rules = DEFAULT").unwrap();
    arena.warm(&mut reader, READ);

    let verified = counter(&mut admin, "Fqc_verified");
    admin.must("SET GLOBAL fqc_verify_ppm = 1000000").unwrap();
    until("a stored result is compared", || {
        assert_eq!(rows_text(&reader.must(READ).unwrap()), "150");
        counter(&mut admin, "Fqc_verified") > verified
    });
    assert_eq!(counter(&mut admin, "Fqc_differences"), 0);
    all(&mut admin, &["SET GLOBAL fqc_verify_ppm = 0", "RESET QUERY CACHE", "SET GLOBAL query_cache_type = OFF"]);
    admin.must("SET GLOBAL fqc_observe = ON").unwrap();
    let mut observed = arena.client();
    until("reads that would have been hits are seen", || {
        (0..100).for_each(|id| drop(observed.must(&format!("SELECT v FROM t WHERE id <= {id}")).unwrap()));
        counter(&mut admin, "Fqc_observed_hits") > 0
    });
    assert_eq!(counter(&mut admin, "Fqc_queries_in_cache"), 0);
    all(&mut admin, &["SET GLOBAL fqc_observe = OFF", "SET GLOBAL query_cache_type = ON"]);
}
