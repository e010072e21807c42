//! Which algorithms defaults are: those that are estimated to take least.
//!
//! What an algorithm takes is estimated from the [prices](hal::Prices) of the machine and from how its ranks lie in
//! coherence domains, which a communicator finds out when it is made. Estimates stand beside the algorithms; all ranks
//! come to the same ones, from what all of them know.
//!
//! A choice is made when an operation is first called with a length, and remembered. A few ranges of lengths, found once,
//! would not do: what is padded to lines, and what is not, take turns at being faster as lengths grow. Ranges between powers
//! of two were tried: by the estimates they make an all-to-all among 13 ranks up to 1.42 times as long, a scatter on a
//! cluster 1.22 times, a scan 1.15 times. Exact ones would take an estimate for nearly every length.

use core::cell::Cell;

#[cfg(test)]
use hal::CoreId;
use hal::{Layout, Prices};

#[cfg(test)]
use super::members::Members;
use super::members::Shape;

/// What estimates are made of: times in nanoseconds, of operations that all ranks carry out alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    prices: Prices,
    /// Number of ranks.
    pub(crate) ranks: u64,
    /// Coherence domains that they are in.
    pub(crate) domains: u64,
    /// Ranks of a domain.
    pub(crate) members: u64,
    barrier_ns: u64,
}

impl Terms {
    pub(crate) fn new(layout: &Layout, shape: Shape, barrier_ns: u64) -> Self {
        let Shape { ranks, domains, per_domain, .. } = shape;
        let (ranks, domains, members) = (ranks as u64, domains as u64, per_domain as u64);
        Self { prices: layout.prices(), ranks, domains, members, barrier_ns }
    }

    /// The terms for all cores of a machine.
    #[cfg(test)]
    pub(crate) fn of_machine(layout: &Layout, barrier_ns: u64) -> Self {
        Self::new(layout, Members::all(CoreId::new(0), layout).shape(), barrier_ns)
    }

    /// Whether there is more than one domain.
    fn is_far(&self) -> bool {
        self.domains > 1
    }

    /// Whether ranks have neighbours in their domain, and others outside: lines that one of them has got are cheaper for
    /// the others.
    pub(crate) fn has_nodes(&self) -> bool {
        self.domains > 1 && self.members > 1
    }

    /// The terms for an operation among the ranks of one domain.
    pub(crate) fn within_a_domain(&self) -> Self {
        Self { ranks: self.members, domains: 1, ..*self }
    }

    /// Calls of put and get.
    pub(crate) fn put(&self) -> u64 {
        self.prices.put_ns.into()
    }

    pub(crate) fn get(&self) -> u64 {
        self.prices.get_ns.into()
    }

    /// A line of memory.
    pub(crate) fn memory_read(&self) -> u64 {
        self.prices.memory_read_ns.into()
    }

    pub(crate) fn memory_write(&self) -> u64 {
        self.prices.memory_write_ns.into()
    }

    /// A line of the own MPB read or written.
    pub(crate) fn own(&self) -> u64 {
        self.prices.own_poll_ns.into()
    }

    /// A line of another MPB read by one rank, while others of its domain read none.
    pub(crate) fn line(&self) -> u64 {
        if self.is_far() { self.prices.poll_ns.into() } else { self.prices.near_poll_ns.into() }
    }

    /// A line that `readers` ranks read from one MPB, while all others read from others like it.
    pub(crate) fn line_for(&self, readers: u64) -> u64 {
        if self.is_far() {
            let turns = self.members.div_ceil(self.prices.loads.into());
            (turns * self.line()).max(readers * u64::from(self.prices.serve_ns))
        } else {
            self.line().max(readers * u64::from(self.prices.near_transfer_ns.max(self.prices.port_ns)))
        }
    }

    /// A line that one rank of each of `readers` other domains reads from one MPB, which stores that come meanwhile keep busy for
    /// `busy_ns`.
    pub(crate) fn line_of_leaders(&self, readers: u64, busy_ns: u64) -> u64 {
        self.line().max(readers * u64::from(self.prices.serve_ns) + busy_ns)
    }

