//! Definitions and privileges: the meaning of a name, and who may read it, is determined again after every change.

mod traps;

use std::sync::Arc;

use fqc_tests::client::{Client, Login, Response};
use traps::{Arena, all, rows_text, small_table, start, until, with_table};

const READ: &str = "SELECT v FROM t WHERE id = 1";

/// Runs steps, each a statement of `definer` and the answer that the read must have afterwards. The read is cached before each one, and
/// must not be served from the cache right after it.
#[track_caller]
fn each_follows(arena: &mut Arena, reader: &mut Client, definer: &mut Client, read: &str, steps: &[(&str, &str)]) {
    for (step, expected) in steps {
        arena.check_write_shows(reader, read, || drop(definer.must(step).unwrap()), expected);
    }
}

/// Runs steps, each a statement and the answer that the read must have afterwards. The read is never stale; its result may be stored or
/// not.
#[track_caller]
fn stays_true(arena: &mut Arena, reader: &mut Client, definer: &mut Client, read: &str, steps: &[(&str, &str)]) {
    for (step, expected) in steps {
        (0..3).for_each(|_| drop(reader.query(read).unwrap()));
        definer.must(step).unwrap();
        (0..3).for_each(|_| assert_eq!(rows_text(&reader.query(read).unwrap()), *expected, "`{read}` after `{step}`"));
        assert_eq!(arena.server_answer(read), *expected);
    }
}

#[test]
fn altered_tables() {
    let (mut arena, mut definer, mut reader) = with_table("d_alter");
    let steps = [
        ("ALTER TABLE t ADD COLUMN x INT DEFAULT 3 FIRST", "3,1,10"),
        ("ALTER TABLE t MODIFY COLUMN v VARCHAR(9)", "3,1,10"),
        ("ALTER TABLE t CHANGE COLUMN x y BIGINT DEFAULT 4", "3,1,10"),
        ("ALTER TABLE t DROP COLUMN y", "1,10"),
        ("ALTER TABLE t ENGINE = MyISAM", "1,10"),
        ("ALTER TABLE t ENGINE = InnoDB, COMMENT 'x'", "1,10"),
        ("ALTER TABLE t ADD COLUMN g INT AS (id * 2) VIRTUAL", "1,10,2"),
        ("ALTER TABLE t ALTER COLUMN v SET DEFAULT '5', DROP COLUMN g", "1,10"),
        ("ALTER TABLE t CONVERT TO CHARACTER SET latin1", "1,10"),
        ("CREATE INDEX iv ON t (v)", "1,10"),
        ("DROP INDEX iv ON t", "1,10"),
        ("OPTIMIZE TABLE t", "1,10"),
    ];
    each_follows(&mut arena, &mut reader, &mut definer, "SELECT * FROM t WHERE id = 1", &steps);
}

#[test]
fn dropped_and_created_tables() {
    let (mut arena, mut definer, mut reader) = with_table("d_drop");
    arena.warm(&mut reader, READ);
    definer.must("DROP TABLE t").unwrap();
    (0..2).for_each(|_| arena.miss(&mut reader, READ, "error 1146"));
    definer.must("CREATE TABLE t SELECT 1 AS id, 99 AS v").unwrap();
    assert_eq!(arena.warm(&mut reader, READ), "99");
    let steps = [
        ("CREATE OR REPLACE TABLE t SELECT 1 AS id, 98 AS v", "98"),
        ("CREATE TABLE IF NOT EXISTS t SELECT 1 AS id, 97 AS v; UPDATE t SET v = 96", "96"),
        ("DROP TABLE IF EXISTS nothing, t; CREATE TABLE t (id INT, v INT); INSERT INTO t VALUES (1, 95)", "95"),
        (
            "CREATE OR REPLACE TABLE t LIKE mysql.time_zone_name; CREATE OR REPLACE TABLE t SELECT 1 AS id, 94 AS v",
            "94",
        ),
    ];
    each_follows(&mut arena, &mut reader, &mut definer, READ, &steps);
    definer.must("DROP DATABASE d_drop").unwrap();
    arena.miss(&mut reader, "SELECT v FROM d_drop.t WHERE id = 1", "error 1146");
}

