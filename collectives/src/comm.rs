//! The communicator: a rank's view of its machine.

use core::cell::Cell;

use hal::{Core, CoreId, Deadline, Mpb, MpbLine, Place, Poll, Reason, Regions, Span, TimedOut, Topology, Wait};

use crate::{
    Error, Group, MpbLayout, SharedAllocator,
    barrier::{self, FlagBarrier, Members, RegisterBarriers},
    broadcast::Places,
    choices::{Choices, Terms},
    message::OpenChannel,
    nonblocking::Requests,
    sequence::Sequence,
    signals::Signals,
    spare_lines::SpareLines,
};

/// A rank of all ranks that run a program: rank r runs on core r.
///
/// It is a value that is passed along: whatever a rank does with others, it does through this.
pub struct Comm<'c, C> {
    hal: &'c C,
    regions: Regions,
    size: usize,
    layout: Cell<MpbLayout>,
    signals: Signals,
    barrier: FlagBarrier,
    choices: Choices,
    sequence: Sequence,
    spare_lines: SpareLines,
    windows: Cell<u32>,
    subscribed: Cell<bool>,
    channel: OpenChannel<C>,
    profile: Cell<bool>,
    places: Places,
    requests: Requests<C>,
    counter_pairs: Cell<u64>,
    register_barriers: RegisterBarriers,
    comparison: Cell<bool>,
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
        let layout = MpbLayout::new(size)?;
        let (schedule, barrier_ns) = barrier::world(hal.core().index(), hal.layout());
        let comm = Self {
            hal,
            regions,
            size,
            layout: Cell::new(layout),
            signals: Signals::new(size),
            barrier: FlagBarrier::new(schedule, Members::All, layout.barrier()),
            choices: Choices::new(Terms::new(hal.layout(), barrier_ns)),
            sequence: Sequence::default(),
            spare_lines: SpareLines::new(layout.spare()),
            windows: Cell::new(0),
            subscribed: Cell::new(false),
            channel: OpenChannel::default(),
            profile: Cell::new(false),
            places: Places::default(),
            requests: Requests::default(),
            counter_pairs: Cell::new(0),
            register_barriers: RegisterBarriers::default(),
            comparison: Cell::new(false),
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

    /// The layout of every rank's MPB. It changes when windows whose ranks communicate by packets come and go.
    pub fn mpb_layout(&self) -> MpbLayout {
        self.layout.get()
    }

    /// The barrier of all ranks.
    pub(crate) fn world_barrier(&self) -> &FlagBarrier {
        &self.barrier
    }

    /// Which algorithms are the fastest here.
    pub(crate) fn choices(&self) -> &Choices {
        &self.choices
    }

    /// The signals between this rank and all others.
    pub(crate) fn signals(&self) -> &Signals {
        &self.signals
    }

    /// The order of collective operations.
    pub(crate) fn sequence(&self) -> &Sequence {
        &self.sequence
    }

    /// The channel for packets, if there is one.
    pub(crate) fn channel(&self) -> &OpenChannel<C> {
        &self.channel
    }

    /// Whether the MPBs are lent to the [profile of RCCE](crate::rcce_profile).
    pub(crate) fn profile_in_force(&self) -> bool {
        self.profile.get()
    }

    /// From now on they are, or are not.
    pub(crate) fn put_profile_in_force(&self, in_force: bool) {
        self.profile.set(in_force);
    }

    /// Whether collective operations begin by comparing the calls of all ranks.
    pub(crate) fn comparison(&self) -> &Cell<bool> {
        &self.comparison
    }

    /// This rank's places in broadcast trees.
    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// The non-blocking operations that are outstanding.
    pub(crate) fn requests(&self) -> &Requests<C> {
        &self.requests
    }

    /// The pairs of the board's atomic counters that are in use, as bits; the same on all ranks.
    pub(crate) fn counter_pairs(&self) -> &Cell<u64> {
        &self.counter_pairs
    }

    /// The barriers that keep registers.
    pub(crate) fn register_barriers(&self) -> &RegisterBarriers {
        &self.register_barriers
    }

    /// Whether something goes on while this rank waits.
    pub(crate) fn has_engines(&self) -> bool {
        self.channel.engine().is_some() || self.requests.engine().is_some()
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

    /// The number of the window that is being made; the same on all ranks, since windows are made collectively.
    pub(crate) fn next_window(&self) -> u32 {
        self.windows.replace(self.windows.get() + 1)
    }

    /// Whether ranks of this communicator have subscribed to notifications; the same on all ranks.
    pub(crate) fn subscribed(&self) -> &Cell<bool> {
        &self.subscribed
    }

    /// The lines of every MPB that protocols may take for a time.
    pub(crate) fn spare_lines(&self) -> &SpareLines {
        &self.spare_lines
    }

    /// Refuses a rank that does not exist.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`].
    pub fn check_rank(&self, rank: usize) -> Result<(), Error> {
        if rank < self.size { Ok(()) } else { Err(Error::NoSuchRank { rank, size: self.size }) }
    }
}

impl<C: Topology> Comm<'_, C> {
    /// Refuses, on all ranks alike, what needs every register on a machine where they do not reach everywhere.
    pub(crate) fn check_registers(&self) -> Result<(), Error> {
        let layout = self.hal.layout();
        if layout.registers_reach_everywhere() {
            return Ok(());
        }
        let register = CoreId::new(layout.domain_cores(1).start);
        Err(Error::RegisterOutOfReach { core: CoreId::new(0), register })
    }

    /// Refuses the register of `rank`'s core if this rank cannot reach it.
    pub(crate) fn check_register(&self, rank: usize) -> Result<(), Error> {
        let (core, register) = (self.hal.core(), self.core_of(rank));
        if self.hal.layout().reaches_register(core, register) {
            Ok(())
        } else {
            Err(Error::RegisterOutOfReach { core, register })
        }
    }
}

