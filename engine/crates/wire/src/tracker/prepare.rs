//! The response to COM_STMT_PREPARE: a fixed packet, then definitions of parameters and of columns.

use crate::lenenc::Reader;

/// What the first packet tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prepared {
    pub id: u32,
    pub columns: u16,
    pub params: u16,
}

impl Prepared {
    pub fn parse(payload: &[u8]) -> Option<Prepared> {
        let mut reader = Reader::new(payload);
        reader.u8()?;
        Some(Prepared { id: reader.u32()?, columns: reader.u16()?, params: reader.u16()? })
    }
}

/// What follows the first packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Params { left: u16 },
    EndOfParams,
    Columns { left: u16 },
    EndOfColumns,
}

impl Stage {
    /// Goes on from a stage that has nothing left, past those that have nothing at all. `None`: the response is complete.
    pub fn settled(self, params: u16, columns: u16, has_eof: bool) -> Option<Stage> {
        let columns_next = (columns > 0).then_some(Stage::Columns { left: columns });
        match self {
            Stage::Params { left: 0 } if params > 0 && has_eof => Some(Stage::EndOfParams),
            Stage::Params { left: 0 } | Stage::EndOfParams => columns_next,
            Stage::Columns { left: 0 } if has_eof => Some(Stage::EndOfColumns),
            Stage::Columns { left: 0 } | Stage::EndOfColumns => None,
            unfinished => Some(unfinished),
        }
    }
}