#[test]
fn renamed_tables() {
    let (mut arena, mut definer, mut reader) = with_table("d_rename");
    definer.must("CREATE TABLE u SELECT 1 AS id, 55 AS v").unwrap();
    let steps = [
        ("RENAME TABLE t TO x, u TO t, x TO u", "55"),
        ("RENAME TABLE t TO x, u TO t, x TO u", "10"),
        ("ALTER TABLE t RENAME TO x; ALTER TABLE u RENAME t; ALTER TABLE x RENAME AS u", "55"),
        ("DROP TABLE t; RENAME TABLE u TO t", "10"),
    ];
    each_follows(&mut arena, &mut reader, &mut definer, READ, &steps);
    all(&mut definer, &["CREATE DATABASE d_moved", "RENAME TABLE t TO d_moved.t"]);
    arena.miss(&mut reader, READ, "error 1146");
    assert_eq!(arena.warm(&mut reader, "SELECT v FROM d_moved.t WHERE id = 1"), "10");
    definer.must("RENAME TABLE d_moved.t TO t").unwrap();
    arena.miss(&mut reader, "SELECT v FROM d_moved.t WHERE id = 1", "error 1146");
    assert_eq!(arena.warm(&mut reader, READ), "10");
}

#[test]
fn a_view_in_the_place_of_a_table() {
    let (mut arena, mut definer, mut reader) = with_table("d_place");
    definer.must("CREATE TABLE u SELECT 1 AS id, 55 AS v").unwrap();
    arena.warm(&mut reader, READ);
    all(&mut definer, &["RENAME TABLE t TO x", "CREATE VIEW t AS SELECT * FROM u"]);
    (0..3).for_each(|_| assert_eq!(rows_text(&reader.query(READ).unwrap()), "55"));
    definer.must("UPDATE u SET v = 56").unwrap();
    assert_eq!(rows_text(&reader.query(READ).unwrap()), "56");
    all(&mut definer, &["DROP VIEW t", "RENAME TABLE x TO t"]);
    assert_eq!(arena.warm(&mut reader, READ), "10");
}

#[test]
fn views() {
    let (mut arena, mut definer, mut reader) = with_table("d_views");
    arena.warm(&mut reader, READ);
    all(
        &mut definer,
        &[
            "CREATE TABLE u SELECT 1 AS id, 55 AS v",
            "CREATE VIEW w AS SELECT id, v FROM t WHERE id = 1",
            "CREATE VIEW ww AS SELECT v FROM w",
        ],
    );
    let steps = [
        ("UPDATE t SET v = 11 WHERE id = 1", "11"),
        ("ALTER VIEW w AS SELECT id, v + 1000 AS v FROM t WHERE id = 1", "1011"),
        ("CREATE OR REPLACE VIEW w AS SELECT id, v FROM u", "55"),
        ("UPDATE u SET v = 56", "56"),
        ("RENAME TABLE u TO x, t TO u", "11;20;30;40;50"),
        ("RENAME TABLE u TO t, x TO u", "56"),
        ("DROP VIEW w; CREATE VIEW w AS SELECT id, v FROM t WHERE id = 2", "20"),
        ("DROP VIEW w; CREATE TABLE w SELECT 1 AS id, 77 AS v", "77"),
        ("UPDATE w SET v = 78", "78"),
    ];
    stays_true(&mut arena, &mut reader, &mut definer, "SELECT v FROM ww", &steps);
    assert_eq!(arena.warm(&mut reader, "SELECT v FROM u"), "56");
}

#[test]
fn views_with_what_may_not_be_kept() {
    let (mut arena, mut definer, mut reader) = with_table("d_unsafe");
    arena.warm(&mut reader, READ);
    all(
        &mut definer,
        &[
            "CREATE FUNCTION moment() RETURNS DOUBLE RETURN SYSDATE(6) + 0",
            "CREATE VIEW m AS SELECT moment() AS n, v FROM t WHERE id = 1",
            "CREATE VIEW r AS SELECT RAND() AS n FROM t WHERE id = 1",
            "CREATE VIEW s AS SELECT CURRENT_USER() AS n FROM t WHERE id = 1",
        ],
    );
    for read in ["SELECT n FROM m", "SELECT n FROM r", "SELECT n FROM `R`", "SELECT d_unsafe.s.n FROM d_unsafe.s"] {
        if rows_text(&reader.query(read).unwrap()).starts_with("error") {
            continue;
        }
        (0..4).for_each(|_| assert!(!arena.ask(&mut reader, read).1, "`{read}` was kept"));
    }
    assert_eq!(arena.warm(&mut reader, READ), "10");
}

