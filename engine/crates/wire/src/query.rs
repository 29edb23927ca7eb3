//! COM_QUERY: a text. Attributes precede it if client and server have agreed on them.

use crate::capability::QUERY_ATTRIBUTES;
use crate::lenenc::Reader;
use crate::packet::push_packet;
use crate::prepared::Bindings;
use crate::{Command, Header};

/// A COM_QUERY, a statement as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query<'a> {
    /// The text of the statement.
    pub text: &'a [u8],
    /// True if the query has attributes, that is, named values besides the text. They can change its result, because functions may read
    /// them.
    pub has_attributes: bool,
}

/// The bytes before a query's text that state that it has no attributes. Only if attributes are agreed on.
pub const NO_ATTRIBUTES: [u8; 2] = [0, 1];

impl<'a> Query<'a> {
    /// Reads the payload of COM_QUERY without the command byte. `capabilities` are those that client and server have agreed on. None if the
    /// attributes before the text cannot be read.
    pub fn parse(body: &'a [u8], capabilities: u64) -> Option<Query<'a>> {
        if capabilities & QUERY_ATTRIBUTES == 0 {
            return Some(Query { text: body, has_attributes: false });
        }
        let mut reader = Reader::new(body);
        let (count, sets) = (reader.int()?, reader.int()?);
        if sets != 1 {
            return None;
        }
        if count > 0 {
            let bindings = Bindings::read(&mut reader, usize::try_from(count).ok()?)?;
            let length = bindings.after_values(reader.rest())?.len();
            reader.take(reader.rest().len() - length)?;
        }
        Some(Query { text: reader.rest(), has_attributes: count > 0 })
    }

    /// Returns the packet of a query without attributes, header included. `capabilities` are those that client and server have agreed on.
    pub fn packet(text: &[u8], capabilities: u64) -> Vec<u8> {
        let attributes: &[u8] = if capabilities & QUERY_ATTRIBUTES == 0 { &[] } else { &NO_ATTRIBUTES };
        let mut packet = Vec::with_capacity(text.len() + Header::SIZE + 1 + attributes.len());
        push_packet(&mut packet, &mut 0, &[&[Command::Query as u8], attributes, text].concat());
        packet
    }
}
