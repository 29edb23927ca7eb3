//! The response to COM_STMT_PREPARE: a fixed packet, then definitions of parameters and of columns.

use crate::capability::OPTIONAL_RESULTSET_METADATA;
use crate::lenenc::Reader;

/// The type that the server assumes for a parameter before it receives a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// One of `enum_field_types`.
    pub type_code: u8,
    pub is_unsigned: bool,
    pub is_binary: bool,
}

impl Parameter {
    const NAMES: usize = 6;
    const BINARY: u16 = 63;
    const UNSIGNED: u16 = 1 << 5;

    /// Bytes that identify the type.
    pub fn bytes(&self) -> [u8; 2] {
        [self.type_code, u8::from(self.is_unsigned) | u8::from(self.is_binary) << 1]
    }

    /// Reads a parameter's definition. It has no long names, so the window contains all of it.
    pub(super) fn parse(payload: &[u8]) -> Option<Parameter> {
        let mut reader = Reader::new(payload);
        for _ in 0..Self::NAMES {
            reader.string()?;
        }
        reader.u8()?;
        let is_binary = reader.u16()? == Self::BINARY;
        reader.u32()?;
        let (type_code, flags) = (reader.u8()?, reader.u16()?);
        Some(Parameter { type_code, is_unsigned: flags & Self::UNSIGNED != 0, is_binary })
    }
}

/// The contents of the first packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prepared {
    pub id: u32,
    pub columns: u16,
    pub params: u16,
    pub warnings: u16,
    /// Definitions follow.
    pub follows: bool,
}

impl Prepared {
    /// The number of definitions that follow for `count` columns or parameters. 0 if the server leaves them out.
    pub fn definitions(&self, count: u16) -> u16 {
        if self.follows { count } else { 0 }
    }

    pub fn parse(payload: &[u8], capabilities: u64) -> Option<Prepared> {
        let mut reader = Reader::new(payload);
        reader.u8()?;
        let (id, columns, params) = (reader.u32()?, reader.u16()?, reader.u16()?);
        reader.u8()?;
        let warnings = reader.u16()?;
        let follows = capabilities & OPTIONAL_RESULTSET_METADATA == 0 || reader.u8() != Some(0);
        Some(Prepared { id, columns, params, warnings, follows })
    }
}

/// The parts of the response after the first packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Params { left: u16 },
    EndOfParams,
    Columns { left: u16 },
    EndOfColumns,
}

impl Stage {
    /// Moves on from a part that has nothing left, past empty ones. `None` if the response is complete.
    pub fn settled(self, prepared: &Prepared, has_eof: bool) -> Option<Stage> {
        match self {
            Stage::Params { left: 0 } if prepared.params > 0 && has_eof => Some(Stage::EndOfParams),
            Stage::Params { left: 0 } | Stage::EndOfParams if prepared.columns == 0 => None,
            Stage::Params { left: 0 } | Stage::EndOfParams => {
                Stage::Columns { left: prepared.definitions(prepared.columns) }.settled(prepared, has_eof)
            }
            Stage::Columns { left: 0 } if has_eof => Some(Stage::EndOfColumns),
            Stage::Columns { left: 0 } | Stage::EndOfColumns => None,
            unfinished => Some(unfinished),
        }
    }
}
