//! The default: which barrier is the fastest for a machine and its members.
//!
//! What an algorithm takes is estimated by a closed formula from the [prices](hal::Prices) of the machine, at its mean
//! distance: a flag is seen when it is visible and a poll has read it; flags to several are stored one after the other;
//! flags side by side in a line are polled at once. All members are taken to arrive at the same time. Every rank
//! computes the same, and so chooses the same.

use alloc::vec::Vec;

use hal::{LINE_BYTES, Layout, Prices};

use super::{
    Release, algorithm::Algorithm, dissemination::Dissemination, hierarchical::Hierarchical, party::Party,
    schedule::Schedule, tree::Tree,
};

/// Lines that the barrier of all ranks has in every MPB.
pub(crate) const fn world_lines(ranks: usize) -> usize {
    if ranks <= 2 * LINE_BYTES { 2 } else { 1 }
}

/// What the barrier of all ranks of a machine does on one of them.
pub(crate) fn world(rank: usize, layout: &Layout) -> Schedule {
    let party = Party::new(0..layout.cores(), layout);
    choose(&party, &layout.prices(), world_lines(party.len()) * LINE_BYTES).schedule(rank, &party)
}

/// Partners in a round of dissemination that are considered; more never pays.
const MOST_PARTNERS: usize = 8;

/// Children of a rank to which it pushes a release that are considered; more never pays, as they get it one by one.
const MOST_PUSHED: usize = 16;

/// The fastest for this party of those that need at most so many flags; what needs fewer flags where they are alike.
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
        let room = most_slots.saturating_sub(fan_in + 2).min(members - 1);
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

/// Levels below the root of a tree of so many.
fn depth(len: usize, fan_in: usize) -> usize {
    let (mut width, mut reached, mut depth) = (1, 1, 0);
    while reached < len {
        (width, depth) = (width * fan_in, depth + 1);
        reached += width;
    }
    depth
}

/// What flags cost between two members.
#[derive(Clone, Copy)]
struct Link {
    push_ns: u64,
    push_done_ns: u64,
    poll_ns: u64,
    own_poll_ns: u64,
    own_set_ns: u64,
}

impl Link {
    fn near(prices: &Prices) -> Self {
        Self {
            push_ns: prices.near_push_ns.into(),
            push_done_ns: prices.near_push_done_ns.into(),
            poll_ns: prices.near_poll_ns.into(),
            own_poll_ns: prices.own_poll_ns.into(),
            own_set_ns: prices.near_push_ns.into(),
        }
    }

    fn far(prices: &Prices) -> Self {
        Self {
            push_ns: prices.push_ns.into(),
            push_done_ns: prices.push_done_ns.into(),
            poll_ns: prices.poll_ns.into(),
            ..Self::near(prices)
        }
    }

    /// Until the last of so many that flags are pushed to has seen it.
    fn push_to(self, count: usize) -> u64 {
        (count as u64 - 1) * self.push_done_ns + self.push_ns + self.own_poll_ns
    }

    /// Until a rank has seen the flags of so many that pushed them to it.
    fn gather(self, count: usize) -> u64 {
        self.push_ns + count.div_ceil(LINE_BYTES) as u64 * self.own_poll_ns
    }

    /// Until all who poll a flag of one rank have seen it.
    fn pull(self) -> u64 {
        self.own_set_ns + self.poll_ns
    }

    /// Up and down a tree with flags pushed up.
    fn tree(self, len: usize, fan_in: usize, release: Release) -> u64 {
        if len <= 1 {
            return 0;
        }
        let down = match release {
            Release::Push => self.push_to(fan_in.min(len - 1)),
            Release::Pull => self.pull(),
        };
        depth(len, fan_in) as u64 * (self.gather(fan_in.min(len - 1)) + down)
    }
}

/// What an algorithm takes, in nanoseconds, from the arrival of all to the departure of the last.
fn estimate(algorithm: Algorithm, party: &Party, prices: &Prices) -> u64 {
    let len = party.len();
    let near = Link::near(prices);
    let link = if party.domains() > 1 { Link::far(prices) } else { near };
    match algorithm {
        _ if len <= 1 => 0,
        Algorithm::Linear => {
            let others = len as u64 - 1;
            link.own_set_ns + others * link.poll_ns + link.push_to(len - 1)
        }
        Algorithm::Butterfly => {
            let folding = if len.is_power_of_two() { 0 } else { 2 };
            (u64::from(len.ilog2()) + folding) * link.push_to(1)
        }
        Algorithm::Tournament => 2 * u64::from(len.next_power_of_two().ilog2()) * link.push_to(1),
        Algorithm::Dissemination(dissemination) => {
            let partners = dissemination.partners.min(len - 1);
            let round = match dissemination.flags {
                Release::Push => link.push_to(partners),
                Release::Pull => link.own_set_ns + partners as u64 * link.poll_ns,
            };
            dissemination.count(len) as u64 * round
        }
        Algorithm::Tree(tree) => link.tree(len, tree.fan_in, tree.release),
        Algorithm::Hierarchical(hierarchical) => {
            let masters = link.tree(party.domains(), hierarchical.fan_in, Release::Push);
            masters + near.tree(party.largest_domain(), hierarchical.local_fan_in, Release::Pull)
        }
    }
}
