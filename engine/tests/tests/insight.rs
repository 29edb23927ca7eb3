//! Reports, adaptation, observation and verification: how the engine measures its own use, and what it does with the results.

mod traps;

use std::fs;
use std::time::{Duration, Instant};

use fqc_tests::client::{Client, Response};
use traps::{Arena, all, flush_of_all, rows_text, until, with_rule};

/// The statements that restore the settings of the whole server which a test has changed.
const RESTORE: [&str; 4] = [
    "SET GLOBAL fqc_observe = OFF",
    "SET GLOBAL fqc_verify_ppm = 0",
    "SET GLOBAL fqc_size = 67108864",
    "SET GLOBAL fqc_rules = DEFAULT",
];

/// The rows of a report whose first or second column contains a word, each as the texts of its columns.
fn lines(response: &Response, word: &str) -> Vec<Vec<String>> {
    let text = |value: &Option<Vec<u8>>| String::from_utf8_lossy(value.as_deref().unwrap_or(b"NULL")).into_owned();
    let rows = response.rows(false);
    let rows = rows.iter().map(|row| row.iter().map(text).collect::<Vec<_>>());
    rows.filter(|row| row.iter().take(2).any(|value| value.contains(word))).collect()
}

/// A status variable of the server that is a number.
fn status(arena: &Arena, name: &str) -> u64 {
    let shown = rows_text(&arena.client().query(format!("SHOW GLOBAL STATUS LIKE '{name}'").as_str()).unwrap());
    shown.split_once(',').and_then(|(_, value)| value.parse().ok()).unwrap_or_else(|| panic!("{name}: {shown}"))
}

#[test]
fn queries_and_tables_are_reported() {
    let mut arena = Arena::enter("i_reports");
    let mut client = arena.client_with(&[
        "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20)) ENGINE=InnoDB",
        "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
    ]);
    // This read makes the table known. Reads that wait for an unknown table are counted later, which may be after the flush.
    arena.warm(&mut client, "SELECT COUNT(*) FROM i_reports.t");
    for read in ["SELECT v FROM i_reports.t WHERE id = 1", "SELECT v FROM i_reports.t WHERE id = 2"] {
        arena.warm(&mut client, read);
    }
    client.must("SELECT v, RAND() FROM i_reports.t WHERE v <> 'x''y'").unwrap();
    let flush = flush_of_all(&mut client);
    client.must(flush).unwrap();
    for _ in 0..10 {
        client.must("SELECT v FROM i_reports.t WHERE id = 2").unwrap();
    }
    client.must("SELECT v, RAND() FROM i_reports.t WHERE v <> 'x''y'").unwrap();
    let report = client.must("SHOW FQC QUERIES").unwrap();
    let queries = lines(&report, "SELECT v FROM i_reports.t WHERE id = ?");
    assert_eq!(queries.len(), 1, "{}", rows_text(&report));
    assert_eq!(queries[0][15], "i_reports.t", "the tables that it reads");
    assert_eq!((queries[0][0].len(), &queries[0][2..6]), (32, &["10", "10", "1.0000", "0"].map(String::from)[..]));
    let others = lines(&report, "SELECT v, RAND() FROM i_reports.t WHERE v <> ?");
    assert_eq!((&others[0][3], &others[0][6], others[0][7].as_str()), (&"0".into(), &"1".into(), "nondeterministic=1"));
    let tables = lines(&client.must("SHOW FQC TABLES").unwrap(), "i_reports");
    assert_eq!((tables[0][1].as_str(), tables[0][2].as_str(), tables[0][4].as_str()), ("t", "3", "10"), "{tables:?}");
    assert!(tables[0][5].parse::<u64>().unwrap() >= 3 && tables[0][6].parse::<u64>().unwrap() >= 1, "{tables:?}");
    // The engine may sweep an invalidated result away before a read finds it, so the test repeats.
    until("a result was found outdated", || {
        client.must("UPDATE t SET v = IF(v = 'c', 'd', 'c') WHERE id = 2").unwrap();
        client.must("SELECT v FROM i_reports.t WHERE id = 2").unwrap();
        let queries = lines(&client.must("SHOW FQC QUERIES").unwrap(), "WHERE id = ?");
        queries[0][8] == "1"
    });
}

