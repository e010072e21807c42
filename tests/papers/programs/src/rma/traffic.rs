//! Bursts of operations of origins on one target's memory, in one epoch: what most of these programs time.
//!
//! With windows, the target posts and waits, and an origin starts, puts or gets, and completes. With messages an
//! origin sends what it would put and receives what it would get, the target does the reverse, and nothing else is
//! synchronised: a message arrives when both sides are there.

use alloc::{vec, vec::Vec};
use core::array;

use collectives::{Comm, Group, Window};
use hal::{Caches, Core, LocalView};

use kernel::{Failure, Rank};

use super::Algorithm;

/// What an origin does with a target's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operation {
    Put,
    Get,
}

impl Operation {
    /// Both operations.
    pub(super) const ALL: [Self; 2] = [Self::Put, Self::Get];

    /// What it is called in measurements.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Get => "get",
        }
    }
}

/// What one origin does in an epoch: `count` operations of `bytes` bytes each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Burst {
    pub(super) operation: Operation,
    pub(super) bytes: usize,
    pub(super) count: usize,
}

impl Burst {
    /// Bytes of all operations.
    pub(super) fn total_bytes(&self) -> usize {
        self.bytes * self.count
    }
}

/// Who takes part in bursts, and how much room there is.
pub(super) struct Roles {
    origins: Vec<usize>,
    targets: Vec<usize>,
    /// Places for operations in the part of a target.
    places: usize,
}

impl Roles {
    /// One origin and one target.
    pub(super) fn pair([origin, target]: [usize; 2], places: usize) -> Self {
        Self { origins: vec![origin], targets: vec![target], places }
    }

    /// Two ranks that are both in turn.
    pub(super) fn both(ranks: [usize; 2], places: usize) -> Self {
        Self { origins: ranks.into(), targets: ranks.into(), places }
    }

    /// Ranks 1 to k that put to rank 0.
    pub(super) fn many(k: usize, places: usize) -> Self {
        Self { origins: (1..=k).collect(), targets: vec![0], places }
    }

    /// Bytes of a rank's part of the window, of what it puts or sends from, and of what it gets or receives into. What an
    /// origin gets in one epoch has a place for each operation, since buffers are borrowed until it is complete.
    fn room(&self, rank: usize, algorithm: Algorithm, burst: Burst) -> [usize; 3] {
        let target = match algorithm {
            _ if !self.targets.contains(&rank) => [0; 3],
            Algorithm::Windows(_) => [self.places * burst.bytes, 0, 0],
            Algorithm::TwoSided => [0, burst.bytes, burst.bytes],
        };
        let origin = match burst.operation {
            _ if !self.origins.contains(&rank) => [0; 3],
            Operation::Put => [0, burst.bytes, 0],
            Operation::Get => [0, 0, burst.total_bytes()],
        };
        array::from_fn(|what| target[what].max(origin[what]))
    }
}

/// A rank's means to take part in bursts.
pub(super) struct Traffic<'c, C: Core> {
    comm: &'c Comm<'c, C>,
    means: Means<'c, C>,
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
}

#[expect(clippy::large_enum_variant, reason = "each rank has one, and moves it once")]
enum Means<'c, C: Core> {
    Windows { window: Window<'c, C, u8>, view: LocalView<'c, u8> },
    TwoSided,
}

impl<'c, C: Core> Traffic<'c, C> {
    /// Makes a window, if the algorithm has one. Collective; ranks that take no part have no room.
    pub(super) fn create(
        rank: &mut Rank<'c, C>,
        algorithm: Algorithm,
        burst: Burst,
        roles: &Roles,
    ) -> Result<Self, Failure> {
        let (comm, caches) = (rank.comm, &mut rank.caches);
        let [part, outgoing, incoming] = roles.room(comm.rank(), algorithm, burst);
        let means = match algorithm {
            Algorithm::Windows(class) => {
                let (window, mut view) = Window::with_class(comm, caches, part, class)?;
                if part > 0 {
                    view.store(0, mark(comm.rank()));
                    // So that the first post has no more to write back than the others.
                    comm.hal().write_back_invalidate(caches, view.region());
                }
                Means::Windows { window, view }
            }
            Algorithm::TwoSided => Means::TwoSided,
        };
        Ok(Self { comm, means, outgoing: vec![mark(comm.rank()); outgoing], incoming: vec![0; incoming] })
    }

