//! Windows: memory that other ranks put to and get from.
//!
//! A window has a part on every rank, in cached shared memory, and a little synchronisation data. What is done to
//! parts is done in epochs:
//!
//! * **PSCW**: a target exposes its part to some ranks by [POST](Window::post) until [WAIT](ExposureEpoch::wait), an
//!   origin accesses some ranks' parts between [START](Window::start) and [COMPLETE](AccessEpoch::complete). How they
//!   find each other is the window's [`Class`]: SCOSCo's match vectors (Christgau and Schnor, *Synchronization of MPI
//!   One-Sided Communication on a Non-Cache-Coherent Many-Core System*) with the alternatives that the paper
//!   classifies, or our own marks, which are the default;
//! * **fences**, which all ranks pass together;
//! * **locks**, of which the target takes no notice.
//!
//! What keeps the data coherent, and where:
//!
//! * a rank writes its part back and forgets it **before** others are told that they may access it, and forgets it
//!   again **after** it was told that they are done, in case a neighbour's page or line brought some of it back.
//!   Between the two the types leave it no view to touch it with, and it can [post again](ExposureEpoch::post_again)
//!   without ever taking the view back;
//! * an origin reaches remote parts by the combined mapping only: its puts are byte-masked, so origins that write to
//!   one line do not overwrite each other as whole-line write-backs would. What tells it that it may is seen by a
//!   poll that invalidates **before** it looks, and it drains **before** it tells that it is done.

mod access;
mod assertions;
mod class;
mod database;
mod declared;
mod element_type;
#[cfg(test)]
mod exploration;
mod exposing;
mod exposure;
mod fence;
mod kept;
mod lock;
mod marks;
mod match_vector;
mod notify;
mod operation;
mod operations;
mod packets;
mod passive;
mod peers;
mod reasons;
mod synchronisation;
mod table;

use alloc::boxed::Box;
use core::{cell::Cell, marker::PhantomData};

use hal::{Act, Caches, Core, Epoch, Exposable, Exposure, LocalView, Pod, Ranks, Region, Span, kind};

use crate::{
    Comm, CopyEngines, Error, Returned,
    collective::call::{Call, Collective},
};

pub use self::{
    access::AccessEpoch,
    assertions::Assertions,
    class::Class,
    element_type::ElementType,
    exposing::Exposed,
    exposure::ExposureEpoch,
    fence::FenceEpoch,
    lock::Lock,
    notify::COUNTERS as NOTIFICATION_COUNTERS,
    operation::Blocks,
    operations::Operations,
    passive::{Lent, LockAllEpoch, LockEpoch},
};

pub(crate) use self::marks::lines as mark_lines;

use self::{
    peers::{Peers, Seen},
    synchronisation::Synchronisation,
    table::Table,
};

/// A window, and this rank's view of its part.
pub type Made<'c, C, T> = (Window<'c, C, T>, LocalView<'c, T>);

/// What a window is to be like.
struct Plan<'c, C> {
    class: Class,
    engines: Option<&'c CopyEngines<'c, C>>,
    /// The private memory that this rank's part is to be in, if it is.
    memory: Option<Region<kind::Cached>>,
}

/// A window of elements `T`: one part on each rank of a communicator. Offsets and lengths are counted in elements, so
/// that all ranks have to name the same type.
///
/// Made and freed collectively. The local part is a [`LocalView`] that the rank holds outside of exposure epochs.
/// Dropping a window without [`free`](Self::free) leaks its shared memory.
pub struct Window<'c, C: Core, T: Pod> {
    peers: Peers<'c, C>,
    class: Class,
    synchronisation: Synchronisation,
    /// Who copies for this rank, if anybody does.
    engines: Option<&'c CopyEngines<'c, C>>,
    /// Targets whose posts the open access epoch knows of; with match vectors, the cached copy of the own one (SCOSCo
    /// IV.B.2).
    posts_seen: Seen,
    /// Origins that have completed in the open exposure epoch.
    completions_seen: Seen,
    access_open: Cell<bool>,
    exposure_open: Cell<bool>,
    /// Whether the own part is lent.
    lent: Cell<bool>,
    /// Parts that this rank has locked one by one.
    locked: Seen,
    all_locked: Cell<bool>,
    access_epochs: Cell<u32>,
    element: PhantomData<T>,
}

