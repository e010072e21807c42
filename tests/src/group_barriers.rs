//! Barriers on flags in MPBs: of all ranks and of some, by all algorithms.

use alloc::vec::Vec;

use collectives::{Barrier, Error, Group, InPlace, Operator};
use hal::{Core, MpbLine, kind};

use crate::{
    Context, Failed, check,
    check::Outcome,
    check_eq,
    memory::{free, shared},
};

/// Names of barriers that differ in what ranks do.
const NAMES: [&str; 15] = [
    "default",
    "rcce-linear",
    "central-push",
    "butterfly",
    "dissemination",
    "dissemination-3",
    "dissemination-2-pull",
    "tree-k2-push",
    "tree-k3-pull",
    "tree-k8-pull",
    "tree-k4-polled",
    "tournament",
    "hierarchical",
    "hierarchical-k2",
    "flat",
];

/// Those that are tested on many ranks, too.
const FEW: [&str; 4] = ["default", "dissemination-2-pull", "tree-k3-pull", "hierarchical"];

/// The barriers that are tested on so many ranks.
fn all<C: Core>(context: &Context<'_, '_, C>) -> impl Iterator<Item = Barrier> + use<C> {
    let names = if context.has_many_ranks() { &FEW[..] } else { &NAMES };
    names.iter().map(|name| name.parse().expect("it is a name"))
}

/// Rounds on `size` ranks.
fn rounds(size: usize) -> u32 {
    if size < 64 { 3 } else { 1 }
}

/// A line of the MPB of `core` that no protocol uses: the last of the spare ones, since barriers take the first.
fn line<C: Core>(context: &Context<'_, '_, C>, core: usize) -> MpbLine {
    MpbLine::new(context.comm.core_of(core), context.comm.mpb_layout().spare().end - 1)
}

/// Nobody leaves before all have come, with one late each time; and what they have stored to each kind of memory is
/// seen by all.
pub fn separate_phases<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let words = shared::<_, kind::Uncached>(context, size * 4)?;
    let bytes = shared::<_, kind::Combined>(context, size * 4)?;
    let mut value = 0u8;
    for algorithm in all(context) {
        let mut barrier = context.comm.barrier_of(&context.comm.group(), algorithm)?;
        for round in 0..rounds(size) {
            value += 1;
            if rank == (round as usize * 7 + usize::from(value)) % size {
                hal.compute(30_000);
            }
            hal.store_word(words, rank, value.into());
            hal.write(bytes, rank * 4, &[value]);
            hal.store(line(context, rank), 5, &[value]);
            barrier.wait();
            // What it has stored itself, a rank that is alone has drained nowhere.
            let others = (0..size).filter(|peer| *peer != rank);
            for peer in others.filter(|peer| size < 64 || (peer + rank) % 16 == 0) {
                let mut byte = [0];
                hal.read(bytes, peer * 4, &mut byte);
                let seen = [hal.load_word(words, peer) as u8, byte[0], hal.load_line(line(context, peer)).0[5]];
                check!(
                    seen.iter().all(|seen| *seen >= value),
                    "after round {value} of {algorithm}, of rank {peer} is seen: {seen:?}"
                );
            }
            barrier.wait();
        }
    }
    free(context, bytes)?;
    free(context, words)
}

/// Waits for a barrier and checks that all members had come.
fn meet<C: Core>(
    context: &Context<'_, '_, C>,
    words: hal::Region<kind::Uncached>,
    group: &Group,
    algorithm: Barrier,
    rounds: core::ops::Range<u32>,
) -> Result<(), Failed> {
    let mut barrier = context.comm.barrier_of(group, algorithm)?;
    for round in rounds {
        context.hal().store_word(words, context.rank(), round);
        barrier.wait();
        if group.contains(context.rank()) {
            for peer in group.iter() {
                let seen = context.hal().load_word(words, peer);
                check!(seen >= round, "{algorithm}: rank {peer} had come to {seen} only, not {round}");
            }
        }
    }
    Ok(())
}

