//! The Fourier transform on global memory.

use alloc::{vec, vec::Vec};
use core::f64::consts::TAU;

use collectives::Comm;
use hal::{Caches, Core};
use kernel::{
    Failure,
    programs::fft::{Complex, Distribution, Flush, Memory, Plan, Shape, Transform},
};

use crate::{Context, Failed, allocation::check_heaps_are_whole, check, check::Outcome, check_eq};

/// All ways to keep the data: the flush matters where it is cached only.
pub const WAYS: [(Memory, Flush); 4] = [
    (Memory::Cached, Flush::Whole),
    (Memory::Cached, Flush::Ranges),
    (Memory::Combined, Flush::Ranges),
    (Memory::Uncached, Flush::Ranges),
];

/// Both ways to place it.
pub const DISTRIBUTIONS: [Distribution; 2] = [Distribution::Local, Distribution::Random(7)];

/// Sample `index` of a signal without any order in it. It has imaginary parts, and whole numbers, which all machines
/// have alike.
pub fn sample(index: usize) -> Complex {
    let part = |factor: usize| (index.wrapping_mul(factor) ^ (index >> 3)) % 2003;
    [part(7919) as f64 - 1001.0, part(104_729) as f64 - 1001.0]
}

/// The plan for `len` values.
///
/// # Panics
/// If there is none.
pub fn plan(len: usize, (memory, flush): (Memory, Flush), distribution: Distribution) -> Plan {
    Plan { shape: Shape::of(len).expect("a length that can be transformed"), memory, flush, distribution }
}

/// Transforms a signal and returns its spectrum on rank 0, elsewhere nothing. Collective.
pub fn spectrum<C: Core>(comm: &Comm<'_, C>, caches: &mut Caches, plan: Plan) -> Result<Vec<Complex>, Failure> {
    let mut transform = Transform::new(comm, plan)?;
    if comm.rank() == 0 {
        transform.write_signal(sample)?;
    }
    transform.run(caches)?;
    let mut found = vec![[0.0; 2]; if comm.rank() == 0 { plan.shape.values() } else { 0 }];
    transform.read_spectrum(0, &mut found)?;
    transform.free(caches)?;
    Ok(found)
}

fn found<C: Core>(context: &mut Context<'_, '_, C>, plan: Plan) -> Result<Vec<Complex>, Failed> {
    spectrum(context.comm, context.caches, plan).map_err(|failure| Failed(alloc::format!("{failure}")))
}

/// A square transform of a size for `ranks` ranks; few lines are left for each of very many.
fn len(ranks: usize) -> usize {
    if ranks < 64 { 1 << 10 } else { 1 << 8 }
}

/// Some bins are the sums that define them.
pub fn equals_its_sums<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let len = len(context.size());
    let found = found(context, plan(len, WAYS[1], Distribution::Local))?;
    if context.rank() > 0 {
        return Ok(());
    }
    for bin in [0, 1, 3, len / 3, len / 2, len - 1] {
        let mut expected = [0.0; 2];
        for index in 0..len {
            // The angle is reduced first, or it would be as inexact as it is large.
            let (sine, cosine) = libm::sincos(-TAU * (index * bin % len) as f64 / len as f64);
            let [real, imaginary] = sample(index);
            expected[0] += real * cosine - imaginary * sine;
            expected[1] += real * sine + imaginary * cosine;
        }
        let error = (0..2).map(|part| (found[bin][part] - expected[part]).abs()).fold(0.0, f64::max);
        // The samples are below 1001, and a thousand of them with random signs add up to some 30 000.
        check!((0.0..1e-8).contains(&error), "bin {bin} is {:?} instead of {expected:?}", found[bin]);
    }
    Ok(())
}

/// All kinds of memory, flushes and placements have the same bits.
pub fn is_the_same_everywhere<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let len = len(context.size());
    let expected = found(context, plan(len, WAYS[1], Distribution::Local))?;
    for (way, distribution) in WAYS.into_iter().flat_map(|way| DISTRIBUTIONS.map(|distribution| (way, distribution))) {
        let found = found(context, plan(len, way, distribution))?;
        let differs = (0..found.len()).find(|&bin| found[bin].map(f64::to_bits) != expected[bin].map(f64::to_bits));
        check_eq!(differs, None, "the first bin that differs, {way:?}, {distribution:?}");
    }
    Ok(())
}

/// Lengths from the least on: those that are no squares, and with fewer rows than ranks.
pub fn lengths<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    for len in [4, 8, 16, 128] {
        let found = found(context, plan(len, WAYS[1], Distribution::Local))?;
        // The sum of all bins is the first sample, as often as there are bins.
        let sum = found.iter().fold([0.0; 2], |sum, bin| [sum[0] + bin[0], sum[1] + bin[1]]);
        let error = (0..2).map(|part| (sum[part] - sample(0)[part] * len as f64).abs()).fold(0.0, f64::max);
        check!(context.rank() > 0 || (0.0..1e-8).contains(&error), "all {len} bins together are {sum:?}");
    }
    Ok(())
}

/// A transform that does not fit is refused on all ranks, and nothing stays allocated.
pub fn refuses_too_much<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    for distribution in DISTRIBUTIONS {
        let refused = Transform::new(context.comm, plan(1 << 22, WAYS[0], distribution)).err();
        let message = refused.map(|failure| alloc::format!("{failure}")).unwrap_or_default();
        check!(message.contains("no room for a matrix of 67108864 bytes"), "refused because `{message}`");
    }
    if context.rank() == 0 {
        check_heaps_are_whole(context)?;
    }
    context.comm.barrier();
    Ok(())
}
