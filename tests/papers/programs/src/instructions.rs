//! `bench-instructions`: how many instructions calls execute, in steady state, failed polls apart.
//!
//! On a machine that counts instructions, which is the emulated board. Where a call waits, whoever it waits for came before,
//! so that the first poll succeeds; where that cannot be (nobody is released before all have arrived), the first poll counts,
//! and looks at one flag, as the last one does. What counting itself takes is taken off.
//!
//! | algorithm | metrics | what was varied |
//! |---|---|---|
//! | `pscw-CLASS` | `origin` (START and COMPLETE), `post` and `wait` (each target) | number of targets |
//! | `barrier-NAME`, `broadcast-NAME` | `root`, `inner` ranks of a tree, `others` | |
//! | `broadcast-oc-k7` | `chunk`, beside its puts and gets | |
//! | `send-receive` | `both`, of 32 bytes | |
//! | `put`, `get`, `put-made`, `get-used` | `line`, and a `call` without its lines | |
//! | `word`, `element` | `load`, `store` | |
//! | `register` | `acquire`, `free` | |

use alloc::{format, vec, vec::Vec};

use collectives::{Barrier, Broadcast, Class, Group, InPlace, OcBcast, Operator, Placement, Window};
use hal::{Core, LINE_BYTES, LocalView, MpbLine, Region, kind};

use super::measure::{Of, demand, need_cores, turns};
use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

/// Calls of a loop that do not count: all that happens only once has happened by then.
const WARM_UP: u32 = 4;

/// Microseconds after which a rank comes that is to find that another was there.
const LATE_US: u64 = 40;

/// Bytes of the messages that are broadcast, and sent.
const MESSAGE_BYTES: [usize; 2] = [28, 32];

/// Lines of a put or get, few and many: the difference tells what a line takes.
const LINES: [usize; 2] = [1, 33];

/// Chunks of OC-Bcast, few and many.
const CHUNKS: [usize; 2] = [2, 6];

/// Counts instructions.
pub struct Instructions;

impl Program for Instructions {
    const NAME: &'static str = "bench-instructions";
    const ABOUT: &'static str = "counts the instructions of calls, on the emulated board";
    const OPTIONS: &'static [KnownOption] = &[
        ("only", "pscw, barriers, broadcasts, messages or lines; all if not given"),
        ("repetitions", "calls of each kind that count, 4 if not given"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let only = rank.args.get("only", alloc::string::String::new())?;
        let repetitions = super::measure::repetitions(rank, 4)?;
        need_cores(rank.comm, 2)?;
        let Some(own) = rank.hal().count_instructions(|| ()).1 else {
            return Err(Failure::new("this machine counts no instructions; `cargo xtask board` does").on_all_ranks());
        };
        let counter = Counter { own, repetitions };
        let parts: [(&str, Part<C>); 5] = [
            ("pscw", Counter::epochs),
            ("barriers", Counter::barriers),
            ("broadcasts", Counter::broadcasts),
            ("messages", Counter::messages),
            ("lines", Counter::lines),
        ];
        let known = only.is_empty() || parts.iter().any(|(name, _)| *name == only);
        demand(known, format_args!("option `only={only}`: there are pscw, barriers, broadcasts, messages and lines"))?;
        for (name, part) in parts {
            if only.is_empty() || only == name {
                rank.phase(name);
                part(&counter, rank)?;
            }
        }
        Ok(())
    }
}

type Part<C> = fn(&Counter, &mut Rank<'_, C>) -> Result<(), Failure>;

/// Counts the instructions of calls.
struct Counter {
    /// What counting itself takes.
    own: u64,
    repetitions: u32,
}

/// Lets time pass, so that others are there first.
fn come_late(hal: &impl Core, times: u64) {
    let until = hal.now() + times * LATE_US * hal.ticks_per_second() / 1_000_000;
    while hal.now() < until {
        hal.relax();
    }
}

/// What a rank of a tree is: the name of the metric that its instructions are counted by.
fn role(rank: usize, fan_in: usize, size: usize) -> &'static str {
    match rank {
        0 => "root",
        _ if fan_in.saturating_mul(rank) + 1 < size => "inner",
        _ => "others",
    }
}

