//! The communicator: a rank's view of its machine, or of some of its ranks.
//!
//! [`Comm::world`] is that of all ranks. Others are [divided](division) from it, and what they have in common with it, because a
//! core has it once, is in that of all ranks: the heap, the spare lines of the MPBs, what goes on while the rank waits.

pub mod attributes;
pub(crate) mod choices;
pub mod division;
#[cfg(test)]
mod division_tests;
pub(crate) mod elsewhere;
pub(crate) mod engines;
pub mod group;
pub mod interrupting;
pub(crate) mod looks;
pub(crate) mod members;
mod operating;
#[cfg(test)]
mod shared_tests;
mod states;

use alloc::{boxed::Box, string::String};
use core::{
    cell::{Cell, RefCell},
    ops::ControlFlow,
};

use hal::{Core, CoreId, Deadline, Mpb, Place, Places, Poll, Reason, Region, Regions, Span, TimedOut, Wait, kind};

use crate::{
    Error, Group, SharedAllocator,
    collective::{
        barrier::{self, FlagBarrier},
        preference::Preferences,
    },
    mpb::{Buffers, layout::MpbLayout, spare_lines},
};

use self::{
    attributes::Attributes,
    choices::{Choices, Terms},
    elsewhere::Elsewhere,
    engines::Engines,
    interrupting::Alarm,
    members::Members,
    states::States,
};

/// A rank among the ranks of a communicator: of all that run a program, where rank r runs on core r, or of some of them.
///
/// It is a value that is passed along: whatever a rank does with others, it does through this.
pub struct Comm<'c, C> {
    hal: &'c C,
    members: Members,
    buffers: Buffers,
    barrier: FlagBarrier,
    choices: Choices,
    preferences: Preferences,
    states: States,
    compares_calls: Cell<bool>,
    /// What every core has once.
    origin: Origin<'c, C>,
    /// Signals that do not go through MPBs.
    elsewhere: Option<Box<dyn Elsewhere<C>>>,
    name: RefCell<String>,
    attributes: Attributes,
    /// Tells messages of this communicator from those of others: no two that a rank has been in have the same.
    context: u32,
}

/// What a core has once, however many communicators it is in.
enum Origin<'c, C> {
    /// This is the communicator of all ranks, which has it.
    This(Common<C>),
    /// The communicator of all ranks has it.
    World(&'c Comm<'c, C>),
}

struct Common<C> {
    regions: Regions,
    engines: Engines<C>,
    /// Whether there may be other communicators.
    is_divided: Cell<bool>,
    /// The context of the next one, if all of its ranks can have it.
    next_context: Cell<u32>,
    /// How ranks that compute are interrupted by what comes, if they are.
    alarm: Cell<Option<Alarm<C>>>,
}

impl<'c, C: Core> Comm<'c, C> {
    /// Joins the communicator of all cores, which manages the machine's shared memory from now on. Collective: every core
    /// calls it once, with its MPB all zero.
    ///
    /// # Errors
    /// [`Error::TooManyRanks`] if the machine has more cores than a communicator can have ranks;
    /// [`Error::MpbTooSmall`] if its MPBs have fewer lines than the plan takes;
    /// [`Error::SecondWorld`], on the cores that keep a heap, if it was called before.
    pub fn world(hal: &'c C, regions: Regions) -> Result<Self, Error> {
        let members = Members::all(hal.core(), hal.layout());
        let buffers = Buffers::new(hal, &members, MpbLayout::of_machine(hal.layout().cores(), hal.mpb_lines())?);
        let (barrier, barrier_ns) = barrier::of_all(hal, &members, buffers.layout().barrier());
        let comm = Self {
            hal,
            barrier,
            buffers,
            choices: Choices::new(Terms::new(hal.layout(), members.shape(), barrier_ns)),
            members,
            preferences: Preferences::default(),
            states: States::default(),
            compares_calls: Cell::new(false),
            origin: Origin::This(Common {
                regions,
                engines: Engines::default(),
                is_divided: Cell::new(false),
                next_context: Cell::new(1),
                alarm: Cell::new(None),
            }),
            elsewhere: None,
            name: RefCell::new(String::from("world")),
            attributes: Attributes::default(),
            context: 0,
        };
        let _span = hal.span(Span::new("world"));
        comm.name_areas();
        hal.name_lines(comm.mpb_layout().spare(), spare_lines::SPARE);
        comm.allocator().initialise()?;
        comm.barrier();
        Ok(comm)
    }

    /// The allocator of shared memory.
    pub fn allocator(&self) -> SharedAllocator<'_, C> {
        SharedAllocator::new(self.hal, self.regions())
    }
}

