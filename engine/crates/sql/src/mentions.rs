//! Checks whether a text contains a certain name or word. The caller knows which names matter, for example those of views.

use crate::lex::{Lexer, TokenKind, unquoted};
use crate::{Charset, LexMode};

/// True if the text may mention one of the caller's names. `is_in_set` is called for words and quoted identifiers, without their quotes and
/// with ASCII letters in lower case (others keep their case), until it returns true. Also true for a text that cannot be split into tokens
/// with certainty, and for one with a name beyond ASCII in another encoding than UTF-8.
pub fn mentions(text: &[u8], mode: LexMode, is_in_set: impl Fn(&[u8]) -> bool) -> bool {
    if mode.is_foreign || mode.charset == Charset::Unreadable {
        return true;
    }
    let mut lexer = Lexer::new(text, mode);
    loop {
        let token = lexer.next();
        match token.kind {
            TokenKind::End => return false,
            TokenKind::Broken | TokenKind::ExecutableComment => return true,
            _ if token.is_name() && mode.charset != Charset::Utf8 && !token.text.is_ascii() => return true,
            _ if token.is_name() && is_in_set(&unquoted(&token, false).to_ascii_lowercase()) => return true,
            _ => {}
        }
    }
}

/// True if this statement may do more than look at the rows of one table, for example join tables or execute a query, so that the server
/// may change FOUND_ROWS(). False only for INSERT, REPLACE, UPDATE, DELETE and SET that certainly do not, unless the table is a view of
/// several.
pub fn may_search(text: &[u8], mode: LexMode) -> bool {
    let mut lexer = Lexer::new(text, mode);
    let first = lexer.next();
    if first.is("delete") {
        while lexer.accept_any(&["low_priority", "quick", "ignore", "history"]) {}
        if !lexer.peek().is("from") {
            return true;
        }
    }
    let mut may_list_tables = first.is("update");
    if !may_list_tables && !first.is_any(&["insert", "replace", "delete", "set"]) {
        return true;
    }
    loop {
        let token = lexer.next();
        match token.kind {
            TokenKind::End => return false,
            TokenKind::Broken | TokenKind::ExecutableComment | TokenKind::Semicolon => return true,
            TokenKind::Comma | TokenKind::Open if may_list_tables => return true,
            _ if token.is_any(&["select", "join", "straight_join", "using", "with", "table"]) => return true,
            _ => may_list_tables &= !token.is("set"),
        }
    }
}

/// True if this statement, or another one whose text it prepares or executes, may create a temporary table: it says TEMPORARY anywhere, or
/// the other text is not a plain string literal.
pub fn may_create_temporary_table(text: &[u8], mode: LexMode) -> bool {
    let mut lexer = Lexer::new(text, mode);
    let is_prepared = match lexer.next() {
        first if first.is("prepare") => lexer.next().is_name() && lexer.accept("from"),
        first => first.is("execute") && lexer.accept("immediate"),
    };
    let literal = lexer.next();
    let is_told = literal.kind == TokenKind::Text
        && !literal.text.contains(&b'\\')
        && (lexer.is_at_end() || lexer.peek().is("using"));
    text.contains(&b'@') || contains_ignoring_case(text, b"temporary") || is_prepared && !is_told
}

/// True if this word occurs anywhere in the text, in any case, also within a longer word, a string or a comment. `word` must not be empty.
pub fn contains_ignoring_case(text: &[u8], word: &[u8]) -> bool {
    occurrences(text, word).next().is_some()
}

/// Returns every position at which this word occurs in the text, in any case, also within a longer word. `word` must not be empty.
pub(crate) fn occurrences(text: &[u8], word: &[u8]) -> impl Iterator<Item = usize> {
    // Search for the word's rarest letter, because each occurrence of the letter costs more than the rest of the search.
    let rare = word.iter().position(|letter| is_rare(*letter)).unwrap_or(0);
    let (lower, upper) = (word[rare].to_ascii_lowercase(), word[rare].to_ascii_uppercase());
    memchr::memchr2_iter(lower, upper, text)
        .filter_map(move |at| at.checked_sub(rare))
        .filter(move |at| text[*at..].get(..word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word)))
}

fn is_rare(letter: u8) -> bool {
    matches!(
        letter,
        b'q' | b'z' | b'j' | b'x' | b'k' | b'v' | b'y' | b'w' | b'g' | b'h' | b'p' | b'b' | b'u' | b'f' | b'm'
    )
}

#[cfg(test)]
mod tests {
    use super::contains_ignoring_case;

    #[test]
    fn a_word_is_found_wherever_its_letters_stand() {
        let words: [&[u8]; 4] = [b"query_cache", b"infile", b"temporary", b"found_rows"];
        for word in words {
            for before in ["", "i", "select q, f from t where ", "infi", "query_quer"] {
                let text = [before.as_bytes(), &word.to_ascii_uppercase(), b" = 1"].concat();
                assert!(contains_ignoring_case(&text, word), "{}", String::from_utf8_lossy(&text));
                let cut = &text[..before.len() + word.len() - 1];
                assert!(!contains_ignoring_case(cut, word), "{}", String::from_utf8_lossy(cut));
            }
        }
    }
}
