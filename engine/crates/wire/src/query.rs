//! COM_QUERY: a text. Attributes precede it if client and server have agreed on them.

use crate::capability::QUERY_ATTRIBUTES;
use crate::lenenc::Reader;
use crate::packet::push_packet;
use crate::prepared::Bindings;
use crate::{Command, Header};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query<'a> {
    pub text: &'a [u8],
    /// The query has attributes. Functions may read them.
    pub has_attributes: bool,
}

/// No attributes, and one set of them, as the protocol has it.
pub const NO_ATTRIBUTES: [u8; 2] = [0, 1];

impl<'a> Query<'a> {
    /// Reads what follows the command byte.
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

    /// The packet of a query without attributes.
    pub fn packet(text: &[u8], capabilities: u64) -> Vec<u8> {
        let attributes: &[u8] = if capabilities & QUERY_ATTRIBUTES == 0 { &[] } else { &NO_ATTRIBUTES };
        let mut packet = Vec::with_capacity(text.len() + Header::SIZE + 1 + attributes.len());
        push_packet(&mut packet, &mut 0, &[&[Command::Query as u8], attributes, text].concat());
        packet
    }
}
