//! The SQL surface of the engine for users: names of variables that every tool knows, values and their bounds, counters, `SHOW FQC`.

mod traps;

use std::sync::Arc;

use fqc_tests::client::{Client, Login, Part, Response};
use fqc_tests::server::{Options, Server};
use traps::{Arena, all, flush_of_all, plugin, rows_text, small_table, until};

/// The number of warnings in the response.
fn warnings(response: &Response) -> u16 {
    match response.parts.last() {
        Some(Part::Ok(finish)) => finish.warnings,
        other => panic!("no OK: {other:?}"),
    }
}

/// The names of the result's columns.
fn columns(response: &Response) -> Vec<String> {
    let Some(Part::Rows(rows)) = response.parts.first() else { panic!("no rows: {:?}", response.parts) };
    rows.columns.iter().map(|column| String::from_utf8_lossy(&column.name).into_owned()).collect()
}

/// The statements that restore the settings of the whole server which a test has changed.
const RESTORE: [&str; 3] = [
    "SET GLOBAL query_cache_type = ON",
    "SET GLOBAL query_cache_size = 67108864",
    "SET GLOBAL query_cache_limit = 1048576",
];

#[test]
fn names_of_the_query_cache_read_and_set() {
    let arena = Arena::enter("u_names");
    let mut client = arena.client();
    client.must("SET GLOBAL query_cache_size = 33554432").unwrap();
    for read in [
        "SELECT @@query_cache_size",
        "SELECT @@GLOBAL.query_cache_size",
        "SELECT @@global.`query_cache_size`",
        "SELECT @@fqc_size",
        "SELECT @@QUERY_CACHE_SIZE AS s",
    ] {
        assert_eq!(rows_text(&client.query(read).unwrap()), "33554432", "`{read}`");
    }
    assert_eq!(columns(&client.query("SELECT @@query_cache_size").unwrap()), ["@@query_cache_size"]);
    assert_eq!(
        rows_text(&client.query("SHOW VARIABLES LIKE 'query_cache_size'").unwrap()),
        "query_cache_size,33554432"
    );
    let global = "SHOW GLOBAL VARIABLES WHERE Variable_name = 'query_cache_size'";
    assert_eq!(rows_text(&client.query(global).unwrap()), "query_cache_size,33554432");
    let types = [("0", "OFF"), ("ON", "ON"), ("2", "DEMAND"), ("'off'", "OFF"), ("'Demand'", "DEMAND"), ("1", "ON")];
    for (value, shown) in types {
        client.must(&format!("SET SESSION query_cache_type = {value}")).unwrap();
        assert_eq!(rows_text(&client.query("SELECT @@query_cache_type").unwrap()), shown);
        let show = "SHOW SESSION VARIABLES LIKE 'query_cache_type'";
        assert_eq!(rows_text(&client.query(show).unwrap()), format!("query_cache_type,{shown}"));
    }
    client.must("SET GLOBAL query_cache_limit = 5000, GLOBAL query_cache_type = DEMAND").unwrap();
    assert_eq!(
        rows_text(&client.query("SELECT @@query_cache_limit, @@GLOBAL.query_cache_type").unwrap()),
        "5000,DEMAND"
    );
    assert_eq!(rows_text(&client.query("SHOW VARIABLES LIKE 'query_cache_limit'").unwrap()), "query_cache_limit,5000");
    let prepared = client.prepare("SELECT @@query_cache_size").unwrap().1.unwrap();
    assert_eq!(traps::binary_rows_text(&client.execute(&prepared, &[]).unwrap()), "33554432");
    all(&mut client, &RESTORE);
}

#[test]
fn the_names_are_the_caches_in_the_grammar_of_oracle_too() {
    let mut arena = Arena::enter("u_oracle");
    let mut client = arena.client();
    small_table(&mut client, "t", "InnoDB");
    for mode in ["'ORACLE'", "CONCAT('ORA', 'CLE')"] {
        client.must(&format!("SET sql_mode = {mode}, GLOBAL query_cache_type = OFF")).unwrap();
        assert_eq!(rows_text(&client.query("SELECT @@GLOBAL.query_cache_type, @@GLOBAL.fqc_type").unwrap()), "OFF,OFF");
        let show = "SHOW GLOBAL VARIABLES LIKE 'query_cache_type'";
        assert_eq!(rows_text(&client.query(show).unwrap()), "query_cache_type,OFF");
        all(&mut client, &["SET GLOBAL query_cache_type = ON", "SET sql_mode = DEFAULT", "SET query_cache_type = ON"]);
        arena.warm(&mut client, "SELECT v FROM t WHERE id = 1");
    }
}

