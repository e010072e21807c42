//! The six steps, on matrices in shared memory.

use alloc::vec;

use collectives::Comm;
use hal::{Caches, Core};

use crate::Failure;

use super::{
    coherence::{Coherence, Flush, OfMemory},
    complex::{Complex, MOVE_CYCLES},
    matrix::{Distribution, Matrix},
    memory::Memory,
    roots::Roots,
    row,
    shape::Shape,
    transpose::transpose,
};

/// What a transform is like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The size of the transform.
    pub shape: Shape,
    /// What the matrices are in.
    pub memory: Memory,
    /// How much the coherence points flush, where that is cached.
    pub flush: Flush,
    /// Where the matrices are.
    pub distribution: Distribution,
}

impl Plan {
    /// The coherence points that it needs.
    pub fn coherence(&self) -> OfMemory {
        OfMemory { memory: self.memory, flush: self.flush }
    }
}

/// What a transform took on a rank, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Times {
    /// All of it.
    pub total: u64,
    /// The halves of coherence points.
    pub flush: u64,
    /// The barriers between these halves, with the wait for the last rank.
    pub barrier: u64,
    /// The transpositions.
    pub transpose: u64,
}

/// A transform of all ranks: two matrices in shared memory, and the roots of unity.
///
/// SPLASH-2's six-step algorithm. The signal is a matrix, row by row; in the first step its columns become the rows of
/// the second matrix, and so on:
///
/// 1. transpose;
/// 2. transform each row, 3. multiply it with its twiddle factors;
/// 4. transpose back, and transform each row (5);
/// 6. transpose.
///
/// Then the spectrum is in the second matrix, row by row. Each rank writes its own rows only, so a barrier after steps
/// 3, 5 and 6, as a coherence point, is all the synchronisation. The order of operations on each value depends neither
/// on the number of ranks nor on the memory, and the result has the same bits for all of them.
pub struct Transform<'c, C: Core> {
    comm: &'c Comm<'c, C>,
    plan: Plan,
    roots: Roots,
    signal: Matrix,
    spectrum: Matrix,
}

impl<'c, C: Core> Transform<'c, C> {
    /// Makes a transform. Collective.
    ///
    /// # Errors
    /// On all ranks alike, if there is not enough shared memory.
    pub fn new(comm: &'c Comm<'c, C>, plan: Plan) -> Result<Self, Failure> {
        let signal = Matrix::allocate(comm, plan.shape, plan.distribution)?;
        let turned = match plan.distribution {
            Distribution::Local => Distribution::Local,
            // Otherwise the first row of both would be behind the same controller.
            Distribution::Random(seed) => Distribution::Random(!seed),
        };
        let spectrum = match Matrix::allocate(comm, plan.shape.transposed(), turned) {
            Ok(spectrum) => spectrum,
            Err(failure) => {
                signal.free(comm)?;
                return Err(failure);
            }
        };
        Ok(Self { comm, plan, roots: Roots::new(comm.hal(), plan.shape), signal, spectrum })
    }

    /// What it is like.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Writes the whole signal: value after value, as `sample` says. For one rank; [`run`](Self::run) shows it to the
    /// others.
    ///
    /// # Errors
    /// If this rank holds views of the memory.
    pub fn write_signal(&self, mut sample: impl FnMut(usize) -> Complex) -> Result<(), Failure> {
        let columns = self.plan.shape.columns();
        let mut values = vec![[0.0; 2]; columns];
        for row in 0..self.plan.shape.rows() {
            values.iter_mut().enumerate().for_each(|(column, value)| *value = sample(row * columns + column));
            self.plan.memory.write(self.comm.hal(), self.signal.row(row), 0, &values)?;
        }
        Ok(())
    }

    /// Transforms the signal, which is lost. Collective. Afterwards every rank can read the spectrum.
    ///
    /// # Errors
    /// If this rank holds views of the memory.
    pub fn run(&mut self, caches: &mut Caches) -> Result<Times, Failure> {
        let coherence = self.plan.coherence();
        self.run_with(caches, &coherence)
    }