#[test]
fn a_reason_names_the_statement_that_had_it_most_often() {
    let arena = Arena::enter("i_foremost");
    let mut client = arena.client_with(&["CREATE TABLE t (id INT PRIMARY KEY, v INT)"]);
    let flush = flush_of_all(&mut client);
    all(&mut client, &[flush]);
    let (often, once) = ("SELECT v, RAND() FROM i_foremost.t", "SELECT id, RAND() FROM i_foremost.t");
    let foremost = |client: &mut Client, reason: &str| {
        let shown = client.must(&format!("SHOW FQC REASONS WHERE Reason = '{reason}'")).unwrap();
        lines(&shown, reason)[0].last().unwrap().clone()
    };
    all(&mut client, &[once]);
    until("the statement that was refused most often", || {
        all(&mut client, &[often]);
        foremost(&mut client, "nondeterministic") == often
    });
    // A text with a variable has no shape.
    all(&mut client, &["SELECT @a FROM i_foremost.t"]);
    assert_eq!(foremost(&mut client, "user_variable"), "NULL");
}

#[test]
fn the_columns_of_a_long_list_are_shown_by_their_number() {
    let arena = Arena::enter("i_columns");
    let columns: Vec<_> = (0..9).map(|number| format!("`t`.`c{number}`")).collect();
    let definition = columns.iter().map(|name| format!("{} INT", &name[4..])).collect::<Vec<_>>().join(", ");
    let mut client = arena.client_with(&[&format!("CREATE TABLE t ({definition})")]);
    let read = |condition: &str| format!("SELECT {} FROM i_columns.t WHERE {condition} = 1", columns.join(", "));
    for condition in ["c1", "c2"] {
        let expected = format!("SELECT `t`.`c0`, [8 more] FROM i_columns.t WHERE {condition} = ?");
        // A shape gets its own counters at its first read that finds the list of shapes unlocked.
        until(&expected, || {
            all(&mut client, &[&read(condition)]);
            let shown = client.must("SHOW FQC QUERIES WHERE Query LIKE '%i_columns.t%'").unwrap();
            lines(&shown, &expected).len() == 1
        });
    }
}

#[test]
fn what_comments_say_hides_no_statement() {
    let mut arena = Arena::enter("i_comments");
    let mut client = arena.client_with(&["CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1), (2)"]);
    let reads = [
        "/* Title::load */ SELECT id FROM i_comments.t WHERE id = 1",
        "SELECT id FROM i_comments.t WHERE id = 2 /* request='it''s 7' */",
        "SELECT id FROM i_comments.t WHERE id = 2",
    ];
    arena.warm(&mut client, "SELECT COUNT(*) FROM i_comments.t");
    reads.iter().for_each(|read| drop(arena.warm(&mut client, read)));
    let flush = flush_of_all(&mut client);
    client.must(flush).unwrap();
    for read in reads {
        (0..4).for_each(|_| drop(client.must(read).unwrap()));
    }
    client.must("/*! SELECT */ id FROM i_comments.t WHERE id = 1").unwrap();
    let report = client.must("SHOW FQC QUERIES").unwrap();
    let queries = lines(&report, "i_comments.t WHERE id");
    assert_eq!(queries.len(), 1, "{}", rows_text(&report));
    assert_eq!(queries[0][1..4], ["SELECT id FROM i_comments.t WHERE id = ?", "12", "12"].map(String::from));
}

#[test]
fn prepared_statements_are_reported_under_their_text() {
    let mut arena = Arena::enter("i_prepared");
    let mut client = arena.client_with(&["CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1)"]);
    let prepared = client.prepare("SELECT id FROM i_prepared.t WHERE id = ?").unwrap().1.unwrap();
    let params = [fqc_tests::client::Param::Int(1)];
    until("a prepared read is a hit", || arena.ask_prepared(&mut client, &prepared, &params).1);
    let queries = lines(&client.must("SHOW FQC QUERIES").unwrap(), "SELECT id FROM i_prepared.t WHERE id = ?");
    assert!(queries.len() == 1 && queries[0][3].parse::<u64>().unwrap() >= 1, "{queries:?}");
}

