//! The default: which barrier is the fastest for a machine and its members.
//!
//! What an algorithm takes is estimated by a closed formula from the [prices](hal::Prices) of the machine, at its mean
//! distance: a flag is seen when it is visible and a poll has read it; flags to several are stored one after the other;
//! flags side by side in a line are polled at once. All members are taken to arrive at the same time. Every rank
//! computes the same, and so chooses the same.

use alloc::{vec, vec::Vec};
use core::{iter, ops::Range};

use hal::{LINE_BYTES, Mpb, Prices};

use crate::comm::members::Members;

use super::{
    FlagBarrier, Release, algorithm::Algorithm, dissemination::Dissemination, hierarchical::Hierarchical, party::Party,
    schedule::Schedule, tree::Tree,
};

/// Lines that the barrier of all ranks has in every MPB.
pub(crate) const fn world_lines(ranks: usize) -> usize {
    if ranks <= 2 * LINE_BYTES { 2 } else { 1 }
}

/// The barrier of all ranks of a communicator, whose flags are in these lines of every MPB, if there are any, and how many nanoseconds it is
/// estimated to take.
pub(crate) fn of_all(hal: &impl Mpb, members: &Members, lines: Range<usize>) -> (FlagBarrier, u64) {
    let layout = hal.layout();
    // Neighbours in a domain are neighbours in the order of cores, whatever the order of ranks is.
    let by_core = members.by_core();
    let core_at = |position: usize| members.core_of(by_core[position]);
    let (party, prices) = (Party::new((0..by_core.len()).map(core_at), layout), layout.prices());
    if lines.is_empty() {
        // Signals will do what these flags would.
        let rounds = Algorithm::Dissemination(Dissemination { partners: 1, flags: Release::Push });
        return (FlagBarrier::new(hal, &Schedule::default(), core_at, lines), estimate(rounds, &party, &prices));
    }
    let algorithm = choose(&party, &prices, lines.len() * LINE_BYTES);
    let position = by_core.iter().position(|rank| *rank == members.rank()).unwrap_or(0);
    let schedule = algorithm.schedule(position, &party);
    (FlagBarrier::new(hal, &schedule, core_at, lines), estimate(algorithm, &party, &prices))
}

/// Partners in a round of dissemination that are considered; more never pays.
const MOST_PARTNERS: usize = 8;

/// Children of a rank to which it pushes a release that are considered; more never pays, as they get it one by one.
const MOST_PUSHED: usize = 16;

/// The fastest barrier for this party of those that need no more than the given number of flags; of equally fast ones,
/// that with fewer flags.
pub(super) fn choose(party: &Party, prices: &Prices, most_slots: usize) -> Algorithm {
    let estimates = candidates(party, most_slots).map(|algorithm| (estimate(algorithm, party, prices), algorithm));
    let fastest = estimates.min_by_key(|(time_ns, algorithm)| (*time_ns, algorithm.slots(party)));
    fastest.map_or(Algorithm::Butterfly, |(_, algorithm)| algorithm)
}

/// What may be the fastest, on some machine.
fn candidates(party: &Party, most_slots: usize) -> impl Iterator<Item = Algorithm> {
    let len = party.len();
    let widest = len.saturating_sub(1).min(most_slots - 1);
    let ways = [Release::Push, Release::Pull];
    let disseminations = (1..=MOST_PARTNERS.min(widest))
        .flat_map(move |partners| ways.map(|flags| Algorithm::Dissemination(Dissemination { partners, flags })));
    let tree = |fan_in, release| Algorithm::Tree(Tree { fan_in, gather: Release::Push, release });
    let pulled = flattest(len, widest).into_iter().map(move |fan_in| tree(fan_in, Release::Pull));
    let pushed = (1..=MOST_PUSHED.min(widest)).map(move |fan_in| tree(fan_in, Release::Push));
    let all = disseminations.chain(pulled).chain(pushed).chain(hierarchies(party, most_slots));
    all.filter(move |algorithm| algorithm.slots(party) <= most_slots)
}

/// Hierarchies of all sizes that may be the fastest, if there is a domain with several members.
fn hierarchies(party: &Party, most_slots: usize) -> impl Iterator<Item = Algorithm> {
    let (domains, members) = (party.domains(), party.largest_domain());
    let worthwhile = domains > 1 && members > 1;
    let fan_ins = (1..=MOST_PUSHED.min(domains.saturating_sub(1))).filter(move |_| worthwhile);
    fan_ins.flat_map(move |fan_in| {
        let room = most_slots.saturating_sub(fan_in + 1).min(members - 1);
        let local_fan_ins = if room > 0 { flattest(members, room) } else { Vec::new() };
        local_fan_ins
            .into_iter()
            .map(move |local_fan_in| Algorithm::Hierarchical(Hierarchical { fan_in, local_fan_in }))
    })
}

