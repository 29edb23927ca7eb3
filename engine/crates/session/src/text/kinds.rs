//! What each kind of statement does: which version cells it closes, whether it may commit, and what it leaves unchanged.

use flavour::Flavour;
use sql::{Assignment, DdlScope, Flush, Kind, Show, Target, Xa};

/// What results must not be served while a statement of some kind runs, because it may change what they depend on. Tables that the server
/// will report for the statement are not included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    /// Set if the statement may change anything that results depend on, or what new sessions inherit.
    pub everything: bool,
    /// Set if the statement may flush tables, so that the server closes all of them. A running look-up of a table must end first.
    pub flushes: bool,
    /// Set if the statement may define anything, so that the catalogue is stale afterwards.
    pub defines: bool,
    /// Set if the statement may commit. Then the cells of the tables that the transaction has written are closed.
    pub written: bool,
}

/// Returns which results must not be served from the arrival of a statement of this kind until its end, apart from those of tables that
/// the server will report for it.
pub fn closing(flavour: &Flavour, kind: &Kind) -> Closing {
    let flushes = may_be_anything(kind) || *kind == Kind::Flush(Flush::Other);
    let defines = may_be_anything(kind) || matches!(kind, Kind::Ddl(DdlScope::Everything));
    let is_global = match kind {
        Kind::Set(assignments) => assignments.iter().any(|one| is_inherited(flavour, one)),
        Kind::SetTransaction(set) => set.scope == sql::TransactionScope::Global,
        Kind::Xa(xa) => matches!(xa, Xa::Commit | Xa::Rollback),
        _ => false,
    };
    let everything = defines || flushes || is_global;
    Closing { everything, flushes, defines, written: everything || may_commit(kind) }
}

/// True if the text does not show what the statement runs, or is not parsed that far. Such a statement may do anything.
pub fn may_be_anything(kind: &Kind) -> bool {
    match kind {
        Kind::SetStatement(inner) | Kind::Executed(inner) => {
            !matches!(inner.kind, Kind::Read(_) | Kind::Write | Kind::Show(_) | Kind::Explain)
        }
        _ => matches!(kind, Kind::Execute(_) | Kind::Compound | Kind::Multiple | Kind::Opaque),
    }
}

/// True if the current database may be another one after the statement, or none. A stored program that a read or write calls cannot choose
/// one.
pub fn may_change_database(kind: &Kind) -> bool {
    !matches!(kind, Kind::Read(_) | Kind::Write | Kind::Begin(_) | Kind::Commit(_) | Kind::Rollback(_))
}

/// True if new sessions inherit what this assignment sets, and results may depend on it. No result depends on the cache's own
/// settings, except for the rules, which say whether it is kept.
fn is_inherited(flavour: &Flavour, assignment: &Assignment) -> bool {
    let is_own = |name: &[u8]| (name.starts_with(b"fqc_") || name.starts_with(b"query_cache_")) && name != b"fqc_rules";
    match &assignment.target {
        Target::Global(name) => !is_own(name) && !flavour.variables.is_harmless_global(name),
        Target::Password | Target::DefaultRole => true,
        _ => false,
    }
}

/// True if a statement of this kind neither begins nor ends a transaction, nor sets properties of one.
fn leaves_transaction(kind: &Kind) -> bool {
    let is_data =
        matches!(kind, Kind::Read(_) | Kind::Write | Kind::Show(_) | Kind::Explain | Kind::Handler | Kind::Do);
    let is_savepoint = matches!(kind, Kind::Savepoint | Kind::RollbackToSavepoint | Kind::ReleaseSavepoint);
    let is_preparation = matches!(kind, Kind::Prepare(_) | Kind::Deallocate);
    is_data
        || is_savepoint
        || is_preparation
        || matches!(kind, Kind::Use(_) | Kind::Kill | Kind::Empty | Kind::Harmless)
}

/// True if the statement may commit the open transaction.
fn may_commit(kind: &Kind) -> bool {
    match kind {
        Kind::Set(assignments) => {
            assignments.iter().any(|a| matches!(&a.target, Target::Session(n) if n == b"autocommit"))
        }
        Kind::SetTransaction(_) => false,
        _ => !leaves_transaction(kind),
    }
}

/// True if FOUND_ROWS() after the statement is certainly unchanged, or is the number of rows in the statement's own result. This does not
/// hold if the statement searches rows (see `Analysis::searches`).
pub fn leaves_found_rows(kind: &Kind) -> bool {
    let is_data = matches!(kind, Kind::Read(_) | Kind::Write);
    let is_transaction = matches!(
        kind,
        Kind::Begin(_)
            | Kind::Commit(_)
            | Kind::Rollback(_)
            | Kind::Savepoint
            | Kind::RollbackToSavepoint
            | Kind::ReleaseSavepoint
    );
    let looks_back =
        matches!(kind, Kind::Show(Show::Warnings | Show::Errors | Show::CountWarnings | Show::CountErrors));
    let is_setting = matches!(kind, Kind::Use(_) | Kind::Set(_) | Kind::SetTransaction(_));
    is_data || is_transaction || looks_back || is_setting || *kind == Kind::Harmless
}

/// True if the server may run other statements inside this one, which must be examined. Any read may use a view that calls a
/// function.
pub fn may_run_others(kind: &Kind) -> bool {
    !matches!(kind, Kind::Begin(_) | Kind::Commit(_) | Kind::Rollback(_) | Kind::Use(_) | Kind::Empty)
}

/// True if the server opens only tables and views that the text of such a statement names, and runs no triggers.
pub fn opens_what_it_names(kind: &Kind) -> bool {
    match kind {
        Kind::Show(show) => *show != Show::Other,
        Kind::Read(_) | Kind::Set(_) | Kind::SetTransaction(_) | Kind::Do | Kind::Kill | Kind::Harmless => true,
        Kind::Savepoint | Kind::RollbackToSavepoint | Kind::ReleaseSavepoint => true,
        _ => false,
    }
}

/// True if the next read would run in another transaction, or with other transaction settings, than without this statement.
pub fn changes_transaction(kind: &Kind, autocommit: bool) -> bool {
    const SETTINGS: [&[u8]; 5] =
        [b"autocommit", b"tx_isolation", b"transaction_isolation", b"tx_read_only", b"completion_type"];
    let is_setting = |assignment: &Assignment| match &assignment.target {
        Target::Session(name) => SETTINGS.contains(&name.as_slice()),
        Target::OneShot(_) => true,
        _ => false,
    };
    match kind {
        Kind::Set(assignments) => assignments.iter().any(is_setting),
        Kind::Commit(completion) | Kind::Rollback(completion) => !autocommit || completion.chain == Some(true),
        _ => !leaves_transaction(kind),
    }
}
