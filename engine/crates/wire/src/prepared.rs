//! The payload of COM_STMT_EXECUTE, split into the parts that make two executions the same.

use crate::lenenc::Reader;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execute<'a> {
    pub id: u32,
    /// The cursor type; 0 asks for all rows at once.
    pub flags: u8,
    pub iterations: u32,
    /// Null bitmap, flag, types and values: meaningless without the parameter count.
    pub parameters: &'a [u8],
}

impl<'a> Execute<'a> {
    /// Reads the payload, command byte included.
    pub fn parse(payload: &'a [u8]) -> Option<Execute<'a>> {
        let mut reader = Reader::new(payload);
        reader.u8()?;
        let (id, flags, iterations) = (reader.u32()?, reader.u8()?, reader.u32()?);
        Some(Execute { id, flags, iterations, parameters: reader.rest() })
    }

    /// `remembered_types`: those that the last execution bound, two bytes each. `None` if the payload does not
    /// fit the count, or binds no types and none are remembered.
    pub fn params(&self, count: u16, remembered_types: &'a [u8]) -> Option<Params<'a>> {
        let _ = (count, remembered_types);
        None
    }
}

/// Together they identify an execution: compare all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Params<'a> {
    pub nulls: &'a [u8],
    /// Two bytes for each parameter; to be remembered if `are_types_new`.
    pub types: &'a [u8],
    pub values: &'a [u8],
    pub are_types_new: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param<'a> {
    pub type_code: u8,
    pub is_unsigned: bool,
    pub value: Value<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    Null,
    /// Any integer type, sign-extended or not by `is_unsigned`.
    Integer(i128),
    /// As sent, without a length prefix.
    Bytes(&'a [u8]),
}
