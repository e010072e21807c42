//! Communicators of some ranks: split, duplicated, or made of a list of ranks.
//!
//! ```
//! # use collectives::{Comm, Error, Operator};
//! # use hal::Core;
//! /// The sum of a row and that of a column, of ranks that are in rows of `columns`.
//! fn sums<C: Core>(world: &Comm<'_, C>, columns: usize) -> Result<[usize; 2], Error> {
//!     let (x, y) = (world.rank() % columns, world.rank() / columns);
//!     let row = world.split(Some(y as u32), 0)?.expect("a colour");
//!     let column = world.split(Some(x as u32), 0)?.expect("a colour");
//!     let mut sums = [[world.rank() as u32]; 2];
//!     for (comm, sum) in [&row, &column].into_iter().zip(&mut sums) {
//!         comm.allreduce(collectives::InPlace, sum, &Operator::SUM)?;
//!     }
//!     row.free()?;
//!     column.free()?;
//!     Ok(sums.map(|[sum]| sum as usize))
//! }
//! # let outcome = hal::sim::Machine::scc(6).run(|core| sums(&Comm::world(core, regions::of_a_test()).unwrap(), 3).unwrap());
//! # assert_eq!(outcome.unwrap().results(), [[3, 3], [3, 5], [3, 7], [12, 3], [12, 5], [12, 7]]);
//! ```
//!
//! A rank can be in any number of them, and in operations of several one after the other, whatever the others do: each has
//! signals, barrier flags and cells of its own, so that nothing of one can be taken for something of
//! another. Where these lines come from, [`MpbLayout`] says; all communicators that are made by one call have the same
//! lines, each in the MPBs of its members. Those that there is no room for are slower: their signals go
//! through words of uncached memory, and their operations get a staging buffer lent for as
//! long as they last.

use alloc::{borrow::ToOwned, boxed::Box, string::String, vec, vec::Vec};
use core::cell::{Cell, RefCell};

use hal::{Core, CoreId, LINE_BYTES, Region, Span, kind};

use super::{
    Choices, Comm, Origin, Preferences, States, Terms,
    attributes::Attributes,
    elsewhere::{Elsewhere, Words},
    members::Members,
};
use crate::{
    Error, Exchange, Operator, Placement,
    collective::{
        barrier,
        call::{Call, Collective},
        reduction,
    },
    matched::LAST_CONTEXT,
    mpb::{
        Buffers,
        layout::{DIVIDED_LINES, MpbLayout, Share},
    },
};

/// Ranks that are near each other in one way or another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Near {
    /// They are in one coherence domain; on the SCC each is in one of its own.
    Domain,
    /// They are on one tile.
    Tile,
}

/// What a rank tells about the words of the communicator that it will be in: last one of these, before it the region, or first how many
/// bytes there was no room for.
const NO_WORDS: [u32; 4] = [0; 4];
const WORDS: u32 = 1;
const REFUSED: u32 = 2;

impl<'c, C: Core> Comm<'c, C> {
    /// Divides the communicator into those of ranks that name the same colour, in the order of their keys, and among equal keys in
    /// that of their ranks here. A rank that names no colour is in none of them. Collective.
    ///
    /// # Errors
    /// On all ranks alike: [`Error::OutOfSharedMemory`] and [`Error::PartTooLarge`] if there is no room left, neither in the MPBs
    /// nor in shared memory; [`Error::ContextsUsedUp`]; [`Error::RegisterOutOfReach`] if it would have to be shared memory, and no rank of a
    /// communicator can allocate; [`Error::ProfileInForce`]; [`Error::CallsDiffer`] while calls are
    /// [compared](Self::check_arguments).
    pub fn split(&'c self, color: Option<u32>, key: i32) -> Result<Option<Self>, Error> {
        self.check_call(|| Call::new(Collective::Split))?;
        let own = [u32::from(color.is_some()), color.unwrap_or(0), key as u32];
        let mut all = vec![[0_u32; 3]; self.size()];
        self.check_no_profile()?;
        self.using(Exchange::Default, |comm| comm.allgather(&[own], &mut all))?;
        let mut sorted: Vec<_> = (0..self.size()).filter(|rank| all[*rank][0] > 0).collect();
        sorted.sort_by_key(|rank| (all[*rank][1], all[*rank][2] as i32, *rank));
        let mut parts = sorted.chunk_by(|one, next| all[*one][1] == all[*next][1]);
        let most = parts.clone().map(<[_]>::len).max().unwrap_or(0);
        self.divide(parts.find(|part| part.contains(&self.rank())).unwrap_or_default(), most)
    }

    /// Divides the communicator into those of ranks that are near each other, in the order of their keys, and among equal keys
    /// in that of their ranks here. Collective.
    ///
    /// # Errors
    /// As [`split`](Self::split).
    pub fn split_near(&'c self, near: Near, key: i32) -> Result<Self, Error> {
        let (layout, core) = (self.hal().layout(), self.core_of(self.rank()));
        let color = match near {
            Near::Domain => layout.domain(core),
            Near::Tile => core.index() / layout.cores_per_tile(),
        };
        let part = self.split(Some(color as u32), key)?;
        Ok(part.unwrap_or_else(|| unreachable!("a rank that names a colour is in the communicator of that colour")))
    }

