//! Litmus tests: what cores may see of each other's loads and stores, per kind of memory.
//!
//! A litmus test is a few loads and stores on a few cores. Its *forbidden* outcome is the one that sequential
//! consistency excludes. With everything that a kind of memory asks for, made visible after each store and refreshed
//! before each load, every kind is sequentially consistent: a core has one access under way at a time. With a part of
//! it left out, the forbidden outcome comes within reach where the table says so, and a test shows that it is
//! reached.

use alloc::vec::Vec;

use hal::{Caches, ClaimError, Core, LINE_BYTES, LocalView, MpbLine, Region, kind};

use crate::{
    Context, Failed, check,
    check::Outcome,
    memory::{free, shared, spare_line},
};

/// A kind of memory that variables live in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// Lines of an MPB.
    Mpb,
    /// Uncached words.
    Uncached,
    /// Cached shared memory.
    Cached,
    /// Combined shared memory.
    Combined,
}

/// All kinds.
pub const MEMORIES: [Memory; 4] = [Memory::Mpb, Memory::Uncached, Memory::Cached, Memory::Combined];

/// How much of what a kind asks for is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Care {
    /// Drain or flush after each store, invalidate before each load.
    Full,
    /// No drain, no flush.
    NoPublish,
    /// No invalidation; and each core has loaded the variable of its last load before.
    NoRefresh,
}

/// All degrees of care.
pub const CARES: [Care; 3] = [Care::Full, Care::NoPublish, Care::NoRefresh];

/// An operation on one of two variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Stores 1.
    Store(usize),
    /// Loads.
    Load(usize),
}

/// A litmus test.
pub struct Shape {
    /// Its usual name.
    pub name: &'static str,
    /// The operations of each core.
    pub cores: &'static [&'static [Op]],
    /// What the loads must not see together, in the order of the cores, if memory is sequentially consistent.
    pub forbidden: &'static [u32],
}

use Op::{Load, Store};

/// Store buffering: each core stores one variable and loads the other.
pub const STORE_BUFFERING: Shape =
    Shape { name: "store buffering", cores: &[&[Store(0), Load(1)], &[Store(1), Load(0)]], forbidden: &[0, 0] };

/// Message passing: data, then a flag.
pub const MESSAGE_PASSING: Shape =
    Shape { name: "message passing", cores: &[&[Store(0), Store(1)], &[Load(1), Load(0)]], forbidden: &[1, 0] };

/// Load buffering: each core loads one variable and stores the other.
pub const LOAD_BUFFERING: Shape =
    Shape { name: "load buffering", cores: &[&[Load(0), Store(1)], &[Load(1), Store(0)]], forbidden: &[1, 1] };

/// Independent reads of independent writes.
pub const INDEPENDENT_READS: Shape = Shape {
    name: "independent reads of independent writes",
    cores: &[&[Store(0)], &[Store(1)], &[Load(0), Load(1)], &[Load(1), Load(0)]],
    forbidden: &[1, 0, 1, 0],
};

/// All shapes.
pub const SHAPES: [&Shape; 4] = [&STORE_BUFFERING, &MESSAGE_PASSING, &LOAD_BUFFERING, &INDEPENDENT_READS];

impl Shape {
    /// Number of loads.
    pub const fn loads(&self) -> usize {
        self.forbidden.len()
    }

    /// Whether this outcome can be reached in this memory with this care.
    ///
    /// * With full care every memory is sequentially consistent: only the forbidden outcome is out of reach. Uncached
    ///   memory needs no care, and as no core loads ahead of time, load buffering is never seen at all.
    /// * Without publishing, a store may stay where only its core sees it: both cores of store buffering may miss the
    ///   other's. The write-combine buffer still keeps the order of two stores, as the second pushes the first out;
    ///   cached stores become visible by eviction, in any order.
    /// * Without refreshing, the last load sees what was loaded before: the data of message passing is stale; in
    ///   store buffering one core at least loaded before the other stored; and the independent readers can disagree
    ///   on the order of the writes, in just the one way in which both see their first variable fresh and their
    ///   second stale.
    pub fn allows(&self, memory: Memory, care: Care, outcome: &[u32]) -> bool {
        let consistent = outcome != self.forbidden;
        match (self.name, memory, care) {
            (_, _, Care::Full) | (_, Memory::Uncached, _) | ("load buffering", ..) => consistent,
            ("store buffering", _, Care::NoPublish) => true,
            ("message passing", Memory::Cached, Care::NoPublish) => true,
            (_, _, Care::NoPublish) => consistent,
            ("store buffering", _, Care::NoRefresh) => outcome != [1, 1],
            ("message passing", _, Care::NoRefresh) => true,
            (_, _, Care::NoRefresh) => outcome != [0, 1, 0, 1],
        }
    }
}

