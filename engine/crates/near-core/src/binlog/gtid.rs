//! GTIDs of MySQL: the UUID of the server that assigned it, an optional tag, and a number.

use std::collections::BTreeMap;
use wire::lenenc::Reader;

const UUID: usize = 16;
const LONGEST_TAG: usize = 32;

/// The identifier of one transaction on a MySQL server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gtid<'a> {
    /// The UUID of the server that assigned it.
    pub uuid: [u8; UUID],
    /// Empty if the GTID has no tag.
    pub tag: &'a [u8],
    pub number: u64,
}

/// The origin of GTIDs that are numbered together: a server's UUID and a tag.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GtidSource {
    uuid: [u8; UUID],
    tag: Vec<u8>,
}

impl Gtid<'_> {
    /// Returns a copy of the UUID and the tag.
    pub fn source(&self) -> GtidSource {
        GtidSource { uuid: self.uuid, tag: self.tag.to_vec() }
    }
}

/// A set of GTIDs: for each source the intervals of numbers in ascending order, each with its end excluded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gtids(BTreeMap<GtidSource, Vec<(u64, u64)>>);

impl Gtids {
    /// Parses the server's text form of a set, for example `uuid:1-5:7:tag:1-2, uuid:1`. None if it is not one.
    pub fn parse(text: &[u8]) -> Option<Gtids> {
        let text: String = std::str::from_utf8(text).ok()?.chars().filter(|one| !one.is_ascii_whitespace()).collect();
        let mut gtids = Gtids::default();
        for block in text.split(',').filter(|block| !block.is_empty()) {
            let mut parts = block.split(':');
            let mut source = GtidSource { uuid: uuid(parts.next()?)?, tag: Vec::new() };
            for part in parts {
                match interval(part) {
                    Some(interval) => gtids.0.entry(source.clone()).or_default().push(interval),
                    None => source.tag = tag(part)?,
                }
            }
        }
        let intervals = gtids.0.values();
        let is_in_order = |all: &Vec<(u64, u64)>| all.is_sorted_by(|one, next| one.1 < next.0);
        intervals.into_iter().all(is_in_order).then_some(gtids)
    }

    /// Returns true if the set contains this GTID.
    pub fn has(&self, source: &GtidSource, number: u64) -> bool {
        self.0.get(source).is_some_and(|all| all.iter().any(|(first, end)| (*first..*end).contains(&number)))
    }

    /// Adds a GTID to the set.
    pub fn add(&mut self, source: GtidSource, number: u64) {
        let all = self.0.entry(source).or_default();
        let at = all.partition_point(|(_, end)| *end < number);
        match all.get(at) {
            // The interval begins right after the number, ends right before it, or contains it.
            Some((first, end)) if *first <= number.saturating_add(1) => {
                all[at] = (number.min(*first), (*end).max(number.saturating_add(1)));
            }
            _ => all.insert(at, (number, number.saturating_add(1))),
        }
        if let Some((first, end)) = all.get(at + 1).copied().filter(|(first, _)| *first <= all[at].1) {
            all[at] = (all[at].0.min(first), end);
            all.remove(at + 1);
        }
    }

    /// Returns true if the set contains every GTID in `others`.
    pub fn has_all(&self, others: &Gtids) -> bool {
        let is_within = |source: &GtidSource, (first, end): &(u64, u64)| {
            self.0.get(source).is_some_and(|all| all.iter().any(|own| own.0 <= *first && *end <= own.1))
        };
        others.0.iter().all(|(source, all)| all.iter().all(|one| is_within(source, one)))
    }

    /// Encodes the set for COM_BINLOG_DUMP_GTID, in which a replica names the transactions that it has.
    pub fn encode(&self) -> Vec<u8> {
        const TAGGED: u64 = 1 << 56 | 1;
        let (count, has_tags) = (self.0.len() as u64, self.0.keys().any(|source| !source.tag.is_empty()));
        let mut out = if has_tags { count << 8 | TAGGED } else { count }.to_le_bytes().to_vec();
        for (source, intervals) in &self.0 {
            out.extend(source.uuid);
            if has_tags {
                out.push((source.tag.len() as u8) << 1);
                out.extend(&source.tag);
            }
            out.extend((intervals.len() as u64).to_le_bytes());
            intervals.iter().for_each(|(first, end)| out.extend([first.to_le_bytes(), end.to_le_bytes()].concat()));
        }
        out
    }
}

fn uuid(text: &str) -> Option<[u8; UUID]> {
    let digits: Vec<u32> = text.chars().filter(|one| *one != '-').map(|one| one.to_digit(16)).collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits.chunks(2).map(|pair| (pair[0] << 4 | pair.get(1).unwrap_or(&0)) as u8).collect();
    bytes.try_into().ok().filter(|_| digits.len() == 2 * UUID)
}

/// Parses a number or two numbers with a hyphen. The end in the result is excluded.
fn interval(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    (0 < first && first <= last).then_some((first, last.checked_add(1)?))
}

fn tag(text: &str) -> Option<Vec<u8>> {
    let is_tag = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_';
    let may_begin = text.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    (may_begin && text.len() <= LONGEST_TAG && text.as_bytes().iter().all(is_tag)).then(|| text.into())
}

/// Decodes the body of a GTID event without a tag. None if it is too short.
pub fn plain(body: &[u8]) -> Option<Gtid<'_>> {
    let mut reader = Reader::new(body);
    reader.u8()?;
    let uuid = reader.take(UUID)?.try_into().ok()?;
    Some(Gtid { uuid, tag: &[], number: reader.uint(8)? })
}