impl<'c, C> Comm<'c, C> {
    /// The hardware below.
    pub fn hal(&self) -> &'c C {
        self.hal
    }

    /// The communicator of all ranks.
    pub(crate) fn world_of(&self) -> &Self {
        match &self.origin {
            Origin::This(_) => self,
            Origin::World(world) => world,
        }
    }

    /// Whether this is a communicator that was divided from another one.
    #[inline]
    pub(crate) fn is_part(&self) -> bool {
        matches!(self.origin, Origin::World(_))
    }

    #[inline]
    fn common(&self) -> &Common<C> {
        match &self.origin {
            Origin::This(common) => common,
            // The world's origin is itself.
            Origin::World(world) => world.common(),
        }
    }

    /// The right to make regions of what ranks tell each other.
    pub(crate) fn regions(&self) -> &Regions {
        &self.common().regions
    }

    /// Whether there may be other communicators than that of all ranks.
    pub(crate) fn is_divided(&self) -> &Cell<bool> {
        &self.common().is_divided
    }

    /// The context of the next communicator, if all of its ranks can have it.
    pub(crate) fn next_context(&self) -> &Cell<u32> {
        &self.common().next_context
    }

    /// What tells messages of this communicator from those of others.
    pub(crate) fn context(&self) -> u32 {
        self.context
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.members.size()
    }

    /// This rank.
    #[inline]
    pub fn rank(&self) -> usize {
        self.members.rank()
    }

    /// The ranks, and where they are.
    pub(crate) fn members(&self) -> &Members {
        &self.members
    }

    /// Signals that do not go through MPBs, if these have no lines for this communicator.
    #[inline]
    pub(crate) fn elsewhere(&self) -> Option<&dyn Elsewhere<C>> {
        self.elsewhere.as_deref()
    }

    /// Words for a non-blocking operation, and which is the first of them, if the MPBs have no lines for it.
    pub(crate) fn operation_words(&self) -> Option<(Region<kind::Uncached>, usize)> {
        self.elsewhere().map(|elsewhere| elsewhere.operation_words())
    }

    /// The barrier of all ranks.
    pub(crate) fn own_barrier(&self) -> &FlagBarrier {
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
        &self.common().engines
    }

    /// What a protocol keeps here, of a type that is its own.
    pub(crate) fn state<T: Default + 'static>(&self) -> &T {
        self.states.get()
    }

    /// The core that `rank` runs on.
    #[inline]
    pub fn core_of(&self, rank: usize) -> CoreId {
        self.members.core_of(rank)
    }

    /// All ranks.
    ///
    /// # Panics
    /// Never: no communicator has more ranks than a group can hold.
    pub fn group(&self) -> Group {
        Group::all(self.size()).expect("a communicator has no more ranks than a group")
    }

    /// Refuses a rank that does not exist.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`].
    pub fn check_rank(&self, rank: usize) -> Result<(), Error> {
        if rank < self.size() { Ok(()) } else { Err(Error::NoSuchRank { rank, size: self.size() }) }
    }
}