#[test]
fn views_with_names_beyond_ascii() {
    let (mut arena, mut definer, mut reader) = with_table("d_beyond");
    let mut latin = arena.client_with(&["SET NAMES latin1"]);
    all(
        &mut definer,
        &[
            "CREATE VIEW `vä` AS SELECT RAND() AS n FROM t WHERE id = 1",
            "CREATE TABLE `tä` SELECT 7 AS v",
            "CREATE DATABASE `d_ö`",
            "CREATE VIEW `d_ö`.plain AS SELECT RAND() AS n FROM d_beyond.t WHERE id = 1",
        ],
    );
    assert_eq!(arena.warm(&mut reader, "SELECT v FROM `tä`"), "7");
    for read in ["SELECT n FROM `vä`", "SELECT n FROM `d_ö`.plain", "SELECT n FROM `d_ö`.`plain`"] {
        (0..6).for_each(|_| assert!(!arena.ask(&mut reader, read).1, "`{read}` was kept"));
    }
    let read = b"SELECT n FROM `v\xE4`";
    for _ in 0..6 {
        let (response, hits) = arena.counted(|| latin.query(read).unwrap());
        assert!(response.failure().is_none() && hits == 0, "{response:?}");
    }
    definer.must("DROP DATABASE `d_ö`").unwrap();
}

#[test]
fn stored_routines_that_are_redefined() {
    let (mut arena, mut definer, mut reader) = with_table("d_routines");
    definer.must("CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1").unwrap();
    definer.must("CREATE VIEW w AS SELECT f() + v AS n FROM t WHERE id = 1").unwrap();
    let steps = [
        ("CREATE OR REPLACE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 2", "12,2"),
        (
            "DROP FUNCTION f; CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN (SELECT v FROM t WHERE id = 2)",
            "30,20",
        ),
        ("UPDATE t SET v = 21 WHERE id = 2", "31,21"),
    ];
    stays_true(&mut arena, &mut reader, &mut definer, "SELECT n, f() FROM w", &steps);
    // A function with the name of a native one is only called if it is qualified with its database.
    arena.warm(&mut reader, "SELECT ABS(-1) FROM t WHERE id = 1");
}

#[test]
fn partitions() {
    let (mut arena, mut definer, mut reader) = with_table("d_partitions");
    all(
        &mut definer,
        &[
            "CREATE TABLE p (id INT PRIMARY KEY, v INT) PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (10), PARTITION b VALUES LESS THAN (20), PARTITION c VALUES LESS THAN MAXVALUE)",
            "INSERT INTO p VALUES (1, 1), (11, 2), (21, 4)",
            "CREATE TABLE x (id INT PRIMARY KEY, v INT)",
            "INSERT INTO x VALUES (12, 8)",
        ],
    );
    let read = "SELECT SUM(v) FROM p";
    arena.warm(&mut reader, "SELECT SUM(v) FROM x");
    let steps = [
        ("ALTER TABLE p EXCHANGE PARTITION b WITH TABLE x", "13"),
        ("UPDATE p SET v = 16 WHERE id = 12", "21"),
        ("UPDATE p SET id = 2 WHERE id = 12", "21"),
        ("ALTER TABLE p TRUNCATE PARTITION a", "4"),
        ("INSERT INTO p VALUES (3, 1)", "5"),
        ("ALTER TABLE p DROP PARTITION a", "4"),
        (
            "ALTER TABLE p REORGANIZE PARTITION c INTO (PARTITION c VALUES LESS THAN (30), PARTITION d VALUES LESS THAN MAXVALUE)",
            "4",
        ),
        ("INSERT INTO p PARTITION (d) VALUES (40, 3)", "7"),
        ("ALTER TABLE p REMOVE PARTITIONING", "7"),
        ("DELETE FROM p WHERE id = 40", "4"),
    ];
    each_follows(&mut arena, &mut reader, &mut definer, read, &steps);
    assert_eq!(rows_text(&reader.query("SELECT SUM(v) FROM x").unwrap()), "2");
}

