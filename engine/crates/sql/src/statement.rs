//! The kinds of statements. A kind says what a statement may change or commit, not how it is written.

use crate::{Misuse, Refusal, Selection};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub kind: Kind,
    /// The statement asks about the previous one (`FOUND_ROWS()`, `ROW_COUNT()`, `SHOW WARNINGS`, ...), or may do so.
    pub reads_diagnostics: bool,
    /// The statement calls a function that is not built in, or may do so.
    pub may_call_stored: bool,
    /// One of the statement's expressions may write or lock something, or the statement is not understood.
    pub may_write_by_the_way: bool,
    /// The statement is an UPDATE, and no WITH stands before it.
    pub is_update: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One SELECT, WITH, VALUES or TABLE, also in parentheses and combined with others.
    Read(Read),
    Begin(Begin),
    Commit(Completion),
    Rollback(Completion),
    RollbackToSavepoint,
    Savepoint,
    ReleaseSavepoint,
    /// Every form of SET with assignments, SET NAMES, SET ROLE and SET PASSWORD included. One assignment may
    /// commit: `autocommit` from 0 to 1, `Target::Password`, `Target::DefaultRole`.
    Set(Vec<Assignment>),
    SetTransaction(SetTransaction),
    /// `SET STATEMENT ... FOR` another statement, which is the inner one.
    SetStatement(Box<Statement>),
    Use(Vec<u8>),
    /// The statement changes rows, and never commits by itself.
    Write,
    CreateTemporary,
    /// With IF EXISTS, success does not mean that any existed.
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
    /// EXECUTE with the statement's name. The name is none unless all bound values are user variables, which have no effects of their
    /// own.
    Execute(Option<Vec<u8>>),
    /// EXECUTE of this statement. The classifier does not return it: only a caller that has seen the PREPARE knows the statement.
    Executed(Box<Statement>),
    /// PREPARE. None if the prepared text is not a plain literal.
    Prepare(Option<Preparation>),
    Deallocate,
    /// A block, a control statement or EXECUTE IMMEDIATE.
    Compound,
    Do,
    Xa(Xa),
    Kill,
    Flush(Flush),
    ResetQueryCache,
    /// `ATTACH FQC NEAR 'name' PROTOCOL number`
    AttachNear {
        name: Vec<u8>,
        protocol: u16,
    },
    /// Defines, alters or removes objects or privileges; commits.
    Ddl(DdlScope),
    /// A statement that changes nothing a read could see.
    Harmless,
    /// Several statements in one text. Each of them reads or changes rows, or begins or ends a transaction.
    Several,
    /// Several statements in one text, some of other kinds.
    Multiple,
    Empty,
    /// A statement that is not understood. It may change or commit anything.
    Opaque,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// `None`: nothing in the text forbids keeping the result.
    pub refusal: Option<Refusal>,
    pub hint: Hint,
    /// VALUES with literals alone, which leaves FOUND_ROWS() unchanged.
    pub leaves_found_rows: bool,
    /// The read names a table. Otherwise the server may keep the warnings of the previous statement.
    pub names_table: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hint {
    #[default]
    None,
    SqlCache,
    SqlNoCache,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Begin {
    pub consistent_snapshot: bool,
    pub read_only: bool,
    pub read_write: bool,
}

/// The further effects of COMMIT and ROLLBACK. `None`: the setting `completion_type` decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    pub chain: Option<bool>,
    pub release: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub target: Target,
    pub value: Value,
}

/// Names of system variables are in lower case; structured ones keep their dot (`hot.key_buffer_size`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Session(Vec<u8>),
    Global(Vec<u8>),
    /// `@@tx_isolation` or `@@tx_read_only` without a scope: for the next transaction alone.
    OneShot(Vec<u8>),
    UserVariable,
    /// SET NAMES; the value is the character set.
    Names {
        collation: Option<Vec<u8>>,
    },
    /// SET CHARACTER SET.
    Charset,
    Role,
    DefaultRole,
    Password,
}

/// The right side of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A string literal, without its quotes and escapes.
    Text(Vec<u8>),
    /// A number, with its sign, as written.
    Number(Vec<u8>),
    /// A bare word, as written: ON, utf8mb4, NULL.
    Word(Vec<u8>),
    Default,
    /// An expression.
    Complex,
}

impl Value {
    /// The bytes of a plain value. None for DEFAULT and expressions.
    pub fn plain(&self) -> Option<&[u8]> {
        match self {
            Value::Text(bytes) | Value::Number(bytes) | Value::Word(bytes) => Some(bytes),
            Value::Default | Value::Complex => None,
        }
    }

    /// The value as a boolean: 0, 1, ON, OFF, TRUE or FALSE. None for any other value.
    pub fn switch(&self) -> Option<bool> {
        let bytes = self.plain()?.to_ascii_lowercase();
        match bytes.as_slice() {
            b"1" | b"on" | b"true" => Some(true),
            b"0" | b"off" | b"false" => Some(false),
            _ => None,
        }
    }
}

/// `PREPARE name FROM 'text'`. The name is in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preparation {
    pub name: Vec<u8>,
    pub text: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetTransaction {
    pub scope: TransactionScope,
    pub isolation: Option<Isolation>,
    pub read_only: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionScope {
    Next,
    Session,
    Global,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Show {
    Status { scope: ShowScope, filter: Filter },
    Variables { scope: ShowScope, filter: Filter },
    Warnings,
    Errors,
    CountWarnings,
    CountErrors,
    Fqc { topic: FqcTopic, rows: Result<Selection, Misuse> },
    Other,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShowScope {
    #[default]
    Session,
    Global,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    #[default]
    None,
    /// The pattern of LIKE, without quotes and escapes of the literal.
    Like(Vec<u8>),
    /// WHERE, or anything else that only the server can evaluate.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FqcTopic {
    Status,
    Queries,
    Tables,
    Reasons,
    Curve,
    Near,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Xa {
    Start,
    End,
    Prepare,
    Commit,
    Rollback,
    Recover,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    QueryCache,
    /// The counters of the whole server.
    Status,
    SessionStatus,
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DdlScope {
    /// Touches these tables and nothing else that a read could see.
    Tables(Vec<TableName>),
    Everything,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableName {
    pub db: Option<Vec<u8>>,
    pub name: Vec<u8>,
}
