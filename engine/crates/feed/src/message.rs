//! The messages and their encoding.
//!
//! A payload from the server is a [`Frame`]: its number, then messages. A payload to the server consists of messages alone. A
//! message is one byte for its kind, four bytes for the length of its body, and the body. All integers are little-endian. A
//! payload that cannot be decoded completely is [`Malformed`] and ends the feed: both ends agree on a version before the first
//! message.

/// The error of a payload that cannot be decoded completely. The host must end the feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// One payload from the server to a near cache. Frames are numbered from 1 for each attachment. They are applied in this order, and
/// each one as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    pub number: u64,
    pub messages: Vec<ToNear>,
}

/// A message from the server to a near cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ToNear {
    /// The first message of a feed. `attachment` is an [`Attachment`](crate::Attachment). `version` is that of the protocol.
    /// `lease_ns` is the length of a lease, the time for which results may be served, in nanoseconds.
    Attached {
        version: u16,
        attachment: [u64; 2],
        lease_ns: u64,
    },
    /// The server grants a lease. It lasts from `sent`, a time in nanoseconds by the near cache's own clock, which the server repeats
    /// from [`FromNear::Renew`].
    Granted {
        sent: u64,
    },
    /// Writes are in progress on these cells: results that depend on them may not be served until the cells are open again. The
    /// server lets writers continue when the frame is acknowledged.
    Closed {
        cells: Vec<u32>,
    },
    /// No write is in progress on these cells any more. Each has the version that follows its number; results with a lesser stamp
    /// are stale.
    Opened {
        cells: Vec<(u32, u64)>,
    },
    Report(CommandReport),
    /// The reason why the server's cache reports no results, so that nothing can be served, in one line; empty if there is none. Sent
    /// when the reason changes, from protocol version 5 on; before the first one there is none.
    Obstacle {
        why: String,
    },
}

/// The server's report on one command of a near cache: the session context that it left, and the dependencies of its result. The
/// cells are open at this point of the feed and have these versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CommandReport {
    /// The server's number of the connection.
    pub connection: u32,
    /// The number of the command on the connection, counted from 1 after the log-in.
    pub command: u64,
    /// The check of the command, see [`command_check`](crate::command_check).
    pub check: u64,
    /// The server's number of the session context: sessions with the same number get the same results.
    pub context: u64,
    /// The position in the server's sequence of changes before the command was executed: its result is current while all of its cells
    /// are open with versions no greater than this.
    pub stamp: u64,
    /// True if a later COM_STMT_PREPARE does not change the session context. Sent from protocol version 2 on, otherwise false.
    pub holds_over_preparations: bool,
    /// True if the result may also be served to sessions in transactions. Sent from protocol version 3 on, otherwise false.
    pub is_for_transactions: bool,
    /// Set if the connection is in a transaction after this command that has written nothing and may be served results that have not
    /// changed since this stamp. `u64::MAX` means any current result, because each read has its own snapshot. `None`: the connection
    /// is outside of transactions, or in one that may not be served. Sent from protocol version 3 on.
    pub snapshot: Option<u64>,
    /// True if this report only describes the session: the command's result must not be stored. Sent from protocol version 4 on.
    pub is_of_session: bool,
    /// The cells that the result depends on, each with its version.
    pub cells: Vec<(u32, u64)>,
}

/// A message from a near cache to the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FromNear {
    /// Requests a lease. `sent` is the time by the near cache's own clock before it sent this message. The server repeats it in
    /// [`ToNear::Granted`].
    Renew {
        sent: u64,
    },
    /// All frames up to this number have been applied: no thread of the near cache serves what they have closed.
    Acknowledge {
        number: u64,
    },
    /// Asks for reports on the commands of this connection, by its number at the server, until `Unmark`. `scramble` is
    /// [`check_of`](crate::check_of) the payload of the connection's greeting.
    Mark {
        connection: u32,
        scramble: u64,
    },
    Unmark {
        connection: u32,
    },
    /// The near cache's counters, for the server's statistics.
    Counted(NearCacheCounts),
    /// The near cache serves nothing any more under this attachment, so no writer need wait for it.
    Left,
}

/// Counters of a near cache since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NearCacheCounts {
    pub entries: u64,
    pub bytes: u64,
    pub hits: u64,
    pub misses: u64,
}

const ATTACHED: u8 = 1;
const GRANTED: u8 = 2;
const CLOSED: u8 = 3;
const OPENED: u8 = 4;
const REPORT: u8 = 5;
const REPORT_OVER_PREPARATIONS: u8 = 6;
const REPORT_FOR_TRANSACTIONS: u8 = 7;
const REPORT_OF_SESSION: u8 = 8;
const OBSTACLE: u8 = 9;
const RENEW: u8 = 65;
const ACKNOWLEDGE: u8 = 66;
const MARK: u8 = 67;
const UNMARK: u8 = 68;
const COUNTED: u8 = 69;
const LEFT: u8 = 70;

