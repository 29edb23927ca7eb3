//! Every way in which rows change. The next read of every other session shows the change.

mod traps;

use fqc_tests::client::{Client, Param};
use fqc_tests::server::{Product, Server};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use traps::{Arena, all, binary_rows_text, rows_text, small_table, start, until};

const SUM: &str = "SELECT COUNT(*), SUM(v) FROM t";

/// Enters the shared server with a table of five rows in this storage engine, whose sum of `v` is 150. Returns a session to write and one
/// to read.
fn with_table(db: &str, engine: &str) -> (Arena, Client, Client) {
    let arena = Arena::enter(db);
    let (mut writer, reader) = (arena.client(), arena.client());
    small_table(&mut writer, "t", engine);
    (arena, writer, reader)
}

/// Runs writes, each with the answer that the read must have afterwards. The read is cached before each one, and must not be served from
/// the cache right after it.
#[track_caller]
fn each_follows(arena: &mut Arena, reader: &mut Client, writer: &mut Client, read: &str, writes: &[(&str, &str)]) {
    for (write, expected) in writes {
        arena.check_write_shows(reader, read, || drop(writer.must(write).unwrap()), expected);
    }
}

const DML: [(&str, &str); 10] = [
    ("INSERT INTO t VALUES (6, 60)", "6,210"),
    ("UPDATE t SET v = v + 1 WHERE id = 6", "6,211"),
    ("DELETE FROM t WHERE id = 6", "5,150"),
    ("REPLACE INTO t VALUES (5, 55)", "5,155"),
    ("INSERT INTO t VALUES (5, 0) ON DUPLICATE KEY UPDATE v = 50", "5,150"),
    ("INSERT INTO t SELECT id + 100, v FROM t", "10,300"),
    ("DELETE a FROM t AS a JOIN t AS b ON a.id = b.id + 100", "5,150"),
    ("UPDATE t AS a, t AS b SET a.v = 60 WHERE a.id = 5 AND b.id = 5", "5,160"),
    ("/* comment */ UPDATE t SET v = 50 WHERE id = 5", "5,150"),
    ("WITH c AS (SELECT 5 AS n) SELECT n FROM c; UPDATE t SET v = 51 WHERE id = 5", "5,151"),
];

#[test]
fn rows_of_innodb() {
    let (mut arena, mut writer, mut reader) = with_table("w_innodb", "InnoDB");
    each_follows(&mut arena, &mut reader, &mut writer, SUM, &DML);
}

#[test]
fn rows_of_engines_without_transactions() {
    for engine in ["MyISAM", "Aria", "MEMORY"] {
        let (mut arena, mut writer, mut reader) = with_table(&format!("w_{}", engine.to_lowercase()), engine);
        each_follows(&mut arena, &mut reader, &mut writer, SUM, &DML);
        // A row written inside of a transaction is visible at once in this engine, and stays.
        writer.must("BEGIN").unwrap();
        let write = || drop(writer.must("UPDATE t SET v = 0 WHERE id = 5").unwrap());
        arena.check_write_shows(&mut reader, SUM, write, "5,100");
        writer.must("ROLLBACK").unwrap();
        assert_eq!(arena.warm(&mut reader, SUM), "5,100");
    }
}

#[test]
fn an_update_that_fails_half_way() {
    let (mut arena, mut writer, mut reader) = with_table("w_half", "MyISAM");
    let write = || assert_eq!(rows_text(&writer.query("UPDATE t SET id = id + 3 ORDER BY id DESC").unwrap()), "");
    arena.check_write_shows(&mut reader, "SELECT MIN(id) FROM t", write, "4");
    let write = || assert_eq!(rows_text(&writer.query("INSERT INTO t VALUES (9, 1), (8, 1)").unwrap()), "error 1062");
    arena.check_write_shows(&mut reader, SUM, write, "6,151");
}

