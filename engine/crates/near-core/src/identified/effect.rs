//! The effects that a statement may have on its session, and on the rows that the session reads.

use sql::{Kind, Show, Statement, Target};

/// The things that a statement may change. Each value includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Neither the session nor rows change, apart from the state of the transaction.
    Nothing,
    /// Settings or the current database may differ.
    Settings,
    /// Rows may have been written, and settings may differ as well.
    Rows,
    /// The session may have state that the server cannot be asked for: a temporary table, a lock, or an unknown setting.
    Anything,
}

/// Returns the greatest effect that the statement may have. Not for SET, whose effect depends on its assignments.
pub fn of(statement: &Statement) -> Effect {
    match &statement.kind {
        Kind::Read(_) if !statement.may_write_by_the_way => Effect::Nothing,
        Kind::Begin(_) | Kind::Commit(_) | Kind::Rollback(_) => Effect::Nothing,
        Kind::Savepoint | Kind::ReleaseSavepoint | Kind::RollbackToSavepoint => Effect::Nothing,
        Kind::Show(Show::Other | Show::Status { .. } | Show::Variables { .. } | Show::Fqc { .. }) => Effect::Nothing,
        Kind::Show(Show::Warnings | Show::Errors | Show::CountWarnings | Show::CountErrors) => Effect::Nothing,
        Kind::Prepare(_) | Kind::Deallocate | Kind::Kill | Kind::Harmless | Kind::Empty => Effect::Nothing,
        Kind::ResetQueryCache | Kind::Flush(sql::Flush::QueryCache) => Effect::Nothing,
        Kind::Use(_) | Kind::SetTransaction(_) => Effect::Settings,
        Kind::Read(_) | Kind::Write | Kind::Several | Kind::Explain | Kind::Handler | Kind::Do => Effect::Rows,
        Kind::Ddl(_) | Kind::DropTemporary { .. } | Kind::UnlockTables => Effect::Rows,
        Kind::SetStatement(inner) => of(inner).max(Effect::Rows),
        _ => Effect::Anything,
    }
}

/// Returns true if a statement may set user variables. `text` is its text. Not meant for statements with the effect
/// [`Effect::Anything`].
pub fn may_set_variables(kind: &Kind, text: &[u8]) -> bool {
    if !text.contains(&b'@') {
        return false;
    }
    let is_set =
        matches!(kind, Kind::Set(assignments) if assignments.iter().any(|one| one.target == Target::UserVariable));
    is_set
        || text.windows(2).any(|two| two == b":=")
        || sql::contains_ignoring_case(text, b"into") && !matches!(kind, Kind::Write)
}

/// Returns true if a statement may create, drop or rename accounts and roles, or change what they may read. `text` is its text.
pub fn is_about_accounts(kind: &Kind, text: &[u8]) -> bool {
    const VERBS: [&[u8]; 4] = [b"create", b"drop", b"rename", b"alter"];
    const NOUNS: [&[u8]; 2] = [b"user", b"role"];
    const RIGHTS: [&[u8]; 3] = [b"grant", b"revoke", b"privileges"];
    let says = |words: &[&[u8]]| words.iter().any(|word| sql::contains_ignoring_case(text, word));
    let is_other = matches!(kind, Kind::Read(_) | Kind::Write | Kind::Set(_) | Kind::Show(_) | Kind::Explain);
    !is_other && (says(&RIGHTS) || says(&NOUNS) && says(&VERBS))
}