impl<C: Mpb + Wait> Comm<'_, C> {
    /// This rank.
    pub fn rank(&self) -> usize {
        self.hal.core().index()
    }

    /// Lays this rank's MPB out anew. Its first staging buffer is quiescent, and all ranks do the same.
    pub(crate) fn set_mpb_layout(&self, layout: MpbLayout) {
        self.own_staging_turn();
        self.layout.set(layout);
        self.sequence.restart_staging();
    }

    /// Line `line` of `rank`'s MPB.
    pub(crate) fn mpb_line(&self, rank: usize, line: usize) -> MpbLine {
        MpbLine::new(self.core_of(rank), line)
    }

    /// Signals `rank`, after all that was put and stored before.
    pub(crate) fn signal(&self, rank: usize) {
        self.signals.send(self, rank);
    }

    /// Turns these bits of messages over for `rank`, after all that was put and stored before.
    pub(crate) fn turn_signal(&self, bits: u8, rank: usize) {
        self.signals.turn(self, bits, rank);
    }

    /// Takes the next signal from `rank`.
    pub(crate) fn take_signal(&self, rank: usize, reason: Reason) {
        self.take_signals(core::iter::once(rank), 1, reason);
    }

    /// Takes the next `count` signals from each of `ranks`, which ascend.
    pub(crate) fn take_signals(&self, ranks: impl Iterator<Item = usize> + Clone, count: u8, reason: Reason) {
        self.signals.take(self, ranks, count, reason);
    }

    /// Waits like [`Wait::wait_until`]; packets that arrive meanwhile are handled, and non-blocking operations go on,
    /// because a peer may not get any further before they do. `check` finds its own places first among those of the
    /// poll.
    pub(crate) fn wait_until<R>(
        &self,
        places: &[Place],
        deadline: Deadline,
        reason: Reason,
        mut check: impl FnMut(&Poll<'_>) -> Option<R>,
    ) -> Result<R, TimedOut> {
        loop {
            let engines = [self.channel.engine(), self.requests.engine()];
            if engines.iter().all(Option::is_none) {
                return self.hal.wait_until(places, deadline, reason, check);
            }
            let (mut all, mut firsts) = (places.to_vec(), [0; 2]);
            for (engine, first) in engines.iter().zip(&mut firsts) {
                *first = all.len();
                if let Some(engine) = engine {
                    engine.add_places(self, &mut all);
                }
            }
            let found = self.hal.wait_until(&all, deadline, reason, |poll| match check(poll) {
                None => {
                    let news = [0, 1].map(|index| {
                        engines[index].as_ref().is_some_and(|engine| engine.has_news(poll, firsts[index]))
                    });
                    news.contains(&true).then_some(Err(news))
                }
                Some(found) => Some(Ok(found)),
            })?;
            match found {
                Ok(found) => return Ok(found),
                Err(news) => {
                    for (engine, _) in engines.iter().zip(news).filter(|(_, has_news)| *has_news) {
                        engine.iter().for_each(|engine| engine.handle(self));
                    }
                }
            }
        }
    }
}
