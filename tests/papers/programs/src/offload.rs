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

use super::measure::{Of, Splits, demand, turns};
use kernel::{Failure, Program, Rank, args::KnownOption};

/// Puts of a step.
const BURST: usize = 16;

/// Calls for progress in the work of a step.
const CALLS: u64 = 20;

/// Steps that are measured, after one that is not.
const STEPS: u32 = 3;

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
    let (window, mut view) = match engines {
        Some(engines) => Window::<C, u8>::with_engines(comm, &mut rank.caches, BURST * len, class, engines)?,
        None => Window::with_class(comm, &mut rank.caches, BURST * len, class)?,
    };
    if let Some(position) = workers.position_of(comm.rank()) {
        let neighbour = |steps| workers.rank_at((position + steps) % workers.len()).unwrap_or(comm.rank());
        let (right, left) = (neighbour(1), neighbour(workers.len() - 1));
        let (to, from) = (Group::of([right])?, Group::of([left])?);
        let mut buffer = SharedBuffer::new(comm, BURST * len)?;
        for put in 0..BURST {
            buffer.write(put * len, &alloc::vec![put as u8; len])?;
        }
        let mut step = |caches: &mut Caches, cycles: u64| -> Result<(), Error> {
            window.while_posted(&mut view, caches, &from, |_| {
                let access = window.start(&to)?;
                for put in 0..BURST {
                    access.put_shared(right, put * len, &buffer, put * len..(put + 1) * len)?;
                }
                // Puts whose target has not posted yet go out from a later call, so there is one now and then.
                for _ in 0..CALLS {
                    access.progress();
                    comm.hal().compute(cycles / CALLS);
                }
                access.complete();
                Ok(())
            })?
        };
        let algorithm = alloc::format!("engines-{}", comm.size() - workers.len());
        // One line takes about 370 cycles: a read and a write of shared memory by Table 1 of the OC-Bcast paper. It sets
        // the scale only.
        let alone = (BURST * len / hal::LINE_BYTES) as u64 * 370;
        for share in SHARES {
            let mut steps = Splits::new("step");
            for counts in turns(1, STEPS) {
                // This rank's part of what all cores together have.
                let cycles = alone * share / 100 * comm.size() as u64 / workers.len() as u64;
                steps.take(comm.hal(), counts, || step(&mut rank.caches, if counts { cycles } else { 0 }))?;
            }
            steps.send(rank, Of(&algorithm, share, BURST * len), &[]);
        }
        engines.into_iter().for_each(CopyEngines::dismiss);
    } else {
        engines.into_iter().for_each(CopyEngines::serve);
    }
    window.free(view, &mut rank.caches).map_err(Error::from)?;
    Ok(())
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
