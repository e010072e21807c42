//! A cache of four ways with tree pseudo-LRU: both L1 and L2 of a core are one.

/// Bytes of a line.
pub(crate) const LINE_BYTES: usize = 32;

/// Ways of both caches.
pub(crate) const WAYS: usize = 4;

/// A line, as words so that a value is cut out of it with shifts.
pub(crate) type Line = [u64; 4];

const VALID: u32 = 1;
const DIRTY: u32 = 2;
const MPBT: u32 = 4;
const FLAGS: u32 = LINE_BYTES as u32 - 1;

/// The address of the line that an address is in.
pub(crate) const fn line_of(physical: u32) -> u32 {
    physical & !FLAGS
}

/// A value of `len` bytes, at most 8, from `offset` on, all within the line.
#[inline(always)]
pub(crate) const fn cut(line: &Line, offset: usize, len: usize) -> u64 {
    let (word, shift) = (offset >> 3 & 3, (offset & 7) as u32 * 8);
    let mut value = line[word] >> shift;
    if shift != 0 {
        value |= line[(word + 1) & 3] << (64 - shift);
    }
    value & (!0 >> (64 - 8 * len as u32))
}

/// Puts a value there.
#[inline(always)]
pub(crate) const fn put(line: &mut Line, offset: usize, len: usize, value: u64) {
    let (word, shift) = (offset >> 3 & 3, (offset & 7) as u32 * 8);
    let mask = !0 >> (64 - 8 * len as u32);
    let value = value & mask;
    line[word] = line[word] & !(mask << shift) | value << shift;
    if (offset & 7) + len > 8 {
        let next = (word + 1) & 3;
        line[next] = line[next] & !(mask >> (64 - shift)) | value >> (64 - shift);
    }
}

/// Where a line is in a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    set: usize,
    way: usize,
}

/// A line that had to leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Evicted {
    pub(crate) address: u32,
    pub(crate) mpbt: bool,
    pub(crate) line: Line,
}

/// Lines with their addresses, as the core numbers its memory before the lookup table.
pub(crate) struct Cache {
    tags: Box<[[u32; WAYS]]>,
    lines: Box<[[Line; WAYS]]>,
    /// Three bits for each set. Bit 0 says which half is older, bits 1 and 2 which way of each half.
    trees: Box<[u8]>,
    set_mask: usize,
}

impl Cache {
    /// An empty cache with this number of sets, a power of two.
    pub(crate) fn new(sets: usize) -> Self {
        assert!(sets.is_power_of_two(), "a cache of {sets} sets");
        Self {
            tags: vec![[0; WAYS]; sets].into(),
            lines: vec![[[0; 4]; WAYS]; sets].into(),
            trees: vec![0; sets].into(),
            set_mask: sets - 1,
        }
    }

    /// Forgets everything, modified or not.
    pub(crate) fn clear(&mut self) {
        self.tags.fill([0; WAYS]);
        self.trees.fill(0);
    }

    #[inline(always)]
    fn set_of(&self, physical: u32) -> usize {
        (physical as usize / LINE_BYTES) & self.set_mask
    }

    #[inline(always)]
    fn find_tag(&self, physical: u32, tag: u32, ignored: u32) -> Option<Slot> {
        let set = self.set_of(physical);
        let tags = &self.tags[set];
        (0..WAYS).find(|way| tags[*way] & !ignored == tag).map(|way| Slot { set, way })
    }

    /// Finds a line of this type, which is then the most recently used of its set.
    #[inline(always)]
    pub(crate) fn find(&mut self, physical: u32, mpbt: bool) -> Option<Slot> {
        let tag = line_of(physical) | VALID | if mpbt { MPBT } else { 0 };
        let slot = self.find_tag(physical, tag, DIRTY)?;
        self.touch(slot);
        Some(slot)
    }

    /// Looks for a line of any type, without using it.
    pub(crate) fn peek(&self, physical: u32) -> Option<Slot> {
        self.find_tag(physical, line_of(physical) | VALID, DIRTY | MPBT)
    }

