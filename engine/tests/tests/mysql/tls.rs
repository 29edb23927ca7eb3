//! Connections with TLS, by the stock client.

use crate::contained::{faulty, is_off, number};
use crate::shared::{enter, stock};
use crate::traps::{small_table, until};
use fqc_tests::server::Product;

const READ: &str = "SELECT SUM(v) FROM encrypted.t";

#[test]
fn what_is_written_on_either_kind_of_connection_shows_on_both() {
    let mut arena = enter("encrypted");
    small_table(&mut arena.client(), "t", "InnoDB");
    if Product::MySql.client().is_none() {
        return assert!(std::env::var_os("FQC_MYSQLD").is_some());
    }
    let server = arena.server.clone();
    let encrypted = |statements: &str| stock(&server, "REQUIRED", statements);
    let mut reader = arena.client();
    let update = "UPDATE encrypted.t SET v = v + 1 WHERE id = 1";
    arena.check_write_shows(&mut reader, READ, || assert_eq!(encrypted(update), ""), "151");
    until("a hit under TLS", || {
        arena.counted(|| assert_eq!(encrypted(&format!("{READ}; {READ}")), "151\n151\n")).1 > 0
    });
    arena.client().must(update).unwrap();
    assert_eq!(encrypted(READ), "152\n");
    let in_transaction = format!("BEGIN; {update}; {READ}; ROLLBACK; {READ}");
    assert_eq!(encrypted(&in_transaction), "153\n152\n");
    assert_eq!(arena.warm(&mut reader, READ), "152");
}

#[test]
fn a_panic_leaves_connections_under_tls_going() {
    if Product::MySql.client().is_none() {
        return assert!(std::env::var_os("FQC_MYSQLD").is_some());
    }
    for fault in ["recv:1000", "send:1000"] {
        let server = faulty(fault);
        let reads = "SELECT v FROM d.t WHERE id = 7; ".repeat(9);
        until(fault, || {
            assert_eq!(stock(&server, "REQUIRED", &reads), "0\n".repeat(9), "{fault}");
            number(&server, "Fqc_contained_errors") > 0
        });
        assert!(number(&server, "Fqc_hits") > 0, "{fault}: nothing had been served before");
        is_off(&server, fault);
        assert_eq!(stock(&server, "REQUIRED", &reads), "0\n".repeat(9), "{fault}");
    }
}
