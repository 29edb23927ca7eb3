//! A statement as reports show it: without most of the columns that an ORM lists, so that its tables and conditions can be seen.

/// Select lists with fewer items are left as they are.
const FEWEST: usize = 6;

/// Returns the text of a statement for reports, in which runs of plain column names in the first select list are replaced by their number:
/// ``SELECT `p`.`id`, [24 more], COUNT(*) FROM ...``. The first item stays. Short lists and other statements are returned unchanged.
pub fn abbreviated(shape: &[u8]) -> Vec<u8> {
    let Some((start, end)) = first_list(shape) else { return shape.to_vec() };
    let items = items(&shape[start..end]);
    if items.len() < FEWEST {
        return shape.to_vec();
    }
    let list = [items[0].to_vec()].into_iter().chain(shortened(&items[1..]));
    let list = list.collect::<Vec<_>>().join(&b", "[..]);
    [&shape[..start], &list, b" ", &shape[end..]].concat()
}

/// Returns the items of a select list with each run of two or more plain column names replaced by its length, such as `[24 more]`.
fn shortened<'a>(items: &'a [&'a [u8]]) -> impl Iterator<Item = Vec<u8>> + 'a {
    items.chunk_by(|one, other| is_plain(one) && is_plain(other)).map(|run| match run {
        [one] => one.to_vec(),
        run => format!("[{} more]", run.len()).into_bytes(),
    })
}

fn is_plain(item: &[u8]) -> bool {
    item.iter().all(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"_.` $\"".contains(byte))
}

/// Returns the range of bytes from the first item after SELECT to the FROM after the list. None if the text is no SELECT with a FROM.
fn first_list(shape: &[u8]) -> Option<(usize, usize)> {
    const SELECT: &[u8] = b"select ";
    let start = SELECT.len();
    shape.get(..start).filter(|word| word.eq_ignore_ascii_case(SELECT))?;
    let is_from = |at: usize| {
        let word = shape.get(at..at + 6);
        word.is_some_and(|word| {
            word[1..5].eq_ignore_ascii_case(b"from") && [word[0], word[5]].iter().all(u8::is_ascii_whitespace)
        })
    };
    outside(shape, start).find(|at| is_from(*at)).map(|at| (start, at + 1))
}

/// Splits a list at its commas outside of parentheses and quotes. The items have no blanks around them.
fn items(list: &[u8]) -> Vec<&[u8]> {
    let mut items = Vec::new();
    let mut start = 0;
    for at in outside(list, 0).filter(|at| list[*at] == b',') {
        items.push(list[start..at].trim_ascii());
        start = at + 1;
    }
    items.push(list[start..].trim_ascii());
    items
}

/// Returns the positions from `start` on that are outside of parentheses and quotes, and are not a parenthesis or quote themselves.
fn outside(shape: &[u8], start: usize) -> impl Iterator<Item = usize> {
    let (mut depth, mut quote) = (0usize, None);
    shape.iter().enumerate().skip(start).filter_map(move |(at, byte)| {
        match (quote, byte) {
            (Some(open), _) => quote = (*byte != open).then_some(open),
            (None, b'`' | b'"' | b'\'') => quote = Some(*byte),
            (None, b'(') => depth += 1,
            (None, b')') => depth = depth.saturating_sub(1),
            _ => return (depth == 0).then_some(at),
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(shape: &str) -> String {
        String::from_utf8(abbreviated(shape.as_bytes())).expect("text")
    }

    #[test]
    fn a_long_list_of_columns_is_shown_by_its_number() {
        let columns = |count: usize| (0..count).map(|n| format!("`page`.`c{n}`")).collect::<Vec<_>>().join(", ");
        assert_eq!(
            shown(&format!("SELECT {} FROM `page` WHERE `page`.`id` = ?", columns(25))),
            "SELECT `page`.`c0`, [24 more] FROM `page` WHERE `page`.`id` = ?"
        );
        assert_eq!(
            shown(&format!("select {}, COUNT(a, b) AS n, x from `page`", columns(9))),
            "select `page`.`c0`, [8 more], COUNT(a, b) AS n, x from `page`"
        );
        let others = "(SELECT a, b FROM t) AS q, COUNT(`from , x`), 'it, ?'";
        assert_eq!(
            shown(&format!("SELECT {}, {others} FROM t", columns(4))),
            format!("SELECT `page`.`c0`, [3 more], {others} FROM t")
        );
    }

    #[test]
    fn all_else_is_shown_as_it_is() {
        for shape in [
            "SELECT a, b, c, d, e FROM t",
            "SELECT ?",
            "INSERT INTO t VALUES (?)",
            "SELECT a,b,c,d,e,f,g",
            "SELECT `a FROM t",
            "",
        ] {
            assert_eq!(shown(shape), shape);
        }
    }
}
