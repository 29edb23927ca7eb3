//! The server's views, and whether their definitions forbid caching what is read from them.
//!
//! The names of all views are published at once; the definition of a view is looked up when it is first read. All of this holds
//! for one generation of the catalogue, because every definition of a view begins another.

use crate::reason::ContextReason;
use locks::Mutex;
use sql::TableName;
use std::collections::{HashMap, HashSet};
use std::sync::{OnceLock, PoisonError};

/// The name of a view and of its schema, as the server spells them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewName {
    pub db: Vec<u8>,
    pub name: Vec<u8>,
}

/// The part of a view's definition that matters for caching.
#[derive(Debug)]
pub struct Definition {
    /// Why a result that is read from this view must not be kept. None if it may be.
    pub against: Option<ContextReason>,
    /// The views that this view reads.
    pub views: Vec<ViewName>,
}

/// The names of all views in one generation of the catalogue (a period in which nothing is defined, altered or dropped), and
/// the definitions that have been looked up so far.
#[derive(Default)]
pub struct Views {
    /// The generation of the catalogue in which the names were read.
    pub generation: u64,
    /// The server ignores the case of names, also of letters beyond ASCII.
    folds_case: bool,
    known: HashMap<Vec<u8>, View>,
    /// The names without their schemas, in ASCII lower case.
    names: HashSet<Vec<u8>>,
    /// Views whose definitions the host has yet to look up.
    requested_definitions: Mutex<Vec<ViewName>>,
}

struct View {
    name: ViewName,
    /// Empty before the definition was looked up.
    definition: OnceLock<Definition>,
}

/// Whether a read reads views, and whether its result may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewUse {
    /// It reads no view.
    Tables,
    /// It reads views, and none of them forbids keeping the result.
    Views,
    /// It reads views, or may, and the result must not be kept for this reason.
    Refused(ContextReason),
}

impl Views {
    /// Holds the names in `views`, which must be all views but those of system schemas. `generation` is the catalogue's
    /// number from before they were queried: the names are valid until it changes. `folds_case` says that the server
    /// ignores the case of names.
    pub fn new(generation: u64, folds_case: bool, views: impl IntoIterator<Item = ViewName>) -> Views {
        let mut all = Views { generation, folds_case, ..Views::default() };
        for name in views {
            all.names.insert(name.name.to_ascii_lowercase());
            all.known.insert(all.key(&name.db, &name.name), View { name, definition: OnceLock::new() });
        }
        all
    }

    /// True if this may be the name of a view in some schema. `name` has no schema and is in ASCII lower case.
    pub fn may_be_view(&self, name: &[u8]) -> bool {
        self.names.contains(name) || self.folds_case && !name.is_ascii()
    }

    /// True if the server has no views, apart from those of system schemas.
    pub fn are_none(&self) -> bool {
        self.known.is_empty()
    }

    /// Whether a read of these tables and views reads views. `sources` is None if the names are not known, and `database` is
    /// the one of unqualified names. If a definition is needed that is not known yet, the host is asked for it.
    pub fn read_by(&self, sources: Option<&[TableName]>, database: &[u8]) -> ViewUse {
        if self.are_none() {
            return ViewUse::Tables;
        }
        let Some(sources) = sources else { return ViewUse::Refused(ContextReason::View) };
        let mut found = Vec::new();
        for source in sources {
            let db = source.db.as_deref().unwrap_or(database);
            if !self.is_name_certain(db) || !self.is_name_certain(&source.name) {
                return ViewUse::Refused(ContextReason::View);
            }
            self.add_view(db, &source.name, &mut found);
        }
        self.check_views(found)
    }

    /// The views among the names in the definition of a view, whose schema is `schema`. None if that is not certain.
    pub fn among(&self, sources: &[TableName], schema: &[u8]) -> Option<Vec<ViewName>> {
        let mut found = Vec::new();
        for source in sources {
            let db = source.db.as_deref().unwrap_or(schema);
            (self.is_name_certain(db) && self.is_name_certain(&source.name)).then_some(())?;
            self.add_view(db, &source.name, &mut found);
        }
        Some(found.into_iter().map(|view| view.name.clone()).collect())
    }