const ROLES: [&str; 3] = ["root", "inner", "others"];

impl Counter {
    /// Makes a call, and counts it.
    #[inline(always)]
    fn count<C: Core, R>(&self, hal: &C, call: impl FnOnce() -> R) -> (R, u64) {
        let (result, counted) = hal.count_instructions(call);
        (result, counted.unwrap_or_default().saturating_sub(self.own))
    }

    /// Sends the instructions that calls have taken.
    fn send<C: Core>(&self, rank: &Rank<'_, C>, of: Of<'_>, metric: &str, counts: impl IntoIterator<Item = u64>) {
        of.send(rank, metric, Unit::Count, counts);
    }

    fn epochs<C: Core>(&self, rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        for class in [Class::Default, Class::TriggerOnly] {
            for targets in [1, 13, 31].into_iter().filter(|targets| *targets < rank.comm.size()) {
                self.epochs_with(rank, class, targets)?;
            }
        }
        Ok(())
    }

    /// Epochs of rank 0 with so many targets.
    fn epochs_with<C: Core>(&self, rank: &mut Rank<'_, C>, class: Class, targets: usize) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let (group, origin) = (Group::of(1..=targets)?, Group::of([0])?);
        let (window, mut view) = Window::<C, u32>::with_class(comm, &mut rank.caches, 0, class)?;
        let [mut opened, mut closed] = [Vec::new(), Vec::new()];
        for counts in turns(WARM_UP, self.repetitions) {
            comm.barrier();
            let (opening, closing) = if comm.rank() == 0 {
                come_late(hal, 2);
                let (access, opening) = self.count(hal, || window.start(&group));
                let access = access?;
                (opening, self.count(hal, || access.complete()).1)
            } else if comm.rank() <= targets {
                let (exposure, opening) = self.count(hal, || window.post(view, &mut rank.caches, &origin));
                let exposure = exposure?;
                come_late(hal, 4);
                let closing;
                (view, closing) = self.count(hal, || exposure.wait(&mut rank.caches));
                (opening, closing)
            } else {
                continue;
            };
            if counts {
                opened.push(opening);
                closed.push(closing);
            }
        }
        let algorithm = format!("pscw-{}", class.name());
        let of = Of(&algorithm, targets as u64, 0);
        if comm.rank() == 0 {
            self.send(rank, of, "origin", opened.iter().zip(&closed).map(|(opening, closing)| opening + closing));
        } else {
            self.send(rank, of, "post", opened);
            self.send(rank, of, "wait", closed);
        }
        Ok(window.free(view, &mut rank.caches)?)
    }

    fn barriers<C: Core>(&self, rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let all = comm.group();
        let fan_in = match Barrier::fastest(&all, hal.layout()) {
            Barrier::Tree { fan_in, .. } | Barrier::PolledTree { fan_in } => fan_in,
            _ => comm.size(),
        };
        self.by_role(rank, "barrier-default", fan_in, Order::ParentsLast, || comm.barrier())?;
        for name in ["dissemination", "rcce-linear"] {
            let mut barrier = comm.barrier_of(&all, name.parse()?)?;
            self.by_role(rank, &format!("barrier-{name}"), comm.size(), Order::ParentsLast, || barrier.wait())?;
        }
        Ok(())
    }

    fn broadcasts<C: Core>(&self, rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let comm = rank.comm;
        let mut message = [0_u8; MESSAGE_BYTES[0]];
        for (name, fan_in) in [("default", comm.size()), ("oc-k7", OcBcast::default().k)] {
            let algorithm: Broadcast = name.parse()?;
            let broadcast = || comm.using(algorithm, |comm| comm.broadcast(&mut message, 0));
            self.by_role(rank, &format!("broadcast-{name}"), fan_in, Order::ParentsFirst, broadcast)?;
        }
        Ok(())
    }