    /// Notes that a line was used: the tree points away from it.
    #[inline(always)]
    fn touch(&mut self, slot: Slot) {
        /// Bits to keep, and to set, by way.
        const POINT_AWAY: [(u8, u8); WAYS] = [(!0b011, 0b011), (!0b011, 0b001), (!0b101, 0b100), (!0b101, 0b000)];
        let (keep, set) = POINT_AWAY[slot.way & 3];
        let tree = &mut self.trees[slot.set];
        *tree = *tree & keep | set;
    }

    fn victim(&self, set: usize) -> usize {
        let empty = self.tags[set].iter().position(|tag| tag & VALID == 0);
        empty.unwrap_or_else(|| {
            let tree = self.trees[set];
            if tree & 1 == 0 { usize::from(tree & 2 != 0) } else { 2 + usize::from(tree & 4 != 0) }
        })
    }

    /// Takes a line in, and says which modified one had to leave for it.
    pub(crate) fn fill(&mut self, physical: u32, mpbt: bool, line: Line) -> (Slot, Option<Evicted>) {
        let set = self.set_of(physical);
        let slot = Slot { set, way: self.victim(set) };
        let evicted = self.modified(slot);
        self.tags[set][slot.way] = line_of(physical) | VALID | if mpbt { MPBT } else { 0 };
        self.lines[set][slot.way] = line;
        self.touch(slot);
        (slot, evicted)
    }

    /// The line there.
    #[inline(always)]
    pub(crate) fn line(&self, slot: Slot) -> &Line {
        &self.lines[slot.set][slot.way & 3]
    }

    /// The line there, which is modified from now on.
    #[inline(always)]
    pub(crate) fn modify(&mut self, slot: Slot) -> &mut Line {
        self.tags[slot.set][slot.way & 3] |= DIRTY;
        &mut self.lines[slot.set][slot.way & 3]
    }

    /// The line there, which stays as modified as it is, because the store goes on to memory.
    pub(crate) fn write_through(&mut self, slot: Slot) -> &mut Line {
        &mut self.lines[slot.set][slot.way]
    }

    /// Whether the line there is modified.
    pub(crate) fn is_modified(&self, slot: Slot) -> bool {
        self.tags[slot.set][slot.way] & DIRTY != 0
    }

    /// Whether the line there is marked as one of the MPBs.
    pub(crate) fn is_mpbt(&self, slot: Slot) -> bool {
        self.tags[slot.set][slot.way] & MPBT != 0
    }

    /// The line there, if it is modified.
    fn modified(&self, slot: Slot) -> Option<Evicted> {
        let tag = self.tags[slot.set][slot.way];
        (tag & DIRTY != 0).then(|| Evicted { address: line_of(tag), mpbt: tag & MPBT != 0, line: *self.line(slot) })
    }

    /// Forgets the line there, and says what was modified.
    pub(crate) fn forget(&mut self, slot: Slot) -> Option<Evicted> {
        let evicted = self.modified(slot);
        self.tags[slot.set][slot.way] = 0;
        evicted
    }

    /// All lines that are there.
    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot> + use<> {
        (0..=self.set_mask).flat_map(|set| (0..WAYS).map(move |way| Slot { set, way }))
    }

    /// The addresses of all lines.
    pub(crate) fn held_lines(&self) -> impl Iterator<Item = u32> {
        self.tags.iter().flatten().filter(|tag| *tag & VALID != 0).map(|tag| line_of(*tag))
    }

    /// The addresses of the modified lines.
    pub(crate) fn modified_lines(&self) -> impl Iterator<Item = u32> {
        self.tags.iter().flatten().filter(|tag| *tag & DIRTY != 0).map(|tag| line_of(*tag))
    }

    /// A modified line in this set (of as many as there are), or in the first set after it that has one.
    pub(crate) fn modified_from(&self, set: usize) -> Option<Slot> {
        let sets = (0..=self.set_mask).map(|after| set.wrapping_add(after) & self.set_mask);
        sets.flat_map(|set| (0..WAYS).map(move |way| Slot { set, way })).find(|slot| self.is_modified(*slot))
    }

    /// A number for the place, for sets of bits.
    pub(crate) const fn index(slot: Slot) -> usize {
        slot.set * WAYS + slot.way
    }

    /// The place with this number.
    pub(crate) const fn at_index(index: usize) -> Slot {
        Slot { set: index / WAYS, way: index % WAYS }
    }
}