/// Rows of three, and columns; groups of one, of none, and such that not all ranks are in; of some members of each
/// coherence domain.
pub fn groups<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let words = shared::<_, kind::Uncached>(context, size * 4)?;
    let of = |keep: &dyn Fn(usize) -> bool| Group::of((0..size).filter(|peer| keep(*peer)));
    let odd = of(&|peer| peer % 2 == 1)?;
    let groups = [
        of(&|peer| peer / 3 == rank / 3)?,
        of(&|peer| peer % 3 == rank % 3)?,
        of(&|peer| peer == rank)?,
        // Others name it, too, or none.
        if rank % 4 == 2 { Group::empty() } else { odd },
        Group::empty(),
        of(&|peer| peer % 5 != 2 || peer == size - 1)?,
    ];
    let many = context.has_many_ranks();
    for (nth, algorithm) in all(context).enumerate() {
        for (index, group) in groups.iter().enumerate().filter(|(index, _)| !many || (nth + index) % 3 == 0) {
            let first = 1 + 2 * (nth * groups.len() + index) as u32;
            meet(context, words, group, algorithm, first..first + 2)?;
        }
    }
    free(context, words)
}

/// More barriers than a flag can count, with nothing in between, and no two in step with the world's.
pub fn back_to_back<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let size = context.size();
    for algorithm in all(context) {
        let mut barrier = context.comm.barrier_of(&context.comm.group(), algorithm)?;
        let rounds = match size {
            ..=4 if algorithm == Barrier::Default => 1000,
            ..=4 => 300,
            5..=16 if algorithm == Barrier::Default => 300,
            _ => 3 * rounds(size),
        };
        for round in 0..rounds {
            barrier.wait();
            if round % 100 == 99 {
                context.comm.barrier();
            }
        }
    }
    Ok(())
}

/// Collective operations and barriers of all between arrival and release; tests; and an arrival that is dropped.
pub fn split_phase<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let words = shared::<_, kind::Uncached>(context, size * 4)?;
    let mut value = 0;
    for algorithm in all(context) {
        let mut barrier = context.comm.barrier_of(&context.comm.group(), algorithm)?;
        for round in 0..rounds(size) {
            value += 1;
            hal.store_word(words, rank, value);
            let mut arrived = barrier.arrive();
            context.comm.barrier();
            let mut message = [value as u8; 40];
            context.comm.broadcast(&mut message, round as usize % size)?;
            let mut sum = [1u32];
            context.comm.allreduce(InPlace, &mut sum, &Operator::SUM)?;
            check_eq!(sum, [size as u32], "a sum between arrival and release");
            if rank % 2 == 0 {
                while !arrived.test() {
                    hal.compute(1_000);
                    hal.relax();
                }
                check!(arrived.test(), "what was complete is not any more");
            }
            if rank % 3 == 0 {
                drop(arrived)
            } else {
                arrived.wait()
            }
            for peer in 0..size {
                check!(hal.load_word(words, peer) >= value, "{algorithm}: rank {peer} had not arrived");
            }
            barrier.wait();
        }
    }
    free(context, words)
}

/// Barriers of a row, a column and of all exist at the same time, and one is arrived at while another is waited for.
pub fn several_at_once<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let words = shared::<_, kind::Uncached>(context, size * 4)?;
    let width = size.isqrt();
    let row = Group::of((0..size).filter(|peer| peer / width == rank / width))?;
    let column = Group::of((0..size).filter(|peer| peer % width == rank % width))?;
    let mut rows = context.comm.barrier_of(&row, Barrier::Default)?;
    let mut columns = context.comm.barrier_of(&column, Barrier::Butterfly)?;
    let mut everybody = context.comm.barrier_of(&context.comm.group(), Barrier::Hierarchical { fan_in: 2 })?;
    for round in 1..=10 * rounds(size) {
        hal.store_word(words, rank, round);
        let arrived = everybody.arrive();
        rows.wait();
        row.iter().try_for_each(|peer| {
            check!(hal.load_word(words, peer) >= round, "rank {peer} of the row had not arrived");
            Ok(())
        })?;
        let column_arrived = columns.arrive();
        drop(arrived);
        column_arrived.wait();
        (0..size).filter(|peer| size < 64 || peer % 16 == rank % 16).try_for_each(|peer| {
            check!(hal.load_word(words, peer) >= round, "rank {peer} had not arrived");
            Ok(())
        })?;
    }
    drop((rows, columns, everybody));
    free(context, words)
}