/// Returns the effect of a text that is too long to be parsed as a whole; `text` is its beginning. `may_be_several` is true if it
/// may contain several statements.
pub fn of_beginning(text: &[u8], may_be_several: bool) -> Effect {
    const ABOUT_ROWS: [&[u8]; 5] = [b"insert", b"replace", b"update", b"delete", b"select"];
    let text = text.trim_ascii_start();
    let length = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let is_known = ABOUT_ROWS.iter().any(|word| word.eq_ignore_ascii_case(&text[..length]));
    if is_known && !may_be_several { Effect::Rows } else { Effect::Anything }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flavour::MARIADB;
    use sql::{LexMode, classify};

    #[test]
    fn what_may_change_a_session_is_known_from_what_cannot() {
        let cases = [
            ("SELECT v FROM t", Effect::Nothing),
            ("SELECT 1", Effect::Nothing),
            ("SELECT @@SESSION.sql_mode", Effect::Nothing),
            ("SELECT NOW(), FOUND_ROWS(), CONVERT_TZ(v, 'UTC', 'CET') FROM t", Effect::Nothing),
            ("SELECT SQL_CALC_FOUND_ROWS v FROM t", Effect::Nothing),
            ("SELECT table_name FROM information_schema.tables", Effect::Nothing),
            ("SELECT @@version, f(v) FROM t", Effect::Rows),
            ("SELECT NOW(), GET_LOCK('a', 1)", Effect::Rows),
            ("SELECT NOW(), NEXTVAL(s)", Effect::Rows),
            ("SELECT NOW() INTO OUTFILE 'a' FROM t", Effect::Rows),
            ("SELECT NOW() /*! , f() */ FROM t", Effect::Rows),
            ("BEGIN", Effect::Nothing),
            ("SHOW WARNINGS", Effect::Nothing),
            ("USE d", Effect::Settings),
            ("SELECT f(v) FROM t", Effect::Rows),
            ("SELECT NOW(), f() FROM t", Effect::Rows),
            ("SELECT v FROM t FOR UPDATE", Effect::Rows),
            ("UPDATE t SET v = 1", Effect::Rows),
            ("SET STATEMENT max_statement_time = 1 FOR SELECT v FROM t", Effect::Rows),
            ("UPDATE t SET v = 1; SELECT 2", Effect::Rows),
            ("CREATE TABLE u (a INT)", Effect::Rows),
            ("CREATE TEMPORARY TABLE t (a INT)", Effect::Anything),
            ("CALL p()", Effect::Anything),
            ("LOCK TABLES t READ", Effect::Anything),
            ("FLUSH STATUS", Effect::Anything),
            ("EXECUTE s", Effect::Anything),
            ("BEGIN NOT ATOMIC SET @@sql_mode = ''; END", Effect::Anything),
            ("UPDATE t SET v = 1; SET @@max_sort_length = 8", Effect::Anything),
            ("WHATEVER", Effect::Anything),
        ];
        for (text, expected) in cases {
            assert_eq!(of(&classify(text.as_bytes(), LexMode::new(&MARIADB))), expected, "{text}");
        }
    }

    #[test]
    fn what_may_set_user_variables_is_known() {
        let may =
            |text: &str| may_set_variables(&classify(text.as_bytes(), LexMode::new(&MARIADB)).kind, text.as_bytes());
        for text in
            ["SET @a = 1", "SELECT @a := 1", "SELECT v INTO @a FROM t", "UPDATE t SET v = (@a := 2)", "DO @a := 1"]
        {
            assert!(may(text), "{text}");
        }
        for text in ["SET @@sql_mode = ''", "SELECT @a", "INSERT INTO t VALUES ('a@b.example')", "SELECT v FROM t"] {
            assert!(!may(text), "{text}");
        }
    }

    #[test]
    fn what_may_make_a_name_another_account_is_known() {
        let is =
            |text: &str| is_about_accounts(&classify(text.as_bytes(), LexMode::new(&MARIADB)).kind, text.as_bytes());
        for text in [
            "DROP USER a",
            "create or replace user a",
            "RENAME USER a TO b",
            "DROP ROLE r",
            "GRANT SELECT ON d.t TO a",
            "REVOKE ALL PRIVILEGES, GRANT OPTION FROM a",
            "FLUSH PRIVILEGES",
            "PREPARE s FROM 'DROP USER a'",
            "SELECT 1; DROP USER a",
            "BEGIN NOT ATOMIC DROP USER a; END",
        ] {
            assert!(is(text), "{text}");
        }
        for text in
            ["SELECT user FROM t", "UPDATE t SET role = 1", "SET ROLE r", "SHOW GRANTS", "BEGIN", "DROP TABLE t"]
        {
            assert!(!is(text), "{text}");
        }
    }

    #[test]
    fn a_long_text_is_known_by_its_first_word() {
        assert_eq!(of_beginning(b" INSERT INTO t VALUES (1), ", false), Effect::Rows);
        assert_eq!(of_beginning(b"INSERT INTO t VALUES (1), ", true), Effect::Anything);
        assert_eq!(of_beginning(b"INSERTED", false), Effect::Anything);
        assert_eq!(of_beginning(b"/* */ INSERT", false), Effect::Anything);
    }
}
