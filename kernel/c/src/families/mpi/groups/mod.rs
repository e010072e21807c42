//! Groups: ranks of the world in an order.

pub(crate) mod calls;

use alloc::{boxed::Box, rc::Rc, vec::Vec};

use super::{
    class::{Class, Fault},
    constants::{IDENT, SIMILAR, UNEQUAL},
    place::values,
};

/// A group.
pub(crate) struct Group {
    ranks: Box<[usize]>,
    /// Where each rank of the world is in it.
    places: Box<[u16]>,
}

/// The place of a rank that is not in a group.
const NOWHERE: u16 = u16::MAX;

impl Group {
    /// Of ranks of the world, each once.
    pub(crate) fn new(ranks: impl IntoIterator<Item = usize>) -> Rc<Self> {
        let ranks: Box<[usize]> = ranks.into_iter().collect();
        let mut places = alloc::vec![NOWHERE; ranks.iter().max().map_or(0, |most| most + 1)];
        for (place, rank) in ranks.iter().enumerate() {
            places[*rank] = place as u16;
        }
        Rc::new(Self { ranks, places: places.into_boxed_slice() })
    }

    pub(crate) fn size(&self) -> usize {
        self.ranks.len()
    }

    /// Ranks of the world, in order.
    pub(crate) fn ranks(&self) -> &[usize] {
        &self.ranks
    }

    /// The rank of the world that is at a place.
    pub(crate) fn world_rank(&self, place: usize) -> usize {
        self.ranks[place]
    }

    /// Where a rank of the world is.
    pub(crate) fn place(&self, rank: usize) -> Option<usize> {
        self.places.get(rank).filter(|place| **place != NOWHERE).map(|place| usize::from(*place))
    }

    /// How two groups compare, as `MPI_Group_compare` has it.
    pub(crate) fn compare(&self, other: &Self) -> i32 {
        if self.ranks == other.ranks {
            IDENT
        } else if self.size() == other.size() && self.ranks.iter().all(|rank| other.place(*rank).is_some()) {
            SIMILAR
        } else {
            UNEQUAL
        }
    }
}

/// Numbers that C has, as places in a group of so many.
///
/// # Safety
/// There are so many numbers.
unsafe fn places(count: i32, ranks: *const i32, size: usize) -> Result<Vec<usize>, Fault> {
    let count = usize::try_from(count).map_err(|_| Class::ARG)?;
    // SAFETY: the caller says so.
    let ranks = unsafe { values(count, ranks)? };
    distinct(ranks.iter().map(|rank| i64::from(*rank)), size)
}

/// Places, each of which must be there, and only once.
fn distinct(ranks: impl Iterator<Item = i64>, size: usize) -> Result<Vec<usize>, Fault> {
    let mut is_named = alloc::vec![false; size];
    ranks
        .map(|rank| {
            let place = usize::try_from(rank).ok().filter(|place| *place < size).ok_or(Class::RANK)?;
            if core::mem::replace(&mut is_named[place], true) { Err(Class::RANK.into()) } else { Ok(place) }
        })
        .collect()
}
