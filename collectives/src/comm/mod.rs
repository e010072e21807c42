//! The communicator: a rank's view of its machine.

pub(crate) mod choices;
pub(crate) mod engines;
pub mod group;
mod states;

use alloc::vec::Vec;
use core::cell::Cell;

use hal::{Core, CoreId, Deadline, Mpb, Place, Poll, Reason, Regions, Span, TimedOut, Wait};

use crate::{
    Error, Group, SharedAllocator,
    collective::{
        barrier::{self, FlagBarrier},
        preference::Preferences,
    },
    mpb::Buffers,
};

use self::{
    choices::{Choices, Terms},
    engines::Engines,
    states::States,
};

/// A rank of all ranks that run a program: rank r runs on core r.
///
/// It is a value that is passed along: whatever a rank does with others, it does through this.
pub struct Comm<'c, C> {
    hal: &'c C,
    regions: Regions,
    size: usize,
    buffers: Buffers,
    barrier: FlagBarrier,
    choices: Choices,
    preferences: Preferences,
    engines: Engines<C>,
    states: States,
    compares_calls: Cell<bool>,
}

impl<'c, C: Core> Comm<'c, C> {
    /// Joins the communicator of all cores, which manages the machine's shared memory from now on. Collective: every core
    /// calls it once, with its MPB all zero.
    ///
    /// # Errors
    /// [`Error::TooManyRanks`] if the machine has more cores than a communicator can have ranks;
    /// [`Error::SecondWorld`], on the cores that keep a heap, if it was called before.
    pub fn world(hal: &'c C, regions: Regions) -> Result<Self, Error> {
        let size = hal.layout().cores();
        let buffers = Buffers::new(size)?;
        let (schedule, barrier_ns) = barrier::world(hal.core().index(), hal.layout());
        let comm = Self {
            hal,
            regions,
            size,
            barrier: FlagBarrier::new(&schedule, CoreId::new, buffers.layout().barrier()),
            buffers,
            choices: Choices::new(Terms::new(hal.layout(), barrier_ns)),
            preferences: Preferences::default(),
            engines: Engines::default(),
            states: States::default(),
            compares_calls: Cell::new(false),
        };
        let _span = hal.span(Span::new("world"));
        comm.allocator().initialise()?;
        comm.barrier();
        Ok(comm)
    }

    /// The allocator of shared memory.
    pub fn allocator(&self) -> SharedAllocator<'_, C> {
        SharedAllocator::new(self.hal, &self.regions)
    }
}

impl<'c, C> Comm<'c, C> {
    /// The hardware below.
    pub fn hal(&self) -> &'c C {
        self.hal
    }

    /// The right to make regions of what ranks tell each other.
    pub(crate) fn regions(&self) -> &Regions {
        &self.regions
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The barrier of all ranks.
    pub(crate) fn world_barrier(&self) -> &FlagBarrier {
        &self.barrier
    }

    /// Which algorithms are the fastest here.
    pub(crate) fn choices(&self) -> &Choices {
        &self.choices
    }

    /// Which algorithms the program has named.
    pub(crate) fn preferences(&self) -> &Preferences {
        &self.preferences
    }

    /// Whether collective operations begin by comparing the calls of all ranks.
    pub(crate) fn compares_calls(&self) -> &Cell<bool> {
        &self.compares_calls
    }

    /// What is known of the MPBs.
    pub(crate) fn buffers(&self) -> &Buffers {
        &self.buffers
    }

    /// What goes on while this rank waits.
    pub(crate) fn engines(&self) -> &Engines<C> {
        &self.engines
    }

    /// What a protocol keeps here, of a type that is its own.
    pub(crate) fn state<T: Default + 'static>(&self) -> &T {
        self.states.get()
    }

    /// The core that `rank` runs on.
    pub fn core_of(&self, rank: usize) -> CoreId {
        CoreId::new(rank)
    }

    /// All ranks.
    ///
    /// # Panics
    /// Never: no communicator has more ranks than a group can hold.
    pub fn group(&self) -> Group {
        Group::all(self.size).expect("a communicator has no more ranks than a group")
    }

    /// Refuses a rank that does not exist.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`].
    pub fn check_rank(&self, rank: usize) -> Result<(), Error> {
        if rank < self.size { Ok(()) } else { Err(Error::NoSuchRank { rank, size: self.size }) }
    }
}

impl<C: Mpb + Wait> Comm<'_, C> {
    /// This rank.
    pub fn rank(&self) -> usize {
        self.hal.core().index()
    }

    /// Waits like [`Wait::wait_until`]; packets that arrive meanwhile are handled, and non-blocking operations go on,
    /// because a peer may not get any further before they do. `check` finds its own places first among those of the
    /// poll.
    #[inline(always)]
    pub(crate) fn wait_until<R>(
        &self,
        places: &[Place],
        deadline: Deadline,
        reason: Reason,
        check: impl FnMut(&Poll<'_>) -> Option<R>,
    ) -> Result<R, TimedOut> {
        if self.engines.are_idle() {
            return self.hal.wait_until(places, deadline, reason, check);
        }
        self.wait_beside_engines(places, deadline, reason, check)
    }

    /// The same while engines have something to do.
    #[cold]
    #[inline(never)]
    fn wait_beside_engines<R>(
        &self,
        places: &[Place],
        deadline: Deadline,
        reason: Reason,
        mut check: impl FnMut(&Poll<'_>) -> Option<R>,
    ) -> Result<R, TimedOut> {
        loop {
            if self.engines.are_idle() {
                return self.hal.wait_until(places, deadline, reason, |poll| check(poll));
            }
            let mut all = places.to_vec();
            let mut engines: Vec<_> = self.engines.busy().into_iter().map(|engine| (engine, 0, false)).collect();
            for (engine, first, _) in &mut engines {
                *first = all.len();
                engine.add_places(self, &mut all);
            }
            let found = self.hal.wait_until(&all, deadline, reason, |poll| match check(poll) {
                None => {
                    let mut found_news = false;
                    for (engine, first, has_news) in &mut engines {
                        *has_news = engine.has_news(poll, *first);
                        found_news |= *has_news;
                    }
                    found_news.then_some(None)
                }
                found => Some(found),
            })?;
            match found {
                Some(found) => return Ok(found),
                None => {
                    for (engine, ..) in engines.iter().filter(|(.., has_news)| *has_news) {
                        engine.handle(self);
                    }
                }
            }
        }
    }
}
