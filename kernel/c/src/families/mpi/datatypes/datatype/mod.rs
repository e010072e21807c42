//! A type: what it is made of, and its bounds.
//!
//! A type is a list of basic values and of where they are, its *typemap*, which the standard's section on derived types
//! defines everything by. Nobody writes typemaps down: a type is blocks of another type, and so on.

mod flat;
mod recipe;

use alloc::{rc::Rc, vec::Vec};
use core::cell::{Cell, OnceCell};

use super::{
    super::class::Class,
    basics::{Basic, Group, LOWER_BOUND, UPPER_BOUND},
};

#[cfg(test)]
pub(crate) use self::recipe::Contents;
pub(crate) use self::{
    flat::Flat,
    recipe::{Combiner, Recipe},
};

/// `count` times `len` values of a type behind each other, from one displacement on, a stride apart.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    /// Where the first block begins, in bytes.
    pub(crate) displacement: i64,
    /// Number of blocks.
    pub(crate) count: i64,
    /// Bytes from one block's start to the next one's.
    pub(crate) stride: i64,
    /// Values in each.
    pub(crate) len: i64,
    /// Their type.
    pub(crate) of: Rc<Datatype>,
}

/// What a type is made of.
#[derive(Clone, Debug)]
pub(crate) enum Made {
    /// A basic type.
    Basic(&'static Basic),
    /// Blocks, in the typemap's order.
    Blocks(Vec<Blocks>),
}

/// The first and the last byte of something, the last not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The first.
    pub(crate) lower: i64,
    /// The one behind the last.
    pub(crate) upper: i64,
}

impl Bounds {
    fn and(self, other: Self) -> Self {
        Self { lower: self.lower.min(other.lower), upper: self.upper.max(other.upper) }
    }

    /// Bytes between them.
    pub(crate) fn len(self) -> i64 {
        self.upper - self.lower
    }

    /// The bounds of blocks, of which each value has these.
    fn of_blocks(self, blocks: &Blocks, extent: i64) -> Result<Self, Class> {
        let last = |count: i64, stride: i64| (count - 1).checked_mul(stride);
        let (block, value) = (last(blocks.count, blocks.stride), last(blocks.len, extent));
        let (Some(block), Some(value)) = (block, value) else { return Err(Class::VALUE_TOO_LARGE) };
        let place = |edge: i64, block: i64, value: i64| {
            edge.checked_add(blocks.displacement)?.checked_add(block)?.checked_add(value)
        };
        let lower = place(self.lower, block.min(0), value.min(0));
        let upper = place(self.upper, block.max(0), value.max(0));
        lower.zip(upper).map(|(lower, upper)| Self { lower, upper }).ok_or(Class::VALUE_TOO_LARGE)
    }
}

/// A type.
#[derive(Debug)]
pub(crate) struct Datatype {
    made: Made,
    size: i64,
    elements: i64,
    /// The bounds that somebody has set, by a mark or by resizing, if anybody has.
    lower: Option<i64>,
    upper: Option<i64>,
    /// Where its data are, if there are any.
    data: Option<Bounds>,
    alignment: i64,
    /// The one basic type that all its values are of, if there is one.
    only: Option<&'static Basic>,
    /// How it was made, if it is not a basic type.
    recipe: Option<Recipe>,
    committed: Cell<bool>,
    handle: Cell<usize>,
    flat: OnceCell<Flat>,
}

impl Datatype {
    /// A basic type.
    pub(crate) fn of_basic(basic: &'static Basic) -> Self {
        let upper = basic.true_extent() as i64;
        let elements = match basic.group {
            Group::Pair => 2,
            _ if upper == 0 => 0,
            _ => 1,
        };
        Self {
            made: Made::Basic(basic),
            size: basic.size() as i64,
            elements,
            lower: (basic.handle == LOWER_BOUND).then_some(0),
            upper: (basic.handle == UPPER_BOUND).then_some(0),
            data: (upper > 0).then_some(Bounds { lower: 0, upper }),
            alignment: basic.alignment() as i64,
            only: Some(basic),
            recipe: None,
            committed: Cell::new(true),
            handle: Cell::new(basic.handle),
            flat: OnceCell::new(),
        }
    }

