//! What ranks do together: epochs, barriers, broadcasts and other collective operations.

use alloc::{format, vec, vec::Vec};

use collectives::{Barrier, Broadcast, Class, Error, Group, InPlace, OcBcast, Operator, Window};
use hal::Core;

use super::{Counter, come_late};
use crate::measure::Of;
use kernel::{Failure, Rank};

/// Messages that are broadcast: what is added to the algorithm's name, and bytes.
const MESSAGES: [(&str, usize); 2] = [("", 28), ("-3072", 3072)];

/// Words of a rank, or of a block, in collective operations.
const WORDS: [usize; 2] = [2, 128];

/// What a rank of a tree is: the name of the metric that its instructions are counted by.
fn role(rank: usize, fan_in: usize, size: usize) -> &'static str {
    match rank {
        0 => "root",
        _ if fan_in.saturating_mul(rank) + 1 < size => "inner",
        _ => "others",
    }
}

const ROLES: [&str; 3] = ["root", "inner", "others"];

impl Counter {
    pub(super) fn epochs<C: Core>(&self, rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        for class in [Class::Default, Class::TriggerOnly] {
            for targets in [1, 13, 31].into_iter().filter(|targets| *targets < rank.comm.size()) {
                self.epochs_with(rank, class, targets)?;
            }
        }
        Ok(())
    }

    /// Epochs of rank 0 with `targets` targets.
    fn epochs_with<C: Core>(&self, rank: &mut Rank<'_, C>, class: Class, targets: usize) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let (group, origin) = (Group::of(1..=targets)?, Group::of([0])?);
        let (window, mut view) = Window::<C, u32>::with_class(comm, &mut rank.caches, 0, class)?;
        let [mut opened, mut closed] = [Vec::new(), Vec::new()];
        for (counted, counts) in self.turns() {
            comm.barrier();
            let (opening, closing) = if comm.rank() == 0 {
                come_late(hal, 8);
                let (access, opening) = Self::count(hal, counted, || window.start(&group));
                let access = access?;
                (opening, Self::count(hal, counted, || access.complete()).1)
            } else if comm.rank() <= targets {
                let (exposure, opening) = Self::count(hal, counted, || window.post(view, &mut rank.caches, &origin));
                let exposure = exposure?;
                come_late(hal, 16);
                let closing;
                (view, closing) = Self::count(hal, counted, || exposure.wait(&mut rank.caches));
                (opening, closing)
            } else {
                continue;
            };
            if counts {
                opened.push(opening);
                closed.push(closing);
            }
        }
        let algorithm = format!("pscw-{}", class.name());
        let of = Of(&algorithm, targets as u64, 0);
        if comm.rank() == 0 {
            let both: Vec<_> = opened.iter().zip(&closed).map(|(opening, closing)| opening + closing).collect();
            self.send(rank, of, "origin", &both);
            self.send(rank, of, "start", &opened);
            self.send(rank, of, "complete", &closed);
        } else {
            self.send(rank, of, "post", &opened);
            self.send(rank, of, "wait", &closed);
        }
        Ok(window.free(view, &mut rank.caches)?)
    }

    pub(super) fn barriers<C: Core>(&self, rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let all = comm.group();
        let fan_in = match Barrier::fastest(&all, hal.layout()) {
            Barrier::Tree { fan_in, .. } | Barrier::PolledTree { fan_in } => fan_in,
            _ => comm.size(),
        };
        // Few ranks tell what a barrier takes once, and many what it takes for each flag.
        let of_ranks = if comm.size() == 2 { "-of-2" } else { "" };
        self.by_role(rank, &format!("barrier-default{of_ranks}"), fan_in, Order::ParentsLast, || comm.barrier())?;
        for (name, kind, fan_in) in [
            ("group", Barrier::Default, fan_in),
            ("dissemination", "dissemination".parse()?, comm.size()),
            ("rcce-linear", Barrier::RcceLinear, comm.size()),
        ] {
            let mut barrier = comm.barrier_of(&all, kind)?;
            let algorithm = format!("barrier-{name}{of_ranks}");
            self.by_role(rank, &algorithm, fan_in, Order::ParentsLast, || barrier.wait())?;
        }
        Ok(())
    }