impl<C: Mpb + Wait> Comm<'_, C> {
    /// Waits like [`Wait::wait_until`]; packets that arrive meanwhile are handled, and non-blocking operations go on,
    /// because a peer may not get any further before they do. `check` finds its own places first among those of the
    /// poll.
    #[inline(always)]
    pub(crate) fn wait_until<R>(
        &self,
        places: impl Places,
        deadline: Deadline,
        reason: Reason,
        check: impl FnMut(&Poll<'_>) -> Option<R>,
    ) -> Result<R, TimedOut> {
        if self.engines().are_idle() {
            return self.hal.wait_until(places, deadline, reason, check);
        }
        let Reason { what, peer, detail } = reason;
        // The check goes on as part of another one, so that what it knows is in registers until then.
        let mut check = check;
        let goes_on = move |poll: &Poll<'_>| check(poll);
        let found = self.wait_beside_engines(places, deadline, what, peer, detail, goes_on);
        found.map_err(|peer| TimedOut { reason: Reason { what, peer, detail } })
    }

    /// Waits for what is to come soon: if engines have something to do, these places are looked at `looks` times before the first look
    /// at theirs, as that takes longer.
    ///
    /// # Errors
    /// As [`wait_until`](Self::wait_until).
    pub(crate) fn wait_soon_until<R>(
        &self,
        places: impl Places,
        looks: usize,
        reason: Reason,
        mut check: impl FnMut(&Poll<'_>) -> Option<R>,
    ) -> Result<R, TimedOut> {
        if !self.engines().are_idle() {
            return match self.look_at(places, looks, reason, &mut check)? {
                Some(found) => Ok(found),
                None => self.go_on_beside_engines(places.list().as_ref(), Deadline::Never, reason, &mut check),
            };
        }
        self.hal.wait_until(places, Deadline::Never, reason, check)
    }

    /// Looks at these places `looks` times, and returns what the check has found, if it has. Nothing else goes on meanwhile.
    ///
    /// # Errors
    /// [`TimedOut`] on a dying machine.
    pub(crate) fn look_at<R>(
        &self,
        places: impl Places,
        looks: usize,
        reason: Reason,
        mut check: impl FnMut(&Poll<'_>) -> Option<R>,
    ) -> Result<Option<R>, TimedOut> {
        self.hal.wait_until(places, Deadline::Never, reason, |poll| Some(looks::several(poll, looks, &mut check)))
    }

    /// Waits while engines have something to do: with them only if what is awaited is not there at a first look, which takes a
    /// small part of the time. The [`Reason`] comes in parts, of which a wait that times out returns the peer:
    /// so nothing has to be in memory for other waits.
    #[cold]
    #[inline(never)]
    fn wait_beside_engines<R>(
        &self,
        places: impl Places,
        deadline: Deadline,
        what: &'static str,
        peer: Option<CoreId>,
        detail: Option<u32>,
        mut check: impl FnMut(&Poll<'_>) -> Option<R>,
    ) -> Result<R, Option<CoreId>> {
        let reason = Reason { what, peer, detail };
        let looked = self.look_at(places, 1, reason, &mut check).map_err(|late| late.reason.peer)?;
        if let Some(found) = looked {
            return Ok(found);
        }
        self.go_on_beside_engines(places.list().as_ref(), deadline, reason, &mut check).map_err(|late| late.reason.peer)
    }

    fn go_on_beside_engines<R>(
        &self,
        places: &[Place],
        deadline: Deadline,
        reason: Reason,
        check: &mut impl FnMut(&Poll<'_>) -> Option<R>,
    ) -> Result<R, TimedOut> {
        loop {
            if self.engines().are_idle() {
                return self.hal.wait_until(places, deadline, reason, |poll| check(poll));
            }
            match self.drive_until(places, deadline, reason, check)? {
                ControlFlow::Break(found) => return Ok(found),
                // Several ranks that go on asking have the next question there whenever one was answered.
                ControlFlow::Continue(true) if matches!(deadline, Deadline::At(ticks) if ticks <= self.hal.now()) => {
                    self.engines().settle(self.world_of());
                    return self.hal.wait_until(places, deadline, reason, |poll| check(poll));
                }
                ControlFlow::Continue(_) => {}
            }
        }
    }

    /// Drives what is under way, without waiting.
    pub(crate) fn look(&self) {
        // There is nothing to find but what the engines do.
        let _ = self.wait_until(&[], Deadline::At(0), Reason::new("nothing"), |_| None::<()>);
    }

    /// Drives what is under way until there is no more of it, whoever is served meanwhile: nobody says again what was not seen.
    pub(crate) fn look_until_nothing_comes(&self) {
        let reason = Reason::new("nothing");
        let comes = || self.drive_until(&[], Deadline::At(0), reason, &mut |_| None::<()>).is_ok();
        while !self.engines().are_idle() && comes() {}
    }

    /// Waits for what engines bring about: `check` looks at nothing that others write.
    pub(crate) fn wait_for_engines<R>(
        &self,
        reason: Reason,
        mut check: impl FnMut() -> Option<R>,
    ) -> Result<R, TimedOut> {
        while !self.engines().are_idle() {
            if let Some(found) = check() {
                return Ok(found);
            }
            let driven = self.drive_until(&[], Deadline::Never, reason, &mut |_| check())?;
            if let ControlFlow::Break(found) = driven {
                return Ok(found);
            }
        }
        self.hal.wait_until(&[], Deadline::Never, reason, |_| check())
    }

    /// Polls until `check` finds something, or engines do and have done it; then says whether they have served others.
    fn drive_until<R>(
        &self,
        places: &[Place],
        deadline: Deadline,
        reason: Reason,
        check: &mut impl FnMut(&Poll<'_>) -> Option<R>,
    ) -> Result<ControlFlow<R, bool>, TimedOut> {
        let world = self.world_of();
        let mut round = self.engines().round(world, places);
        let engines = &mut round.engines;
        let found = self.hal.wait_until(&round.places, deadline, reason, |poll| match check(poll) {
            None => {
                let mut found_news = false;
                for (engine, first, has_news) in engines.iter_mut() {
                    *has_news = engine.has_news(world, poll, *first);
                    found_news |= *has_news;
                }
                found_news.then_some(None)
            }
            found => Some(found),
        })?;
        let mut has_served = false;
        if found.is_none() {
            for (engine, ..) in engines.iter().filter(|(.., has_news)| *has_news) {
                has_served |= engine.handle(world);
            }
        }
        self.engines().end_round(round);
        if let Some(found) = found {
            return Ok(ControlFlow::Break(found));
        }
        self.engines().work();
        Ok(ControlFlow::Continue(has_served))
    }
}
