//! The response to COM_STMT_PREPARE: a fixed packet, then definitions of parameters and of columns.

use super::OutcomeKind;
use super::machine::{EOF, Machine, Phase, Step, eof_fields};
use super::window::Head;
use crate::lenenc::Reader;

/// What follows the first packet of a prepared statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Params { left: u16 },
    EndOfParams,
    Columns { left: u16 },
    EndOfColumns,
}

impl Machine {
    pub(super) fn prepared(&mut self, head: &Head) -> Step {
        let Some((id, columns, params)) = prepared_fields(head) else { return Step::Confused };
        self.outcome.kind = OutcomeKind::Prepared { id, params, columns };
        self.next_prepared(Stage::Params { left: params })
    }

    pub(super) fn prepared_part(&mut self, stage: Stage, first: u8, head: &Head) -> Step {
        match stage {
            Stage::Params { left } => self.next_prepared(Stage::Params { left: left - 1 }),
            Stage::Columns { left } => self.next_prepared(Stage::Columns { left: left - 1 }),
            Stage::EndOfParams | Stage::EndOfColumns => {
                let Some((warnings, status)) = eof_fields(head).filter(|_| first == EOF) else {
                    return Step::Confused;
                };
                self.note_status(status, warnings, head.offset + 3);
                self.next_prepared(stage)
            }
        }
    }

    /// Goes on from a stage that has nothing left, past those that have nothing at all.
    fn next_prepared(&mut self, stage: Stage) -> Step {
        let OutcomeKind::Prepared { params, columns, .. } = self.outcome.kind else { return Step::Confused };
        let has_eof = !self.deprecates_eof();
        let columns_next = if columns > 0 { Some(Stage::Columns { left: columns }) } else { None };
        let next = match stage {
            Stage::Params { left: 0 } if params > 0 && has_eof => Some(Stage::EndOfParams),
            Stage::Params { left: 0 } | Stage::EndOfParams => columns_next,
            Stage::Columns { left: 0 } if has_eof => Some(Stage::EndOfColumns),
            Stage::Columns { left: 0 } | Stage::EndOfColumns => None,
            unfinished => Some(unfinished),
        };
        match next {
            Some(stage) => {
                self.phase = Phase::Prepared(stage);
                Step::Continue
            }
            None => self.done(self.outcome.kind),
        }
    }
}

/// Statement id, columns and parameters.
fn prepared_fields(head: &Head) -> Option<(u32, u16, u16)> {
    let mut reader = Reader::new(head.start);
    reader.u8()?;
    Some((reader.u32()?, reader.u16()?, reader.u16()?))
}
