//! Sets of ranks, for epochs and collective operations.

use heapless::Vec;

use crate::Error;

/// Ranks that a communicator can have at most.
pub const MAX_RANKS: usize = 4096;

const WORDS: usize = MAX_RANKS / 32;

/// A set of ranks. It may be empty, and may contain the rank that holds it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Group {
    /// Bits; without zero words at the end, so that equal sets are equal values.
    words: Vec<u32, WORDS>,
}

impl Group {
    /// The set without ranks.
    pub const fn empty() -> Self {
        Self { words: Vec::new() }
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
        let mut group = Self::empty();
        for rank in ranks {
            group.insert(rank)?;
        }
        Ok(group)
    }

    /// Adds `rank`.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for a rank of [`MAX_RANKS`] or more.
    pub fn insert(&mut self, rank: usize) -> Result<(), Error> {
        if rank >= MAX_RANKS {
            return Err(Error::NoSuchRank { rank, size: MAX_RANKS });
        }
        let word = rank / 32;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0).map_err(|_| Error::NoSuchRank { rank, size: MAX_RANKS })?;
        }
        self.words[word] |= 1 << (rank % 32);
        Ok(())
    }

    /// Whether `rank` is in the set.
    pub fn contains(&self, rank: usize) -> bool {
        self.words.get(rank / 32).is_some_and(|word| word >> (rank % 32) & 1 == 1)
    }

    /// Number of ranks.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The ranks in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(index, &word)| (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index * 32 + bit))
    }

    /// The highest rank.
    pub fn last(&self) -> Option<usize> {
        self.iter().last()
    }

    /// Refuses a set with a rank that a communicator of `size` ranks does not have.
    pub(crate) fn check(&self, size: usize) -> Result<(), Error> {
        match self.last() {
            Some(rank) if rank >= size => Err(Error::NoSuchRank { rank, size }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
