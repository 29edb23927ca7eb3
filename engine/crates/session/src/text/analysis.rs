//! Facts about a statement that follow from its text. Most of them hold for every statement of the same shape, that is, with other literals
//! only.

use crate::text::views::Views;
use footprint::KeyColumn;
use insight::{Digests, NOBODY, ShapeId};
use locks::RwLock;
use sql::touched::{self, KeyPositions};
use sql::{Digest, Kind, LexMode, Statement, TableName};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

/// The schema `sys` has stored programs of its own. They are not counted when the server is asked for stored programs, so statements that
/// may name it are examined.
pub(crate) const SYSTEM: &[u8] = b"sys";

/// Which rows a read returns, compared with the rows that it has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scan {
    /// A single SELECT without aggregates, set operations or derived tables. The rows that it returns are rows that it has read.
    Single,
    /// A single SELECT with GROUP BY. Each row that it returns stands for at least one row that it has read.
    Grouped,
    /// A single SELECT with aggregates and without GROUP BY. It returns a row even if it has read none.
    Aggregated,
    Other,
}

/// Everything that the text of a statement shows. It is made once for each shape of text, and shared by all sessions.
#[derive(Debug)]
pub struct Analysis {
    pub statement: Arc<Statement>,
    /// The shape that counts the reads with this text. None if the statement is no read or has no shape.
    digest: Option<Arc<Digest>>,
    scan: Scan,
    /// A LIMIT or OFFSET may leave out rows that FOUND_ROWS() counts.
    may_skip_rows: bool,
    /// The statement is no read, but may search rows and so set FOUND_ROWS() without a result that shows them.
    searches: bool,
    /// The text may name the schema `sys`, whose triggers the engine does not count.
    names_system: bool,
    /// For a read: the tables and views that it may name. None if they cannot be derived from the text.
    sources: Option<Arc<[TableName]>>,
    /// `(generation + 1) << 1 | answer`: whether the text names a view in this generation of the catalogue. 0 before the first check.
    names_view: AtomicU64,
    /// A text of this shape may name something of the cache.
    may_name_cache: bool,
    /// The response to this write reports how many rows it has really changed.
    counts_changes: bool,
    /// The shape itself. None if the analysis belongs to one text.
    shape: Option<Arc<[u8]>>,
    /// Which rows texts of this shape write, for the key column of the last check.
    key_positions: RwLock<Option<ForKey>>,
}

/// The rows that texts of one shape write, for one key column. `key_positions` is none if the positions of the numbers do not show them.
#[derive(Debug)]
struct ForKey {
    key: Arc<KeyColumn>,
    key_positions: Option<Arc<KeyPositions>>,
}

impl Analysis {
    pub fn new(text: &[u8], mode: LexMode) -> Analysis {
        let statement = sql::classify(text, mode);
        let is_read = matches!(statement.kind, Kind::Read(_));
        Analysis {
            scan: if is_read { scan_of(text, mode) } else { Scan::Other },
            may_skip_rows: is_read && (may_skip_rows(text) || sql::may_count_found_rows(text)),
            searches: !is_read && sql::may_search(text, mode),
            names_system: sql::contains_ignoring_case(text, SYSTEM),
            may_name_cache: sql::surface::may_name_cache(text, mode),
            counts_changes: !is_read && touched::counts_changes(text, mode),
            sources: if is_read { sql::sources(text, mode).map(Arc::from) } else { None },
            ..Analysis::of(statement)
        }
    }

    /// The analysis of a statement that may do anything, because its text is not known or not understood.
    pub fn opaque() -> Arc<Analysis> {
        Arc::new(Analysis::of(Statement {
            kind: Kind::Opaque,
            reads_diagnostics: true,
            may_call_stored: true,
            may_write_by_the_way: true,
            is_update: false,
        }))
    }

