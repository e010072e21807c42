//! The code that a core has fetched: copies of pages, from which the CPU library translates.
//!
//! A copy is made when a page is first fetched from, and what is special in it is replaced ([`super::instructions`]).
//! Nothing of ours changes code that has run, so that a store to such bytes is refused; other bytes of the page follow
//! the stores of the core itself.

use std::{collections::HashMap, rc::Rc};

use descriptions::boards::map::PAGE_BYTES;
use iced_x86::Instruction;
use p54c::timing::Cost;

use super::instructions::{CL1INVMB, Inspected, Special};
use crate::chip::LINE_BYTES;

/// Pages that a core can fetch from.
const MOST_PAGES: usize = 2048;
const PAGE: usize = PAGE_BYTES as usize;
const LINEAR_PAGES: usize = 1 << 20;
const WORDS: usize = PAGE / 64;

/// What was seen of a page.
struct Page {
    /// Where it is in the core's memory.
    physical: u32,
    /// Number of the inspected block that begins at each offset, plus 1.
    blocks: Box<[u32; PAGE]>,
    /// Bytes of inspected instructions.
    instructions: [u64; WORDS],
    /// Their first bytes.
    starts: [u64; WORDS],
}

/// A block that was inspected.
pub(super) struct Block {
    /// Its length in bytes.
    pub(super) len: u32,
    /// Its instructions that read, modify and write memory in one step, if it has any.
    pub(super) locked: Option<Rc<[Instruction]>>,
    /// Whether it has neither such instructions nor those of the x87, of which more is kept than general registers.
    pub(super) is_plain: bool,
    /// What it takes, where the core keeps time.
    pub(super) cost: Cost,
    /// Its instructions.
    pub(super) instructions: u64,
    /// The lines of memory that it is fetched from, likewise.
    pub(super) lines: Box<[u32]>,
}

/// Copies of the pages that a core has fetched from.
pub(super) struct Code {
    /// The copies. The CPU library reads them by a pointer: they never move.
    memory: Box<[u8]>,
    pages: Vec<Page>,
    blocks: Vec<Block>,
    /// Number of a physical page's copy.
    copies: HashMap<u32, usize>,
    /// For each page of linear memory the number of the copy that is fetched there, plus 1.
    linear: Box<[u16]>,
    /// For each physical page whether there is a copy of it.
    copied: Box<[u64]>,
    /// What the replaced instructions are, and their length, by their offset in the copies.
    specials: HashMap<usize, (Special, usize)>,
    /// Bytes that were replaced, by their offset in the copies.
    replaced: HashMap<usize, u8>,
}

