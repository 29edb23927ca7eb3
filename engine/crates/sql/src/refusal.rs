//! Reasons in a read's text against keeping its result.

use flavour::Objection;

macro_rules! refusals {
    ($($variant:ident, $name:literal, $explanation:literal;)*) => {
        /// A reason in the text of a read why its result is not cached.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Refusal { $($variant),* }

        impl Refusal {
            pub const ALL: &'static [Refusal] = &[$(Refusal::$variant),*];

            /// Returns the name, such as `user_variable`. It is stable: counters, dashboards and `SHOW FQC REASONS` use it.
            pub fn name(self) -> &'static str {
                match self { $(Refusal::$variant => $name),* }
            }

            /// Returns an explanation for users who want to know why a statement is not cached.
            pub fn explain(self) -> &'static str {
                match self { $(Refusal::$variant => $explanation),* }
            }
        }
    };
}

refusals! {
    UnknownFunction, "unknown_function", "It calls something that is not known to be deterministic, such as a stored function.";
    Nondeterministic, "nondeterministic", "It calls a function whose value changes from call to call, such as NOW() or RAND().";
    SessionState, "session_state", "It asks for the state of its connection, such as LAST_INSERT_ID() or CURRENT_USER().";
    SideEffect, "side_effect", "It calls a function that does something besides returning a value, such as GET_LOCK() or SLEEP().";
    CurrentDate, "current_date", "It makes a TIME value, which the server may complete with the date of today.";
    UserVariable, "user_variable", "It reads or sets a user variable.";
    SystemVariable, "system_variable", "It reads a system variable.";
    LockingRead, "locking_read", "It locks the rows it reads.";
    Into, "into", "It writes its result into a file or variables.";
    Procedure, "procedure", "It passes its result through PROCEDURE.";
    CalcFoundRows, "calc_found_rows", "SQL_CALC_FOUND_ROWS counts rows that are not in the result. It is kept only for a query as text, and not for a near cache in exact mode.";
    SystemSchema, "system_schema", "It reads a schema that the server maintains itself.";
    SequenceValue, "sequence_value", "It reads or advances a sequence.";
    SystemTime, "system_time", "It reads the history of a system-versioned table, and not that of all times or of a moment told by a literal (TIMESTAMP '...').";
    ExecutableComment, "executable_comment", "Its meaning depends on the server version, by a comment such as /*! */.";
    NoTable, "no_table", "It reads no table.";
    Unrecognised, "unrecognised", "Its syntax is not among what the cache is sure to understand.";
}

impl Refusal {
    /// True if a statement with the part that this refusal is about may write or lock something.
    pub(crate) fn may_write(self) -> bool {
        use Refusal::{ExecutableComment, Into, LockingRead, Procedure, SequenceValue, SideEffect, Unrecognised};
        let writes = matches!(self, Into | LockingRead | Procedure | SequenceValue | SideEffect);
        writes || matches!(self, ExecutableComment | Refusal::UnknownFunction | Unrecognised)
    }
}

impl From<Objection> for Refusal {
    fn from(objection: Objection) -> Refusal {
        match objection {
            Objection::Nondeterministic => Refusal::Nondeterministic,
            Objection::SessionState => Refusal::SessionState,
            Objection::SideEffect => Refusal::SideEffect,
            Objection::CurrentDate => Refusal::CurrentDate,
            Objection::SequenceValue => Refusal::SequenceValue,
            Objection::Procedure => Refusal::Procedure,
        }
    }
}
