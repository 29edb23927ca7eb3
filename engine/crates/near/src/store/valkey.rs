//! The protocol of Valkey, which Redis since 7.0 understands, too.

use super::StoreKey;
use super::reply::{
    ExpectedReply, Parsed, Process, ProtocolError, Reply, ServerInfo, SlotRange, TimedValue, Totals, key,
};
use std::time::Duration;

/// By how much the age of a value in Valkey may be too low. Valkey reports microseconds, but they come from the machine's clock, which may
/// be adjusted.
pub const CLOCK_ERROR: Duration = Duration::from_secs(1);
/// The longest line that is accepted, in bytes: a number, a message or a length.
const LONGEST_LINE: usize = 2 << 10;
/// The longest value that is accepted, in bytes. No result that is stored is that long.
const LONGEST_VALUE: usize = 4 << 20;
/// The longest list that is accepted: more elements than a cluster has slots.
const LONGEST_LIST: usize = 20_000;
/// How deeply lists in an answer may be nested.
const DEEPEST: usize = 5;
const END: &[u8] = b"\r\n";
/// Errors of a healthy server: it accepts no values at present, or the key's slot is being moved.
const REFUSALS: [&str; 7] = ["OOM", "LOADING", "BUSY", "NOREPLICAS", "MASTERDOWN", "ASK", "TRYAGAIN"];
/// Errors that say that another server has the key's slot, or that no server has it at present.
const MOVES: [&str; 2] = ["MOVED", "CLUSTERDOWN"];

/// Returns a command with its arguments, as the protocol RESP encodes it.
fn command(words: &[&[u8]]) -> Vec<u8> {
    let mut out = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(END);
    }
    out
}

/// Returns the requests that each connection begins with, and the kinds of answer that they expect: a login, unless both arguments are
/// empty, and a question about the server. `user` is empty for servers that ask for a password alone.
pub fn greeting(user: &str, password: &str) -> Vec<(Vec<u8>, ExpectedReply)> {
    let login = match (user, password) {
        ("", "") => None,
        ("", password) => Some(command(&[b"AUTH", password.as_bytes()])),
        (user, password) => Some(command(&[b"AUTH", user.as_bytes(), password.as_bytes()])),
    };
    let login = login.map(|login| (login, ExpectedReply::Outcome));
    login.into_iter().chain([(command(&[b"INFO"]), ExpectedReply::ServerInfo)]).collect()
}

/// Returns the requests for the time and then for a key's value. In this order, a value that is stored in between has a later stamp than
/// the time, and is not used. The two answers are parsed as one.
pub fn get_or_reserve(id: &StoreKey) -> Vec<u8> {
    [command(&[b"TIME"]), get(id)].concat()
}

/// Returns the request for a key's value.
pub fn get(id: &StoreKey) -> Vec<u8> {
    command(&[b"GET", key(id).as_bytes()])
}

/// Returns the request that stores a value for `lifetime` seconds, in place of any earlier one.
pub fn put(id: &StoreKey, lifetime: u64, value: &[u8]) -> Vec<u8> {
    command(&[b"SET", key(id).as_bytes(), value, b"EX", lifetime.to_string().as_bytes()])
}

/// Returns the requests for the server's number of keys and its memory. The two answers are parsed as one.
pub fn totals_request() -> Vec<u8> {
    [command(&[b"DBSIZE"]), command(&[b"INFO", b"memory"])].concat()
}

/// Returns the request for the cluster's slots and their primaries.
pub fn slots() -> Vec<u8> {
    command(&[b"CLUSTER", b"SLOTS"])
}

/// Parses the first answer in `bytes`; for [`ExpectedReply::Entry`] and [`ExpectedReply::Totals`], the first two, as they answer two
/// requests. `expected`: the kind of answer that the request expects.
pub fn parse(bytes: &[u8], expected: ExpectedReply) -> Parsed {
    let Some((first, length)) = parse_value(bytes, DEEPEST)? else { return Ok(None) };
    let reply = match (expected, first) {
        (ExpectedReply::Entry | ExpectedReply::Totals, first) => {
            let Some((second, further)) = parse_value(&bytes[length..], DEEPEST)? else { return Ok(None) };
            return Ok(Some((of_two(first, second), length + further)));
        }
        (_, RespValue::Moved) => Reply::Moved,
        (ExpectedReply::Outcome, RespValue::Number(1) | RespValue::Status) => Reply::Done,
        (ExpectedReply::Value, RespValue::Value(value)) => read(0, value),
        (ExpectedReply::ServerInfo, RespValue::Value(Some(text))) => Reply::ServerInfo(info(text)?),
        (ExpectedReply::Slots, RespValue::List(list)) => Reply::Slots(list.iter().filter_map(range).collect()),
        _ => Reply::Refused,
    };
    Ok(Some((reply, length)))
}

