//! Barriers.
//!
//! [`Comm::barrier`] is that of all ranks, by the default algorithm. Others are objects: a [`GroupBarrier`] is that of
//! some ranks, by the algorithm that [`Barrier`] names, and can be used any number of times. [`GroupBarrier::wait`] is a
//! barrier; [`GroupBarrier::arrive`] begins one, and what it returns ends it, with something else to do in between.
//!
//! What a rank has stored to MPB lines, combined and uncached memory before it arrives, all others see when they are
//! released. Cached memory has to be flushed: [`Comm::coherent_barrier`] and
//! [`GroupBarrier::coherent_wait`] do that.
//!
//! **To add an algorithm on flags.** The compiler asks for most of these:
//!
//! 1. a module whose function makes a `Schedule` from the members and a position (`tournament` is a short one);
//! 2. a variant of `algorithm::Algorithm` that calls it, with the number of its flags (`slots`);
//! 3. a variant of [`Barrier`], and arms in [`Barrier::fastest`], `Barrier::check` and `Barrier::algorithm`;
//! 4. its name in `name`: the table or `numbered`, what `UNKNOWN` says is known, and `Display` if it has a number;
//! 5. its time in `fastest::estimate`; in `fastest::candidates`, too, if it may be the default;
//! 6. its name in the lists of `checker` (all schedules, proven), of `tests/src/group_barriers.rs` (in-kernel), of
//!    `tests/tests/simulated/barriers.rs` (drains and invalidations), of `tests/tests/simulated/defaults.rs` (no default is much
//!    slower), and of the laboratory's programs (`barrier.rs`, `rounds/barriers.rs`).
//!
//! One that is not on flags is a `Mechanism`, made in `group`, which also has its number among the `material` that ranks
//! compare. A crate of a user's cannot add one: schedules are private to this module.

mod algorithm;
mod atomic_counters;
mod butterfly;
mod central;
mod dissemination;
mod fastest;
mod flags;
mod group;
mod hierarchical;
mod linear;
mod locked_counter;
mod mechanism;
mod name;
mod party;
mod registers;
mod schedule;
mod tournament;
mod tree;

#[cfg(test)]
mod checker;
#[cfg(test)]
mod exploration;
#[cfg(test)]
mod left_out;
#[cfg(test)]
mod timing;

use hal::{CoreId, LINE_BYTES, Layout, Messenger, Mpb, Reason, Span, Wait};

pub use self::group::{Arrived, GroupBarrier};

pub(crate) use self::{
    fastest::{of_all, world_lines},
    flags::FlagBarrier,
};

use self::{
    algorithm::Algorithm, dissemination::Dissemination, fastest::choose, hierarchical::Hierarchical, party::Party,
    tree::Tree,
};
use crate::{
    Comm, Error, Group,
    collective::call::{Call, Collective},
};

/// Which way a flag comes to those who wait for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Release {
    /// Stored to each of them.
    Push,
    /// Polled by each of them where it is stored once.
    Pull,
}

/// An algorithm for barriers.
///
/// Measurements call them by name, and each module says what its algorithm costs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Barrier {
    /// The fastest for the machine and the number of ranks: `default`.
    #[default]
    Default,
    /// All flags are pushed to one master, which pushes its phase to everybody: `central-push`.
    CentralPush,
    /// RCCE's barrier, in which a root reads and writes flags of all others one by one: `rcce-linear`.
    RcceLinear,
    /// Pairs, in ⌈log₂ P⌉ rounds: `butterfly`.
    Butterfly,
    /// Rounds in which everybody tells some others: `dissemination` for one, `dissemination-3`, `dissemination-3-pull`.
    Dissemination {
        /// Ranks that a rank tells in a round.
        partners: usize,
        /// Whether flags are pushed to these ranks, or polled by them.
        flags: Release,
    },
    /// A tree, up which flags are pushed: `tree-k8-push`, `tree-k8-pull`.
    Tree {
        /// Children of a rank at most.
        fan_in: usize,
        /// How the release comes down.
        release: Release,
    },
    /// A tree in which nobody stores to another's MPB, and all flags are polled where they are: `tree-k8-polled`.
    PolledTree {
        /// Children of a rank at most.
        fan_in: usize,
    },
    /// Pairs of which one loses and waits: `tournament`.
    Tournament,
    /// A master for each coherence domain, and a tree with all flags pushed between the masters: `hierarchical`, which is
    /// `hierarchical-k8`.
    Hierarchical {
        /// Children of a master at most.
        fan_in: usize,
    },
    /// A master for each coherence domain, and one master above all the others, to which they push: `flat`.
    Flat,
    /// Flags and a phase in uncached words, polled where they are: the listing of *Highly Scalable Barriers…*, section
    /// IV.A; `central`.
    Central,
    /// A counter in an uncached word under a register, with sense-reversing release: `locked-counter`.
    LockedCounter,
    /// Atomic counters of the board, on machines that have them, for groups of the communicator of all ranks: `atomic-counters`.
    AtomicCounters,
    /// Test-and-set registers alone, which nobody else can use as long as the barrier exists: not even to allocate shared
    /// memory: `registers`.
    Registers,
}

