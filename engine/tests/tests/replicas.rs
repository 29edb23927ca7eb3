//! Replicas of MariaDB: a result from before an applier's write is never served, and results are stored again as soon as the applier's
//! transaction has ended. An applier is a thread of the replica that runs the source's changes.

mod traps;

use fqc_tests::client::{Client, Login};
use fqc_tests::replication::{catch_up, follow, replica, source};
use fqc_tests::server::Server;
use std::sync::Arc;
use traps::{Arena, all, plugin, rows_text, small_table, until};

const READ: &str = "SELECT v FROM d.t WHERE id = 1";
const WAITS: &str = "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'";

fn client(server: &Server) -> Client {
    let mut client = Client::connect(&server.endpoint(), &Login::default()).unwrap();
    client.set_timeout(Some(traps::PATIENCE)).unwrap();
    client
}

/// A source, and its replica with the plugin. Both have the table `d.t`.
struct Pair {
    source: Server,
    replica: Arc<Server>,
    arena: Arena,
    writer: Client,
    reader: Client,
}

impl Pair {
    /// Starts both servers with these further arguments, and waits until the replica has the table.
    fn start(of_source: &[&str], of_replica: &[&str]) -> Pair {
        let source = source(1, of_source).unwrap();
        let replica = Arc::new(replica(plugin::path(), 2, of_replica).unwrap());
        follow(&replica, &source, "").unwrap();
        let mut writer = client(&source);
        all(&mut writer, &["CREATE DATABASE d", "USE d"]);
        small_table(&mut writer, "t", "InnoDB");
        catch_up(&replica, &source).unwrap();
        let arena = Arena::on(replica.clone(), "a");
        let reader = client(&replica);
        Pair { source, replica, arena, writer, reader }
    }

    /// Waits until the replica has applied all that the source has done.
    fn catch_up(&self) {
        catch_up(&self.replica, &self.source).unwrap();
    }

    /// Caches a read on the replica, runs the statements on the source, and waits for the replica. The read must show `expected` then, and
    /// can be cached again.
    #[track_caller]
    fn check_write_shows(&mut self, read: &str, statements: &[&str], expected: &str) {
        let (writer, source, replica) = (&mut self.writer, &self.source, &self.replica);
        let write = || {
            all(writer, statements);
            catch_up(replica, source).unwrap();
        };
        self.arena.check_write_shows(&mut self.reader, read, write, expected);
    }

    /// Repeats a write of another row on the source until the cached result of the read survives it. The engine looks up the table's key in
    /// the background, and learns how the server finds a row when the server first looks for one.
    #[track_caller]
    fn await_rows(&mut self, read: &str, write_of_another: &str) {
        until("a write of another row that leaves the result alone", || {
            self.arena.warm(&mut self.reader, read);
            all(&mut self.writer, &[write_of_another]);
            self.catch_up();
            self.arena.ask(&mut self.reader, read).1
        });
    }

    /// Checks that these statements on the source leave the cached result of the read on the replica.
    #[track_caller]
    fn spares(&mut self, read: &str, statements: &[&str]) {
        let known = self.arena.warm(&mut self.reader, read);
        all(&mut self.writer, statements);
        self.catch_up();
        self.arena.hit(&mut self.reader, read, &known);
    }
}

#[test]
fn what_an_applier_writes_is_kept_once_its_transaction_has_ended() {
    for format in ["ROW", "MIXED", "STATEMENT"] {
        let mut pair = Pair::start(&[&format!("--binlog-format={format}")], &[]);
        small_table(&mut pair.writer, "other", "InnoDB");
        pair.catch_up();
        pair.check_write_shows(READ, &["UPDATE t SET v = 11 WHERE id = 1"], "11");
        pair.check_write_shows(
            READ,
            &["BEGIN", "UPDATE t SET v = 12 WHERE id = 1", "DELETE FROM t WHERE id = 5", "COMMIT"],
            "12",
        );
        let rolled_back = ["BEGIN", "UPDATE t SET v = 13 WHERE id = 1", "ROLLBACK", "UPDATE t SET v = 14 WHERE id = 1"];
        pair.check_write_shows(READ, &rolled_back, "14");
        pair.spares("SELECT v FROM d.other WHERE id = 1", &["UPDATE t SET v = 15 WHERE id = 1"]);
    }
}

