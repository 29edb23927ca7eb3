//! The kinds of statements. A kind says what a statement may change or commit, not how it is written.

use crate::{Refusal, Selection, SelectionError};

/// The text of one command, as [`classify()`](crate::classify()) understands it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub kind: Kind,
    /// True if the statement asks about the previous one (`FOUND_ROWS()`, `ROW_COUNT()`, `SHOW WARNINGS`, ...), or may do so.
    pub reads_diagnostics: bool,
    /// True if the statement calls a function that is not built in, or may do so.
    pub may_call_stored: bool,
    /// True if an expression of the statement may write or lock something, whatever its kind is, or if the statement is not understood.
    pub may_write_by_the_way: bool,
    /// True if the statement is an UPDATE, and no WITH stands before it.
    pub is_update: bool,
}

/// The kind of a statement: what it may change or commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One SELECT, WITH, VALUES or TABLE, also in parentheses and combined with others, for example by UNION.
    Read(Read),
    Begin(Begin),
    Commit(Completion),
    Rollback(Completion),
    RollbackToSavepoint,
    Savepoint,
    ReleaseSavepoint,
    /// Every form of SET with assignments, SET NAMES, SET ROLE and SET PASSWORD included. It commits if an assignment does: `autocommit`
    /// from 0 to 1, `Target::Password`, `Target::DefaultRole`.
    Set(Vec<Assignment>),
    SetTransaction(SetTransaction),
    /// `SET STATEMENT ... FOR` this statement, which sets variables while the statement runs.
    SetStatement(Box<Statement>),
    /// USE of this database.
    Use(Vec<u8>),
    /// The statement changes rows of tables, and never commits by itself.
    Write,
    CreateTemporary,
    /// DROP of temporary tables. `may_be_missing` is true with IF EXISTS: success then does not mean that any existed.
    DropTemporary {
        may_be_missing: bool,
    },
    Show(Show),
    /// EXPLAIN, DESCRIBE, and ANALYZE of a read.
    Explain,
    Handler,
    LockTables,
    UnlockTables,
    Call,
    /// EXECUTE of the prepared statement with this name, in lower case. None if values other than user variables are bound, or the name is
    /// not plain.
    Execute(Option<Vec<u8>>),
    /// EXECUTE of this statement. The classifier does not return it: only a caller that has seen the PREPARE knows the statement.
    Executed(Box<Statement>),
    /// PREPARE. None if the prepared text or the name is not plain, so that the statement is not known.
    Prepare(Option<Preparation>),
    Deallocate,
    /// A block, a control statement or EXECUTE IMMEDIATE.
    Compound,
    Do,
    Xa(Xa),
    Kill,
    Flush(Flush),
    ResetQueryCache,
    /// `ATTACH FQC NEAR 'name' PROTOCOL number`: a near cache turns this connection into its feed of invalidations.
    AttachNear {
        name: Vec<u8>,
        protocol: u16,
    },
    /// Defines, alters or removes objects or privileges, and commits the transaction.
    Ddl(DdlScope),
    /// A statement such as HELP or GET DIAGNOSTICS, which changes nothing that a read could see.
    Harmless,
    /// Several statements in one text. Each of them reads or changes rows, or begins or ends a transaction.
    Several,
    /// Several statements in one text, some of other kinds than those in `Several`. They may change or commit anything.
    Multiple,
    Empty,
    /// A statement that is not understood. It may change or commit anything.
    Opaque,
}

/// The facts about a read that its text shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// The first reason in the text why the result must not be cached. `None`: nothing in the text forbids it.
    pub refusal: Option<Refusal>,
    /// The user's hint whether to cache the result.
    pub hint: Hint,
    /// True for VALUES with literals alone, which leaves FOUND_ROWS() unchanged.
    pub leaves_found_rows: bool,
    /// True if the read names a table. Otherwise the server may keep the warnings of the previous statement.
    pub names_table: bool,
}

/// A hint in the text of a read whether to cache its result: SQL_CACHE or SQL_NO_CACHE. With both, SQL_NO_CACHE counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hint {
    #[default]
    None,
    SqlCache,
    SqlNoCache,
}

/// The options of BEGIN or START TRANSACTION. Without READ ONLY and READ WRITE, settings of the session decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Begin {
    pub consistent_snapshot: bool,
    pub read_only: bool,
    pub read_write: bool,
}

/// The further effects of COMMIT and ROLLBACK. `None`: the statement does not say, and the setting `completion_type` decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// AND CHAIN (true): a new transaction begins at once. AND NO CHAIN (false).
    pub chain: Option<bool>,
    /// RELEASE (true): the server closes the connection. NO RELEASE (false).
    pub release: Option<bool>,
}

