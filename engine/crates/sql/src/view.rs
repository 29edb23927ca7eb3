//! Analyses the definition of a view: does it forbid keeping results of the view, and where do its rows come from?
//!
//! Definitions are in the form in which the server prints them: names have backticks and schemas, functions their usual names, and all is
//! UTF-8.

use crate::{Hint, Kind, LexMode, Read, Refusal, TableName, classify, sources};
use flavour::Flavour;

/// The length in bytes of the longest definition that is analysed. The server may truncate longer ones.
const LONGEST: usize = 16 * 1024;

/// A reason in the definition of a view why results of the view are not cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewRefusal {
    NotUnderstood,
    /// The view calls a function whose value may differ between reads or between sessions.
    Function,
    SystemSchema,
    NoCacheHint,
}

/// Analyses the definition of a view as the server prints it, in UTF-8. Returns the tables and views that its rows may come from; a name
/// without a schema is in the view's own schema. Err if results of the view must not be cached.
pub fn view(flavour: &'static Flavour, definition: &[u8]) -> Result<Vec<TableName>, ViewRefusal> {
    let mode = LexMode::new(flavour);
    match classify(definition, mode).kind {
        Kind::Read(read) if definition.len() <= LONGEST => against(&read).map_or(Ok(()), Err)?,
        _ => return Err(ViewRefusal::NotUnderstood),
    }
    sources(definition, mode).ok_or(ViewRefusal::NotUnderstood)
}

/// Returns why results of a view that is defined by this read must not be cached, None if nothing forbids it.
fn against(read: &Read) -> Option<ViewRefusal> {
    match read.refusal {
        // A view may consist of constants alone. The read must name some other table in any case.
        None | Some(Refusal::NoTable) => (read.hint == Hint::SqlNoCache).then_some(ViewRefusal::NoCacheHint),
        Some(
            Refusal::UnknownFunction
            | Refusal::Nondeterministic
            | Refusal::SessionState
            | Refusal::SideEffect
            | Refusal::CurrentDate
            | Refusal::SequenceValue
            | Refusal::SystemVariable,
        ) => Some(ViewRefusal::Function),
        Some(Refusal::SystemSchema) => Some(ViewRefusal::SystemSchema),
        Some(_) => Some(ViewRefusal::NotUnderstood),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flavour::MARIADB;

    #[test]
    fn a_definition_tells_what_speaks_against_it_and_what_it_reads() {
        for (text, expected) in [
            ("select `d`.`t`.`a` AS `a`,`d`.`t`.`v` AS `v` from `d`.`t`", Ok(&["t"][..])),
            ("select `v`.`a` AS `a` from (`d`.`v` join `e`.`w`)", Ok(&["v", "w"])),
            ("select `x`.`a` AS `a` from (`d`.`v` `x` join `d`.`w` `y` on((`x`.`a` = `y`.`a`)))", Ok(&["v", "w"])),
            (
                "with recursive c as (select 1 AS `n` union select `c`.`n` + 1 from `c`) select `n` from `c`",
                Ok(&["c", "c"]),
            ),
            ("select 1 AS `1`", Ok(&[])),
            ("select sql_no_cache `d`.`t`.`a` AS `a` from `d`.`t`", Err(ViewRefusal::NoCacheHint)),
            ("select current_timestamp() AS `a` from `d`.`w`", Err(ViewRefusal::Function)),
            ("select `d`.`f`(1) AS `a` from `d`.`t`", Err(ViewRefusal::Function)),
            ("select cast(`d`.`t`.`a` as time) AS `a` from `d`.`t`", Err(ViewRefusal::Function)),
            ("select @@sql_mode AS `a` from `d`.`t`", Err(ViewRefusal::Function)),
            ("select `TABLES`.`TABLE_NAME` AS `n` from `information_schema`.`TABLES`", Err(ViewRefusal::SystemSchema)),
            (
                "select `d`.`t`.`a` AS `a` from `d`.`t` FOR SYSTEM_TIME AS OF current_timestamp()",
                Err(ViewRefusal::NotUnderstood),
            ),
            ("delete from `d`.`t`", Err(ViewRefusal::NotUnderstood)),
            ("", Err(ViewRefusal::NotUnderstood)),
        ] {
            let names = |tables: Vec<TableName>| tables.into_iter().map(|table| table.name).collect::<Vec<_>>();
            let expected = expected.map(|names| names.iter().map(|name| name.as_bytes().to_vec()).collect());
            assert_eq!(view(&MARIADB, text.as_bytes()).map(names), expected, "{text}");
        }
        let long = format!("select `d`.`t`.`a` AS `a` from `d`.`t` where `d`.`t`.`a` <> '{}'", "a".repeat(LONGEST));
        assert_eq!(view(&MARIADB, long.as_bytes()), Err(ViewRefusal::NotUnderstood));
    }
}
