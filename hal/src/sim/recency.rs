//! Which lines the two caches of a core hold: of each as many as it has room for, those that the core came by last.
//!
//! A simulated core comes by a line of private memory with each that it copies, and there are as many of these tables as cores. So what
//! counts is how few of the host's own lines a look and a change take: lines side by side, by which cores come one after the other,
//! lie side by side here, and are found once for all of them.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// Where a line was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// In L1, where it costs what the copy itself costs.
    InL1,
    /// In L2.
    InL2,
    /// In memory.
    InMemory,
}

/// What a line is a part of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Memory {
    /// The block with this number.
    Block(u32),
    /// The memory of operations about this number of lines, of which there are some.
    Of(u32),
    /// What is in the way and is never found again.
    Nothing,
}

/// A line: what it is a part of, and its number there.
pub(super) type Place = (Memory, u32);

/// Lines that lie side by side.
const GROUP: u32 = 8;

/// The line before the oldest one of a cache, and behind the youngest one.
const NONE: u32 = u32::MAX;

/// Before a line that a cache does not hold.
const ABSENT: u32 = u32::MAX - 1;

/// The lines that a cache came by before and after one.
#[derive(Clone, Copy)]
struct Links {
    older: u32,
    younger: u32,
}

/// What two caches know of lines side by side.
struct Group {
    key: Place,
    /// Lines that the one holds, and that the other does.
    held: u32,
    links: [[Links; GROUP as usize]; 2],
}

/// One cache.
struct Level {
    /// Lines that it has room for.
    capacity: u64,
    /// Lines that take room and are no part of this.
    others: u64,
    /// Lines that it holds, at most as many as there is room for.
    taken: u64,
    oldest: u32,
    youngest: u32,
}

impl Level {
    fn with_capacity(capacity: u64) -> Self {
        Self { capacity, others: 0, taken: 0, oldest: NONE, youngest: NONE }
    }
}

const L1: usize = 0;
const L2: usize = 1;

/// What the two caches of a core hold. A line has a number: that of its group, and its place there.
pub(super) struct Recency {
    levels: [Level; 2],
    groups: Vec<Group>,
    /// Groups of which no line is held.
    free: Vec<u32>,
    /// The groups, by what their lines are a part of, and the number of the first one in groups.
    index: FxHashMap<Place, u32>,
    /// The group that was found last.
    last: Option<(Place, u32)>,
    /// Lines that are in the way in L2, each time something came there; first what came first.
    in_the_way: VecDeque<u64>,
    /// How often something came there.
    displacements: u32,
}

impl Recency {
    /// Empty caches with room for so many lines.
    pub(super) fn new(l1_lines: u64, l2_lines: u64) -> Self {
        Self {
            levels: [l1_lines, l2_lines].map(Level::with_capacity),
            groups: Vec::new(),
            free: Vec::new(),
            index: FxHashMap::default(),
            last: None,
            in_the_way: VecDeque::new(),
            displacements: 0,
        }
    }

    /// The core comes by a line, which both caches hold from then on. What L1 has is not looked for in L2, where it ages.
    pub(super) fn come_by(&mut self, place: Place) -> Found {
        let line = self.line(place);
        if self.holds(L1, line) {
            self.renew(L1, line);
            return Found::InL1;
        }
        let found = if self.holds(L2, line) {
            self.renew(L2, line);
            Found::InL2
        } else {
            self.hold(L2, line);
            self.levels[L2].taken += 1;
            Found::InMemory
        };
        self.hold(L1, line);
        self.levels[L1].taken += 1;
        self.give_up(L2);
        self.give_up(L1);
        found
    }

    /// L1 comes by one more line that is no part of this.
    #[inline]
    pub(super) fn take_other(&mut self) {
        let l1 = &mut self.levels[L1];
        l1.others = (l1.others + 1).min(l1.capacity);
        if l1.taken + l1.others > l1.capacity {
            self.give_up(L1);
        }
    }

    /// L1 holds nothing any more that is no part of this.
    pub(super) fn give_up_others(&mut self) {
        self.levels[L1].others = 0;
    }

    /// L1 holds nothing any more, and L2 lines that nobody wants, as the youngest ones.
    pub(super) fn displace(&mut self, lines: u64) {
        while self.levels[L1].oldest != NONE {
            self.give_away(L1, self.levels[L1].oldest);
        }
        (self.levels[L1].taken, self.levels[L1].others) = (0, 0);
        self.displacements = self.displacements.wrapping_add(1);
        let line = self.line((Memory::Nothing, self.displacements));
        self.hold(L2, line);
        self.in_the_way.push_back(lines);
        self.levels[L2].taken += lines;
        self.give_up(L2);
    }

    /// A cache gives up what is too old for what it has room for.
    fn give_up(&mut self, level: usize) {
        loop {
            let Level { capacity, others, taken, oldest, .. } = self.levels[level];
            let Some(excess @ 1..) = (taken + others).checked_sub(capacity) else { return };
            if oldest == NONE {
                return;
            }
            let mut given_up = 1;
            let is_nothing = self.groups[(oldest / GROUP) as usize].key.0 == Memory::Nothing;
            if is_nothing && let Some(lines) = self.in_the_way.front_mut() {
                given_up = excess.min(*lines);
                *lines -= given_up;
                if *lines == 0 {
                    self.in_the_way.pop_front();
                    self.give_away(level, oldest);
                }
            } else {
                self.give_away(level, oldest);
            }
            self.levels[level].taken -= given_up;
        }
    }

    /// The number of a line.
    fn line(&mut self, (memory, line): Place) -> u32 {
        let key = (memory, line / GROUP);
        let group = match self.last {
            Some((last, group)) if last == key => group,
            _ => {
                let group = self.index.get(&key).copied().unwrap_or_else(|| self.make_group(key));
                self.last = Some((key, group));
                group
            }
        };
        group * GROUP + line % GROUP
    }

