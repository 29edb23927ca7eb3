//! Statements about the settings of their session.

use crate::LexMode;
use crate::lex::{Lexer, TokenKind};

/// True if the text reads exactly one system variable of its session, such as `SELECT @@SESSION.sql_mode`, perhaps with an alias, and the
/// variable is one whose value the engine distinguishes sessions by. Its result can then be cached although it reads a system variable.
pub fn shows_setting_alone(text: &[u8], mode: LexMode) -> bool {
    let mut lexer = Lexer::new(text, mode);
    if !lexer.accept("select") || !lexer.accept_kind(TokenKind::AtAt) {
        return false;
    }
    if lexer.accept_any(&["session", "local"]) && !lexer.accept_kind(TokenKind::Dot) {
        return false;
    }
    let name = lexer.next().text.to_ascii_lowercase();
    if !mode.flavour.variables.is_askable(&name) || lexer.is_at_end() {
        return mode.flavour.variables.is_askable(&name);
    }
    lexer.accept("as");
    lexer.next().is_name() && lexer.is_at_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flavour::{MARIADB, MYSQL};

    #[test]
    fn a_read_of_one_setting_is_known() {
        for flavour in [&MARIADB, &MYSQL] {
            let shows = |text: &str| shows_setting_alone(text.as_bytes(), LexMode::new(flavour));
            for text in [
                "SELECT @@SESSION.sql_mode",
                "select @@sql_mode;",
                "SELECT @@local.time_zone AS zone",
                "SELECT /* why */ @@Time_Zone zone",
            ] {
                assert!(shows(text), "{text}");
            }
            for text in [
                "SELECT @@GLOBAL.sql_mode",
                "SELECT @@wait_timeout",
                "SELECT @@sql_mode, 1",
                "SELECT @@sql_mode FROM t",
                "SELECT @@sql_mode = ''",
                "SELECT @@sql_mode zone, NOW()",
                "SELECT @@session",
                "SELECT @@sql_mode; SELECT 1",
                "SELECT @sql_mode",
                "SET @@sql_mode = ''",
                "SELECT @@session.sql_mode.x",
            ] {
                assert!(!shows(text), "{text}");
            }
        }
    }
}
