//! From how many peers on a mark is [kept](super::marks), by what looks and stores take on the machine.
//!
//! A writer that pushes its mark stores it to each peer, which then looks into its own MPB. One that keeps it stores it
//! once, and each peer looks at it, and at those of the others that it waits for, one after the other.

use crate::{
    Group,
    comm::{choices::Terms, members::Members},
};
use hal::Layout;

/// A group from this size on is called *many*.
pub(super) const MANY: usize = 8;

/// Size that stands for a group that is not.
const FEW: usize = 3;

/// From how many peers on a mark is kept. It is found out when a window is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kept {
    /// Where peers are in several coherence domains.
    far: Least,
    /// Where they are all in the writer's, if that is not the only one.
    near: Option<Least>,
}

/// The least number of peers, by how many ranks' marks each peer waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Least {
    few: usize,
    many: usize,
}

impl Least {
    /// Where nothing is pushed.
    pub(super) const fn always() -> Self {
        Self { few: 0, many: 0 }
    }

    fn new(terms: &Terms) -> Self {
        let [few, many] = [FEW, MANY].map(|awaited| least(terms, awaited as u64));
        Self { few, many }
    }

    /// Whether keeping a mark for `peers` peers is faster than pushing it to each, if each waits for many ranks' marks or
    /// for few.
    pub(super) fn is_reached(self, peers: usize, waits_for_many: bool) -> bool {
        peers >= if waits_for_many { self.many } else { self.few }
    }
}

impl Kept {
    pub(super) fn new(terms: &Terms) -> Self {
        Self { far: Least::new(terms), near: terms.has_nodes().then(|| Least::new(&terms.within_a_domain())) }
    }

    /// What counts for these peers of a core.
    pub(super) fn for_peers(&self, layout: &Layout, members: &Members, peers: &Group) -> Least {
        let Some(near) = self.near else { return self.far };
        let domain_of = |rank| layout.domain(members.core_of(rank));
        let domain = domain_of(members.rank());
        let is_near = peers.iter().all(|peer| domain_of(peer) == domain);
        if is_near { near } else { self.far }
    }
}

/// The least number of peers for which keeping is faster, if each waits for `awaited`.
fn least(terms: &Terms, awaited: u64) -> usize {
    let is_faster = |peers: &u64| {
        let pushed = (peers - 1) * terms.signal_done() + terms.signal() + terms.own();
        let kept = terms.own_signal() + awaited * terms.line_for(*peers);
        kept < pushed
    };
    (1..=terms.ranks).find(is_faster).map_or(usize::MAX, |peers| peers as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hal::{CoreId, sim::Description};

    fn kept(machine: &str) -> Kept {
        Kept::new(&Terms::of_machine(&Description::parse(machine).expect("a machine").layout, 0))
    }

    #[test]
    fn few_are_told_by_pushes_and_many_where_they_look() {
        for machine in ["scc+ideal", "scc"] {
            let least = kept(machine).far;
            // One origin and many targets: posts are pushed, the completion is kept.
            assert!(!least.is_reached(1, true) && least.is_reached(13, false), "{machine}: {least:?}");
            // One target and many origins: the reverse.
            assert!(least.is_reached(13, true) && !least.is_reached(1, false));
            // Halos and all pairs.
            assert!(least.is_reached(4, false) && least.is_reached(47, true));
            // A few servers of many.
            assert!(!least.is_reached(2, true) && !least.is_reached(4, true));
        }
    }

    #[test]
    fn nobody_looks_into_another_node() {
        let cluster = kept("cluster-fpga");
        assert_eq!(cluster.far, Least { few: usize::MAX, many: usize::MAX });
        let (layout, group) = (Layout::cluster(4, 16), |first: usize| Group::of(first..first + 15).expect("a group"));
        let least = |first| cluster.for_peers(&layout, &Members::all(CoreId::new(0), &layout), &group(first));
        assert!(least(1).is_reached(15, false) && !least(2).is_reached(15, false));
        assert_eq!(kept("scc").near, None);
    }
}
