//! `bench-collectives`: how long collective operations take, by bytes.
//!
//! All ranks call at one moment, to within less than a poll takes, and the time is that from the last call to the last
//! return. Bytes are those of a block: what each rank contributes to a gather, receives from a scatter or a
//! reduce-scatter, and sends to each in an all-to-all; of a vector in reductions and scans. Every result is checked.
//! Buffers change with the calls, so that no cache holds what an operation begins with.

mod members;
mod operation;
#[cfg(test)]
mod tests;

use alloc::{format, string::String, vec, vec::Vec};

use collectives::Comm;
use hal::Core;

use self::members::Members;
pub(super) use self::operation::{Call, Operation, ROOT, Word};
use super::{
    broadcast::{FLUSHING_BYTES, Sizes, Span, Times, meet},
    measure::{Of, demand, repetitions, spread},
};
use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

/// Calls that do not count.
const WARM_UP: usize = 1;

/// Cycles that ranks are apart at most: less than a poll, so that those of different calls fall differently.
const JITTER_CYCLES: u64 = 64;

/// Bytes of the operations, if none are given.
const SIZES: &str = "8,64,256,1024,4096,16384,65536";

/// Measures collective operations.
pub struct Collectives;

impl Program for Collectives {
    const NAME: &'static str = "bench-collectives";
    const ABOUT: &'static str = "measures collective operations, by bytes";
    const OPTIONS: &'static [KnownOption] = &[
        (
            "operation",
            "barrier, broadcast, reduce, allreduce, reduce-scatter, scan, exscan, gather, scatter, allgather, alltoall, \
             dup or split; allreduce if not given",
        ),
        ("algorithm", "by which algorithm: default, two-sided, or one of the operation's own; default if not given"),
        ("sizes", "bytes of a block, multiples of 8 with commas between, 8 to 65536 if not given"),
        (
            "members",
            "on which ranks: all, dup for all of them in a duplicate, half, odd, row or tile; all if not given",
        ),
        ("repetitions", "calls that count, 3 if not given"),
        ("seed", "what moments of calls are drawn from"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let name = rank.args.get("operation", String::from("allreduce"))?;
        let algorithm = rank.args.get("algorithm", String::from("default"))?;
        let operation = Operation::parse(&name, &algorithm)?;
        let sizes: Sizes = rank.args.get("sizes", SIZES.parse().map_err(Failure::new)?)?;
        let sizes: Vec<usize> = if operation.has_data() { sizes.iter().collect() } else { vec![0] };
        let odd = sizes.iter().find(|bytes| !bytes.is_multiple_of(size_of::<Word>()));
        demand(odd.is_none(), format_args!("option `sizes`: {} is no multiple of 8", odd.unwrap_or(&0)))?;
        let repetitions: usize = repetitions(rank, 3)?;
        let seed = rank.args.get("seed", 0)?;
        let members: Members = rank.args.get("members", Members::All)?;
        let made = members.communicator(rank.comm)?;
        let calls = (WARM_UP + repetitions, seed);
        let comm = if members == Members::All { Some(rank.comm) } else { made.as_ref() };
        if let Some(comm) = comm {
            let mut times = Times::default();
            for &bytes in &sizes {
                rank.phase(&format!("{bytes} bytes"));
                measure(comm, operation, bytes, calls, &mut times)?;
            }
            let spans = times.combine(comm)?;
            let (algorithm, ranks) = match members {
                Members::All => (format!("{name}-{algorithm}"), 0),
                _ => (format!("{name}-{algorithm}-{members}"), comm.size() as u64),
            };
            report(rank, (&algorithm, ranks), &sizes, &spans, repetitions);
        }
        rank.comm.barrier();
        Ok(())
    }
}

/// Sends what calls took on all ranks.
fn report<C: Core>(
    rank: &Rank<'_, C>,
    (algorithm, ranks): (&str, u64),
    sizes: &[usize],
    spans: &[Span],
    repetitions: usize,
) {
    for (bytes, calls) in sizes.iter().zip(spans.chunks_exact(WARM_UP + repetitions)) {
        let latencies = calls[WARM_UP..].iter().map(|span| span.last_return.saturating_sub(span.last_call));
        Of(algorithm, ranks, *bytes).send(rank, "latency", Unit::Ticks, latencies);
    }
}

fn measure<C: Core>(
    comm: &Comm<'_, C>,
    operation: Operation,
    bytes: usize,
    (calls, seed): (usize, u64),
    times: &mut Times,
) -> Result<(), Failure> {
    let (hal, me) = (comm.hal(), comm.rank());
    let (size, count) = (comm.size(), bytes / size_of::<Word>());
    let (send_len, receive_len) = operation.lens(count, me == ROOT, size);
    // As many as caches do not hold together, or as there are calls.
    let buffers = (FLUSHING_BYTES / ((send_len + receive_len).max(1) * size_of::<Word>())).clamp(1, calls);
    let mut barrier = match operation {
        Operation::Barrier(by) => Some(comm.barrier_of(&comm.group(), by)?),
        _ => None,
    };
    let mut send = vec![vec![Word::default(); send_len]; buffers];
    let mut receive = vec![vec![Word::default(); receive_len]; buffers];
    for index in 0..calls {
        let (send, receive) = (&mut send[index % buffers], &mut receive[index % buffers]);
        let number = bytes as u64 * calls as u64 + index as u64 + 1;
        let call = Call { number, me, size, count };
        operation.prepare(&call, send, receive);
        meet(comm)?;
        hal.compute(spread(seed, number << 16 | me as u64) % JITTER_CYCLES);
        let begin = hal.now();
        match &mut barrier {
            Some(barrier) => barrier.wait(),
            None => operation.run(comm, send, receive)?,
        }
        times.push(me == ROOT, begin, hal.now());
        operation.check(&call, receive)?;
    }
    Ok(())
}
