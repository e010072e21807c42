//! `bench-instructions`: how many instructions calls execute, and how many cycles of its own a core spends on them, in steady
//! state, failed polls apart.
//!
//! On a machine that counts: the emulated board does, and the simulator, whose software has prices, tells what it has charged
//! for how many operations of the HAL. Where a call waits, whoever it waits for came before,
//! so that the first poll succeeds; where that cannot be (nobody is released before all have arrived), the first poll counts,
//! and looks at one flag, as the last one does. What counting itself takes is taken off.
//!
//! Instructions have the metrics below. To those of cycles `.cycles` is added, `.code-misses` to those of lines of instructions that L1
//! did not have, for which the core waits in these cycles, and `.operations` to those of operations.
//!
//! | algorithm | metrics | what was varied |
//! |---|---|---|
//! | `pscw-CLASS` | `origin` (START and COMPLETE), `start`, `complete`, `post` and `wait` (each target) | number of targets |
//! | `barrier-NAME` (`group`: the default as an object; of two ranks `barrier-NAME-of-2`), `broadcast-NAME` | `root`, `inner` ranks of a tree, `others` | |
//! | `broadcast-oc-k7` | `chunk`, beside its puts and gets | |
//! | `send-receive` | `send`, `receive`, and `both` of 32 bytes | bytes |
//! | `send-receive-tagged`, `send-receive-sections` | `send` and `receive`, each the answer to the one before | bytes |
//! | `put`, `get`, `put-made`, `get-used`, `get-to-mpb` | `line`, and a `call` without its lines | |
//! | `poll` | `line`, a `call` without its lines, and `failed`, which has cycles only | |
//! | `wait` | of one that goes on after its first poll: what it takes to `begin` that, and to `end`, cycles only | |
//! | `flag` | `set`; `line`: `load` | |
//! | `word`, `element` | `load`, `store` | |
//! | `register` | `acquire`, `free` | |
//! | `memory` | of new memory, and of the same once more, ticks only: `fill` and `fill-again`, `copy` and `copy-again` | |

use alloc::{format, vec, vec::Vec};
use core::hint::black_box;

use collectives::{
    Barrier, Broadcast, Class, Error, Group, InPlace, OcBcast, Operator, Placement, Source, Tag, Window,
};
use hal::{Core, Countable, Deadline, LINE_BYTES, LocalView, MpbLine, Place, Reason, Region, kind};

use super::{
    measure::{Of, demand, look_ticks, need_cores, turns},
    mpi::rckmpi::Sections,
};
use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

/// Calls of a loop that do not count: all that happens only once has happened by then. A multiple of how many things are counted in turn,
/// so that those that count begin with the first.
const WARM_UP: u32 = 6;

/// Microseconds after which a rank comes that is to find that another was there: few, as of 48 ranks that come one after the other
/// the last one comes 48 times as late, and the emulator executes all the looks at the clock of the others meanwhile. Epochs and
/// exchanges, which take longer, wait for several times as long.
const LATE_US: u64 = 10;

/// Bytes of the messages that are broadcast, and sent.
const MESSAGE_BYTES: [usize; 2] = [28, 32];

/// Bytes of messages with tags.
const TAGGED_BYTES: [usize; 2] = [8, 200];

/// Bytes of messages in chunks: in one, in some and in many.
const LONG_MESSAGE_BYTES: [usize; 3] = [64, 1024, 8192];

/// Lines that a poll looks at, few and many.
const POLLED_LINES: [usize; 2] = [1, 3];

/// Polls that fail, few and many: the difference tells what one takes.
const FAILED_POLLS: [u32; 2] = [100, 1_100];

/// Waits that go on for one poll.
const WAITS: u32 = 100;

/// What there is to count, and what is added to the name of a metric for it.
const COUNTABLE: [(Countable, &str); 4] = [
    (Countable::Instructions, ""),
    (Countable::Cycles, ".cycles"),
    (Countable::CodeMisses, ".code-misses"),
    (Countable::Operations, ".operations"),
];

/// Words of a rank, or of a block, in collective operations.
const WORDS: [usize; 2] = [2, 128];

/// Lines of a put or get, few and many: the difference tells what a line takes.
const LINES: [usize; 2] = [1, 33];

/// Bytes of memory that are filled: more than L1 has, and less than L2.
const FILLED_BYTES: usize = 32 << 10;

/// Chunks of OC-Bcast, few and many.
const CHUNKS: [usize; 2] = [2, 6];

