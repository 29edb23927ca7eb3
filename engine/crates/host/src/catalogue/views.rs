//! Looks up the names of all views, the definitions of those that statements use, and whether there are any triggers.

use crate::link::{Link, Row, first_column};
use flavour::Flavour;
use session::{ContextReason, Definition, Engine, ViewName, Views};
use sql::ViewRefusal;

/// Looks up the names of all views outside of system schemas, and whether there are triggers, and publishes both in the
/// engine. If a definition changes on the server before this returns, the engine ignores the answers. An error is that
/// of a failed query.
pub fn publish(engine: &Engine, link: &mut dyn Link) -> Result<(), String> {
    let flavour = engine.flavour();
    let generation = engine.catalogue().generation();
    // Views in system schemas are left out: a statement that reads one either names the system schema, or runs with it as the current
    // database. Neither kind is cached.
    let views = names(flavour, link, |schema| !flavour.schemas.is_system(schema))?;
    let triggers = flavour.catalogue.triggers.map(|question| link.query(question)).transpose()?;
    engine.catalogue().publish(Views::new(generation, !engine.settings().has_case_sensitive_names(), views));
    if triggers.is_some_and(|rows| rows.is_empty()) {
        engine.catalogue().note_no_triggers(generation);
    }
    Ok(())
}

/// True if the definition of any view contains `word`, apart from views in system schemas other than `mysql`. Definitions are queried one
/// by one: a query for all views would make the server open every table, too, even one whose files are being replaced. An error is that of
/// a failed query.
pub fn any_definition_contains(flavour: &'static Flavour, link: &mut dyn Link, word: &[u8]) -> Result<bool, String> {
    for name in names(flavour, link, |schema| schema == b"mysql" || !flavour.schemas.is_system(schema))? {
        let rows = definition(flavour, link, &name)?;
        if rows.iter().filter_map(|row| row.get(2)?.as_deref()).any(|text| sql::contains_ignoring_case(text, word)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the views of the schemas for which `is_meant` is true. An error is that of a failed query.
fn names(
    flavour: &'static Flavour,
    link: &mut dyn Link,
    is_meant: impl Fn(&[u8]) -> bool,
) -> Result<Vec<ViewName>, String> {
    let mut views = Vec::new();
    for schema in first_column(link.query(flavour.catalogue.schemas)?).filter(|schema| is_meant(schema)) {
        let name = format!("`{}`", String::from_utf8_lossy(&schema).replace('`', "``"));
        match link.query(&flavour::fill_in(flavour.catalogue.views, &name, "")) {
            Ok(rows) => views.extend(first_column(rows).map(|name| ViewName { db: schema.clone(), name })),
            Err(error) if has_no_views(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(views)
}

fn definition(flavour: &'static Flavour, link: &mut dyn Link, name: &ViewName) -> Result<Vec<Row>, String> {
    link.query(&flavour::fill_in(flavour.catalogue.view, &flavour.literal(&name.db), &flavour.literal(&name.name)))
}

/// True for errors that make a schema count as one without views: the schema was dropped in the meantime (then the
/// names are queried again anyway), or the server may not read a directory, such as `lost+found` where a file system is
/// the data directory.
fn has_no_views(error: &str) -> bool {
    error.contains("Unknown database") || error.contains("(errno: 13 ")
}

/// Looks up the view definitions that sessions have asked for, and those of the views inside them, and publishes them. Does nothing while
/// the names of all views are not known. An error is that of a failed query.
pub fn look_up_requested_definitions(engine: &Engine, link: &mut dyn Link) -> Result<(), String> {
    let Some(views) = engine.catalogue().views() else { return Ok(()) };
    let mut left = views.take_requested_definitions();
    while let Some(name) = left.pop() {
        if !views.is_settled(&name) {
            let definition = look_up(engine.flavour(), link, &views, &name)?;
            left.extend_from_slice(&definition.views);
            views.set_definition(&name, definition);
        }
    }
    Ok(())
}

fn look_up(
    flavour: &'static Flavour,
    link: &mut dyn Link,
    views: &Views,
    name: &ViewName,
) -> Result<Definition, String> {
    let rows = definition(flavour, link, name)?;
    let unknown = Definition { against: Some(ContextReason::View), views: Vec::new() };
    let [row] = rows.as_slice() else { return Ok(unknown) };
    let [Some(db), Some(found), Some(text)] = row.as_slice() else { return Ok(unknown) };
    // The catalogue compares names without regard to case, so it may return another view.
    let is_it = *db == name.db && *found == name.name;
    Ok(if is_it { read(flavour, views, name, text) } else { unknown })
}

/// Returns what follows from the text of a view's definition: the views that it reads, or why a read of the view is not cached.
fn read(flavour: &'static Flavour, views: &Views, name: &ViewName, text: &[u8]) -> Definition {
    let inner = sql::view(flavour, text).map_err(own);
    match inner.and_then(|sources| views.among(&sources, &name.db).ok_or(ContextReason::View)) {
        Ok(views) => Definition { against: None, views },
        Err(own) => Definition { against: Some(own), views: Vec::new() },
    }
}

fn own(against: ViewRefusal) -> ContextReason {
    match against {
        ViewRefusal::NotUnderstood => ContextReason::View,
        ViewRefusal::Function => ContextReason::ViewFunction,
        ViewRefusal::SystemSchema => ContextReason::ViewSystemSchema,
        ViewRefusal::NoCacheHint => ContextReason::NoCacheHint,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flavour::MARIADB;

    #[test]
    fn a_directory_that_the_server_may_not_read_has_no_views() {
        assert!(has_no_views("Can't read dir of './lost+found/' (errno: 13 \"Permission denied\")"));
        assert!(has_no_views("Unknown database 'gone'"));
        assert!(!has_no_views("Can't read dir of './shop/' (errno: 24 \"Too many open files\")"));
    }

    fn view(name: &str) -> ViewName {
        ViewName { db: b"d".to_vec(), name: name.into() }
    }

    #[test]
    fn a_definition_tells_what_speaks_against_it_and_the_views_inside() {
        let views = Views::new(1, false, [view("v"), view("w")]);
        for (text, against, inner) in [
            ("select `d`.`t`.`a` AS `a`,`d`.`t`.`v` AS `v` from `d`.`t`", None, &[][..]),
            ("select `v`.`a` AS `a` from (`d`.`v` join `e`.`w`)", None, &["v"]),
            ("select sql_no_cache `d`.`t`.`a` AS `a` from `d`.`t`", Some(ContextReason::NoCacheHint), &[]),
            ("select `d`.`f`(1) AS `a` from `d`.`v`", Some(ContextReason::ViewFunction), &[]),
            ("select `n` AS `n` from `information_schema`.`TABLES`", Some(ContextReason::ViewSystemSchema), &[]),
            ("delete from `d`.`t`", Some(ContextReason::View), &[]),
        ] {
            let definition = read(&MARIADB, &views, &view("x"), text.as_bytes());
            let expected: Vec<_> = inner.iter().map(|name| view(name)).collect();
            assert_eq!((definition.against, definition.views), (against, expected), "{text}");
        }
    }
}
