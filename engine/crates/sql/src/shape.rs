//! The shape of a text: the text without its literals and without the contents of its comments. Statements that differ in nothing else
//! share it.
//!
//! Invariant: texts of one shape, read under one mode, are of one kind (`classify`) if that is a read, a write, or begins or
//! ends a transaction, and mention the same names. So what is known of one holds for all.

use crate::lex::is_word_byte;
use crate::{Charset, LexMode, Numbers};
use std::borrow::Cow;

/// The parts of a mode that a shape depends on. It is small, because it is passed on for every piece of a text, at every hit.
#[derive(Clone, Copy)]
struct Spelling {
    ansi_quotes: bool,
    no_backslash_escapes: bool,
    is_utf8: bool,
}

/// The sign that replaces a number in a shape.
const NUMBER: &[u8] = b"?";

/// The sign that replaces a comment between `/*` and `*/` in a shape.
pub(crate) const COMMENT: &[u8] = b"/**/";

/// Appends the shape of a text to `shape`: a first byte for the mode, then the text with `?` in place of each number and `'?'` in place of
/// each string. Returns false, after which the contents of `shape` are of no use, for a text whose literals cannot be found in one plain
/// pass: one with comments to the end of a line, comments with a meaning, unusual numbers, variables, `?`, or several statements.
pub fn shape(text: &[u8], mode: LexMode, shape: &mut Vec<u8>) -> bool {
    make(text, mode, shape, |_, _| {})
}

/// Appends the shape of a text to `shape`, see [`shape()`], and replaces what is in `numbers` by the positions of the
/// first numbers that the shape replaces. Returns false if the text has no shape; then the contents of `shape` and
/// `numbers` are of no use.
pub fn shape_and_numbers(text: &[u8], mode: LexMode, shape: &mut Vec<u8>, numbers: &mut Numbers) -> bool {
    numbers.clear();
    make(text, mode, shape, |start, length| numbers.note(start, length))
}

/// Appends the shape, and calls `note` with the position and length of each number that it replaces. Returns false if the text has no shape
/// (see [`shape()`]); then neither the contents of `shape` nor the calls count.
#[inline]
fn make(text: &[u8], mode: LexMode, shape: &mut Vec<u8>, mut note: impl FnMut(usize, usize)) -> bool {
    if mode.is_foreign || mode.charset == Charset::Unreadable {
        return false;
    }
    shape.reserve(text.len() + 1);
    shape.push(
        u8::from(mode.ansi_quotes)
            | u8::from(mode.no_backslash_escapes) << 1
            | u8::from(mode.ignore_space) << 2
            | u8::from(mode.charset == Charset::Utf8) << 3,
    );
    let LexMode { ansi_quotes, no_backslash_escapes, .. } = mode;
    let spelling = Spelling { ansi_quotes, no_backslash_escapes, is_utf8: mode.charset == Charset::Utf8 };
    let (mut at, mut copied) = (0, 0);
    loop {
        at += text[at..].iter().position(|byte| STOPS[usize::from(*byte)]).unwrap_or(text.len() - at);
        if at == text.len() {
            shape.extend_from_slice(&text[copied..]);
            return !text.is_empty();
        }
        match piece(text, at, spelling) {
            None => return false,
            Some(Piece::Same(length)) => at += length,
            Some(Piece::Literal(length, sign)) => {
                shape.extend_from_slice(&text[copied..at]);
                shape.extend_from_slice(sign);
                if sign == NUMBER {
                    note(at, length);
                }
                at += length;
                copied = at;
            }
        }
    }
}

/// Bytes that may begin a literal, or something in which literals cannot be found. All other bytes are copied to the shape. They are
/// passed over in one loop, because nearly every text consists of them.
static STOPS: [bool; 256] = {
    let mut are = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        are[byte] = matches!(byte as u8, b'0'..=b'9' | 0x80.. | 0)
            || matches!(byte as u8, b'\'' | b'"' | b'`' | b'-' | b'/' | b'.' | b'#' | b';' | b'@' | b'?' | b'\\');
        byte += 1;
    }
    are
};

/// Returns the hash that identifies a shape for users. `shape` must be given without its first byte; comments do not count. The hash is the
/// same on every server and after every restart: FNV-1a, whose high and low bits are mixed in the end.
pub fn shape_id(shape: &[u8]) -> u128 {
    hash(&without_comments(shape))
}

/// Returns a shape without its comments and the blanks after each. If there was a comment, blanks at the end are removed, too.
pub fn without_comments(shape: &[u8]) -> Cow<'_, [u8]> {
    let mut parts = vec![];
    let mut rest = shape;
    while let Some(at) = rest.windows(COMMENT.len()).position(|four| four == COMMENT) {
        parts.push(&rest[..at]);
        rest = rest[at + COMMENT.len()..].trim_ascii_start();
    }
    if parts.is_empty() {
        return shape.into();
    }
    parts.push(rest);
    parts.concat().trim_ascii_end().to_vec().into()
}