/// Counts instructions.
pub struct Instructions;

impl Program for Instructions {
    const NAME: &'static str = "bench-instructions";
    const ABOUT: &'static str = "counts the instructions of calls, on the emulated board";
    const OPTIONS: &'static [KnownOption] = &[
        ("only", "pscw, barriers, broadcasts, messages or lines, all of these if not given; or collectives"),
        ("repetitions", "calls of each kind that count, for all that is counted together, 3 if not given"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let only = rank.args.get("only", alloc::string::String::new())?;
        let repetitions = super::measure::repetitions(rank, 3)?;
        need_cores(rank.comm, 2)?;
        let counted: Vec<_> =
            COUNTABLE.into_iter().filter_map(|(what, suffix)| Counted::new(rank.hal(), what, suffix)).collect();
        demand(
            !counted.is_empty(),
            "this machine counts no instructions and prices no software; `cargo xtask board` does",
        )?;
        let counter = Counter { counted, repetitions };
        let parts: [(&str, Part<C>); 6] = [
            ("collectives", Counter::collectives),
            ("pscw", Counter::epochs),
            ("barriers", Counter::barriers),
            ("broadcasts", Counter::broadcasts),
            ("messages", Counter::messages),
            ("lines", Counter::lines),
        ];
        let known = only.is_empty() || parts.iter().any(|(name, _)| *name == only);
        demand(
            known,
            format_args!("option `only={only}`: there are pscw, barriers, broadcasts, messages, lines and collectives"),
        )?;
        for (name, part) in parts {
            // Those of many ranks take long, and say no more than those of few.
            if only == name || only.is_empty() && name != "collectives" {
                rank.phase(name);
                part(&counter, rank)?;
            }
        }
        Ok(())
    }
}