    /// A type of blocks.
    ///
    /// # Errors
    /// [`Class::COUNT`] for a number below zero, [`Class::VALUE_TOO_LARGE`] if it is longer than numbers are.
    pub(crate) fn of(mut blocks: Vec<Blocks>) -> Result<Self, Class> {
        if blocks.iter().any(|blocks| blocks.count < 0 || blocks.len < 0) {
            return Err(Class::COUNT);
        }
        blocks.retain(|blocks| blocks.count > 0 && blocks.len > 0);
        let (mut size, mut elements) = (0, 0);
        let (mut lower, mut upper, mut data): (Option<Bounds>, Option<Bounds>, Option<Bounds>) = (None, None, None);
        let mut with_values = blocks.iter().filter(|blocks| blocks.of.elements > 0);
        let first = with_values.next().and_then(|blocks| blocks.of.only);
        let only = first.filter(|_| with_values.all(|blocks| blocks.of.only == first));
        let mut alignment = 1;
        for part in &blocks {
            let of = &part.of;
            let number = part.count.checked_mul(part.len).ok_or(Class::VALUE_TOO_LARGE)?;
            size =
                of.size.checked_mul(number).and_then(|bytes| bytes.checked_add(size)).ok_or(Class::VALUE_TOO_LARGE)?;
            elements += of.elements * number;
            let grow = |old: Option<Bounds>, one: Option<Bounds>| -> Result<Option<Bounds>, Class> {
                let Some(one) = one else { return Ok(old) };
                let all = one.of_blocks(part, of.extent_count())?;
                Ok(Some(old.map_or(all, |old| old.and(all))))
            };
            let set = |bound: Option<i64>| bound.map(|bound| Bounds { lower: bound, upper: bound });
            lower = grow(lower, set(of.lower))?;
            upper = grow(upper, set(of.upper))?;
            data = grow(data, of.data)?;
            alignment = alignment.max(of.alignment);
        }
        if data.is_some_and(|data| data.lower.checked_add(i64::MAX / 2).is_some_and(|most| data.upper > most)) {
            return Err(Class::VALUE_TOO_LARGE);
        }
        Ok(Self {
            made: Made::Blocks(blocks),
            size,
            elements,
            lower: lower.map(|bounds| bounds.lower),
            upper: upper.map(|bounds| bounds.upper),
            data,
            alignment,
            only,
            recipe: None,
            committed: Cell::new(false),
            handle: Cell::new(0),
            flat: OnceCell::new(),
        })
    }

    /// The same with bounds that are set.
    pub(crate) fn with_bounds(self, lower: i64, extent: i64) -> Result<Self, Class> {
        let upper = lower.checked_add(extent).ok_or(Class::VALUE_TOO_LARGE)?;
        Ok(Self { lower: Some(lower), upper: Some(upper), ..self })
    }

    /// The same, with how it was made.
    pub(crate) fn with_recipe(self, recipe: Recipe) -> Self {
        Self { recipe: Some(recipe), ..self }
    }

    /// Makes it usable in communication: flattens it.
    pub(crate) fn commit(&self) {
        self.committed.set(true);
        let _ = self.flat();
    }

    /// The same, committed if `like` is.
    pub(crate) fn committed_like(self, like: &Self) -> Self {
        self.committed.set(like.committed.get());
        self
    }

    /// Whether it is usable in communication.
    pub(crate) fn is_committed(&self) -> bool {
        self.committed.get()
    }

    /// The runs of bytes that it has.
    pub(crate) fn flat(&self) -> &Flat {
        self.flat.get_or_init(|| Flat::of(self))
    }

