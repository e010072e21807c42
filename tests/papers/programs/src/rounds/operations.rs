//! Every collective operation by every algorithm, of sizes below and above what their protocols treat alike.

use alloc::{format, vec};

use collectives::Operator;
use hal::Core;

use super::{
    super::collectives::{Call, Operation, ROOT, Word},
    recorder::Recorder,
};
use kernel::{Failure, Rank};

/// Words of a block: none, less than a line, a little more than one, some chunks of OC-Bcast.
const WORDS: [usize; 4] = [0, 3, 5, 1000];

/// The same where each rank has a block for each.
const WORDS_OF_EACH: [usize; 3] = [0, 3, 40];

/// The operations and their algorithms.
const OPERATIONS: [(&str, &[&str]); 10] = [
    (
        "broadcast",
        &[
            "default",
            "short",
            "long",
            "binomial",
            "scatter-allgather",
            "scatter-allgather-overlapped",
            "scatter-allgather-one-sided",
            "oc-k2",
            "oc-k7",
            "oc-k47",
            "oc-k7+leaves+tiles",
            "oc-k3+single+notify3",
        ],
    ),
    ("reduce", REDUCTIONS),
    ("allreduce", REDUCTIONS),
    ("reduce-scatter", REDUCTIONS),
    ("scan", SCANS),
    ("exscan", SCANS),
    ("gather", EXCHANGES),
    ("scatter", EXCHANGES),
    ("allgather", EXCHANGES),
    ("alltoall", EXCHANGES),
];
const REDUCTIONS: &[&str] = &["default", "tree", "blocks", "two-sided"];
const SCANS: &[&str] = &["default", "doubling", "chain", "two-sided"];
const EXCHANGES: &[&str] = &["default", "long", "two-sided"];

pub(super) fn run<C: Core>(rank: &mut Rank<'_, C>, recorder: &mut Recorder<'_, C>) -> Result<(), Failure> {
    let (comm, me, size) = (rank.comm, rank.comm.rank(), rank.comm.size());
    let mut number = 0;
    for (name, algorithms) in OPERATIONS {
        let has_block_for_each = Operation::parse(name, "default")?.lens(1, true, size).0.max(1) == size && size > 1;
        let sizes = if has_block_for_each || name == "allgather" { &WORDS_OF_EACH[..] } else { &WORDS };
        for algorithm in algorithms {
            let operation = Operation::parse(name, algorithm)?;
            for &count in sizes {
                number += 1;
                let (send_len, receive_len) = operation.lens(count, me == ROOT, size);
                let (mut send, mut receive) = (vec![Word::default(); send_len], vec![Word::default(); receive_len]);
                let call = Call { number, me, size, count };
                operation.prepare(&call, &mut send, &mut receive);
                recorder.step(format!("{name}/{algorithm}/{}", count * 8), || {
                    Ok(operation.run(comm, &send, &mut receive)?)
                })?;
                operation.check(&call, &receive)?;
            }
        }
    }
    nonblocking(rank, recorder)
}

/// Operations that go on by themselves.
fn nonblocking<C: Core>(rank: &Rank<'_, C>, recorder: &mut Recorder<'_, C>) -> Result<(), Failure> {
    let (comm, size) = (rank.comm, rank.comm.size());
    for len in [0, 24, 100] {
        let mut message = vec![7_u8; len];
        recorder.step(format!("start-broadcast/{len}"), || {
            comm.start_broadcast(&mut message, size / 2)?.wait()?;
            Ok(())
        })?;
    }
    for len in [1, 7] {
        let mut numbers = vec![1_u64; len];
        recorder.step(format!("start-allreduce/{}", len * 8), || {
            comm.start_allreduce(collectives::InPlace, &mut numbers, Operator::SUM)?.wait()?;
            Ok(())
        })?;
    }
    recorder.step("start-barrier", || {
        comm.start_barrier()?.wait()?;
        Ok(())
    })
}