    pub(super) fn broadcasts<C: Core>(&self, rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let comm = rank.comm;
        for (length, bytes) in MESSAGES {
            let mut message = vec![0_u8; bytes];
            for (name, fan_in) in [("default", comm.size()), ("oc-k7", OcBcast::default().k)] {
                let algorithm: Broadcast = name.parse()?;
                let broadcast = || comm.using(algorithm, |comm| comm.broadcast(&mut message, 0));
                self.by_role(rank, &format!("broadcast-{name}{length}"), fan_in, Order::ParentsFirst, broadcast)?;
            }
        }
        Ok(())
    }

    /// Reductions and exchanges of few words and of many.
    pub(super) fn collectives<C: Core>(&self, rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, size) = (rank.comm, rank.comm.size());
        for words in WORDS {
            let (own, mut one) = (vec![1_u32; words], vec![0_u32; words]);
            let (of_each, mut all) = (vec![1_u32; words * size], vec![0_u32; words * size]);
            let count = |name: &str, call: &mut dyn FnMut() -> Result<(), Error>| {
                self.by_role(rank, &format!("{name}-{words}"), size, Order::SlowestLast, call)
            };
            count("reduce", &mut || comm.reduce(&own[..], &mut one[..], &Operator::SUM, 0))?;
            count("allreduce", &mut || comm.allreduce(&own[..], &mut one[..], &Operator::SUM))?;
            count("scan", &mut || comm.scan(&own[..], &mut one[..], &Operator::SUM))?;
            count("reduce-scatter", &mut || comm.reduce_scatter(&of_each[..], &mut one[..], &Operator::SUM))?;
            count("gather", &mut || comm.gather(&own[..], &mut all[..], 0))?;
            count("scatter", &mut || comm.scatter(&of_each[..], &mut one[..], 0))?;
            count("allgather", &mut || comm.allgather(&own[..], &mut all[..]))?;
            count("alltoall", &mut || comm.alltoall(&of_each[..], &mut all[..]))?;
        }
        Ok(())
    }

    /// Calls of all ranks, those of a tree told apart.
    fn by_role<C: Core, R>(
        &self,
        rank: &Rank<'_, C>,
        algorithm: &str,
        fan_in: usize,
        order: Order,
        mut call: impl FnMut() -> R,
    ) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let mut counts = Vec::new();
        for (counted, is_kept) in self.turns() {
            comm.barrier();
            let place = match order {
                Order::ParentsFirst => comm.rank(),
                Order::ParentsLast | Order::SlowestLast => comm.size() - comm.rank(),
            };
            come_late(hal, order.pace() * place as u64);
            let (_, count) = Self::count(hal, counted, &mut call);
            if is_kept {
                counts.push(count);
            }
        }
        let own = role(comm.rank(), fan_in, comm.size());
        // The most of all ranks of a role, each time.
        let mut most = vec![0; ROLES.len() * counts.len()];
        for (role, most) in ROLES.iter().zip(most.chunks_mut(counts.len())) {
            if *role == own {
                most.copy_from_slice(&counts);
            }
        }
        comm.allreduce(InPlace, &mut most, &Operator::MAX)?;
        for (role, most) in ROLES.iter().zip(most.chunks(counts.len())) {
            if comm.rank() == 0 && most.iter().any(|count| *count > 0) {
                self.send(rank, Of(algorithm, 0, 0), role, most);
            }
        }
        Ok(())
    }
}

/// In which order ranks come, so that each finds those there that it waits for.
#[derive(Clone, Copy)]
enum Order {
    ParentsFirst,
    ParentsLast,
    /// Parents last, each later by more than what it does for others takes.
    SlowestLast,
}

impl Order {
    /// How much later each rank comes than the one before.
    fn pace(self) -> u64 {
        if matches!(self, Self::SlowestLast) { 4 } else { 1 }
    }
}
