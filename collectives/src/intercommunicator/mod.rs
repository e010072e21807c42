//! Intercommunicators: two groups of ranks, each of which names the ranks of the other one.
//!
//! ```
//! # use collectives::{Comm, Error, Source, Tag};
//! # use hal::Core;
//! /// Ranks with even and with odd numbers make groups, whose ranks exchange what they are, and then go together.
//! fn pairs<C: Core>(world: &Comm<'_, C>) -> Result<usize, Error> {
//!     let messages = world.open_messages()?;
//!     let is_odd = world.rank() % 2;
//!     let own = world.split(Some(is_odd as u32), 0)?.expect("a colour");
//!     // The leader of each group is its rank 0, which reaches the other one as a rank of the world.
//!     let inter = own.create_intercommunicator(0, world, 1 - is_odd, 9)?;
//!     let mut peer = [0_u32];
//!     inter.send_tagged(&[world.rank() as u32], inter.rank(), 0)?;
//!     inter.receive_tagged(&mut peer, Source::Rank(inter.rank()), Tag::Is(0))?;
//!     let all = inter.merge(is_odd == 1)?;
//!     let rank = all.rank();
//!     all.free()?;
//!     inter.free()?;
//!     own.free()?;
//!     messages.close()?;
//!     assert_eq!(peer[0] as usize, world.rank() ^ 1);
//!     Ok(rank)
//! }
//! # let outcome = hal::sim::Machine::scc(6).run(|core| pairs(&Comm::world(core, regions::of_a_test()).unwrap()).unwrap());
//! # assert_eq!(outcome.unwrap().results(), [0, 3, 1, 4, 2, 5]);
//! ```
//!
//! Messages to it go to ranks of the other group, and come from there. In its [collective operations](Root) what one group
//! has comes to the other one: each group does its part by the operation of its own communicator, and the first ranks of both tell
//! each other. It has no lines in the MPBs, and words in shared memory for what both groups do together.
//! [`merge`](Intercommunicator::merge) makes a communicator of both groups that is like any other.
//!
//! Each operation can be begun, and completed later, beside others, as those of [a communicator](crate::collective::nonblocking) can:
//!
//! ```
//! # use collectives::{Comm, Error, Intercommunicator, Operator};
//! # use hal::{Core, sim::Machine};
//! /// The sum of what the ranks of the other group have, which comes while this one does something else.
//! fn sum_of_others<C: Core>(inter: &Intercommunicator<'_, C>, own: u32) -> Result<u32, Error> {
//!     let mut sum = [0];
//!     let mut request = inter.start_allreduce(&[own], &mut sum, Operator::SUM)?;
//!     // … something else; `sum` is borrowed …
//!     request.wait()?;
//!     drop(request);
//!     Ok(sum[0])
//! }
//! # let outcome = Machine::scc(3).run(|core| {
//! #     let world = Comm::world(core, regions::of_a_test()).unwrap();
//! #     let messages = world.open_messages().unwrap();
//! #     let own = world.split(Some((world.rank() % 2) as u32), 0).unwrap().unwrap();
//! #     let inter = own.create_intercommunicator(0, &world, 1 - world.rank() % 2, 0).unwrap();
//! #     let sum = sum_of_others(&inter, 1 + world.rank() as u32).unwrap();
//! #     inter.free().unwrap();
//! #     messages.close().unwrap();
//! #     sum
//! # });
//! # assert_eq!(outcome.unwrap().results(), [2, 4, 2]);
//! ```

mod collective;
mod messages;
mod nonblocking;
#[cfg(test)]
mod tests;

use alloc::{boxed::Box, vec, vec::Vec};

use hal::{Core, CoreId, Region, Span, kind};

use crate::{
    Broadcast, Comm, Error, Exchange, Operator, Placement, Source, Tag,
    collective::{
        call::{Call, Collective},
        reduction,
    },
    comm::members::Members,
};

pub use self::collective::Root;

/// What the leaders tell each other before their cores: the next context, how many cores there are, and whether calls are compared.
const HEAD: usize = 3;

/// The tag of messages within both groups, and of what goes on between them.
const OWN: u32 = 0;

/// Two groups of ranks, as a rank of one of them sees them.
pub struct Intercommunicator<'c, C: Core> {
    local: &'c Comm<'c, C>,
    /// The ranks of both groups; first those of the group whose first rank is the lower one of the world.
    both: Comm<'c, C>,
    /// The ranks of the other group, to which messages of the program go: it has no operations.
    across: Comm<'c, C>,
    /// The first ranks of the own and of the other group among both.
    firsts: [usize; 2],
}