    /// Makes another communicator of the same ranks, with what of the [attributes](super::attributes) is for duplicates. Collective.
    ///
    /// # Errors
    /// As [`split`](Self::split).
    pub fn dup(&'c self) -> Result<Self, Error> {
        self.check_call(|| Call::new(Collective::Dup))?;
        self.check_no_profile()?;
        let ranks: Vec<_> = (0..self.size()).collect();
        let same = self.divide(&ranks, ranks.len())?.unwrap_or_else(|| unreachable!("all ranks are members"));
        Ok(Self { attributes: self.attributes.duplicate(), ..same })
    }

    /// Makes a communicator of these ranks, in this order. Collective: all members name the same list; others name the
    /// same one, or that of a communicator of their own without common members, or none.
    ///
    /// # Errors
    /// On all ranks alike, if one has named a list that makes no sense: [`Error::NoSuchRank`], [`Error::RankTwice`]. As
    /// [`split`](Self::split), too.
    pub fn create(&'c self, ranks: &[usize]) -> Result<Option<Self>, Error> {
        self.check_call(|| Call::new(Collective::Create))?;
        self.check_no_profile()?;
        let foreign = ranks.iter().find(|rank| **rank >= self.size()).copied();
        let twice = (1..ranks.len()).find(|at| ranks[..*at].contains(&ranks[*at])).map(|at| ranks[at]);
        let number = |rank: Option<usize>| rank.map_or(0, |rank| u32::try_from(rank).unwrap_or(u32::MAX - 1) + 1);
        let mut told = [number(foreign), number(twice), ranks.len() as u32];
        reduction::allreduce(self, &mut told, &Operator::MAX)?;
        match told.map(|number| number as usize) {
            [0, 0, most] => self.divide(if ranks.contains(&self.rank()) { ranks } else { &[] }, most),
            [0, twice, _] => Err(Error::RankTwice { rank: twice - 1 }),
            [foreign, ..] => Err(Error::NoSuchRank { rank: foreign - 1, size: self.size() }),
        }
    }

    /// Makes the communicator of these ranks, or none if there are none. Each rank names those of its own one, and all name how
    /// many the largest has.
    fn divide(&'c self, ranks: &[usize], most: usize) -> Result<Option<Self>, Error> {
        let (hal, world) = (self.hal(), self.world_of());
        let _span = hal.span(Span::new("new communicator"));
        // While there is no other, this is that of all ranks.
        world.divide_lines();
        let mut context = [world.next_context().get()];
        reduction::allreduce(self, &mut context, &Operator::MAX)?;
        let [context] = context;
        self.take_contexts(context, 1)?;
        let taken = self.taken_lines();
        let free = self.spare_lines().free(&taken);
        let own = Share::fitting(most, free)
            .and_then(|share| Some((self.spare_lines().find(share.lines(most), &taken)?, share)));
        let cores: Box<[CoreId]> = ranks.iter().map(|rank| self.core_of(*rank)).collect();
        let members = Members::some(hal.core(), cores, hal.layout());
        let elsewhere = if own.is_none() { self.words_for(ranks)? } else { None };
        if let (Some(_), Some((first, share))) = (&members, own) {
            let lines = share.lines(most);
            self.mark_lines(first, lines, "a communicator of some ranks");
            // What earlier users of these lines may have left here nobody writes or reads any more.
            hal.put_made(lines * LINE_BYTES, self.mpb_line(self.rank(), first), |_, bytes| bytes.fill(0));
        }
        self.synchronise();
        let layout = world.mpb_layout().beside(most, own);
        Ok(members.map(|members| self.assemble(members, layout, elsewhere, context)))
    }

    /// The communicator of these members, of whom this rank is one. Its lines and words are all zero.
    pub(super) fn assemble(
        &'c self,
        members: Members,
        layout: MpbLayout,
        elsewhere: Option<Box<dyn Elsewhere<C>>>,
        context: u32,
    ) -> Self {
        let hal = self.hal();
        let (barrier, barrier_ns) = barrier::of_all(hal, &members, layout.barrier());
        Comm {
            hal,
            choices: Choices::new(Terms::new(hal.layout(), members.shape(), barrier_ns)),
            buffers: Buffers::new(hal, &members, layout),
            members,
            barrier,
            preferences: Preferences::default(),
            states: States::default(),
            compares_calls: Cell::new(self.compares_calls().get()),
            origin: Origin::World(self.world_of()),
            elsewhere,
            name: RefCell::new(String::new()),
            attributes: Attributes::default(),
            context,
        }
    }

    /// The communicator of these members without lines in the MPBs: with signals in these words, which are zero and which that rank has
    /// allocated, or for nothing but messages with tags.
    pub(crate) fn without_lines(
        &'c self,
        members: Members,
        words: Option<(Region<kind::Uncached>, usize)>,
        context: u32,
    ) -> Self {
        let ranks = members.size();
        let elsewhere =
            words.map(|(region, owner)| -> Box<dyn Elsewhere<C>> { Box::new(Words { region, ranks, owner }) });
        let layout = self.world_of().mpb_layout().beside(ranks, None);
        self.assemble(members, layout, elsewhere, context)
    }

