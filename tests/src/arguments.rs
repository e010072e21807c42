//! Collective operations that ranks call differently, while their arguments are checked.

use alloc::{string::ToString, vec, vec::Vec};

use collectives::{
    Barrier, Broadcast, Class, Comm, Error, Exchange, InPlace, OcBcast, Operation, Operator, Pieces, Placement,
    Reduction, Request, Window,
};
use hal::{Core, CoreId, kind};

use crate::{Context, Failed, check, check::Outcome, check_eq};

/// A call by a rank, which differs if the flag says so, and what ranks then have to name alike.
type Case<'t> = (&'static str, &'t dyn Fn(bool) -> Result<(), Error>);

/// Elements that a rank names, or that a rank names which differs.
fn elements(differs: bool) -> Vec<u32> {
    vec![1; if differs { 4 } else { 3 }]
}

/// Completes what was begun.
fn waited<C: Core>(mut request: Request<'_, '_, C>) -> Result<(), Error> {
    request.wait().map(drop)
}

/// Runs cases in which one rank after the other differs from the rest, and each operation alike on all ranks after
/// each.
fn all_are_told<C: Core>(comm: &Comm<'_, C>, cases: &[Case<'_>]) -> Outcome {
    let last = comm.size() - 1;
    for (index, (names, call)) in cases.iter().enumerate() {
        for odd in [0, last / 2, last] {
            // Rank 0 is compared with: where it is the odd one, the next rank is the first that differs.
            let named = if odd == 0 { 1 } else { odd };
            match call(comm.rank() == odd) {
                Err(error @ Error::CallsDiffer { rank, .. }) => {
                    let text = error.to_string();
                    check_eq!(rank, named, "who is named in case {index}: {text}");
                    check!(text.ends_with(&crate::format!("the same {names}")), "case {index}: {text}");
                }
                other => return Err(Failed(crate::format!("case {index}, {names}: {other:?}"))),
            }
        }
        check_eq!(call(false), Ok(()), "case {index}, {names}, when all ranks agree");
    }
    Ok(())
}

/// Whatever differs, all ranks get the error, nothing has happened, and what comes next works.
pub fn disagreements_are_told_to_all<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, size) = (context.comm, context.size());
    if size == 1 {
        return Ok(());
    }
    comm.check_arguments(true);
    broadcasts(comm)?;
    reductions(comm)?;
    exchanges(comm)?;
    shares(comm)?;
    windows(context)
}

fn broadcasts<C: Core>(comm: &Comm<'_, C>) -> Outcome {
    let root = |differs: bool| usize::from(differs);
    let oc = |differs| Broadcast::OcBcast(if differs { OcBcast::with_degree(3) } else { OcBcast::default() });
    all_are_told(
        comm,
        &[
            ("root", &|differs| comm.broadcast(&mut [1_u8; 5], root(differs))),
            // A root that does not exist.
            ("root", &|differs| comm.broadcast(&mut [1_u8; 5], root(differs) * comm.size())),
            ("length", &|differs| comm.broadcast(&mut elements(differs), 0)),
            ("type", &|differs| {
                if differs { comm.broadcast(&mut [1_f32], 0) } else { comm.broadcast(&mut [1_u32], 0) }
            }),
            ("type", &|differs| {
                if differs { comm.broadcast(&mut [[1_u16; 2]], 0) } else { comm.broadcast(&mut [[1_u8; 4]], 0) }
            }),
            ("root, length", &|differs| comm.broadcast(&mut elements(differs), root(differs))),
            ("algorithm", &|differs| {
                let algorithm = if differs { Broadcast::Short } else { Broadcast::Long };
                comm.using(algorithm, |comm| comm.broadcast(&mut [1_u8; 5], 0))
            }),
            ("algorithm", &|differs| comm.using(oc(differs), |comm| comm.broadcast(&mut [1_u8; 5], 0))),
            ("operation", &|differs| {
                if differs {
                    comm.broadcast(&mut [1_u32], 0)
                } else {
                    comm.allreduce(InPlace, &mut [1_u32], &Operator::SUM)
                }
            }),
            ("root", &|differs| comm.start_broadcast(&mut [1_u8; 5], root(differs)).and_then(waited)),
            ("length", &|differs| comm.start_broadcast(&mut elements(differs), 0).and_then(waited)),
            ("length", &|differs| {
                comm.start_allreduce(InPlace, &mut elements(differs), Operator::SUM).and_then(waited)
            }),
            ("operator", &|differs| {
                let operator = if differs { Operator::MIN } else { Operator::SUM };
                comm.start_allreduce(InPlace, &mut [1_u32; 5], operator).and_then(waited)
            }),
            ("operation", &|differs| {
                if differs {
                    comm.start_broadcast(&mut [1_u8; 5], 0).and_then(waited)
                } else {
                    comm.start_barrier().and_then(waited)
                }
            }),
        ],
    )
}

