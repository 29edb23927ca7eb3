//! The payload of COM_STMT_EXECUTE, split into the parts that identify an execution.

use crate::Command;
use crate::capability::QUERY_ATTRIBUTES;
use crate::lenenc::{Reader, push_int};
use crate::packet::{Header, push_packet};
use std::borrow::Cow;

/// An id of a statement that MariaDB interprets as the one that was prepared last on the connection.
pub const LAST_STATEMENT: u32 = u32::MAX;

/// Returns the id of the prepared statement that a command is about, such as COM_STMT_EXECUTE or COM_STMT_CLOSE. `payload` includes the
/// command byte, which is not checked. None if it is too short.
pub fn statement_id(payload: &[u8]) -> Option<u32> {
    payload.get(1..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// Returns the id of the statement that a COM_STMT_EXECUTE runs, and the bytes of the payload after it. None if the payload is another
/// command or too short.
pub fn execution(payload: &[u8]) -> Option<(u32, &[u8])> {
    let (id, rest) = payload.strip_prefix(&[Command::StmtExecute as u8])?.split_first_chunk()?;
    Some((u32::from_le_bytes(*id), rest))
}

/// A COM_STMT_EXECUTE, the execution of a prepared statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execute<'a> {
    /// The id of the prepared statement.
    pub id: u32,
    /// The cursor type; 0 asks for all rows at once.
    pub flags: u8,
    /// The number of iterations, by the protocol always 1.
    pub iterations: u32,
    /// The null bitmap, flag, types and values in the form without attributes. They can only be interpreted with the statement's number of
    /// parameters: see [`params`](Self::params).
    pub parameters: Cow<'a, [u8]>,
    /// The number of bound values that the packet states. None if it states none, because attributes are not agreed on.
    told: Option<usize>,
    /// True if some parameters have names, or the parameters cannot be read.
    is_named: bool,
}

/// A bit of the flags: the packet states the number of parameters even if the statement has none.
const COUNTS_PARAMETERS: u8 = 8;

impl<'a> Execute<'a> {
    /// Reads the payload of COM_STMT_EXECUTE, command byte included. `capabilities` are those that client and server have agreed on; if
    /// they include query attributes, [`parameters`](Self::parameters) is converted to the form without them. None if the payload is too
    /// short.
    pub fn parse(payload: &'a [u8], capabilities: u64) -> Option<Execute<'a>> {
        let mut reader = Reader::new(payload);
        reader.u8()?;
        let (id, flags, iterations) = (reader.u32()?, reader.u8()?, reader.u32()?);
        let rest = reader.rest();
        if capabilities & QUERY_ATTRIBUTES == 0 {
            return Some(Execute { id, flags, iterations, parameters: rest.into(), told: None, is_named: false });
        }
        // An execution that binds anything states the number of values, with or without the flag.
        let counted = if rest.is_empty() { Some((0, Vec::new())) } else { counted(rest) };
        let (flags, is_named) = (flags & !COUNTS_PARAMETERS, counted.is_none());
        let (told, parameters) = counted.unwrap_or_default();
        Some(Execute { id, flags, iterations, parameters: parameters.into(), told: Some(told), is_named })
    }

    /// True if the execution binds other values than the `count` parameters of the statement, or values with names, or cannot be read. Such
    /// attributes can change its result, because functions may read them.
    pub fn has_attributes(&self, count: u16) -> bool {
        self.is_named || self.told.is_some_and(|told| told != usize::from(count))
    }

    /// Returns the types that the execution binds, two bytes for each of the statement's `count` parameters; empty if they cannot be read.
    /// None if it binds no types, so that the server uses those of the execution before.
    pub fn new_types(&self, count: u16) -> Option<&[u8]> {
        if self.has_attributes(count) {
            return Some(&[]);
        }
        let (flag, rest) = self.parameters.get(usize::from(count).div_ceil(8)..)?.split_first()?;
        (*flag != 0).then(|| rest.get(..2 * usize::from(count)).unwrap_or_default())
    }

    /// Reads the parameters. `count` is the statement's number of parameters, `remembered_types` are the types that an earlier execution of
    /// it bound last, two bytes each. `None` if the payload does not fit the count exactly, has attributes, binds no types while none are
    /// remembered, or has values of an unknown type. Parameters sent by COM_STMT_SEND_LONG_DATA are not in the payload: the caller must
    /// know of them.
    pub fn params<'p>(&'p self, count: u16, remembered_types: &'p [u8]) -> Option<Params<'p>> {
        if self.has_attributes(count) {
            return None;
        }
        let count = usize::from(count);
        let mut reader = Reader::new(&self.parameters);
        if count == 0 {
            return reader.is_empty().then_some(Params { nulls: &[], types: &[], values: &[], are_types_new: false });
        }
        let nulls = reader.take(count.div_ceil(8))?;
        let are_types_new = match reader.u8()? {
            0 => false,
            1 => true,
            _ => return None,
        };
        let types = if are_types_new { reader.take(2 * count)? } else { remembered_types };
        let params = Params { nulls, types, values: reader.rest(), are_types_new };
        params.is_well_formed(count).then_some(params)
    }
}

/// Reads parameters in the form with attributes, with their number before them and a name after each type. Returns the number, and the
/// parameters in the form without number and names. `None` if any parameter has a name, or the bytes are malformed.
fn counted(bytes: &[u8]) -> Option<(usize, Vec<u8>)> {
    let mut reader = Reader::new(bytes);
    let count = usize::try_from(reader.int()?).ok()?;
    if count == 0 {
        return reader.is_empty().then_some((0, vec![]));
    }
    let bindings = Bindings::read(&mut reader, count)?;
    let flag = [u8::from(bindings.are_new)];
    (!bindings.has_names).then(|| (count, [bindings.nulls, &flag, &bindings.types, reader.rest()].concat()))
}

/// The part of an execution or query with attributes that precedes the values: which values are NULL, and the types and names.
pub(crate) struct Bindings<'a> {
    /// The null bitmap.
    nulls: &'a [u8],
    /// True if types are bound.
    are_new: bool,
    /// Two bytes for each type. Empty if the types are those of the execution before.
    types: Vec<u8>,
    /// True if any parameter has a name.
    has_names: bool,
}

impl<'a> Bindings<'a> {
    /// Reads the null bitmap, types and names that precede `count` values. None if bytes are missing; some may be consumed then.
    pub(crate) fn read(reader: &mut Reader<'a>, count: usize) -> Option<Bindings<'a>> {
        let nulls = reader.take(count.div_ceil(8))?;
        let mut bindings = Bindings { nulls, are_new: reader.u8()? == 1, types: Vec::new(), has_names: false };
        for _ in 0..if bindings.are_new { count } else { 0 } {
            bindings.types.extend_from_slice(reader.take(2)?);
            bindings.has_names |= !reader.string()?.is_empty();
        }
        Some(bindings)
    }

    /// Returns the bytes after the values, given bytes that begin with the first value. None if no types are bound, or values are
    /// missing.
    pub(crate) fn after_values<'v>(&'v self, bytes: &'v [u8]) -> Option<&'v [u8]> {
        let mut params = ParamIter { nulls: self.nulls, types: &self.types, index: 0, values: Reader::new(bytes) };
        let is_whole = self.are_new && params.by_ref().count() == self.types.len() / 2;
        is_whole.then(|| params.values.rest())
    }
}

/// Returns the packet of an execution, header included, in which these types are bound, two bytes for each parameter. If it binds types
/// itself, or has no parameters, returns a copy of it. `capabilities` are those that client and server have agreed on.
pub fn with_types(packet: &[u8], types: &[u8], capabilities: u64) -> Vec<u8> {
    let count = types.len() / 2;
    let told = told_count(count, capabilities);
    let flag = Header::SIZE + BEFORE_PARAMETERS + told.len() + count.div_ceil(8);
    if count == 0 || packet.get(flag) != Some(&0) {
        return packet.to_vec();
    }
    let types = with_names(types, capabilities);
    let payload = [&packet[Header::SIZE..flag], &[1], &types, &packet[flag + 1..]].concat();
    let mut out = Vec::with_capacity(payload.len() + Header::SIZE);
    push_packet(&mut out, &mut { packet[3] }, &payload);
    out
}

/// Returns the packet of an execution that makes the server remember these types, two bytes for each parameter, for later executions of the
/// statement `id`. The execution itself fails, because it announces values and contains none.
pub fn types_alone(id: u32, types: &[u8], capabilities: u64) -> Vec<u8> {
    let mut out = Vec::new();
    push_packet(&mut out, &mut 0, &without_values(id, types, 0, capabilities));
    out
}

/// Returns packets of an execution that make the server remember these types, two bytes for each parameter, although
/// the server does not remember the types of an execution that it cannot read. There are two packets: long data for a
/// parameter that does not exist, and an execution that binds the types. Because of the long data the server refuses
/// this execution, and each further one until the caller resets the statement.
pub fn types_refused(id: u32, types: &[u8], capabilities: u64) -> Vec<u8> {
    const NOWHERE: [u8; 2] = [0xff; 2];
    let piece = [&[Command::StmtSendLongData as u8][..], &id.to_le_bytes(), &NOWHERE].concat();
    let mut out = Vec::new();
    push_packet(&mut out, &mut 0, &piece);
    push_packet(&mut out, &mut 0, &without_values(id, types, 0xff, capabilities));
    out
}

/// Returns the payload of an execution that binds these types and contains no values. `nulls` fills each byte of the null bitmap.
fn without_values(id: u32, types: &[u8], nulls: u8, capabilities: u64) -> Vec<u8> {
    let count = types.len() / 2;
    let told = told_count(count, capabilities);
    let flags = if told.is_empty() { 0 } else { COUNTS_PARAMETERS };
    let head = [&[Command::StmtExecute as u8][..], &id.to_le_bytes(), &[flags, 1, 0, 0, 0]].concat();
    let nulls = vec![nulls; count.div_ceil(8)];
    [&head[..], &told, &nulls, &[1], &with_names(types, capabilities)].concat()
}

/// Returns the bytes in an execution that state its number of parameters. Empty if attributes are not agreed on.
fn told_count(count: usize, capabilities: u64) -> Vec<u8> {
    let mut told = Vec::new();
    if capabilities & QUERY_ATTRIBUTES != 0 {
        push_int(&mut told, count as u64);
    }
    told
}

/// Returns types of parameters, two bytes each, with an empty name after each one if attributes are agreed on, otherwise as they are.
fn with_names(types: &[u8], capabilities: u64) -> Vec<u8> {
    const EMPTY: u8 = 0;
    match capabilities & QUERY_ATTRIBUTES {
        0 => types.to_vec(),
        _ => types.chunks(2).flat_map(|kind| kind.iter().copied().chain([EMPTY])).collect(),
    }
}

/// The number of bytes in the payload of an execution before the parameters: command, statement, cursor type and iterations.
const BEFORE_PARAMETERS: usize = 10;

/// The type of a parameter as an execution binds it: its code (`enum_field_types`), and 0x80 if it is unsigned.
pub type BoundType = [u8; 2];
/// Stands for the type of a value that is NULL, whose type has no effect.
pub const NO_TYPE: BoundType = [u8::MAX; 2];

/// True if one of these types, two bytes each, is TIME. The server completes such a value with today's date where it needs a date, so the
/// result of the execution depends on the day.
pub fn have_time(types: &[u8]) -> bool {
    const TIMES: [u8; 2] = [11, 19];
    types.as_chunks::<2>().0.iter().any(|[code, _]| TIMES.contains(code))
}

/// The parameters of an execution. Executions of a statement with the same three slices have the same parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Params<'a> {
    /// The null bitmap: one bit for each parameter.
    pub nulls: &'a [u8],
    /// Two bytes for each parameter. The caller has to remember them for later executions if `are_types_new`.
    pub types: &'a [u8],
    /// The values that are not NULL, one after the other.
    pub values: &'a [u8],
    /// True if the execution binds the types itself, false if they are those of the execution before.
    pub are_types_new: bool,
}

impl<'a> Params<'a> {
    /// Iterates over the parameters in order.
    pub fn iter(&self) -> ParamIter<'a> {
        ParamIter { nulls: self.nulls, types: self.types, index: 0, values: Reader::new(self.values) }
    }

    /// Iterates over the types of the values in the order of the parameters, with [`NO_TYPE`] for each NULL.
    pub fn types_of_values(&self) -> impl Iterator<Item = BoundType> + Clone {
        let types = self.types.as_chunks().0.iter().enumerate();
        types.map(|(index, kind)| if is_null(self.nulls, index) == Some(false) { *kind } else { NO_TYPE })
    }

    fn is_well_formed(&self, count: usize) -> bool {
        let mut params = self.iter();
        self.types.len() == 2 * count && params.by_ref().count() == count && params.values.is_empty()
    }
}