/// Decodes the body of a tagged GTID event. None if it is not understood. Each field follows its number, and integers have
/// variable length.
pub fn tagged(body: &[u8]) -> Option<Gtid<'_>> {
    const VERSION: u64 = 1;
    let mut reader = Reader::new(body);
    let is_known = integer(&mut reader)? == VERSION;
    let (_size, _last_needed) = (integer(&mut reader)?, integer(&mut reader)?);
    field(&mut reader, 0)?;
    integer(&mut reader)?;
    field(&mut reader, 1)?;
    let mut uuid = [0; UUID];
    for byte in &mut uuid {
        *byte = u8::try_from(integer(&mut reader)?).ok()?;
    }
    field(&mut reader, 2)?;
    // The lowest bit is the sign.
    let number = integer(&mut reader)?;
    field(&mut reader, 3)?;
    let length = usize::try_from(integer(&mut reader)?).ok().filter(|length| *length <= LONGEST_TAG)?;
    let tag = reader.take(length)?;
    (is_known && number & 1 == 0).then_some(Gtid { uuid, tag, number: number >> 1 })
}

/// Reads the number that precedes a field. None if it is another one.
fn field(reader: &mut Reader, expected: u64) -> Option<()> {
    (integer(reader)? == expected).then_some(())
}

/// Decodes an integer of variable length. The number of trailing ones in the first byte is the number of bytes that follow.
fn integer(reader: &mut Reader) -> Option<u64> {
    let first = reader.u8()?;
    let more = first.trailing_ones();
    let rest = reader.uint(more as usize)?;
    Some(if more >= 7 { rest } else { u64::from(first) >> (more + 1) | rest << (7 - more) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fqc_tests::random::Random;

    const TEXT: &str =
        "19c0858b-e945-11f1-aeff-02fc00000001:1-20:tagged_one:1-2,\n3e11fa47-71ca-11e1-9e33-c80aa9429562:7:9-11";

    fn gtids(text: &str) -> Gtids {
        Gtids::parse(text.as_bytes()).expect(text)
    }

    /// Returns a source with the UUID that the tests use, and this tag.
    fn source(tag: &str) -> GtidSource {
        let uuid = uuid("19c0858b-e945-11f1-aeff-02fc00000001").expect("a number");
        GtidSource { uuid, tag: tag.into() }
    }

    #[test]
    fn a_set_has_what_its_text_says() {
        let set = gtids(TEXT);
        let has = |tag: &str, number| set.has(&source(tag), number);
        assert!(has("", 1) && has("", 20) && has("tagged_one", 2));
        assert!(!has("", 0) && !has("", 21) && !has("tagged_one", 3) && !has("other", 1));
        assert_eq!(gtids(""), Gtids::default());
        for text in [
            "x:1",
            "19c0858b:1",
            "19c0858b-e945-11f1-aeff-02fc00000001:0",
            "19c0858b-e945-11f1-aeff-02fc00000001:5-4:é",
        ] {
            assert_eq!(Gtids::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_set_to_which_numbers_are_added_is_the_one_that_has_them() {
        let mut random = Random::new(2);
        for _ in 0..1000 {
            let (mut set, mut plain) = (Gtids::default(), std::collections::BTreeSet::new());
            for _ in 0..40 {
                let number = 1 + random.below(30) as u64;
                set.add(source(""), number);
                plain.insert(number);
                let text: String = plain.iter().map(|number| format!(":{number}")).collect();
                assert!((0..40).all(|number| set.has(&source(""), number) == plain.contains(&number)), "{text}");
                let intervals = &set.0[&source("")];
                assert!(intervals.is_sorted_by(|one, next| one.1 < next.0), "{text}");
            }
        }
    }

    #[test]
    fn a_set_that_lacks_a_number_does_not_have_all() {
        let whole = gtids(TEXT);
        assert!(whole.has_all(&whole) && whole.has_all(&Gtids::default()));
        for part in [TEXT.replace("1-20", "1-19"), TEXT.replace(":tagged_one:1-2", ""), TEXT.replace("9-11", "10-11")] {
            assert!(whole.has_all(&gtids(&part)) && !gtids(&part).has_all(&whole), "{part}");
        }
    }

    /// The expected bytes are from a server's own log: the GTID set at the beginning of its second file.
    #[test]
    fn a_set_is_told_as_the_server_tells_it() {
        let set = gtids("19c0858b-e945-11f1-aeff-02fc00000001:1-20:tagged_one:1-2");
        let interval = |first: u64, end: u64| [1u64.to_le_bytes(), first.to_le_bytes(), end.to_le_bytes()].concat();
        let uuid = source("").uuid;
        let expected: [&[u8]; 7] =
            [&[1, 2, 0, 0, 0, 0, 0, 1], &uuid, &[0], &interval(1, 21), &uuid, b"\x14tagged_one", &interval(1, 3)];
        assert_eq!(set.encode(), expected.concat());
        let plain = gtids("19c0858b-e945-11f1-aeff-02fc00000001:1-20").encode();
        assert_eq!(plain, [&[1, 0, 0, 0, 0, 0, 0, 0][..], &uuid, &interval(1, 21)].concat());
    }

    #[test]
    fn any_bytes_have_an_answer() {
        let mut random = Random::new(1);
        for _ in 0..100_000 {
            let bytes: Vec<u8> = (0..random.below(80)).map(|_| random.below(256) as u8).collect();
            let _ = (plain(&bytes), tagged(&bytes), Gtids::parse(&bytes));
        }
        let mut text = TEXT.as_bytes().to_vec();
        for _ in 0..10_000 {
            let index = random.below(text.len());
            let before = std::mem::replace(&mut text[index], b"0123456789abcdef:-, _x"[random.below(22)]);
            let _ = Gtids::parse(&text).map(|set| set.encode());
            text[index] = before;
        }
    }
}