    /// Returns whether results that depend on these views, and on the views that those read, may be stored. Asks the
    /// host for the first definition that is not known yet.
    fn check_views<'a>(&'a self, mut found: Vec<&'a View>) -> ViewUse {
        if found.is_empty() {
            return ViewUse::Tables;
        }
        let mut checked = 0;
        while let Some(view) = found.get(checked) {
            let Some(definition) = view.definition.get() else {
                self.request_definition(&view.name);
                return ViewUse::Refused(ContextReason::ViewUnknown);
            };
            if let Some(own) = definition.against {
                return ViewUse::Refused(own);
            }
            for inner in &definition.views {
                self.add_view(&inner.db, &inner.name, &mut found);
            }
            checked += 1;
        }
        ViewUse::Views
    }

    /// Adds the view of this name to `found`, the list of views to check, if there is such a view and it is not in the
    /// list yet.
    fn add_view<'a>(&'a self, db: &[u8], name: &[u8], found: &mut Vec<&'a View>) {
        if let Some(view) = self.known.get(&self.key(db, name))
            && !found.iter().any(|other| std::ptr::eq(*other, view))
        {
            found.push(view);
        }
    }

    /// True if it is certain which views this name can mean. It is not where the server folds the case of letters beyond ASCII.
    fn is_name_certain(&self, name: &[u8]) -> bool {
        !self.folds_case || name.is_ascii()
    }

    fn key(&self, db: &[u8], name: &[u8]) -> Vec<u8> {
        let mut key = [db, b"\0", name].concat();
        if self.folds_case {
            key.make_ascii_lowercase();
        }
        key
    }

    fn request_definition(&self, name: &ViewName) {
        let mut requested = self.requested_definitions.lock().unwrap_or_else(PoisonError::into_inner);
        if !requested.contains(name) {
            requested.push(name.clone());
        }
    }

    /// Returns the views whose definitions the host must look up, and removes them from the list.
    pub fn take_requested_definitions(&self) -> Vec<ViewName> {
        std::mem::take(&mut self.requested_definitions.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// True if the definition of this view need not be looked up: it is known, or there is no such view.
    pub fn is_settled(&self, name: &ViewName) -> bool {
        self.known.get(&self.key(&name.db, &name.name)).is_none_or(|view| view.definition.get().is_some())
    }

    /// Notes the definition of a view, as it was looked up while these names of views were valid. Only the first one
    /// counts.
    pub fn set_definition(&self, name: &ViewName, definition: Definition) {
        if let Some(view) = self.known.get(&self.key(&name.db, &name.name)) {
            let _ = view.definition.set(definition);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(name: &str) -> ViewName {
        let (db, name) = name.split_once('.').unwrap();
        ViewName { db: db.into(), name: name.into() }
    }

    fn table(name: &str) -> TableName {
        match name.split_once('.') {
            Some((db, name)) => TableName { db: Some(db.into()), name: name.into() },
            None => TableName { db: None, name: name.into() },
        }
    }

    fn views(folds_case: bool, names: &[&str]) -> Views {
        Views::new(1, folds_case, names.iter().map(|name| view(name)))
    }

    fn read(views: &Views, names: &[&str]) -> ViewUse {
        let names: Vec<_> = names.iter().map(|name| table(name)).collect();
        views.read_by(Some(&names), b"d")
    }

    fn settle(views: &Views, name: &str, against: Option<ContextReason>, inner: &[&str]) {
        let inner = inner.iter().map(|name| view(name)).collect();
        views.set_definition(&view(name), Definition { against, views: inner });
    }

    #[test]
    fn a_view_is_what_its_schema_and_its_name_say() {
        let views = views(false, &["d.v", "e.w"]);
        assert_eq!(read(&views, &["t", "e.v", "w", "d.w", "V", "D.v"]), ViewUse::Tables);
        assert_eq!(read(&views, &["t", "v"]), ViewUse::Refused(ContextReason::ViewUnknown));
        assert_eq!(read(&views, &["e.w"]), ViewUse::Refused(ContextReason::ViewUnknown));
        assert_eq!(views.take_requested_definitions(), [view("d.v"), view("e.w")]);
        assert!(views.take_requested_definitions().is_empty());
        assert_eq!(views.read_by(None, b"d"), ViewUse::Refused(ContextReason::View));
        assert_eq!(self::views(false, &[]).read_by(None, b"d"), ViewUse::Tables);
    }

    #[test]
    fn what_speaks_against_a_view_speaks_against_those_around_it() {
        let views = views(false, &["d.v", "d.w", "e.x", "e.y"]);
        settle(&views, "d.v", None, &["d.w", "e.x"]);
        settle(&views, "d.w", None, &["d.v"]);
        assert_eq!(read(&views, &["v"]), ViewUse::Refused(ContextReason::ViewUnknown));
        assert_eq!(views.take_requested_definitions(), [view("e.x")]);
        settle(&views, "e.x", None, &[]);
        assert_eq!(read(&views, &["v", "t"]), ViewUse::Views);
        settle(&views, "e.y", Some(ContextReason::ViewFunction), &[]);
        assert_eq!(read(&views, &["v", "e.y"]), ViewUse::Refused(ContextReason::ViewFunction));
    }

    #[test]
    fn where_case_is_folded_names_beyond_ascii_may_be_any() {
        let views = views(true, &["D.V"]);
        settle(&views, "d.v", None, &[]);
        assert_eq!(read(&views, &["v"]), ViewUse::Views);
        assert_eq!(read(&views, &["d.V"]), ViewUse::Views);
        assert_eq!(read(&views, &["\u{212a}"]), ViewUse::Refused(ContextReason::View));
        assert_eq!(views.among(&[table("\u{e4}.v")], b"d"), None);
        assert_eq!(views.among(&[table("v"), table("t")], b"d"), Some(vec![view("D.V")]));
    }
}