    /// The analysis of an EXECUTE in SQL, whose own text does not show what it runs: `statement` is the one that was prepared under the
    /// name.
    pub fn executed(statement: &Statement) -> Arc<Analysis> {
        let kind = Kind::Executed(Box::new(statement.clone()));
        Arc::new(Analysis::of(Statement {
            kind,
            reads_diagnostics: true,
            may_call_stored: true,
            may_write_by_the_way: true,
            is_update: false,
        }))
    }

    /// Sets the shape whose counters count reads with this text. No effect on other statements.
    pub(crate) fn counted(mut self, shape: &[u8]) -> Analysis {
        self.digest = matches!(self.statement.kind, Kind::Read(_)).then(|| Arc::new(Digest::new(shape)));
        self
    }

    /// Makes this the analysis of all texts of this shape, so that `key_positions` can answer for them.
    pub(crate) fn of_shape(mut self, shape: &Arc<[u8]>) -> Analysis {
        self.shape = Some(shape.clone());
        self
    }

    fn of(statement: Statement) -> Analysis {
        let names_view = AtomicU64::new(0);
        let statement = Arc::new(statement);
        Analysis {
            statement,
            digest: None,
            scan: Scan::Other,
            may_skip_rows: false,
            searches: true,
            names_system: true,
            sources: None,
            names_view,
            may_name_cache: true,
            counts_changes: false,
            shape: None,
            key_positions: RwLock::default(),
        }
    }

    /// A copy for one session. Sessions that use the shared analysis at the same time would slow each other down by its reference counter.
    pub(crate) fn copy(&self) -> Analysis {
        let (statement, digest) = (Arc::new((*self.statement).clone()), self.digest.clone());
        let names_view = AtomicU64::new(self.names_view.load(Ordering::Relaxed));
        let (sources, shape, key_positions) = (self.sources.clone(), self.shape.clone(), RwLock::default());
        Analysis { statement, digest, names_view, sources, shape, key_positions, ..*self }
    }

    /// True if the response to this write reports how many rows it has really changed, provided that the table uses InnoDB.
    pub fn counts_changes(&self) -> bool {
        self.counts_changes
    }

    /// Which numbers in a text of this shape are the keys of the rows that it writes. `key` must be the key column of the table that the
    /// text names. None if the positions of the numbers do not show that.
    pub fn key_positions(&self, key: &Arc<KeyColumn>, mode: LexMode) -> Option<Arc<KeyPositions>> {
        let shape = self.shape.as_ref()?;
        let known = self.key_positions.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.as_ref().filter(|known| Arc::ptr_eq(&known.key, key)) {
            return known.key_positions.clone();
        }
        drop(known);
        let key_positions = touched::key_positions(&shape[1..], mode, key).map(Arc::new);
        let now = ForKey { key: key.clone(), key_positions: key_positions.clone() };
        *self.key_positions.write().unwrap_or_else(PoisonError::into_inner) = Some(now);
        key_positions
    }

    /// True if the statement is a single SELECT in which each row of the result comes from one row of each table that it reads: without
    /// aggregates, GROUP BY or set operations.
    pub fn is_single_scan(&self) -> bool {
        self.scan == Scan::Single
    }

    /// True if the statement is a read, and all its rows come from a single SELECT. False also if that is not certain.
    pub fn is_single_select(&self) -> bool {
        self.scan != Scan::Other
    }

    /// True if every row that the statement returns is, or is grouped from, rows that it has read. Then a result with rows shows that it
    /// has read some.
    pub fn returns_what_it_reads(&self) -> bool {
        matches!(self.scan, Scan::Single | Scan::Grouped)
    }

    /// True if FOUND_ROWS() after the read is the number of rows in the result, which is `rows`. An aggregate over no rows leaves
    /// FOUND_ROWS() as it was; `has_aggregated` says that there were some.
    pub fn shows_found(&self, rows: u64, has_aggregated: impl FnOnce() -> bool) -> bool {
        match self.scan {
            Scan::Single => !self.may_skip_rows,
            Scan::Grouped => rows > 0,
            Scan::Aggregated => rows == 1 && has_aggregated(),
            Scan::Other => false,
        }
    }

