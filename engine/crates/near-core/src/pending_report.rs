//! A report that may show statements of other accounts. The server is first asked whether the account may see those, with the
//! test that the server applies to its own reports.

use crate::report::ReportRequest;
use flavour::Flavour;
use wire::{ErrPacket, Outcome, OutcomeKind, Query};

const ACCESS_DENIED: u16 = 1227;

/// A report on the cache that waits for the server's decision whether the client's account may see it.
pub struct PendingReport {
    request: ReportRequest,
    /// The number of hidden answers that the server still sends before that of the privilege check.
    answers_before: usize,
    /// The server's decision, once it has arrived.
    outcome: Option<OutcomeKind>,
}

impl PendingReport {
    /// Creates a report that waits for the server's privilege check. `answers_before` is the number of pending reads
    /// that are sent to the server before that check, and whose answers come first.
    pub fn new(request: ReportRequest, answers_before: usize) -> PendingReport {
        PendingReport { request, answers_before, outcome: None }
    }

    /// Returns the packet that the server gets instead of the client's command: a statement that needs the privilege to see other
    /// accounts' statements.
    pub fn packet(flavour: &Flavour, capabilities: u64) -> Vec<u8> {
        Query::packet(flavour.statements.process_test.as_bytes(), capabilities)
    }

    /// Takes the outcome of the next answer that the client must not receive.
    pub fn hidden_answer_completed(&mut self, outcome: &Outcome) {
        match self.answers_before.checked_sub(1) {
            Some(left) => self.answers_before = left,
            None => self.outcome = Some(outcome.kind),
        }
    }

    /// Returns true once the server has answered the privilege check, which decides whether the client may see the report.
    /// [`decided`](Self::decided) may be called from then on.
    pub fn is_over(&self) -> bool {
        self.outcome.is_some()
    }

    /// Returns the report to send to the client, or an error packet for the client if its account may not see it.
    pub fn decided(self) -> Result<ReportRequest, Vec<u8>> {
        match self.outcome {
            Some(OutcomeKind::ResultSet { .. }) => Ok(self.request),
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