/// A value that an execution binds to a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param<'a> {
    /// The code of the type, one of `enum_field_types`.
    pub type_code: u8,
    pub is_unsigned: bool,
    pub value: Bound<'a>,
}

impl Param<'_> {
    /// Returns the value if its type is TINYINT, SMALLINT, INT or BIGINT. None for NULL and all other types.
    pub fn integer(&self) -> Option<i128> {
        match self.value {
            Bound::Integer(number) if matches!(self.type_code, 1 | 2 | 3 | 8) => Some(number),
            _ => None,
        }
    }
}

/// The value of a bound parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound<'a> {
    Null,
    /// A value of any integer type, YEAR included.
    Integer(i128),
    /// A value of any other type: its bytes as sent, without their length.
    Bytes(&'a [u8]),
}

/// Iterates over the parameters of an execution. Ends after the last one, or before one that is malformed or of an unknown type.
#[derive(Clone, Debug)]
pub struct ParamIter<'a> {
    nulls: &'a [u8],
    types: &'a [u8],
    index: usize,
    values: Reader<'a>,
}

impl<'a> Iterator for ParamIter<'a> {
    type Item = Param<'a>;

    fn next(&mut self) -> Option<Param<'a>> {
        let &[type_code, flags] = self.types.get(2 * self.index..)?.first_chunk()?;
        let is_null = is_null(self.nulls, self.index)?;
        let is_unsigned = flags & 0x80 != 0;
        let value = if is_null { Bound::Null } else { read_value(&mut self.values, type_code, is_unsigned)? };
        self.index += 1;
        Some(Param { type_code, is_unsigned, value })
    }
}