/// Combines the answers to two requests that were sent together: time and value, or number of keys and memory.
fn of_two(first: RespValue, second: RespValue) -> Reply {
    match (first, second) {
        (_, RespValue::Moved) => Reply::Moved,
        (RespValue::List(time), RespValue::Value(value)) => {
            microseconds(&time).map_or(Reply::Refused, |now| read(now, value))
        }
        (RespValue::Number(entries), RespValue::Value(Some(text))) => Reply::Totals(counted(entries, text)),
        _ => Reply::Refused,
    }
}

/// Returns the reply for a key's value, which is none if the key has no value. `now`: the server's time in microseconds; 0 if it was not
/// asked for.
fn read(now: u64, value: Option<&[u8]>) -> Reply {
    Reply::Value(TimedValue { value: value.unwrap_or_default().to_vec(), now })
}

/// Returns the answer to TIME, which has seconds and microseconds, in microseconds. None if it is malformed.
fn microseconds(time: &[RespValue]) -> Option<u64> {
    let [RespValue::Value(Some(seconds)), RespValue::Value(Some(further))] = time else { return None };
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<u64>().ok();
    number(seconds)?.checked_mul(1_000_000)?.checked_add(number(further)?)
}

/// Returns the value of a field in the answer to the command INFO. `name`: with its colon. None if there is no such field.
fn of_text<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// Returns the server's totals. `entries`: its number of keys; `text`: the answer to the command INFO; a field that is missing is taken for
/// 0.
fn counted(entries: i64, text: &[u8]) -> Totals {
    let text = String::from_utf8_lossy(text);
    let of = |name| of_text(&text, name).and_then(|number| number.parse().ok()).unwrap_or(0);
    Totals { entries: entries.try_into().unwrap_or(0), used: of("used_memory:"), size: of("maxmemory:") }
}

/// Reads the server's process and mode from the answer to the command INFO. A server that does not report its process cannot be used, since
/// the age of values would not be certain.
fn info(text: &[u8]) -> Result<ServerInfo, ProtocolError> {
    let text = String::from_utf8_lossy(text);
    let process = of_text(&text, "run_id:").and_then(|run| Process::try_from(run.as_bytes()).ok());
    let process = process.filter(|process| process.iter().any(|digit| *digit != b'0'));
    let process = process.ok_or_else(|| ProtocolError("it does not tell its run_id".into()))?;
    Ok(ServerInfo { process, is_of_cluster: of_text(&text, "cluster_enabled:") == Some("1") })
}

/// Returns true if the text could be a host name, an address, or empty. The host appears in logs and metrics, so other characters are
/// refused.
fn may_be_host(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:%".contains(&byte))
}

/// Reads one element of CLUSTER SLOTS: the first slot, the last slot, the primary, and replicas, which are ignored. None if it is
/// malformed.
fn range(value: &RespValue) -> Option<SlotRange> {
    let RespValue::List(parts) = value else { return None };
    let [RespValue::Number(first), RespValue::Number(last), RespValue::List(primary), ..] = &parts[..] else {
        return None;
    };
    let [RespValue::Value(host), RespValue::Number(port), ..] = &primary[..] else { return None };
    let host = std::str::from_utf8(host.unwrap_or_default()).ok().filter(|host| may_be_host(host))?.to_owned();
    let [first, last, port] = [*first, *last, *port].map(|number| u16::try_from(number).ok());
    Some(SlotRange { first: first?, last: last?, host, port: port? })
}