#[test]
fn prepared_writes() {
    let (mut arena, mut writer, mut reader) = with_table("w_prepared", "InnoDB");
    let update = writer.prepare("UPDATE t SET v = ? WHERE id = ?").unwrap().1.unwrap();
    let write = || drop(writer.execute(&update, &[Param::Int(60), Param::Int(5)]).unwrap());
    arena.check_write_shows(&mut reader, SUM, write, "5,160");
    all(&mut writer, &["PREPARE p FROM 'UPDATE t SET v = 70 WHERE id = 5'"]);
    arena.check_write_shows(&mut reader, SUM, || drop(writer.must("EXECUTE p").unwrap()), "5,170");
    let immediate = "EXECUTE IMMEDIATE 'DELETE FROM t WHERE id = 5'";
    arena.check_write_shows(&mut reader, SUM, || drop(writer.must(immediate).unwrap()), "4,100");
    let read = reader.prepare("SELECT SUM(v) FROM t WHERE id < ?").unwrap().1.unwrap();
    arena.warm_prepared(&mut reader, &read, &[Param::Int(3)]);
    writer.execute(&update, &[Param::Int(11), Param::Int(1)]).unwrap();
    let (response, is_hit) = arena.ask_prepared(&mut reader, &read, &[Param::Int(3)]);
    assert_eq!((binary_rows_text(&response).as_str(), is_hit), ("31", false));
}

#[test]
fn writes_inside_other_statements() {
    let (mut arena, mut writer, mut reader) = with_table("w_inside", "InnoDB");
    all(
        &mut writer,
        &[
            "CREATE PROCEDURE add_one() UPDATE t SET v = v + 1 WHERE id = 1",
            "CREATE PROCEDURE outer_one() BEGIN IF 1 THEN CALL add_one(); END IF; END",
            "CREATE FUNCTION adds() RETURNS INT BEGIN CALL add_one(); RETURN 1; END",
            "CREATE PROCEDURE dynamic() BEGIN EXECUTE IMMEDIATE 'UPDATE t SET v = v + 1 WHERE id = 1'; END",
        ],
    );
    let writes = [
        ("CALL add_one()", "5,151"),
        ("CALL outer_one()", "5,152"),
        ("DO adds()", "5,153"),
        ("SET @a = adds()", "5,154"),
        ("SELECT adds()", "5,155"),
        ("BEGIN NOT ATOMIC UPDATE t SET v = v + 1 WHERE id = 1; END", "5,156"),
        ("DO 1; UPDATE t SET v = v + 1 WHERE id = 1; DO 2", "5,157"),
        ("SET STATEMENT max_statement_time = 9 FOR UPDATE t SET v = v + 1 WHERE id = 1", "5,158"),
        ("CALL dynamic()", "5,159"),
        ("ANALYZE UPDATE t SET v = v + 1 WHERE id = 1", "5,160"),
        ("/*!50000 UPDATE t SET v = v + 1 WHERE id = 1 */", "5,161"),
        ("INSERT INTO t VALUES (6, 0) RETURNING id", "6,161"),
        ("DELETE FROM t WHERE id = 6 RETURNING v", "5,161"),
    ];
    each_follows(&mut arena, &mut reader, &mut writer, SUM, &writes);
}

#[test]
fn triggers_and_what_they_trigger() {
    let (mut arena, mut writer, mut reader) = with_table("w_triggers", "InnoDB");
    all(
        &mut writer,
        &[
            "CREATE TABLE a (id INT)",
            "CREATE TABLE b (id INT)",
            "CREATE TRIGGER after_a AFTER INSERT ON a FOR EACH ROW INSERT INTO b VALUES (NEW.id)",
            "CREATE TRIGGER after_b AFTER INSERT ON b FOR EACH ROW UPDATE t SET v = v + NEW.id WHERE id = 1",
        ],
    );
    let writes = [
        ("INSERT INTO a VALUES (1)", "5,151"),
        ("INSERT INTO b VALUES (2)", "5,153"),
        ("INSERT INTO a SELECT 3", "5,156"),
    ];
    each_follows(&mut arena, &mut reader, &mut writer, SUM, &writes);
    writer.local_file = b"4\n".to_vec();
    let load = || drop(writer.must("LOAD DATA LOCAL INFILE 'f' INTO TABLE a").unwrap());
    arena.check_write_shows(&mut reader, SUM, load, "5,160");
}