    /// Pairs of neighbouring ranks in one domain, and in two.
    pub(crate) fn neighbours(&self) -> (u64, u64) {
        (self.ranks - self.domains, self.domains - 1)
    }

    /// Rounds in which each rank has to do with others at distances that double.
    pub(crate) fn rounds(&self) -> u64 {
        self.ranks.next_power_of_two().ilog2().into()
    }

    /// In all these rounds together, ranks of a domain that have to do with another domain; where they wait for each
    /// other.
    pub(crate) fn crossings(&self) -> u64 {
        if self.is_far() { (0..self.rounds()).map(|round| self.members.min(1 << round)).sum() } else { 0 }
    }

    /// Until a rank has read `lines` lines of each of the others, while all do the same.
    pub(crate) fn lines_of_all(&self, lines: u64) -> u64 {
        let near = u64::from(self.prices.near_poll_ns) * (self.members - 1);
        let far = if self.is_far() { self.line_for(1) * (self.ranks - self.members) } else { 0 };
        lines * (near + far)
    }

    /// A line of another MPB written.
    pub(crate) fn write(&self) -> u64 {
        if self.is_far() { self.prices.write_ns.into() } else { self.prices.near_poll_ns.into() }
    }

    /// A signal, until it can be seen.
    pub(crate) fn signal(&self) -> u64 {
        if self.is_far() { self.prices.push_ns.into() } else { self.prices.near_push_ns.into() }
    }

    /// A signal, until the rank that sent it goes on.
    pub(crate) fn signal_done(&self) -> u64 {
        if self.is_far() { self.prices.push_done_ns.into() } else { self.prices.near_push_done_ns.into() }
    }

    /// A signal to the own MPB, until it can be seen.
    pub(crate) fn own_signal(&self) -> u64 {
        self.prices.near_push_ns.into()
    }

    /// By how much stores that come from other domains to one at the same time are apart.
    pub(crate) fn receive(&self) -> u64 {
        if self.is_far() { self.prices.receive_ns.into() } else { 0 }
    }

    /// Until a rank that polls its own MPB has seen what can be seen there.
    pub(crate) fn seen(&self) -> u64 {
        self.own() * 3 / 2
    }

    /// Combining the elements of a line, as long as a P54C takes for sums of `f64`.
    pub(crate) fn combine(&self) -> u64 {
        const CYCLES: u64 = 21;
        CYCLES * 1_000 / u64::from(self.prices.core_mhz)
    }

    /// Ranks of which each keeps what it reads from one MPB in memory, as long as the MPB has to serve no more than three
    /// quarters of the time: beyond, by figure 4 of the OC-Bcast paper, the last ones are late.
    pub(crate) fn most_readers(&self) -> usize {
        let service_ns =
            if self.is_far() { self.prices.serve_ns } else { self.prices.near_transfer_ns.max(self.prices.port_ns) };
        let readers = (self.line() + self.memory_write()) * 3 / 4 / u64::from(service_ns.max(1));
        readers.max(2) as usize
    }

    /// A barrier to which all ranks come at the same time.
    pub(crate) fn meeting(&self) -> u64 {
        self.barrier_ns
    }

    /// A barrier after all have had to do with all, to which the last rank comes late by what distances and meetings cost
    /// it; on 48 cores of an SCC by a microsecond, of which this is what the mean distance makes.
    pub(crate) fn barrier(&self) -> u64 {
        let farther = u64::from(self.prices.near_poll_ns.saturating_sub(self.prices.own_poll_ns));
        self.barrier_ns + (self.ranks - 1) * farther * 2 / 3
    }

    /// One way between domains up or down a binary tree of these.
    pub(crate) fn between_domains(&self) -> u64 {
        if self.has_nodes() { self.signal() * u64::from(self.domains.next_power_of_two().ilog2()) } else { 0 }
    }
}

/// An operation whose fastest algorithm is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    Broadcast,
    Reduce,
    Allreduce,
    ReduceScatter,
    Scan,
    Exscan,
    Scatter,
    Allgather,
    Alltoall,
}

