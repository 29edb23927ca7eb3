//! What each kind of statement does: which tables it closes, whether it may commit, and what it leaves unchanged.

use flavour::Flavour;
use sql::{Assignment, DdlScope, Flush, Kind, Show, Target, Xa};

/// What a statement of a kind closes when it arrives, besides the tables that the server will name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    pub everything: bool,
    /// It may flush tables, all of which are closed then: the question about one that is under way must end before.
    pub flushes: bool,
    /// It may define anything: what is known of the catalogue is outdated.
    pub defines: bool,
    /// It may commit: what the transaction has written.
    pub written: bool,
}

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

/// What runs is not in the text, or the text is not followed that far.
pub fn may_be_anything(kind: &Kind) -> bool {
    match kind {
        Kind::SetStatement(inner) | Kind::Executed(inner) => {
            !matches!(inner.kind, Kind::Read(_) | Kind::Write | Kind::Show(_) | Kind::Explain)
        }
        _ => matches!(kind, Kind::Execute(_) | Kind::Compound | Kind::Multiple | Kind::Opaque),
    }
}

/// Another database may be the current one after it, or none. No stored program that a read or a write runs may choose one.
pub fn may_move(kind: &Kind) -> bool {
    !matches!(kind, Kind::Read(_) | Kind::Write | Kind::Begin(_) | Kind::Commit(_) | Kind::Rollback(_))
}

/// New sessions get what was set, and results may depend on it. No result depends on the cache's own settings, except on the rules,
/// which say whether it is kept.
fn is_inherited(flavour: &Flavour, assignment: &Assignment) -> bool {
    let is_own = |name: &[u8]| (name.starts_with(b"fqc_") || name.starts_with(b"query_cache_")) && name != b"fqc_rules";
    match &assignment.target {
        Target::Global(name) => !is_own(name) && !flavour.variables.is_harmless_global(name),
        Target::Password | Target::DefaultRole => true,
        _ => false,
    }
}

/// Whatever it does, it neither begins nor ends a transaction, nor sets what becomes of one.
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

fn may_commit(kind: &Kind) -> bool {
    match kind {
        Kind::Set(assignments) => {
            assignments.iter().any(|a| matches!(&a.target, Target::Session(n) if n == b"autocommit"))
        }
        Kind::SetTransaction(_) => false,
        _ => !leaves_transaction(kind),
    }
}

/// Whether the number of rows found is certainly the same after it, or that of its own result, unless it searches.
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

/// Statements inside which the server may run others that must be looked at: any read may name a view that calls a function.
pub fn may_run_others(kind: &Kind) -> bool {
    !matches!(kind, Kind::Begin(_) | Kind::Commit(_) | Kind::Rollback(_) | Kind::Use(_) | Kind::Empty)
}

/// Statements for which the server opens no more than what their texts name, and no triggers.
pub fn opens_what_it_names(kind: &Kind) -> bool {
    match kind {
        Kind::Show(show) => *show != Show::Other,
        Kind::Read(_) | Kind::Set(_) | Kind::SetTransaction(_) | Kind::Do | Kind::Kill | Kind::Harmless => true,
        Kind::Savepoint | Kind::RollbackToSavepoint | Kind::ReleaseSavepoint => true,
        _ => false,
    }
}

/// Whether a read would run in another transaction after it, or by other rules, than before.
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
