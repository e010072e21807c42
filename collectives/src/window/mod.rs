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
mod table;

use alloc::boxed::Box;
use core::{cell::Cell, marker::PhantomData};

use hal::{Caches, Core, LocalView, Pod, Region, SharedAddress, kind};

use crate::{Comm, Error, Returned};

pub use self::{access::AccessEpoch, exposure::ExposureEpoch};

use self::{
    database::SyncData,
    table::{Entry, Table},
};

/// A window, and this rank's view of its part.
pub type Made<'c, C, T> = (Window<'c, C, T>, LocalView<'c, T>);

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
    /// If any rank fails, all do, and nothing stays allocated: that rank gets the reason ([`Error::OutOfSharedMemory`],
    /// [`Error::PartTooLarge`], [`Error::DatabaseFull`], [`Error::Claim`]), the others [`Error::WindowFailed`].
    pub fn create(comm: &'c Comm<'c, C>, caches: &mut Caches, len: usize) -> Result<Made<'c, C, T>, Error> {
        let number = comm.next_window();
        let table = Table::allocate(comm)?;
        let parts = table.exchange(comm, len, size_of::<T>());
        let words = comm.size().div_ceil(32);
        let window = Self {
            comm,
            number,
            parts: parts.entries,
            seen_posts: core::iter::repeat_with(|| Cell::new(0)).take(words).collect(),
            access_open: Cell::new(false),
            exposure_open: Cell::new(false),
            access_epochs: Cell::new(0),
            element: PhantomData,
        };
        let view = parts.own_failure.map_or_else(|| window.prepare(caches), Err);
        let agreed = table.agree(comm, view.is_ok());
        table.free(comm)?;
        let error = match (view, agreed) {
            (Ok(view), Ok(())) => return Ok((window, view)),
            (Ok(_), Err(rank)) => Error::WindowFailed { window: number, rank },
            (Err(own), _) => own,
        };
        window.release()?;
        Err(error)
    }

    /// Makes the own part zero and takes the view of it.
    fn prepare(&self, caches: &mut Caches) -> Result<LocalView<'c, T>, Error> {
        let region = self.part_region(self.comm.rank());
        let view = self.view(caches)?;
        self.comm.allocator().clear(region);
        Ok(view)
    }

    /// Frees the window. Collective, outside of all epochs; takes the local view back.
    ///
    /// # Errors
    /// [`Error::ForeignView`] if the view is not of this window, which comes back with it; the other ranks wait until this one
    /// frees it with the right one.
    pub fn free(self, view: LocalView<'c, T>, caches: &mut Caches) -> Result<(), Returned<Box<Made<'c, C, T>>>> {
        let region = match self.own_view_region(&view) {
            Ok(region) => region,
            Err(error) => return Err(Returned { error, taken: Box::new((self, view)) }),
        };
        self.comm.hal().write_back_invalidate(caches, region);
        match self.release() {
            Ok(()) => Ok(()),
            Err(error) => Err(Returned { error, taken: Box::new((self, view)) }),
        }
    }

    /// Gives the memory of all parts back. Collective; nobody has lines of it in a cache any more.
    ///
    /// One rank does it for all, in order, and the others wait: what it costs, and what the heaps look like afterwards, does not
    /// depend on who comes first.
    fn release(&self) -> Result<(), Error> {
        self.comm.barrier();
        let freed = if self.comm.rank() == 0 { self.free_parts() } else { Ok(()) };
        self.comm.barrier();
        freed
    }

    fn free_parts(&self) -> Result<(), Error> {
        for (rank, part) in self.parts.iter().enumerate() {
            if let Some(sync) = part.sync {
                database::free(self.comm, SyncData::at(sync, self.comm.size()))?;
            }
            if part.memory.is_some() {
                self.comm.allocator().free(self.part_region(rank))?;
            }
        }
        Ok(())
    }

    /// Takes this rank's view of its part, for those that have lost theirs with an epoch that they dropped.
    ///
    /// # Errors
    /// [`Error::Claim`] if the view is somewhere still; [`Error::ExposureEpochOpen`] while the part is exposed.
    pub fn view(&self, caches: &mut Caches) -> Result<LocalView<'c, T>, Error> {
        if self.exposure_open.get() {
            return Err(Error::ExposureEpochOpen { window: self.number });
        }
        let region = self.part_region(self.comm.rank());
        let view = self.comm.hal().claim(region, self.parts[self.comm.rank()].len as usize)?;
        // A page of it may have been cached with a neighbour, or the memory may have been somebody's cached memory before.
        self.comm.hal().write_back_invalidate(caches, region);
        Ok(view)
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
        // Only a window that fails to be made has parts without memory, and nobody gets to see it.
        part.memory.map_or(Region::new(SharedAddress::from_flat(0), 0), |start| {
            Region::new(start, (part.len as usize * size_of::<T>()).next_multiple_of(hal::LINE_BYTES))
        })
    }

    fn sync_of(&self, rank: usize) -> SyncData {
        let start = self.parts[rank].sync.unwrap_or(SharedAddress::from_flat(0));
        SyncData::at(start, self.comm.size())
    }

    fn own_view_region(&self, view: &LocalView<'_, T>) -> Result<Region<kind::Cached>, Error> {
        let own = self.part_region(self.comm.rank());
        if view.region() == own { Ok(own) } else { Err(Error::ForeignView { window: self.number }) }
    }
}