impl<C: Messenger> Comm<'_, C> {
    /// Returns when every rank has called it.
    ///
    /// # Panics
    /// If [arguments are checked](Self::check_arguments) and a rank calls something else.
    #[track_caller]
    pub fn barrier(&self) {
        self.assert_call(|| Call::new(Collective::Barrier));
        self.synchronise();
    }
}

impl<C: Mpb + Wait> Comm<'_, C> {
    /// A barrier of all ranks, whatever they called to get there.
    pub(crate) fn synchronise(&self) {
        let _span = self.hal().span(Span::new("barrier"));
        self.meet();
        self.sequence().all_complete();
    }

    /// A barrier within a collective operation: all operations before it are complete then, and it is not itself.
    pub(crate) fn barrier_within(&self) {
        self.meet();
        self.sequence().earlier_complete();
    }

    /// A barrier that tells the [sequence](crate::mpb::sequence) nothing.
    pub(crate) fn meet(&self) {
        if self.mpb_layout().has_own_lines() { self.own_barrier().run(self) } else { self.disseminate() }
    }

    /// A barrier of signals: everybody waits for signals in its own MPB only, and for all that others send to it. So whoever leaves
    /// it has seen the last store to the lines of this communicator in its MPB, and reads no lines of others any more.
    pub(crate) fn disseminate(&self) {
        let (rank, size) = (self.rank(), self.size());
        let mut distance = 1;
        while distance < size {
            self.signal((rank + distance) % size);
            self.take_signal((rank + size - distance) % size, Reason::new("a barrier"));
            distance *= 2;
        }
    }
}

/// Members of a domain that tell one of them, at most: with the paper's fan-in between domains, all flags fit two lines,
/// which is what MPBs have left on thousands of ranks.
const MOST_LOCAL_FAN_IN: usize = 2 * LINE_BYTES - 10;

impl Barrier {
    /// What [`Default`](Self::Default) is for these ranks of all cores of a machine.
    pub fn fastest(group: &Group, layout: &Layout) -> Self {
        let party = Party::new(group.iter().map(CoreId::new), layout);
        match Self::Default.algorithm(&party, layout) {
            Algorithm::Linear => Self::RcceLinear,
            Algorithm::Butterfly => Self::Butterfly,
            Algorithm::Tournament => Self::Tournament,
            Algorithm::Dissemination(Dissemination { partners, flags }) => Self::Dissemination { partners, flags },
            Algorithm::Tree(Tree { fan_in, gather: Release::Pull, .. }) => Self::PolledTree { fan_in },
            Algorithm::Tree(Tree { fan_in, release, .. }) => Self::Tree { fan_in, release },
            // Within domains it may have fewer children than the one of that name.
            Algorithm::Hierarchical(Hierarchical { fan_in, .. }) => Self::Hierarchical { fan_in },
        }
    }

    /// Refuses what makes no sense.
    fn check(self) -> Result<(), Error> {
        match self {
            Self::Dissemination { partners: 0, .. }
            | Self::Tree { fan_in: 0, .. }
            | Self::PolledTree { fan_in: 0 }
            | Self::Hierarchical { fan_in: 0 } => Err(Error::NoDegree),
            _ => Ok(()),
        }
    }

    /// The algorithm for these members; a tree gets no more children than there are members.
    fn algorithm(self, party: &Party, layout: &Layout) -> Algorithm {
        let most = |members: usize| members.saturating_sub(1).max(1);
        let tree = |fan_in: usize, gather, release| {
            Algorithm::Tree(Tree { fan_in: fan_in.min(most(party.len())), gather, release })
        };
        let hierarchical = |fan_in: usize| {
            let fan_in = fan_in.min(most(party.domains()));
            let local_fan_in = most(party.largest_domain()).min(MOST_LOCAL_FAN_IN);
            Algorithm::Hierarchical(Hierarchical { fan_in, local_fan_in })
        };
        match self {
            Self::Default | Self::Central | Self::LockedCounter | Self::AtomicCounters | Self::Registers => {
                choose(party, &layout.prices(), world_lines(layout.cores()) * LINE_BYTES)
            }
            Self::CentralPush => tree(usize::MAX, Release::Push, Release::Push),
            Self::RcceLinear => Algorithm::Linear,
            Self::Butterfly => Algorithm::Butterfly,
            Self::Dissemination { partners, flags } => {
                let partners = partners.min(most(party.len()));
                Algorithm::Dissemination(Dissemination { partners, flags })
            }
            Self::Tree { fan_in, release } => tree(fan_in, Release::Push, release),
            Self::PolledTree { fan_in } => tree(fan_in, Release::Pull, Release::Pull),
            Self::Tournament => Algorithm::Tournament,
            Self::Hierarchical { fan_in } => hierarchical(fan_in),
            Self::Flat => hierarchical(usize::MAX),
        }
    }
}
