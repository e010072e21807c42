//! The Fourier transform on global memory, against an independent one, and without parts of its coherence points.

use std::cell::RefCell;

use crate::common::run;
use hal::{
    Caches, Region,
    emulated::FetchUnit,
    kind,
    sim::{Machine, Options, SimCore},
};
use kernel::programs::fft::{Coherence, Complex, Distribution, Flush, Memory, OfMemory, Plan, Transform};
use rustfft::{FftPlanner, num_complex::Complex64};
use tests::{
    Context, Failed,
    fft::{DISTRIBUTIONS, WAYS, plan, sample, spectrum},
};

/// Largest error of a spectrum: the Euclidean norm of all differences, as a part of the norm of the spectrum. Both
/// transforms have rounding errors of about 1e-16 times the square root of the number of stages there, which is at
/// most 18; a single wrong line of many thousands makes 1e-3.
const TOLERANCE: f64 = 1e-14;

fn reference(len: usize) -> Vec<Complex64> {
    let mut values: Vec<_> = (0..len).map(sample).map(|[re, im]| Complex64 { re, im }).collect();
    FftPlanner::new().plan_fft_forward(len).process(&mut values);
    values
}

fn relative_error(found: &[Complex], expected: &[Complex64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let difference =
        |([re, im], expected): (&Complex, &Complex64)| (re - expected.re).powi(2) + (im - expected.im).powi(2);
    let error: f64 = found.iter().zip(expected).map(difference).sum();
    (error / expected.iter().map(Complex64::norm_sqr).sum::<f64>()).sqrt()
}

fn transformed(machine: &Machine, plan: Plan) -> Vec<Complex> {
    let kept = RefCell::new(Vec::new());
    let result = run(machine, |context| {
        let found = spectrum(context.comm, context.caches, plan).map_err(|failure| Failed(failure.to_string()))?;
        if context.rank() == 0 {
            *kept.borrow_mut() = found;
        }
        Ok(())
    });
    assert_eq!(result, Ok(()), "{plan:?}");
    kept.into_inner()
}

#[test]
fn equals_an_independent_transform() {
    for (len, ranks) in [(1 << 10, &[1, 3, 4, 5, 16, 48][..]), (1 << 13, &[3, 48])] {
        let expected = reference(len);
        for &ranks in ranks {
            for (way, distribution) in WAYS.into_iter().flat_map(|way| DISTRIBUTIONS.map(|other| (way, other))) {
                let error = relative_error(&transformed(&Machine::scc(ranks), plan(len, way, distribution)), &expected);
                assert!(error <= TOLERANCE, "{len} values on {ranks} ranks, {way:?}, {distribution:?}: {error:e}");
            }
        }
    }
}

#[test]
fn equals_it_at_the_length_of_a_picture() {
    let len = 1 << 18;
    let expected = reference(len);
    for (ranks, way) in [(48, WAYS[0]), (48, WAYS[1]), (16, WAYS[2])] {
        let found = transformed(&Machine::scc(ranks), plan(len, way, Distribution::Random(3)));
        let error = relative_error(&found, &expected);
        assert!(error <= TOLERANCE, "{way:?}: {error:e}");
    }
}

#[test]
fn pages_and_small_caches_change_nothing() {
    let len = 1 << 11;
    let expected = transformed(&Machine::scc(1), plan(len, WAYS[2], Distribution::Local));
    for (fetch_unit, cache_frames) in [(FetchUnit::Page, 1024), (FetchUnit::Page, 3), (FetchUnit::Line, 3)] {
        let options = Options { fetch_unit, cache_frames, ..Options::default() };
        for (way, distribution) in WAYS.into_iter().flat_map(|way| DISTRIBUTIONS.map(|other| (way, other))) {
            let machine = Machine::scc(6).with_options(options.clone());
            assert!(transformed(&machine, plan(len, way, distribution)) == expected, "{fetch_unit:?}, {way:?}");
        }
    }
}

/// Coherence points without a part.
struct Without {
    inner: OfMemory,
    part: Part,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    None,
    Release,
    Acquire,
}

impl Coherence<SimCore> for Without {
    fn release(&self, hal: &SimCore, caches: &mut Caches, written: &[Region<kind::Cached>]) {
        if self.part != Part::Release {
            self.inner.release(hal, caches, written);
        }
    }

    fn acquire(&self, hal: &SimCore, caches: &mut Caches, wanted: &[Region<kind::Cached>]) {
        if self.part != Part::Acquire {
            self.inner.acquire(hal, caches, wanted);
        }
    }
}

fn transformed_without(part: Part, flush: Flush, fetch_unit: FetchUnit) -> f64 {
    let len = 1 << 10;
    let plan = plan(len, (Memory::Cached, flush), Distribution::Local);
    let kept = RefCell::new(Vec::new());
    let machine = Machine::scc(5).with_options(Options { fetch_unit, ..Options::default() });
    let result = run(&machine, |context: &mut Context<'_, '_, SimCore>| {
        let failed = |failure: kernel::Failure| Failed(failure.to_string());
        let mut transform = Transform::new(context.comm, plan).map_err(failed)?;
        if context.rank() == 0 {
            transform.write_signal(sample).map_err(failed)?;
        }
        transform.run_with(context.caches, &Without { inner: plan.coherence(), part }).map_err(failed)?;
        if context.rank() == 0 {
            let mut found = vec![[0.0; 2]; len];
            transform.read_spectrum(0, &mut found).map_err(failed)?;
            *kept.borrow_mut() = found;
        }
        context.comm.barrier();
        transform.free(context.caches).map_err(failed)
    });
    assert_eq!(result, Ok(()));
    relative_error(&kept.into_inner(), &reference(len))
}

/// Before the arrival, everybody has to write back what he wrote.
#[test]
fn coherence_points_need_their_release() {
    for (flush, fetch_unit) in [Flush::Whole, Flush::Ranges].map(|flush| (flush, FetchUnit::Line)) {
        assert!(transformed_without(Part::None, flush, fetch_unit) <= TOLERANCE);
        let error = transformed_without(Part::Release, flush, fetch_unit);
        assert!(error > 0.1, "{flush}: the others see the data all the same, {error:e}");
    }
}

/// After it, everybody has to forget what he read of the others before.
///
/// A flush of everything before the arrival has made a core forget that, too: while it waits, this program's cores
/// cache nothing. So it is where ranges are flushed that this half is missed.
#[test]
fn coherence_points_need_their_acquire() {
    for fetch_unit in [FetchUnit::Line, FetchUnit::Page] {
        assert!(transformed_without(Part::None, Flush::Ranges, fetch_unit) <= TOLERANCE);
        let error = transformed_without(Part::Acquire, Flush::Ranges, fetch_unit);
        assert!(error > 0.1, "by {fetch_unit:?}: nobody has stale data, {error:e}");
    }
}
