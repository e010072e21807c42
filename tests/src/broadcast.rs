//! Broadcasts: every algorithm for all roots and lengths, mixed with each other, and with the MPBs lent to the
//! baselines.

use alloc::{format, vec, vec::Vec};

use collectives::{Broadcast, Class, Error, OcBcast, Window};
use hal::{Core, LINE_BYTES};

use crate::{
    Context,
    check::{Outcome, pattern},
    check_eq,
    random::Numbers,
};

/// Names of algorithms that together have every part of every one.
pub const ALGORITHMS: &[&str] = &[
    "oc-k7",
    "oc-k2+leaves",
    "oc-k3+tiles",
    "oc-k7+leaves+tiles+notify3",
    "oc-k2+leaves+tiles+single",
    "oc-k47+single+notify1",
    "binomial",
    "scatter-allgather",
    "scatter-allgather-overlapped",
    "scatter-allgather-one-sided",
];

/// Those of them that go over two-sided messages.
const TWO_SIDED: &[&str] = &["binomial", "scatter-allgather", "scatter-allgather-overlapped"];

/// Broadcasts bytes that follow from `salt`, and checks what came.
pub fn broadcast<C: Core>(
    context: &Context<'_, '_, C>,
    algorithm: &str,
    root: usize,
    len: usize,
    salt: usize,
) -> Outcome {
    let expected: Vec<u8> = (0..len).map(|index| pattern(index, salt)).collect();
    let mut message = if context.rank() == root { expected.clone() } else { vec![0xEE; len] };
    context.comm.using(algorithm.parse::<Broadcast>()?, |comm| comm.broadcast(&mut message, root))?;
    let wrong = message.iter().zip(&expected).position(|(got, wanted)| got != wanted);
    check_eq!(wrong, None, "first wrong byte of {len} from root {root} by {algorithm}");
    Ok(())
}

/// Every rank is root once; where there are many, some of them.
pub fn all_roots<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let step = context.size().div_ceil(if !context.has_many_ranks() { 48 } else { 3 });
    for algorithm in ALGORITHMS {
        for root in (0..context.size()).step_by(step) {
            broadcast(context, algorithm, root, 100, root)?;
        }
    }
    Ok(())
}

/// Lengths around lines, chunks, buffers and slices.
pub fn all_sizes<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let chunk = context.comm.mpb_layout().buffer_lines() * LINE_BYTES;
    let slices = context.size() * LINE_BYTES;
    let rcce = context.comm.mpb_layout().rcce_payload().len() * LINE_BYTES;
    let some = [0, 1, 33, slices + 1, chunk + 1];
    let all = [28, 31, 32, slices - 1, slices, chunk - 1, chunk, chunk + LINE_BYTES];
    let long = [2 * chunk - 1, 2 * chunk, 2 * chunk + 1, rcce - 1, rcce, rcce + 1, 3 * chunk + 17];
    let more = match (context.has_many_ranks(), context.size()) {
        (false, _) => [&all[..], &long].concat(),
        (true, ..64) => vec![3 * chunk + 17],
        (true, _) => vec![],
    };
    for algorithm in ALGORITHMS {
        for (turn, len) in some.iter().chain(&more).enumerate() {
            broadcast(context, algorithm, turn % context.size(), *len, *len)?;
        }
    }
    Ok(())
}

/// A slice of a whole buffer for each rank, and blocks of them.
pub fn slices_of_whole_buffers<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let many = context.has_many_ranks();
    let slices = context.size().min(if many { 4 } else { 48 }) * context.comm.mpb_layout().buffer_lines() * LINE_BYTES;
    for algorithm in TWO_SIDED {
        broadcast(context, algorithm, context.size() / 2, slices, 1)?;
    }
    // Three blocks and a bit, so that both halves are used again.
    let len = if many { slices } else { 3 * slices / 2 + 33 };
    broadcast(context, "scatter-allgather-one-sided", context.size() - 1, len, 2)
}

/// Any degree, down to a chain and up to a flat tree and beyond.
pub fn all_degrees<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let all = [7, 1, usize::MAX, 2, 3, 24, 47, 255];
    for &k in if !context.has_many_ranks() { &all[..] } else { &all[..3] } {
        for options in ["", "+leaves+tiles", "+notify1", "+notify47"] {
            broadcast(context, &format!("oc-k{k}{options}"), context.size() / 2, 7000, k)?;
        }
    }
    Ok(())
}

/// Broadcasts follow each other at once: what one root or algorithm says must not be taken for another's.
pub fn back_to_back<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let mut numbers = Numbers::new(&[context.size()]);
    for turn in 0..if context.size() > 64 { 20 } else { 60 } {
        mixed(context, &mut numbers, turn)?;
    }
    Ok(())
}