#[test]
fn names_that_are_accepted_for_compatibility() {
    let arena = Arena::enter("u_compatible");
    let mut client = arena.client();
    all(
        &mut client,
        &[
            "SET GLOBAL query_cache_min_res_unit = 2048",
            "SET SESSION query_cache_wlock_invalidate = ON",
            "SET query_cache_strip_comments = 1",
        ],
    );
    let read = "SELECT @@query_cache_min_res_unit, @@query_cache_wlock_invalidate, @@query_cache_strip_comments";
    assert_eq!(rows_text(&client.query(read).unwrap()), "2048,1,1");
    for (name, value) in [("min_res_unit", "2048"), ("wlock_invalidate", "ON"), ("strip_comments", "ON")] {
        let name = format!("query_cache_{name}");
        assert_eq!(
            rows_text(&client.query(format!("SHOW VARIABLES LIKE '{name}'")).unwrap()),
            format!("{name},{value}")
        );
    }
    client.must("SET GLOBAL query_cache_min_res_unit = DEFAULT").unwrap();
    assert_eq!(rows_text(&client.query("SELECT @@query_cache_min_res_unit").unwrap()), "4096");
}

#[test]
fn a_size_is_rounded_with_a_warning() {
    let arena = Arena::enter("u_rounded");
    let mut client = arena.client();
    let response = client.must("SET GLOBAL query_cache_size = 1000000").unwrap();
    assert_eq!(warnings(&response), 1);
    let told = rows_text(&client.query("SHOW WARNINGS").unwrap());
    assert_eq!(told, "Warning,1292,Truncated incorrect query_cache_size value: '1000000'");
    assert_eq!(rows_text(&client.query("SELECT @@query_cache_size").unwrap()), "999424");
    assert_eq!(warnings(&client.must("SET GLOBAL query_cache_size = 999424").unwrap()), 0);
    assert_eq!(warnings(&client.must("SET GLOBAL query_cache_size = 10485760001").unwrap()), 1);
    assert_eq!(rows_text(&client.query("SELECT @@query_cache_size").unwrap()), "10485760000");
    assert_eq!(warnings(&client.must("SET GLOBAL query_cache_size = -1").unwrap()), 1);
    assert_eq!(rows_text(&client.query("SELECT @@query_cache_size").unwrap()), "0");
    client.must("SET GLOBAL query_cache_size = DEFAULT").unwrap();
    all(&mut client, &RESTORE);
}

#[test]
fn wrong_values_and_scopes_are_refused() {
    let arena = Arena::enter("u_wrong");
    let mut client = arena.client();
    let wrong = [
        ("SET SESSION query_cache_type = 3", "error 1231"),
        ("SET query_cache_type = 'maybe'", "error 1231"),
        ("SET query_cache_type = NULL", "error 1231"),
        ("SET GLOBAL query_cache_size = NULL", "error 1232"),
        ("SET query_cache_wlock_invalidate = OF", "error 1231"),
        ("SET STATEMENT query_cache_wlock_invalidate = OF FOR SELECT 1", "error 1231"),
        ("SET STATEMENT query_cache_type = 0 FOR SELECT 1", "error 1971"),
        ("SET STATEMENT query_cache_size = 0 FOR SELECT 1", "error 1229"),
        ("SET query_cache_type = 1.5", "error 1232"),
        ("SET GLOBAL query_cache_size = 'many'", "error 1232"),
        ("SET GLOBAL query_cache_limit = 0.5", "error 1232"),
        ("SET SESSION query_cache_size = 1024", "error 1229"),
        ("SET query_cache_limit = 1024", "error 1229"),
        ("SET GLOBAL fqc_version = 'x'", "error 1238"),
        ("SET GLOBAL fqc_minor_version = 1", "error 1238"),
        ("SELECT @@SESSION.query_cache_size", "error 1238"),
        ("SET GLOBAL query_cache_sizes = 1", "error 1193"),
    ];
    let before =
        rows_text(&client.query("SELECT @@query_cache_type, @@query_cache_size, @@query_cache_limit").unwrap());
    for (statement, expected) in wrong {
        let response = client.query(statement).unwrap();
        assert_eq!(rows_text(&response), expected, "`{statement}`");
        let message = &response.failure().unwrap().message;
        assert!(!statement.contains("query_cache") || !message.contains("fqc_"), "`{statement}`: {message}");
    }
    let after = rows_text(&client.query("SELECT @@query_cache_type, @@query_cache_size, @@query_cache_limit").unwrap());
    assert_eq!(before, after);
}