    /// Whether it is a basic type, or a duplicate of one.
    pub(crate) fn is_basic(&self) -> bool {
        match (&self.made, &self.recipe) {
            (Made::Basic(_), _) => true,
            (Made::Blocks(blocks), Some(recipe)) if recipe.combiner() == Combiner::Dup => {
                blocks.iter().all(|blocks| blocks.of.is_basic())
            }
            _ => false,
        }
    }

    /// What it is made of.
    pub(crate) fn made(&self) -> &Made {
        &self.made
    }

    /// How it was made; `None` for a basic type.
    pub(crate) fn recipe(&self) -> Option<&Recipe> {
        self.recipe.as_ref()
    }

    /// Bytes of its values, which may be more than the machine has addresses.
    pub(crate) fn size_count(&self) -> i64 {
        self.size
    }

    /// Bytes of its values.
    pub(crate) fn size(&self) -> usize {
        usize::try_from(self.size).unwrap_or(usize::MAX)
    }

    /// Bytes of so many of them.
    ///
    /// # Errors
    /// [`Class::COUNT`] if there is no room for them in any memory.
    pub(crate) fn size_of(&self, number: usize) -> Result<usize, Class> {
        let bytes = number.checked_mul(self.size()).filter(|bytes| isize::try_from(*bytes).is_ok());
        bytes.ok_or(Class::COUNT)
    }

    /// Basic values in it; a pair is two.
    pub(crate) fn elements(&self) -> i64 {
        self.elements
    }

    /// The basic type that all its values are of, if there is one: what operators work on.
    pub(crate) fn basic(&self) -> Option<&'static Basic> {
        self.only
    }

    /// Whether values of the two cannot be the same: each has one basic type, and they are two. Bytes go with all.
    pub(crate) fn differs(&self, other: &Self) -> bool {
        let (Some(one), Some(two)) = (self.only, other.only) else { return false };
        one.handle != two.handle && ![one, two].iter().any(|basic| basic.is_raw())
    }

    /// Its lower and upper bound: those that were set, or those of the data, up to where the next value is aligned.
    pub(crate) fn bounds(&self) -> Bounds {
        let data = self.true_bounds();
        let lower = self.lower.unwrap_or(data.lower);
        let upper = self.upper.unwrap_or_else(|| data.upper + (lower - data.upper).rem_euclid(self.alignment));
        Bounds { lower, upper }
    }

    /// Bytes from one value to the next.
    pub(crate) fn extent_count(&self) -> i64 {
        self.bounds().len()
    }

    /// Bytes from one value to the next.
    pub(crate) fn extent(&self) -> isize {
        self.extent_count() as isize
    }

    /// Where its data begin.
    pub(crate) fn true_lower_bound(&self) -> isize {
        self.true_bounds().lower as isize
    }

    /// Bytes from the start of its data to their end.
    pub(crate) fn true_extent(&self) -> usize {
        self.true_bounds().len() as usize
    }

    /// Whether values are bytes from the address on, without a gap.
    pub(crate) fn is_contiguous(&self) -> bool {
        matches!(self.flat().contiguous(2), Some((0, _)))
    }

    /// The handle that it has first got; 0 if none.
    pub(crate) fn handle(&self) -> usize {
        self.handle.get()
    }

    /// Notes the handle that it has got.
    pub(crate) fn note_handle(&self, handle: usize) {
        self.handle.set(handle);
    }

    /// Another one like this.
    pub(crate) fn again(&self) -> Self {
        Self {
            made: self.made.clone(),
            recipe: self.recipe.clone(),
            committed: self.committed.clone(),
            handle: Cell::new(0),
            flat: OnceCell::new(),
            ..*self
        }
    }

    /// Where its data are.
    pub(crate) fn true_bounds(&self) -> Bounds {
        self.data.unwrap_or(Bounds { lower: 0, upper: 0 })
    }
}