/// Number of operations.
const OPERATIONS: usize = Operation::Alltoall as usize + 1;

/// Choices of an operation that are remembered. A program that calls it with more lengths than that in turns has them
/// made again.
const REMEMBERED: usize = 4;

/// A choice that was made: for bytes of data, and bytes of an element.
#[derive(Clone, Copy, Debug)]
struct Choice {
    question: (usize, usize),
    answer: usize,
}

/// The choices that were made for an operation, and the place of the next one.
#[derive(Default)]
struct Made {
    choices: [Cell<Option<Choice>>; REMEMBERED],
    next: Cell<usize>,
}

impl Made {
    fn recall(&self, question: (usize, usize)) -> Option<usize> {
        let mut made = self.choices.iter().filter_map(Cell::get);
        made.find(|choice| choice.question == question).map(|choice| choice.answer)
    }

    /// Remembers a choice, in place of the oldest.
    fn remember(&self, choice: Choice) {
        let place = self.next.get();
        self.choices[place].set(Some(choice));
        self.next.set((place + 1) % REMEMBERED);
    }
}

/// The choices of a communicator.
pub(crate) struct Choices {
    terms: Terms,
    most_readers: usize,
    /// Whether a broadcast that fits a line was found to go to all ranks in one, as all that do so: they take the same time.
    line_for_all: Cell<bool>,
    made: [Made; OPERATIONS],
}

impl Choices {
    pub(crate) fn new(terms: Terms) -> Self {
        Self { terms, most_readers: terms.most_readers(), line_for_all: Cell::new(false), made: Default::default() }
    }

    /// Makes all choices anew: the MPBs are laid out in another way, which estimates depend on.
    pub(crate) fn forget(&self) {
        self.line_for_all.set(false);
        self.made.iter().flat_map(|made| &made.choices).for_each(|choice| choice.set(None));
    }

    /// Whether a broadcast that fits a line was found to go to all ranks in one, as all that do so.
    pub(crate) fn line_for_all(&self) -> &Cell<bool> {
        &self.line_for_all
    }

    /// Ranks that should read one MPB at most.
    pub(crate) fn most_readers(&self) -> usize {
        self.most_readers
    }

    /// What estimates are made of.
    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Which of several algorithms takes least for the bytes of the question, and the bytes of an element: the place of its
    /// estimate, the first of those that are alike. Some may be impossible.
    pub(crate) fn fastest<const ALGORITHMS: usize>(
        &self,
        operation: Operation,
        question: (usize, usize),
        estimates: impl FnOnce(&Terms) -> [Option<u64>; ALGORITHMS],
    ) -> usize {
        let made = &self.made[operation as usize];
        if let Some(answer) = made.recall(question) {
            return answer;
        }
        let estimates = estimates(&self.terms).into_iter().enumerate();
        let fastest = estimates.filter_map(|(place, time_ns)| Some((time_ns?, place))).min();
        let answer = fastest.map_or(0, |(_, place)| place);
        made.remember(Choice { question, answer });
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_choices_of_each_operation_are_remembered() {
        let terms = Terms::of_machine(&Layout::scc(), 1_000);
        let choices = Choices::new(terms);
        let made = Cell::new(0);
        let ask = |operation, bytes| {
            choices.fastest(operation, (bytes, 1), |_| {
                made.set(made.get() + 1);
                [None, Some(bytes as u64), Some(64)]
            })
        };
        for _ in 0..3 {
            assert_eq!([8, 64, 65, 4096].map(|bytes| ask(Operation::Reduce, bytes)), [1, 1, 2, 2]);
            assert_eq!(ask(Operation::Broadcast, 8), 1);
        }
        assert_eq!(made.get(), 5);
        // A fifth length takes the place of the first.
        assert_eq!([16, 64, 8].map(|bytes| ask(Operation::Reduce, bytes)), [1, 1, 1]);
        assert_eq!(made.get(), 7);
        choices.forget();
        assert_eq!((ask(Operation::Reduce, 8), made.get()), (1, 8));
    }
}