#[test]
fn the_servers_privileges_hold() {
    let arena = Arena::enter("u_rights");
    let mut root = arena.client();
    root.must("CREATE USER low@'%' IDENTIFIED BY 'low'").unwrap();
    let mut low = arena.client_as(&Login::user("low", "low"));
    let refused = [
        "SET GLOBAL query_cache_size = 0",
        "SET GLOBAL query_cache_type = OFF",
        "SET GLOBAL query_cache_limit = 1",
        "FLUSH QUERY CACHE",
        "RESET QUERY CACHE",
        flush_of_all(&mut root),
        "SHOW FQC STATUS",
        "SHOW FQC REASONS",
    ];
    refused.iter().for_each(|one| assert_eq!(rows_text(&low.query(one).unwrap()), "error 1227", "`{one}`"));
    all(&mut low, &["SET SESSION query_cache_type = OFF", "SELECT @@query_cache_size", "SHOW STATUS LIKE 'Qcache%'"]);
    root.must("GRANT PROCESS ON *.* TO low@'%'").unwrap();
    let mut low = arena.client_as(&Login::user("low", "low"));
    assert!(rows_text(&low.must("SHOW FQC STATUS").unwrap()).contains("Hits"));
    low.must("SHOW FQC REASONS").unwrap();
}

#[test]
fn who_may_only_flush_the_sessions_status_leaves_the_counters() {
    let mut arena = Arena::enter("u_counters");
    let mut root = arena.client();
    small_table(&mut root, "t", "InnoDB");
    arena.warm(&mut root, "SELECT v FROM t");
    root.must("CREATE USER nobody@'%' IDENTIFIED BY 'low'").unwrap();
    let mut nobody = arena.client_as(&Login::user("nobody", "low"));
    let hits = |client: &mut Client| status(client, "SHOW GLOBAL STATUS LIKE 'Qcache_hits'", "Qcache_hits")[0].1;
    let before = hits(&mut root);
    assert!(before > 0);
    for flush in ["FLUSH STATUS", "FLUSH SESSION STATUS", "FLUSH GLOBAL STATUS"] {
        nobody.query(flush).unwrap();
        assert!(hits(&mut root) >= before, "`{flush}`");
    }
    let flush = flush_of_all(&mut root);
    root.must(flush).unwrap();
    assert!(hits(&mut root) < before, "`{flush}`");
}

/// The numbers in the listing that `statement` returns, with the names that begin with `prefix`. Two of the plugin's values are words, and
/// left out.
fn status(client: &mut Client, statement: &str, prefix: &str) -> Vec<(String, u64)> {
    let rows = client.must(statement).unwrap().rows(false);
    let text = |value: &Option<Vec<u8>>| String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned();
    let ours = rows.iter().filter(|row| text(&row[0]).starts_with(prefix) && !WORDS.contains(&text(&row[0]).as_str()));
    ours.map(|row| (text(&row[0]), text(&row[1]).parse().unwrap())).collect()
}

const WORDS: [&str; 2] = ["Fqc_obstacle", "Fqc_untested_server"];

const CLASSIC: [&str; 8] = [
    "Qcache_free_blocks",
    "Qcache_free_memory",
    "Qcache_hits",
    "Qcache_inserts",
    "Qcache_lowmem_prunes",
    "Qcache_not_cached",
    "Qcache_queries_in_cache",
    "Qcache_total_blocks",
];

