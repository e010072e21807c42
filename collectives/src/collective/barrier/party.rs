//! Those who take part in a barrier, as algorithms see them.

use alloc::vec::Vec;
use core::ops::Range;

use hal::{CoreId, Layout};

/// How many members there are, and which of them share a coherence domain. Members are positions, from 0; the members
/// of a domain are neighbours.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Party {
    len: usize,
    /// The first member of each domain that has one.
    firsts: Vec<u16>,
}

impl Party {
    /// The party on these cores, which ascend, of this machine.
    pub(crate) fn new(cores: impl Iterator<Item = CoreId>, layout: &Layout) -> Self {
        let (mut len, mut firsts, mut last) = (0, Vec::new(), None);
        for core in cores {
            let domain = layout.domain(core);
            if last != Some(domain) {
                firsts.push(len as u16);
                last = Some(domain);
            }
            len += 1;
        }
        Self { len, firsts }
    }

    /// Number of members.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Number of domains that have members.
    pub(super) fn domains(&self) -> usize {
        self.firsts.len()
    }

    /// The number of the domain of the member at `position`, among those that have members.
    pub(super) fn domain_of(&self, position: usize) -> usize {
        self.firsts.partition_point(|first| usize::from(*first) <= position) - 1
    }

    /// The members of a domain.
    pub(super) fn domain(&self, domain: usize) -> Range<usize> {
        let end = self.firsts.get(domain + 1).map_or(self.len, |first| usize::from(*first));
        usize::from(self.firsts[domain])..end
    }

    /// Members of the domain that has most.
    pub(super) fn largest_domain(&self) -> usize {
        (0..self.domains()).map(|domain| self.domain(domain).len()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_a_domain_are_neighbours() {
        let layout = Layout::mesh(2, 2, 4).with_domains_of(4);
        let party = Party::new([1, 2, 3, 9, 12, 15].map(CoreId::new).into_iter(), &layout);
        assert_eq!((party.len(), party.domains(), party.largest_domain()), (6, 3, 3));
        assert_eq!([0, 1, 2].map(|domain| party.domain(domain)), [0..3, 3..4, 4..6]);
        assert_eq!([0, 2, 3, 4, 5].map(|position| party.domain_of(position)), [0, 0, 1, 2, 2]);
        let empty = Party::new(core::iter::empty(), &layout);
        assert_eq!((empty.len(), empty.domains(), empty.largest_domain()), (0, 0, 0));
    }
}