impl Frame {
    /// Returns the frame as the payload of a packet.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.number.to_le_bytes().to_vec();
        self.messages.iter().for_each(|message| message.encode(&mut out));
        out
    }

    /// Decodes the payload of a packet from the server. Err if any part of it is not valid; the feed is over then.
    pub fn decode(payload: &[u8]) -> Result<Frame, Malformed> {
        let mut input = Input(payload);
        let number = input.u64()?;
        Ok(Frame { number, messages: input.messages(ToNear::decode)? })
    }

    /// Returns the numbers of the cells that this frame closes or opens, also by its reports. A cell may occur more than once.
    pub fn cells(&self) -> Vec<u32> {
        let mut named = Vec::new();
        for message in &self.messages {
            match message {
                ToNear::Closed { cells } => named.extend(cells),
                ToNear::Opened { cells } => named.extend(cells.iter().map(|(cell, _)| cell)),
                ToNear::Report(report) => named.extend(report.cells.iter().map(|(cell, _)| cell)),
                ToNear::Attached { .. } | ToNear::Granted { .. } | ToNear::Obstacle { .. } => {}
            }
        }
        named
    }
}

impl FromNear {
    /// Returns these messages as the payload of one packet to the server.
    pub fn encode_all(messages: &[FromNear]) -> Vec<u8> {
        let mut out = Vec::new();
        messages.iter().for_each(|message| message.encode(&mut out));
        out
    }

    /// Decodes the payload of a packet from a near cache. Err if any part of it is not valid; the feed is over then.
    pub fn decode_all(payload: &[u8]) -> Result<Vec<FromNear>, Malformed> {
        Input(payload).messages(FromNear::decode)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            FromNear::Renew { sent } => put(out, RENEW, &[&sent.to_le_bytes()]),
            FromNear::Acknowledge { number } => put(out, ACKNOWLEDGE, &[&number.to_le_bytes()]),
            FromNear::Mark { connection, scramble } => {
                put(out, MARK, &[&connection.to_le_bytes(), &scramble.to_le_bytes()])
            }
            FromNear::Unmark { connection } => put(out, UNMARK, &[&connection.to_le_bytes()]),
            FromNear::Counted(counts) => {
                let counts = [counts.entries, counts.bytes, counts.hits, counts.misses].map(u64::to_le_bytes);
                put(out, COUNTED, &counts.each_ref().map(|count| &count[..]))
            }
            FromNear::Left => put(out, LEFT, &[]),
        }
    }

    fn decode(kind: u8, body: &mut Input) -> Result<FromNear, Malformed> {
        Ok(match kind {
            RENEW => FromNear::Renew { sent: body.u64()? },
            ACKNOWLEDGE => FromNear::Acknowledge { number: body.u64()? },
            MARK => FromNear::Mark { connection: body.u32()?, scramble: body.u64()? },
            UNMARK => FromNear::Unmark { connection: body.u32()? },
            COUNTED => {
                let [entries, bytes, hits, misses] = [body.u64()?, body.u64()?, body.u64()?, body.u64()?];
                FromNear::Counted(NearCacheCounts { entries, bytes, hits, misses })
            }
            LEFT => FromNear::Left,
            _ => return Err(Malformed),
        })
    }
}

impl ToNear {
    /// Returns how many cells this message lists. Queues are limited by this number.
    pub fn cells(&self) -> usize {
        match self {
            ToNear::Attached { .. } | ToNear::Granted { .. } | ToNear::Obstacle { .. } => 0,
            ToNear::Closed { cells } => cells.len(),
            ToNear::Opened { cells } => cells.len(),
            ToNear::Report(report) => report.cells.len(),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            ToNear::Attached { version, attachment, lease_ns } => {
                let [first, second] = attachment.map(u64::to_le_bytes);
                put(out, ATTACHED, &[&version.to_le_bytes(), &first, &second, &lease_ns.to_le_bytes()])
            }
            ToNear::Granted { sent } => put(out, GRANTED, &[&sent.to_le_bytes()]),
            ToNear::Closed { cells } => {
                let cells: Vec<u8> = cells.iter().flat_map(|cell| cell.to_le_bytes()).collect();
                put(out, CLOSED, &[&cells])
            }
            ToNear::Opened { cells } => put(out, OPENED, &[&versions(cells)]),
            ToNear::Obstacle { why } => put(out, OBSTACLE, &[why.as_bytes()]),
            ToNear::Report(report) => {
                let numbers = [report.command, report.check, report.context, report.stamp].map(u64::to_le_bytes);
                let [command, check, context, stamp] = numbers.each_ref().map(|number| &number[..]);
                let (connection, cells) = (report.connection.to_le_bytes(), versions(&report.cells));
                let head = [&connection, command, check, context, stamp].concat();
                if report.is_of_session {
                    return put(out, REPORT_OF_SESSION, &[&head, &[facts(report)], &cells]);
                }
                if report.is_for_transactions || report.snapshot.is_some() {
                    let snapshot = report.snapshot.unwrap_or_default().to_le_bytes();
                    return put(out, REPORT_FOR_TRANSACTIONS, &[&head, &[facts(report)], &snapshot, &cells]);
                }
                let kind = if report.holds_over_preparations { REPORT_OVER_PREPARATIONS } else { REPORT };
                put(out, kind, &[&head, &cells])
            }
        }
    }