#[test]
fn foreign_keys_down_to_grandchildren() {
    let (mut arena, mut writer, mut reader) = with_table("w_cascade", "InnoDB");
    all(
        &mut writer,
        &[
            "CREATE TABLE c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES t (id) ON DELETE CASCADE ON UPDATE CASCADE)",
            "CREATE TABLE g (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES c (id) ON DELETE CASCADE ON UPDATE CASCADE)",
            "CREATE TABLE n (p INT, FOREIGN KEY (p) REFERENCES c (id) ON DELETE SET NULL ON UPDATE CASCADE)",
            "INSERT INTO c VALUES (1, 1), (2, 2), (3, 3)",
            "INSERT INTO g VALUES (1, 1), (2, 2), (3, 3)",
            "INSERT INTO n VALUES (1), (2), (3)",
        ],
    );
    let (children, grandchildren) = ("SELECT GROUP_CONCAT(p ORDER BY id) FROM c", "SELECT COUNT(*) FROM g");
    let nulled = "SELECT COUNT(p) FROM n";
    let write = || drop(writer.must("UPDATE t SET id = 10 WHERE id = 1").unwrap());
    arena.check_write_shows(&mut reader, children, write, "10,2,3");
    arena.warm(&mut reader, nulled);
    let write = || drop(writer.must("DELETE FROM t WHERE id = 10").unwrap());
    arena.check_write_shows(&mut reader, grandchildren, write, "2");
    arena.miss(&mut reader, nulled, "2");
    let write = || drop(writer.must("REPLACE INTO t VALUES (2, 0)").unwrap());
    arena.check_write_shows(&mut reader, grandchildren, write, "1");
    let write = || drop(writer.must("DELETE t FROM t JOIN c ON c.p = t.id WHERE c.id = 3").unwrap());
    arena.check_write_shows(&mut reader, children, write, "NULL");
    assert_eq!(arena.warm(&mut reader, nulled), "0");
}

#[test]
fn writes_through_views() {
    let (mut arena, mut writer, mut reader) = with_table("w_views", "InnoDB");
    all(&mut writer, &["CREATE VIEW w AS SELECT * FROM t WHERE id < 9", "CREATE VIEW ww AS SELECT * FROM w"]);
    let writes = [
        ("UPDATE w SET v = 11 WHERE id = 1", "5,151"),
        ("INSERT INTO ww VALUES (6, 1)", "6,152"),
        ("DELETE FROM ww WHERE id = 6", "5,151"),
    ];
    each_follows(&mut arena, &mut reader, &mut writer, SUM, &writes);
}

