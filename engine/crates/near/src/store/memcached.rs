//! The protocol of memcached: its meta commands, which it has since version 1.6.

use super::StoreKey;
use super::reply::{MemcachedEntry, Parsed, ProtocolError, Reply, Totals, key};
use std::time::Duration;

/// By how much the age of a value in memcached may be too low. Memcached counts whole seconds: up to one second of the current one has
/// passed, and its clock may tick up to one second late.
pub const CLOCK_ERROR: Duration = Duration::from_secs(2);
/// The longest first line of an answer that is accepted, in bytes.
const LONGEST_LINE: usize = 2 << 10;
/// The longest value that is accepted, in bytes. No result that is stored is that long.
const LONGEST_VALUE: usize = 4 << 20;
const END: &[u8] = b"\r\n";
/// The longest answer to `stats` that is accepted, in bytes.
const LONGEST_COUNTS: usize = 64 << 10;

/// Returns the request for a key's value, version and remaining time. If there is no entry, memcached creates an empty one that lives
/// `lifetime` seconds, and says so in its answer.
pub fn get_or_reserve(id: &StoreKey, lifetime: u64) -> Vec<u8> {
    format!("mg {} v c t N{lifetime}\r\n", key(id)).into()
}

/// Returns the request that puts a value into the empty entry that has this version; the server refuses it for any other. The value is
/// appended, so that the entry's time to live does not change.
pub fn fill(id: &StoreKey, version: u64, value: &[u8]) -> Vec<u8> {
    let line = format!("ms {} {} C{version} MA\r\n", key(id), value.len());
    [line.as_bytes(), value, END].concat()
}

/// Returns the request for a key's value. It creates nothing.
pub fn get(id: &StoreKey) -> Vec<u8> {
    format!("mg {} v t\r\n", key(id)).into()
}

/// Returns the request that stores a value for `lifetime` seconds, in place of any earlier one.
pub fn put(id: &StoreKey, lifetime: u64, value: &[u8]) -> Vec<u8> {
    let line = format!("ms {} {} T{lifetime}\r\n", key(id), value.len());
    [line.as_bytes(), value, END].concat()
}

/// Returns the request that deletes the entry if it still has this version.
pub fn delete(id: &StoreKey, version: u64) -> Vec<u8> {
    format!("md {} C{version}\r\n", key(id)).into()
}

/// The request for the server's totals.
pub const TOTALS: &[u8] = b"stats\r\n";

fn not_understood() -> ProtocolError {
    ProtocolError("its answer is not understood: memcached 1.6 or later is needed".into())
}

/// Parses the first answer in `bytes`. The answer's first word shows its kind, so the request need not be known.
pub fn parse(bytes: &[u8]) -> Parsed {
    let Some(length) = bytes.windows(END.len()).take(LONGEST_LINE).position(|two| two == END) else {
        return if bytes.len() < LONGEST_LINE { Ok(None) } else { Err(not_understood()) };
    };
    let line = std::str::from_utf8(&bytes[..length]).map_err(|_| not_understood())?;
    let (after, mut words) = (length + END.len(), line.split(' '));
    match words.next() {
        Some("HD") => Ok(Some((Reply::Done, after))),
        Some("NS" | "EX" | "NF" | "EN" | "SERVER_ERROR") => Ok(Some((Reply::Refused, after))),
        Some("VA") => {
            let size = words.next().and_then(|size| size.parse().ok()).filter(|size| *size <= LONGEST_VALUE);
            let size: usize = size.ok_or_else(not_understood)?;
            let Some(data) = bytes.get(after..after + size + END.len()) else { return Ok(None) };
            let value = data.strip_suffix(END).ok_or_else(not_understood)?.to_vec();
            let item = words
                .try_fold(MemcachedEntry { value, ..MemcachedEntry::default() }, flag)
                .ok_or_else(not_understood)?;
            Ok(Some((Reply::Entry(item), after + data.len())))
        }
        Some("STAT") => counted(bytes),
        _ => Err(not_understood()),
    }
}