type Part<C> = fn(&Counter, &mut Rank<'_, C>) -> Result<(), Failure>;

/// Something that is counted.
struct Counted {
    what: Countable,
    /// What is added to names of metrics.
    suffix: &'static str,
    /// What counting itself takes.
    own: u64,
}

impl Counted {
    /// Nothing if the core does not count that.
    fn new<C: Core>(hal: &C, what: Countable, suffix: &'static str) -> Option<Self> {
        // By code that the caches have.
        let mut own = None;
        for _ in 0..black_box(WARM_UP) {
            own = hal.count(what, || ()).1;
        }
        Some(Self { what, suffix, own: own? })
    }
}

/// Counts what calls do: in one call one thing, in the next one the next.
struct Counter {
    counted: Vec<Counted>,
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
    /// The turns of a loop: what is counted in each, and whether it counts.
    fn turns(&self) -> impl Iterator<Item = (&Counted, bool)> {
        let all = turns(WARM_UP, self.repetitions.next_multiple_of(self.counted.len() as u32));
        self.counted.iter().cycle().zip(all)
    }

    /// Makes a call, and counts it.
    #[inline(always)]
    fn count<C: Core, R>(hal: &C, counted: &Counted, call: impl FnOnce() -> R) -> (R, u64) {
        let (result, count) = hal.count(counted.what, call);
        (result, count.unwrap_or_default().saturating_sub(counted.own))
    }

    /// Sends what calls have taken, in turns of all that is counted, the first thing first.
    fn send<C: Core>(&self, rank: &Rank<'_, C>, of: Of<'_>, metric: &str, counts: &[u64]) {
        for (place, counted) in self.counted.iter().enumerate() {
            let its = counts.iter().skip(place).step_by(self.counted.len()).copied();
            of.send(rank, &format!("{metric}{}", counted.suffix), Unit::Count, its);
        }
    }

    fn epochs<C: Core>(&self, rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        for class in [Class::Default, Class::TriggerOnly] {
            for targets in [1, 13, 31].into_iter().filter(|targets| *targets < rank.comm.size()) {
                self.epochs_with(rank, class, targets)?;
            }
        }
        Ok(())
    }

    /// Epochs of rank 0 with `targets` targets.
    fn epochs_with<C: Core>(&self, rank: &mut Rank<'_, C>, class: Class, targets: usize) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let (group, origin) = (Group::of(1..=targets)?, Group::of([0])?);
        let (window, mut view) = Window::<C, u32>::with_class(comm, &mut rank.caches, 0, class)?;
        let [mut opened, mut closed] = [Vec::new(), Vec::new()];
        for (counted, counts) in self.turns() {
            comm.barrier();
            let (opening, closing) = if comm.rank() == 0 {
                come_late(hal, 8);
                let (access, opening) = Self::count(hal, counted, || window.start(&group));
                let access = access?;
                (opening, Self::count(hal, counted, || access.complete()).1)
            } else if comm.rank() <= targets {
                let (exposure, opening) = Self::count(hal, counted, || window.post(view, &mut rank.caches, &origin));
                let exposure = exposure?;
                come_late(hal, 16);
                let closing;
                (view, closing) = Self::count(hal, counted, || exposure.wait(&mut rank.caches));
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
            let both: Vec<_> = opened.iter().zip(&closed).map(|(opening, closing)| opening + closing).collect();
            self.send(rank, of, "origin", &both);
            self.send(rank, of, "start", &opened);
            self.send(rank, of, "complete", &closed);
        } else {
            self.send(rank, of, "post", &opened);
            self.send(rank, of, "wait", &closed);
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
        // Few ranks tell what a barrier takes once, and many what it takes for each flag.
        let of_ranks = if comm.size() == 2 { "-of-2" } else { "" };
        self.by_role(rank, &format!("barrier-default{of_ranks}"), fan_in, Order::ParentsLast, || comm.barrier())?;
        for (name, kind, fan_in) in [
            ("group", Barrier::Default, fan_in),
            ("dissemination", "dissemination".parse()?, comm.size()),
            ("rcce-linear", Barrier::RcceLinear, comm.size()),
        ] {
            let mut barrier = comm.barrier_of(&all, kind)?;
            let algorithm = format!("barrier-{name}{of_ranks}");
            self.by_role(rank, &algorithm, fan_in, Order::ParentsLast, || barrier.wait())?;
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

    /// Reductions and exchanges of few words and of many.
    fn collectives<C: Core>(&self, rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, size) = (rank.comm, rank.comm.size());
        for words in WORDS {
            let (own, mut one) = (vec![1_u32; words], vec![0_u32; words]);
            let (of_each, mut all) = (vec![1_u32; words * size], vec![0_u32; words * size]);
            let count = |name: &str, call: &mut dyn FnMut() -> Result<(), Error>| {
                self.by_role(rank, &format!("{name}-{words}"), size, Order::SlowestLast, call)
            };
            count("reduce", &mut || comm.reduce(&own[..], &mut one[..], &Operator::SUM, 0))?;
            count("allreduce", &mut || comm.allreduce(&own[..], &mut one[..], &Operator::SUM))?;
            count("scan", &mut || comm.scan(&own[..], &mut one[..], &Operator::SUM))?;
            count("reduce-scatter", &mut || comm.reduce_scatter(&of_each[..], &mut one[..], &Operator::SUM))?;
            count("gather", &mut || comm.gather(&own[..], &mut all[..], 0))?;
            count("scatter", &mut || comm.scatter(&of_each[..], &mut one[..], 0))?;
            count("allgather", &mut || comm.allgather(&own[..], &mut all[..]))?;
            count("alltoall", &mut || comm.alltoall(&of_each[..], &mut all[..]))?;
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
        for (counted, is_kept) in self.turns() {
            comm.barrier();
            let place = match order {
                Order::ParentsFirst => comm.rank(),
                Order::ParentsLast | Order::SlowestLast => comm.size() - comm.rank(),
            };
            come_late(hal, order.pace() * place as u64);
            let (_, count) = Self::count(hal, counted, &mut call);
            if is_kept {
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
                self.send(rank, Of(algorithm, 0, 0), role, most);
            }
        }
        Ok(())
    }

    fn messages<C: Core>(&self, rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        for bytes in [MESSAGE_BYTES[1]].into_iter().chain(LONG_MESSAGE_BYTES) {
            let mut message = vec![0_u8; bytes];
            let mut counts = Vec::new();
            for (counted, is_kept) in self.turns() {
                comm.barrier();
                let (done, count) = match comm.rank() {
                    0 => Self::count(hal, counted, || comm.send(&message, 1)),
                    1 => {
                        come_late(hal, 1);
                        Self::count(hal, counted, || comm.receive(&mut message, 0))
                    }
                    _ => (Ok(()), 0),
                };
                done?;
                if is_kept {
                    counts.push(count);
                }
            }
            let of = Of("send-receive", 0, bytes);
            match comm.rank() {
                0 => self.send(rank, of, "send", &counts),
                1 => self.send(rank, of, "receive", &counts),
                _ => {}
            }
            comm.allreduce(InPlace, &mut counts, &Operator::SUM)?;
            if comm.rank() == 0 && bytes == MESSAGE_BYTES[1] {
                self.send(rank, of, "both", &counts);
            }
        }
        self.tagged_messages(rank)
    }

    /// Messages with tags, and by the protocol of RCKMPI.
    fn tagged_messages<C: Core>(&self, rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        const TAG: u32 = 1;
        let comm = rank.comm;
        let opened = comm.open_messages()?;
        let send = |message: &[u8], to| comm.send_tagged(message, to, TAG);
        let receive =
            |message: &mut [u8], from| comm.receive_tagged(message, Source::Rank(from), Tag::Is(TAG)).map(drop);
        self.answered_messages(rank, "send-receive-tagged", send, receive)?;
        opened.close()?;
        let sections = Sections::new(comm)?;
        let send = |message: &[u8], to| sections.send(message, to, TAG);
        let receive = |message: &mut [u8], from| sections.receive(message, from, TAG).map(drop);
        self.answered_messages(rank, "send-receive-sections", send, receive)
    }

    /// Messages between ranks 0 and 1, each the answer to the one before.
    fn answered_messages<C: Core>(
        &self,
        rank: &Rank<'_, C>,
        algorithm: &str,
        send: impl Fn(&[u8], usize) -> Result<(), Error>,
        receive: impl Fn(&mut [u8], usize) -> Result<(), Error>,
    ) -> Result<(), Failure> {
        let (comm, hal, me) = (rank.comm, rank.hal(), rank.comm.rank());
        for bytes in TAGGED_BYTES {
            let mut message = vec![0_u8; bytes];
            let [mut sent, mut received] = [Vec::new(), Vec::new()];
            for (counted, is_kept) in self.turns() {
                comm.barrier();
                for sender in 0..2 {
                    // The receiver comes when the message is there: that of the answer has to wait for both.
                    let (done, count) = if me == sender {
                        come_late(hal, 1);
                        Self::count(hal, counted, || send(&message, 1 - sender))
                    } else if me == 1 - sender {
                        come_late(hal, 2 + 2 * sender as u64);
                        Self::count(hal, counted, || receive(&mut message, sender))
                    } else {
                        break;
                    };
                    done?;
                    if is_kept {
                        if me == sender { &mut sent } else { &mut received }.push(count);
                    }
                }
            }
            if me == 0 {
                let of = Of(algorithm, 0, bytes);
                self.send(rank, of, "send", &sent);
                self.send(rank, of, "receive", &received);
            }
        }
        Ok(())
    }

    /// Fills new memory and copies to it, and does both again.
    fn memory<C: Core>(rank: &Rank<'_, C>) {
        let hal = rank.hal();
        let mut begun = hal.now();
        let mut send = |metric| {
            Of("memory", 0, FILLED_BYTES).send(rank, metric, Unit::Ticks, [hal.now() - begun]);
            begun = hal.now();
        };
        let mut filled = vec![black_box(1_u8); FILLED_BYTES];
        send("fill");
        black_box(&mut filled[..]).fill(black_box(2));
        send("fill-again");
        let mut copied = black_box(&filled[..]).to_vec();
        send("copy");
        black_box(&mut copied[..]).copy_from_slice(black_box(&filled[..]));
        send("copy-again");
        black_box(copied);
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
        let lines = black_box(comm.mpb_layout().buffer_lines());
        let mut chunk_memory = vec![0_u8; lines * LINE_BYTES];
        let moved = self.steady(hal, || hal.get_to_own_mpb(at, usize::from(at.line), lines));
        let moved = moved
            .into_iter()
            .zip(self.steady(hal, || hal.get(at, &mut chunk_memory)))
            .map(|(to_mpb, to_memory)| to_mpb + to_memory);
        let beside: Vec<_> = chunk.into_iter().zip(moved).map(|(chunk, moved)| chunk.saturating_sub(moved)).collect();
        self.send(rank, Of("broadcast-oc-k7", 0, 0), "chunk", &beside);
        self.transfers(rank, "get-to-mpb", |len| hal.get_to_own_mpb(at, usize::from(at.line), len / LINE_BYTES));
        self.polls(rank);
        self.single(rank, "flag", "set", || hal.set_flag(at, 0, 1));
        self.single(rank, "line", "load", || hal.load_line(at));
        self.single(rank, "word", "load", || hal.load_word(words, 3));
        self.single(rank, "word", "store", || hal.store_word(words, 3, 1));
        let [mut acquired, mut freed] = [Vec::new(), Vec::new()];
        for (counted, is_kept) in self.turns() {
            let acquire = Self::count(hal, counted, || hal.acquire_register(comm.core_of(1), "a measurement")).1;
            let free = Self::count(hal, counted, || hal.free_register(comm.core_of(1))).1;
            if is_kept {
                acquired.push(acquire);
                freed.push(free);
            }
        }
        self.send(rank, Of("register", 0, 0), "acquire", &acquired);
        self.send(rank, Of("register", 0, 0), "free", &freed);

        self.loops(rank, elements, "load", |view| sum(view))?;
        self.loops(rank, elements, "store", fill)?;
        // The last of all, as it displaces what the caches have.
        Self::memory(rank);
        Ok(())
    }

    /// What polls take: of some lines at once, and such that fail, which look at nothing here.
    fn polls<C: Core>(&self, rank: &Rank<'_, C>) {
        let (comm, hal) = (rank.comm, rank.hal());
        let reason = Reason::new("a measurement");
        let own = MpbLine::new(comm.core_of(comm.rank()), comm.mpb_layout().buffer(0));
        let places: Vec<_> = (0..POLLED_LINES[1]).map(|line| Place::Line(own.plus(line))).collect();
        let [few, many] = POLLED_LINES.map(|lines| {
            let places = black_box(&places[..lines]);
            self.steady(hal, || {
                hal.wait_until(places, Deadline::Never, reason, |poll| {
                    Some((0..lines).map(|line| poll.line_word(line, 0)).fold(0, u32::wrapping_add))
                })
            })
        });
        self.few_and_many(rank, Of("poll", 0, LINE_BYTES), POLLED_LINES, &few, &many);
        if self.counted.iter().all(|counted| counted.what != Countable::Instructions) {
            // Whoever skips polls waits for ever where there is nothing to be seen.
            return;
        }
        let ticks = FAILED_POLLS.map(|polls| {
            let (mut left, before) = (polls, hal.now());
            let waited = hal.wait_until(&[], Deadline::Never, reason, |_| {
                left -= 1;
                (left == 0).then_some(())
            });
            waited.map_or(0, |()| hal.now() - before)
        });
        let between = u128::from(ticks[1] - ticks[0]) * u128::from(hal.layout().prices().core_mhz) * 1_000_000;
        let cycles = between / u128::from(hal.ticks_per_second()) / u128::from(FAILED_POLLS[1] - FAILED_POLLS[0]);
        Of("poll", 0, LINE_BYTES).send(rank, "failed.cycles", Unit::Count, [cycles as u64]);
        Self::waits(rank, own, cycles as u64);
    }

    /// What waits that go on take beside their polls, of which one that fails takes `failed` cycles: before the poll that succeeds,
    /// and after it.
    fn waits<C: Core>(rank: &Rank<'_, C>, own: MpbLine, failed: u64) {
        let (hal, reason) = (rank.hal(), Reason::new("a measurement"));
        let look = look_ticks(hal);
        // From the call to the poll that succeeds, and from there to the return, in ticks, of all waits.
        let wait = |failing: u32| {
            let mut total = [0; 2];
            for wait in 0..WARM_UP + WAITS {
                let (mut left, mut seen) = (failing + 1, 0);
                // Where nothing changes for long the board's time jumps.
                hal.set_flag(own, 0, 1);
                let before = hal.now();
                let waited = hal.wait_until(&[], Deadline::Never, reason, |_| {
                    left -= 1;
                    (left == 0).then(|| seen = hal.now())
                });
                let after = hal.now();
                if waited.is_ok() && wait >= WARM_UP {
                    total[0] += seen.saturating_sub(before + look);
                    total[1] += after.saturating_sub(seen + look);
                }
            }
            total.map(|ticks| ticks * u64::from(hal.layout().prices().core_mhz) * 1_000_000 / hal.ticks_per_second())
        };
        let ([begin_at_once, end_at_once], [begin, end]) = (wait(0), wait(1));
        let begin = begin.saturating_sub(begin_at_once) / u64::from(WAITS);
        Of("wait", 0, 0).send(rank, "begin.cycles", Unit::Count, [begin.saturating_sub(failed)]);
        Of("wait", 0, 0).send(rank, "end.cycles", Unit::Count, [end.saturating_sub(end_at_once) / u64::from(WAITS)]);
    }

    /// The most that a rank of a tree has to do for a chunk of a long message, its puts and gets among it.
    fn chunk<C: Core>(&self, rank: &Rank<'_, C>) -> Result<Vec<u64>, Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        let algorithm = Broadcast::OcBcast(OcBcast::default());
        let bytes = CHUNKS.map(|chunks| chunks * comm.mpb_layout().buffer_lines() * LINE_BYTES);
        let mut message = vec![0_u8; bytes[1]];
        let mut least = CHUNKS.map(|_| vec![u64::MAX; self.counted.len()]);
        for (bytes, least) in bytes.into_iter().zip(&mut least) {
            for (place, (counted, _)) in self.turns().enumerate() {
                comm.barrier();
                let broadcast = || comm.using(algorithm, |comm| comm.broadcast(&mut message[..bytes], 0));
                let (done, count) = Self::count(hal, counted, broadcast);
                done?;
                let least = &mut least[place % self.counted.len()];
                *least = count.min(*least);
            }
        }
        let [few, many] = least;
        let each = |(few, many): (u64, u64)| many.saturating_sub(few) / (CHUNKS[1] - CHUNKS[0]) as u64;
        let mut chunk: Vec<_> = few.into_iter().zip(many).map(each).collect();
        comm.allreduce(InPlace, &mut chunk, &Operator::MAX)?;
        Ok(chunk)
    }

    /// Puts or gets of few lines and of many.
    fn transfers<C: Core>(&self, rank: &Rank<'_, C>, algorithm: &str, mut transfer: impl FnMut(usize)) {
        let [few, many] = LINES.map(|lines| self.steady(rank.hal(), || transfer(lines * LINE_BYTES)));
        self.few_and_many(rank, Of(algorithm, 0, LINE_BYTES), LINES, &few, &many);
    }

    /// Sends what a line takes, and a call without its lines, by calls with few lines and with many.
    fn few_and_many<C: Core>(&self, rank: &Rank<'_, C>, of: Of<'_>, lines: [usize; 2], few: &[u64], many: &[u64]) {
        let each = few.iter().zip(many).map(|(few, many)| many.saturating_sub(*few) / (lines[1] - lines[0]) as u64);
        let each: Vec<_> = each.collect();
        let call: Vec<_> =
            few.iter().zip(&each).map(|(few, line)| few.saturating_sub(line * lines[0] as u64)).collect();
        self.send(rank, of, "line", &each);
        self.send(rank, of, "call", &call);
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
        let mut counts = LINES.map(|_| Vec::new());
        for (len, count) in elements.into_iter().zip(&mut counts) {
            let mut view = hal.claim::<u32>(region, len)?;
            *count = self.steady(hal, || run(&mut view));
        }
        let [few, many] = counts;
        let more = (elements[1] - elements[0]) as u64;
        let each: Vec<_> = few.into_iter().zip(many).map(|(few, many)| (many - few).div_ceil(more)).collect();
        self.send(rank, Of("element", 0, 4), metric, &each);
        Ok(())
    }

    fn single<C: Core, R>(&self, rank: &Rank<'_, C>, algorithm: &str, metric: &str, call: impl FnMut() -> R) {
        let counts = self.steady(rank.hal(), call);
        self.send(rank, Of(algorithm, 0, 4), metric, &counts);
    }

    /// What a call takes that depends on nobody, of each thing that is counted.
    #[inline(always)]
    fn steady<C: Core, R>(&self, hal: &C, mut call: impl FnMut() -> R) -> Vec<u64> {
        let mut last = vec![0; self.counted.len()];
        for (place, (counted, _)) in self.turns().enumerate() {
            let result;
            (result, last[place % self.counted.len()]) = Self::count(hal, counted, &mut call);
            black_box(result);
        }
        last
    }
}

/// Loads all elements, from the last one on: a loop that counts down to zero needs no comparison.
#[inline(never)]
fn sum(view: &LocalView<'_, u32>) -> u32 {
    (0..view.len()).rev().map(|index| view.load(index)).fold(0, u32::wrapping_add)
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
    /// Parents last, each later by more than what it does for others takes.
    SlowestLast,
}

impl Order {
    /// How much later each rank comes than the one before.
    fn pace(self) -> u64 {
        if matches!(self, Self::SlowestLast) { 4 } else { 1 }
    }
}
