//! The state that an execution of a prepared statement leaves behind, on MariaDB.

mod traps;

#[path = "both/prepared.rs"]
mod both;

use both::{NUMBER, execution, run};
use fqc_tests::client::Login;
use traps::{rows_text, with_table};

/// Checks executions after a bulk execution, which binds types that also apply to later executions.
#[test]
fn types_that_are_bound_by_an_execution_of_many_rows() {
    const BULK: u64 = 1 << 34;
    const STMT_BULK_EXECUTE: u8 = 0xfa;
    let (mut arena, _, mut reader) = with_table("p_bulk");
    let login = arena.login();
    let mut writer = arena.client_as(&Login { capabilities: login.capabilities | BULK, ..login });
    let prepared = writer.prepare("UPDATE t SET v = v + 1 WHERE id = ?").unwrap().1.unwrap();
    assert_eq!(run(&mut writer, &execution(&prepared, NUMBER, &[1, 0, 0, 0])), "");
    // The flags announce types. An indicator precedes each value.
    let bulk = [&prepared.id.to_le_bytes()[..], &[128, 0], &[0xfd, 0], b"\0\x012", b"\0\x013"].concat();
    writer.send(STMT_BULK_EXECUTE, &bulk).unwrap();
    assert!(writer.read_response().unwrap().failure().is_none());
    // A text of three bytes. Read as a number it would name another row.
    for (id, value) in [(4, b"\x03004"), (5, b"\x03005")] {
        let read = format!("SELECT v FROM t WHERE id = {id}");
        let old: u64 = arena.warm(&mut reader, &read).parse().unwrap();
        assert_eq!(run(&mut writer, &execution(&prepared, b"", value)), "");
        assert_eq!(rows_text(&reader.query(&read).unwrap()), (old + 1).to_string());
    }
}