#[test]
fn what_an_applier_defines_is_followed_and_forgotten_again() {
    for format in ["ROW", "MIXED"] {
        let mut pair = Pair::start(&[&format!("--binlog-format={format}")], &[]);
        pair.check_write_shows(READ, &["ALTER TABLE t MODIFY v VARCHAR(9)", "UPDATE t SET v = 'a' WHERE id = 1"], "a");
        pair.check_write_shows(READ, &["TRUNCATE t", "INSERT INTO t VALUES (1, 'b')"], "b");
        pair.check_write_shows(
            READ,
            &["CREATE TABLE s LIKE t", "INSERT INTO s VALUES (1, 'c')", "RENAME TABLE t TO u, s TO t"],
            "c",
        );
        pair.check_write_shows(
            READ,
            &["CREATE OR REPLACE TABLE t (id INT PRIMARY KEY, v INT) SELECT 1 AS id, 5 AS v"],
            "5",
        );
        pair.check_write_shows(
            READ,
            &["DROP DATABASE d", "CREATE DATABASE d", "USE d", "CREATE TABLE t SELECT 1 AS id, 6 AS v"],
            "6",
        );
        let routine = ["CREATE PROCEDURE raise() UPDATE t SET v = v + 1", "CALL raise()"];
        pair.check_write_shows(READ, &routine, "7");
        let trigger =
            ["CREATE TABLE log (id INT)", "CREATE TRIGGER x AFTER INSERT ON log FOR EACH ROW UPDATE t SET v = 8"];
        pair.check_write_shows(READ, &[&trigger[..], &["INSERT INTO log VALUES (1)"]].concat(), "8");
        let user = ["CREATE USER u@localhost", "GRANT SELECT ON d.t TO u@localhost", "DROP USER u@localhost"];
        pair.check_write_shows(READ, &[&user[..], &["UPDATE t SET v = 9"]].concat(), "9");
    }
}

#[test]
fn an_applier_writes_tables_of_any_engine() {
    for format in ["ROW", "STATEMENT"] {
        let mut pair = Pair::start(&[&format!("--binlog-format={format}")], &[]);
        for engine in ["MyISAM", "Aria", "MEMORY"] {
            small_table(&mut pair.writer, engine, engine);
            pair.catch_up();
            let read = format!("SELECT v FROM d.{engine} WHERE id = 1");
            pair.check_write_shows(&read, &[&format!("UPDATE {engine} SET v = 11 WHERE id = 1")], "11");
            let both =
                ["BEGIN", "UPDATE t SET v = v + 1", &format!("UPDATE {engine} SET v = 12 WHERE id = 1"), "COMMIT"];
            pair.check_write_shows(&read, &both, "12");
        }
    }
}

