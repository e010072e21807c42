//! What a rank does without others.

use alloc::{vec, vec::Vec};
use core::hint::black_box;

use collectives::{Broadcast, InPlace, OcBcast, Operator, Placement};
use hal::{Core, Countable, Deadline, LINE_BYTES, LocalView, MpbLine, Place, Reason, Region, kind};

use super::{Counter, WARM_UP};
use crate::measure::{Of, look_ticks};
use kernel::{Failure, Rank, Unit};

/// Lines that a poll looks at, few and many.
const POLLED_LINES: [usize; 2] = [1, 3];

/// Polls that fail, few and many: the difference tells what one takes.
const FAILED_POLLS: [u32; 2] = [100, 1_100];

/// Waits that go on for one poll.
const WAITS: u32 = 100;

/// Lines of a put or get, few and many: the difference tells what a line takes.
const LINES: [usize; 2] = [1, 33];

/// Bytes of memory that are filled: more than L1 has, and less than L2.
const FILLED_BYTES: usize = 32 << 10;

/// Chunks of OC-Bcast, few and many.
const CHUNKS: [usize; 2] = [2, 6];

impl Counter {
    /// What a rank does without others.
    pub(super) fn lines<C: Core>(&self, rank: &mut Rank<'_, C>) -> Result<(), Failure> {
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