#[test]
fn partitions_exchanged_change_both_tables() {
    let (mut arena, mut definer, mut reader) = with_table("d_exchange");
    all(
        &mut definer,
        &[
            "CREATE TABLE p (id INT PRIMARY KEY, v INT) PARTITION BY HASH (id) PARTITIONS 1",
            "INSERT INTO p VALUES (1, 7)",
            "CREATE TABLE x (id INT PRIMARY KEY, v INT)",
        ],
    );
    let exchange = || drop(definer.must("ALTER TABLE p EXCHANGE PARTITION p0 WITH TABLE x").unwrap());
    arena.warm(&mut reader, "SELECT SUM(v) FROM p");
    arena.check_write_shows(&mut reader, "SELECT SUM(v) FROM x", exchange, "7");
    assert_eq!(arena.warm(&mut reader, "SELECT SUM(v) FROM p"), "NULL");
}

#[test]
fn read_only_databases_and_check_constraints_change_nothing() {
    let (mut arena, mut definer, mut reader) = with_table("d_check");
    let steps = [
        ("ALTER TABLE t ADD CONSTRAINT c CHECK (v < 100)", "10"),
        ("ALTER DATABASE d_check CHARACTER SET latin1", "10"),
        ("ANALYZE TABLE t", "10"),
        ("CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.v = 1", "10"),
        ("REPLACE INTO t VALUES (1, 12)", "1"),
        ("DROP TRIGGER g", "1"),
        ("REPLACE INTO t VALUES (1, 12)", "12"),
    ];
    stays_true(&mut arena, &mut reader, &mut definer, READ, &steps);
    arena.warm(&mut reader, READ);
    assert_eq!(rows_text(&definer.query("UPDATE t SET v = 1000 WHERE id = 1").unwrap()), "error 4025");
    assert_eq!(arena.warm(&mut reader, READ), "12");
}

fn account(arena: &Arena, name: &str) -> Login {
    Login { database: None, password: name.into(), user: name.into(), ..arena.login() }
}

#[test]
fn granted_and_revoked_privileges() {
    let (mut arena, mut definer, mut root) = with_table("d_grants");
    let read = "SELECT v FROM d_grants.t WHERE id = 1";
    arena.warm(&mut root, read);
    definer.must("CREATE USER ann@'%' IDENTIFIED BY 'ann'").unwrap();
    let mut ann = arena.client_as(&account(&arena, "ann"));
    let scopes = [
        ("GRANT SELECT ON d_grants.t TO ann@'%'", "REVOKE SELECT ON d_grants.t FROM ann@'%'"),
        ("GRANT SELECT (id, v) ON d_grants.t TO ann@'%'", "REVOKE SELECT (v) ON d_grants.t FROM ann@'%'"),
        ("GRANT SELECT ON d_grants.t TO ann@'%'", "REVOKE ALL PRIVILEGES, GRANT OPTION FROM ann@'%'"),
    ];
    for (grant, revoke) in scopes {
        (0..2).for_each(|_| assert!(rows_text(&ann.query(read).unwrap()).starts_with("error 114")));
        definer.must(grant).unwrap();
        assert_eq!(arena.warm(&mut ann, read), "10");
        definer.must(revoke).unwrap();
        (0..2).for_each(|_| {
            let (response, is_hit) = arena.ask(&mut ann, read);
            assert!(
                rows_text(&response).starts_with("error 114") && !is_hit,
                "after `{revoke}`: {}",
                rows_text(&response)
            );
        });
    }
    // Privileges on a database reach sessions as the server decides: by USE or the next connection.
    definer.must("GRANT SELECT ON d_grants.* TO ann@'%'").unwrap();
    let mut ann = arena.client_as(&account(&arena, "ann"));
    assert_eq!(arena.warm(&mut ann, read), "10");
    definer.must("REVOKE SELECT ON d_grants.* FROM ann@'%'").unwrap();
    let mut again = arena.client_as(&account(&arena, "ann"));
    (0..2).for_each(|_| arena.miss(&mut again, read, "error 1142"));
    assert_eq!(arena.warm(&mut root, read), "10");
}