/// Checks that results of other rows stay valid when a row event is applied. Row events identify their rows as certainly as a client's
/// statement does.
#[test]
fn rows_that_events_leave_alone_are_kept() {
    let mut pair = Pair::start(&["--binlog-format=ROW"], &[]);
    let kinds = ["SIGNED", "UNSIGNED"]
        .iter()
        .flat_map(|sign| ["TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT"].map(|kind| format!("{kind} {sign}")));
    for (number, kind) in kinds.enumerate() {
        let table = format!("rows{number}");
        let first = if kind.ends_with("UNSIGNED") { 0 } else { -3 };
        let create = format!("CREATE TABLE {table} (a VARCHAR(20), v INT, b BIT(3), id {kind} PRIMARY KEY)");
        let insert =
            format!("INSERT INTO {table} VALUES (NULL, 10, b'1', {first}), ('x', 20, NULL, 2), ('y', 30, NULL, 3)");
        all(&mut pair.writer, &[&create, &insert]);
        pair.catch_up();
        let row = |key: i64| format!("SELECT v FROM d.{table} WHERE id = {key}");
        pair.await_rows(&row(first), &format!("UPDATE {table} SET v = v + 1000 WHERE id = 3"));
        for other in [
            format!("UPDATE {table} SET v = v + 1, a = 'longer' WHERE id > 1"),
            format!("INSERT INTO {table} VALUES ('z', 40, NULL, 4), (NULL, 50, NULL, 5)"),
            format!("UPDATE {table} SET id = 100 WHERE id = 4"),
            format!("DELETE FROM {table} WHERE v = 50"),
            format!("REPLACE INTO {table} VALUES ('w', 21, NULL, 2)"),
        ] {
            pair.spares(&row(first), &[&other]);
        }
        pair.check_write_shows(&row(2), &[&format!("UPDATE {table} SET v = 22 WHERE a = 'w'")], "22");
        pair.check_write_shows(&row(101), &[&format!("UPDATE {table} SET id = 101 WHERE id = 100")], "40");
        pair.check_write_shows(&row(101), &[&format!("UPDATE {table} SET id = 102 WHERE v = 40")], "");
        pair.check_write_shows(&row(7), &[&format!("INSERT INTO {table} VALUES (NULL, 70, NULL, 7)")], "70");
        pair.check_write_shows(&row(7), &[&format!("DELETE FROM {table} WHERE v = 70")], "");
        pair.check_write_shows(
            &format!("SELECT COUNT(*) FROM d.{table}"),
            &[&format!("DELETE FROM {table} WHERE id = 3")],
            "3",
        );
        pair.check_write_shows(&row(first), &["BEGIN", &format!("UPDATE {table} SET v = 9"), "COMMIT"], "9");
    }
}

/// Checks that an applied change invalidates the whole table if it does not name its rows, or names too many.
#[test]
fn an_applier_whose_rows_are_not_known() {
    let mut pair = Pair::start(&["--binlog-format=ROW"], &["--slave-run-triggers-for-rbr=YES"]);
    let ids = || (1..=500).map(|id| format!("({id}, 1)")).collect::<Vec<_>>().join(", ");
    let tables = [
        "CREATE TABLE many (id INT PRIMARY KEY, v INT)".to_owned(),
        format!("INSERT INTO many VALUES {}", ids()),
        "CREATE TABLE parts (id INT PRIMARY KEY, v INT) PARTITION BY HASH (id) PARTITIONS 3".to_owned(),
        format!("INSERT INTO parts VALUES {}", ids()),
        "CREATE TABLE counted (id INT PRIMARY KEY, v INT)".to_owned(),
        "INSERT INTO counted VALUES (1, 0), (2, 0)".to_owned(),
        "CREATE TABLE keyless (id INT, v INT)".to_owned(),
        "INSERT INTO keyless VALUES (1, 0), (2, 0)".to_owned(),
    ];
    all(&mut pair.writer, &tables.each_ref().map(String::as_str));
    pair.catch_up();
    all(
        &mut client(&pair.replica),
        &["CREATE TRIGGER d.x AFTER UPDATE ON d.many FOR EACH ROW UPDATE d.counted SET v = v + 1 WHERE id = 2"],
    );
    pair.await_rows(READ, "UPDATE t SET v = v + 1 WHERE id = 2");
    pair.check_write_shows(READ, &["UPDATE t SET v = 11 WHERE id = 1"], "11");
    pair.check_write_shows("SELECT v FROM d.counted WHERE id = 2", &["UPDATE many SET v = 2 WHERE id = 3"], "1");
    pair.check_write_shows("SELECT v FROM d.many WHERE id = 499", &["UPDATE many SET v = 3"], "3");
    pair.check_write_shows("SELECT v FROM d.parts WHERE id = 499", &["UPDATE parts SET v = 3 WHERE id > 490"], "3");
    pair.check_write_shows("SELECT v FROM d.parts WHERE id = 600", &["INSERT INTO parts VALUES (600, 4)"], "4");
    pair.check_write_shows("SELECT v FROM d.keyless WHERE id = 1", &["UPDATE keyless SET v = 5 WHERE id = 1"], "5");
    let both = ["BEGIN", "UPDATE many SET v = 6 WHERE id = 7", "UPDATE t SET v = 12 WHERE id = 1", "COMMIT"];
    pair.check_write_shows(READ, &both, "12");
}