    fn decode(kind: u8, body: &mut Input) -> Result<ToNear, Malformed> {
        Ok(match kind {
            ATTACHED => ToNear::Attached {
                version: u16::from_le_bytes(body.take()?),
                attachment: [body.u64()?, body.u64()?],
                lease_ns: body.u64()?,
            },
            GRANTED => ToNear::Granted { sent: body.u64()? },
            CLOSED => ToNear::Closed { cells: body.all(Input::u32)? },
            OPENED => ToNear::Opened { cells: body.all(Input::version)? },
            REPORT | REPORT_OVER_PREPARATIONS | REPORT_FOR_TRANSACTIONS | REPORT_OF_SESSION => {
                ToNear::Report(body.report(kind)?)
            }
            OBSTACLE => ToNear::Obstacle { why: body.text()? },
            _ => return Err(Malformed),
        })
    }
}

/// A bit of a report's byte of facts: [`CommandReport::holds_over_preparations`].
const OVER_PREPARATIONS: u8 = 1;
/// A bit of a report's byte of facts: [`CommandReport::is_for_transactions`].
const FOR_TRANSACTIONS: u8 = 2;
/// A bit of a report's byte of facts: [`CommandReport::snapshot`] is set.
const HAS_SNAPSHOT: u8 = 4;

fn facts(report: &CommandReport) -> u8 {
    let facts = [
        (report.holds_over_preparations, OVER_PREPARATIONS),
        (report.is_for_transactions, FOR_TRANSACTIONS),
        (report.snapshot.is_some(), HAS_SNAPSHOT),
    ];
    facts.iter().filter(|(is_so, _)| *is_so).map(|(_, fact)| fact).sum()
}

fn versions(cells: &[(u32, u64)]) -> Vec<u8> {
    cells.iter().flat_map(|(cell, version)| [&cell.to_le_bytes()[..], &version.to_le_bytes()].concat()).collect()
}

