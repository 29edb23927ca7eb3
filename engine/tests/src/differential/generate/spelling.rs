//! Respells names in upper and lower case, for servers that take `T0` and `t0` for the same.

use crate::random::Random;

/// Returns the statement with some of the generator's names of databases, tables, views and aliases (a letter and a digit) in capitals. The
/// rest stays as it is.
pub fn respelled(random: &mut Random, text: &str) -> String {
    let bytes = text.as_bytes();
    let is_in_word = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let is_name = |at: usize| {
        b"dtvs".contains(&bytes[at])
            && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
            && !is_in_word(at + 2)
            && !(at > 0 && is_in_word(at - 1))
    };
    let respell = |(at, letter): (usize, char)| match is_name(at) && random.percent(50) {
        true => letter.to_ascii_uppercase(),
        false => letter,
    };
    text.char_indices().map(respell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_alone_are_spelled_otherwise() {
        let text = "SELECT t0.id, 'ä' AS d FROM d0.t1 v2, st0 WHERE x = 1e5";
        let spellings: Vec<_> = (0..50).map(|seed| respelled(&mut Random::new(seed), text)).collect();
        assert!(spellings.iter().all(|one| one.to_lowercase() == text.to_lowercase()));
        assert!(spellings.iter().any(|one| one == "SELECT T0.id, 'ä' AS d FROM D0.T1 V2, st0 WHERE x = 1e5"));
    }
}
