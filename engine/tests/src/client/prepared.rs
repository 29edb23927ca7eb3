//! Prepared statements of the binary protocol.

use std::io;

use super::decode::Cursor;
use super::response::{self, Part, Reader, Response};
use super::{Client, command};

/// A value for a parameter of a prepared statement, of the type that it is sent as.
#[derive(Clone, Debug, PartialEq)]
pub enum Param {
    Null,
    Int(i64),
    Unsigned(u64),
    Double(f64),
    Decimal(String),
    Text(String),
    Blob(Vec<u8>),
    /// Year, month, day.
    Date(u16, u8, u8),
    /// Year, month, day, hour, minute, second.
    DateTime(u16, u8, u8, u8, u8, u8),
    /// Hour, minute, second.
    Time(u8, u8, u8),
}

/// A statement that the server has prepared. Dropping it closes nothing: see [`Client::close`].
#[derive(Clone, Debug)]
pub struct Prepared {
    pub id: u32,
    /// The number of parameters.
    pub params: u16,
    /// The number of columns of the result, 0 if there is none.
    pub columns: u16,
}

impl Client {
    /// Prepares a statement. The statement is None if the server refuses it; [`Response::failure`] then has the error.
    pub fn prepare(&mut self, statement: &str) -> io::Result<(Response, Option<Prepared>)> {
        self.send(command::STMT_PREPARE, statement.as_bytes())?;
        self.read_prepared()
    }

    /// Waits for the response to a `COM_STMT_PREPARE` that was already sent. Returns what [`Client::prepare`] returns.
    pub fn read_prepared(&mut self) -> io::Result<(Response, Option<Prepared>)> {
        let response = Response::default();
        let mut reader = Reader { packets: &mut self.packets, capabilities: self.capabilities, response };
        let range = reader.packet()?;
        let head = reader.payload(&range).to_vec();
        if head.first() == Some(&0xff) {
            reader.response.parts.push(Part::Err(response::failure(&head)));
            return Ok((reader.response, None));
        }
        let prepared = prepared(&head);
        reader.response.statement_id = Some(range.start + 1..range.start + 5);
        reader.columns(u64::from(prepared.params))?;
        reader.columns(u64::from(prepared.columns))?;
        Ok((reader.response, Some(prepared)))
    }

    /// Executes the statement with these values, one for each parameter in order. Sends their types each time.
    pub fn execute(&mut self, prepared: &Prepared, params: &[Param]) -> io::Result<Response> {
        self.send(command::STMT_EXECUTE, &execute_body(prepared.id, params, &mut Vec::new()))?;
        self.read_response()
    }

    /// Closes the statement. The server sends no answer.
    pub fn close(&mut self, prepared: &Prepared) -> io::Result<()> {
        self.send(command::STMT_CLOSE, &prepared.id.to_le_bytes())
    }

    /// Discards a statement's long data and open cursor on the server (`COM_STMT_RESET`).
    pub fn reset(&mut self, prepared: &Prepared) -> io::Result<Response> {
        self.send(command::STMT_RESET, &prepared.id.to_le_bytes())?;
        self.read_response()
    }

    /// Appends a piece to the value of the parameter at this index, from 0, for the next execution. The server sends no answer.
    pub fn long_data(&mut self, prepared: &Prepared, index: u16, data: &[u8]) -> io::Result<()> {
        let mut body = prepared.id.to_le_bytes().to_vec();
        body.extend(index.to_le_bytes());
        body.extend(data);
        self.send(command::STMT_LONG_DATA, &body)
    }
}

fn prepared(head: &[u8]) -> Prepared {
    let mut cursor = Cursor::new(&head[1..]);
    let id = cursor.int(4) as u32;
    let columns = cursor.int(2) as u16;
    Prepared { id, columns, params: cursor.int(2) as u16 }
}

/// The bytes that follow the command byte of `COM_STMT_EXECUTE`, without a cursor. `bound`: the parameter types that the server already
/// has. Types are only sent, and `bound` updated, if they differ; an empty `bound` makes them be sent.
pub fn execute_body(id: u32, params: &[Param], bound: &mut Vec<u8>) -> Vec<u8> {
    let mut body = id.to_le_bytes().to_vec();
    body.push(0);
    body.extend(1u32.to_le_bytes());
    if params.is_empty() {
        return body;
    }
    let mut nulls = vec![0u8; params.len().div_ceil(8)];
    for (index, param) in params.iter().enumerate() {
        nulls[index / 8] |= u8::from(*param == Param::Null) << (index % 8);
    }
    body.extend(nulls);
    let types: Vec<u8> = params.iter().flat_map(kind).collect();
    body.push(u8::from(types != *bound));
    if types != *bound {
        body.extend(&types);
        *bound = types;
    }
    params.iter().for_each(|param| value(param, &mut body));
    body
}

/// The two bytes that name the type of a value in the protocol.
fn kind(param: &Param) -> [u8; 2] {
    match param {
        Param::Null => [6, 0],
        Param::Int(_) => [8, 0],
        Param::Unsigned(_) => [8, 0x80],
        Param::Double(_) => [5, 0],
        Param::Decimal(_) => [246, 0],
        Param::Text(_) => [253, 0],
        Param::Blob(_) => [252, 0],
        Param::Date(..) => [10, 0],
        Param::DateTime(..) => [12, 0],
        Param::Time(..) => [11, 0],
    }
}

fn value(param: &Param, body: &mut Vec<u8>) {
    match param {
        Param::Null => {}
        Param::Int(value) => body.extend(value.to_le_bytes()),
        Param::Unsigned(value) => body.extend(value.to_le_bytes()),
        Param::Double(value) => body.extend(value.to_le_bytes()),
        Param::Decimal(text) | Param::Text(text) => counted(text.as_bytes(), body),
        Param::Blob(bytes) => counted(bytes, body),
        Param::Date(year, month, day) => {
            body.push(4);
            body.extend(year.to_le_bytes());
            body.extend([*month, *day]);
        }
        Param::DateTime(year, month, day, hour, minute, second) => {
            body.push(7);
            body.extend(year.to_le_bytes());
            body.extend([*month, *day, *hour, *minute, *second]);
        }
        Param::Time(hour, minute, second) => body.extend([8, 0, 0, 0, 0, 0, *hour, *minute, *second]),
    }
}

/// Appends a length-encoded string.
fn counted(bytes: &[u8], body: &mut Vec<u8>) {
    match bytes.len() {
        length @ 0..=250 => body.push(length as u8),
        length @ 251..=0xffff => {
            body.push(0xfc);
            body.extend((length as u16).to_le_bytes());
        }
        length => {
            body.push(0xfe);
            body.extend((length as u64).to_le_bytes());
        }
    }
    body.extend_from_slice(bytes);
}
