//! Shared memory of programs: blocks of cached memory, at the same place on all ranks that allocate alike.
//!
//! The library reserves nearly all shared memory, once, and divides it among blocks without a word to others, as RCCE
//! does. Programs reach it by pointers; where that needs lines to be fetched before, all blocks are fetched at each
//! flush, which is when the program may expect to see what others have written back. A program that never flushes expects
//! memory that is not cached: for it, everything by which ranks synchronise flushes.

use alloc::vec::Vec;

use kernel::{
    collectives::{Comm, Error, Placement},
    hal::{Act, Caches, Core, LINE_BYTES, LocalView, Region, kind},
};

use crate::watched::Watched;

use super::blocks::Blocks;

/// Bytes that are made accessible at a time, at least.
const PIECE: usize = 64 << 10;

/// Blocks begin at multiples of this number of bytes.
const ALIGNMENT: usize = LINE_BYTES;

/// The memory behind one controller.
struct Pool<'r> {
    region: Region<kind::Cached>,
    blocks: Blocks,
    /// Views that follow each other from the start of the region on, as far as there have been blocks.
    views: Vec<LocalView<'r, u8>>,
    viewed: usize,
    start: *mut u8,
}

/// The shared memory of a rank.
#[derive(Default)]
pub(super) struct Shared<'r> {
    pools: Vec<Pool<'r>>,
}

impl<'r> Shared<'r> {
    /// Allocates a block, and returns where it is; null if there is no room. The first call is collective, unless memory is
    /// [reserved](Self::reserve) before.
    ///
    /// # Errors
    /// If shared memory is not to be had on this machine, in a line.
    pub(super) fn allocate<C: Core>(
        &mut self,
        comm: &Comm<'r, C>,
        caches: &mut Caches,
        bytes: usize,
    ) -> Result<*mut u8, &'static str> {
        if self.pools.is_empty() {
            self.reserve(comm)?;
        }
        let Some(len) = bytes.checked_next_multiple_of(ALIGNMENT).filter(|len| *len > 0) else {
            return Ok(core::ptr::null_mut());
        };
        for pool in &mut self.pools {
            let offset = pool.blocks.take(len);
            let fits = offset.checked_add(len).is_some_and(|end| end <= pool.region.len_bytes());
            if fits && pool.view_up_to(comm, caches, offset + len) {
                return Ok(pool.start.wrapping_add(offset));
            }
            pool.blocks.give_back(offset);
        }
        Ok(core::ptr::null_mut())
    }

    /// Tells a machine that checks the program where its shared memory is.
    pub(super) fn declare<C: Core>(&self, comm: &Comm<'r, C>, watched: &Watched) {
        for pool in self.pools.iter().filter(|pool| pool.viewed > 0) {
            watched.add(pool.start.addr(), pool.viewed);
            let (start, shared) = (pool.start.addr(), pool.region.start());
            comm.hal().declare(&Act::Maps { start, shared, len: pool.viewed });
        }
    }

    /// Frees the block that starts there; false if there is none.
    pub(super) fn free(&mut self, block: *mut u8) -> bool {
        self.pools.iter_mut().any(|pool| {
            let offset = (block.addr()).wrapping_sub(pool.start.addr());
            offset < pool.viewed && pool.blocks.give_back(offset)
        })
    }

    /// Whether nothing is reserved: the next allocation is collective.
    pub(super) fn is_unreserved(&self) -> bool {
        self.pools.is_empty()
    }

    /// Whether there has been a block.
    pub(super) fn is_in_use(&self) -> bool {
        self.pools.iter().any(|pool| pool.viewed > 0)
    }

    /// Writes back what this rank has stored, and forgets what it has cached.
    pub(super) fn flush<C: Core>(&mut self, comm: &Comm<'r, C>, caches: &mut Caches) {
        comm.hal().write_back_invalidate_all(caches);
        self.pools.iter_mut().for_each(|pool| pool.fetch(comm, caches));
    }

    /// Takes nearly all shared memory. Collective.
    ///
    /// # Errors
    /// If there is none, in a line.
    pub(super) fn reserve<C: Core>(&mut self, comm: &Comm<'r, C>) -> Result<(), &'static str> {
        let layout = comm.hal().layout();
        if (1..layout.cores()).any(|core| layout.domain_cores(layout.domain(comm.core_of(core))).len() > 1) {
            return Err("cores of this machine share their caches, and RCCE's shared memory is for cores that do not");
        }
        for controller in 0..layout.controllers() {
            // No controller has so much; the refusal says how much it could have.
            let mut len = match comm.share::<kind::Cached>(usize::MAX, Placement::Striped(controller)) {
                Err(Error::PartTooLarge { limit_bytes, .. }) => limit_bytes / LINE_BYTES * LINE_BYTES,
                _ => return Err("shared memory is not to be had"),
            };
            while len >= PIECE {
                match comm.share(len, Placement::Striped(controller)) {
                    Ok(region) => {
                        self.pools.push(Pool {
                            region,
                            blocks: Blocks::default(),
                            views: Vec::new(),
                            viewed: 0,
                            start: core::ptr::null_mut(),
                        });
                        break;
                    }
                    // Somebody else has some of it.
                    Err(_) => len = len / 2 / LINE_BYTES * LINE_BYTES,
                }
            }
        }
        if self.pools.is_empty() { Err("no shared memory is left") } else { Ok(()) }
    }
}

impl<'r> Pool<'r> {
    /// Makes the bytes up to `end` accessible, and says whether it could.
    fn view_up_to<C: Core>(&mut self, comm: &Comm<'r, C>, caches: &mut Caches, end: usize) -> bool {
        if end <= self.viewed {
            return true;
        }
        // Each view is as long as all before, since there cannot be many.
        let next = end.max(self.viewed * 2).next_multiple_of(PIECE).min(self.region.len_bytes());
        let region = self.region.lines_around(self.viewed, next);
        match comm.hal().claim::<u8>(region, region.len_bytes()) {
            Ok(view) => self.views.push(view),
            Err(_) => return false,
        }
        self.viewed = next;
        self.fetch(comm, caches);
        true
    }

    /// Fetches what is viewed, where that has to be done before it is accessed.
    fn fetch<C: Core>(&mut self, comm: &Comm<'r, C>, caches: &Caches) {
        // Which bytes the program loads and stores, it says itself.
        comm.hal().declare(&Act::HandsOn(true));
        for (index, view) in self.views.iter_mut().enumerate() {
            // SAFETY: the slice is not used. The program reaches its bytes by pointers, and has promised of cached memory
            // what hardware makes of that: a rank sees what others have written back before its flush, and nobody stores
            // between two flushes to lines that another rank stores to.
            let slice = unsafe { view.as_mut_slice(caches) };
            if index == 0 {
                self.start = slice.as_mut_ptr();
            }
        }
        comm.hal().declare(&Act::HandsOn(false));
    }
}
