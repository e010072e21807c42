//! Two-sided messages and the two broadcasts of RCCE_comm that are made of them: binomial tree and scatter-allgather.
//!
//! **A message** is RCCE's rendezvous (5.2.2: "a put by the sender and a get by the receiver"). For each chunk of up
//! to 251 lines
//!
//! 1. the sender puts it into its own MPB: `C_put^mem(m)`, or `o_put^mem + m C_w^mpb` if L1 holds it, and sets a flag
//!    at the receiver;
//! 2. the receiver, which polls that flag in its own MPB, gets the chunk: `C_get^mem(m)`, and sets a flag at the
//!    sender;
//! 3. the sender, which polls that flag, goes on.
//!
//! **The binomial tree** halves the set of ranks: of n ranks the first, which has the message, sends it to the first
//! of the last ⌊n/2⌋, and both halves go on alike. The message is read from memory once, when the root sends it for
//! the first time; whoever has sent or received it before has it in L1 (5.2.2).
//!
//! **Scatter-allgather** sends slices of ⌈m/P⌉ lines down the same tree, each subtree's in one message, read from
//! memory. Then in P − 1 rounds each rank sends the slice that it got last to the rank below and receives the next
//! from the rank above, one after the other (5.3.2; it is a ring, though the paper calls it Bruck's algorithm). A
//! rank reads those that it received in the ring from L1 (formula 16), and its own one, too, where that came with few
//! others. Even ranks send first and odd ones receive first, since a rendezvous where all send first would never end.
//!
//! Reading from L1 at no cost is the paper's assumption, and holds as long as L1 has room for what was touched since:
//! [`TwoSidedModel::cache_lines`]. Slices are of whole lines and differ by one at most; the paper has equal ones. A
//! put from L1 still has the overhead of a put here, which formulas 14 and 16 drop with the reads.
//!
//! The times of a rank are the sums of what it does, and a rank that polls goes on when the flag is there. Which
//! pairs communicate when follows from the order of sends and receives on each rank, and this is all that the
//! latencies here are made of.
//!
//! # Figure 7 and Table 2
//!
//! The paper's formulas 14 and 16 leave out flags and polls. Formula 16, with overheads but without flags, is 13.30
//! MB/s for P = 48. Its approximation is 13.08, and Table 2 says 13.38. So Table 2, said to come from the complete
//! formulas, is faster than the formula without notification. We have not found what makes that difference of 0.6 %.
//! With flags and polls our model is at 13.10 MB/s, 2.1 % below Table 2, and at 13.16 MB/s with [`Setting::SIGNALS`].

use alloc::{vec, vec::Vec};
use core::ops::Range;

use super::{Setting, Time, megabytes_per_second};

/// Two-sided messages and the broadcasts made of them, in a setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TwoSidedModel {
    /// Costs and distances.
    pub setting: Setting,
    /// `M_rcce`: lines of a chunk of a message; 0 is taken as 1.
    pub chunk_lines: usize,
    /// Lines that L1 holds. Data that a rank has received or sent before in the same broadcast is there if no more
    /// lines were touched since, its own included.
    pub cache_lines: usize,
}

/// Where the sender of a message reads it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// In private off-chip memory.
    Memory,
    /// In L1, at no cost.
    Cache,
}

/// How a rank sends and receives in a round of the allgather.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Allgather {
    /// One after the other, as in the paper.
    OneByOne,
    /// Put, then get what the neighbour has put meanwhile; that the own slice is taken is made sure after the next put.
    Overlapped,
}

impl TwoSidedModel {
    /// The model of the paper's messages: a payload buffer of 251 lines, and what is sent again comes from L1, which holds 16 KB.
    pub const fn new(setting: Setting) -> Self {
        Self { setting, chunk_lines: 251, cache_lines: 512 }
    }

    /// Where data is after a rank has touched `touched_lines` lines, those of the data among them.
    fn resent(&self, touched_lines: usize) -> Source {
        if touched_lines <= self.cache_lines { Source::Cache } else { Source::Memory }
    }

