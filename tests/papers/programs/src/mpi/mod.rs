//! `bench-mpi`: what `mpi.c` of the laboratory measures through C's MPI, by the calls of ours on which that stands, and by RCKMPI's
//! protocol.
//!
//! Messages go between rank 0 and the last one; other ranks wait in a barrier. Operations of all are timed on rank 0, from one
//! barrier on.

pub(crate) mod rckmpi;

use alloc::{string::String, vec};

use collectives::{Comm, Error, Operator, Source, Tag};
use hal::Core;
use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

use self::rckmpi::Sections;
use super::measure::{Of, Splits, demand, need_cores, repetitions, throughput, turns};

/// Bytes of messages.
const SIZES: [usize; 3] = [8, 1 << 10, 1 << 16];

/// Bytes of a rank in operations of all.
const BLOCKS: [usize; 2] = [8, 1 << 10];

/// Messages in a row, before they are answered.
const BURST: u32 = 16;

/// Turns that do not count.
const WARM_UP: u32 = 2;

const TAG: u32 = 1;

const TAGGED: &str = "tagged";
const RCKMPI: &str = "rckmpi";

/// Measures messages and operations of all.
pub struct Mpi;

impl Program for Mpi {
    const NAME: &'static str = "bench-mpi";
    const ABOUT: &'static str =
        "measures messages with tags, and operations of all, as C's MPI has them; or RCKMPI's protocol";
    const OPTIONS: &'static [KnownOption] = &[
        ("algorithm", "tagged, or rckmpi for messages by RCKMPI's protocol; tagged if not given"),
        ("repetitions", "turns that count, 10 if not given"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let algorithm = rank.args.get("algorithm", String::from(TAGGED))?;
        let why = format_args!("option `algorithm={algorithm}`: no such messages; there are {TAGGED} and {RCKMPI}");
        demand([TAGGED, RCKMPI].contains(&algorithm.as_str()), why)?;
        let repetitions = repetitions(rank, 10)?;
        need_cores(rank.comm, 2)?;
        if algorithm == RCKMPI {
            return messages(rank, &Way::Rckmpi(Sections::new(rank.comm)?), repetitions);
        }
        let opened = rank.comm.open_messages()?;
        messages(rank, &Way::Tagged(rank.comm), repetitions)?;
        for bytes in BLOCKS {
            operations(rank, bytes, repetitions)?;
        }
        opened.close()?;
        Ok(())
    }
}

/// How messages go.
enum Way<'w, 'c, C: Core> {
    Tagged(&'w Comm<'c, C>),
    Rckmpi(Sections<'w, 'c, C>),
}

impl<C: Core> Way<'_, '_, C> {
    fn name(&self) -> &'static str {
        if let Self::Tagged(_) = self { TAGGED } else { RCKMPI }
    }

    fn send(&self, message: &[u8], to: usize) -> Result<(), Error> {
        match self {
            Self::Tagged(comm) => comm.send_tagged(message, to, TAG),
            Self::Rckmpi(sections) => sections.send(message, to, TAG),
        }
    }

    fn receive(&self, message: &mut [u8], from: usize) -> Result<(), Error> {
        match self {
            Self::Tagged(comm) => comm.receive_tagged(message, Source::Rank(from), Tag::Is(TAG)).map(drop),
            Self::Rckmpi(sections) => sections.receive(message, from, TAG).map(drop),
        }
    }
}