/// A store to an instruction that has run, or more code than there is room for.
pub(super) struct Refused(pub(super) &'static str);

impl Code {
    pub(super) fn new() -> Self {
        Self {
            memory: vec![0; MOST_PAGES * PAGE].into(),
            pages: Vec::new(),
            blocks: Vec::new(),
            copies: HashMap::new(),
            linear: vec![0; LINEAR_PAGES].into(),
            copied: vec![0; LINEAR_PAGES / 64].into(),
            specials: HashMap::new(),
            replaced: HashMap::new(),
        }
    }

    /// Where the copies are, and how many bytes.
    pub(super) fn memory(&mut self) -> (*mut u8, usize) {
        (self.memory.as_mut_ptr(), self.memory.len())
    }

    /// Offset of the copy of a physical page, if there is one. From now on it is what is fetched at a linear page.
    pub(super) fn find(&mut self, linear: u32, physical: u32) -> Option<usize> {
        let copy = *self.copies.get(&(physical / PAGE_BYTES))?;
        self.linear[(linear / PAGE_BYTES) as usize] = copy as u16 + 1;
        Some(copy * PAGE)
    }

    /// Takes a copy of a physical page.
    pub(super) fn add(&mut self, physical: u32, bytes: &[u8; PAGE]) -> Result<(), Refused> {
        let number = self.pages.len();
        if number == MOST_PAGES {
            return Err(Refused("there is more code than the emulator has room for"));
        }
        self.memory[number * PAGE..][..PAGE].copy_from_slice(bytes);
        let page = physical / PAGE_BYTES;
        self.pages.push(Page {
            physical: page * PAGE_BYTES,
            blocks: Box::new([0; PAGE]),
            instructions: [0; WORDS],
            starts: [0; WORDS],
        });
        self.copies.insert(page, number);
        self.copied[page as usize / 64] |= 1 << (page % 64);
        Ok(())
    }

    /// Offset of a linear address in the copies.
    fn place(&self, linear: u32) -> Option<usize> {
        let copy = self.linear[(linear / PAGE_BYTES) as usize].checked_sub(1)?;
        Some(usize::from(copy) * PAGE + linear as usize % PAGE)
    }

    /// The block at a linear address, if it was inspected.
    #[inline]
    pub(super) fn block(&self, linear: u32) -> Option<&Block> {
        let place = self.place(linear)?;
        let number = self.pages[place / PAGE].blocks[place % PAGE].checked_sub(1)?;
        Some(&self.blocks[number as usize])
    }

    /// Notes a block that was inspected, instead of the one that was noted there.
    pub(super) fn note_block(&mut self, linear: u32, block: Block) {
        let Some(place) = self.place(linear) else { return };
        let number = &mut self.pages[place / PAGE].blocks[place % PAGE];
        match number.checked_sub(1) {
            Some(number) => self.blocks[number as usize] = block,
            None => {
                self.blocks.push(block);
                *number = self.blocks.len() as u32;
            }
        }
    }

    /// The lines of memory from which `len` bytes are fetched, each by its first address.
    pub(super) fn lines(&self, linear: u32, len: u32) -> Box<[u32]> {
        let at = |linear: u32| {
            let place = self.place(linear)?;
            Some(self.pages[place / PAGE].physical + (place % PAGE / LINE_BYTES * LINE_BYTES) as u32)
        };
        let mut lines: Vec<_> = (0..len).filter_map(|offset| at(linear.wrapping_add(offset))).collect();
        lines.dedup();
        lines.into()
    }

    /// A byte of code, before anything was replaced; nothing if its page was not fetched from.
    pub(super) fn byte(&self, linear: u32) -> Option<u8> {
        let place = self.place(linear)?;
        Some(self.replaced.get(&place).copied().unwrap_or(self.memory[place]))
    }

    /// Where inspected instructions begin in `len` bytes from a linear address.
    pub(super) fn instructions(&self, linear: u32, len: u32) -> impl Iterator<Item = u32> {
        let begins = |at: &u32| {
            let place = self.place(*at);
            place.is_some_and(|place| self.pages[place / PAGE].starts[place % PAGE / 64] & 1 << (place % 64) != 0)
        };
        (0..len).map(move |offset| linear.wrapping_add(offset)).filter(begins)
    }

    /// Notes which instructions were inspected, and replaces those that are special. Returns whether any was.
    pub(super) fn note_inspected(&mut self, linear: u32, len: usize, inspected: &Inspected) -> bool {
        for start in &inspected.starts {
            if let Some(place) = self.place(linear.wrapping_add(*start as u32)) {
                self.pages[place / PAGE].starts[place % PAGE / 64] |= 1 << (place % 64);
            }
        }
        for offset in 0..len as u32 {
            if let Some(place) = self.place(linear.wrapping_add(offset)) {
                self.pages[place / PAGE].instructions[place % PAGE / 64] |= 1 << (place % 64);
            }
        }
        let mut replaced = false;
        for found in &inspected.specials {
            let at = linear.wrapping_add(found.offset as u32);
            let Some(first) = self.place(at) else { continue };
            self.specials.insert(first, (found.special, found.len));
            for (offset, byte) in CL1INVMB.into_iter().enumerate() {
                if let Some(place) = self.place(at.wrapping_add(offset as u32)) {
                    let before = std::mem::replace(&mut self.memory[place], byte);
                    if before != byte {
                        self.replaced.insert(place, before);
                        replaced = true;
                    }
                }
            }
        }
        replaced
    }

    /// The special instruction at a linear address, and its length.
    pub(super) fn special(&self, linear: u32) -> Option<(Special, usize)> {
        self.specials.get(&self.place(linear)?).copied()
    }

    /// A store of the core itself to its memory.
    #[inline]
    pub(super) fn note_store(&mut self, physical: u32, len: usize, value: u64) -> Result<(), Refused> {
        let page = (physical / PAGE_BYTES) as usize;
        if self.copied[page / 64] & 1 << (page % 64) == 0 { Ok(()) } else { self.change(physical, len, value) }
    }

    #[cold]
    fn change(&mut self, physical: u32, len: usize, value: u64) -> Result<(), Refused> {
        let copy = self.copies[&(physical / PAGE_BYTES)];
        let first = physical as usize % PAGE;
        for (offset, byte) in (first..PAGE).zip(&value.to_le_bytes()[..len]) {
            if self.pages[copy].instructions[offset / 64] & 1 << (offset % 64) != 0 {
                return Err(Refused("it changes an instruction that has run"));
            }
            self.memory[copy * PAGE + offset] = *byte;
        }
        Ok(())
    }
}