    /// A message of `lines` lines between a sender that calls at `sender` and a receiver that calls at `receiver`:
    /// when each of them returns.
    pub fn message(&self, mut sender: Time, mut receiver: Time, lines: usize, source: Source) -> (Time, Time) {
        let setting = &self.setting;
        let chunk_lines = self.chunk_lines.max(1);
        for chunk in 0..lines.div_ceil(chunk_lines) {
            let lines = chunk_lines.min(lines - chunk * chunk_lines);
            sender += self.put(lines, source);
            receiver = setting.seen(receiver, sender + setting.set_flag_latency());
            sender += setting.set_flag();
            receiver += setting.get_to_memory(lines);
            sender = setting.seen(sender, receiver + setting.set_flag_latency());
            receiver += setting.set_flag();
        }
        (sender, receiver)
    }

    fn put(&self, lines: usize, source: Source) -> Time {
        match source {
            Source::Memory => self.setting.put_to_own_mpb(lines),
            Source::Cache => self.setting.put_from_cache(lines),
        }
    }

    /// Lets a message go from one rank to another.
    fn exchange(&self, ranks: &mut [Time], from: usize, to: usize, lines: usize, source: Source) {
        (ranks[from], ranks[to]) = self.message(ranks[from], ranks[to], lines, source);
    }

    /// Latency of the binomial tree for `lines` lines and `ranks` ranks that call together, until the last returns.
    pub fn binomial_latency(&self, ranks: usize, lines: usize) -> Time {
        let mut times = vec![Time::ZERO; ranks];
        self.binomial(&mut times, 0..ranks, lines, Source::Memory);
        last(&times)
    }

    fn binomial(&self, times: &mut [Time], among: Range<usize>, lines: usize, source: Source) {
        if among.len() > 1 {
            let second = among.end - among.len() / 2;
            self.exchange(times, among.start, second, lines, source);
            self.binomial(times, among.start..second, lines, self.resent(lines));
            self.binomial(times, second..among.end, lines, self.resent(lines));
        }
    }

    /// Latency of scatter-allgather for `lines` lines and `ranks` ranks that call together, until the last returns.
    pub fn scatter_allgather_latency(&self, ranks: usize, lines: usize, allgather: Allgather) -> Time {
        let mut times = vec![Time::ZERO; ranks];
        let slices = Slices { lines, count: ranks.max(1) };
        // The root has not read its own slice.
        let mut touched = vec![usize::MAX; ranks];
        self.scatter(&mut times, &mut touched, 0..ranks, slices);
        match allgather {
            Allgather::OneByOne => self.allgather_one_by_one(&mut times, touched, slices),
            Allgather::Overlapped => self.allgather_overlapped(&mut times, &touched, slices),
        }
        last(&times)
    }

    /// Notes in `touched` how many lines each rank has touched since it received its own one.
    fn scatter(&self, times: &mut [Time], touched: &mut [usize], among: Range<usize>, slices: Slices) {
        if among.len() > 1 {
            let second = among.end - among.len() / 2;
            let lines = slices.len(second..among.end);
            self.exchange(times, among.start, second, lines, Source::Memory);
            touched[second] = lines;
            self.scatter(times, touched, among.start..second, slices);
            self.scatter(times, touched, second..among.end, slices);
        }
    }