/// Returns true if the parameter with this index, from 0, is NULL by the null bitmap, and false if it has a value. None if the bitmap is
/// too short.
fn is_null(nulls: &[u8], index: usize) -> Option<bool> {
    Some(nulls.get(index / 8)? >> (index % 8) & 1 == 1)
}

/// Reads a value of this type. None if bytes are missing or the type is not known.
fn read_value<'a>(values: &mut Reader<'a>, type_code: u8, is_unsigned: bool) -> Option<Bound<'a>> {
    let integer = |values: &mut Reader<'a>, width| Some(Bound::Integer(widen(values.uint(width)?, width, is_unsigned)));
    match type_code {
        1 => integer(values, 1),
        2 | 13 => integer(values, 2),
        3 | 9 => integer(values, 4),
        8 => integer(values, 8),
        4 => values.take(4).map(Bound::Bytes),
        5 => values.take(8).map(Bound::Bytes),
        6 => Some(Bound::Null),
        // Dates and times: one byte of length.
        7 | 10 | 11 | 12 | 14 => {
            let length = values.u8()?;
            values.take(usize::from(length)).map(Bound::Bytes)
        }
        // Decimals, strings, blobs, bits, enums, sets, vectors, JSON, geometry.
        0 | 15 | 16 | 242 | 245..=255 => values.string().map(Bound::Bytes),
        _ => None,
    }
}

fn widen(value: u64, width: usize, is_unsigned: bool) -> i128 {
    let unused_bits = 64 - 8 * width as u32;
    if is_unsigned { i128::from(value) } else { i128::from((value << unused_bits) as i64 >> unused_bits) }
}