/// Flags that are set, drains, and lines that polls read which succeed.
pub fn cost_what_they_should<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let (is_root, others) = (rank == 0, size as u64 - 1);
    let rounds = u64::from(size.next_power_of_two().ilog2());
    let in_fours = (0..).take_while(|rounds| 4usize.pow(*rounds) < size).count() as u64;
    let alone = size == 1;
    // Flags set and lines polled.
    let expected: Vec<(&str, (u64, u64))> = [
        ("rcce-linear", if is_root { (1 + others, others) } else { (1, 1) }),
        ("central-push", if is_root { (others, others.div_ceil(32)) } else { (1, 1) }),
        ("dissemination", (rounds, rounds)),
        ("dissemination-1-pull", (rounds, rounds)),
        ("tree-k1-pull", (2 - u64::from(is_root || rank == size - 1), 2 - u64::from(is_root || rank == size - 1))),
    ]
    .into_iter()
    .map(|(name, counts)| (name, if alone { (0, 0) } else { counts }))
    .filter(|(name, _)| size < 64 || *name != "rcce-linear" && *name != "central-push")
    .collect();
    for (name, counts) in expected {
        let algorithm: Barrier = name.parse()?;
        let mut barrier = context.comm.barrier_of(&context.comm.group(), algorithm)?;
        barrier.wait();
        let before = hal.counters();
        barrier.wait();
        let done = hal.counters() - before;
        check_eq!((done.mpb_lines_written, done.lines_polled), counts, "flags set and lines polled");
        check!(done.drains <= done.mpb_lines_written, "{name}: {} drains", done.drains);
        let others = (done.mpb_lines_read, done.words_read, done.words_written, done.tsr_acquired);
        check_eq!(others, (0, 0, 0, 0), "other accesses of a barrier");
    }
    let mut barrier = context.comm.barrier_of(&context.comm.group(), "dissemination-3".parse()?)?;
    let before = hal.counters();
    barrier.wait();
    let done = hal.counters() - before;
    check!(done.drains == in_fours && done.mpb_lines_written <= 3 * in_fours, "three partners a round: {done:?}");
    Ok(())
}

/// What one rank asks for in vain is refused everywhere, and nothing has changed.
pub fn refusals<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, rank, size) = (context.comm, context.rank(), context.size());
    let everybody = comm.group();
    let no_tree = if rank == size - 1 { Barrier::PolledTree { fan_in: 0 } } else { Barrier::Default };
    check_eq!(comm.barrier_of(&everybody, no_tree).err(), Some(Error::NoDegree), "a tree without children");
    let beyond = if rank == 0 { Group::of([0, size + 4])? } else { Group::empty() };
    let expected = Error::NoSuchRank { rank: size + 4, size };
    check_eq!(comm.barrier_of(&beyond, Barrier::Default).err(), Some(expected), "a rank that does not exist");
    let mut all = Vec::new();
    let refused = loop {
        match comm.barrier_of(&everybody, Barrier::Hierarchical { fan_in: 8 }) {
            Ok(_) if size == 1 => return Ok(()),
            Ok(barrier) => all.push(barrier),
            Err(refused) => break refused,
        }
    };
    check!(matches!(refused, Error::NoSpareLines { .. }), "without lines: {refused:?}");
    all.iter_mut().for_each(|barrier| barrier.wait());
    let held = all.len();
    drop(all);
    let again = (0..held).map(|_| comm.barrier_of(&everybody, Barrier::Hierarchical { fan_in: 8 }));
    let again: Vec<_> = again.collect::<Result<_, _>>()?;
    check_eq!(again.len(), held, "barriers after others have ended");
    let profile = comm.rcce_profile();
    if let Ok(profile) = profile {
        check_eq!(
            comm.barrier_of(&everybody, no_tree).err(),
            Some(Error::ProfileInForce),
            "while the profile is in force"
        );
        drop(profile);
    }
    Ok(())
}

/// Nobody's barrier ends before all ranks have come to that, be they members or not.
pub fn ends_are_barriers<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let words = shared::<_, kind::Uncached>(context, size * 4)?;
    let group = Group::of((0..size).filter(|peer| peer % 2 == 0))?;
    for round in 1..=3 {
        let mut barrier = context.comm.barrier_of(&group, Barrier::Default)?;
        barrier.wait();
        if rank == (round as usize + 1) % size {
            hal.compute(30_000);
        }
        hal.store_word(words, rank, round);
        drop(barrier);
        let missing = (0..size).find(|peer| hal.load_word(words, *peer) < round);
        check_eq!(missing, None, "a rank that had not come to the end of the barrier");
        context.comm.barrier();
    }
    free(context, words)
}
