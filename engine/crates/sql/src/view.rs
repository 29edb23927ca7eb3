//! What the definition of a view says against keeping what is read from it, and where its rows come from.
//!
//! The server prints definitions: names have backticks and schemas, functions their usual names, in UTF-8.

use crate::{Hint, Kind, LexMode, Read, Refusal, TableName, classify, sources};
use flavour::Flavour;

/// Longer definitions are not looked at. The server may cut them off, somewhere beyond.
const LONGEST: usize = 16 * 1024;

/// What a definition has against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    NotUnderstood,
    /// What it calls may have another value at each read, or for each session.
    Function,
    SystemSchema,
    NoCacheHint,
}

/// The tables and views that a view may name. A name that has no schema is one of the view's.
pub fn view(flavour: &'static Flavour, definition: &[u8]) -> Result<Vec<TableName>, Against> {
    let mode = LexMode::new(flavour);
    match classify(definition, mode).kind {
        Kind::Read(read) if definition.len() <= LONGEST => against(&read).map_or(Ok(()), Err)?,
        _ => return Err(Against::NotUnderstood),
    }
    sources(definition, mode).ok_or(Against::NotUnderstood)
}

fn against(read: &Read) -> Option<Against> {
    match read.refusal {
        // A view of constants alone; a result needs some table besides.
        None | Some(Refusal::NoTable) => (read.hint == Hint::SqlNoCache).then_some(Against::NoCacheHint),
        Some(
            Refusal::UnknownFunction
            | Refusal::Nondeterministic
            | Refusal::SessionState
            | Refusal::SideEffect
            | Refusal::CurrentDate
            | Refusal::SequenceValue
            | Refusal::SystemVariable,
        ) => Some(Against::Function),
        Some(Refusal::SystemSchema) => Some(Against::SystemSchema),
        Some(_) => Some(Against::NotUnderstood),
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
            ("select sql_no_cache `d`.`t`.`a` AS `a` from `d`.`t`", Err(Against::NoCacheHint)),
            ("select current_timestamp() AS `a` from `d`.`w`", Err(Against::Function)),
            ("select `d`.`f`(1) AS `a` from `d`.`t`", Err(Against::Function)),
            ("select cast(`d`.`t`.`a` as time) AS `a` from `d`.`t`", Err(Against::Function)),
            ("select @@sql_mode AS `a` from `d`.`t`", Err(Against::Function)),
            ("select `TABLES`.`TABLE_NAME` AS `n` from `information_schema`.`TABLES`", Err(Against::SystemSchema)),
            (
                "select `d`.`t`.`a` AS `a` from `d`.`t` FOR SYSTEM_TIME AS OF current_timestamp()",
                Err(Against::NotUnderstood),
            ),
            ("delete from `d`.`t`", Err(Against::NotUnderstood)),
            ("", Err(Against::NotUnderstood)),
        ] {
            let names = |tables: Vec<TableName>| tables.into_iter().map(|table| table.name).collect::<Vec<_>>();
            let expected = expected.map(|names| names.iter().map(|name| name.as_bytes().to_vec()).collect());
            assert_eq!(view(&MARIADB, text.as_bytes()).map(names), expected, "{text}");
        }
        let long = format!("select `d`.`t`.`a` AS `a` from `d`.`t` where `d`.`t`.`a` <> '{}'", "a".repeat(LONGEST));
        assert_eq!(view(&MARIADB, long.as_bytes()), Err(Against::NotUnderstood));
    }
}
