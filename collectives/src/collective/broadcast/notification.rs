//! The notification tree among a parent and its children (OC-Bcast paper, section 4.1).
//!
//! It is a heap: member 0 is the parent, members 1, 2, … are its children in the order of the tree, and member m
//! notifies members n m + 1 to n m + n. The paper takes the degree n = 2 and says that it is the best.

/// The children that member `member` notifies, as a range of members.
pub(super) fn below(member: usize, degree: usize, children: usize) -> core::ops::Range<usize> {
    let end = children + 1;
    let first = member.saturating_mul(degree).saturating_add(1).min(end);
    first..first.saturating_add(degree).min(end)
}

/// The member that notifies member `member`, which is not the parent.
pub(super) fn above(member: usize, degree: usize) -> usize {
    (member - 1) / degree
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_notified_once() {
        for degree in [1, 2, 3, 47, usize::MAX] {
            for children in 0..100 {
                let notified: Vec<_> = (0..=children).flat_map(|member| below(member, degree, children)).collect();
                assert_eq!(notified, (1..=children).collect::<Vec<_>>());
                for member in 0..=children {
                    assert!(below(member, degree, children).all(|child| above(child, degree) == member));
                }
            }
        }
    }
}
