//! The cells of a server as its near cache knows them. Each read looks them up, so they are a paged array rather than a tree.

/// The number of neighbouring cells that share one allocation. It is small because the model copies and compares the cells at
/// each step.
const PAGE: usize = 32;
/// The limit of cell numbers. No server has a cell with this number or a greater one. The limit keeps a faulty server from making
/// the near cache allocate much memory.
const MOST: u32 = 1 << 24;

/// The state of all of a server's cells, that is, of the things that results depend on and that can change. A cell that no message
/// has named is open, with version 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CellStates(Vec<Option<Box<[CellState; PAGE]>>>);

/// The state of one cell: its version, shifted left by one. The lowest bit is set while the cell is closed, that is, while a write
/// is in progress on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CellState(u64);

impl CellState {
    fn open(version: u64) -> CellState {
        CellState(version.min(u64::MAX >> 1) << 1)
    }

    /// The server's sequence number of the last change that the near cache knows of. It may be older than a write in progress.
    pub fn version(self) -> u64 {
        self.0 >> 1
    }

    /// True while a write is in progress: results that depend on the cell must not be served.
    pub fn is_closed(self) -> bool {
        self.0 & 1 != 0
    }
}

impl CellStates {
    #[inline]
    pub fn get(&self, number: u32) -> CellState {
        let page = self.0.get(number as usize / PAGE).and_then(Option::as_ref);
        page.map_or(CellState::default(), |page| page[number as usize % PAGE])
    }

    /// Marks a cell as being written, and keeps its version. Returns none, and changes nothing, if `number` is not below the limit of
    /// cell numbers.
    pub fn close(&mut self, number: u32) -> Option<()> {
        self.at(number)?.0 |= 1;
        Some(())
    }

    /// Marks a cell as not being written, with this version or its present one if that is greater. Returns none, and changes nothing,
    /// if `number` is not below the limit of cell numbers.
    pub fn open(&mut self, number: u32, version: u64) -> Option<()> {
        let cell = self.at(number)?;
        *cell = CellState::open(version.max(cell.version()));
        Some(())
    }

    fn at(&mut self, number: u32) -> Option<&mut CellState> {
        let (page, place) = (number as usize / PAGE, number as usize % PAGE);
        (number < MOST).then_some(())?;
        if self.0.len() <= page {
            self.0.resize(page + 1, None);
        }
        Some(&mut self.0[page].get_or_insert_default()[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cell_is_a_cell_of_its_own() {
        let mut cells = CellStates::default();
        let numbers = [0, 1, 31, 32, 33, 1000, MOST - 1];
        for (version, number) in (7..).zip(numbers) {
            assert_eq!(cells.get(number), CellState::default());
            assert!(cells.close(number).is_some());
            assert!(cells.get(number).is_closed());
            assert!(cells.open(number, version).is_some() && cells.open(number, 1).is_some());
        }
        for (version, number) in (7..).zip(numbers) {
            assert_eq!((cells.get(number).version(), cells.get(number).is_closed()), (version, false));
        }
        assert_eq!(cells.get(2), CellState::default());
    }

    #[test]
    fn what_a_server_cannot_have_takes_no_memory() {
        let mut cells = CellStates::default();
        assert!(cells.close(MOST).is_none() && cells.open(u32::MAX, 1).is_none());
        assert_eq!((cells.get(u32::MAX), cells), (CellState::default(), CellStates::default()));
    }
}