type Way<'a> = &'a dyn Fn(&mut Client);

/// Checks that of two sessions of one account, one is served what it may still read and the other is refused. The server keeps the
/// privileges from the time when an account logged in, a database was chosen or a role set.
#[test]
fn privileges_that_only_older_sessions_have() {
    let (mut arena, mut definer, mut root) = with_table("d_kept");
    let read = "SELECT v FROM t WHERE id = 1";
    arena.warm(&mut root, read);
    all(
        &mut definer,
        &[
            "CREATE TABLE others (id INT)",
            "CREATE ROLE keepers",
            "CREATE USER gus@'%' IDENTIFIED BY 'gus'",
            "GRANT keepers TO gus@'%'",
            "GRANT SELECT ON d_kept.others TO gus@'%'",
        ],
    );
    let login = account(&arena, "gus");
    let by_use = |client: &mut Client| drop(client.must("USE d_kept").unwrap());
    let by_init_db = |client: &mut Client| assert!(client.init_db("d_kept").unwrap().failure().is_none());
    let by_role = |client: &mut Client| all(client, &["SET ROLE keepers", "USE d_kept"]);
    let ways: [(&str, Way); 4] = [
        ("d_kept.* TO gus@'%'", &by_use),
        ("d_kept.* TO gus@'%'", &by_init_db),
        ("*.* TO keepers", &by_role),
        ("d_kept.* TO keepers", &by_role),
    ];
    for (granted, choose) in ways {
        definer.must(&format!("GRANT SELECT ON {granted}")).unwrap();
        let (mut older, mut newer) = (arena.client_as(&login), arena.client_as(&login));
        choose(&mut older);
        arena.warm(&mut older, read);
        definer.must(&format!("REVOKE SELECT ON {}", granted.replace(" TO ", " FROM "))).unwrap();
        assert_eq!(arena.warm(&mut older, read), "10", "{granted}");
        choose(&mut newer);
        (0..2).for_each(|_| arena.miss(&mut newer, read, "error 1142"));
    }
    // A reset restores settings, not privileges.
    definer.must("GRANT SELECT ON *.* TO gus@'%'").unwrap();
    let login = Login { database: Some("d_kept".into()), ..login };
    let mut older = arena.client_as(&login);
    arena.warm(&mut older, read);
    definer.must("REVOKE SELECT ON *.* FROM gus@'%'").unwrap();
    assert!(older.reset_connection().unwrap().failure().is_none());
    let mut newer = arena.client_as(&login);
    assert_eq!(arena.warm(&mut older, read), "10");
    (0..2).for_each(|_| arena.miss(&mut newer, read, "error 1142"));
}

/// If two clients use one account, each has the privileges that are granted to the place it connects from. A session may come back from
/// another database, where it used a routine or a statement prepared there. It then has the privileges on its current database as they
/// are granted now. From then on it may not read what other sessions of its account still may, nor what it could read before.
#[test]
fn privileges_that_are_looked_up_anew_on_the_way_back_from_another_database() {
    let (mut arena, mut definer, mut root) = with_table("d_back");
    let read = "SELECT v FROM t WHERE id = 1";
    arena.warm(&mut root, read);
    all(
        &mut definer,
        &[
            "CREATE DATABASE d_away",
            "CREATE PROCEDURE d_away.p() BEGIN END",
            "CREATE FUNCTION d_away.f() RETURNS INT DETERMINISTIC RETURN 7",
            "CREATE VIEW d_away.w AS SELECT d_away.f() AS x",
            "CREATE USER ian@'%' IDENTIFIED BY 'ian'",
            "GRANT ALL ON d_away.* TO ian@'%'",
            "GRANT INSERT ON d_back.* TO ian@'%'",
        ],
    );
    let login = Login { database: Some("d_back".into()), ..account(&arena, "ian") };
    let ways = [
        "CALL d_away.p()",
        "SELECT d_away.f()",
        "SELECT x FROM d_away.w",
        "DO d_away.f()",
        "INSERT INTO t VALUES (100 + d_away.f(), 1)",
        "SHOW CREATE PROCEDURE d_away.p",
        "",
    ];
    for way in ways {
        definer.must("GRANT SELECT ON d_back.* TO ian@'%'").unwrap();
        let (mut one, mut other) = (arena.client_as(&login), arena.client_as(&login));
        assert!(one.init_db("d_away").unwrap().failure().is_none());
        let prepared = one.prepare("SELECT 1").unwrap().1.expect("a statement");
        assert!(one.init_db("d_back").unwrap().failure().is_none());
        definer.must("REVOKE SELECT ON d_back.* FROM ian@'%'").unwrap();
        assert_eq!((arena.warm(&mut one, read), arena.warm(&mut other, read)), ("10".into(), "10".into()), "{way}");
        match way {
            "" => assert!(one.execute(&prepared, &[]).unwrap().failure().is_none()),
            way => drop(one.must(way).unwrap()),
        }
        (0..2).for_each(|_| arena.miss(&mut one, read, "error 1142"));
        assert_eq!(arena.warm(&mut other, read), "10");
    }
}