/// For each depth of a tree, down to that with `most` children, the fewest children that make it so flat.
fn flattest(len: usize, most: usize) -> Vec<usize> {
    let flattest = (1..=most).rev().fold(Vec::<(usize, usize)>::new(), |mut fan_ins, fan_in| {
        let depth = depth(len, fan_in);
        match fan_ins.last_mut() {
            Some(last) if last.1 == depth => last.0 = fan_in,
            _ => fan_ins.push((fan_in, depth)),
        }
        fan_ins
    });
    flattest.into_iter().map(|(fan_in, _)| fan_in).collect()
}

/// Levels below the root of a tree of `len` nodes.
fn depth(len: usize, fan_in: usize) -> usize {
    levels(len, fan_in).count()
}

/// Number of nodes on each level below the root of a tree of `len` nodes.
fn levels(len: usize, fan_in: usize) -> impl Iterator<Item = usize> {
    let below = move |(first, nodes): &(usize, usize)| {
        let next = first + nodes;
        (next < len).then(|| (next, nodes.saturating_mul(fan_in).min(len - next)))
    };
    iter::successors(Some((0, 1)), below).skip(1).map(|(_, nodes)| nodes)
}

/// What flags cost between two members.
#[derive(Clone, Copy)]
struct Link {
    push_ns: u64,
    push_done_ns: u64,
    poll_ns: u64,
    own_poll_ns: u64,
    own_set_ns: u64,
    /// By how much flags that come to one place at one time are apart.
    interval_ns: u64,
    /// By how much those are apart who see one flag at one time.
    readers_ns: u64,
    /// For how long who polls an MPB keeps others out of it.
    port_ns: u64,
}

impl Link {
    fn near(prices: &Prices) -> Self {
        Self {
            push_ns: prices.near_push_ns.into(),
            push_done_ns: prices.near_push_done_ns.into(),
            poll_ns: prices.near_poll_ns.into(),
            own_poll_ns: prices.own_poll_ns.into(),
            own_set_ns: prices.near_push_ns.into(),
            interval_ns: prices.near_transfer_ns.into(),
            readers_ns: prices.near_transfer_ns.into(),
            port_ns: prices.port_ns.into(),
        }
    }

    fn far(prices: &Prices) -> Self {
        Self {
            push_ns: prices.push_ns.into(),
            push_done_ns: prices.push_done_ns.into(),
            poll_ns: prices.poll_ns.into(),
            interval_ns: prices.receive_ns.into(),
            readers_ns: prices.receive_ns.into(),
            ..Self::near(prices)
        }
    }

    /// Until a flag that is pushed has been seen.
    fn push(self) -> u64 {
        self.push_ns + self.own_poll_ns
    }

    /// Until a rank has seen `count` flags, which others have pushed to it or which it polls where they are.
    fn gather(self, count: usize, gather: Release) -> u64 {
        let lines = count.div_ceil(LINE_BYTES) as u64;
        match gather {
            Release::Push => self.push_ns + (count as u64 - 1) * self.interval_ns + lines * self.own_poll_ns,
            Release::Pull => self.own_set_ns + count as u64 * self.poll_ns,
        }
    }

    /// Up and down a tree.
    fn tree(self, len: usize, tree: Tree) -> u64 {
        if len <= 1 {
            return 0;
        }
        let levels = || levels(len, tree.fan_in).map(|nodes| nodes.min(tree.fan_in));
        let up: u64 = levels().map(|children| self.gather(children, tree.gather)).sum();
        // Those who have arrived poll on at the port that the others, the parent and the release have to pass. They queue
        // there if it cannot serve all of them in the time of a poll.
        let queues = |readers: usize| {
            let queue_ns = (readers as u64 * self.port_ns).saturating_sub(self.poll_ns);
            (readers.div_ceil(LINE_BYTES) as u64 + 3) * queue_ns
        };
        let pull =
            |readers: usize| self.own_set_ns + self.poll_ns + (readers as u64 - 1) * self.readers_ns + queues(readers);
        up + match tree.release {
            Release::Push => {
                levels().count() as u64 * self.push() + elder_siblings(len, tree.fan_in) * self.push_done_ns
            }
            Release::Pull => levels().map(pull).sum(),
        }
    }

    /// Up and down a tree whose flags are all pushed, node by node: how flags wait for each other depends on when
    /// subtrees are done, which are not all alike.
    fn pushed_tree(self, len: usize, fan_in: usize) -> u64 {
        let children = |node: usize| (node * fan_in + 1).min(len)..(node * fan_in + 1 + fan_in).min(len);
        // When each node has heard from all below it, then when it is released. Children have higher numbers.
        let mut times = vec![0; len];
        for node in (0..len).rev() {
            let mut come: Vec<u64> = times[children(node)].to_vec();
            come.sort_unstable();
            let seen = come.iter().fold(0, |seen: u64, done| (seen + self.interval_ns).max(done + self.push_ns));
            times[node] = if come.is_empty() { 0 } else { seen + self.own_poll_ns };
        }
        let mut last = times[0];
        for node in 0..len {
            for (told_before, child) in children(node).enumerate() {
                times[child] = times[node] + told_before as u64 * self.push_done_ns + self.push();
                last = last.max(times[child]);
            }
        }
        last
    }