#[test]
fn eight_classic_counters_in_every_listing() {
    let mut arena = Arena::enter("u_status");
    let mut client = arena.client();
    small_table(&mut client, "t", "InnoDB");
    let before = status(&mut client, "SHOW STATUS LIKE 'Qcache%'", "Qcache_");
    arena.warm(&mut client, "SELECT v FROM t");
    client.must("SELECT NOW() FROM t").unwrap();
    for listing in ["SHOW STATUS LIKE 'Qcache%'", "SHOW GLOBAL STATUS", "SHOW STATUS", "SHOW SESSION STATUS LIKE 'qc%'"]
    {
        let rows = status(&mut client, listing, "Qcache_");
        let names: Vec<_> = rows.iter().map(|row| row.0.as_str()).collect();
        assert_eq!(names, CLASSIC, "`{listing}`");
        let rise = |name: &str| {
            let at = CLASSIC.iter().position(|one| *one == name).unwrap();
            rows[at].1.saturating_sub(before[at].1)
        };
        let risen = [rise("Qcache_hits"), rise("Qcache_inserts"), rise("Qcache_not_cached")];
        assert!(risen.iter().all(|one| *one > 0), "`{listing}`: {rows:?}");
        assert!(rise("Qcache_queries_in_cache") > 0 || rows[6].1 > 0, "`{listing}`: {rows:?}");
        assert!((1..=64 << 20).contains(&rows[1].1), "`{listing}`: {rows:?}");
    }
    let schema = "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'QCACHE_HITS'";
    assert!(rows_text(&client.query(schema).unwrap()).starts_with("QCACHE_HITS,"));
    let own = status(&mut client, "SHOW GLOBAL STATUS", "Fqc_");
    assert!(own.len() >= 10, "{own:?}");
}

#[test]
fn unfiltered_variables_show_the_caches_own_values() {
    let arena = Arena::enter("u_variables");
    let mut client = arena.client();
    client.must("SET GLOBAL query_cache_limit = 7000").unwrap();
    for listing in ["SHOW VARIABLES", "SHOW GLOBAL VARIABLES", "SHOW VARIABLES LIKE 'query_cache%'"] {
        let expected = ["query_cache_size,67108864", "query_cache_type,ON", "query_cache_limit,7000"];
        until(&format!("{expected:?} in `{listing}`"), || {
            let rows = rows_text(&client.must(listing).unwrap());
            expected.iter().all(|one| rows.split(';').any(|row| row == *one))
        });
    }
    all(&mut client, &RESTORE);
}

#[test]
fn flush_and_reset() {
    let mut arena = Arena::enter("u_flush");
    let mut client = arena.client();
    small_table(&mut client, "t", "InnoDB");
    let read = "SELECT v FROM t WHERE id = 1";
    arena.warm(&mut client, read);
    // FLUSH only tidies up; RESET empties.
    client.must("FLUSH QUERY CACHE").unwrap();
    arena.hit(&mut client, read, "10");
    for reset in ["RESET QUERY CACHE", "reset query cache /* x */"] {
        arena.warm(&mut client, read);
        client.must(reset).unwrap();
        until("an empty cache", || {
            status(&mut client, "SHOW STATUS LIKE 'Qcache_queries_in_cache'", "Qcache")[0].1 == 0
        });
        arena.miss(&mut client, read, "10");
    }
    arena.warm(&mut client, read);
    let flush = flush_of_all(&mut client);
    client.must(flush).unwrap();
    assert_eq!(arena.hits(), 0);
    arena.hit(&mut client, read, "10");
    assert_eq!(arena.hits(), 1);
}

#[test]
fn a_cache_without_memory_keeps_nothing_and_gives_it_back() {
    let mut arena = Arena::enter("u_size");
    let mut client = arena.client();
    small_table(&mut client, "t", "InnoDB");
    let read = "SELECT v FROM t WHERE id = 1";
    arena.warm(&mut client, read);
    client.must("SET GLOBAL query_cache_size = 0").unwrap();
    until("the end of the cache", || !arena.ask(&mut client, read).1);
    (0..5).for_each(|_| arena.miss(&mut client, read, "10"));
    until("an empty cache", || status(&mut client, "SHOW STATUS LIKE 'Qcache_queries_in_cache'", "Qcache")[0].1 == 0);
    assert!(rows_text(&client.must("SHOW FQC STATUS").unwrap()).contains("OFF: query_cache_size is 0"));
    all(&mut client, &RESTORE);
    assert_eq!(arena.warm(&mut client, read), "10");
}

