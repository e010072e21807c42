//! The hierarchical barrier: a local master for each coherence domain, and a tree between the masters.
//!
//! Source: *Highly Scalable Barriers*, section V. The members of a domain store their flags into lines of their
//! master's MPB, which stays inside the domain, where it is cheap. Between masters nobody polls from afar: flags are
//! pushed up a tree of fan-in 8, and the release is pushed down (section V.B, *tree* in its figure 8) to one place in
//! each domain, where all of its members look for it: "every thread can wait for the phase change spinning in local
//! cache". With a fan-in of all masters but one, this is the figure's *flat*: one global master for all nodes.
//!
//! In the paper, all members of a domain tell its master themselves; here they do so through a tree of any fan-in, for
//! domains with more members than there are flags; in such a tree, those below others than the master look for the
//! release at their parent. The master is the lowest member; the paper does not say which.
//!
//! Masters: a flag to the parent, one to each child; the first one, one for the own domain. Others: a flag to the
//! master. On a machine where every core is a domain, this is a tree with a pushed release.

use super::{party::Party, schedule::Schedule};

/// The shape of the trees between and inside of domains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hierarchical {
    /// Children of a master among masters, at most.
    pub(super) fan_in: usize,
    /// Children of a member in its own domain, at most.
    pub(super) local_fan_in: usize,
}

impl Hierarchical {
    /// Flags in each MPB: of masters below, of members below in the own domain, and the release, which those see who
    /// look there.
    pub(super) fn slots(self) -> usize {
        self.fan_in + self.local_fan_in + 1
    }

    /// What the member at `position` does.
    pub(super) fn schedule(self, position: usize, party: &Party) -> Schedule {
        let Self { fan_in, local_fan_in } = self;
        let release = fan_in + local_fan_in;
        let mut schedule = Schedule::default();
        let domain = party.domain_of(position);
        let domain_members = party.domain(domain);
        let master = domain_members.start;
        let local = position - master;
        let masters = if local == 0 { children(domain, party.domains(), fan_in) } else { 0..0 };
        let masters = masters.map(|domain| party.domain(domain).start);
        let locals = children(local, domain_members.len(), local_fan_in).map(|local| master + local);

        schedule.wait_for_all(position, (0..).zip(masters.clone()).chain((fan_in..).zip(locals.clone())));
        let above = (domain > 0).then(|| party.domain((domain - 1) / fan_in).start);
        if local > 0 {
            let parent = master + (local - 1) / local_fan_in;
            schedule.set(parent, fan_in + (local - 1) % local_fan_in);
            let releases = above.filter(|_| parent == master).unwrap_or(parent);
            schedule.wait_for(parent, release, releases);
        } else if let Some(above) = above {
            schedule.set(above, (domain - 1) % fan_in);
            schedule.wait_for(position, release, above);
        }
        masters.for_each(|master| schedule.set(master, release));
        // A master has been released in the place where the others of its domain look, but the first one.
        if locals.len() > 0 && (local > 0 || above.is_none()) {
            schedule.set(position, release);
        }
        schedule
    }
}

/// The children of node `node` of a tree of `len` nodes.
fn children(node: usize, len: usize, fan_in: usize) -> core::ops::Range<usize> {
    let first = (node * fan_in + 1).min(len);
    first..(first + fan_in).min(len)
}