    /// Rounds of dissemination, of `len` ranks, in domains of `members`.
    fn dissemination(self, len: usize, members: usize, dissemination: Dissemination) -> u64 {
        let round = |partners: usize| match dissemination.flags {
            Release::Push => {
                let told_before = partners as u64 - 1;
                let told_nearby = (members * partners) as u64 - 1;
                self.push() + told_before * self.push_done_ns + told_nearby * self.interval_ns
            }
            Release::Pull => self.own_set_ns + partners as u64 * self.poll_ns + members as u64 * self.readers_ns,
        };
        dissemination.partners_of_rounds(len).map(round).sum()
    }
}

/// The most children that are released before a node and before those above it, in a tree of `len` nodes.
fn elder_siblings(len: usize, fan_in: usize) -> u64 {
    // Of nodes that are equally deep, one has the most if it parts from the way to the last one of all, one to the left
    // of it, and is the last one there.
    let (mut node, mut below, mut most) = (len - 1, 0, 0);
    let (mut way, mut last) = (Vec::new(), 0);
    while node > 0 {
        way.push((node - 1) % fan_in);
        node = (node - 1) / fan_in;
    }
    for nth in &way {
        if *nth > 0 {
            most = most.max(way[below + 1..].iter().sum::<usize>() + nth - 1 + below * (fan_in - 1));
        }
        below += 1;
        last += nth;
    }
    most.max(last).max((way.len() - 1) * (fan_in - 1)) as u64
}

/// What an algorithm takes, in nanoseconds, from the arrival of all to the departure of the last.
pub(super) fn estimate(algorithm: Algorithm, party: &Party, prices: &Prices) -> u64 {
    let (len, near) = (party.len(), Link::near(prices));
    let (link, members) = if party.domains() > 1 { (Link::far(prices), party.largest_domain()) } else { (near, 1) };
    match algorithm {
        _ if len <= 1 => 0,
        Algorithm::Linear => {
            let others = len as u64 - 1;
            2 * link.own_set_ns + others * link.poll_ns + link.push() + (others - 1) * link.push_done_ns
        }
        Algorithm::Butterfly => {
            let folding = if len.is_power_of_two() { 0 } else { 2 };
            (u64::from(len.ilog2()) + folding) * (link.push() + (members as u64 - 1) * link.interval_ns)
        }
        Algorithm::Tournament => 2 * u64::from(len.next_power_of_two().ilog2()) * link.push(),
        Algorithm::Dissemination(dissemination) => link.dissemination(len, members, dissemination),
        Algorithm::Tree(tree) => link.tree(len, tree),
        Algorithm::Hierarchical(Hierarchical { fan_in, local_fan_in }) => {
            let locals = Tree { fan_in: local_fan_in, gather: Release::Push, release: Release::Pull };
            let within = near.tree(party.largest_domain(), locals);
            if party.domains() == 1 || within == 0 {
                return link.pushed_tree(party.domains(), fan_in) + within;
            }
            // What is pushed is what the others of the domain look for. They look where the master looks, too, and some
            // of them before it, whenever a flag comes there.
            let others = (party.largest_domain() as u64 - 1) * near.readers_ns;
            let levels = depth(party.domains(), fan_in) as u64;
            let pushed = link.pushed_tree(party.domains(), fan_in) + levels * others;
            (pushed + within).saturating_sub(near.own_set_ns + near.poll_ns)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_as_flat_as_they_can_be() {
        assert_eq!([1, 2, 4, 5, 16, 17].map(|len| depth(len, 3)), [0, 1, 1, 2, 3, 3]);
        assert_eq!(flattest(48, 47), [47, 7, 4, 3, 2, 1]);
        assert_eq!(flattest(2, 1), [1]);
        assert_eq!(flattest(255, 31), [16, 6, 4, 3, 2, 1]);
    }

    #[test]
    fn the_last_to_be_released_is_found() {
        for (len, fan_in) in (2..200).flat_map(|len| (1..12).map(move |fan_in| (len, fan_in))) {
            let before = |mut node: usize| {
                let mut before = 0;
                while node > 0 {
                    before += (node - 1) % fan_in;
                    node = (node - 1) / fan_in;
                }
                before
            };
            let most = (0..len).map(before).max().unwrap() as u64;
            assert_eq!(elder_siblings(len, fan_in), most, "{len} nodes with {fan_in} children each");
        }
    }
}
