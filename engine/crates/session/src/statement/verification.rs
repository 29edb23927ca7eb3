//! A hit that is sent to the server after all, to compare the stored result with the server's.
//!
//! The client gets the server's answer. The two results are compared only if nothing they depend on has changed in
//! between. Status flags, which every hit gets from its session, and the order of rows are ignored.

use crate::entries::layout::Layout;
use cache::{CellId, Entry, Stamp, Versions};

/// A copy of a stored result, to be compared with the server's answer to the same read.
#[derive(Debug)]
pub struct Verification {
    value: Vec<u8>,
    layout: u32,
    stamp: Stamp,
}

impl Verification {
    /// Copies a stored result that could have been served now.
    pub fn of(entry: &Entry) -> Verification {
        Verification { value: entry.value().to_vec(), layout: entry.flags(), stamp: entry.stamp() }
    }

    /// True if nothing that the stored result depends on has changed since it was stored. `cells` are what the server's
    /// answer depends on.
    pub fn is_comparable(&self, versions: &Versions, cells: &[CellId]) -> bool {
        versions.is_fresh(cells, self.stamp)
    }

    /// True if the stored result is the server's answer `answered`, whose flags are `layout`. Status flags and the order of
    /// rows do not count.
    pub fn agrees(&self, answered: &[u8], layout: Layout) -> bool {
        is_same(&self.value, Layout(self.layout), answered, layout)
    }
}

fn is_same(stored: &[u8], stored_layout: Layout, answered: &[u8], answered_layout: Layout) -> bool {
    let (stored, answered) = (without_status(stored, stored_layout), without_status(answered, answered_layout));
    stored == answered || rows(&stored) == rows(&answered)
}

/// A copy of the response with its status flags set to zero.
fn without_status(response: &[u8], layout: Layout) -> Vec<u8> {
    let mut response = response.to_vec();
    for offset in layout.offsets(response.len()).into_iter().filter(|offset| *offset > 0) {
        response[offset..offset + 2].fill(0);
    }
    response
}

/// The payloads of all packets of a response, sorted, so that the order of rows does not count.
fn rows(response: &[u8]) -> Vec<&[u8]> {
    let mut rows: Vec<_> = wire::packets(response).map(|packet| packet.payload).collect();
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(rows: &[&str], status: u16) -> Vec<u8> {
        let rows: Vec<Vec<Option<String>>> = rows.iter().map(|row| vec![Some((*row).to_owned())]).collect();
        wire::surface::text_result(&["a"], &rows, wire::capability::DEPRECATE_EOF, status)
    }

    fn layout(response: &[u8]) -> Layout {
        Layout::describe(&[response.len() as u32 - 4], response.len(), false, true)
            .expect("ends with status and warnings")
    }

    fn are_same(one: &[u8], other: &[u8]) -> bool {
        is_same(one, layout(one), other, layout(other))
    }

    #[test]
    fn the_session_and_the_order_of_rows_make_no_difference() {
        assert!(are_same(&response(&["1", "2"], 0), &response(&["1", "2"], 3)));
        assert!(are_same(&response(&["1", "2"], 2), &response(&["2", "1"], 2)));
    }

    #[test]
    fn any_other_difference_counts() {
        for other in [&["1", "3"][..], &["1"], &["1", "2", "2"], &["1", "22"]] {
            assert!(!are_same(&response(&["1", "2"], 2), &response(other, 2)), "{other:?}");
        }
    }
}