#[test]
fn the_curve_has_seven_sizes_once_there_was_traffic() {
    let mut arena = Arena::enter("i_curve");
    let mut client = arena.client_with(&[
        "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(200))",
        "INSERT INTO t SELECT seq, REPEAT('x', 200) FROM seq_1_to_400",
        "SET GLOBAL fqc_size = 65536",
    ]);
    arena.warm(&mut client, "SELECT v FROM t WHERE id = 1");
    let mut curve = Vec::new();
    until("a curve", || {
        for id in 1..=400 {
            client.must(&format!("SELECT v FROM t WHERE id = {id}")).unwrap();
        }
        curve = client.must("SHOW FQC CURVE").unwrap().rows(false);
        // The new size takes effect after a moment, and before the ratio is right most requests were the first of their kind.
        curve.first().is_some_and(|row| said_number(&row[0]) == 8192.0)
            && curve.last().is_some_and(|row| said_number(&row[1]) > 0.5)
    });
    let sizes: Vec<_> = curve.iter().map(|row| said_number(&row[0])).collect();
    assert_eq!(sizes, [8192.0, 16384.0, 32768.0, 65536.0, 131072.0, 262144.0, 524288.0]);
    let ratios: Vec<_> = curve.iter().map(|row| said_number(&row[1])).collect();
    // If only some of the keys are in the sample, those that are missing count as hits.
    assert!(ratios.is_sorted() && ratios[0] < ratios[6] / 2.0, "{ratios:?}");
    all(&mut client, &RESTORE);
}

fn said_number(value: &Option<Vec<u8>>) -> f64 {
    std::str::from_utf8(value.as_deref().expect("a number")).unwrap().parse().unwrap()
}

/// The numbers of requests and of hits that the engine has observed so far.
fn observed(arena: &Arena) -> [u64; 2] {
    let show = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Fqc_observed_requests', 'Fqc_observed_hits')";
    let shown = lines(&arena.client().query(show).unwrap(), "observed");
    ["Fqc_observed_requests", "Fqc_observed_hits"].map(|name| {
        shown
            .iter()
            .find(|row| row[0] == name)
            .and_then(|row| row[1].parse().ok())
            .unwrap_or_else(|| panic!("{shown:?}"))
    })
}

#[test]
fn observation_tells_what_the_cache_would_do_and_stores_nothing() {
    let mut arena = Arena::enter("i_observes");
    // There are so many keys that it does not matter which of them are in the sample, if it contains only some.
    let mut client = arena
        .client_with(&["CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t SELECT seq, 0 FROM seq_1_to_400"]);
    arena.warm(&mut client, "SELECT v FROM i_observes.t WHERE id = 1");
    let off = ["RESET QUERY CACHE", "SET GLOBAL query_cache_type = OFF", "SET GLOBAL fqc_observe = ON", "FLUSH STATUS"];
    all(&mut client, &off);
    let mut client = arena.client();
    // A session with query_cache_type = OFF would not be served, so it is not observed either.
    client.must("SET SESSION query_cache_type = OFF").unwrap();
    client.must("SELECT SUM(v) FROM i_observes.t").unwrap();
    assert!(rows_text(&client.must("SHOW FQC STATUS").unwrap()).contains("query_cache_type is OFF"));
    assert_eq!(lines(&client.query("SHOW FQC QUERIES").unwrap(), "SUM(v)"), Vec::<Vec<String>>::new());
    let mut client = arena.client();
    client.must("USE i_observes").unwrap();
    assert!(rows_text(&client.must("SHOW FQC STATUS").unwrap()).contains("OFF, but observed"));
    let reads = |arena: &Arena, client: &mut fqc_tests::client::Client, write: Option<&str>| {
        for id in 1..=400 {
            client.must(&format!("SELECT v FROM i_observes.t WHERE id = {id}")).unwrap();
            write.map(|write| client.must(write).unwrap());
        }
        observed(arena)
    };
    let before = arena.hits();
    until("most requests would have been hits", || {
        let [requests, hits] = reads(&arena, &mut client, None);
        assert!(hits <= requests);
        requests >= 1000 && hits >= requests / 10 * 9
    });
    assert_eq!(arena.hits(), before);
    assert_eq!(status(&arena, "Fqc_queries_in_cache"), 0);
    assert!(status(&arena, "Fqc_observed_time_saved_us") > 0);
    // Results that are invalidated before each read would not have been hits.
    let [requests, hits] = observed(&arena);
    until("outdated results are no hits", || {
        let [more, more_hits] = reads(&arena, &mut client, Some("UPDATE t SET v = v + 1"));
        more >= requests + 1000 && more_hits.saturating_sub(hits) <= (more - requests) / 4
    });
    all(&mut client, &RESTORE);
    all(&mut client, &["SET GLOBAL query_cache_type = ON"]);
}

/// Changes a value in the table's file behind the server's back, so that neither the server nor the engine notices.
fn plant(client: &mut fqc_tests::client::Client, old: &[u8; 8], new: &[u8; 8]) {
    let directory = rows_text(&client.query("SELECT @@datadir").unwrap());
    let file = std::path::Path::new(&directory).join("i_verifies/t.MYD");
    let mut bytes = fs::read(&file).unwrap();
    let at = bytes.windows(8).position(|part| part == old).expect("the row is in the file");
    bytes[at..at + 8].copy_from_slice(new);
    fs::write(&file, bytes).unwrap();
}