/// Parses the lines of the answer to `stats`. A number that is missing is taken for 0.
fn counted(bytes: &[u8]) -> Parsed {
    const LAST: &[u8] = b"\r\nEND\r\n";
    let Some(length) = bytes.windows(LAST.len()).take(LONGEST_COUNTS).position(|end| end == LAST) else {
        return if bytes.len() < LONGEST_COUNTS { Ok(None) } else { Err(not_understood()) };
    };
    let text = std::str::from_utf8(&bytes[..length]).map_err(|_| not_understood())?;
    let of = |name: &str| {
        let mut values = text.lines().filter_map(|line| line.strip_prefix("STAT ")?.strip_prefix(name));
        values.find_map(|value| value.trim().parse().ok()).unwrap_or(0)
    };
    let counted = Totals { entries: of("curr_items "), used: of("bytes "), size: of("limit_maxbytes ") };
    Ok(Some((Reply::Totals(counted), length + LAST.len())))
}

/// Adds one flag of the answer's first line to the entry. Unknown flags are ignored. None if the version is no number.
fn flag(mut item: MemcachedEntry, word: &str) -> Option<MemcachedEntry> {
    let (name, value) = word.split_at_checked(1).unwrap_or_default();
    match name {
        "c" => item.version = value.parse().ok()?,
        // -1: an item without an end was not made by a near cache. With the longest time it is not used.
        "t" => item.left = Duration::from_secs(value.parse().unwrap_or(u64::MAX)),
        "W" => item.is_won = true,
        _ => {}
    }
    Some(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_one_after_the_other_and_only_whole() {
        let made = MemcachedEntry {
            version: 7,
            left: Duration::from_secs(u64::MAX),
            is_won: true,
            ..MemcachedEntry::default()
        };
        let kept =
            MemcachedEntry { value: b"a\r\nb".to_vec(), version: 8, left: Duration::from_secs(3), is_won: false };
        let all = b"VA 0 c7 t-1 W\r\n\r\nVA 4 c8 t3 Z\r\na\r\nb\r\n\
            STAT bytes_read 9\r\nSTAT limit_maxbytes 1000\r\nSTAT bytes 200\r\nSTAT curr_items 3\r\nEND\r\nHD\r\nNS \r\nEN\r\nSERVER_ERROR out of memory\r\n";
        let counted = Totals { entries: 3, used: 200, size: 1000 };
        let expected = [
            Reply::Entry(made),
            Reply::Entry(kept),
            Reply::Totals(counted),
            Reply::Done,
            Reply::Refused,
            Reply::Refused,
            Reply::Refused,
        ];
        let mut rest = &all[..];
        for reply in expected {
            let (read, taken) = parse(rest).expect("it is understood").expect("it is whole");
            assert_eq!(read, reply);
            (0..taken).for_each(|length| assert_eq!(parse(&rest[..length]), Ok(None), "{length} of {reply:?}"));
            rest = &rest[taken..];
        }
        assert!(rest.is_empty());
    }

    #[test]
    fn what_is_no_answer_ends_the_connection() {
        let long = vec![b'a'; LONGEST_LINE];
        let answers: [&[u8]; 7] = [
            b"ERROR\r\n",
            b"CLIENT_ERROR bad data chunk\r\n",
            b"VA\r\n",
            b"VA 99999999 c1\r\n",
            b"VA 1 c1 t1\r\nabc",
            b"\xff\r\n",
            &long,
        ];
        for answer in answers {
            assert_eq!(parse(answer), Err(not_understood()), "{}", String::from_utf8_lossy(answer));
        }
    }

    #[test]
    fn commands_name_the_key_in_digits() {
        let id = [0xab; 32];
        let key = format!("fqc:{}", "ab".repeat(32));
        assert_eq!(get_or_reserve(&id, 9), format!("mg {key} v c t N9\r\n").as_bytes());
        assert_eq!(fill(&id, 5, b"abc"), format!("ms {key} 3 C5 MA\r\nabc\r\n").as_bytes());
        assert_eq!(delete(&id, 5), format!("md {key} C5\r\n").as_bytes());
    }
}
