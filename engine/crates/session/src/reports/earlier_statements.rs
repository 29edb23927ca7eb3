//! Statements that were already running when the engine began to watch. It is not known which tables they have locked, so
//! nothing is stored until all of them have ended.

use crate::engine::Engine;
use crate::text::analysis::Analysis;
use crate::text::kinds::closing;
use cache::Versions;
use sql::{Filter, Kind, LexMode, Refusal, Show};

/// A statement that the server is running, or a transaction of a thread that shows no statements, as the server lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierStatement {
    /// The server's id of the thread or connection.
    pub thread: u64,
    /// Distinguishes the statement from earlier ones of the same thread.
    pub number: u64,
    /// The text of the statement. Empty if the server does not show it.
    pub text: Vec<u8>,
}

/// The statements that were already running when the engine began to watch and have not ended yet. Until `end`, the cell that
/// every result depends on is closed, so nothing is stored or served.
pub struct EarlierStatements {
    /// The statements that have not ended yet. None before the first look.
    running: Option<Vec<EarlierStatement>>,
    /// One of these statements may change what new sessions inherit.
    is_changing: bool,
}

impl EarlierStatements {
    /// Closes the cell that every result depends on, until `end`. Blocks until no near cache can serve a result.
    pub fn begin(engine: &Engine) -> EarlierStatements {
        engine.versions().close(Versions::EVERYTHING);
        engine.announce_closed(&[Versions::EVERYTHING]);
        engine.settings().begin_change();
        engine.settings().note_grants();
        EarlierStatements { running: None, is_changing: true }
    }

    /// Wakes the engine: from here on every statement that begins is followed. Nothing is stored or served before `end`. Must
    /// not be called by two threads at once, and only while the engine is not awake.
    pub fn wake(engine: &Engine) -> EarlierStatements {
        let past = EarlierStatements::begin(engine);
        engine.wake();
        past
    }

    /// Makes the next `look` take all statements that are running then, and not only those that are left of the earlier ones.
    pub fn restart(&mut self) {
        self.running = None;
    }

    /// Takes the list of the statements that the server is running now, and keeps those that were running at the last look and
    /// may write. The first look keeps all that may write. To be called after the catalogue was read: first when every new
    /// statement is followed, and then again until `is_over`.
    pub fn look(&mut self, engine: &Engine, running: Vec<EarlierStatement>) {
        let is_left = |older: &EarlierStatement| self.running.as_ref().is_none_or(|known| known.contains(older));
        // Checked again at each look, because a view or function that the text names may not have been known before.
        let left: Vec<EarlierStatement> =
            running.into_iter().filter(|older| is_left(older) && may_write(engine, &older.text)).collect();
        if self.is_changing
            && !left.iter().any(|older| {
                closing(engine.flavour(), &sql::classify(&older.text, LexMode::new(engine.flavour())).kind).everything
            })
        {
            self.is_changing = false;
            engine.settings().end_change();
        }
        self.running = Some(left);
    }

    /// The ids of the threads whose statements are left. Empty before the first `look`.
    pub fn threads(&self) -> Vec<u64> {
        self.running.iter().flatten().map(|older| older.thread).collect()
    }

    /// True if none of the statements is running any more. False before the first `look`.
    pub fn is_over(&self) -> bool {
        self.running.as_ref().is_some_and(Vec::is_empty)
    }

    /// Opens the cell that every result depends on, so that results are stored and served from here on. To be called when
    /// `is_over` is true.
    pub fn end(self, engine: &Engine) {
        if self.is_changing {
            engine.settings().end_change();
        }
        engine.versions().open(Versions::EVERYTHING);
        engine.announce_opened(&[Versions::EVERYTHING], &[]);
    }
}

/// True unless the text is a read, or a plain SHOW, that certainly calls no stored function, neither itself nor through a view.
/// The lexical mode of its session is not known here, so texts with quotes or backslashes count as writes.
pub fn may_write(engine: &Engine, text: &[u8]) -> bool {
    let mode = LexMode::new(engine.flavour());
    let analysis = Analysis::new(text, mode);
    let Kind::Read(read) = &analysis.statement.kind else { return !is_plain_show(&analysis.statement.kind) };
    let is_ambiguous = text.iter().any(|byte| matches!(byte, b'"' | b'\\'));
    let names_view = || engine.catalogue().views().is_none_or(|views| analysis.names_view(&views, text, mode));
    !matches!(read.refusal, None | Some(Refusal::NoTable)) || is_ambiguous || names_view()
}

/// True for a SHOW whose filter is not an expression.
fn is_plain_show(kind: &Kind) -> bool {
    let is_plain = |filter: &Filter| !matches!(filter, Filter::Other);
    match kind {
        Kind::Show(Show::Status { filter, .. } | Show::Variables { filter, .. }) => is_plain(filter),
        _ => false,
    }
}
