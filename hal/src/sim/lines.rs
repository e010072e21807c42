//! Which lines of its own node's memory a core's cache holds, on machines whose nodes are coherent inside.
//!
//! Each line has a version that every store raises. A core holds the line if it has seen the latest one, and owns it if
//! it has made it and nobody has fetched it since. Caches are as large as needed.

use rustc_hash::FxHashMap;

#[derive(Clone, Copy, Default)]
struct State {
    version: u32,
    owner: Option<u16>,
    /// Cores that have seen the latest version.
    copies: u32,
    /// When the next fetch of it can begin.
    free_ps: u64,
}

/// The lines of all nodes, by [`LineAddress::key`](crate::LineAddress::key).
#[derive(Default)]
pub(super) struct Lines {
    lines: FxHashMap<u64, State>,
    /// The versions of lines that each core has seen.
    seen: Vec<FxHashMap<u64, u32>>,
}

impl Lines {
    pub(super) fn new(cores: usize) -> Self {
        Self { lines: FxHashMap::default(), seen: vec![FxHashMap::default(); cores] }
    }

    /// Whether the cache of `core` holds the line.
    pub(super) fn holds(&self, core: usize, key: u64) -> bool {
        let version = self.lines.get(&key).map_or(0, |line| line.version);
        self.seen[core].get(&key) == Some(&version)
    }

    /// Whether `core` can store to the line without asking others.
    pub(super) fn owns(&self, core: usize, key: u64) -> bool {
        self.lines.get(&key).is_some_and(|line| line.owner == Some(core as u16))
    }

    /// A core begins to fetch the line at `now_ps`. Returns how long others keep it waiting; it keeps others waiting
    /// for `transfer_ps` then.
    pub(super) fn fetch(&mut self, key: u64, now_ps: u64, transfer_ps: u64) -> u64 {
        let line = self.lines.entry(key).or_default();
        let start_ps = now_ps.max(line.free_ps);
        line.free_ps = start_ps + transfer_ps;
        start_ps - now_ps
    }

    /// How many caches hold the line.
    pub(super) fn copies(&self, key: u64) -> u32 {
        self.lines.get(&key).map_or(0, |line| line.copies)
    }

    /// `core` has fetched the line as it is now.
    pub(super) fn fetched(&mut self, core: usize, key: u64) {
        let line = self.lines.entry(key).or_default();
        line.owner = line.owner.filter(|owner| usize::from(*owner) == core);
        if self.seen[core].insert(key, line.version) != Some(line.version) {
            line.copies += 1;
        }
    }

    /// `core` has stored to the line.
    pub(super) fn stored(&mut self, core: usize, key: u64) {
        let line = self.lines.entry(key).or_default();
        line.version = line.version.wrapping_add(1);
        line.owner = Some(core as u16);
        line.copies = 1;
        self.seen[core].insert(key, line.version);
    }

    /// A store has come to the line from elsewhere: no cache holds it any more.
    pub(super) fn pushed(&mut self, key: u64) {
        let line = self.lines.entry(key).or_default();
        line.version = line.version.wrapping_add(1);
        line.owner = None;
        line.copies = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_take_lines_from_other_caches() {
        let mut lines = Lines::new(3);
        assert!(!lines.holds(0, 7) && !lines.owns(0, 7));
        lines.fetched(0, 7);
        assert!(lines.holds(0, 7) && !lines.owns(0, 7));
        lines.stored(1, 7);
        assert!(!lines.holds(0, 7) && lines.holds(1, 7) && lines.owns(1, 7));
        lines.fetched(0, 7);
        assert!(lines.holds(0, 7) && lines.holds(1, 7) && !lines.owns(1, 7));
        lines.fetched(0, 7);
        assert_eq!(lines.copies(7), 2);
        lines.pushed(7);
        assert_eq!(lines.copies(7), 0);
        assert!((0..3).all(|core| !lines.holds(core, 7)));
    }

    #[test]
    fn fetches_of_a_line_go_one_after_the_other() {
        let mut lines = Lines::new(1);
        assert_eq!([lines.fetch(7, 100, 30), lines.fetch(7, 110, 30), lines.fetch(7, 200, 30)], [0, 20, 0]);
        assert_eq!(lines.fetch(8, 100, 30), 0);
    }
}
