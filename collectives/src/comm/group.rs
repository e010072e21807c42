//! Sets of ranks, for epochs and collective operations.
//!
//! A group holds ranks of the communicator, as bits: there is nothing to translate when an epoch is opened, and one
//! that was made can be used for any number of epochs. What MPI calls a rank in a group is a member's *position* here,
//! counted in ascending order of rank.

use alloc::{boxed::Box, rc::Rc, vec::Vec};
use core::{array, ops::Range};

use crate::{
    Error,
    mpb::bytes::{IN_WORD, Words, spread},
};

/// Ranks that a communicator can have at most.
pub const MAX_RANKS: usize = 4096;

/// A set of ranks. It may be empty, and may contain the rank that holds it.
///
/// Cloning one is cheap: epochs keep clones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    members: Rc<Members>,
}

/// Who is in a group, in all the ways in which protocols ask: made once, and used in each epoch.
#[derive(PartialEq, Eq, Debug)]
struct Members {
    /// Bits; without zero words at the end, so that equal sets are equal values.
    words: Box<[u32]>,
    /// The ranks in ascending order.
    ranks: Box<[u16]>,
    lines: Box<[OfLine]>,
    /// One more than the highest rank, or 0.
    end: usize,
}

/// The members among 32 ranks that have a byte each in a line.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct OfLine {
    /// The first of the 32 ranks is 32 times this.
    pub(crate) index: usize,
    /// Members as bits; there is one at least.
    pub(crate) ranks: u32,
    /// The bytes of members in the line, with all of their bits.
    pub(crate) bytes: Words,
    /// The first of its words that has some, and the one behind the last.
    first: usize,
    end: usize,
}

impl OfLine {
    /// These members, of whom there is one at least, from rank 32 `index` on.
    pub(crate) fn new(index: usize, ranks: u32) -> Self {
        let bytes = array::from_fn(|word| spread(ranks >> (word * IN_WORD)));
        let bit = |bit: u32| bit as usize / IN_WORD;
        Self { index, ranks, bytes, first: bit(ranks.trailing_zeros()), end: bit(ranks.ilog2()) + 1 }
    }

    /// Which words of a line have bytes of members, from the first to the last one.
    #[inline]
    pub(crate) fn range(&self) -> Range<usize> {
        self.first..self.end
    }

    /// Those words, and which of their bytes are members'.
    #[inline]
    pub(crate) fn words(&self) -> impl Iterator<Item = (usize, u32)> + Clone {
        (self.first..self.end).zip(self.bytes[self.first..self.end].iter().copied())
    }
}

impl Group {
    /// The set without ranks.
    pub fn empty() -> Self {
        Self::from_words(Vec::new())
    }

    /// Ranks 0 to `size` − 1.
    ///
    /// # Errors
    /// [`Error::TooManyRanks`] above [`MAX_RANKS`].
    pub fn all(size: usize) -> Result<Self, Error> {
        if size > MAX_RANKS {
            return Err(Error::TooManyRanks { size });
        }
        Self::of(0..size)
    }

    /// The set of these ranks; naming one twice does no harm.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for a rank of [`MAX_RANKS`] or more.
    pub fn of(ranks: impl IntoIterator<Item = usize>) -> Result<Self, Error> {
        let mut words = Vec::new();
        ranks.into_iter().try_for_each(|rank| insert(&mut words, rank))?;
        Ok(Self::from_words(words))
    }

    /// Whether `rank` is in the set.
    pub fn contains(&self, rank: usize) -> bool {
        self.words().get(rank / 32).is_some_and(|word| word >> (rank % 32) & 1 == 1)
    }

    /// Number of ranks.
    pub fn len(&self) -> usize {
        self.members.ranks.len()
    }