/// The variables of a litmus test, in one kind of memory: two words in lines of their own.
pub enum Variables<'c> {
    /// Lines of MPBs.
    Mpb([MpbLine; 2]),
    /// Uncached words.
    Uncached(Region<kind::Uncached>),
    /// Views of cached lines.
    Cached(Region<kind::Cached>, [LocalView<'c, u32>; 2]),
    /// Bytes of combined lines.
    Combined(Region<kind::Combined>),
}

impl<'c> Variables<'c> {
    /// The variables in these lines, or in the first two lines of this shared memory, all of which is 0 and in no
    /// cache.
    ///
    /// # Errors
    /// If the memory cannot be viewed.
    pub fn at<C: Core>(
        hal: &'c C,
        memory: Memory,
        lines: [MpbLine; 2],
        shared: Region<kind::Uncached>,
    ) -> Result<Self, ClaimError> {
        Ok(match memory {
            Memory::Mpb => Self::Mpb(lines),
            Memory::Uncached => Self::Uncached(shared),
            Memory::Combined => Self::Combined(shared.mapped()),
            Memory::Cached => {
                let region = shared.mapped();
                let view =
                    |index: usize| hal.claim(region.lines_around(index * LINE_BYTES, (index + 1) * LINE_BYTES), 8);
                Self::Cached(region, [view(0)?, view(1)?])
            }
        })
    }

    fn store<C: Core>(&mut self, hal: &C, caches: &mut Caches, variable: usize, publish: bool) {
        match self {
            Self::Mpb(lines) => hal.store(lines[variable], 0, &[1]),
            Self::Uncached(region) => hal.store_word(*region, variable * LINE_BYTES / 4, 1),
            Self::Combined(region) => hal.write(*region, variable * LINE_BYTES, &[1]),
            Self::Cached(_, views) => views[variable].store(0, 1),
        }
        if publish {
            match self {
                Self::Mpb(_) | Self::Combined(_) => hal.drain(),
                Self::Uncached(_) => {}
                Self::Cached(_, views) => hal.write_back_invalidate(caches, views[variable].region()),
            }
        }
    }

    fn load<C: Core>(&self, hal: &C, caches: &mut Caches, variable: usize, refresh: bool) -> u32 {
        if refresh {
            match self {
                Self::Mpb(_) | Self::Combined(_) => hal.invalidate_mpb(),
                Self::Uncached(_) => {}
                Self::Cached(_, views) => hal.write_back_invalidate(caches, views[variable].region()),
            }
        }
        match self {
            Self::Mpb(lines) => u32::from(hal.load_line(lines[variable]).0[0]),
            Self::Uncached(region) => hal.load_word(*region, variable * LINE_BYTES / 4),
            Self::Combined(region) => {
                let mut byte = [0];
                hal.read(*region, variable * LINE_BYTES, &mut byte);
                u32::from(byte[0])
            }
            Self::Cached(_, views) => views[variable].load(0),
        }
    }

    /// Carries out the operations of one core and returns what its loads saw; `pause` comes before each.
    pub fn execute<C: Core>(
        &mut self,
        hal: &C,
        caches: &mut Caches,
        ops: &[Op],
        care: Care,
        mut pause: impl FnMut(),
    ) -> Vec<u32> {
        if care == Care::NoRefresh
            && let Some(Load(variable)) = ops.iter().rev().find(|op| matches!(op, Load(_)))
        {
            let _ = self.load(hal, caches, *variable, true);
        }
        let mut seen = Vec::new();
        for op in ops {
            pause();
            match *op {
                Store(variable) => self.store(hal, caches, variable, care != Care::NoPublish),
                Load(variable) => seen.push(self.load(hal, caches, variable, care != Care::NoRefresh)),
            }
        }
        if care == Care::NoPublish {
            // The core goes on after its last store, and what it left behind may become visible by itself.
            drop(hal.try_lock(hal.core()));
        }
        seen
    }
}

/// Runs a shape once and returns what the loads of this rank saw. Collective, with at least as many ranks as the
/// shape has cores.
fn run<C: Core>(
    context: &mut Context<'_, '_, C>,
    shape: &Shape,
    memory: Memory,
    care: Care,
    pause: impl FnMut(),
) -> Result<Vec<u32>, Failed> {
    let hal = context.hal();
    let lines = [spare_line(context, 0, 0), spare_line(context, context.size() - 1, 1)];
    let region = shared::<_, kind::Uncached>(context, 2 * LINE_BYTES)?;
    if context.rank() == 0 {
        lines.iter().for_each(|line| hal.store(*line, 0, &[0; LINE_BYTES]));
    }
    hal.write_back_invalidate(context.caches, region.mapped());
    context.comm.barrier();
    hal.invalidate_mpb();
    let mut variables = Variables::at(hal, memory, lines, region)?;
    let ops = shape.cores.get(context.rank()).copied().unwrap_or(&[]);
    let seen = variables.execute(hal, context.caches, ops, care, pause);
    drop(variables);
    // What sits in the write-combine buffer must not go to memory that is somebody else's by then.
    hal.drain();
    context.comm.barrier();
    free(context, region)?;
    Ok(seen)
}

/// Runs a shape in all memories with all degrees of care and many skews, and checks that what is not allowed is not
/// seen.
fn sample<C: Core>(context: &mut Context<'_, '_, C>, shape: &Shape) -> Outcome {
    const ROUNDS: usize = 6;
    if context.size() < shape.cores.len() {
        return Ok(());
    }
    for memory in MEMORIES {
        for care in CARES {
            for round in 0..ROUNDS {
                let skew = (context.rank() * 7 + round * 5) % 11;
                let mut turn = 0;
                let hal = context.hal();
                let seen = run(context, shape, memory, care, || {
                    turn += 1;
                    for _ in 0..skew * turn % 7 {
                        hal.compute(100);
                        // A look at the own register hands over, and touches no line.
                        drop(hal.try_lock(hal.core()));
                    }
                })?;
                let all = collect(context, shape, &seen)?;
                // Where a page is forgotten at a time, publishing one variable may refresh the other.
                let refreshed = memory == Memory::Cached && care == Care::NoRefresh;
                // Where memory is coherent loads are current without any care.
                let is_coherent = context.all_is_coherent || hal.layout().cores_per_domain() > 1;
                let is_current = is_coherent && all != shape.forbidden;
                check!(
                    refreshed || is_current || shape.allows(memory, care, &all),
                    "{} in {memory:?} memory with care {care:?} saw {all:?}",
                    shape.name
                );
            }
        }
    }
    Ok(())
}

/// What the loads of all cores saw, on every rank.
fn collect<C: Core>(context: &mut Context<'_, '_, C>, shape: &Shape, seen: &[u32]) -> Result<Vec<u32>, Failed> {
    let hal = context.hal();
    let words = shared::<_, kind::Uncached>(context, 2 * LINE_BYTES)?;
    let loads_of = |core: usize| shape.cores[core].iter().filter(|op| matches!(op, Load(_))).count();
    let first: usize = (0..context.rank().min(shape.cores.len())).map(loads_of).sum();
    for (index, value) in seen.iter().enumerate() {
        hal.store_word(words, first + index, *value);
    }
    context.comm.barrier();
    let all = (0..shape.loads()).map(|index| hal.load_word(words, index)).collect();
    context.comm.barrier();
    free(context, words)?;
    Ok(all)
}

/// [`STORE_BUFFERING`].
pub fn store_buffering<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    sample(context, &STORE_BUFFERING)
}

/// [`MESSAGE_PASSING`].
pub fn message_passing<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    sample(context, &MESSAGE_PASSING)
}

/// [`LOAD_BUFFERING`].
pub fn load_buffering<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    sample(context, &LOAD_BUFFERING)
}

/// [`INDEPENDENT_READS`].
pub fn independent_reads<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    sample(context, &INDEPENDENT_READS)
}
