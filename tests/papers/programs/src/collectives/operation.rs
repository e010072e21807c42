//! The operations, by name, with data that tells who sent what to whom.

use alloc::format;
use core::{fmt, str::FromStr};

use collectives::{Barrier, Broadcast, Comm, Exchange, Operator, Reduction, Scan};
use hal::Core;

use kernel::Failure;

/// What ranks exchange and combine.
pub(in super::super) type Word = u64;

/// A collective operation, and by which algorithm.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Operation {
    Barrier(Barrier),
    Broadcast(Broadcast),
    Reduce(Reduction),
    Allreduce(Reduction),
    ReduceScatter(Reduction),
    Scan(Scan),
    Exscan(Scan),
    Gather(Exchange),
    Scatter(Exchange),
    Allgather(Exchange),
    Alltoall(Exchange),
    /// Making a communicator of all ranks, and giving it up.
    Dup,
    /// Making two communicators, of even and of odd ranks, and giving them up.
    Split,
}

/// The rank that has what only one has.
pub(in super::super) const ROOT: usize = 0;

/// What the data of one call depends on.
#[derive(Clone, Copy)]
pub(in super::super) struct Call {
    /// Its number, so that calls differ.
    pub(in super::super) number: u64,
    pub(in super::super) me: usize,
    pub(in super::super) size: usize,
    /// Words of a block.
    pub(in super::super) count: usize,
}

impl Call {
    /// Word `index` of what `from` has for `to`; where it is for all alike, `to` is 0.
    fn word(&self, from: usize, to: usize, index: usize) -> Word {
        let place = self.number << 20 ^ index as u64;
        place.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add((from << 16 | to) as u64)
    }

    /// The sum of what these ranks have.
    fn sum(&self, ranks: core::ops::Range<usize>, to: usize, index: usize) -> Word {
        ranks.map(|from| self.word(from, to, index)).fold(0, u64::wrapping_add)
    }
}

impl Operation {
    /// The operations by name, and how each comes by its algorithm.
    pub(in super::super) const NAMES: [&'static str; 13] = [
        "barrier",
        "broadcast",
        "reduce",
        "allreduce",
        "reduce-scatter",
        "scan",
        "exscan",
        "gather",
        "scatter",
        "allgather",
        "alltoall",
        "dup",
        "split",
    ];

    /// The operation of this name by the algorithm of that name.
    pub(in super::super) fn parse(name: &str, algorithm: &str) -> Result<Self, Failure> {
        fn by<A: FromStr<Err: fmt::Display>>(algorithm: &str) -> Result<A, Failure> {
            let wrong = |why| Failure::new(format_args!("option `algorithm={algorithm}`: {why}")).on_all_ranks();
            algorithm.parse().map_err(wrong)
        }
        Ok(match name {
            "barrier" => Self::Barrier(by(algorithm)?),
            "broadcast" => Self::Broadcast(by(algorithm)?),
            "reduce" => Self::Reduce(by(algorithm)?),
            "allreduce" => Self::Allreduce(by(algorithm)?),
            "reduce-scatter" => Self::ReduceScatter(by(algorithm)?),
            "scan" => Self::Scan(by(algorithm)?),
            "exscan" => Self::Exscan(by(algorithm)?),
            "gather" => Self::Gather(by(algorithm)?),
            "scatter" => Self::Scatter(by(algorithm)?),
            "allgather" => Self::Allgather(by(algorithm)?),
            "alltoall" => Self::Alltoall(by(algorithm)?),
            "dup" | "split" if algorithm != "default" => {
                let why = format!("option `algorithm={algorithm}`: communicators are made in one way, default");
                return Err(Failure::new(why).on_all_ranks());
            }
            "dup" => Self::Dup,
            "split" => Self::Split,
            _ => {
                let why = format!("option `operation={name}`: no such operation; there are {}", Self::NAMES.join(","));
                return Err(Failure::new(why).on_all_ranks());
            }
        })
    }

    /// Whether there is anything to send.
    pub(in super::super) fn has_data(self) -> bool {
        !matches!(self, Self::Barrier(_) | Self::Dup | Self::Split)
    }