    /// Calls of all ranks, those of a tree told apart.
    fn by_role<C: Core, R>(
        &self,
        rank: &Rank<'_, C>,
        algorithm: &str,
        fan_in: usize,
        order: Order,
        mut call: impl FnMut() -> R,
    ) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let mut counts = Vec::new();
        for counted in turns(WARM_UP, self.repetitions) {
            comm.barrier();
            let place = match order {
                Order::ParentsFirst => comm.rank(),
                Order::ParentsLast => comm.size() - comm.rank(),
            };
            come_late(hal, place as u64);
            let (_, count) = self.count(hal, &mut call);
            if counted {
                counts.push(count);
            }
        }
        let own = role(comm.rank(), fan_in, comm.size());
        // The most of all ranks of a role, each time.
        let mut most = vec![0; ROLES.len() * counts.len()];
        for (role, most) in ROLES.iter().zip(most.chunks_mut(counts.len())) {
            if *role == own {
                most.copy_from_slice(&counts);
            }
        }
        comm.allreduce(InPlace, &mut most, &Operator::MAX)?;
        for (role, most) in ROLES.iter().zip(most.chunks(counts.len())) {
            if comm.rank() == 0 && most.iter().any(|count| *count > 0) {
                self.send(rank, Of(algorithm, 0, 0), role, most.iter().copied());
            }
        }
        Ok(())
    }

    fn messages<C: Core>(&self, rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let mut message = [0_u8; MESSAGE_BYTES[1]];
        let mut counts = Vec::new();
        for counted in turns(WARM_UP, self.repetitions) {
            comm.barrier();
            let (done, count) = match comm.rank() {
                0 => self.count(hal, || comm.send(&message, 1)),
                1 => {
                    come_late(hal, 1);
                    self.count(hal, || comm.receive(&mut message, 0))
                }
                _ => (Ok(()), 0),
            };
            done?;
            if counted {
                counts.push(count);
            }
        }
        comm.allreduce(InPlace, &mut counts, &Operator::SUM)?;
        if comm.rank() == 0 {
            self.send(rank, Of("send-receive", 0, MESSAGE_BYTES[1]), "both", counts);
        }
        Ok(())
    }

    /// What a rank does without others.
    fn lines<C: Core>(&self, rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let words: Region<kind::Uncached> = comm.share(LINE_BYTES, Placement::Near(comm.core_of(0)))?;
        let elements: Region<kind::Cached> = comm.share(LINES[1] * LINE_BYTES, Placement::Near(comm.core_of(0)))?;
        let chunk = self.chunk(rank)?;
        comm.barrier();
        if comm.rank() != 0 {
            return Ok(());
        }
        let mut memory = [0_u8; LINES[1] * LINE_BYTES];
        let at = MpbLine::new(comm.core_of(1), comm.mpb_layout().buffer(0));
        self.transfers(rank, "put", |len| hal.put(&memory[..len], at));
        self.transfers(rank, "get", |len| hal.get(at, &mut memory[..len]));
        self.transfers(rank, "put-made", |len| {
            hal.put_made(len, at, |index, bytes| bytes.copy_from_slice(&memory[index * LINE_BYTES..][..bytes.len()]));
        });
        self.transfers(rank, "get-used", |len| {
            hal.get_used(at, len, |index, bytes| memory[index * LINE_BYTES..][..bytes.len()].copy_from_slice(bytes));
        });
        // A rank that passes a chunk on gets it into its MPB, and from there into its memory.
        let lines = core::hint::black_box(comm.mpb_layout().buffer_lines());
        let mut chunk_memory = vec![0_u8; lines * LINE_BYTES];
        let moved = self.steady(hal, || hal.get_to_own_mpb(at, usize::from(at.line), lines))
            + self.steady(hal, || hal.get(at, &mut chunk_memory));
        self.send(rank, Of("broadcast-oc-k7", 0, 0), "chunk", [chunk.saturating_sub(moved)]);
        self.single(rank, "word", "load", || hal.load_word(words, 3));
        self.single(rank, "word", "store", || hal.store_word(words, 3, 1));
        let [mut acquire, mut free] = [0; 2];
        for _ in turns(WARM_UP, self.repetitions) {
            acquire = self.count(hal, || hal.acquire_register(comm.core_of(1), "a measurement")).1;
            free = self.count(hal, || hal.free_register(comm.core_of(1))).1;
        }
        self.send(rank, Of("register", 0, 0), "acquire", [acquire]);
        self.send(rank, Of("register", 0, 0), "free", [free]);

        self.loops(rank, elements, "load", |view| sum(view))?;
        self.loops(rank, elements, "store", fill)
    }

    /// The most that a rank of a tree has to do for a chunk of a long message, its puts and gets among it.
    fn chunk<C: Core>(&self, rank: &Rank<'_, C>) -> Result<u64, Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let algorithm = Broadcast::OcBcast(OcBcast::default());
        let bytes = CHUNKS.map(|chunks| chunks * comm.mpb_layout().buffer_lines() * LINE_BYTES);
        let mut message = vec![0_u8; bytes[1]];
        let mut counts = [0; CHUNKS.len()];
        for (bytes, least) in bytes.into_iter().zip(&mut counts) {
            *least = u64::MAX;
            for _ in turns(WARM_UP, self.repetitions) {
                comm.barrier();
                let broadcast = || comm.using(algorithm, |comm| comm.broadcast(&mut message[..bytes], 0));
                let (done, count) = self.count(hal, broadcast);
                done?;
                *least = count.min(*least);
            }
        }
        let mut chunk = [(counts[1] - counts[0]) / (CHUNKS[1] - CHUNKS[0]) as u64];
        comm.allreduce(InPlace, &mut chunk, &Operator::MAX)?;
        Ok(chunk[0])
    }

    /// Puts or gets of few lines and of many.
    fn transfers<C: Core>(&self, rank: &Rank<'_, C>, algorithm: &str, mut transfer: impl FnMut(usize)) {
        let [few, many] = LINES.map(|lines| self.steady(rank.hal(), || transfer(lines * LINE_BYTES)));
        let line = (many - few) / (LINES[1] - LINES[0]) as u64;
        self.send(rank, Of(algorithm, 0, LINE_BYTES), "line", [line]);
        self.send(rank, Of(algorithm, 0, LINE_BYTES), "call", [few - line]);
    }

    /// Loops over all elements of a view.
    fn loops<C: Core, R>(
        &self,
        rank: &Rank<'_, C>,
        region: Region<kind::Cached>,
        metric: &str,
        mut run: impl FnMut(&mut LocalView<'_, u32>) -> R,
    ) -> Result<(), Failure> {
        let (hal, elements) = (rank.hal(), LINES.map(|lines| lines * LINE_BYTES / 4));
        let mut counts = [0; LINES.len()];
        for (len, count) in elements.into_iter().zip(&mut counts) {
            let mut view = hal.claim::<u32>(region, len)?;
            *count = self.steady(hal, || run(&mut view));
        }
        let each = (counts[1] - counts[0]).div_ceil((elements[1] - elements[0]) as u64);
        self.send(rank, Of("element", 0, 4), metric, [each]);
        Ok(())
    }

    fn single<C: Core, R>(&self, rank: &Rank<'_, C>, algorithm: &str, metric: &str, call: impl FnMut() -> R) {
        let count = self.steady(rank.hal(), call);
        self.send(rank, Of(algorithm, 0, 4), metric, [count]);
    }

    /// What a call takes that depends on nobody.
    #[inline(always)]
    fn steady<C: Core, R>(&self, hal: &C, mut call: impl FnMut() -> R) -> u64 {
        let mut last = 0;
        for _ in turns(WARM_UP, self.repetitions) {
            let result;
            (result, last) = self.count(hal, &mut call);
            core::hint::black_box(result);
        }
        last
    }
}

/// Loads all elements.
#[inline(never)]
fn sum(view: &LocalView<'_, u32>) -> u32 {
    (0..view.len()).map(|index| view.load(index)).fold(0, u32::wrapping_add)
}

/// Stores to all elements.
#[inline(never)]
fn fill(view: &mut LocalView<'_, u32>) {
    (0..view.len()).for_each(|index| view.store(index, index as u32));
}

/// In which order ranks come, so that each finds those there that it waits for.
#[derive(Clone, Copy)]
enum Order {
    ParentsFirst,
    ParentsLast,
}