#[test]
fn verification_catches_a_wrong_result() {
    let mut arena = Arena::enter("i_verifies");
    let mut client = arena.client_with(&[
        "CREATE TABLE t (id INT, v CHAR(8)) ENGINE=MyISAM ROW_FORMAT=FIXED CHARACTER SET latin1",
        "INSERT INTO t VALUES (1, 'original')",
    ]);
    let read = "SELECT v FROM i_verifies.t WHERE id = 1";
    arena.warm(&mut client, read);
    plant(&mut client, b"original", b"replaced");
    arena.hit(&mut client, read, "original");

    all(&mut client, &["RESET QUERY CACHE", "SET GLOBAL fqc_verify_ppm = 1000000"]);
    let verified = status(&arena, "Fqc_verified");
    until("a stored result is compared", || {
        assert_eq!(rows_text(&client.query(read).unwrap()), "replaced");
        status(&arena, "Fqc_verified") > verified
    });
    assert_eq!(status(&arena, "Fqc_differences"), 0);
    plant(&mut client, b"replaced", b"modified");
    let (answer, is_hit) = arena.ask(&mut client, read);
    assert_eq!((rows_text(&answer).as_str(), is_hit), ("modified", false), "the server answered");
    // The comparison takes place after the answer was sent.
    until("the difference is counted", || status(&arena, "Fqc_differences") == 1);
    until("it is in the error log", || {
        let log = arena.server.error_log();
        log.contains("a stored result was not what the server answers") && log.contains("WHERE id = ?")
    });
    let verified = status(&arena, "Fqc_verified");
    until("what is stored now is compared", || {
        assert_eq!(rows_text(&client.query(read).unwrap()), "modified");
        status(&arena, "Fqc_verified") > verified
    });
    assert_eq!(status(&arena, "Fqc_differences"), 1, "the wrong result is gone");
    all(&mut client, &RESTORE);
}