    /// Words that a rank sends and receives, where a block has `count`.
    pub(in super::super) fn lens(self, count: usize, is_root: bool, size: usize) -> (usize, usize) {
        let at_root = |len: usize| if is_root { len } else { 0 };
        match self {
            Self::Barrier(_) | Self::Dup | Self::Split => (0, 0),
            Self::Broadcast(_) => (0, count),
            Self::Reduce(_) | Self::Allreduce(_) | Self::Scan(_) | Self::Exscan(_) => (count, count),
            Self::ReduceScatter(_) => (size * count, count),
            Self::Gather(_) => (count, at_root(size * count)),
            Self::Scatter(_) => (at_root(size * count), count),
            Self::Allgather(_) => (count, size * count),
            Self::Alltoall(_) => (size * count, size * count),
        }
    }

    /// Fills in what a rank sends. A broadcast's root has it where it would receive it.
    pub(in super::super) fn prepare(self, call: &Call, send: &mut [Word], receive: &mut [Word]) {
        let to_each = matches!(self, Self::ReduceScatter(_) | Self::Scatter(_) | Self::Alltoall(_));
        let is_source = matches!(self, Self::Broadcast(_)) && call.me == ROOT;
        let data = if is_source { receive } else { send };
        for (place, word) in data.iter_mut().enumerate() {
            let to = if to_each { place / call.count.max(1) } else { 0 };
            *word = call.word(call.me, to, if to_each { place % call.count.max(1) } else { place });
        }
    }

    /// Does it.
    pub(in super::super) fn run<C: Core>(
        self,
        comm: &Comm<'_, C>,
        send: &[Word],
        receive: &mut [Word],
    ) -> Result<(), collectives::Error> {
        let sum = &Operator::<Word>::SUM;
        match self {
            // One that is used again is made once, see `measure`.
            Self::Barrier(by) => {
                comm.barrier_of(&comm.group(), by)?.wait();
                Ok(())
            }
            Self::Broadcast(by) => comm.using(by, |comm| comm.broadcast(receive, ROOT)),
            Self::Reduce(by) => comm.using(by, |comm| comm.reduce(send, receive, sum, ROOT)),
            Self::Allreduce(by) => comm.using(by, |comm| comm.allreduce(send, receive, sum)),
            Self::ReduceScatter(by) => comm.using(by, |comm| comm.reduce_scatter(send, receive, sum)),
            Self::Scan(by) => comm.using(by, |comm| comm.scan(send, receive, sum)),
            Self::Exscan(by) => comm.using(by, |comm| comm.exscan(send, receive, sum)),
            Self::Gather(by) => comm.using(by, |comm| comm.gather(send, receive, ROOT)),
            Self::Scatter(by) => comm.using(by, |comm| comm.scatter(send, receive, ROOT)),
            Self::Allgather(by) => comm.using(by, |comm| comm.allgather(send, receive)),
            Self::Alltoall(by) => comm.using(by, |comm| comm.alltoall(send, receive)),
            Self::Dup => comm.dup()?.free(),
            Self::Split => comm.split(Some(comm.rank() as u32 % 2), 0)?.map_or(Ok(()), Comm::free),
        }
    }

    /// Looks whether a rank has what it should.
    pub(in super::super) fn check(self, call: &Call, receive: &[Word]) -> Result<(), Failure> {
        let Call { me, size, count, .. } = *call;
        let all = 0..size;
        let is_right = |place: usize, word: Word| {
            let (block, index) = (place / count.max(1), place % count.max(1));
            let expected = match self {
                Self::Reduce(_) if me != ROOT => return true,
                // The first rank has nothing before it.
                Self::Exscan(_) if me == 0 => return true,
                Self::Barrier(_) | Self::Dup | Self::Split => return true,
                Self::Broadcast(_) => call.word(ROOT, 0, index),
                Self::Reduce(_) | Self::Allreduce(_) => call.sum(all.clone(), 0, index),
                Self::ReduceScatter(_) => call.sum(all.clone(), me, index),
                Self::Scan(_) => call.sum(0..me + 1, 0, index),
                Self::Exscan(_) => call.sum(0..me, 0, index),
                Self::Gather(_) | Self::Allgather(_) => call.word(block, 0, index),
                Self::Scatter(_) => call.word(ROOT, me, index),
                Self::Alltoall(_) => call.word(block, me, index),
            };
            word == expected
        };
        match receive.iter().enumerate().find(|(place, word)| !is_right(*place, **word)) {
            None => Ok(()),
            Some((place, _)) => Err(Failure::new(format_args!("call {}: word {place} is wrong", call.number))),
        }
    }
}