/// Round trips, and messages in a row.
fn messages<C: Core>(rank: &Rank<'_, C>, way: &Way<'_, '_, C>, repetitions: u32) -> Result<(), Failure> {
    let (comm, me, last) = (rank.comm, rank.comm.rank(), rank.comm.size() - 1);
    for bytes in SIZES {
        comm.barrier();
        if me > 0 && me < last {
            continue;
        }
        let (peer, sent, mut received) = (last - me, vec![me as u8 + 1; bytes], vec![0; bytes]);
        let (mut there_and_back, mut burst) = (Splits::new("latency"), Splits::new("burst"));
        for counts in turns(WARM_UP, repetitions) {
            if me == 0 {
                there_and_back.take(rank.hal(), counts, || {
                    way.send(&sent, peer)?;
                    way.receive(&mut received, peer)
                })?;
            } else {
                way.receive(&mut received, peer)?;
                way.send(&sent, peer)?;
            }
        }
        if received.iter().any(|byte| *byte != peer as u8 + 1) {
            return Err(Failure::new(format_args!(
                "a message of rank {peer} has come with other bytes than were sent"
            )));
        }
        for counts in turns(WARM_UP, repetitions) {
            if me == 0 {
                burst.take(rank.hal(), counts, || {
                    (0..BURST).try_for_each(|_| way.send(&sent, peer))?;
                    way.receive(&mut received[..1], peer)
                })?;
            } else {
                (0..BURST).try_for_each(|_| way.receive(&mut received, peer))?;
                way.send(&sent[..1], peer)?;
            }
        }
        if me == 0 {
            let of = Of(way.name(), comm.size() as u64, bytes);
            there_and_back.send_as(rank, of, "latency", Unit::Ticks, &[], |ticks| ticks / 2);
            burst.send_as(rank, of, "each-of-a-burst", Unit::Ticks, &[], |ticks| ticks / u64::from(BURST));
            let moved = |ticks| throughput(rank.hal(), bytes * BURST as usize, ticks);
            burst.send_as(rank, of, "bandwidth", Unit::Rate, &[], moved);
        }
    }
    comm.barrier();
    Ok(())
}

/// Operations of all ranks, with `bytes` bytes of each.
fn operations<C: Core>(rank: &Rank<'_, C>, bytes: usize, repetitions: u32) -> Result<(), Failure> {
    let (comm, size) = (rank.comm, rank.comm.size());
    // Each rank has bytes of its own.
    let byte_of = |rank: usize| rank as u8 + 1;
    let mut one = vec![if comm.rank() == 0 { 9_u8 } else { 0 }; bytes];
    let (mut all, own) = (vec![0_u8; bytes * size], vec![byte_of(comm.rank()); bytes * size]);
    let (words, mut sums) = (vec![comm.rank() as i32; bytes / 4], vec![0_i32; bytes / 4]);
    let sum = (0..size as i32).sum::<i32>();
    let check = |name: &str, is_right: bool| match is_right {
        true => Ok(()),
        false => Err(Failure::new(format_args!("{name} has come to another result than it should"))),
    };
    let is_of_all =
        |all: &[u8]| all.chunks(bytes).enumerate().all(|(rank, part)| part.iter().all(|byte| *byte == byte_of(rank)));
    let measure = |name: &'static str, call: &mut dyn FnMut() -> Result<(), Error>| {
        let mut splits = Splits::new(name);
        for counts in turns(WARM_UP, repetitions) {
            comm.barrier();
            splits.take(rank.hal(), counts, &mut *call)?;
        }
        if comm.rank() == 0 {
            splits.send(rank, Of(TAGGED, size as u64, bytes), &[]);
        }
        Ok::<_, Failure>(())
    };
    measure("barrier", &mut || {
        comm.barrier();
        Ok(())
    })?;
    measure("broadcast", &mut || comm.broadcast(&mut one, 0))?;
    check("broadcast", one.iter().all(|byte| *byte == 9))?;
    measure("reduce", &mut || comm.reduce(&words[..], &mut sums, &Operator::SUM, 0))?;
    check("reduce", comm.rank() > 0 || sums.iter().all(|found| *found == sum))?;
    sums.fill(0);
    measure("allreduce", &mut || comm.allreduce(&words[..], &mut sums, &Operator::SUM))?;
    check("allreduce", sums.iter().all(|found| *found == sum))?;
    measure("allgather", &mut || comm.allgather(&own[..bytes], &mut all[..]))?;
    check("allgather", is_of_all(&all))?;
    all.fill(0);
    measure("alltoall", &mut || comm.alltoall(&own[..], &mut all[..]))?;
    check("alltoall", is_of_all(&all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{refused, run};

    #[test]
    fn messages_by_sections_come_whole() {
        for cores in [2_u64, 5, 48] {
            let by = run::<Mpi>(&std::format!("cores={cores} algorithm=rckmpi repetitions=2"));
            let took = |bytes| by.value(RCKMPI, "latency", (cores, bytes));
            assert!(took(8) < took(1 << 10) && 10 * took(1 << 10) < took(1 << 16));
        }
    }

    #[test]
    fn what_cannot_be_measured_is_said_once() {
        refused::<Mpi>(&[
            ("cores=1", "this takes 2 cores or more, and there are 1"),
            ("cores=2 algorithm=mpi", "option `algorithm=mpi`: no such messages; there are tagged and rckmpi"),
        ]);
    }
}