impl<'c, C: Core> Comm<'c, C> {
    /// Makes an intercommunicator of this communicator and another one that has no rank in common with it. The leader of each reaches
    /// that of the other one as rank `remote_leader` of `peer`, by a message with this tag; on other ranks these do not count. It is
    /// collective over both communicators. Messages with tags have to be [open](Self::open_messages), and stay so for as long as
    /// the intercommunicator is used.
    ///
    /// # Errors
    /// On all ranks of the communicator alike: [`Error::MessagesClosed`]; [`Error::NoSuchRank`] for either leader. On all of both:
    /// [`Error::RankTwice`] if one is in both, as its rank here; [`Error::OutOfSharedMemory`]; [`Error::RegisterOutOfReach`] if no rank can
    /// allocate; [`Error::ContextsUsedUp`]; [`Error::ProfileInForce`]; [`Error::CallsDiffer`] while calls are [compared](Self::check_arguments).
    pub fn create_intercommunicator(
        &'c self,
        leader: usize,
        peer: &Comm<'_, C>,
        remote_leader: usize,
        tag: u32,
    ) -> Result<Intercommunicator<'c, C>, Error> {
        self.check_call(|| Call::new(Collective::CreateIntercommunicator).rooted(leader))?;
        self.check_no_profile()?;
        self.check_rank(leader)?;
        self.unexpected_messages()?;
        let _span = self.hal().span(Span::new("new intercommunicator"));
        let (context, compares, remote) = self.learn_of_others(leader, peer, remote_leader, tag)?;
        let own = self.members().cores();
        if let Some(rank) = own.iter().position(|core| remote.contains(core)) {
            return Err(Error::RankTwice { rank });
        }
        let is_first = own[0] < remote[0];
        let (first, second) = if is_first { (own, &remote[..]) } else { (&remote[..], own) };
        let firsts = if is_first { [0, own.len()] } else { [remote.len(), 0] };
        let cores = [first, second].concat();
        let both = self.together(cores, context + 1)?;
        both.check_arguments(compares || self.compares_calls().get());
        let members = Members::beside(self.rank(), remote, self.hal().layout());
        let across = self.without_lines(members, None, context);
        Ok(Intercommunicator { local: self, both, across, firsts })
    }

    /// A context for two communicators that is new to both groups, whether the other one compares calls, and its cores.
    fn learn_of_others(
        &self,
        leader: usize,
        peer: &Comm<'_, C>,
        remote_leader: usize,
        tag: u32,
    ) -> Result<(u32, bool, Box<[CoreId]>), Error> {
        let world = self.world_of();
        let mut context = [world.next_context().get()];
        reduction::allreduce(self, &mut context, &Operator::MAX)?;
        let mut told = vec![0; HEAD + world.size()];
        let (mut head, mut heard) = ([0_u32; 1 + HEAD], Ok(()));
        if self.rank() == leader {
            if remote_leader >= peer.size() {
                // Who is told nothing else is told so.
                head = [0, remote_leader as u32, peer.size() as u32, 0];
            } else {
                let own = self.members().cores().iter().map(|core| core.index() as u32);
                let compares = u32::from(self.compares_calls().get());
                let own: Vec<_> = [context[0], self.size() as u32, compares].into_iter().chain(own).collect();
                let received = (&mut told[..], Source::Rank(remote_leader), Tag::Is(tag));
                heard = peer.exchange_tagged((&own, remote_leader, tag), received).map(drop);
                head = [1, told[0], told[1], told[2]];
            }
        }
        self.all_hear(heard, leader)?;
        self.using(Broadcast::default(), |comm| comm.broadcast(&mut head, leader))?;
        if head[0] == 0 {
            return Err(Error::NoSuchRank { rank: head[1] as usize, size: head[2] as usize });
        }
        let cores = &mut told[HEAD..HEAD + head[2] as usize];
        self.using(Broadcast::default(), |comm| comm.broadcast(cores, leader))?;
        let context = context[0].max(head[1]);
        self.take_contexts(context, 2)?;
        Ok((context, head[3] != 0, cores.iter().map(|core| CoreId::new(*core as usize)).collect()))
    }

    /// Tells all ranks whether a message that comes to all of them came to one: they go on together, or none does.
    fn all_hear(&self, heard: Result<(), Error>, root: usize) -> Result<(), Error> {
        const TRUNCATED: usize = 1;
        const DIFFERS: usize = 2;
        let mut told = [0; 5];
        match heard {
            Err(Error::Truncated { from, tag, sent, room }) => told = [TRUNCATED, from, tag as usize, sent, room],
            Err(Error::MessageLength { from, to, sent, wanted }) => told = [DIFFERS, from, to, sent, wanted],
            _ => {}
        }
        let mut words = told.map(|number| number as u32);
        self.using(Broadcast::default(), |comm| comm.broadcast(&mut words, root))?;
        let [kind, from, second, sent, room] = words.map(|word| word as usize);
        match kind {
            TRUNCATED => Err(Error::Truncated { from, tag: words[2], sent, room }),
            DIFFERS => Err(Error::MessageLength { from, to: second, sent, wanted: room }),
            _ => heard,
        }
    }

    /// The communicator of these cores, with words in shared memory: the first of them that can allocate does so, and tells the others.
    fn together(&'c self, cores: Vec<CoreId>, context: u32) -> Result<Self, Error> {
        const REFUSED: u32 = 1;
        let (ranks, layout) = (cores.len(), self.hal().layout());
        let out_of_reach = Error::RegisterOutOfReach { core: cores[0], register: CoreId::new(0) };
        let owner = cores.iter().position(|core| self.allocator().can_allocate(*core)).ok_or(out_of_reach)?;
        let members = || Members::some(self.hal().core(), cores.clone().into(), layout);
        let this_rank = || unreachable!("this rank is in one of the groups");
        let telling = self.without_lines(members().unwrap_or_else(this_rank), None, context);
        let len_bytes = Self::words_len_bytes(ranks);
        let mut told = [0, 0, 0, REFUSED];
        if telling.rank() == owner {
            let region = self.allocator().allocate_zeroed(len_bytes, Placement::Near(self.hal().core()));
            if let Ok(region) = region {
                let region: Region<kind::Uncached> = region;
                told[..3].copy_from_slice(&region.to_words());
                told[3] = 0;
            }
            (0..ranks).filter(|rank| *rank != owner).try_for_each(|rank| telling.send_tagged(&told, rank, OWN))?;
        } else {
            telling.receive_tagged(&mut told, Source::Rank(owner), Tag::Is(OWN))?;
        }
        if told[3] == REFUSED {
            return Err(Error::OutOfSharedMemory { len_bytes });
        }
        let region = self.regions().from_words([told[0], told[1], told[2]]);
        Ok(self.without_lines(members().unwrap_or_else(this_rank), Some((region, owner)), context))
    }
}

