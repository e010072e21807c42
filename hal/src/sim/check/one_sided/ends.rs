//! The ends of operations that are under way, by where they are in memory.

use rustc_hash::FxHashMap;

use crate::act::Bytes;

/// Bytes that are looked up together, as a power of two.
const PAGE_BITS: u32 = 12;

/// Memory that an operation reads or writes.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// The number of the operation.
    pub(super) operation: usize,
    pub(super) bytes: Bytes,
    pub(super) writes: bool,
    /// Whether it is at the target.
    pub(super) is_target: bool,
}

#[derive(Default)]
pub(super) struct Ends {
    pages: FxHashMap<usize, Vec<End>>,
}

impl Ends {
    pub(super) fn insert(&mut self, end: &End) {
        for page in pages(&end.bytes) {
            self.pages.entry(page).or_default().push(end.clone());
        }
    }

    /// Removes an end; it is equal to one that was inserted.
    pub(super) fn remove(&mut self, end: &End) {
        for page in pages(&end.bytes) {
            let Some(ends) = self.pages.get_mut(&page) else { continue };
            let is_it = |other: &End| {
                (other.operation, &other.bytes, other.is_target) == (end.operation, &end.bytes, end.is_target)
            };
            if let Some(at) = ends.iter().position(is_it) {
                ends.swap_remove(at);
            }
            if ends.is_empty() {
                self.pages.remove(&page);
            }
        }
    }

    /// The ends that some bytes meet, and how many of these.
    pub(super) fn meet<'e>(&'e self, bytes: &'e Bytes) -> impl Iterator<Item = (&'e End, usize)> {
        pages(bytes).filter_map(|page| Some((page, self.pages.get(&page)?))).flat_map(move |(page, ends)| {
            ends.iter().filter_map(move |end| {
                let (first, last) = (end.bytes.start.max(bytes.start), end.bytes.end.min(bytes.end));
                // In the first page that both have, lest it be met twice.
                (first < last && first >> PAGE_BITS == page).then(|| (end, last - first))
            })
        })
    }
}

fn pages(bytes: &Bytes) -> std::ops::Range<usize> {
    bytes.start >> PAGE_BITS..bytes.end.saturating_sub(1).max(bytes.start).wrapping_shr(PAGE_BITS) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_met_once() {
        let end = |operation, bytes| End { operation, bytes, writes: false, is_target: true };
        let mut ends = Ends::default();
        ends.insert(&end(1, 4000..9000));
        ends.insert(&end(2, 0..10));
        // In whatever order.
        let met = |ends: &Ends, bytes: Bytes| {
            let mut met: Vec<_> = ends.meet(&bytes).map(|(end, len)| (end.operation, len)).collect();
            met.sort_unstable();
            met
        };
        assert_eq!(met(&ends, 5..4100), [(1, 100), (2, 5)]);
        assert_eq!(met(&ends, 4096..20_000), [(1, 4904)]);
        assert_eq!(met(&ends, 10..4000), []);
        ends.remove(&end(1, 4000..9000));
        assert_eq!(met(&ends, 0..20_000), [(2, 10)]);
    }
}
