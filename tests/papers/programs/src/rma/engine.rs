//! `bench-rma-engine`: the overlap of [`bench-rma-overlap`](super::overlap) where a copy engine does the copying.
//!
//! Rank 0 is the origin, the other core of its tile its engine, rank 2 the target. The engine takes no part in
//! barriers, so messages between origin and target say when an epoch begins. The target is timed from the end of post to
//! the completion of the origin: writing back and invalidating its part is apart from the communication. Everything else
//! is as in [`overlap`](super::overlap), and so are the names of what is measured; the algorithm is `copy-engine`.

use collectives::{Class, Comm, CopyEngines, Error, Group, SharedBuffer, Window};
use hal::{Core, LocalView};

use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

use super::{
    Side,
    overlap::{BURST, PART, cases, cycles, names},
};
use crate::measure::{Of, need_cores};

const ORIGIN: usize = 0;
const ENGINE: usize = 1;
const TARGET: usize = 2;

/// Calls of the origin while it computes.
const CALLS: u64 = 16;

/// Measures the overlap of computation and communication with a copy engine.
pub struct Engine;

impl Program for Engine {
    const NAME: &'static str = "bench-rma-engine";
    const ABOUT: &'static str = "measures bursts of puts by a copy engine whose origin or target computes meanwhile";
    const OPTIONS: &'static [KnownOption] = &[
        ("class", "how epochs are synchronised, default if not given"),
        ("most", "bytes of the largest put, 1048576 if not given; powers of four up to it are measured"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (class, most) = (rank.args.get("class", Class::default())?, rank.args.get("most", 1 << 20)?);
        need_cores(rank.comm, 3)?;
        let cases = cases(most)?;
        let engines = CopyEngines::assign(rank.comm, &Group::of([ENGINE])?)?;
        for (bytes, percents) in cases {
            let comm = rank.comm;
            measure(rank, comm, &engines, class, bytes, percents)?;
        }
        engines.free();
        Ok(())
    }
}

fn measure<'e, C: Core>(
    rank: &mut Rank<'_, C>,
    comm: &'e Comm<'e, C>,
    engines: &'e CopyEngines<'e, C>,
    class: Class,
    bytes: usize,
    percents: &[u64],
) -> Result<(), Failure> {
    let places = BURST.min(PART / bytes);
    let len = if comm.rank() == TARGET { places * bytes } else { 0 };
    let (window, view) = Window::<C, u8>::with_engines(comm, &mut rank.caches, len, class, engines)?;
    let mut pair = Pair { comm, window: &window, view, buffer: None, bytes, places };
    if comm.rank() == ENGINE {
        engines.serve();
    } else {
        if comm.rank() == ORIGIN {
            let mut buffer = SharedBuffer::new(comm, bytes)?;
            buffer.write(0, &alloc::vec![7; bytes])?;
            pair.buffer = Some(buffer);
        }
        if [ORIGIN, TARGET].contains(&comm.rank()) {
            for side in [Side::Origin, Side::Target] {
                pair.measure(rank, side, percents)?;
            }
        }
        engines.dismiss();
    }
    let view = pair.view;
    if comm.rank() == TARGET && view.load(0) != 7 {
        return Err(Failure::new("what came is not what the origin has put"));
    }
    window.free(view, &mut rank.caches).map_err(Error::from)?;
    Ok(())
}

/// One of the two ranks between which bytes move.
struct Pair<'w, 'e, C: Core> {
    comm: &'e Comm<'e, C>,
    window: &'w Window<'e, C, u8>,
    view: LocalView<'e, u8>,
    /// What the origin puts.
    buffer: Option<SharedBuffer<'e, C, u8>>,
    bytes: usize,
    places: usize,
}

impl<C: Core> Pair<'_, '_, C> {
    /// Measures one side without computation and with several amounts of it.
    fn measure(&mut self, rank: &mut Rank<'_, C>, side: Side, percents: &[u64]) -> Result<(), Failure> {
        let timed = if side == Side::Origin { ORIGIN } else { TARGET };
        let communication = self.epoch(rank, side, 0)?;
        for &percent in percents {
            let cycles = cycles(rank.hal(), communication * percent / 100);
            let begin = rank.hal().now();
            rank.hal().compute(cycles);
            let computation = rank.hal().now() - begin;
            let total = self.epoch(rank, side, cycles)?;
            if self.comm.rank() == timed {
                for (metric, ticks) in names(side).into_iter().zip([communication, computation, total]) {
                    Of("copy-engine", percent, self.bytes).send(rank, metric, Unit::Ticks, [ticks]);
                }
            }
        }
        Ok(())
    }

    /// An epoch in which one side computes; returns what it took this rank.
    fn epoch(&mut self, rank: &mut Rank<'_, C>, side: Side, cycles: u64) -> Result<u64, Failure> {
        let hal = rank.hal();
        if self.comm.rank() == TARGET {
            if side == Side::Target {
                self.comm.receive(&mut [0], ORIGIN)?;
            }
            return self.window.while_posted(&mut self.view, &mut rank.caches, &Group::of([ORIGIN])?, |exposed| {
                // What post and wait do to the target's own caches is no communication.
                let begin = hal.now();
                match side {
                    // The post is there when the origin gets to know.
                    Side::Origin => self.comm.send(&[0], ORIGIN)?,
                    Side::Target => hal.compute(cycles),
                }
                exposed.await_origins();
                Ok(hal.now() - begin)
            })?;
        }
        let Some(buffer) = &self.buffer else { return Err(Failure::new("the origin has no buffer")) };
        match side {
            Side::Origin => self.comm.receive(&mut [0], TARGET)?,
            Side::Target => self.comm.send(&[0], TARGET)?,
        }
        let begin = hal.now();
        let access = self.window.start(&Group::of([TARGET])?)?;
        for put in 0..BURST {
            access.put_shared(TARGET, put % self.places * self.bytes, buffer, 0..self.bytes)?;
        }
        if side == Side::Origin {
            for _ in 0..CALLS {
                access.progress();
                hal.compute(cycles / CALLS);
            }
        }
        access.complete();
        Ok(hal.now() - begin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{refused, run};

    #[test]
    fn both_sides_are_measured() {
        for words in ["cores=3 most=64", "cores=6 most=1024 class=scosco"] {
            let printed = run::<Engine>(words);
            assert!(["origin.total", "target.total"].iter().all(|metric| printed.0.contains(metric)), "{}", printed.0);
        }
        refused::<Engine>(&[("cores=2", "this takes 3 cores or more")]);
    }
}
