//! Interprets each packet of a response, given those before it.

use super::prepare::{Parameter, Prepared, Stage};
use super::window::PacketPrefix;
use super::{Expect, Outcome, OutcomeKind, StatusOffsets};
use crate::capability::{DEPRECATE_EOF, MARIADB_PROGRESS, PROGRESS_OBSOLETE};
use crate::lenenc::Reader;
use crate::{MAX_PAYLOAD, OkPacket, column_count, status};

/// The first byte of an OK packet. The following constants are first bytes of payloads, too.
const OK: u8 = 0x00;
const MORE_AUTHENTICATION: u8 = 0x01;
const LOCAL_INFILE: u8 = 0xFB;
const EOF: u8 = 0xFE;
const ERR: u8 = 0xFF;

/// A payload that begins with 0xFE is an EOF packet only if it is shorter than this. A row that begins with 0xFE is longer: its first value
/// has an 8-byte length.
const EOF_LIMIT: usize = 9;

/// An ERR packet with this code is no error, but reports the progress of a long statement; the response goes on.
const PROGRESS_CODE: u16 = 0xFFFF;

/// The kind of packet that is expected next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    First,
    Definitions { left: u64 },
    EndOfDefinitions,
    Rows,
    AfterInfile,
    Prepared(Stage),
}

/// The effect of one packet on the response.
pub(super) enum Step {
    Continue,
    /// The server now waits for the client's file.
    LocalInfile,
    /// In an authentication, the server may now wait for the client.
    ClientSpeaks,
    /// The response is complete.
    Done(Outcome),
    /// The packet does not follow the known protocol.
    Confused,
}

/// The state of a response: which packet is expected next, and the outcome so far.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    expect: Expect,
    capabilities: u64,
    phase: Phase,
    outcome: Outcome,
    /// The rows of the current result so far.
    rows: u64,
    /// The columns of the current result.
    columns: u64,
}

impl Machine {
    pub fn new(expect: Expect, capabilities: u64) -> Self {
        let outcome = Outcome {
            kind: OutcomeKind::Ok,
            status: None,
            warnings: 0,
            results: 0,
            more_results_seen: false,
            has_columns: false,
            status_offsets: StatusOffsets::default(),
            affected_rows: 0,
            last_insert_id: 0,
            metadata_follows: true,
            length: 0,
            parameters: Vec::new(),
        };
        let phase = match expect {
            Expect::Fetch => Phase::Rows,
            Expect::FieldList => Phase::Definitions { left: u64::MAX },
            _ => Phase::First,
        };
        Machine { expect, capabilities, phase, outcome, rows: 0, columns: 0 }
    }

    pub fn is_endless(&self) -> bool {
        self.expect == Expect::Endless
    }

    /// Interprets the next packet of the response.
    #[inline]
    pub fn packet(&mut self, prefix: &PacketPrefix) -> Step {
        if prefix.is_continuation {
            return Step::Continue;
        }
        let first = prefix.start.first().copied();
        if self.phase == Phase::Rows && first.is_some_and(|byte| byte < EOF) {
            self.rows += 1;
            return Step::Continue;
        }
        self.outcome.length = prefix.end();
        match first {
            Some(ERR) if self.expect != Expect::Text => self.error(prefix),
            Some(first) => self.meaning(first, prefix),
            // A row's first column has at least a length, and the text of COM_STATISTICS at least a character.
            None => Step::Confused,
        }
    }

    fn meaning(&mut self, first: u8, prefix: &PacketPrefix) -> Step {
        match self.phase {
            Phase::First => self.first(first, prefix),
            Phase::AfterInfile if first == OK => self.ok(prefix),
            Phase::AfterInfile => Step::Confused,
            Phase::Definitions { left } => self.definition(left, first, prefix),
            Phase::EndOfDefinitions => self.end_of_definitions(first, prefix),
            Phase::Rows => self.row_or_end(prefix),
            Phase::Prepared(stage) => self.prepared_part(stage, first, prefix),
        }
    }