fn reductions<C: Core>(comm: &Comm<'_, C>) -> Outcome {
    let size = comm.size();
    let operator = |differs: bool| if differs { Operator::<u32>::MAX } else { Operator::SUM };
    let counts = |differs: bool| {
        let mut counts = vec![1; size];
        if differs {
            counts.swap_with_slice(&mut (0..size).map(|rank| if rank == 0 { size } else { 0 }).collect::<Vec<_>>());
        }
        counts
    };
    all_are_told(
        comm,
        &[
            ("root", &|differs| comm.reduce(&[1_u32; 3], &mut [0; 3], &Operator::SUM, usize::from(differs))),
            ("length", &|differs| comm.reduce(InPlace, &mut elements(differs), &Operator::SUM, 0)),
            ("length", &|differs| comm.allreduce(InPlace, &mut elements(differs), &Operator::SUM)),
            ("operator", &|differs| comm.allreduce(&[1_u32; 3], &mut [0; 3], &operator(differs))),
            ("operator", &|differs| {
                if differs {
                    comm.allreduce(InPlace, &mut [1_u32; 3], &Operation::new(|a: u32, b| a.wrapping_add(b)))
                } else {
                    comm.allreduce(InPlace, &mut [1_u32; 3], &Operator::SUM)
                }
            }),
            ("algorithm", &|differs| {
                let algorithm = if differs { Reduction::Tree } else { Reduction::Blocks };
                comm.using(algorithm, |comm| comm.allreduce(InPlace, &mut [1_u32; 3], &Operator::SUM))
            }),
            ("counts", &|differs| {
                let counts = counts(differs);
                let mut own = vec![0; counts[comm.rank()]];
                comm.reduce_scatter(Pieces::packed(&counts).of(&vec![1_u32; size]), &mut own, &Operator::SUM)
            }),
            ("length, counts", &|differs| {
                let count = if differs { 2 } else { 1 };
                comm.reduce_scatter(&vec![1_u32; count * size], &mut vec![0; count], &Operator::SUM)
            }),
            ("length", &|differs| comm.scan(InPlace, &mut elements(differs), &Operator::SUM)),
            ("length", &|differs| comm.exscan(InPlace, &mut elements(differs), &Operator::SUM)),
            ("operator", &|differs| comm.exscan(&[1_u32; 3], &mut [0; 3], &operator(differs))),
            ("operation", &|differs| {
                if differs {
                    comm.scan(InPlace, &mut [1_u32], &Operator::SUM)
                } else {
                    comm.exscan(InPlace, &mut [1_u32], &Operator::SUM)
                }
            }),
        ],
    )
}

fn exchanges<C: Core>(comm: &Comm<'_, C>) -> Outcome {
    let size = comm.size();
    let ones = vec![1; size];
    let fitting = |block: &[u32]| vec![0; size * block.len()];
    all_are_told(
        comm,
        &[
            ("root", &|differs| comm.gather(&[1_u32], &mut vec![0; size], usize::from(differs))),
            ("length", &|differs| comm.gather(&elements(differs), &mut fitting(&elements(differs)), 0)),
            ("root", &|differs| comm.scatter(&vec![1_u32; size], &mut [0], usize::from(differs))),
            ("length", &|differs| comm.scatter(&fitting(&elements(differs)), &mut elements(differs), 0)),
            ("algorithm", &|differs| {
                let exchange = if differs { Exchange::Long } else { Exchange::Default };
                comm.using(exchange, |comm| comm.scatter(&vec![1_u32; size], &mut [0], 0))
            }),
            ("length", &|differs| comm.allgather(&elements(differs), &mut fitting(&elements(differs)))),
            // On the odd rank it is no multiple of the ranks.
            ("length", &|differs| comm.allgather(InPlace, &mut vec![1_u8; 2 * size + usize::from(differs)])),
            ("length", &|differs| comm.alltoall(InPlace, &mut fitting(&elements(differs)))),
            ("length", &|differs| comm.alltoall(&vec![1_u8; size + usize::from(differs)], &mut vec![0; size])),
            ("root", &|differs| {
                comm.gather(&[1_u32], Pieces::packed(&ones).of_mut(&mut vec![0; size]), usize::from(differs))
            }),
            ("root", &|differs| {
                comm.scatter(Pieces::packed(&ones).of(&vec![1_u32; size]), &mut [0], usize::from(differs))
            }),
            ("counts", &|differs| {
                let mut counts = ones.clone();
                counts[1] += usize::from(differs);
                let own = vec![1_u32; counts[comm.rank()]];
                comm.allgather(&own, Pieces::packed(&counts).of_mut(&mut vec![0; size + 1]))
            }),
            ("operation", &|differs| {
                let pieces = Pieces::packed(&ones);
                if differs {
                    comm.alltoall(InPlace, pieces.of_mut(&mut vec![1_u8; size]))
                } else {
                    comm.alltoall(InPlace, &mut vec![1_u8; size])
                }
            }),
        ],
    )
}