    /// Whether this is the other value itself, or a clone of it.
    #[inline]
    pub(crate) fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.members, &other.members)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.members.ranks.is_empty()
    }

    /// The ranks in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.members.ranks.iter().map(|rank| usize::from(*rank))
    }

    /// The ranks in ascending order, each below [`MAX_RANKS`].
    #[inline]
    pub(crate) fn ranks(&self) -> &[u16] {
        &self.members.ranks
    }

    /// The set as bits, 32 ranks in a word.
    pub(crate) fn words(&self) -> &[u32] {
        &self.members.words
    }

    /// The members, as they have bytes in lines of 32 ranks.
    #[inline]
    pub(crate) fn lines(&self) -> &[OfLine] {
        &self.members.lines
    }

    /// The highest rank.
    pub fn last(&self) -> Option<usize> {
        self.members.ranks.last().map(|rank| usize::from(*rank))
    }

    /// The rank at `position`.
    pub fn rank_at(&self, position: usize) -> Option<usize> {
        self.members.ranks.get(position).map(|rank| usize::from(*rank))
    }

    /// The position of `rank`.
    pub fn position_of(&self, rank: usize) -> Option<usize> {
        self.members.ranks.binary_search(&u16::try_from(rank).ok()?).ok()
    }

    /// The positions in `other` of the members at `positions`; none for those that are not in it (MPI's
    /// `Group_translate_ranks`), and [`Error::NoSuchMember`] for a position that this group does not have.
    pub fn translate<'g>(
        &'g self,
        positions: impl IntoIterator<Item = usize, IntoIter: 'g>,
        other: &'g Self,
    ) -> impl Iterator<Item = Result<Option<usize>, Error>> + 'g {
        positions.into_iter().map(|position| Ok(other.position_of(self.member(position)?)))
    }

    /// The members at `positions` (MPI's `Group_incl`).
    ///
    /// # Errors
    /// [`Error::NoSuchMember`].
    pub fn include(&self, positions: impl IntoIterator<Item = usize>) -> Result<Self, Error> {
        let mut words = Vec::new();
        positions.into_iter().try_for_each(|position| insert(&mut words, self.member(position)?))?;
        Ok(Self::from_words(words))
    }

    /// All members but those at `positions` (MPI's `Group_excl`).
    ///
    /// # Errors
    /// [`Error::NoSuchMember`].
    pub fn exclude(&self, positions: impl IntoIterator<Item = usize>) -> Result<Self, Error> {
        Ok(self.difference(&self.include(positions)?))
    }

    /// The ranks of both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.combine(other, |own, others| own | others)
    }

    /// The ranks that both have.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.combine(other, |own, others| own & others)
    }

    /// The ranks that `other` does not have.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.combine(other, |own, others| own & !others)
    }

    fn member(&self, position: usize) -> Result<usize, Error> {
        self.rank_at(position).ok_or(Error::NoSuchMember { position, len: self.len() })
    }

    fn combine(&self, other: &Self, combine: impl Fn(u32, u32) -> u32) -> Self {
        let word = |group: &Self, index| group.words().get(index).copied().unwrap_or(0);
        let len = self.words().len().max(other.words().len());
        Self::from_words((0..len).map(|index| combine(word(self, index), word(other, index))).collect())
    }

    fn from_words(mut words: Vec<u32>) -> Self {
        while words.last() == Some(&0) {
            words.pop();
        }
        let of_words = words.iter().copied().enumerate();
        let ranks = of_words.clone().flat_map(|(index, word)| bits(word).map(move |bit| (index * 32 + bit) as u16));
        let lines = of_words.filter(|(_, ranks)| *ranks != 0).map(|(index, ranks)| OfLine::new(index, ranks));
        let (ranks, lines): (Box<[u16]>, _) = (ranks.collect(), lines.collect());
        let end = ranks.last().map_or(0, |rank| usize::from(*rank) + 1);
        Self { members: Rc::new(Members { words: words.into(), ranks, lines, end }) }
    }

    /// Refuses a set with a rank that a communicator of `size` ranks does not have.
    #[inline]
    pub(crate) fn check(&self, size: usize) -> Result<(), Error> {
        let end = self.members.end;
        if end <= size { Ok(()) } else { Err(Error::NoSuchRank { rank: end - 1, size }) }
    }
}

impl Default for Group {
    fn default() -> Self {
        Self::empty()
    }
}