/// One value of the protocol RESP.
enum RespValue<'a> {
    /// An integer.
    Number(i64),
    /// A string of bytes, or none for a missing key.
    Value(Option<&'a [u8]>),
    /// A status, such as OK.
    Status,
    List(Vec<RespValue<'a>>),
    /// An error of a healthy server that cannot carry out the request at present.
    Refusal,
    /// An error that says that another server of the cluster has the key's slot, or none has it.
    Moved,
}

fn not_understood() -> ProtocolError {
    ProtocolError("its answer is not understood".into())
}

/// Parses the first value in `bytes`, and returns it with its length; none if it is not complete. `deepest`: how many more levels of lists
/// are accepted. Fails if the value is malformed or too long, or is an error that retrying will not cure.
fn parse_value(bytes: &[u8], deepest: usize) -> Result<Option<(RespValue<'_>, usize)>, ProtocolError> {
    let Some(length) = bytes.windows(END.len()).take(LONGEST_LINE).position(|two| two == END) else {
        return if bytes.len() < LONGEST_LINE { Ok(None) } else { Err(not_understood()) };
    };
    let (line, after) = (std::str::from_utf8(&bytes[..length]).map_err(|_| not_understood())?, length + END.len());
    let (kind, rest) = line.split_at_checked(1).ok_or_else(not_understood)?;
    let begins = |words: &[&str]| words.iter().any(|word| rest.starts_with(word));
    match kind {
        ":" => Ok(Some((RespValue::Number(rest.parse().map_err(|_| not_understood())?), after))),
        "+" => Ok(Some((RespValue::Status, after))),
        "-" if begins(&REFUSALS) => Ok(Some((RespValue::Refusal, after))),
        "-" if begins(&MOVES) => Ok(Some((RespValue::Moved, after))),
        "-" => Err(ProtocolError(rest.into())),
        "$" | "*" if rest == "-1" => Ok(Some((RespValue::Value(None), after))),
        "$" => {
            let size: usize = rest.parse().ok().filter(|size| *size <= LONGEST_VALUE).ok_or_else(not_understood)?;
            let Some(data) = bytes.get(after..after + size + END.len()) else { return Ok(None) };
            let value = data.strip_suffix(END).ok_or_else(not_understood)?;
            Ok(Some((RespValue::Value(Some(value)), after + data.len())))
        }
        "*" => {
            let count: usize = rest.parse().ok().filter(|count| *count <= LONGEST_LIST).ok_or_else(not_understood)?;
            list(bytes, after, count, deepest.checked_sub(1).ok_or_else(not_understood)?)
        }
        _ => Err(not_understood()),
    }
}

/// Parses `count` values that begin at `at`, as one list. None if they are not complete. Returns the list and where it ends in `bytes`.
fn list(
    bytes: &[u8],
    mut at: usize,
    count: usize,
    deepest: usize,
) -> Result<Option<(RespValue<'_>, usize)>, ProtocolError> {
    let mut parts = Vec::new();
    for _ in 0..count {
        let Some((part, length)) = parse_value(&bytes[at..], deepest)? else { return Ok(None) };
        parts.push(part);
        at += length;
    }
    Ok(Some((RespValue::List(parts), at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: StoreKey = [0xab; 32];

    /// Parses a complete answer, and checks that no shorter part of it is taken for complete.
    fn parsed(bytes: &[u8], expected: ExpectedReply) -> Reply {
        let (reply, taken) = parse(bytes, expected).expect("it is understood").expect("it is whole");
        assert_eq!(taken, bytes.len());
        (0..taken).for_each(|length| assert_eq!(parse(&bytes[..length], expected), Ok(None), "{length}"));
        reply
    }

    #[test]
    fn what_is_there_comes_with_the_time() {
        let of = |bytes: &[u8]| parsed(bytes, ExpectedReply::Entry);
        let read = |value: &[u8]| Reply::Value(TimedValue { value: value.to_vec(), now: 7_000_012 });
        assert_eq!(of(b"*2\r\n$1\r\n7\r\n$2\r\n12\r\n$-1\r\n"), read(b""));
        assert_eq!(of(b"*2\r\n$1\r\n7\r\n$2\r\n12\r\n$4\r\n?\r\nb\r\n"), read(b"?\r\nb"));
        for refused in [
            &b"*2\r\n$1\r\n7\r\n$1\r\nx\r\n$1\r\na\r\n"[..],
            b"*1\r\n$1\r\n7\r\n$1\r\na\r\n",
            b":7\r\n$-1\r\n",
            b"*2\r\n$1\r\n7\r\n$1\r\n1\r\n-ASK 5 127.0.0.1:7\r\n",
            b"-LOADING\r\n-LOADING\r\n",
        ] {
            assert_eq!(of(refused), Reply::Refused);
        }
        assert_eq!(of(b"*2\r\n$1\r\n7\r\n$1\r\n1\r\n-MOVED 5 127.0.0.1:7\r\n"), Reply::Moved);
        let value = TimedValue { value: b"a".to_vec(), now: 0 };
        assert_eq!(parsed(b"$1\r\na\r\n", ExpectedReply::Value), Reply::Value(value));
    }

    #[test]
    fn outcomes_and_counts_are_read() {
        let outcomes = [&b":1\r\n"[..], b"+OK\r\n", b":0\r\n", b"-OOM no room\r\n"]
            .map(|bytes| parsed(bytes, ExpectedReply::Outcome));
        assert_eq!(outcomes, [Reply::Done, Reply::Done, Reply::Refused, Reply::Refused]);
        assert_eq!(parsed(b"-CLUSTERDOWN Hash slot not served\r\n", ExpectedReply::Outcome), Reply::Moved);
        let text = "# Memory\r\nused_memory:900\r\nused_memory_human:900B\r\nmaxmemory:1000\r\n";
        let bytes = format!(":3\r\n${}\r\n{text}\r\n", text.len());
        let counted = Totals { entries: 3, used: 900, size: 1000 };
        assert_eq!(parsed(bytes.as_bytes(), ExpectedReply::Totals), Reply::Totals(counted));
    }

    #[test]
    fn a_server_tells_which_process_it_is_and_who_has_which_slots() {
        let info = |run: &str, cluster: &str| {
            let text = format!("# Server\r\nrun_id:{run}\r\n# Cluster\r\ncluster_enabled:{cluster}\r\n");
            format!("${}\r\n{text}\r\n", text.len())
        };
        let run = "ab".repeat(20);
        for (cluster, is_of_cluster) in [("1", true), ("0", false)] {
            let process = run.as_bytes().try_into().expect("its length");
            assert_eq!(
                parsed(info(&run, cluster).as_bytes(), ExpectedReply::ServerInfo),
                Reply::ServerInfo(ServerInfo { process, is_of_cluster })
            );
        }
        for unknown in ["0", "", &"0".repeat(40)] {
            assert!(parse(info(unknown, "1").as_bytes(), ExpectedReply::ServerInfo).is_err(), "{unknown}");
        }
        let slots =
            b"*2\r\n*4\r\n:0\r\n:99\r\n*3\r\n$3\r\na.b\r\n:7\r\n*2\r\n$1\r\nx\r\n$1\r\ny\r\n*2\r\n$1\r\nc\r\n:8\r\n\
            *3\r\n:100\r\n:16383\r\n*2\r\n$-1\r\n:9\r\n";
        let range = |first, last, host: &str, port| SlotRange { first, last, host: host.into(), port };
        assert_eq!(
            parsed(slots, ExpectedReply::Slots),
            Reply::Slots(vec![range(0, 99, "a.b", 7), range(100, 16_383, "", 9)])
        );
        for (host, is_one) in [("fe80::1%eth0", true), ("a\"b", false), ("a\nb", false), ("a b", false)] {
            let slots = format!("*1\r\n*3\r\n:0\r\n:99\r\n*2\r\n${}\r\n{host}\r\n:7\r\n", host.len());
            let found = is_one.then(|| range(0, 99, host, 7)).into_iter().collect();
            assert_eq!(parsed(slots.as_bytes(), ExpectedReply::Slots), Reply::Slots(found), "{host:?}");
        }
    }

    #[test]
    fn what_is_no_answer_ends_the_connection() {
        let (long, deep) = (vec![b'+'; LONGEST_LINE], b"*1\r\n".repeat(DEEPEST + 1));
        for bytes in [
            &b"-NOAUTH Authentication required.\r\n"[..],
            b"-READONLY You can't write against a read only replica.\r\n",
            b"hello\r\n",
            b":x\r\n",
            b"$99999999\r\n",
            b"*99999999\r\n",
            b"$1\r\nabc",
            b"\r\n",
            &long,
            &deep,
        ] {
            assert!(parse(bytes, ExpectedReply::Outcome).is_err(), "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn commands_are_lists_of_words() {
        assert_eq!(greeting("", "pass")[0].0, b"*2\r\n$4\r\nAUTH\r\n$4\r\npass\r\n");
        assert_eq!(greeting("me", "pass")[0].0, b"*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$4\r\npass\r\n");
        assert_eq!(greeting("", "").len(), 1);
        assert!(get_or_reserve(&ID).starts_with(b"*1\r\n$4\r\nTIME\r\n*2\r\n$3\r\nGET\r\n$68\r\nfqc:"));
        assert!(put(&ID, 9, b"abc").ends_with(b"$3\r\nabc\r\n$2\r\nEX\r\n$1\r\n9\r\n"));
    }
}