/// One assignment of a SET statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub target: Target,
    pub value: Value,
}

/// The left side of an assignment of SET. Names of system variables are in lower case; structured ones keep their dot
/// (`hot.key_buffer_size`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A system variable, for this session.
    Session(Vec<u8>),
    /// A system variable, for the server.
    Global(Vec<u8>),
    /// `@@tx_isolation`, `@@tx_read_only` or their newer names without a scope, which are set for the next transaction alone.
    OneShot(Vec<u8>),
    UserVariable,
    /// SET NAMES; the value of the assignment is the character set. `collation` is none without COLLATE, and for COLLATE DEFAULT.
    Names {
        collation: Option<Vec<u8>>,
    },
    /// SET CHARACTER SET.
    Charset,
    Role,
    DefaultRole,
    Password,
}

/// The right side of an assignment of SET.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The value of a string literal, without quotes and escapes.
    Text(Vec<u8>),
    /// A number, with its sign, as written.
    Number(Vec<u8>),
    /// A bare word, as written, such as ON, utf8mb4 or NULL, or a quoted name without its quotes.
    Word(Vec<u8>),
    /// The keyword DEFAULT.
    Default,
    /// An expression, whose value is not known.
    Complex,
}

impl Value {
    /// Returns the bytes of a string, number or word. None for DEFAULT and expressions.
    pub fn plain(&self) -> Option<&[u8]> {
        match self {
            Value::Text(bytes) | Value::Number(bytes) | Value::Word(bytes) => Some(bytes),
            Value::Default | Value::Complex => None,
        }
    }

    /// Returns the value as a boolean, for 0, 1, ON, OFF, TRUE and FALSE in any case. None for any other value.
    pub fn switch(&self) -> Option<bool> {
        let bytes = self.plain()?.to_ascii_lowercase();
        match bytes.as_slice() {
            b"1" | b"on" | b"true" => Some(true),
            b"0" | b"off" | b"false" => Some(false),
            _ => None,
        }
    }
}

/// `PREPARE name FROM 'text'`. The name is in lower case, the text without quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preparation {
    pub name: Vec<u8>,
    pub text: Vec<u8>,
}

/// A SET TRANSACTION. `None`: the statement does not set this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetTransaction {
    pub scope: TransactionScope,
    pub isolation: Option<Isolation>,
    /// READ ONLY (true) or READ WRITE (false).
    pub read_only: Option<bool>,
}

/// The transactions that a SET TRANSACTION applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionScope {
    /// Only the session's next transaction: the statement has no scope.
    Next,
    /// The session's later transactions.
    Session,
    /// The transactions of later sessions.
    Global,
}

/// An isolation level of transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// A SHOW statement that the engine answers itself (`Fqc`) or whose answer from the server it may change, or that asks about the previous
/// statement. All others are `Other`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Show {
    Status { scope: ShowScope, filter: Filter },
    Variables { scope: ShowScope, filter: Filter },
    Warnings,
    Errors,
    CountWarnings,
    CountErrors,
    Fqc { topic: FqcTopic, rows: Result<Selection, SelectionError> },
    Other,
}

/// The scope of SHOW STATUS and SHOW VARIABLES; the session's if the statement names none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShowScope {
    #[default]
    Session,
    Global,
}

/// The rows that SHOW STATUS or SHOW VARIABLES selects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// All rows.
    #[default]
    None,
    /// The rows that match this pattern of LIKE, given without quotes and escapes of the literal.
    Like(Vec<u8>),
    /// WHERE, or anything else that only the server can evaluate.
    Other,
}

/// A report of the engine: `SHOW FQC STATUS`, `SHOW FQC QUERIES` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FqcTopic {
    Status,
    Queries,
    Tables,
    Reasons,
    Curve,
    Near,
}

/// The verb of an XA statement, about a distributed transaction. The transaction's identifier is left to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Xa {
    Start,
    End,
    Prepare,
    Commit,
    Rollback,
    Recover,
}

/// The object of a FLUSH statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// FLUSH QUERY CACHE.
    QueryCache,
    /// FLUSH STATUS that resets the counters of the whole server.
    Status,
    /// FLUSH STATUS that resets only the session's counters.
    SessionStatus,
    Other,
}

/// The objects that a data definition statement may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DdlScope {
    /// These tables, and nothing else that a read could see. The list may be empty.
    Tables(Vec<TableName>),
    /// Anything: results of all tables may be stale afterwards.
    Everything,
}

/// The name of a table or view as a statement writes it, without quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableName {
    /// The schema. None: the current database.
    pub db: Option<Vec<u8>>,
    pub name: Vec<u8>,
}
