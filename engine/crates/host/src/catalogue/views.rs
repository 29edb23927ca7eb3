//! The names of all views.

use crate::link::{Link, first_column};
use session::{Engine, ViewNames};
use std::collections::HashSet;

pub fn publish(engine: &Engine, link: &mut dyn Link) -> Result<(), String> {
    let flavour = engine.flavour();
    let generation = engine.catalogue().generation();
    let mut names = HashSet::new();
    // A text that names a view of theirs names its schema, too, or is not kept for where it is read.
    let schemas =
        first_column(link.query(flavour.catalogue.schemas)?).filter(|schema| !flavour.schemas.is_system(schema));
    for schema in schemas {
        let name = format!("`{}`", String::from_utf8_lossy(&schema).replace('`', "``"));
        match link.query(&flavour::ask(flavour.catalogue.views, &name, "")) {
            Ok(rows) => names.extend(first_column(rows).map(|name| name.to_ascii_lowercase())),
            Err(error) if has_no_views(&error) => {}
            Err(error) => return Err(error),
        }
    }
    engine.catalogue().publish(ViewNames { generation, names, folds_case: !engine.settings().tells_case() });
    Ok(())
}

/// Of a schema that was dropped in between, which has begun another generation, and of a directory that the server may not
/// read, such as the `lost+found` of a file system that is its data directory.
fn has_no_views(error: &str) -> bool {
    error.contains("Unknown database") || error.contains("(errno: 13 ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_the_server_may_not_read_has_no_views() {
        assert!(has_no_views("Can't read dir of './lost+found/' (errno: 13 \"Permission denied\")"));
        assert!(has_no_views("Unknown database 'gone'"));
        assert!(!has_no_views("Can't read dir of './shop/' (errno: 24 \"Too many open files\")"));
    }
}