#[test]
fn grants_to_the_address_of_a_client() {
    let server = Arc::new(start(&["--skip-name-resolve=OFF"]));
    let mut arena = Arena::on(server, "d_address");
    let mut definer = arena.client();
    small_table(&mut definer, "t", "InnoDB");
    all(
        &mut definer,
        &[
            "CREATE USER near@localhost IDENTIFIED BY 'near'",
            "CREATE USER near@127.0.0.1 IDENTIFIED BY 'near'",
            "GRANT SELECT ON d_address.* TO near@127.0.0.1",
        ],
    );
    let (login, read) = (account(&arena, "near"), "SELECT v FROM d_address.t WHERE id = 1");
    let mut by_address = arena.client_as(&login);
    assert_eq!(arena.warm(&mut by_address, read), "10");
    let mut by_name = Client::connect(&arena.server.unix_endpoint(), &login).unwrap();
    arena.miss(&mut by_name, read, "error 1142");
}

/// Checks a privilege that is granted to an account with a narrower host. It also applies to older sessions of the wider account, but only
/// to those that connect from that host.
#[test]
fn grants_to_some_of_the_clients_of_an_account() {
    let (mut arena, mut definer, _) = with_table("d_some");
    definer.must("CREATE USER wide@'%' IDENTIFIED BY 'wide'").unwrap();
    let (login, read) = (account(&arena, "wide"), "SELECT v FROM d_some.t WHERE id = 1");
    let mut by_address = arena.client_as(&login);
    let mut by_socket = Client::connect(&arena.server.unix_endpoint(), &login).unwrap();
    arena.miss(&mut by_address, read, "error 1142");
    for grant in ["GRANT SELECT ON d_some.* TO wide@127.0.0.1", "GRANT SELECT ON d_some.t TO wide@127.0.0.1"] {
        definer.must("CREATE USER wide@127.0.0.1 IDENTIFIED BY 'wide'").unwrap();
        definer.must(grant).unwrap();
        assert_eq!(arena.warm(&mut by_address, read), "10");
        (0..2).for_each(|_| arena.miss(&mut by_socket, read, "error 1142"));
        definer.must("DROP USER wide@127.0.0.1").unwrap();
        (0..2).for_each(|_| arena.miss(&mut by_address, read, "error 1142"));
    }
    definer.must("GRANT SELECT ON d_some.* TO wide@'%'").unwrap();
    // If the account has one host only, all its clients have the same privileges again.
    until("clients at two places share results", || {
        arena.warm(&mut by_address, read);
        arena.ask(&mut by_socket, read).1
    });
}