/// A broadcast by chance, and each rank is late by chance.
pub fn mixed<C: Core>(context: &Context<'_, '_, C>, numbers: &mut Numbers, turn: usize) -> Outcome {
    let algorithm = ALGORITHMS[numbers.below(ALGORITHMS.len())];
    let root = numbers.below(context.size());
    let limit = [40, 40, 2000, 20_000][numbers.below(4)];
    let len = numbers.below(limit);
    let late = Numbers::new(&[turn, numbers.below(1000), context.rank()]).below(4);
    context.hal().compute([0, 0, 300, 20_000][late]);
    broadcast(context, algorithm, root, len, turn)
}

/// The baselines through 251 lines, and everything else after that.
pub fn rcce_profile<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let payload = context.comm.mpb_layout().rcce_payload().len() * LINE_BYTES;
    let all = [payload + 1, 0, 33, 1, payload - 32, payload - 1, payload, 2 * payload + 31];
    let (turns, lengths) = if !context.has_many_ranks() { (2, &all[..]) } else { (1, &all[..2]) };
    for turn in 0..turns {
        broadcast(context, "scatter-allgather-one-sided", turn % context.size(), 3000, turn)?;
        let profile = context.comm.rcce_profile()?;
        for algorithm in TWO_SIDED {
            for &len in lengths {
                broadcast(context, algorithm, len % context.size(), len, len)?;
            }
        }
        context.comm.barrier();
        drop(profile);
        for algorithm in ALGORITHMS {
            broadcast(context, algorithm, turn % context.size(), 333, turn)?;
        }
    }
    Ok(())
}

/// Lines are lent when all have done with them: not while a root still gets what others have put there and left.
pub fn rcce_profile_waits_for_others<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, rank, size) = (context.comm, context.rank(), context.size());
    let mut message = vec![0xEE; comm.mpb_layout().rcce_payload().len() * LINE_BYTES];
    let mut all = vec![0; size * 320];
    comm.barrier();
    if rank == 0 {
        context.hal().compute(50_000);
    }
    comm.gather(&[rank as u8; 320], &mut all, 0)?;
    let profile = comm.rcce_profile()?;
    match rank {
        0 if size > 1 => comm.receive(&mut message, 1)?,
        1 => comm.send(&message, 0)?,
        _ => {}
    }
    drop(profile);
    let wrong = (0..all.len()).find(|&at| rank == 0 && usize::from(all[at]) != at / 320);
    check_eq!(wrong, None, "first wrong byte of a gather before the profile");
    Ok(())
}

/// What needs lines of its own is refused while they are lent, and they are not lent while somebody has them.
pub fn rcce_profile_excludes_others<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let comm = context.comm;
    let wanted = comm.mpb_layout().rcce_payload().len();
    let profile = comm.rcce_profile()?;
    check_eq!(comm.rcce_profile().err(), Some(Error::ProfileInForce), "a second profile");
    for algorithm in ALGORITHMS.iter().filter(|name| !TWO_SIDED.contains(*name)) {
        let refused = comm.using(algorithm.parse::<Broadcast>()?, |comm| comm.broadcast(&mut [1_u8], 0));
        check_eq!(refused, Err(Error::ProfileInForce), "{algorithm} during the profile");
    }
    let refused = comm.using(Broadcast::OcBcast(OcBcast::default()), |comm| comm.broadcast(&mut [1_u8], 0));
    check_eq!(refused, Err(Error::ProfileInForce), "OC-Bcast by itself during the profile");
    check_eq!(comm.open_channel().err(), Some(Error::ProfileInForce), "packets during the profile");
    drop(profile);

    let (window, view) = Window::<_, u32>::create(comm, context.caches, 8)?;
    if comm.mpb_layout().windows_that_fit() > 0 {
        check_eq!(comm.rcce_profile().err(), Some(Error::NoSpareLines { wanted }), "a profile beside a window");
    }
    window.free(view, context.caches)?;
    let (window, view) = Window::<_, u32>::with_class(comm, context.caches, 8, Class::Message)?;
    if comm.mpb_layout().buffer_lines() < 48 {
        check_eq!(comm.rcce_profile().err(), Some(Error::NoSpareLines { wanted }), "a profile beside packets");
    }
    window.free(view, context.caches)?;
    drop(comm.rcce_profile()?);
    broadcast(context, "oc-k7", 0, 100, 1)
}

/// Bad arguments get an error value on every rank.
pub fn refuses_bad_arguments<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let size = context.size();
    let refused = Err(Error::NoSuchRank { rank: size, size });
    check_eq!(context.comm.broadcast(&mut [0_u8], size), refused, "a root beyond the end");
    for algorithm in ALGORITHMS {
        let algorithm: Broadcast = algorithm.parse()?;
        check_eq!(
            context.comm.using(algorithm, |comm| comm.broadcast(&mut [0_u8], size)),
            refused,
            "{algorithm:?} from beyond the end"
        );
    }
    for parameters in [OcBcast::with_degree(0), OcBcast { notification_degree: 0, ..OcBcast::default() }] {
        let refused = context.comm.using(Broadcast::OcBcast(parameters), |comm| comm.broadcast(&mut [0_u8], 0));
        check_eq!(refused, Err(Error::NoDegree), "{parameters:?}");
    }
    Ok(())
}