/// Checks that rows deleted or changed through foreign keys are invalidated on a replica. They change because their parent does, and no
/// event names their table.
#[test]
fn an_applier_deletes_what_hangs_on_a_row() {
    for format in ["ROW", "STATEMENT"] {
        let mut pair = Pair::start(&[&format!("--binlog-format={format}")], &[]);
        let family = [
            "CREATE TABLE parent (id INT PRIMARY KEY)",
            "CREATE TABLE child (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE)",
            "CREATE TABLE grandchild (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES child (id) ON DELETE CASCADE ON UPDATE CASCADE)",
            "INSERT INTO parent VALUES (1), (2)",
            "INSERT INTO child VALUES (1), (2)",
            "INSERT INTO grandchild VALUES (1), (2)",
        ];
        all(&mut pair.writer, &family);
        pair.catch_up();
        for (statement, left) in
            [("DELETE FROM parent WHERE id = 1", "2"), ("UPDATE parent SET id = 7 WHERE id = 2", "7")]
        {
            pair.arena.warm(&mut pair.reader, "SELECT id FROM d.child");
            pair.check_write_shows("SELECT id FROM d.grandchild", &[statement], left);
            assert_eq!(rows_text(&pair.reader.query("SELECT id FROM d.child").unwrap()), left);
        }
    }
}

/// Checks a replica whose applier waits in the middle of a transaction. Until the transaction has ended, results of tables that it has
/// written are not stored. Results of other tables are.
#[test]
fn an_applier_waits_in_the_middle_of_a_transaction() {
    for format in ["ROW", "STATEMENT"] {
        let mut pair = Pair::start(&[&format!("--binlog-format={format}")], &[]);
        small_table(&mut pair.writer, "gate", "InnoDB");
        small_table(&mut pair.writer, "other", "InnoDB");
        pair.catch_up();
        let other = "SELECT v FROM d.other WHERE id = 1";
        pair.arena.warm(&mut pair.reader, other);
        pair.arena.warm(&mut pair.reader, READ);
        let mut holder = client(&pair.replica);
        all(&mut holder, &["BEGIN", "UPDATE d.gate SET v = 0"]);
        all(&mut pair.writer, &["BEGIN", "UPDATE t SET v = 11 WHERE id = 1", "UPDATE gate SET v = 1", "COMMIT"]);
        until("the applier at the gate", || {
            rows_text(&holder.must(WAITS).unwrap()) == "Innodb_row_lock_current_waits,1"
        });
        for _ in 0..3 {
            pair.arena.miss(&mut pair.reader, READ, "10");
        }
        pair.arena.hit(&mut pair.reader, other, "10");
        holder.must("ROLLBACK").unwrap();
        pair.catch_up();
        pair.arena.miss(&mut pair.reader, READ, "11");
        assert_eq!(pair.arena.warm(&mut pair.reader, READ), "11");
        pair.arena.hit(&mut pair.reader, other, "10");
    }
}

#[test]
fn an_applier_gives_up_in_the_middle_of_a_transaction() {
    let mut pair =
        Pair::start(&["--binlog-format=ROW"], &["--innodb-lock-wait-timeout=1", "--slave-transaction-retries=0"]);
    small_table(&mut pair.writer, "gate", "InnoDB");
    pair.catch_up();
    pair.arena.warm(&mut pair.reader, READ);
    let mut holder = client(&pair.replica);
    all(&mut holder, &["BEGIN", "UPDATE d.gate SET v = 0"]);
    all(&mut pair.writer, &["BEGIN", "UPDATE t SET v = 11 WHERE id = 1", "UPDATE gate SET v = 1", "COMMIT"]);
    until("the end of the applier", || {
        let status = holder.must("SHOW SLAVE STATUS").unwrap();
        rows_text(&status).contains("Lock wait timeout exceeded")
    });
    // After the rollback the row is unchanged, and its results are stored again.
    assert_eq!(pair.arena.warm(&mut pair.reader, READ), "10");
    all(&mut holder, &["ROLLBACK", "STOP SLAVE", "START SLAVE"]);
    pair.catch_up();
    assert_eq!(rows_text(&pair.reader.query(READ).unwrap()), "11");
    assert_eq!(pair.arena.warm(&mut pair.reader, READ), "11");
}