/// Checks that a session that logs in after its account's password has expired is served nothing, while an older session still is. The
/// server answers nothing to the new session until the password is changed.
#[test]
fn an_account_whose_password_expires() {
    const EXPIRED: u16 = 1820;
    let (mut arena, mut definer, _) = with_table("d_expires");
    let (login, read) = (account(&arena, "expiring"), "SELECT v FROM d_expires.t WHERE id = 1");
    let create = "CREATE USER expiring IDENTIFIED BY 'expiring' PASSWORD EXPIRE INTERVAL 1 DAY";
    all(&mut definer, &[create, "GRANT SELECT ON d_expires.* TO expiring"]);
    for seconds in [4, 8, 16, 32, 64, 128] {
        let moment = format!("UNIX_TIMESTAMP() - 86400 + {seconds}");
        let set = format!("JSON_SET(Priv, '$.password_last_changed', {moment})");
        all(
            &mut definer,
            &[&format!("UPDATE mysql.global_priv SET Priv = {set} WHERE User = 'expiring'"), "FLUSH PRIVILEGES"],
        );
        let mut early = arena.client_as(&login);
        let is_expired = |client: &mut Client| {
            client.query("SELECT 1").unwrap().failure().is_some_and(|failure| failure.code == EXPIRED)
        };
        if is_expired(&mut early) {
            continue;
        }
        assert_eq!(arena.warm(&mut early, read), "10");
        until("the password has expired", || is_expired(&mut arena.client_as(&login)));
        let mut late = arena.client_as(&login);
        arena.miss(&mut late, read, &format!("error {EXPIRED}"));
        assert_eq!(arena.warm(&mut early, read), "10");
        return drop(definer.must("DROP USER expiring").unwrap());
    }
    panic!("the machine is too slow to have a password expire");
}

#[test]
fn privileges_changed_by_hand() {
    let (mut arena, mut definer, mut root) = with_table("d_byhand");
    let read = "SELECT v FROM d_byhand.t WHERE id = 1";
    arena.warm(&mut root, read);
    all(&mut definer, &["CREATE USER bob@'%' IDENTIFIED BY 'bob'", "GRANT SELECT ON d_byhand.t TO bob@'%'"]);
    let mut bob = arena.client_as(&account(&arena, "bob"));
    assert_eq!(arena.warm(&mut bob, read), "10");
    all(&mut definer, &["DELETE FROM mysql.tables_priv WHERE user = 'bob'", "FLUSH PRIVILEGES"]);
    (0..2).for_each(|_| arena.miss(&mut bob, read, "error 1142"));
    definer.must("DROP USER bob@'%'").unwrap();
    (0..2).for_each(|_| arena.miss(&mut bob, read, "error 1142"));
}

#[test]
fn roles() {
    let (mut arena, mut definer, mut root) = with_table("d_roles");
    let read = "SELECT v FROM d_roles.t WHERE id = 1";
    arena.warm(&mut root, read);
    all(
        &mut definer,
        &[
            "CREATE ROLE readers",
            "GRANT SELECT ON d_roles.t TO readers",
            "CREATE USER cat@'%' IDENTIFIED BY 'cat'",
            "GRANT readers TO cat@'%'",
        ],
    );
    let mut cat = arena.client_as(&account(&arena, "cat"));
    arena.miss(&mut cat, read, "error 1142");
    cat.must("SET ROLE readers").unwrap();
    assert_eq!(arena.warm(&mut cat, read), "10");
    cat.must("SET ROLE NONE").unwrap();
    (0..2).for_each(|_| arena.miss(&mut cat, read, "error 1142"));
    cat.must("SET ROLE `readers`").unwrap();
    assert_eq!(arena.warm(&mut cat, read), "10");
    definer.must("SET DEFAULT ROLE readers FOR cat@'%'").unwrap();
    let mut cat = arena.client_as(&account(&arena, "cat"));
    assert_eq!(arena.warm(&mut cat, read), "10");
    definer.must("REVOKE SELECT ON d_roles.t FROM readers").unwrap();
    (0..2).for_each(|_| arena.miss(&mut cat, read, "error 1142"));
    definer.must("DROP ROLE readers").unwrap();
    (0..2).for_each(|_| arena.miss(&mut cat, read, "error 1142"));
}

