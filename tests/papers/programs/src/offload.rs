//! `bench-offload`: what an application gains by copy engines, and what the cores given to them cost.
//!
//! The application has a fixed amount of work for each step, divided among the cores that are not engines, and each of
//! those puts a fixed
//! number of bytes to its right neighbour. With engines there are fewer cores to compute, but they compute while the
//! bytes move. The machine is
//! the same in all cases. How much work there is comes as a share: of the time in which one core puts its bytes, if
//! all cores computed.

use collectives::{Class, Comm, CopyEngines, Error, Group, SharedBuffer, Window};
use hal::{Caches, Core};

use super::measure::{Of, demand};
use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

/// Puts of a step.
const BURST: usize = 16;

/// Calls for progress in the work of a step.
const CALLS: u64 = 20;

/// Steps that are measured, after one that is not.
const STEPS: usize = 3;

/// Shares of work that are measured, in percent.
const SHARES: [u64; 6] = [0, 25, 50, 100, 200, 400];

/// Measures the steps of an application with copy engines and without.
pub struct Offload;

impl Program for Offload {
    const NAME: &'static str = "bench-offload";
    const ABOUT: &'static str = "measures an application that puts and computes, with some cores as copy engines";
    const OPTIONS: &'static [KnownOption] = &[
        ("engines", "cores that copy for the others, the last of every so many; 0 if not given"),
        ("bytes", "bytes of each of 16 puts in a step, 8192 if not given"),
        ("class", "how epochs are synchronised, default if not given"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (engines, len) = (rank.args.get("engines", 0)?, rank.args.get("bytes", 8192)?);
        let class = rank.args.get("class", Class::default())?;
        let comm = rank.comm;
        if engines == 0 {
            return application(rank, comm, None, len, class);
        }
        let size = comm.size();
        demand(engines < size, format_args!("`engines={engines}`: of {size} cores at least one has to compute"))?;
        // Spread over the machine: on the SCC, 24 are the second core of each tile.
        let group = Group::of((1..=engines).map(|engine| engine * size / engines - 1))?;
        let engines = CopyEngines::assign(comm, &group)?;
        application(rank, comm, Some(&engines), len, class)?;
        engines.free();
        Ok(())
    }
}

fn application<'e, C: Core>(
    rank: &mut Rank<'_, C>,
    comm: &'e Comm<'e, C>,
    engines: Option<&'e CopyEngines<'e, C>>,
    len: usize,
    class: Class,
) -> Result<(), Failure> {
    let workers = engines.map_or_else(|| comm.group(), CopyEngines::clients);
    let (window, view) = match engines {
        Some(engines) => Window::<C, u8>::with_engines(comm, &mut rank.caches, BURST * len, class, engines)?,
        None => Window::with_class(comm, &mut rank.caches, BURST * len, class)?,
    };
    let view = match workers.position_of(comm.rank()) {
        Some(position) => {
            let mut worker = Worker::new(comm, &workers, position, &window, len)?;
            let mut view = Some(view);
            for share in SHARES {
                let steps = worker.steps(rank, &mut view, share)?;
                let algorithm = alloc::format!("engines-{}", comm.size() - workers.len());
                Of(&algorithm, share, BURST * len).send(rank, "step", Unit::Ticks, steps);
            }
            if let Some(engines) = engines {
                engines.dismiss();
            }
            view
        }
        None => {
            engines.into_iter().for_each(CopyEngines::serve);
            Some(view)
        }
    };
    let Some(view) = view else { return Err(Failure::new("a step has lost the view")) };
    window.free(view, &mut rank.caches).map_err(Error::from)?;
    Ok(())
}

/// A rank that computes.
struct Worker<'w, 'e, C: Core> {
    comm: &'e Comm<'e, C>,
    window: &'w Window<'e, C, u8>,
    buffer: SharedBuffer<'e, C, u8>,
    workers: usize,
    right: usize,
    to: Group,
    from: Group,
    len: usize,
}

impl<'w, 'e, C: Core> Worker<'w, 'e, C> {
    fn new(
        comm: &'e Comm<'e, C>,
        workers: &Group,
        position: usize,
        window: &'w Window<'e, C, u8>,
        len: usize,
    ) -> Result<Self, Error> {
        let neighbour = |steps| workers.rank_at((position + steps) % workers.len()).unwrap_or(comm.rank());
        let (right, left) = (neighbour(1), neighbour(workers.len() - 1));
        let mut buffer = SharedBuffer::new(comm, BURST * len)?;
        for put in 0..BURST {
            buffer.write(put * len, &alloc::vec![put as u8; len])?;
        }
        let (to, from) = (Group::of([right])?, Group::of([left])?);
        Ok(Self { comm, window, buffer, workers: workers.len(), right, to, from, len })
    }

    /// Makes all steps with a share of work; returns what each took.
    fn steps(
        &mut self,
        rank: &mut Rank<'_, C>,
        view: &mut Option<hal::LocalView<'e, u8>>,
        share: u64,
    ) -> Result<[u64; STEPS], Error> {
        let hal = self.comm.hal();
        let mut times = [0; STEPS];
        self.step(&mut rank.caches, view, 0)?;
        for time in &mut times {
            let begin = hal.now();
            self.step(&mut rank.caches, view, self.cycles(share))?;
            *time = hal.now() - begin;
        }
        Ok(times)
    }

    /// Work of this rank, in cycles: its part of what all cores together have.
    fn cycles(&self, share: u64) -> u64 {
        // One line takes about 370 cycles: a read and a write of shared memory by Table 1 of the OC-Bcast paper. It
        // sets the scale only.
        let alone = (BURST * self.len / hal::LINE_BYTES) as u64 * 370;
        alone * share / 100 * self.comm.size() as u64 / self.workers as u64
    }

    fn step(&self, caches: &mut Caches, view: &mut Option<hal::LocalView<'e, u8>>, cycles: u64) -> Result<(), Error> {
        let Some(own) = view.take() else { return Ok(()) };
        let exposure = self.window.post(own, caches, &self.from)?;
        let access = self.window.start(&self.to)?;
        for put in 0..BURST {
            let first = put * self.len;
            access.put_shared(self.right, first, &self.buffer, first..first + self.len)?;
        }
        // Puts whose target has not posted yet go out from a later call, so there is one now and then.
        for _ in 0..CALLS {
            access.progress();
            self.comm.hal().compute(cycles / CALLS);
        }
        access.complete();
        *view = Some(exposure.wait(caches));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{refused, run};

    #[test]
    fn all_cases_are_measured() {
        for words in ["cores=1", "cores=6", "cores=6 engines=1", "cores=6 engines=3 class=scosco", "cores=2 engines=1"]
        {
            let printed = run::<Offload>(&alloc::format!("{words} bytes=100"));
            assert!(printed.0.contains("metric=step"), "{}", printed.0);
        }
        refused::<Offload>(&[("cores=4 engines=4", "`engines=4`: of 4 cores at least one has to compute")]);
    }
}
