//! A report on statements, which may be anybody's: the server is asked whether this account may see those of others, in the way in
//! which it is when the report is its own.

use crate::report::Asked;
use flavour::Flavour;
use wire::{ErrPacket, Outcome, OutcomeKind, Query};

const ACCESS_DENIED: u16 = 1227;

pub struct Inquiry {
    asked: Asked,
    /// As many reads that it had not seen the server answers first.
    behind: usize,
    outcome: Option<OutcomeKind>,
}

impl Inquiry {
    pub fn new(asked: Asked, behind: usize) -> Inquiry {
        Inquiry { asked, behind, outcome: None }
    }

    /// What the server gets in place of the client's command.
    pub fn packet(flavour: &Flavour, capabilities: u64) -> Vec<u8> {
        Query::packet(flavour.statements.process_test.as_bytes(), capabilities)
    }

    /// The server has answered something that the client does not know of.
    pub fn hear(&mut self, outcome: &Outcome) {
        match self.behind.checked_sub(1) {
            Some(left) => self.behind = left,
            None => self.outcome = Some(outcome.kind),
        }
    }

    pub fn is_over(&self) -> bool {
        self.outcome.is_some()
    }

    /// What may be told, or an error.
    pub fn ended(self) -> Result<Asked, Vec<u8>> {
        match self.outcome {
            Some(OutcomeKind::ResultSet { .. }) => Ok(self.asked),
            Some(OutcomeKind::Err { code }) if code != ACCESS_DENIED => Err(ErrPacket::build(
                1,
                code,
                b"HY000",
                "fqc-near: the server does not say whether this account may see that",
            )),
            _ => {
                let message = "Access denied; you need (at least one of) the PROCESS privilege(s) for this operation";
                Err(ErrPacket::build(1, ACCESS_DENIED, b"42000", message))
            }
        }
    }
}