impl<'c, C: Core, T: Pod> Window<'c, C, T> {
    /// Makes a window with `len` elements on this rank, all zero bytes, of the default class. Collective; the lengths
    /// may differ.
    ///
    /// # Errors
    /// If any rank fails, all do, and nothing stays allocated: that rank gets the reason ([`Error::OutOfSharedMemory`],
    /// [`Error::PartTooLarge`], [`Error::DatabaseFull`], [`Error::Claim`]), the others [`Error::WindowFailed`].
    /// [`Error::ClassesDiffer`] and [`Error::ElementsDiffer`] are for all.
    pub fn create(comm: &'c Comm<'c, C>, caches: &mut Caches, len: usize) -> Result<Made<'c, C, T>, Error> {
        Self::with_class(comm, caches, len, Class::default())
    }

    /// Makes a window of a class, which has to be the same on all ranks.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn with_class(
        comm: &'c Comm<'c, C>,
        caches: &mut Caches,
        len: usize,
        class: Class,
    ) -> Result<Made<'c, C, T>, Error> {
        Self::make(comm, caches, len, Plan { class, engines: None, memory: None })
    }

    /// Makes a window of a class, whose [shared puts](Operations::put_shared) and gets are carried out by copy engines.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn with_engines(
        comm: &'c Comm<'c, C>,
        caches: &mut Caches,
        len: usize,
        class: Class,
        engines: &'c CopyEngines<'c, C>,
    ) -> Result<Made<'c, C, T>, Error> {
        // An engine is nobody's client.
        let engines = Some(engines).filter(|engines| !engines.is_engine());
        Self::make(comm, caches, len, Plan { class, engines, memory: None })
    }

    /// Makes a window over private memory that each rank has exposed, of which it takes the first `len` elements. They
    /// keep their contents. Other ranks reach them by mapping, which costs each of them a little, once
    /// ([`Expose::map`](hal::Expose::map)). When the window is freed, the exposure can be [ended](Exposure::end), and
    /// the memory is its owner's again. While a rank that has reached it has not freed its window, it cannot.
    ///
    /// # Errors
    /// As [`create`](Self::create), and [`Error::Length`] if a rank has exposed less.
    pub fn over<M: Exposable>(
        comm: &'c Comm<'c, C>,
        caches: &mut Caches,
        memory: &'c Exposure<'c, M>,
        len: usize,
        class: Class,
    ) -> Result<Made<'c, C, T>, Error> {
        Self::make(comm, caches, len, Plan { class, engines: None, memory: Some(memory.region()) })
    }

    fn make(
        comm: &'c Comm<'c, C>,
        caches: &mut Caches,
        len: usize,
        plan: Plan<'c, C>,
    ) -> Result<Made<'c, C, T>, Error> {
        comm.check_call(|| Call::new(Collective::Window))?;
        let Plan { class, engines, memory } = plan;
        let _span = comm.hal().span(Span::new("window"));
        let (number, size) = (comm.state::<Count>().next(), comm.size());
        let table = Table::allocate(comm)?;
        let agreed = table.agree_on_kind(comm, number, class, ElementType::of::<T>());
        let synchronisation = match agreed.and_then(|()| Synchronisation::of(class, comm)) {
            Ok(synchronisation) => synchronisation,
            Err(error) => {
                // All ranks have the same.
                table.free(comm)?;
                return Err(error);
            }
        };
        let class_word_count = synchronisation.words(size);
        let start = memory.map(|region| region.start());
        let mut parts = table.exchange(comm, len, size_of::<T>(), peers::sync_bytes(class_word_count), start);
        if let Some(region) = memory
            && len.saturating_mul(size_of::<T>()) > region.len_bytes()
        {
            parts.own_failure = Some(Error::Length { len: region.len_bytes() / size_of::<T>(), wanted: len });
        }
        let peers = Peers::new(comm, number, &parts.entries, size_of::<T>(), class_word_count);
        let window = Self {
            peers,
            class,
            synchronisation,
            engines,
            posts_seen: Seen::new(size),
            completions_seen: Seen::new(size),
            access_open: Cell::new(false),
            exposure_open: Cell::new(false),
            lent: Cell::new(false),
            locked: Seen::new(size),
            all_locked: Cell::new(false),
            access_epochs: Cell::new(0),
            element: PhantomData,
        };
        let view = parts.own_failure.map_or_else(|| window.prepare(caches), Err);
        let agreed = table.agree(comm, view.is_ok());
        table.free(comm)?;
        let error = match (view, agreed) {
            (Ok(view), Ok(())) => {
                let (part, len_bytes) = (view.region().start(), len * size_of::<T>());
                comm.hal().declare(&Act::HasPart { window: number, part, len_bytes });
                return Ok((window, view));
            }
            (Ok(_), Err(rank)) => Error::WindowFailed { window: number, rank },
            (Err(own), _) => own,
        };
        window.release()?;
        Err(error)
    }

    /// Clears the synchronisation data, and the own part unless it is private memory, and takes the view of the part.
    fn prepare(&self, caches: &mut Caches) -> Result<LocalView<'c, T>, Error> {
        let view = self.view(caches)?;
        if view.region().start().controller().is_some() {
            self.comm().allocator().clear(view.region());
        }
        lock::clear(&self.peers);
        notify::clear(&self.peers);
        self.synchronisation.prepare(&self.peers);
        Ok(view)
    }

    /// Frees the window. Collective, outside of all epochs; takes the local view back.
    ///
    /// # Errors
    /// [`Error::ForeignView`] if the view is not of this window, which comes back with it; the other ranks wait until
    /// this one frees it with the right one.
    pub fn free(self, view: LocalView<'c, T>, caches: &mut Caches) -> Result<(), Returned<Box<Made<'c, C, T>>>> {
        if let Err(error) = self.check_own(&view) {
            return Err(Returned { error, taken: Box::new((self, view)) });
        }
        if let Err(error) = self.comm().check_call(|| Call::new(Collective::Free).on_window(self.number())) {
            return Err(Returned { error, taken: Box::new((self, view)) });
        }
        let _span = self.comm().hal().span(Span::new("free window"));
        // Of epochs that were forgotten.
        self.await_copies();
        self.comm().hal().write_back_invalidate(caches, view.region());
        match self.release() {
            Ok(()) => {
                let (window, part) = (self.number(), view.region().start());
                self.comm().hal().declare(&Act::FreesPart { window, part });
                Ok(())
            }
            Err(error) => Err(Returned { error, taken: Box::new((self, view)) }),
        }
    }

    /// Gives the memory of all parts back. Collective; nobody has lines of it in a cache any more.
    ///
    /// One rank does it for all, in order, and the others wait: what it costs, and what the heaps look like
    /// afterwards, does not depend on who comes first. Ranks let go of others' private memory before, so that its owners
    /// can have it back.
    fn release(&self) -> Result<(), Error> {
        let comm = self.comm();
        let is_private = |rank: &usize| self.peers.memory_of(*rank).1;
        (0..comm.size()).filter(is_private).for_each(|rank| comm.hal().let_go(self.peers.part(rank).mapped()));
        comm.synchronise();
        let freed =
            comm.allocating_rank().and_then(|owner| if comm.rank() == owner { self.free_parts() } else { Ok(()) });
        let released = self.synchronisation.release(comm, self.number());
        comm.synchronise();
        freed.and(released)
    }

    fn free_parts(&self) -> Result<(), Error> {
        for rank in 0..self.comm().size() {
            if self.peers.has_sync(rank) {
                database::free(self.comm(), self.peers.sync(rank))?;
            }
            if let (true, false) = self.peers.memory_of(rank) {
                self.comm().allocator().free(self.peers.part(rank))?;
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
            return Err(Error::ExposureEpochOpen { window: self.number() });
        }
        let (hal, rank) = (self.comm().hal(), self.comm().rank());
        let region = self.peers.part(rank);
        let view = hal.claim(region, self.peers.len(rank))?;
        // A page of it may have been cached with a neighbour, or the memory may have been somebody's cached memory
        // before.
        hal.write_back_invalidate(caches, region);
        Ok(view)
    }

    /// Number of the window, counted per communicator from 0; reports name it.
    pub fn number(&self) -> u32 {
        self.peers.number
    }

    /// How its PSCW epochs are synchronised.
    pub fn class(&self) -> Class {
        self.class
    }

    /// The ranks that have parts of it.
    pub fn group(&self) -> crate::Group {
        self.comm().group()
    }

    /// Elements in `rank`'s part.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`].
    pub fn len_of(&self, rank: usize) -> Result<usize, Error> {
        self.comm().check_rank(rank)?;
        Ok(self.peers.len(rank))
    }

    /// Tells whoever debugs the program that an epoch is open.
    #[inline(always)]
    fn tell_open(&self, kind: &'static str, with: Ranks<'_>) {
        self.comm().hal().open_epoch(&Epoch { window: self.number(), kind, with });
    }

    /// Tells that it is over.
    #[inline(always)]
    fn tell_over(&self, kind: &'static str, with: Ranks<'_>) {
        self.comm().hal().close_epoch(&Epoch { window: self.number(), kind, with });
    }

    /// Waits for what this rank's copy engine does for it, if it has one.
    fn await_copies(&self) {
        self.engines.inspect(|engines| engines.finish());
    }

    fn comm(&self) -> &'c Comm<'c, C> {
        self.peers.comm
    }

    /// Refuses another access epoch while this rank holds locks.
    #[inline]
    fn check_unlocked(&self) -> Result<(), Error> {
        if self.locked.is_empty() && !self.all_locked.get() { Ok(()) } else { self.name_locked() }
    }

    #[cold]
    fn name_locked(&self) -> Result<(), Error> {
        let (window, rank) = (self.number(), self.comm().rank());
        let locked = self.locked.first().or(self.all_locked.get().then_some(rank));
        locked.map_or(Ok(()), |rank| Err(Error::Locked { rank, window }))
    }

    fn check_own(&self, view: &LocalView<'_, T>) -> Result<(), Error> {
        if view.region() == self.peers.own() { Ok(()) } else { Err(Error::ForeignView { window: self.number() }) }
    }
}

/// How many windows were made; the same on all ranks, since windows are made collectively.
#[derive(Default)]
struct Count(Cell<u32>);

impl Count {
    /// The number of the window that is being made.
    fn next(&self) -> u32 {
        self.0.replace(self.0.get() + 1)
    }
}