fn shares<C: Core>(comm: &Comm<'_, C>) -> Outcome {
    let share = |lengths: &[usize]| {
        let parts: Vec<_> = lengths.iter().map(|len| (*len, Placement::Near(CoreId::new(0)))).collect();
        let regions = comm.share_all::<kind::Uncached>(&parts)?;
        comm.barrier();
        if comm.rank() == 0 { regions.into_iter().try_for_each(|region| comm.allocator().free(region)) } else { Ok(()) }
    };
    all_are_told(
        comm,
        &[
            ("length, counts", &|differs| share(&[if differs { 64 } else { 32 }])),
            ("counts", &|differs| share(if differs { &[64, 32] } else { &[32, 64] })),
        ],
    )
}

fn windows<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, odd) = (context.comm, context.rank() + 1 == context.size());
    let is_told = |result: Result<(), Error>| matches!(result, Err(Error::CallsDiffer { rank, .. }) if rank + 1 == context.comm.size());
    if context.hal().layout().registers_reach_everywhere() {
        let everybody = comm.group();
        let barrier_of = |barrier| comm.barrier_of(&everybody, barrier).map(drop);
        let told = if odd { comm.broadcast(&mut [1_u8], 0) } else { barrier_of(Barrier::Default) };
        check!(is_told(told), "a barrier's making against a broadcast: {told:?}");
    }
    let told = if odd {
        comm.broadcast(&mut [1_u8], 0)
    } else {
        Window::<_, u32>::with_class(comm, context.caches, 1, Class::Default).map(drop)
    };
    check!(is_told(told), "a window's making against a broadcast: {told:?}");
    let (one, one_view) = Window::<_, u32>::create(comm, context.caches, 1)?;
    let (other, other_view) = Window::<_, u32>::create(comm, context.caches, 1)?;
    let (one_view, other_view) = if odd {
        let refused = other.fence(other_view, context.caches, Default::default()).map(drop);
        let Err(refused) = refused else { return Err(Failed("a fence of another window".into())) };
        check!(is_told(Err(refused.error)), "a fence: {refused}");
        (one_view, refused.taken)
    } else {
        let refused = one.fence(one_view, context.caches, Default::default()).map(drop);
        let Err(refused) = refused else { return Err(Failed("a fence of another window".into())) };
        check!(is_told(Err(refused.error)), "a fence: {refused}");
        (refused.taken, other_view)
    };
    let epoch = one.fence(one_view, context.caches, Default::default())?;
    let one_view = epoch.close(context.caches, Default::default());
    one.free(one_view, context.caches)?;
    other.free(other_view, context.caches)?;
    Ok(())
}

/// Blocks whose lengths only their two ends know: if these differ, all ranks get the error.
pub fn lengths_of_blocks<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, rank, size) = (context.comm, context.rank(), context.size());
    if size == 1 {
        return Ok(());
    }
    comm.check_arguments(true);
    let last = size - 1;
    let counts: Vec<usize> = (0..size).map(|rank| rank % 3).collect();
    let pieces = Pieces::packed(&counts);
    let total = counts.iter().sum::<usize>();
    for longer in [1, 0] {
        // The last rank thinks of its own block as one longer.
        let own = counts[rank] + if rank == last { longer } else { 0 };
        let (theirs, roots) = (4 * (counts[last] + longer), 4 * counts[last]);
        let told = |from, to, sent, wanted| match longer {
            0 => Ok(()),
            _ => Err(Error::MessageLength { from, to, sent, wanted }),
        };
        let gathered = comm.gather(&vec![rank as u32; own], pieces.of_mut(&mut vec![0; total]), 0);
        check_eq!(gathered, told(last, 0, theirs, roots), "gather of pieces");
        let scattered = comm.scatter(pieces.of(&vec![1_u32; total]), &mut vec![0; own], 0);
        check_eq!(scattered, told(0, last, roots, theirs), "scatter of pieces");

        // The last rank sends one element more to the first.
        let mut sent = vec![1; size];
        if rank == last {
            sent[0] += longer;
        }
        let (ones, all) = (vec![1; size], vec![1_u32; size + 1]);
        let mut received = vec![0; size];
        let to_all = comm.alltoall(Pieces::packed(&sent).of(&all), Pieces::packed(&ones).of_mut(&mut received));
        check_eq!(to_all, told(last, 0, 8, 4), "all-to-all of pieces");
    }
    Ok(())
}