    /// True if the text may name the schema `sys`, whose stored programs and triggers the engine does not know.
    pub fn names_system(&self) -> bool {
        self.names_system
    }

    /// True if no text with this analysis names a variable of the cache or one of its statements, so that the text can go to the server as
    /// it is. False means only that it may.
    pub fn is_far_from_surface(&self) -> bool {
        !self.may_name_cache && self.holds_for_shape()
    }

    /// True if the statement is no read but may search rows, and so set FOUND_ROWS() without a result that shows it.
    pub fn searches(&self) -> bool {
        self.searches
    }

    /// True if this analysis holds for all texts of the shape. For other kinds of statements it depends on their literals.
    pub(crate) fn holds_for_shape(&self) -> bool {
        use Kind::*;
        matches!(self.statement.kind, Read(_) | Write | Begin(_) | Commit(_) | Rollback(_))
    }

    /// The id of the shape that counts this read. For other statements, and for a read without a shape, the id of all shapes that have no
    /// counters of their own.
    pub fn shape(&self, digests: &Digests) -> ShapeId {
        self.digest.as_ref().map_or(NOBODY, |digest| digests.find(digest.id, || sql::abbreviated(&digest.text)))
    }

    /// The tables and views that a read may name. None if they cannot be derived from the text, or if the statement is no read.
    pub fn sources(&self) -> Option<&[TableName]> {
        self.sources.as_deref()
    }

    /// True if some word of the text is the name of a view. `text` is any text of this shape. The answer is remembered
    /// until the server's definitions change.
    pub fn names_view(&self, views: &Views, text: &[u8], mode: LexMode) -> bool {
        let asked = (views.generation + 1) << 1;
        // Relaxed: the answer and the generation it holds for are in the same word.
        let known = self.names_view.load(Ordering::Relaxed);
        if known & !1 == asked {
            return known & 1 != 0;
        }
        let answer = sql::mentions(text, mode, |name| views.may_be_view(name));
        self.names_view.store(asked | u64::from(answer), Ordering::Relaxed);
        answer
    }
}

/// True if a LIMIT with an offset may be in the text.
fn may_skip_rows(text: &[u8]) -> bool {
    let text = text.to_ascii_lowercase();
    let position = |word: &[u8]| text.windows(word.len()).position(|part| part == word);
    position(b"offset").is_some() || position(b"limit").is_some_and(|at| text[at..].contains(&b','))
}

/// Words of statements whose rows may come from more than one scan.
const OTHERS: &[&[u8]] = &[b"union", b"intersect", b"except", b"with", b"values", b"over", b"right"];
/// Words of statements that may return fewer rows than they have grouped.
const HOLDING: &[&[u8]] = &[b"having", b"limit", b"distinct", b"procedure"];

fn scan_of(text: &[u8], mode: LexMode) -> Scan {
    let (selects, aggregates, groups, holds) = (Cell::new(0), Cell::new(false), Cell::new(false), Cell::new(false));
    let is_other = |word: &[u8]| {
        selects.set(selects.get() + u32::from(word == b"select"));
        aggregates.set(aggregates.get() || sql::is_aggregate(word));
        groups.set(groups.get() || word == b"group");
        holds.set(holds.get() || HOLDING.contains(&word));
        selects.get() > 1 || OTHERS.contains(&word)
    };
    let is_other = sql::mentions(text, mode, is_other) || selects.get() != 1;
    match (is_other, groups.get(), aggregates.get(), holds.get()) {
        (true, ..) => Scan::Other,
        (_, true, _, false) => Scan::Grouped,
        (_, false, false, _) => Scan::Single,
        (_, false, true, false) => Scan::Aggregated,
        _ => Scan::Other,
    }
}