#[test]
fn show_fqc_tells_the_state_and_the_reasons() {
    let mut arena = Arena::enter("u_show");
    let mut client = arena.client();
    small_table(&mut client, "t", "InnoDB");
    arena.warm(&mut client, "SELECT v FROM t");
    let response = client.must("SHOW FQC STATUS").unwrap();
    assert_eq!(columns(&response), ["Item", "Value"]);
    assert!(rows_text(&response).starts_with("Cache,ON;Size in bytes,67108864;"), "{}", rows_text(&response));
    let flush = flush_of_all(&mut client);
    client.must(flush).unwrap();
    client.must("SELECT SUM(SLEEP(0.01)), v FROM t").unwrap();
    client.must("SELECT v FROM t").unwrap();
    // The reason why an earlier read was not stored may become known only now.
    let response = client.must("show fqc reasons like 'side_effect'").unwrap();
    assert_eq!(columns(&response), ["Reason", "Count", "Share", "Time_us", "Meaning", "Statement"]);
    let row = response.rows(false).remove(0);
    let words: Vec<_> = row.iter().map(|word| String::from_utf8_lossy(word.as_deref().unwrap_or_default())).collect();
    assert_eq!(words[..3], ["side_effect", "1", "0.5000"]);
    assert!(words[3].parse::<u64>().unwrap() >= 50_000, "five rows, each a hundredth of a second: {words:?}");
    client.must(flush).unwrap();
    assert_eq!(rows_text(&client.must("SHOW FQC REASONS LIKE 'side_effect'").unwrap()), "");
    client.must("SET SESSION query_cache_type = OFF").unwrap();
    assert!(rows_text(&client.must("SHOW FQC STATUS").unwrap()).contains("SET SESSION query_cache_type = 1"));
    assert_eq!(rows_text(&client.query("SHOW FQC NONSENSE").unwrap()), "error 1064");
    assert_eq!(client.scalar("SELECT 1").unwrap().as_deref(), Some("1"));
}

#[test]
fn show_fqc_chooses_rows_as_the_server_does() {
    let arena = Arena::enter("u_choose");
    let mut client = arena.client();
    let items: Vec<String> = rows_text(&client.must("SHOW FQC STATUS").unwrap())
        .split(';')
        .filter_map(|row| row.split(',').next())
        .map(|item| format!("('{item}')"))
        .collect();
    all(
        &mut client,
        &[
            "CREATE TABLE t (Item VARCHAR(99) CHARACTER SET utf8mb3)",
            &format!("INSERT INTO t VALUES {}", items.join(",")),
        ],
    );
    let conditions = [
        "Item LIKE 'hits%'",
        "Item LIKE '%bytes'",
        "Item LIKE '_ache'",
        "item = 'HITS '",
        "Item > 'h' AND NOT Item LIKE '%connection'",
        "(Item < 'i' OR Item = 'Used bytes') AND Item <> 'Hits'",
        "Item IS NULL OR Item >= 'T'",
        "Item = 0 AND Item != 1",
    ];
    for condition in conditions {
        let expected = rows_text(&client.must(&format!("SELECT Item FROM t WHERE {condition}")).unwrap());
        let report = rows_text(&client.must(&format!("SHOW FQC STATUS WHERE {condition}")).unwrap());
        let items: Vec<_> = report.split(';').filter_map(|row| row.split(',').next()).collect();
        let mut sorted: Vec<_> = expected.split(';').collect();
        sorted.sort_unstable_by_key(|item| items.iter().position(|other| other == item));
        assert!(!expected.is_empty() && items.len() == sorted.len(), "{condition}: {report}, not {expected}");
        assert_eq!(items, sorted, "{condition}");
    }
    let like = rows_text(&client.must("SHOW FQC STATUS LIKE 'size%'").unwrap());
    assert_eq!(like, "Size in bytes,67108864");
    assert_eq!(rows_text(&client.must("SHOW FQC STATUS WHERE Value > 67108863 AND Item LIKE 'Size%'").unwrap()), like);
    assert_eq!(rows_text(&client.must("SHOW FQC TABLES LIKE 'no such table'").unwrap()), "");
}

