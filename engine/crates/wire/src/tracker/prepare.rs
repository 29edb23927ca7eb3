//! The response to COM_STMT_PREPARE: a fixed packet, then definitions of parameters and of columns.

use crate::capability::OPTIONAL_RESULTSET_METADATA;
use crate::lenenc::Reader;

/// The type that the server assumes for a parameter of a prepared statement before it receives a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The code of the type, one of `enum_field_types`.
    pub type_code: u8,
    pub is_unsigned: bool,
    /// True if the collation is `binary`, as for bytes and numbers.
    pub is_binary: bool,
}

impl Parameter {
    const NAMES: usize = 6;
    const BINARY: u16 = 63;
    const UNSIGNED: u16 = 1 << 5;

    /// Returns two bytes that identify the type, for use in a key. They are no [`BoundType`](crate::BoundType).
    pub fn bytes(&self) -> [u8; 2] {
        [self.type_code, u8::from(self.is_unsigned) | u8::from(self.is_binary) << 1]
    }

    /// Reads the payload of a parameter's definition. It has no long names, so the bytes that are kept of a packet contain all of it. None
    /// if it is malformed.
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

/// The contents of the first packet of a response to COM_STMT_PREPARE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prepared {
    /// The id of the prepared statement.
    pub id: u32,
    pub columns: u16,
    pub params: u16,
    pub warnings: u16,
    /// True if definitions follow.
    pub follows: bool,
}

impl Prepared {
    /// Returns the number of definitions that follow for `count` columns or parameters: `count`, or 0 if the server leaves them out.
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

/// The part of a response to COM_STMT_PREPARE that is expected next, after its first packet. `left` counts definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Params { left: u16 },
    EndOfParams,
    Columns { left: u16 },
    EndOfColumns,
}

impl Stage {
    /// Returns the part that the next packet belongs to, after parts that have nothing left. `has_eof` says whether EOF packets end the
    /// definitions. `None` if the response is complete.
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
