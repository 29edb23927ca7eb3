//! Names of tables in different case and beyond ASCII: one table is one, and two are two, however they are spelled.

mod traps;

use fqc_tests::server::Server;
use std::sync::Arc;
use traps::{Arena, all, rows_text, small_table, start, until};

/// Starts a server with this `lower_case_table_names`. None if the server has changed the setting, because the file system does not fit it.
fn with_case(value: &str) -> Option<Arc<Server>> {
    let server = start(&[&format!("--lower-case-table-names={value}")]);
    let in_force = server.admin().unwrap().scalar("SELECT @@lower_case_table_names").unwrap();
    (in_force.as_deref() == Some(value)).then(|| Arc::new(server))
}

/// Starts a server with each setting that ignores case in names. The second one is possible only if the file system ignores case as well,
/// and else left out.
fn in_any_case() -> impl Iterator<Item = Arc<Server>> {
    std::iter::once(with_case("1").expect("names in any case")).chain(with_case("2"))
}

#[test]
fn where_case_does_not_matter_every_spelling_is_one_table() {
    in_any_case().for_each(every_spelling_is_one_table);
}

fn every_spelling_is_one_table(server: Arc<Server>) {
    let mut arena = Arena::on(server, "n_any");
    let (mut writer, mut reader) = (arena.client(), arena.client());
    for spellings in [["stock", "Stock", "STOCK"], ["größe", "Größe", "GRÖßE"], ["товар", "Товар", "ТОВАР"]]
    {
        let [lower, mixed, upper] = spellings;
        small_table(&mut writer, mixed, "InnoDB");
        for read in spellings.map(|name| format!("SELECT v FROM `{name}` WHERE id = 1")) {
            for name in spellings {
                for write in [
                    format!("UPDATE `{name}` SET v = 11 WHERE id = 1"),
                    format!("UPDATE N_ANY.`{name}` SET v = v + 1"),
                    format!("INSERT INTO `{name}` VALUES (1, 0) ON DUPLICATE KEY UPDATE v = 11"),
                ] {
                    arena.check_write_shows(&mut reader, &read, || drop(writer.must(&write).unwrap()), "11");
                    writer.must(&format!("UPDATE `{lower}` SET v = 10 WHERE id = 1")).unwrap();
                }
            }
            let truncate = format!("TRUNCATE TABLE `{upper}`");
            arena.check_write_shows(&mut reader, &read, || drop(writer.must(&truncate).unwrap()), "");
            writer.must(&format!("INSERT INTO `{lower}` VALUES (1, 10), (2, 20)")).unwrap();
            arena.warm(&mut reader, &read);
            writer.must(&format!("ALTER TABLE `{upper}` ADD COLUMN x INT, ALGORITHM = COPY")).unwrap();
            arena.miss(&mut reader, &read, "10");
            writer.must(&format!("ALTER TABLE `{lower}` DROP COLUMN x")).unwrap();
        }
    }
}

#[test]
fn views_and_databases_where_case_does_not_matter() {
    in_any_case().for_each(views_and_databases_in_any_case);
}

fn views_and_databases_in_any_case(server: Arc<Server>) {
    let mut arena = Arena::on(server, "n_views");
    let (mut writer, mut reader) = (arena.client(), arena.client());
    small_table(&mut writer, "Base", "InnoDB");
    writer.must("CREATE VIEW Shown AS SELECT id, v FROM BASE").unwrap();
    let read = "SELECT v FROM SHOWN WHERE id = 1";
    arena.check_write_shows(
        &mut reader,
        read,
        || drop(writer.must("UPDATE base SET v = 11 WHERE id = 1").unwrap()),
        "11",
    );
    arena.warm(&mut reader, read);
    writer.must("CREATE OR REPLACE VIEW shown AS SELECT id, v + 1 AS v FROM Base").unwrap();
    arena.miss(&mut reader, read, "12");
    writer.must("CREATE OR REPLACE VIEW sHOWN AS SELECT id, v + RAND() * 0 AS v FROM Base").unwrap();
    (0..4).for_each(|_| assert!(!arena.ask(&mut reader, read).1, "a view with a function of chance was kept"));
    let read = "SELECT v FROM N_Views.bAsE WHERE id = 2";
    arena.check_write_shows(
        &mut reader,
        read,
        || drop(writer.must("REPLACE INTO n_views.BASE VALUES (2, 22)").unwrap()),
        "22",
    );
    all(&mut writer, &["DROP VIEW Shown", "RENAME TABLE BASE TO other"]);
    // If the file system ignores case, the server itself reports error 1932 for such a table.
    let truth = arena.server_answer(read);
    assert!(truth == "error 1146" || truth == "error 1932", "{truth}");
    assert_eq!(rows_text(&reader.query(read).unwrap()), truth);
}

#[test]
fn where_case_matters_two_spellings_are_two_tables() {
    let mut arena = Arena::on(with_case("0").expect("names as they are"), "n_exact");
    let (mut writer, mut reader) = (arena.client(), arena.client());
    let names = ["t", "T", "ä", "Ä"];
    for name in names {
        small_table(&mut writer, name, "InnoDB");
    }
    for (number, name) in names.iter().enumerate() {
        let read = format!("SELECT v FROM `{name}` WHERE id = 1");
        let expected = (number + 11).to_string();
        let write = format!("UPDATE `{name}` SET v = {expected} WHERE id = 1");
        arena.check_write_shows(&mut reader, &read, || drop(writer.must(&write).unwrap()), &expected);
    }
    for (number, name) in names.iter().enumerate() {
        arena.hit(&mut reader, &format!("SELECT v FROM `{name}` WHERE id = 1"), &(number + 11).to_string());
    }
}

#[test]
fn names_beyond_ascii_are_kept_and_followed() {
    let mut arena = Arena::enter("n_größe");
    let (mut writer, mut reader) = (arena.client(), arena.client());
    for name in ["größe", "表", "it's", "a-b c", "`", "ТОВАР"] {
        let name = format!("`{}`", name.replace('`', "``"));
        small_table(&mut writer, &name, "InnoDB");
        writer.must(&format!("CREATE OR REPLACE VIEW `сложный` AS SELECT id, v FROM {name}")).unwrap();
        let read = format!("SELECT v FROM {name} WHERE id = 1");
        let other = format!("SELECT v FROM {name} WHERE id = 2");
        let view = "SELECT v FROM `n_größe`.`сложный` WHERE id = 1";
        let update = format!("UPDATE {name} SET v = 11 WHERE id = 1");
        arena.check_write_shows(&mut reader, &read, || drop(writer.must(&update).unwrap()), "11");
        let update = format!("UPDATE `n_größe`.{name} SET v = v + 1 WHERE id = 1");
        arena.check_write_shows(&mut reader, view, || drop(writer.must(&update).unwrap()), "12");
        until(&format!("a write of another row of {name} leaves the result alive"), || {
            arena.warm(&mut reader, &other);
            writer.must(&format!("UPDATE {name} SET v = 12 WHERE id = 1")).unwrap();
            arena.ask(&mut reader, &other).1
        });
        arena.warm(&mut reader, &read);
        writer.must(&format!("ALTER TABLE {name} MODIFY v BIGINT")).unwrap();
        arena.miss(&mut reader, &read, "12");
        arena.warm(&mut reader, &read);
        writer.must(&format!("DROP TABLE {name}")).unwrap();
        arena.miss(&mut reader, &read, "error 1146");
    }
}