    #[inline(never)]
    fn make_group(&mut self, key: Place) -> u32 {
        let absent = Links { older: ABSENT, younger: NONE };
        let empty = Group { key, held: 0, links: [[absent; GROUP as usize]; 2] };
        let group = match self.free.pop() {
            Some(group) => {
                self.groups[group as usize] = empty;
                group
            }
            None => {
                self.groups.push(empty);
                self.groups.len() as u32 - 1
            }
        };
        self.index.insert(key, group);
        group
    }

    #[inline]
    fn links(&mut self, level: usize, line: u32) -> &mut Links {
        &mut self.groups[(line / GROUP) as usize].links[level][(line % GROUP) as usize]
    }

    fn holds(&mut self, level: usize, line: u32) -> bool {
        self.links(level, line).older != ABSENT
    }

    /// A cache holds a line, which is the youngest one.
    fn hold(&mut self, level: usize, line: u32) {
        self.groups[(line / GROUP) as usize].held += 1;
        self.append(level, line);
    }

    /// A line that a cache holds is the youngest one from now on.
    fn renew(&mut self, level: usize, line: u32) {
        if self.levels[level].youngest != line {
            self.take_out(level, line);
            self.append(level, line);
        }
    }

    fn append(&mut self, level: usize, line: u32) {
        let older = std::mem::replace(&mut self.levels[level].youngest, line);
        *self.links(level, line) = Links { older, younger: NONE };
        if older == NONE {
            self.levels[level].oldest = line;
        } else {
            self.links(level, older).younger = line;
        }
    }

    fn take_out(&mut self, level: usize, line: u32) {
        let Links { older, younger } = *self.links(level, line);
        if older == NONE {
            self.levels[level].oldest = younger;
        } else {
            self.links(level, older).younger = younger;
        }
        if younger == NONE {
            self.levels[level].youngest = older;
        } else {
            self.links(level, younger).older = older;
        }
    }

    /// A cache holds a line no more.
    fn give_away(&mut self, level: usize, line: u32) {
        self.take_out(level, line);
        self.links(level, line).older = ABSENT;
        let number = line / GROUP;
        let group = &mut self.groups[number as usize];
        group.held -= 1;
        if group.held == 0 {
            let key = group.key;
            self.index.remove(&key);
            self.free.push(number);
            self.last = self.last.filter(|(_, last)| *last != number);
        }
    }
}

#[cfg(test)]
impl Recency {
    /// Lines of private memory that each cache holds, and the oldest one.
    pub(super) fn held(&self) -> [(u64, Option<Place>); 2] {
        [L1, L2].map(|level| {
            let Level { taken, oldest, .. } = self.levels[level];
            let place = |(memory, first): Place| (memory, first * GROUP + oldest % GROUP);
            (taken, self.groups.get((oldest / GROUP) as usize).map(|group| place(group.key)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As it is said, without any skill: what a cache holds and how much room that takes, first the oldest.
    struct Plain {
        room: u64,
        others: u64,
        held: Vec<(Place, u64)>,
    }

    impl Plain {
        fn renews(&mut self, place: Place) -> bool {
            let found = self.held.iter().position(|held| held.0 == place).map(|at| self.held.remove(at));
            self.held.extend(found);
            found.is_some()
        }

        fn takes(&mut self, place: Place, lines: u64) {
            self.held.push((place, lines));
            self.gives_up();
        }

        fn gives_up(&mut self) {
            while self.held.iter().map(|held| held.1).sum::<u64>() + self.others > self.room && !self.held.is_empty() {
                self.held[0].1 -= 1;
                self.held.retain(|held| held.1 > 0);
            }
        }
    }

    #[test]
    fn what_is_held_is_what_was_come_by_last() {
        let [mut l1, mut l2] = [40, 100].map(|room| Plain { room, others: 0, held: Vec::new() });
        let mut caches = Recency::new(40, 100);
        let mut number = 1_u64;
        let mut found = [0; 3];
        for time in 0..20_000 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (what, line) = ((number >> 33) as u32, (number >> 40) as u32);
            match what % 100 {
                0 => {
                    let lines = u64::from(line % 120);
                    caches.displace(lines);
                    l1.held.clear();
                    l1.others = 0;
                    l2.takes((Memory::Nothing, time), lines);
                    l2.held.retain(|held| held.1 > 0);
                }
                1..5 => {
                    caches.take_other();
                    l1.others = (l1.others + 1).min(l1.room);
                    l1.gives_up();
                }
                5 => {
                    caches.give_up_others();
                    l1.others = 0;
                }
                _ => {
                    let memory = if what / 100 % 2 == 0 { Memory::Block(what / 200 % 3) } else { Memory::Of(60) };
                    // Some lines far more often than others.
                    let place = (memory, line % 60 * (line / 60 % 60) / 60);
                    let expected = if l1.renews(place) {
                        Found::InL1
                    } else {
                        let is_in_l2 = l2.renews(place);
                        if !is_in_l2 {
                            l2.takes(place, 1);
                        }
                        l1.takes(place, 1);
                        if is_in_l2 { Found::InL2 } else { Found::InMemory }
                    };
                    assert_eq!(caches.come_by(place), expected, "{place:?}, after {time}");
                    found[expected as usize] += 1;
                }
            }
        }
        assert!(found.iter().all(|count| *count > 1_000), "{found:?}");
        // Of what is not held nothing is kept.
        caches.displace(100);
        assert_eq!((caches.index.len(), caches.in_the_way.len(), caches.held()[0]), (1, 1, (0, None)));
    }
}