/// Checks prepared transactions on a replica. The preparation changes nothing that is visible, so results of its tables stay cached. The
/// commit, by any session, invalidates them.
#[test]
fn what_an_applier_has_prepared_shows_when_it_is_committed() {
    for (format, replica) in [("ROW", None), ("STATEMENT", None), ("ROW", Some("--slave-parallel-threads=4"))] {
        let of_replica: Vec<_> = replica.into_iter().collect();
        let mut pair = Pair::start(&[&format!("--binlog-format={format}")], &of_replica);
        small_table(&mut pair.writer, "other", "InnoDB");
        pair.catch_up();
        let prepare = |id: &str, value: &str| {
            let update = format!("UPDATE t SET v = {value} WHERE id = 1");
            [format!("XA START '{id}'"), update, format!("XA END '{id}'"), format!("XA PREPARE '{id}'")]
        };
        all(&mut pair.writer, &prepare("x", "11").each_ref().map(String::as_str));
        pair.catch_up();
        assert_eq!(pair.arena.warm(&mut pair.reader, READ), "10");
        // Other transactions go on in between.
        all(&mut client(&pair.source), &["UPDATE d.other SET v = 12 WHERE id = 1"]);
        pair.catch_up();
        assert_eq!(pair.arena.warm(&mut pair.reader, "SELECT v FROM d.other WHERE id = 1"), "12");
        pair.check_write_shows(READ, &["XA COMMIT 'x'"], "11");
        all(&mut pair.writer, &prepare("y", "12").each_ref().map(String::as_str));
        pair.catch_up();
        assert_eq!(pair.arena.warm(&mut pair.reader, READ), "11");
        all(&mut pair.writer, &["XA ROLLBACK 'y'"]);
        pair.catch_up();
        assert_eq!(pair.arena.warm(&mut pair.reader, READ), "11");
        // This transaction is ended on the replica itself.
        all(&mut pair.writer, &prepare("z", "13").each_ref().map(String::as_str));
        pair.catch_up();
        let mut local = client(&pair.replica);
        pair.arena.check_write_shows(&mut pair.reader, READ, || all(&mut local, &["XA COMMIT 'z'"]), "13");
    }
}

#[test]
fn appliers_in_parallel_try_again_where_they_collide() {
    let parallel =
        ["--slave-parallel-threads=4", "--slave-parallel-mode=aggressive", "--slave-transaction-retries=100"];
    let mut pair = Pair::start(&["--binlog-format=ROW"], &parallel);
    // With much to do, the applier's threads run ahead of each other.
    all(&mut client(&pair.replica), &["STOP SLAVE"]);
    for value in 0..300 {
        all(
            &mut pair.writer,
            &["BEGIN", &format!("UPDATE t SET v = {value}"), "UPDATE t SET v = v + 1 WHERE id = 1", "COMMIT"],
        );
    }
    all(&mut client(&pair.replica), &["START SLAVE"]);
    pair.catch_up();
    let retried = "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'Slave_retried_transactions'";
    assert_ne!(client(&pair.replica).scalar(retried).unwrap().as_deref(), Some("0"), "none has collided");
    pair.check_write_shows(READ, &["UPDATE t SET v = 1000 WHERE id = 1"], "1000");
}