fn put(out: &mut Vec<u8>, kind: u8, body: &[&[u8]]) {
    let length: usize = body.iter().map(|part| part.len()).sum();
    out.push(kind);
    out.extend_from_slice(&(length as u32).to_le_bytes());
    body.iter().for_each(|part| out.extend_from_slice(part));
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (first, rest) = self.0.split_first_chunk().ok_or(Malformed)?;
        self.0 = rest;
        Ok(*first)
    }

    fn u32(&mut self) -> Result<u32, Malformed> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, Malformed> {
        self.take().map(u64::from_le_bytes)
    }

    /// Reads the rest of the input as text.
    fn text(&mut self) -> Result<String, Malformed> {
        let bytes = std::mem::take(&mut self.0);
        String::from_utf8(bytes.to_vec()).map_err(|_| Malformed)
    }

    fn version(&mut self) -> Result<(u32, u64), Malformed> {
        Ok((self.u32()?, self.u64()?))
    }

    fn report(&mut self, kind: u8) -> Result<CommandReport, Malformed> {
        let mut report = CommandReport {
            connection: self.u32()?,
            command: self.u64()?,
            check: self.u64()?,
            context: self.u64()?,
            stamp: self.u64()?,
            holds_over_preparations: kind == REPORT_OVER_PREPARATIONS,
            is_for_transactions: false,
            snapshot: None,
            is_of_session: kind == REPORT_OF_SESSION,
            cells: Vec::new(),
        };
        if report.is_of_session {
            let [facts] = self.take()?;
            (facts <= OVER_PREPARATIONS).then_some(()).ok_or(Malformed)?;
            report.holds_over_preparations = facts == OVER_PREPARATIONS;
        }
        if kind == REPORT_FOR_TRANSACTIONS {
            let ([facts], snapshot) = (self.take()?, self.u64()?);
            let has = |fact: u8| facts & fact != 0;
            (report.holds_over_preparations, report.is_for_transactions) =
                (has(OVER_PREPARATIONS), has(FOR_TRANSACTIONS));
            report.snapshot = has(HAS_SNAPSHOT).then_some(snapshot);
            (facts <= OVER_PREPARATIONS | FOR_TRANSACTIONS | HAS_SNAPSHOT).then_some(()).ok_or(Malformed)?;
        }
        report.cells = self.all(Input::version)?;
        Ok(report)
    }

    /// Reads items until the input is empty.
    fn all<T>(&mut self, one: fn(&mut Self) -> Result<T, Malformed>) -> Result<Vec<T>, Malformed> {
        let mut all = Vec::new();
        while !self.0.is_empty() {
            all.push(one(self)?);
        }
        Ok(all)
    }

    /// Reads messages until the input is empty. `decode` receives the kind and the body of each, and must use up the body.
    fn messages<T>(&mut self, decode: fn(u8, &mut Input) -> Result<T, Malformed>) -> Result<Vec<T>, Malformed> {
        let mut all = Vec::new();
        while !self.0.is_empty() {
            let [kind] = self.take()?;
            let length = self.u32()? as usize;
            let (body, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
            let mut body = Input(body);
            all.push(decode(kind, &mut body)?);
            body.0.is_empty().then_some(()).ok_or(Malformed)?;
            self.0 = rest;
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> Frame {
        let report = CommandReport {
            connection: 7,
            command: 3,
            check: 9,
            context: 1,
            stamp: 5,
            holds_over_preparations: false,
            is_for_transactions: false,
            snapshot: None,
            is_of_session: false,
            cells: vec![(0, 2), (u32::MAX, u64::MAX)],
        };
        let over = CommandReport { holds_over_preparations: true, ..report.clone() };
        let outside = CommandReport { is_for_transactions: true, ..over.clone() };
        let inside = CommandReport { snapshot: Some(u64::MAX), ..report.clone() };
        let session = CommandReport { is_of_session: true, ..over.clone() };
        let messages = vec![
            ToNear::Attached { version: 1, attachment: [1, u64::MAX], lease_ns: 3 },
            ToNear::Granted { sent: 4 },
            ToNear::Closed { cells: vec![0, 9] },
            ToNear::Opened { cells: vec![(0, 5)] },
            ToNear::Report(report),
            ToNear::Report(over),
            ToNear::Report(outside),
            ToNear::Report(inside),
            ToNear::Report(session),
            ToNear::Obstacle { why: String::new() },
            ToNear::Obstacle { why: "the cache is off".into() },
        ];
        Frame { number: 11, messages }
    }

    fn from_near() -> Vec<FromNear> {
        vec![
            FromNear::Renew { sent: 1 },
            FromNear::Acknowledge { number: 2 },
            FromNear::Mark { connection: 3, scramble: 4 },
            FromNear::Unmark { connection: 3 },
            FromNear::Counted(NearCacheCounts { entries: 1, bytes: 2, hits: 3, misses: 4 }),
            FromNear::Left,
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Frame::decode(&frame().encode()), Ok(frame()));
        assert_eq!(FromNear::decode_all(&FromNear::encode_all(&from_near())), Ok(from_near()));
    }

    #[test]
    fn a_payload_that_is_cut_is_malformed_or_has_fewer_messages() {
        let bytes = frame().encode();
        for length in 0..bytes.len() {
            let fewer = |frame: Frame| frame.messages.len() < super::tests::frame().messages.len();
            assert!(Frame::decode(&bytes[..length]).map_or(true, fewer));
        }
    }

    #[test]
    fn what_is_not_understood_to_the_last_byte_is_malformed() {
        let mut longer = Vec::new();
        put(&mut longer, RENEW, &[&[0; 9]]);
        let mut unknown = Vec::new();
        put(&mut unknown, 99, &[]);
        let mut fact = vec![0; 8];
        put(&mut fact, REPORT_FOR_TRANSACTIONS, &[&[0; 36], &[8], &[0; 8]]);
        assert_eq!(Frame::decode(&fact), Err(Malformed), "a fact that this version does not know");
        let mut of_session = vec![0; 8];
        put(&mut of_session, REPORT_OF_SESSION, &[&[0; 36], &[FOR_TRANSACTIONS]]);
        assert_eq!(Frame::decode(&of_session), Err(Malformed), "it says nothing of results");
        assert_eq!(FromNear::decode_all(&longer), Err(Malformed));
        assert_eq!(FromNear::decode_all(&unknown), Err(Malformed));
        assert_eq!(Frame::decode(&[1; 7]), Err(Malformed));
        let other_side = FromNear::encode_all(&[FromNear::Left]);
        assert_eq!(Frame::decode(&[&[0; 8][..], &other_side].concat()), Err(Malformed));
    }
}