impl<'c, C: Core> Intercommunicator<'c, C> {
    /// This rank in its own group.
    pub fn rank(&self) -> usize {
        self.local.rank()
    }

    /// Number of ranks of the own group.
    pub fn size(&self) -> usize {
        self.local.size()
    }

    /// Number of ranks of the other group.
    pub fn remote_size(&self) -> usize {
        self.across.size()
    }

    /// The communicator of the own group, of which this was made.
    pub fn local(&self) -> &'c Comm<'c, C> {
        self.local
    }

    /// The cores of the other group, in the order of its ranks.
    pub fn remote_cores(&self) -> &[CoreId] {
        self.across.members().cores()
    }

    /// Makes a communicator of both groups: first the one that does not say that it `is_high`, or where both say the same, the one whose
    /// first rank is lower in the world. Ranks of a group say the same. Collective over both groups.
    ///
    /// # Errors
    /// As [`Comm::split`].
    pub fn merge(&'c self, is_high: bool) -> Result<Comm<'c, C>, Error> {
        let (size, mut are_high) = (self.both.size(), vec![0_u8; self.both.size()]);
        self.both.using(Exchange::default(), |comm| comm.allgather(&[u8::from(is_high)], &mut are_high))?;
        // The first group of both comes second if only it says so.
        let behind = self.firsts.iter().max().copied().unwrap_or(0);
        let comes_second = are_high[0] > are_high[behind];
        let first = if comes_second { behind } else { 0 };
        let ranks: Vec<_> = (first..size).chain(0..first).collect();
        let merged = self.both.create(&ranks)?;
        Ok(merged.unwrap_or_else(|| unreachable!("all ranks are members")))
    }

    /// Gives it up. Collective over both groups, whose messages on it have been received.
    ///
    /// # Errors
    /// As [`Comm::free`].
    pub fn free(self) -> Result<(), Error> {
        self.both.free()
    }
}
