//! Detects aggregate functions in a read. Only the bytes of its text are examined, so no setting that affects the lexer matters.
//!
//! If a condition rules out all rows beforehand, MariaDB answers an aggregate query with a row, but leaves FOUND_ROWS() unchanged.

/// The names of all aggregate functions, in lower case and sorted for binary search.
const NAMES: [&[u8]; 18] = [
    b"avg",
    b"bit_and",
    b"bit_or",
    b"bit_xor",
    b"count",
    b"group_concat",
    b"json_arrayagg",
    b"json_objectagg",
    b"max",
    b"min",
    b"std",
    b"stddev",
    b"stddev_pop",
    b"stddev_samp",
    b"sum",
    b"var_pop",
    b"var_samp",
    b"variance",
];
const SHORTEST: usize = 3;
const LONGEST: usize = 14;

/// True if a word, which must be in lower case, is the name of an aggregate function such as `count`.
pub fn is_aggregate(word: &[u8]) -> bool {
    NAMES.binary_search(&word).is_ok()
}

/// The aggregate functions of a read, as far as its text shows them. `No` means that there certainly are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregates {
    No,
    /// The first value of the select list is an aggregate of a plain column or of `*`, alone. `counts` is true if the function is COUNT.
    First {
        counts: bool,
    },
    /// A parenthesis and the name of an aggregate occur somewhere in the text, perhaps only in a string or a comment.
    Perhaps,
}

impl Aggregates {
    /// Finds the aggregate functions in the text of a read.
    pub fn of(text: &[u8]) -> Aggregates {
        // This is asked at each hit of at most one row, and most of these reads call no function.
        if !text.contains(&b'(') {
            return Aggregates::No;
        }
        if let Some(name) = first_alone(text) {
            return Aggregates::First { counts: name.eq_ignore_ascii_case(b"count") };
        }
        let is_named = |word: &[u8]| {
            let mut lower = [0; LONGEST];
            let lower = &mut lower[..word.len()];
            lower.copy_from_slice(word);
            lower.make_ascii_lowercase();
            is_aggregate(lower)
        };
        let mut words = text.split(|byte| !is_of_word(*byte)).filter(|word| may_be_name(word));
        if words.any(is_named) { Aggregates::Perhaps } else { Aggregates::No }
    }

    /// True if the first value of an aggregate query's only row proves that the server has read and aggregated rows. `value` is the bytes
    /// of that value, in the binary protocol perhaps only the first eight, or None for NULL. False means that it is not known.
    pub fn show_rows(self, value: Option<&[u8]>) -> bool {
        // Zero bytes come from a wide character set or from a binary number.
        let mut bytes = value.unwrap_or_default().iter().filter(|byte| **byte != 0);
        let is_zero = matches!((bytes.next(), bytes.next()), (None | Some(b'0'), None));
        match self {
            Aggregates::First { counts } => value.is_some() && !(counts && is_zero),
            _ => false,
        }
    }
}

/// False for most words that are no aggregate's name, by their length and their first letter alone.
fn may_be_name(word: &[u8]) -> bool {
    (SHORTEST..=LONGEST).contains(&word.len()) && b"abcgjmsv".contains(&(word[0] | 0x20))
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the name of the aggregate function that is the first item of the select list, as written. None if the item is anything else, or
/// if more than a plain column is in its parentheses.
fn first_alone(text: &[u8]) -> Option<&[u8]> {
    const SELECT: &[u8] = b"select";
    let text = text.trim_ascii_start();
    let (word, text) = text.split_at_checked(SELECT.len())?;
    let list = text.trim_ascii_start();
    let is_select = word.eq_ignore_ascii_case(SELECT) && list.len() < text.len();
    let (name, arguments) = list.split_at(list.iter().position(|byte| *byte == b'(').filter(|_| is_select)?);
    let is_known = [&b"avg"[..], b"count", b"max", b"min", b"sum"].iter().any(|one| name.eq_ignore_ascii_case(one));
    let end = arguments.iter().position(|byte| *byte == b')').filter(|_| is_known)?;
    let is_plain = |byte: &u8| is_of_word(*byte) || b" .*`".contains(byte);
    let after = arguments[1..end].iter().all(is_plain).then(|| arguments[end + 1..].trim_ascii_start())?;
    let next = after.split(|byte| !is_of_word(*byte)).next()?;
    let is_over = after.starts_with(b",") || [&b"from"[..], b"as"].iter().any(|one| next.eq_ignore_ascii_case(one));
    is_over.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_in_order_and_none_is_longer_than_the_longest() {
        assert!(NAMES.is_sorted());
        assert_eq!(NAMES.iter().map(|name| name.len()).max(), Some(LONGEST));
    }

    #[test]
    fn each_name_is_found_in_either_case() {
        for name in NAMES {
            assert!(may_be_name(name) && may_be_name(&name.to_ascii_uppercase()));
            let text = [b"SELECT 1 + ", name, b" (a)"].concat();
            assert_eq!(Aggregates::of(&text), Aggregates::Perhaps);
            assert_eq!(Aggregates::of(&text.to_ascii_uppercase()), Aggregates::Perhaps);
        }
    }

    #[test]
    fn a_name_is_found_wherever_it_stands() {
        for text in
            ["SELECT COUNT(*) FROM t", "select 1+Min (a)", "SELECT 'a\\', sum(b)", "/*!50000 SELECT BIT_XOR(a) */"]
        {
            assert_ne!(Aggregates::of(text.as_bytes()), Aggregates::No, "{text}");
        }
        for text in
            ["", "SELECT account FROM admins", "SELECT count FROM t", "SELECT minimum, `x_sum` FROM summary WHERE (a)"]
        {
            assert_eq!(Aggregates::of(text.as_bytes()), Aggregates::No, "{text}");
        }
    }

    #[test]
    fn an_aggregate_alone_tells_by_its_value_that_there_were_rows() {
        let told: [(&str, &[u8]); 6] = [
            ("SELECT COUNT(*) FROM t", b"3"),
            ("select\tcount(distinct a), 0 FROM t", b"10"),
            (" SELECT SUM(`a`.b) AS n FROM a", b"0"),
            ("SELECT min(a) FROM t", b""),
            ("SELECT COUNT(a) FROM t", &[0, 1, 0, 0, 0, 0, 0, 0]),
            ("SELECT COUNT(a) FROM t", &[0, b'1', 0, b'0']),
        ];
        for (text, value) in told {
            assert!(Aggregates::of(text.as_bytes()).show_rows(Some(value)), "{text}");
            assert!(!Aggregates::of(text.as_bytes()).show_rows(None), "{text}");
        }
        let untold: [(&str, &[u8]); 11] = [
            ("SELECT COUNT(*) FROM t", b"0"),
            ("SELECT COUNT(*) FROM t", &[0; 8]),
            ("SELECT COUNT(*) FROM t", &[0, b'0']),
            ("SELECT COUNT(*) + 5 FROM t", b"5"),
            ("SELECT COUNT(*) OVER () FROM t", b"5"),
            ("SELECT COUNT(*) n FROM t", b"5"),
            ("SELECT COALESCE(SUM(a), 7) FROM t", b"7"),
            ("SELECT MAX(')') + 1, SUM(1) FROM t", b"7"),
            ("SELECT 7, SUM(a) FROM t", b"7"),
            ("SELECTSUM(a) FROM t", b"7"),
            ("", b"7"),
        ];
        for (text, value) in untold {
            assert!(!Aggregates::of(text.as_bytes()).show_rows(Some(value)), "{text}");
        }
    }
}
