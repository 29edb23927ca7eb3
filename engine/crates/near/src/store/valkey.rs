//! The bytes that Valkey understands, and Redis since 7.0.

use super::Id;
use super::reply::{Counted, Item, Parsed, Reply, Unfit, Wants, key};
use std::time::Duration;

/// Its clock has milliseconds, but it is the machine's, which is set now and then.
pub const UNCERTAIN: Duration = Duration::from_secs(1);
/// Of a number, or a message.
const LONGEST_LINE: usize = 2 << 10;
/// Of a value: more than any result that is kept.
const LONGEST_VALUE: usize = 4 << 20;
const END: &[u8] = b"\r\n";
/// A place that nobody has filled holds a number that was drawn for it.
const VACANT: &[u8] = b"?";
/// If the place still holds that number.
const FILL: &[u8] =
    b"if redis.call('GET',KEYS[1])==ARGV[1] then redis.call('SET',KEYS[1],ARGV[2],'KEEPTTL') return 1 end return 0";
const FREE: &[u8] = b"if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) end return 0";

fn command(words: &[&[u8]]) -> Vec<u8> {
    let mut out = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(END);
    }
    out
}

fn vacant(version: u64) -> Vec<u8> {
    [VACANT, version.to_string().as_bytes()].concat()
}

pub fn greeting(password: &str) -> Vec<u8> {
    command(&[b"AUTH", password.as_bytes()])
}

/// What is left of its time is asked first: if another value comes in between, it looks older than it is.
pub fn look(id: &Id, lifetime: u64, drawn: u64) -> Vec<u8> {
    let (key, lifetime) = (key(id), (lifetime * 1000).to_string());
    let left = command(&[b"PTTL", key.as_bytes()]);
    let set = command(&[b"SET", key.as_bytes(), &vacant(drawn), b"NX", b"GET", b"PX", lifetime.as_bytes()]);
    [left, set].concat()
}

pub fn fill(id: &Id, version: u64, value: &[u8]) -> Vec<u8> {
    command(&[b"EVAL", FILL, b"1", key(id).as_bytes(), &vacant(version), value])
}

/// For what is there, and nothing else is done.
pub fn find(id: &Id) -> Vec<u8> {
    let key = key(id);
    [command(&[b"PTTL", key.as_bytes()]), command(&[b"GET", key.as_bytes()])].concat()
}

/// Puts a value there that lives so many seconds, whatever there was.
pub fn put(id: &Id, lifetime: u64, value: &[u8]) -> Vec<u8> {
    command(&[b"SET", key(id).as_bytes(), value, b"EX", lifetime.to_string().as_bytes()])
}

pub fn free(id: &Id, version: u64) -> Vec<u8> {
    command(&[b"EVAL", FREE, b"1", key(id).as_bytes(), &vacant(version)])
}

pub fn count() -> Vec<u8> {
    [command(&[b"DBSIZE"]), command(&[b"INFO", b"memory"])].concat()
}

pub fn parse(bytes: &[u8], wants: Wants) -> Parsed {
    let Some((first, length)) = said(bytes)? else { return Ok(None) };
    if wants == Wants::Outcome {
        let is_done = matches!(first, Said::Number(1) | Said::Word);
        return Ok(Some((if is_done { Reply::Done } else { Reply::Refused }, length)));
    }
    let Some((second, further)) = said(&bytes[length..])? else { return Ok(None) };
    let reply = match (wants, first, second) {
        (Wants::Counts, Said::Number(entries), Said::Value(Some(text))) => Reply::Counted(counted(entries, text)),
        (_, Said::Number(_), Said::Value(None)) => Reply::Item(Item { is_won: true, ..Item::default() }),
        (_, Said::Number(left), Said::Value(Some(value))) => item(left, value),
        _ => Reply::Refused,
    };
    Ok(Some((reply, length + further)))
}

/// `left`: below zero if nothing was there, or for ever.
fn item(left: i64, value: &[u8]) -> Reply {
    let Ok(left) = u64::try_from(left).map(Duration::from_millis) else { return Reply::Refused };
    let drawn = value.strip_prefix(VACANT).and_then(|number| std::str::from_utf8(number).ok()?.parse().ok());
    let value = if drawn.is_some() { Vec::new() } else { value.to_vec() };
    Reply::Item(Item { value, version: drawn.unwrap_or(0), left, is_won: false })
}

fn counted(entries: i64, text: &[u8]) -> Counted {
    let text = String::from_utf8_lossy(text);
    let of = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap_or(0);
    Counted { entries: entries.try_into().unwrap_or(0), used: of("used_memory:"), size: of("maxmemory:") }
}

enum Said<'a> {
    Number(i64),
    Value(Option<&'a [u8]>),
    Word,
    /// There is no room, or it is not ready.
    Refusal,
}