    fn allgather_one_by_one(&self, times: &mut [Time], mut touched: Vec<usize>, slices: Slices) {
        let ranks = times.len();
        // What each rank has done: two calls in each round.
        let mut calls = vec![0; ranks];
        let total = 2 * ranks.saturating_sub(1);
        let sends = |rank: usize, call: usize| (rank + call).is_multiple_of(2);
        // Whoever can communicate does, in any order: a message depends on nothing but the times of its two ranks.
        let mut candidates: Vec<usize> = (0..ranks).collect();
        while let Some(from) = candidates.pop() {
            let to = (from + ranks - 1) % ranks;
            let (sent, received) = (calls[from], calls[to]);
            if sent.max(received) < total && sends(from, sent) && !sends(to, received) {
                let round = sent / 2;
                debug_assert_eq!(round, received / 2, "each message is of one round");
                let slice = (from + round) % ranks;
                let lines = slices.len(slice..slice + 1);
                self.exchange(times, from, to, lines, self.resent(touched[from]));
                // Who receives first sends a slice only after it has received the next one.
                let next = (slice + 1) % ranks;
                touched[from] = lines + slices.len(next..next + 1);
                touched[to] = if sends(to, 0) { lines } else { touched[to].saturating_add(lines) };
                calls[from] += 1;
                calls[to] += 1;
                // Both may send now, or receive from the rank above.
                candidates.extend([from, to, (from + 1) % ranks, (to + 1) % ranks]);
            }
        }
        debug_assert!(calls.iter().all(|&done| done == total), "the ring has come to its end");
    }

    fn allgather_overlapped(&self, times: &mut [Time], touched: &[usize], slices: Slices) {
        // When the last chunk that each rank has put was taken, if it has not looked yet.
        let mut taken = vec![None; times.len()];
        let chunk_lines = self.chunk_lines.max(1);
        for round in 0..times.len().saturating_sub(1) {
            // A slice's chunks came, and go, between those of another one.
            let touched = |rank: usize| if round == 0 { touched[rank] } else { 2 * slices.longest() };
            for chunk in 0..slices.longest().div_ceil(chunk_lines) {
                let puts = |rank: usize| {
                    let slice = (rank + round) % times.len();
                    let lines = slices.len(slice..slice + 1).saturating_sub(chunk * chunk_lines).min(chunk_lines);
                    (lines, self.resent(touched(rank)))
                };
                let puts: Vec<_> = (0..times.len()).map(puts).collect();
                self.exchange_around(times, &mut taken, &puts);
            }
        }
        for (time, taken) in times.iter_mut().zip(taken) {
            *time = taken.map_or(*time, |taken| self.setting.seen(*time, taken));
        }
    }

    /// Every rank puts its lines, waits until what it has put before is taken, and gets what the rank above has
    /// put.
    fn exchange_around(&self, times: &mut [Time], taken: &mut [Option<Time>], puts: &[(usize, Source)]) {
        let setting = &self.setting;
        let mut put = vec![Time::ZERO; times.len()];
        for (rank, time) in times.iter_mut().enumerate() {
            let (lines, source) = puts[rank];
            if lines > 0 {
                *time += self.put(lines, source);
                put[rank] = *time + setting.set_flag_latency();
                *time += setting.set_flag();
            }
            if let Some(taken) = taken[rank].take() {
                *time = setting.seen(*time, taken);
            }
        }
        for (rank, time) in times.iter_mut().enumerate() {
            let above = (rank + 1) % puts.len();
            let (lines, _) = puts[above];
            if lines > 0 {
                *time = setting.seen(*time, put[above]) + setting.get_to_memory(lines);
                taken[above] = Some(*time + setting.set_flag_latency());
                *time += setting.set_flag();
            }
        }
    }

    /// Throughput of scatter-allgather for a message of `lines` lines, in MB/s.
    pub fn scatter_allgather_throughput(&self, ranks: usize, lines: usize, allgather: Allgather) -> f64 {
        megabytes_per_second(lines, self.scatter_allgather_latency(ranks, lines, allgather))
    }
}

/// A message in `P` slices of whole lines, of which the first ones may be a line longer.
#[derive(Clone, Copy)]
struct Slices {
    lines: usize,
    count: usize,
}

impl Slices {
    fn longest(self) -> usize {
        self.lines.div_ceil(self.count)
    }

    fn start(self, slice: usize) -> usize {
        slice * (self.lines / self.count) + slice.min(self.lines % self.count)
    }

    /// Lines of these slices together.
    fn len(self, slices: Range<usize>) -> usize {
        self.start(slices.end) - self.start(slices.start)
    }
}

fn last(times: &[Time]) -> Time {
    times.iter().copied().max().unwrap_or_default()
}