#[test]
fn show_fqc_refuses_nonsense_in_the_servers_words() {
    let arena = Arena::enter("u_nonsense");
    let mut client = arena.client();
    let mut message = |text: &str| client.query(text).unwrap().failure().map(|failure| failure.to_string());
    let tails = [
        "nonsense",
        "LIKE",
        "LIKE 'a' more",
        "LIKE 'a'\n more",
        "WHERE",
        "WHERE Variable_name = 'a' nonsense",
        "WHERE (Variable_name = 'a'",
        "WHERE\n\nVariable_name = 'a') x",
        "WHERE Variable_name = ",
        "WHERE no_such_column = 'a'",
        "WHERE `no such ``column` IS NULL",
    ];
    for tail in tails {
        let server = message(&format!("SHOW STATUS {tail}"));
        assert!(server.is_some(), "{tail}");
        assert_eq!(message(&format!("SHOW FQC STATUS {}", tail.replace("Variable_name", "Item"))), server, "{tail}");
    }
    let unsupported = message("SHOW FQC STATUS WHERE Item IN ('Hits')").expect("an error");
    assert!(unsupported.contains("1235") && unsupported.contains("SHOW FQC does not support IN"), "{unsupported}");
    let warnings = rows_text(&client.must("SHOW WARNINGS").unwrap());
    assert!(warnings.starts_with("Error,1235,SHOW FQC does not support IN"), "{warnings}");
    assert_eq!(client.scalar("SELECT 1").unwrap().as_deref(), Some("1"));
}

/// Checks that the status and the log name a server version that was never tested. A fault makes the server seem to be of another release
/// line.
#[test]
fn a_version_that_was_never_tested_is_named() {
    let environment = vec![("FQC_FAULT".to_owned(), "version:12.3.1-MariaDB".to_owned())];
    let server = Server::start(Options { plugin: Some(plugin::path()), environment, ..Options::default() }).unwrap();
    let mut admin = server.admin().unwrap();
    let told = rows_text(&admin.must("SHOW GLOBAL STATUS LIKE 'Fqc_untested_server'").unwrap());
    assert_eq!(told, "Fqc_untested_server,MariaDB 12.3.1-MariaDB");
    let log = server.error_log();
    assert_eq!(log.matches("this server version has not been tested with this engine").count(), 1, "{log}");
}

#[test]
fn versions() {
    let arena = Arena::enter("u_versions");
    let mut client = arena.client();
    assert_eq!(client.scalar("SELECT @@fqc_compatibility").unwrap().as_deref(), Some("5.7"));
    let minor: u64 = client.scalar("SELECT @@fqc_minor_version").unwrap().unwrap().parse().unwrap();
    assert!((20_261_120..30_000_000).contains(&minor), "{minor}");
    assert!(client.scalar("SELECT @@GLOBAL.fqc_version").unwrap().unwrap().contains('.'));
    let listed = "SELECT plugin_status, plugin_license, plugin_maturity FROM information_schema.plugins WHERE plugin_name = 'fqc'";
    let listed = rows_text(&client.query(listed).unwrap()).to_uppercase();
    assert!(listed.starts_with("ACTIVE,"), "{listed}");
}

#[test]
fn texts_that_only_look_like_the_names() {
    let mut arena = Arena::enter("u_texts");
    let mut client = arena.client();
    let create = "CREATE TABLE t (query_cache_size INT, query_cache_type VARCHAR(40))";
    all(&mut client, &[create, "INSERT INTO t (query_cache_size, query_cache_type) VALUES (1, '@@query_cache_size')"]);
    let read = "SELECT query_cache_size, t.query_cache_type, 'query_cache_limit' FROM t -- @@query_cache_size";
    assert_eq!(arena.warm(&mut client, read), "1,@@query_cache_size,query_cache_limit");
    client.must("SET @query_cache_size = 5, @b = 'SET query_cache_type = 0'").unwrap();
    assert_eq!(rows_text(&client.query("SELECT @query_cache_size, @b").unwrap()), "5,SET query_cache_type = 0");
    client.must("UPDATE t SET query_cache_size = 2, query_cache_type = 'b'").unwrap();
    assert_eq!(arena.warm(&mut client, "SELECT query_cache_size, query_cache_type FROM t"), "2,b");
}