#[test]
fn rules_are_checked_read_back_and_obeyed() {
    let mut arena = Arena::enter("i_rules");
    let mut client = arena.client_with(&[
        "CREATE TABLE t (id INT)",
        "CREATE TABLE u (id INT)",
        "INSERT INTO t VALUES (1)",
        "INSERT INTO u VALUES (1)",
    ]);
    let (t, u) = ("SELECT id FROM i_rules.t", "SELECT id FROM i_rules.u");
    let both = "SELECT t.id FROM i_rules.t JOIN i_rules.u USING (id)";
    for read in [t, u, both] {
        arena.warm(&mut client, read);
    }
    assert_eq!(rows_text(&client.query("SELECT @@fqc_rules").unwrap()), "");
    let rules = r#"[{"table": "i_rules.t", "cache": "never"}]"#;
    client.must(&format!("SET GLOBAL fqc_rules = '{rules}'")).unwrap();
    assert_eq!(rows_text(&client.query("SELECT @@GLOBAL.fqc_rules").unwrap()), rules);
    arena.check_never_hit(&mut client, t, u);
    arena.check_never_hit(&mut client, both, u);

    let wrong = client.query(r#"SET GLOBAL fqc_rules = '[{"table": "i_rules", "cache": "never"}]'"#).unwrap();
    let failure = wrong.failure().expect("it is refused");
    assert_eq!(failure.code, 1210);
    let message = &failure.message;
    assert!(message.contains("schema.table") && message.contains("line 1 column"), "{message}");
    assert_eq!(rows_text(&client.query("SET GLOBAL fqc_rules = 7").unwrap()), "error 1232");
    assert_eq!(rows_text(&client.query("SELECT @@fqc_rules").unwrap()), rules, "what is refused changes nothing");
    let long = format!(r#"[{{"schema": "{}", "cache": "never"}}]"#, "x".repeat(100_000));
    client.must(&format!("SET GLOBAL fqc_rules = '{long}'")).unwrap();
    assert_eq!(rows_text(&client.query("SELECT LENGTH(@@fqc_rules)").unwrap()), long.len().to_string());
    arena.warm(&mut client, t);
    client.must(&format!("SET GLOBAL fqc_rules = '{rules}'")).unwrap();
    client.must("SET GLOBAL fqc_rules = DEFAULT").unwrap();
    assert_eq!(rows_text(&client.query("SELECT @@fqc_rules").unwrap()), "");
    arena.warm(&mut client, both);
}

const WRITE: &str = "UPDATE t SET v = v + 1";

/// Writes other values until the cache serves a result despite a write. Returns that result.
fn outlive(arena: &mut Arena, client: &mut Client, read: &str) -> String {
    let mut old = String::new();
    until("a result outlives a write", || {
        old = arena.warm(client, read);
        client.must(WRITE).unwrap();
        let (answer, is_hit) = arena.ask(client, read);
        is_hit && rows_text(&answer) == old
    });
    old
}

#[test]
fn a_rule_keeps_results_alive_through_writes() {
    let (mut arena, mut client) = with_rule("i_lasting", 3600);
    let (t, u) = ("SELECT v FROM i_lasting.t WHERE id = 1", "SELECT v FROM i_lasting.u WHERE id = 1");
    let old = outlive(&mut arena, &mut client, t);
    let before = status(&arena, "Fqc_stale_hits");
    let mut other = arena.client();
    for _ in 0..5 {
        client.must(WRITE).unwrap();
        arena.hit(&mut client, t, &old);
        arena.hit(&mut other, t, &old);
    }
    assert_eq!(status(&arena, "Fqc_stale_hits"), before + 10);
    let queries = lines(&client.must("SHOW FQC QUERIES").unwrap(), "SELECT v FROM i_lasting.t");
    assert!(queries[0][14].parse::<u64>().unwrap() >= 10, "{queries:?}");
    arena.check_write_shows(&mut other, u, || drop(client.must("UPDATE u SET v = 7").unwrap()), "7");
    let both = "SELECT t.v + u.v FROM i_lasting.t JOIN i_lasting.u USING (id) WHERE id = 1";
    arena.warm(&mut other, both);
    client.must(WRITE).unwrap();
    let truth = arena.server_answer(both);
    arena.miss(&mut other, both, &truth);
    client.must("SET GLOBAL fqc_rules = DEFAULT").unwrap();
    let truth = arena.server_answer(t);
    arena.miss(&mut client, t, &truth);
    let next = (truth.parse::<u64>().unwrap() + 1).to_string();
    arena.check_write_shows(&mut other, t, || drop(client.must(WRITE).unwrap()), &next);
}

#[test]
fn transactions_definitions_and_privileges_see_what_is_true_despite_a_rule() {
    let (mut arena, mut client) = with_rule("i_lasting_ends", 3600);
    let read = "SELECT v FROM i_lasting_ends.t WHERE id = 1";
    for level in ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"] {
        let old = outlive(&mut arena, &mut client, read);
        let mut reader = arena.client_with(&[&format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"), "BEGIN"]);
        assert_ne!(rows_text(&reader.query(read).unwrap()), old, "{level}");
        reader.must(WRITE).unwrap();
        let own = rows_text(&reader.query(read).unwrap());
        assert!(own.parse::<u64>().unwrap() >= old.parse::<u64>().unwrap() + 2, "{level}: {own} after {old}");
        reader.must("ROLLBACK").unwrap();
    }
    for change in ["ALTER TABLE t ADD COLUMN w INT", "GRANT SELECT ON i_lasting_ends.* TO PUBLIC", "FLUSH TABLES"] {
        outlive(&mut arena, &mut client, read);
        client.must(change).unwrap();
        let truth = arena.server_answer(read);
        let (answer, is_hit) = arena.ask(&mut client, read);
        assert_eq!((rows_text(&answer), is_hit), (truth, false), "{change}");
    }
    all(&mut client, &RESTORE);
}

#[test]
fn a_rule_keeps_nothing_alive_beyond_its_time() {
    let (mut arena, mut client) = with_rule("i_lasting_time", 2);
    let read = "SELECT v FROM i_lasting_time.t WHERE id = 1";
    // Each read on the server finds another value, so an old value comes from the same result.
    let (mut value, mut told) = (String::new(), Instant::now());
    let (mut results, mut stale) = (0, 0);
    until("several results have outlived writes, and ended", || {
        client.must(WRITE).unwrap();
        let asked = Instant::now();
        let (answer, is_hit) = arena.ask(&mut client, read);
        let answer = rows_text(&answer);
        if answer != value {
            (value, told) = (answer, Instant::now());
            results += u64::from(stale > 0);
        } else {
            let age = asked - told;
            assert!(is_hit && age <= Duration::from_millis(2005), "{value} after {age:?}, hit: {is_hit}");
            stale += 1;
        }
        results >= 2
    });
    all(&mut client, &RESTORE);
}
