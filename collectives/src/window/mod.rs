//! Windows: memory that other ranks put to and get from, synchronised by PSCW epochs after SCOSCo (Christgau and Schnor,
//! *Synchronization of MPI One-Sided Communication on a Non-Cache-Coherent Many-Core System*).
//!
//! A window has a part on every rank, in cached shared memory, and two small things per rank in uncached memory at its
//! nearest controller: a *match vector* with a bit for each target that has posted to this origin, and a *completion
//! counter* of origins that have not completed yet. The class is *trigger-only* (the paper's Table I): START only takes
//! note of its group, and a put or get waits for the post of the one target that it addresses.
//!
//! What keeps the data coherent, and where:
//!
//! * a target writes its part back and forgets it **before** it posts, and forgets it again **after** its wait, in
//!   case a neighbour's page or line brought some of it back. Between the two the types leave it no view to touch it with;
//! * an origin reaches remote parts by the combined mapping only: its puts are byte-masked, so origins that write to one line
//!   do not overwrite each other as whole-line write-backs would. The poll that sees a post invalidates **before** it
//!   looks, and COMPLETE drains **before** it counts the completion counters down.
//!
//! Where we differ from the paper: its Algorithm 2 clears the match-vector bit without the lock, which can erase
//! the post of another target in the same word; we clear it under the origin's register. Its unit is a byte, ours the
//! 32-bit word, which uncached memory moves at the same price.
//!
//! | call | remote accesses |
//! |---|---|
//! | START | none |
//! | POST | a locked update of a match vector for each origin |
//! | COMPLETE | a locked reset of the own match vector and a locked decrement for each target |
//! | WAIT | polls of the own completion counter |

mod access;
mod database;
mod exposure;

use alloc::boxed::Box;
use core::{cell::Cell, marker::PhantomData};

use hal::{Caches, Core, LocalView, Pod, Region, kind};

use crate::{Comm, Error, Placement};

pub use self::{access::AccessEpoch, exposure::ExposureEpoch};

use self::database::{Entry, SyncData};

/// A window of elements `T`: one part on each rank of a communicator.
///
/// Made and freed collectively. The local part is a [`LocalView`] that the rank holds outside of exposure epochs.
/// Dropping a window without [`free`](Self::free) leaks its shared memory.
pub struct Window<'c, C: Core, T: Pod> {
    comm: &'c Comm<'c, C>,
    number: u32,
    parts: Box<[Entry]>,
    /// The cached copy of the own match vector (IV.B.2), one word for 32 targets: the posts that the open epoch knows of.
    seen_posts: Box<[Cell<u32>]>,
    access_open: Cell<bool>,
    exposure_open: Cell<bool>,
    access_epochs: Cell<u32>,
    element: PhantomData<T>,
}

impl<'c, C: Core, T: Pod> Window<'c, C, T> {
    /// Makes a window with `len` elements on this rank, all zero bytes. Collective; the lengths may differ.
    ///
    /// # Errors
    /// If any rank cannot have its memory, every rank gets an error: that rank the reason, the others
    /// [`Error::OutOfSharedMemory`] with the length that failed.
    pub fn create(comm: &'c Comm<'c, C>, caches: &mut Caches, len: usize) -> Result<(Self, LocalView<'c, T>), Error> {
        let (hal, number) = (comm.hal(), comm.next_window());
        let len_bytes = len.saturating_mul(size_of::<T>());
        let own = Self::allocate(comm, len_bytes);
        let entry = own.map(|(memory, sync)| Entry { memory: memory.start(), len: len as u32, sync: sync.start() });
        let parts = match database::exchange(comm, entry, len_bytes) {
            Ok(parts) => parts,
            Err(error) => {
                if let Ok((memory, sync)) = own {
                    database::free(comm, sync)?;
                    comm.allocator().free(memory)?;
                }
                return Err(error);
            }
        };

        let words = comm.size().div_ceil(32);
        let seen_posts = core::iter::repeat_with(|| Cell::new(0)).take(words).collect();
        let window = Self {
            comm,
            number,
            parts,
            seen_posts,
            access_open: Cell::new(false),
            exposure_open: Cell::new(false),
            access_epochs: Cell::new(0),
            element: PhantomData,
        };
        let region = window.part_region(comm.rank());
        // The memory may have been somebody's cached memory before.
        hal.write_back_invalidate(caches, region);
        let view = hal.claim(region, len)?;
        comm.barrier();
        Ok((window, view))
    }

    /// Allocates this rank's part and its synchronisation data.
    fn allocate(comm: &Comm<'_, C>, len_bytes: usize) -> Result<(Region<kind::Cached>, SyncData), Error> {
        let memory = comm.allocator().allocate_zeroed(len_bytes, Placement::Near(comm.hal().core()))?;
        match database::allocate(comm) {
            Ok(sync) => Ok((memory, sync)),
            Err(error) => {
                comm.allocator().free(memory)?;
                Err(error)
            }
        }
    }

    /// Frees the window. Collective, outside of all epochs; takes the local view back.
    ///
    /// # Errors
    /// [`Error::ForeignView`] if the view is not of this window.
    pub fn free(self, view: LocalView<'_, T>, caches: &mut Caches) -> Result<(), Error> {
        let region = self.own_view_region(&view)?;
        drop(view);
        self.comm.hal().write_back_invalidate(caches, region);
        self.comm.barrier();
        // One rank frees the parts of all, in order: what that costs, and what the heaps look like afterwards, does not
        // depend on who comes first.
        if self.comm.rank() == 0 {
            for rank in 0..self.comm.size() {
                database::free(self.comm, self.sync_of(rank))?;
                self.comm.allocator().free(self.part_region(rank))?;
            }
        }
        Ok(())
    }

    /// Number of the window, counted per communicator from 0; reports name it.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Elements in `rank`'s part.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`].
    pub fn len_of(&self, rank: usize) -> Result<usize, Error> {
        self.comm.check_rank(rank)?;
        Ok(self.parts[rank].len as usize)
    }

    fn part_region(&self, rank: usize) -> Region<kind::Cached> {
        let part = &self.parts[rank];
        Region::new(part.memory, (part.len as usize * size_of::<T>()).next_multiple_of(hal::LINE_BYTES))
    }

    fn sync_of(&self, rank: usize) -> SyncData {
        SyncData::at(self.parts[rank].sync, self.comm.size())
    }

    fn own_view_region(&self, view: &LocalView<'_, T>) -> Result<Region<kind::Cached>, Error> {
        let own = self.part_region(self.comm.rank());
        if view.region() == own { Ok(own) } else { Err(Error::ForeignView { window: self.number }) }
    }
}
