//! The engine runs in a host that knows nothing of a server's process.

mod played;

use host::catalogue;
use played::{Host, Played, engine};

const READ: &str = "SELECT v FROM t WHERE id = 7";

#[test]
fn a_read_that_the_server_has_run_is_served_until_its_row_is_written() {
    let engine = engine();
    let mut host = Host::connected(&engine);
    host.server_runs(READ, "one");
    catalogue::consult_tables(&engine, &mut Played).expect("the table is known");
    host.server_runs(READ, "one");
    assert!(host.serves(READ, "one"));
    host.server_writes("UPDATE t SET v = 'two' WHERE id = 8");
    assert!(host.serves(READ, "one"), "another row was written");
    host.server_writes("UPDATE t SET v = 'two' WHERE id = 7");
    host.server_runs(READ, "two");
    assert!(host.serves(READ, "two"));
}

#[test]
fn connections_share_what_is_stored() {
    let engine = engine();
    let (mut one, mut other) = (Host::connected(&engine), Host::connected(&engine));
    one.server_runs(READ, "one");
    catalogue::consult_tables(&engine, &mut Played).expect("the table is known");
    one.server_runs(READ, "one");
    assert!(other.serves(READ, "one"));
}