#[test]
fn a_replica_of_two_sources_follows_both() {
    let mut pair = Pair::start(&[], &[]);
    let second = source(3, &["--binlog-format=ROW"]).unwrap();
    all(&mut client(&second), &["CREATE DATABASE e", "CREATE TABLE e.t SELECT 1 AS id, 10 AS v"]);
    follow(&pair.replica, &second, "second").unwrap();
    catch_up(&pair.replica, &second).unwrap();
    for value in ["11", "12", "13"] {
        pair.check_write_shows(READ, &[&format!("UPDATE t SET v = {value} WHERE id = 1")], value);
        let (replica, read) = (pair.replica.clone(), "SELECT v FROM e.t WHERE id = 1");
        let write = || {
            all(&mut client(&second), &[&format!("UPDATE e.t SET v = {value}")]);
            catch_up(&replica, &second).unwrap();
        };
        pair.arena.check_write_shows(&mut pair.reader, read, write, value);
    }
}

#[test]
fn what_a_filter_keeps_out_changes_nothing() {
    for format in ["ROW", "STATEMENT"] {
        let mut pair = Pair::start(&[&format!("--binlog-format={format}")], &["--replicate-ignore-table=d.hidden"]);
        all(&mut client(&pair.replica), &["CREATE TABLE d.hidden (id INT)"]);
        all(&mut pair.writer, &["CREATE TABLE hidden (id INT)"]);
        // A definition invalidates everything, even one that the replica ignores.
        pair.catch_up();
        pair.spares(READ, &["INSERT INTO hidden VALUES (1)", "INSERT INTO hidden VALUES (2)"]);
        pair.check_write_shows(
            READ,
            &["BEGIN", "INSERT INTO hidden VALUES (3)", "UPDATE t SET v = 11", "COMMIT"],
            "11",
        );
    }
}

#[test]
fn a_source_that_waits_for_its_replica() {
    let mut pair = Pair::start(&["--rpl-semi-sync-master-enabled=ON"], &["--rpl-semi-sync-slave-enabled=ON"]);
    for value in ["11", "12"] {
        pair.check_write_shows(READ, &[&format!("UPDATE t SET v = {value} WHERE id = 1")], value);
    }
}

#[test]
fn a_replica_that_dies_and_comes_back() {
    let Pair { source, replica, arena, mut writer, reader } = Pair::start(&["--binlog-format=ROW"], &[]);
    drop((arena, reader));
    let mut replica = Arc::into_inner(replica).expect("nobody else has it");
    replica.kill9().unwrap();
    all(&mut writer, &["UPDATE t SET v = 11 WHERE id = 1"]);
    replica.restart().unwrap();
    catch_up(&replica, &source).unwrap();
    let replica = Arc::new(replica);
    let (arena, reader) = (Arena::on(replica.clone(), "b"), client(&replica));
    let mut pair = Pair { source, replica, arena, writer, reader };
    assert_eq!(pair.arena.warm(&mut pair.reader, READ), "11");
    pair.check_write_shows(READ, &["UPDATE t SET v = 12 WHERE id = 1"], "12");
}

/// Checks a replica whose applier was at work before the plugin was loaded.
#[test]
fn a_plugin_that_comes_to_a_replica_at_work() {
    for format in ["ROW", "STATEMENT"] {
        let source = source(1, &[&format!("--binlog-format={format}")]).unwrap();
        let replica = Arc::new(fqc_tests::replication::source(2, &[]).unwrap());
        follow(&replica, &source, "").unwrap();
        let mut writer = client(&source);
        all(&mut writer, &["CREATE DATABASE d", "USE d"]);
        small_table(&mut writer, "t", "InnoDB");
        catch_up(&replica, &source).unwrap();
        std::fs::copy(plugin::path(), replica.plugins().join("fqc.so")).unwrap();
        replica.install_plugin().unwrap();
        let (arena, reader) = (Arena::on(replica.clone(), "a"), client(&replica));
        let mut pair = Pair { source, replica, arena, writer, reader };
        for value in ["11", "12", "13"] {
            pair.check_write_shows(READ, &[&format!("UPDATE t SET v = {value} WHERE id = 1")], value);
        }
    }
}