/// Adds `rank` to the bits of a set.
fn insert(words: &mut Vec<u32>, rank: usize) -> Result<(), Error> {
    if rank >= MAX_RANKS {
        return Err(Error::NoSuchRank { rank, size: MAX_RANKS });
    }
    words.resize(words.len().max(rank / 32 + 1), 0);
    words[rank / 32] |= 1 << (rank % 32);
    Ok(())
}

/// The positions of the bits that are set, in ascending order.
pub(crate) fn bits(word: u32) -> impl Iterator<Item = usize> + Clone {
    let mut rest = word;
    core::iter::from_fn(move || {
        let lowest = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
        rest &= rest - 1;
        Some(lowest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_made_of_groups() {
        let (a, b) = (Group::of([1, 5, 40, 99]).unwrap(), Group::of([5, 40, 41]).unwrap());
        assert_eq!(a.union(&b), Group::of([1, 5, 40, 41, 99]).unwrap());
        assert_eq!(a.intersection(&b), Group::of([5, 40]).unwrap());
        assert_eq!(a.difference(&b), Group::of([1, 99]).unwrap());
        // Words without ranks do not stay.
        assert_eq!(a.difference(&Group::of([40, 99]).unwrap()), Group::of([1, 5]).unwrap());
        assert_eq!((a.last(), a.difference(&a).last()), (Some(99), None));
    }

    #[test]
    fn lines_have_a_byte_for_each_member_and_for_nobody_else() {
        for size in [1, 4, 5, 31, 32, 33, 48, 100] {
            let sets = [(0, 1), (size - 1, 1), (0, 3), (size / 2, 2)];
            for group in sets.map(|(first, step)| Group::of((first..size).step_by(step)).unwrap()) {
                for rank in 0..size {
                    let line = group.lines().iter().find(|line| line.index == rank / 32);
                    let (word, mask) = (rank % 32 / IN_WORD, 0xFF << (rank % IN_WORD * 8));
                    let expected = if group.contains(rank) { mask } else { 0 };
                    let of_all = line.map_or(0, |line| line.bytes[word]);
                    let found = line.and_then(|line| line.words().find(|(index, _)| *index == word));
                    let of_words = found.map_or(0, |(_, bytes)| bytes);
                    assert_eq!([of_all & mask, of_words & mask], [expected; 2], "rank {rank} of {size}");
                }
            }
        }
    }

    #[test]
    fn positions_are_those_of_the_members_in_order() {
        let (a, b) = (Group::of([1, 5, 40, 99]).unwrap(), Group::of([5, 40, 41]).unwrap());
        assert_eq!((a.rank_at(2), a.rank_at(4), a.position_of(99), a.position_of(2)), (Some(40), None, Some(3), None));
        assert_eq!(a.include([3, 0]), Group::of([1, 99]));
        assert_eq!(a.exclude([3, 0]), Group::of([5, 40]));
        assert_eq!(a.include([4]), Err(Error::NoSuchMember { position: 4, len: 4 }));
        let translated: std::vec::Vec<_> = a.translate(0..5, &b).collect();
        assert_eq!(translated[..4], [Ok(None), Ok(Some(0)), Ok(Some(1)), Ok(None)]);
        assert_eq!(translated[4], Err(Error::NoSuchMember { position: 4, len: 4 }));
    }

    #[test]
    fn a_group_is_a_set() {
        let group = Group::of([40, 3, 3, 0]).unwrap();
        assert_eq!(group.iter().collect::<std::vec::Vec<_>>(), [0, 3, 40]);
        assert_eq!((group.len(), group.contains(3), group.contains(4), group.contains(4095)), (3, true, false, false));
        assert_eq!(Group::all(33).unwrap().len(), 33);
        assert!(Group::empty().is_empty());
    }

    #[test]
    fn ranks_out_of_bounds_are_refused() {
        assert_eq!(Group::of([4096]), Err(Error::NoSuchRank { rank: 4096, size: MAX_RANKS }));
        assert_eq!(Group::all(4097), Err(Error::TooManyRanks { size: 4097 }));
        assert_eq!(Group::of([1, 7]).unwrap().check(7), Err(Error::NoSuchRank { rank: 7, size: 7 }));
    }
}