fn hash(bytes: &[u8]) -> u128 {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = (1 << 88) + 0x13b;
    let hash = bytes.iter().fold(BASIS, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME));
    let hash = (hash ^ hash >> 67).wrapping_mul(PRIME);
    hash ^ hash >> 59
}

/// The next piece of a text: how many bytes it has, and what stands for them in the shape.
enum Piece {
    /// The number of bytes, which the shape contains unchanged.
    Same(usize),
    /// The number of bytes, and the sign that the shape contains instead of them.
    Literal(usize, &'static [u8]),
}

/// Reads the piece that begins at `at`, where one of the bytes of [`STOPS`] is. `None` if the text can have no shape.
#[inline]
fn piece(text: &[u8], at: usize, spelling: Spelling) -> Option<Piece> {
    let rest = &text[at..];
    let next = rest.get(1);
    // A digit after a word byte belongs to a word, because a number never ends directly before a word byte.
    let is_in_word = || at > 0 && is_word_byte(text[at - 1]);
    match rest[0] {
        b'0'..=b'9' if is_in_word() => Some(Piece::Same(1)),
        b'0'..=b'9' => number(rest),
        0x80.. => spelling.is_utf8.then_some(Piece::Same(1)),
        b'\'' if is_prefixed(&text[..at]) => None,
        b'\'' => text_literal(rest, spelling),
        b'"' if !spelling.ansi_quotes => text_literal(rest, spelling),
        quote @ (b'"' | b'`') => quoted_name(rest, quote).map(Piece::Same),
        b'-' if next == Some(&b'-') => None,
        b'/' if next == Some(&b'*') => comment(rest),
        b'.' if next.is_some_and(u8::is_ascii_digit) => None,
        // In a shape `?` stands for a literal. The other bytes begin comments, statements or variables.
        0 | b'#' | b';' | b'@' | b'?' | b'\\' => None,
        _ => Some(Piece::Same(1)),
    }
}

/// True if the text ends with a prefix that changes the meaning of a string literal directly after it.
fn is_prefixed(before: &[u8]) -> bool {
    match before {
        [.., byte, letter] => b"xXbBnN".contains(letter) && !is_word_byte(*byte),
        [letter] => b"xXbBnN".contains(letter),
        [] => false,
    }
}

/// Reads a comment between `/*` and `*/`. None if it is not closed, or has a meaning, because some server executes it or takes it as a
/// hint.
fn comment(rest: &[u8]) -> Option<Piece> {
    const MARKS: &[u8] = b"!M+";
    let body = &rest[2..];
    let length = body.windows(2).position(|two| two == b"*/")?;
    let has_meaning = MARKS.contains(&body[0]) || body[..length].contains(&0);
    (!has_meaning).then_some(Piece::Literal(length + 4, COMMENT))
}

/// Reads a number of digits, perhaps with a fraction. None if a letter, digit or dot follows, since it may then be something else.
fn number(rest: &[u8]) -> Option<Piece> {
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(rest);
    if rest.get(length) == Some(&b'.') {
        length += 1 + digits(&rest[length + 1..]);
    }
    if rest.get(length).is_some_and(|byte| is_word_byte(*byte) || *byte == b'.') {
        return None;
    }
    Some(Piece::Literal(length, NUMBER))
}

/// Reads a string literal. None if another one follows without a space, because the server may read both as one.
fn text_literal(rest: &[u8], spelling: Spelling) -> Option<Piece> {
    let length = quoted(rest, rest[0], !spelling.no_backslash_escapes)?;
    if matches!(rest.get(length), Some(b'\'' | b'"')) {
        return None;
    }
    Some(Piece::Literal(length, b"'?'"))
}

/// Returns the length of a quoted name, including its quotes. None if it is not closed, or contains a zero byte.
fn quoted_name(rest: &[u8], quote: u8) -> Option<usize> {
    let length = quoted(rest, quote, false)?;
    if rest[..length].contains(&0) { None } else { Some(length) }
}

/// Returns the length of the quoted text that these bytes begin with, including both quotes. A doubled quote stands for itself. None if it
/// is not closed.
fn quoted(rest: &[u8], quote: u8, has_escapes: bool) -> Option<usize> {
    let mut at = 1;
    loop {
        at += match *rest.get(at)? {
            b'\\' if has_escapes => 2,
            byte if byte != quote => 1,
            _ if rest.get(at + 1) == Some(&quote) => 2,
            _ => return Some(at + 1),
        };
    }
}