    /// Origin number `number`'s side of an epoch: a burst, then whatever it does before it waits for the end.
    ///
    /// Operations go to places of the target's part one after another, origin by origin, and begin again with the
    /// first place where there are not enough. Places that are written twice contain anything then, and nobody asks
    /// what.
    pub(super) fn issue(
        &mut self,
        target: usize,
        number: usize,
        burst: Burst,
        meanwhile: impl FnOnce(),
    ) -> Result<(), Failure> {
        let Burst { operation, bytes, count } = burst;
        match &self.means {
            Means::Windows { window, .. } => {
                let places = window.len_of(target)? / bytes;
                let place = |index| (number * count + index) % places * bytes;
                let access = window.start(&Group::of([target])?)?;
                match operation {
                    Operation::Put => {
                        for index in 0..count {
                            access.put(target, place(index), &self.outgoing[..bytes])?;
                        }
                    }
                    Operation::Get => {
                        for (index, into) in self.incoming.chunks_exact_mut(bytes).take(count).enumerate() {
                            access.get(target, place(index), into)?;
                        }
                    }
                }
                meanwhile();
                access.complete();
            }
            Means::TwoSided => {
                for _ in 0..count {
                    match operation {
                        Operation::Put => self.comm.send(&self.outgoing[..bytes], target)?,
                        Operation::Get => self.comm.receive(&mut self.incoming[..bytes], target)?,
                    }
                }
                meanwhile();
            }
        }
        Ok(())
    }

    /// The target's side of an epoch in which each of `origins` issues a burst. What it does `meanwhile` comes between
    /// post and wait.
    pub(super) fn serve(
        &mut self,
        caches: &mut Caches,
        origins: &Group,
        burst: Burst,
        meanwhile: impl FnOnce(),
    ) -> Result<(), Failure> {
        match &mut self.means {
            Means::Windows { window, view } => {
                window.while_posted(view, caches, origins, |_| meanwhile())?;
            }
            Means::TwoSided => {
                meanwhile();
                for _ in 0..burst.count {
                    for origin in origins.iter() {
                        match burst.operation {
                            Operation::Put => self.comm.receive(&mut self.incoming[..burst.bytes], origin)?,
                            Operation::Get => self.comm.send(&self.outgoing[..burst.bytes], origin)?,
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Uses what has come, as a target: reads all of it once, by the caches. A message is in private memory, of which
    /// nothing is counted.
    pub(super) fn read_all(&self) {
        if let Means::Windows { view, .. } = &self.means {
            let mut line = [0; hal::LINE_BYTES];
            for first in (0..view.len()).step_by(line.len()) {
                let len = line.len().min(view.len() - first);
                view.copy_to(first, &mut line[..len]);
            }
        }
    }

    /// Insists that something has moved, as what does not move data has no speed: that `peer` has put to this rank, whose
    /// mark is where it puts first, or that this rank has got something from `peer`, to which nobody has put.
    pub(super) fn check(&self, operation: Operation, peer: usize) -> Result<(), Failure> {
        let found = match &self.means {
            Means::Windows { view, .. } if operation == Operation::Put => Some(view.load(0)),
            _ => self.incoming.first().copied(),
        };
        match found {
            Some(found) if found == mark(peer) => Ok(()),
            _ => Err(Failure::new(format_args!("what came is {found:?}, and rank {peer} sent {}", mark(peer)))),
        }
    }

    /// Frees the window. Collective.
    pub(super) fn free(self, caches: &mut Caches) -> Result<(), Failure> {
        match self.means {
            Means::Windows { window, view } => Ok(window.free(view, caches)?),
            Means::TwoSided => Ok(()),
        }
    }
}

/// What data of a rank consists of.
fn mark(rank: usize) -> u8 {
    (rank % 255) as u8 + 1
}