/// Starts a server that has the library in its plugin folder, but has not installed it.
fn bare(arguments: &[&str]) -> Server {
    let arguments = arguments.iter().map(|one| one.to_string()).collect();
    let server = Server::start(Options { plugin: Some(plugin::path()), arguments, ..Options::default() }).unwrap();
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["SET GLOBAL query_cache_type = OFF, GLOBAL query_cache_size = 0", "UNINSTALL SONAME 'fqc'"]);
    drop(admin);
    let listed = "SELECT COUNT(*) FROM information_schema.plugins WHERE plugin_name = 'fqc'";
    // The server keeps a plugin until the last session that used its variables has gone.
    until("the end of the plugin", || server.admin().unwrap().scalar(listed).unwrap().as_deref() == Some("0"));
    server
}

#[test]
fn three_statements_in_one_session_then_hits_in_the_next() {
    let server = Arc::new(bare(&[]));
    let mut admin = server.admin().unwrap();
    all(
        &mut admin,
        &["INSTALL SONAME 'fqc'", "SET GLOBAL query_cache_size = 67108864", "SET GLOBAL query_cache_type = 1"],
    );
    until("the settings of the old connection", || {
        let mut next = server.admin().unwrap();
        rows_text(&next.query("SELECT @@fqc_size, @@GLOBAL.fqc_type").unwrap()) == "67108864,ON"
    });
    let own = "SHOW VARIABLES WHERE Variable_name IN ('query_cache_type', 'query_cache_size')";
    until("a connection that the engine follows", || {
        let mut next = server.admin().unwrap();
        rows_text(&next.query(own).unwrap()) == "query_cache_size,67108864;query_cache_type,ON"
    });
    let mut next = server.admin().unwrap();
    all(&mut next, &["CREATE DATABASE d", "USE d"]);
    small_table(&mut next, "t", "InnoDB");
    let mut hits = || status(&mut admin, "SHOW GLOBAL STATUS LIKE 'Qcache_hits'", "Qcache")[0].1;
    let before = hits();
    until("a hit", || {
        assert_eq!(rows_text(&next.query("SELECT v FROM t WHERE id = 1").unwrap()), "10");
        hits() > before
    });
    next.must("UPDATE t SET v = 11 WHERE id = 1").unwrap();
    assert_eq!(rows_text(&next.query("SELECT v FROM t WHERE id = 1").unwrap()), "11");
}

#[test]
fn settings_of_the_command_line_are_taken_over() {
    let mut server = bare(&[
        "--query-cache-type=ON",
        "--query-cache-size=32M",
        "--query-cache-limit=2000",
        "--loose-fqc-size=0",
        "--loose-fqc-type=OFF",
    ]);
    server.restart().unwrap();
    let mut old = server.admin().unwrap();
    old.must("CREATE DATABASE d").unwrap();
    small_table(&mut old, "d.t", "InnoDB");
    old.must("INSTALL SONAME 'fqc'").unwrap();
    until("the take-over", || {
        let mut next = server.admin().unwrap();
        let read = "SELECT @@query_cache_type, @@query_cache_size, @@query_cache_limit";
        rows_text(&next.query(read).unwrap()) == "ON,33554432,2000"
    });
    until("the server's own cache off", || rows_text(&old.query("SELECT @@GLOBAL.query_cache_type").unwrap()) == "OFF");
    let mut arena = Arena::on(Arc::new(server), "u_over");
    let mut client = arena.client();
    assert_eq!(arena.warm(&mut client, "SELECT v FROM d.t WHERE id = 1"), "10");
    old.must("UPDATE d.t SET v = 11 WHERE id = 1").unwrap();
    assert_eq!(arena.warm(&mut client, "SELECT v FROM d.t WHERE id = 1"), "11");
}