#[test]
fn rows_that_depend_on_the_account() {
    let (mut arena, mut definer, mut root) = with_table("d_rows");
    arena.warm(&mut root, READ);
    all(
        &mut definer,
        &[
            "CREATE TABLE o (owner VARCHAR(80), v INT)",
            "INSERT INTO o VALUES ('dan@127.0.0.1', 1), ('eve@127.0.0.1', 2)",
            "CREATE SQL SECURITY DEFINER VIEW own AS SELECT v FROM o WHERE owner = USER()",
            "CREATE USER dan@'%' IDENTIFIED BY 'dan'",
            "CREATE USER eve@'%' IDENTIFIED BY 'eve'",
            "GRANT SELECT ON d_rows.own TO dan@'%', eve@'%'",
        ],
    );
    let (mut dan, mut eve) = (arena.client_as(&account(&arena, "dan")), arena.client_as(&account(&arena, "eve")));
    for _ in 0..3 {
        assert_eq!(rows_text(&dan.query("SELECT v FROM d_rows.own").unwrap()), "1");
        assert_eq!(rows_text(&eve.query("SELECT v FROM d_rows.own").unwrap()), "2");
    }
    assert_eq!(rows_text(&dan.query("SELECT v FROM d_rows.o").unwrap()), "error 1142");
}

/// Checks that no other session gains from a role that the server leaves in force when a session changes its user or resets.
#[test]
fn roles_outlive_a_change_of_user_and_a_reset() {
    let (mut arena, mut definer, mut root) = with_table("d_outlive");
    let read = "SELECT v FROM d_outlive.t WHERE id = 1";
    arena.warm(&mut root, read);
    all(
        &mut definer,
        &[
            "CREATE ROLE lenders",
            "GRANT SELECT ON d_outlive.t TO lenders",
            "CREATE USER fay@'%' IDENTIFIED BY 'fay'",
            "GRANT lenders TO fay@'%'",
        ],
    );
    let login = account(&arena, "fay");
    let again = |client: &mut Client| client.change_user(&login).unwrap();
    let reset = |client: &mut Client| client.reset_connection().unwrap();
    let ways: [&dyn Fn(&mut Client) -> Response; 2] = [&again, &reset];
    for begin_anew in ways {
        let (mut fay, mut other) = (arena.client_as(&login), arena.client_as(&login));
        fay.must("SET ROLE lenders").unwrap();
        assert_eq!(arena.warm(&mut fay, read), "10");
        assert!(begin_anew(&mut fay).failure().is_none());
        (0..4).for_each(|_| drop(fay.query(read).unwrap()));
        (0..2).for_each(|_| arena.miss(&mut other, read, "error 1142"));
        let mut new = arena.client_as(&login);
        (0..2).for_each(|_| arena.miss(&mut new, read, "error 1142"));
    }
}

/// Checks that a storage engine can be unloaded at once, although the engine looks up tables. It asks the server about each table that is
/// new to it. If the table is gone by then, the server asks all of its storage engines.
#[test]
fn a_storage_engine_is_never_busy_with_a_question() {
    let server = start(&[]);
    server.admin().unwrap().must("CREATE DATABASE d").unwrap();
    // Do not search further up, because the files of another server may be there.
    let library = server.program().canonicalize().unwrap().ancestors().take(3).find_map(|above| {
        let library = above.join("lib/mysql/plugin/ha_archive.so");
        library.is_file().then_some(library)
    });
    let Some(library) = library else {
        return eprintln!("SKIPPED: THIS SERVER HAS NO STORAGE ENGINE THAT COULD BE LOADED (Debian: mariadb-server)");
    };
    std::fs::copy(library, server.plugins().join("ha_archive.so")).unwrap();
    let (mut client, mut reader) = (server.admin().unwrap(), server.admin().unwrap());
    for round in 0..100 {
        client.must("INSTALL SONAME 'ha_archive'").unwrap();
        let tables: Vec<_> = (0..8).map(|number| format!("d.a{round}_{number}")).collect();
        for table in &tables {
            client.must(&format!("CREATE TABLE {table} (id INT) ENGINE = MEMORY")).unwrap();
        }
        for table in &tables {
            reader.must(&format!("SELECT * FROM {table}")).unwrap();
        }
        client.must(&format!("DROP TABLE {}", tables.join(", "))).unwrap();
        client.must("UNINSTALL SONAME 'ha_archive'").unwrap();
        assert_eq!(rows_text(&client.must("SHOW WARNINGS").unwrap()), "", "in round {round}");
    }
}