fn said(bytes: &[u8]) -> Result<Option<(Said<'_>, usize)>, Unfit> {
    let unfit = || Unfit("its answer is not understood".into());
    let Some(length) = bytes.windows(END.len()).take(LONGEST_LINE).position(|two| two == END) else {
        return if bytes.len() < LONGEST_LINE { Ok(None) } else { Err(unfit()) };
    };
    let (line, after) = (std::str::from_utf8(&bytes[..length]).map_err(|_| unfit())?, length + END.len());
    let (kind, rest) = line.split_at_checked(1).ok_or_else(unfit)?;
    match kind {
        ":" => Ok(Some((Said::Number(rest.parse().map_err(|_| unfit())?), after))),
        "+" => Ok(Some((Said::Word, after))),
        "-" if ["OOM", "LOADING", "BUSY"].iter().any(|word| rest.starts_with(word)) => Ok(Some((Said::Refusal, after))),
        "-" => Err(Unfit(rest.into())),
        "$" if rest == "-1" => Ok(Some((Said::Value(None), after))),
        "$" => {
            let size: usize = rest.parse().ok().filter(|size| *size <= LONGEST_VALUE).ok_or_else(unfit)?;
            let Some(data) = bytes.get(after..after + size + END.len()) else { return Ok(None) };
            let value = data.strip_suffix(END).ok_or_else(unfit)?;
            Ok(Some((Said::Value(Some(value)), after + data.len())))
        }
        _ => Err(unfit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: Id = [0xab; 32];

    /// Read whole, and not before it is.
    fn parsed(bytes: &[u8], wants: Wants) -> Reply {
        let (reply, taken) = parse(bytes, wants).expect("it is understood").expect("it is whole");
        assert_eq!(taken, bytes.len());
        (0..taken).for_each(|length| assert_eq!(parse(&bytes[..length], wants), Ok(None), "{length}"));
        reply
    }

    #[test]
    fn what_is_there_is_an_empty_place_or_a_value() {
        let of = |bytes: &[u8]| parsed(bytes, Wants::Item);
        assert_eq!(of(b":-2\r\n$-1\r\n"), Reply::Item(Item { is_won: true, ..Item::default() }));
        let left = Duration::from_millis(1500);
        assert_eq!(of(b":1500\r\n$3\r\n?77\r\n"), Reply::Item(Item { version: 77, left, ..Item::default() }));
        let value = b"?\r\nb".to_vec();
        assert_eq!(of(b":1500\r\n$4\r\n?\r\nb\r\n"), Reply::Item(Item { value, left, ..Item::default() }));
        for refused in
            [&b":-2\r\n$1\r\na\r\n"[..], b":-1\r\n$1\r\na\r\n", b":-2\r\n-OOM no room\r\n", b"-LOADING\r\n-LOADING\r\n"]
        {
            assert_eq!(of(refused), Reply::Refused);
        }
    }

    #[test]
    fn outcomes_and_counts_are_read() {
        let outcomes = [&b":1\r\n"[..], b"+OK\r\n", b":0\r\n"].map(|bytes: &[u8]| parsed(bytes, Wants::Outcome));
        assert_eq!(outcomes, [Reply::Done, Reply::Done, Reply::Refused]);
        let text = "# Memory\r\nused_memory:900\r\nused_memory_human:900B\r\nmaxmemory:1000\r\n";
        let bytes = format!(":3\r\n${}\r\n{text}\r\n", text.len());
        let counted = Counted { entries: 3, used: 900, size: 1000 };
        assert_eq!(parsed(bytes.as_bytes(), Wants::Counts), Reply::Counted(counted));
    }

    #[test]
    fn what_is_no_answer_ends_the_connection() {
        let long = vec![b'+'; LONGEST_LINE];
        for bytes in [
            &b"-NOAUTH Authentication required.\r\n"[..],
            b"hello\r\n",
            b":x\r\n",
            b"$99999999\r\n",
            b"$1\r\nabc",
            b"\r\n",
            &long,
        ] {
            assert!(parse(bytes, Wants::Outcome).is_err(), "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn commands_are_lists_of_words() {
        assert_eq!(greeting("pass"), b"*2\r\n$4\r\nAUTH\r\n$4\r\npass\r\n");
        let looked = String::from_utf8(look(&ID, 9, 5)).expect("text");
        assert!(looked.ends_with("$2\r\n?5\r\n$2\r\nNX\r\n$3\r\nGET\r\n$2\r\nPX\r\n$4\r\n9000\r\n"), "{looked}");
        assert!(fill(&ID, 5, b"abc").ends_with(b"$2\r\n?5\r\n$3\r\nabc\r\n"));
    }
}