    fn first(&mut self, first: u8, prefix: &PacketPrefix) -> Step {
        match (self.expect, first) {
            (Expect::Text, _) => self.done(OutcomeKind::Text),
            (Expect::Prepare, OK) => self.prepared(prefix),
            (Expect::Query | Expect::Execute | Expect::Ok | Expect::ChangeUser, OK) => self.ok(prefix),
            (Expect::Ok, EOF) if prefix.length < EOF_LIMIT => self.eof(prefix, OutcomeKind::Ok),
            (Expect::ChangeUser, EOF | MORE_AUTHENTICATION) => Step::ClientSpeaks,
            (Expect::Query | Expect::Execute, LOCAL_INFILE) => {
                self.phase = Phase::AfterInfile;
                Step::LocalInfile
            }
            (Expect::Query | Expect::Execute, _) => self.column_count(prefix),
            _ => Step::Confused,
        }
    }

    fn column_count(&mut self, prefix: &PacketPrefix) -> Step {
        let Some((columns, follows)) = column_count(prefix.start, self.capabilities) else { return Step::Confused };
        self.rows = 0;
        self.columns = columns;
        self.outcome.has_columns = true;
        self.outcome.metadata_follows &= follows;
        self.phase = if follows { Phase::Definitions { left: columns } } else { self.after_definitions() };
        Step::Continue
    }

    fn definition(&mut self, left: u64, first: u8, prefix: &PacketPrefix) -> Step {
        if self.expect == Expect::FieldList && first == EOF {
            self.columns = u64::MAX - left;
            return self.end_of_rows(prefix);
        }
        self.phase = match left - 1 {
            0 => self.after_definitions(),
            left => Phase::Definitions { left },
        };
        Step::Continue
    }

    fn after_definitions(&self) -> Phase {
        if self.deprecates_eof() { Phase::Rows } else { Phase::EndOfDefinitions }
    }

    fn end_of_definitions(&mut self, first: u8, prefix: &PacketPrefix) -> Step {
        let Some((warnings, status)) = eof_fields(prefix).filter(|_| first == EOF) else {
            return Step::Confused;
        };
        // The rows of a cursor are fetched by later commands.
        if status & status::CURSOR_EXISTS != 0 {
            return self.eof(prefix, self.result_set());
        }
        self.note_status(status, warnings, prefix.offset + 3);
        self.phase = Phase::Rows;
        Step::Continue
    }

    fn row_or_end(&mut self, prefix: &PacketPrefix) -> Step {
        let limit = if self.deprecates_eof() { MAX_PAYLOAD } else { EOF_LIMIT };
        if prefix.length < limit {
            return self.end_of_rows(prefix);
        }
        self.rows += 1;
        Step::Continue
    }

    fn end_of_rows(&mut self, prefix: &PacketPrefix) -> Step {
        self.outcome.results += 1;
        let kind = self.result_set();
        if !self.deprecates_eof() {
            return self.eof(prefix, kind);
        }
        match self.read_ok(prefix) {
            Some(ok) => self.finish(ok.status, kind),
            None => Step::Confused,
        }
    }

    fn ok(&mut self, prefix: &PacketPrefix) -> Step {
        let Some(ok) = self.read_ok(prefix) else { return Step::Confused };
        self.outcome.affected_rows = ok.affected_rows;
        self.outcome.last_insert_id = ok.last_insert_id;
        self.finish(ok.status, OutcomeKind::Ok)
    }