    /// Transforms the signal as [`run`](Self::run) does, with other coherence points.
    ///
    /// # Errors
    /// If this rank holds views of the memory.
    pub fn run_with(&mut self, caches: &mut Caches, coherence: &impl Coherence<C>) -> Result<Times, Failure> {
        // What was written before, and by whom, nobody has declared.
        self.show_everything(caches);
        let clock = self.comm.hal();
        let begin = clock.now();
        let mut times = Times::default();
        let (signal, spectrum) = (&self.signal, &self.spectrum);

        self.transpose(signal, spectrum, &mut times)?;
        self.transform_rows(spectrum, true)?;
        self.pass(caches, coherence, spectrum, Some(spectrum), &mut times);
        self.transpose(spectrum, signal, &mut times)?;
        self.transform_rows(signal, false)?;
        self.pass(caches, coherence, signal, Some(signal), &mut times);
        self.transpose(signal, spectrum, &mut times)?;
        self.pass(caches, coherence, spectrum, None, &mut times);

        times.total = clock.now() - begin;
        self.show_everything(caches);
        Ok(times)
    }

    /// Reads the spectrum from bin `first` on. A row at a time is what costs least.
    ///
    /// # Errors
    /// If this rank holds views of the memory.
    pub fn read_spectrum(&self, first: usize, target: &mut [Complex]) -> Result<(), Failure> {
        let columns = self.spectrum.shape().columns();
        let mut done = 0;
        while done < target.len() {
            let (row, column) = ((first + done) / columns, (first + done) % columns);
            let end = target.len().min(done + columns - column);
            let part = &mut target[done..end];
            self.plan.memory.read(self.comm.hal(), self.spectrum.row(row), column, part)?;
            done = end;
        }
        Ok(())
    }

    /// Frees the shared memory. Collective.
    ///
    /// # Errors
    /// If it is not allocated any more.
    pub fn free(self, caches: &mut Caches) -> Result<(), Failure> {
        self.show_everything(caches);
        self.signal.free(self.comm)?;
        self.spectrum.free(self.comm)
    }

    /// A coherence point for everything, whoever wrote it.
    fn show_everything(&self, caches: &mut Caches) {
        let coherence = OfMemory { flush: Flush::Whole, ..self.plan.coherence() };
        coherence.release(self.comm.hal(), caches, &[]);
        self.comm.barrier();
        coherence.acquire(self.comm.hal(), caches, &[]);
    }

    /// A coherence point after this rank's rows of `written` were written and before its columns of `wanted` are
    /// read. Its own rows there it has written itself.
    fn pass(
        &self,
        caches: &mut Caches,
        coherence: &impl Coherence<C>,
        written: &Matrix,
        wanted: Option<&Matrix>,
        times: &mut Times,
    ) {
        let (hal, me, ranks) = (self.comm.hal(), self.comm.rank(), self.comm.size());
        let begin = hal.now();
        coherence.release(hal, caches, &written.regions(written.shape().share(me, ranks)));
        let arrival = hal.now();
        self.comm.barrier();
        let released = hal.now();
        if let Some(wanted) = wanted {
            let shape = wanted.shape();
            let columns = wanted.columns(shape.transposed().share(me, ranks), shape.share(me, ranks));
            coherence.acquire(hal, caches, &columns);
        }
        times.flush += hal.now() - released + (arrival - begin);
        times.barrier += released - arrival;
    }

    fn transpose(&self, from: &Matrix, to: &Matrix, times: &mut Times) -> Result<(), Failure> {
        let begin = self.comm.hal().now();
        transpose(self.comm, self.plan.memory, from, to)?;
        self.plan.memory.settle(self.comm.hal());
        times.transpose += self.comm.hal().now() - begin;
        Ok(())
    }

    /// Transforms this rank's rows of a matrix, one after the other, in private memory.
    fn transform_rows(&self, matrix: &Matrix, is_twiddled: bool) -> Result<(), Failure> {
        let (hal, memory, shape) = (self.comm.hal(), self.plan.memory, matrix.shape());
        let mut values = vec![[0.0; 2]; shape.columns()];
        for number in shape.share(self.comm.rank(), self.comm.size()) {
            memory.read(hal, matrix.row(number), 0, &mut values)?;
            row::transform(hal, &mut values, &self.roots);
            if is_twiddled {
                row::twiddle(hal, &mut values, number, &self.roots);
            }
            hal.compute(2 * values.len() as u64 * MOVE_CYCLES);
            memory.write(hal, matrix.row(number), 0, &values)?;
        }
        Ok(())
    }
}
