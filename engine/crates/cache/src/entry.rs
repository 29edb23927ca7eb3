use crate::{CellId, Meta, Stamp};

pub(crate) struct Block {
    pub meta: Meta,
    pub cells: Box<[CellId]>,
    pub value: Box<[u8]>,
}

/// A stored result, readable as long as the pin it was found under.
#[derive(Clone, Copy)]
pub struct Entry<'g> {
    pub(crate) block: &'g Block,
}

impl<'g> Entry<'g> {
    pub fn value(&self) -> &'g [u8] {
        &self.block.value
    }
    pub fn cells(&self) -> &'g [CellId] {
        &self.block.cells
    }
    pub fn stamp(&self) -> Stamp {
        self.block.meta.stamp
    }
    pub fn rows(&self) -> u64 {
        self.block.meta.rows
    }
    pub fn cost_ns(&self) -> u64 {
        self.block.meta.cost_ns
    }
    pub fn flags(&self) -> u32 {
        self.block.meta.flags
    }
}