    /// Takes `count` contexts from `first` on. They are never given back: a message that nobody has received on a freed communicator would
    /// otherwise come to a later one.
    ///
    /// # Errors
    /// [`Error::ContextsUsedUp`].
    pub(crate) fn take_contexts(&self, first: u32, count: u32) -> Result<(), Error> {
        if first > LAST_CONTEXT + 1 - count {
            return Err(Error::ContextsUsedUp);
        }
        self.world_of().next_context().set(first + count);
        Ok(())
    }

    /// Bytes of the words of `ranks` ranks.
    pub(crate) fn words_len_bytes(ranks: usize) -> usize {
        Words::len_bytes(ranks)
    }

    /// Lets staging give lines to the spare ones, if it can and has not yet. Collective over all ranks.
    pub(crate) fn divide_lines(&self) {
        if self.is_divided().get() {
            return;
        }
        self.widen_spare_lines(DIVIDED_LINES);
        self.is_divided().set(true);
    }

    /// Moves `count` lines from staging to the spare ones, and says whether it can. Collective over all ranks.
    pub(crate) fn widen_spare_lines(&self, count: usize) -> bool {
        let can = self.spare_up_to(self.mpb_layout().spare().end + count);
        if can {
            self.clear_staging();
        }
        self.synchronise();
        can
    }

    /// Allocates words for the signals of the communicator of these ranks, at the first of them that can. Collective over this
    /// communicator.
    fn words_for(&self, ranks: &[usize]) -> Result<Option<Box<dyn Elsewhere<C>>>, Error> {
        let owner = ranks.iter().position(|rank| self.allocator().can_allocate(self.core_of(*rank)));
        let (len_bytes, hal) = (Words::len_bytes(ranks.len()), self.hal());
        let mut own = NO_WORDS;
        if owner.is_some_and(|owner| ranks[owner] == self.rank()) {
            (own[0], own[3]) = (len_bytes as u32, REFUSED);
            if let Ok(region) =
                self.allocator().allocate_zeroed::<kind::Uncached>(len_bytes, Placement::Near(hal.core()))
            {
                own[..3].copy_from_slice(&region.to_words());
                own[3] = WORDS;
            }
        } else if owner.is_none() && ranks.first() == Some(&self.rank()) {
            own[3] = REFUSED;
        }
        let mut all = vec![NO_WORDS; self.size()];
        self.using(Exchange::Default, |comm| comm.allgather(&[own], &mut all))?;
        let region_of =
            |told: [u32; 4]| -> Region<kind::Uncached> { self.regions().from_words([told[0], told[1], told[2]]) };
        if let Some(refused) = all.iter().position(|told| told[3] == REFUSED) {
            if own[3] == WORDS {
                self.allocator().free(region_of(own))?;
            }
            let core = self.core_of(refused);
            return Err(if self.allocator().can_allocate(core) {
                Error::OutOfSharedMemory { len_bytes: all[refused][0] as usize }
            } else {
                Error::RegisterOutOfReach { core, register: CoreId::new(0) }
            });
        }
        Ok(owner.map(|owner| -> Box<dyn Elsewhere<C>> {
            Box::new(Words { region: region_of(all[ranks[owner]]), ranks: ranks.len(), owner })
        }))
    }

    /// Gives the communicator up: the next ones can have its lines. Collective. One that is dropped without this keeps them;
    /// the communicator of all ranks cannot be given up.
    ///
    /// # Errors
    /// [`Error::RequestsOutstanding`] on a rank that has not completed all of its non-blocking operations, as all have to;
    /// [`Error::CallsDiffer`] while calls are [compared](Self::check_arguments).
    pub fn free(self) -> Result<(), Error> {
        self.check_call(|| Call::new(Collective::FreeCommunicator))?;
        self.check_no_requests()?;
        self.check_no_tasks()?;
        if !self.is_part() {
            return Ok(());
        }
        // Whoever leaves this has seen all that comes to its lines, and looks at no others.
        self.disseminate();
        self.end_requests();
        match &self.elsewhere {
            Some(elsewhere) => elsewhere.end(&self),
            None => {
                let lines = self.mpb_layout().own_lines();
                self.give_back_lines(lines.start, lines.len());
            }
        }
        Ok(())
    }
}

impl<C> Comm<'_, C> {
    /// The name of this communicator, on this rank: "world" for that of all ranks, and nothing for others until
    /// [they get one](Self::set_name).
    pub fn name(&self) -> String {
        self.name.borrow().clone()
    }

    /// Names this communicator, on this rank.
    pub fn set_name(&self, name: &str) {
        *self.name.borrow_mut() = name.to_owned();
    }

    /// Refuses what only the communicator of all ranks can do.
    ///
    /// # Errors
    /// [`Error::WholeMachine`].
    pub(crate) fn check_whole(&self, what: &'static str) -> Result<(), Error> {
        if self.is_part() { Err(Error::WholeMachine { what }) } else { Ok(()) }
    }
}