#[test]
fn loaded_files() {
    let (mut arena, mut writer, mut reader) = with_table("w_load", "InnoDB");
    writer.local_file = b"6\t60\n7\t70\n".to_vec();
    let load = || drop(writer.must("LOAD DATA LOCAL INFILE 'f' INTO TABLE t").unwrap());
    arena.check_write_shows(&mut reader, SUM, load, "7,280");
    let file = std::env::temp_dir().join(format!("fqc-traps-{}.txt", std::process::id()));
    std::fs::write(&file, "8\t80\n").unwrap();
    let statement = format!("LOAD DATA INFILE '{}' REPLACE INTO TABLE t", file.display());
    let load = || drop(writer.must(&statement).unwrap());
    arena.check_write_shows(&mut reader, SUM, load, "8,360");
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn delayed_inserts() {
    let (mut arena, mut writer, mut reader) = with_table("w_delayed", "MyISAM");
    assert_eq!(arena.warm(&mut reader, SUM), "5,150");
    for round in 1..4 {
        writer.must(&format!("INSERT DELAYED INTO t VALUES ({}, 10)", 5 + round)).unwrap();
        let expected = format!("{},{}", 5 + round, 150 + 10 * round);
        until("the delayed row", || arena.server_answer(SUM) == expected);
        assert_eq!(rows_text(&reader.query(SUM).unwrap()), expected, "a row that others see");
    }
    writer.must("FLUSH TABLES t").unwrap();
    assert_eq!(arena.warm(&mut reader, SUM), "8,180");
}

#[test]
fn events_of_the_scheduler() {
    let (mut arena, mut writer, mut reader) = with_table("w_events", "InnoDB");
    assert_eq!(arena.warm(&mut reader, SUM), "5,150");
    let event = "CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO UPDATE t SET v = v + 1 WHERE id = 1";
    writer.must(event).unwrap();
    for _ in 0..2 {
        let before = arena.server_answer(SUM);
        until("the event's write", || {
            let read = rows_text(&reader.query(SUM).unwrap());
            read != before
        });
    }
    writer.must("DROP EVENT e").unwrap();
    until("the last event's end", || {
        let truth = arena.server_answer(SUM);
        rows_text(&reader.query(SUM).unwrap()) == truth
    });
    arena.warm(&mut reader, SUM);
}

#[test]
fn two_phase_transactions() {
    let (mut arena, mut writer, mut reader) = with_table("w_xa", "InnoDB");
    arena.warm(&mut reader, SUM);
    all(&mut writer, &["XA START 'a'", "UPDATE t SET v = 11 WHERE id = 1", "XA END 'a'", "XA PREPARE 'a'"]);
    assert_eq!(rows_text(&reader.query(SUM).unwrap()), "5,150");
    arena.check_write_shows(&mut reader, SUM, || drop(writer.must("XA COMMIT 'a'").unwrap()), "5,151");
    all(&mut writer, &["XA START 'b'", "UPDATE t SET v = 12 WHERE id = 1", "XA END 'b'"]);
    arena.check_write_shows(&mut reader, SUM, || drop(writer.must("XA COMMIT 'b' ONE PHASE").unwrap()), "5,152");
    all(&mut writer, &["XA START 'c'", "UPDATE t SET v = 13 WHERE id = 1", "XA END 'c'", "XA PREPARE 'c'"]);
    assert_eq!(rows_text(&reader.query(SUM).unwrap()), "5,152");
    writer.must("XA ROLLBACK 'c'").unwrap();
    assert_eq!(arena.warm(&mut reader, SUM), "5,152");
}

#[test]
fn two_phase_transactions_leave_what_they_have_not_written() {
    const OTHER: &str = "SELECT SUM(v) FROM u";
    let (mut arena, mut writer, mut reader) = with_table("w_xa_other", "InnoDB");
    small_table(&mut writer, "u", "InnoDB");
    let other = arena.warm(&mut reader, OTHER);
    for (branch, end) in [("a", "XA COMMIT 'a'"), ("b", "XA ROLLBACK 'b'")] {
        let steps =
            [&format!("XA START '{branch}'"), "UPDATE t SET v = v + 1 WHERE id = 1", &format!("XA END '{branch}'")];
        all(&mut writer, &steps);
        all(&mut writer, &[&format!("XA PREPARE '{branch}'"), end]);
        arena.hit(&mut reader, OTHER, &other);
    }
    assert_eq!(rows_text(&reader.query(SUM).unwrap()), "5,151");
}

#[test]
fn a_session_that_has_ended_its_own_branch_may_end_that_of_another() {
    let (mut arena, mut writer, mut reader) = with_table("w_xa_ended", "InnoDB");
    all(&mut writer, &["XA START 'left'", "UPDATE t SET v = 11 WHERE id = 1", "XA END 'left'", "XA PREPARE 'left'"]);
    let gone = format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {}", writer.thread_id);
    writer.abort();
    let mut other = arena.client();
    until("the end of the session that prepared", || other.scalar(&gone).unwrap().as_deref() == Some("0"));
    all(&mut other, &["XA START 'own'", "SELECT * FROM t WHERE id = 2", "XA END 'own'"]);
    assert!(other.query("XA COMMIT 'left'").unwrap().failure().is_some(), "while one of its own is open");
    other.must("XA ROLLBACK 'own'").unwrap();
    let commit = || until("the commit", || other.query("XA COMMIT 'left'").unwrap().failure().is_none());
    arena.check_write_shows(&mut reader, SUM, commit, "5,151");
}

#[test]
fn two_phase_transactions_committed_by_another_session() {
    let (mut arena, mut writer, mut reader) = with_table("w_foreign", "InnoDB");
    all(&mut writer, &["XA START 'x'", "UPDATE t SET v = 11 WHERE id = 1", "XA END 'x'", "XA PREPARE 'x'"]);
    let thread = writer.thread_id;
    writer.abort();
    let mut other = arena.client();
    let gone = format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {thread}");
    until("the end of the session that prepared", || other.scalar(&gone).unwrap().as_deref() == Some("0"));
    let old = rows_text(&reader.query(SUM).unwrap());
    assert_eq!(old, "5,150");
    until("the commit", || other.query("XA COMMIT 'x'").unwrap().failure().is_none());
    assert_eq!(rows_text(&reader.query(SUM).unwrap()), "5,151");
    assert_eq!(arena.warm(&mut reader, SUM), "5,151");
}

#[test]
fn truncated_tables() {
    for engine in ["InnoDB", "MyISAM"] {
        let (mut arena, mut writer, mut reader) = with_table(&format!("w_truncate_{}", engine.to_lowercase()), engine);
        arena.check_write_shows(&mut reader, SUM, || drop(writer.must("TRUNCATE t").unwrap()), "0,NULL");
        writer.must("INSERT INTO t VALUES (1, 1)").unwrap();
        let truncate = format!("TRUNCATE TABLE `{}` . `t`", arena.db);
        arena.check_write_shows(&mut reader, SUM, || drop(writer.must(&truncate).unwrap()), "0,NULL");
        writer.must("INSERT INTO t VALUES (1, 1)").unwrap();
        let prepared = writer.prepare("TRUNCATE t").unwrap().1.unwrap();
        arena.check_write_shows(&mut reader, SUM, || drop(writer.execute(&prepared, &[]).unwrap()), "0,NULL");
    }
}

#[test]
fn tables_written_in_another_spelling() {
    let (mut arena, mut writer, mut reader) = with_table("w_spelling", "InnoDB");
    let writes = [
        ("UPDATE `t` SET v = 11 WHERE id = 1", "5,151"),
        ("UPDATE w_spelling.t SET v = 12 WHERE id = 1", "5,152"),
        ("UPDATE `w_spelling`.`t` AS x SET x.v = 13 WHERE x.id = 1", "5,153"),
        ("UPDATE LOW_PRIORITY IGNORE t SET v = 14 WHERE id = 1", "5,154"),
        ("SET sql_mode = 'ANSI_QUOTES'; UPDATE \"t\" SET v = 15 WHERE id = 1", "5,155"),
    ];
    each_follows(&mut arena, &mut reader, &mut writer, SUM, &writes);
    writer.must("USE mysql").unwrap();
    let elsewhere = [("UPDATE w_spelling.t SET v = 16 WHERE id = 1", "5,156")];
    each_follows(&mut arena, &mut reader, &mut writer, SUM, &elsewhere);
}

#[test]
fn other_tables_keep_their_entries() {
    let (mut arena, mut writer, mut reader) = with_table("w_others", "InnoDB");
    small_table(&mut writer, "u", "InnoDB");
    assert_eq!(arena.warm(&mut reader, SUM), "5,150");
    for write in ["UPDATE u SET v = 1", "INSERT INTO u VALUES (9, 9)", "DELETE FROM u", "REPLACE INTO u VALUES (1, 1)"]
    {
        writer.must(write).unwrap();
        arena.hit(&mut reader, SUM, "5,150");
    }
    all(&mut writer, &["BEGIN", "UPDATE u SET v = 2", "COMMIT"]);
    arena.hit(&mut reader, SUM, "5,150");
    all(&mut writer, &["UPDATE u SET v = v", "SET @a = 1", "SELECT v FROM u"]);
    arena.hit(&mut reader, SUM, "5,150");
}

/// Checks that several statements in one command invalidate only results of the tables that they write.
#[test]
fn several_statements_outdate_what_they_write() {
    let (mut arena, mut writer, mut reader) = with_table("w_several", "InnoDB");
    small_table(&mut writer, "u", "InnoDB");
    let other = "SELECT SUM(v) FROM u";
    arena.warm(&mut reader, other);
    let writes = [
        ("UPDATE t SET v = v + 1 WHERE id = 1; SELECT 1", "5,151"),
        ("BEGIN; UPDATE t SET v = v + 1 WHERE id = 1; COMMIT", "5,152"),
        ("UPDATE t SET v = v + 1 WHERE id = 1; UPDATE t SET v = v + 1 WHERE id = 1", "5,154"),
    ];
    each_follows(&mut arena, &mut reader, &mut writer, SUM, &writes);
    arena.hit(&mut reader, other, "150");
    let old = arena.warm(&mut reader, SUM);
    all(&mut writer, &["BEGIN; UPDATE t SET v = 0 WHERE id = 1"]);
    assert_eq!(rows_text(&reader.query(SUM).unwrap()), old);
    all(&mut writer, &["COMMIT; BEGIN; SELECT v FROM t"]);
    assert_eq!(rows_text(&reader.query(SUM).unwrap()), "5,140");
    arena.hit(&mut reader, other, "150");
}

/// Checks that writes through a merge table invalidate results of its underlying tables. The merge table holds no rows itself, and its
/// results are not stored.
#[test]
fn writes_through_a_merge_table() {
    let (mut arena, mut writer, mut reader) = with_table("w_merge", "MyISAM");
    let merged = [
        "CREATE TABLE u LIKE t",
        "CREATE TABLE m LIKE t",
        "ALTER TABLE m ENGINE = MERGE UNION = (t, u) INSERT_METHOD = FIRST",
    ];
    all(&mut writer, &merged);
    let writes = [
        ("UPDATE m SET v = v + 1 WHERE id = 1", "5,151"),
        ("INSERT INTO m VALUES (6, 0)", "6,151"),
        ("DELETE FROM m WHERE id = 6", "5,151"),
    ];
    each_follows(&mut arena, &mut reader, &mut writer, SUM, &writes);
    arena.check_never_hit(&mut reader, "SELECT SUM(v) FROM m", SUM);
}

/// The path of the Galera library that came with the tested server, which may need another C library than the system's one. Otherwise the
/// system's library.
fn galera() -> String {
    let library = Path::new("usr/lib/galera/libgalera_smm.so");
    let fetched = Product::MariaDb.program().with_file_name("../root").join(library);
    let library = if fetched.exists() { fetched.canonicalize().unwrap() } else { Path::new("/").join(library) };
    library.display().to_string()
}

/// Starts a cluster of one node, with the plugin.
fn cluster() -> Arc<Server> {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    Arc::new(start(&[
        "--wsrep-on=ON",
        &format!("--wsrep-provider={}", galera()),
        "--wsrep-cluster-address=gcomm://",
        "--wsrep-new-cluster",
        &format!("--wsrep-node-address=127.0.0.1:{port}"),
        &format!("--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{port}"),
        "--binlog-format=ROW",
        "--innodb-autoinc-lock-mode=2",
    ]))
}

/// Checks that a node of a cluster serves nothing from the cache. Other nodes write, too, and a session may want to wait for what they have
/// committed. Only the server can do that.
#[test]
fn a_node_of_a_cluster_serves_nothing_from_memory() {
    let server = cluster();
    let mut admin = server.admin().unwrap();
    let mut arena = Arena::on(server.clone(), "w_cluster");
    let mut writer = arena.client();
    small_table(&mut writer, "t", "InnoDB");
    all(&mut admin, &["SET GLOBAL wsrep_on = OFF"]);
    arena.warm(&mut arena.client(), SUM);
    all(&mut admin, &["SET GLOBAL wsrep_on = ON"]);
    let mut readers = [arena.client(), arena.client_with(&["SET wsrep_sync_wait = 1"])];
    for _ in 0..5 {
        readers.iter_mut().for_each(|reader| arena.miss(reader, SUM, "5,150"));
    }
    // The worker reports the reason a moment after reads are passed to the server.
    until("the reason in the status", || {
        rows_text(&admin.must("SHOW FQC STATUS").unwrap())
            .starts_with("Cache,OFF: this server is a node of a Galera cluster")
    });
    until("the log's line", || server.error_log().contains("nothing is cached as long as that is so"));
    const WHY: &str = "SHOW GLOBAL STATUS LIKE 'Fqc_obstacle'";
    assert_eq!(
        rows_text(&admin.must(WHY).unwrap()),
        "Fqc_obstacle,this server is a node of a Galera cluster (wsrep_on)"
    );
    all(&mut admin, &["SET GLOBAL wsrep_on = OFF"]);
    arena.warm(&mut arena.client(), SUM);
    until("nothing is in the way", || rows_text(&admin.must(WHY).unwrap()) == "Fqc_obstacle,");
    until("the log's line", || server.error_log().contains("nothing is in the way of the cache any more"));
}

/// Checks that an EXECUTE invalidates what the prepared text writes. A prepared statement's name means the text that it was prepared from,
/// as long as no statement may have given the name to another text.
#[test]
fn an_execute_outdates_what_its_text_writes() {
    let mut arena = Arena::enter("w_execute");
    let (mut writer, mut reader) = (arena.client(), arena.client());
    small_table(&mut writer, "t", "InnoDB");
    small_table(&mut writer, "u", "InnoDB");
    let (of_t, of_u) = ("SELECT v FROM t WHERE id = 1", "SELECT v FROM u WHERE id = 1");
    arena.warm(&mut reader, of_u);
    all(
        &mut writer,
        &[
            "PREPARE change_t FROM 'UPDATE t SET v = v + ? WHERE id = 1'",
            "PREPARE look FROM 'SELECT v FROM t WHERE id = ?'",
            "SET @one = 1",
        ],
    );
    arena.check_write_shows(&mut reader, of_t, || drop(writer.must("EXECUTE change_t USING @one").unwrap()), "11");
    arena.hit(&mut reader, of_u, "10");
    assert_eq!(rows_text(&writer.must("EXECUTE look USING @one").unwrap()), "11");
    arena.hit(&mut reader, of_t, "11");
    arena.hit(&mut reader, of_u, "10");
    arena.hit(&mut writer, of_u, "10");
    all(&mut writer, &["BEGIN", "EXECUTE Change_T USING @one"]);
    arena.hit(&mut reader, of_u, "10");
    assert_eq!(rows_text(&reader.must(of_t).unwrap()), "11");
    assert_eq!(rows_text(&writer.must(of_t).unwrap()), "12");
    arena.check_write_shows(&mut reader, of_t, || drop(writer.must("COMMIT").unwrap()), "12");
    arena.hit(&mut reader, of_u, "10");
}

#[test]
fn an_execute_of_a_name_that_may_stand_for_anything() {
    let mut arena = Arena::enter("w_renamed");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    let read = "SELECT FROM_UNIXTIME(v) FROM t WHERE id = 1";
    let set = "PREPARE s FROM 'SET time_zone = \"+05:00\"'";
    maker.must(&format!("CREATE PROCEDURE renames() {set}")).unwrap();
    for ways in [
        vec!["CALL renames()"],
        vec!["SET @text = 'SET time_zone = \"+05:00\"'", "PREPARE s FROM @text"],
        vec![set],
        vec!["DEALLOCATE PREPARE s", "BEGIN NOT ATOMIC PREPARE s FROM 'SET time_zone = \"+05:00\"'; END"],
        vec!["PREPARE s FROM CONCAT('SET time_zone = ', '\"+05:00\"')"],
        vec!["PREPARE s FROM 'SELECT 1 FROM nowhere'", set],
    ] {
        let mut client = arena.client_with(&["PREPARE s FROM 'SELECT v FROM t'", "EXECUTE s"]);
        arena.warm(&mut client, read);
        ways.iter().for_each(|way| drop(client.query(way).unwrap()));
        client.must("EXECUTE s").unwrap();
        let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF, time_zone = '+05:00'"]);
        let expected = rows_text(&plain.must(read).unwrap());
        (0..3).for_each(|_| assert_eq!(rows_text(&client.must(read).unwrap()), expected, "{ways:?}"));
    }
}