    /// Reads an OK packet up to its session tracking, which may extend beyond the bytes that are kept, and notes its status. None if it is
    /// malformed.
    fn read_ok<'a>(&mut self, prefix: &PacketPrefix<'a>) -> Option<OkPacket<'a>> {
        let ok = OkPacket::parse(prefix.start, 0)?;
        self.note_status(ok.status, ok.warnings, prefix.offset + ok.status_offset as u64);
        Some(ok)
    }

    fn eof(&mut self, prefix: &PacketPrefix, kind: OutcomeKind) -> Step {
        let Some((warnings, status)) = eof_fields(prefix) else { return Step::Confused };
        self.note_status(status, warnings, prefix.offset + 3);
        self.finish(status, kind)
    }

    fn error(&mut self, prefix: &PacketPrefix) -> Step {
        let mut reader = Reader::new(prefix.start);
        let Some(code) = reader.u8().and_then(|_| reader.u16()) else { return Step::Confused };
        if code == PROGRESS_CODE && self.capabilities & (MARIADB_PROGRESS | PROGRESS_OBSOLETE) != 0 {
            return Step::Continue;
        }
        self.outcome.status = None;
        self.done(OutcomeKind::Err { code })
    }

    fn prepared(&mut self, prefix: &PacketPrefix) -> Step {
        let Some(prepared) = Prepared::parse(prefix.start, self.capabilities) else { return Step::Confused };
        let Prepared { id, columns, params, warnings, follows } = prepared;
        self.outcome.kind = OutcomeKind::Prepared { id, params, columns };
        self.outcome.warnings = warnings;
        self.outcome.metadata_follows = follows;
        self.next_prepared(Stage::Params { left: prepared.definitions(params) })
    }

    fn prepared_part(&mut self, stage: Stage, first: u8, prefix: &PacketPrefix) -> Step {
        match stage {
            Stage::Params { left } => {
                self.outcome.parameters.extend(Parameter::parse(prefix.start));
                self.next_prepared(Stage::Params { left: left - 1 })
            }
            Stage::Columns { left } => self.next_prepared(Stage::Columns { left: left - 1 }),
            Stage::EndOfParams | Stage::EndOfColumns => {
                let Some((warnings, status)) = eof_fields(prefix).filter(|_| first == EOF) else {
                    return Step::Confused;
                };
                self.note_status(status, warnings.max(self.outcome.warnings), prefix.offset + 3);
                self.next_prepared(stage)
            }
        }
    }

    fn next_prepared(&mut self, stage: Stage) -> Step {
        let OutcomeKind::Prepared { id, params, columns } = self.outcome.kind else { return Step::Confused };
        let Outcome { warnings, metadata_follows: follows, .. } = self.outcome;
        let prepared = Prepared { id, params, columns, warnings, follows };
        match stage.settled(&prepared, !self.deprecates_eof()) {
            Some(stage) => {
                self.phase = Phase::Prepared(stage);
                Step::Continue
            }
            None => self.done(self.outcome.kind),
        }
    }

    fn note_status(&mut self, status: u16, warnings: u16, offset: u64) {
        self.outcome.status = Some(status);
        self.outcome.warnings = warnings;
        self.outcome.status_offsets.push(offset);
    }

    fn finish(&mut self, status: u16, kind: OutcomeKind) -> Step {
        if status & status::MORE_RESULTS == 0 {
            return self.done(kind);
        }
        self.outcome.more_results_seen = true;
        self.phase = Phase::First;
        Step::Continue
    }

    fn done(&mut self, kind: OutcomeKind) -> Step {
        self.outcome.kind = kind;
        Step::Done(self.outcome.clone())
    }

    fn result_set(&self) -> OutcomeKind {
        OutcomeKind::ResultSet { rows: self.rows, columns: self.columns }
    }

    fn deprecates_eof(&self) -> bool {
        self.capabilities & DEPRECATE_EOF != 0
    }
}

/// Returns the number of warnings and the status flags of an EOF packet. None if the packet is too long for one or malformed.
fn eof_fields(prefix: &PacketPrefix) -> Option<(u16, u16)> {
    let mut reader = Reader::new(prefix.start);
    reader.u8().filter(|_| prefix.length < EOF_LIMIT)?;
    Some((reader.u16()?, reader.u16()?))
}
