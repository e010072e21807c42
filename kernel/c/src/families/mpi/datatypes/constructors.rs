//! The functions that make types of others.

use alloc::{rc::Rc, vec::Vec};

use super::{
    super::class::Class,
    arrays,
    datatype::{Blocks, Combiner, Datatype, Recipe},
};

impl Datatype {
    /// Makes a type as a function of the standard does: `arguments` are its numbers in the order of the standard's tables of
    /// contents, where a number of something comes before it.
    ///
    /// # Errors
    /// [`Class::COUNT`] for a number below zero, [`Class::ARG`] for what else is out of range, [`Class::VALUE_TOO_LARGE`] if the
    /// type were longer than 2⁶² bytes.
    pub(crate) fn create(
        combiner: Combiner,
        is_large: bool,
        arguments: &[i64],
        types: &[Rc<Self>],
    ) -> Result<Self, Class> {
        let made = make(combiner, arguments, types)?;
        Ok(made.with_recipe(Recipe::new(combiner, is_large, arguments, types)))
    }

    /// `count` values of a type, one behind the other.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub(crate) fn contiguous(of: &Rc<Self>, count: i64) -> Result<Self, Class> {
        Self::of([Blocks { displacement: 0, count: 1, stride: 0, len: count, of: of.clone() }].into())
    }

    /// Blocks of `len` values, `stride` bytes apart.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub(crate) fn strided(of: &Rc<Self>, count: i64, len: i64, stride: i64) -> Result<Self, Class> {
        Self::of([Blocks { displacement: 0, count, stride, len, of: of.clone() }].into())
    }
}

/// Blocks of different lengths, each at its displacement, which is counted in `unit`.
fn indexed(
    lens: impl Iterator<Item = i64>,
    displacements: &[i64],
    unit: i64,
    of: &Rc<Datatype>,
) -> Result<Datatype, Class> {
    let blocks = lens.zip(displacements).map(|(len, displacement)| {
        let displacement = displacement.checked_mul(unit).ok_or(Class::VALUE_TOO_LARGE)?;
        Ok(Blocks { displacement, count: 1, stride: 0, len, of: of.clone() })
    });
    Datatype::of(blocks.collect::<Result<_, Class>>()?)
}

fn make(combiner: Combiner, arguments: &[i64], types: &[Rc<Datatype>]) -> Result<Datatype, Class> {
    let of = || types.first().ok_or(Class::ARG);
    // A number of blocks, which is not below zero.
    let number = |value: i64| usize::try_from(value).map_err(|_| Class::COUNT);
    match (combiner, arguments) {
        (Combiner::Dup, []) => {
            let of = of()?;
            Ok(Datatype::contiguous(of, 1)?.committed_like(of))
        }
        (Combiner::Contiguous, [count]) => Datatype::contiguous(of()?, *count),
        (Combiner::Vector, [count, len, stride]) => {
            let stride = stride.checked_mul(of()?.extent_count()).ok_or(Class::VALUE_TOO_LARGE)?;
            Datatype::strided(of()?, *count, *len, stride)
        }
        (Combiner::Hvector, [count, len, stride]) => Datatype::strided(of()?, *count, *len, *stride),
        (Combiner::Indexed | Combiner::Hindexed, [count, rest @ ..]) => {
            let (lens, displacements) = rest.split_at_checked(number(*count)?).ok_or(Class::ARG)?;
            let unit = if combiner == Combiner::Indexed { of()?.extent_count() } else { 1 };
            indexed(lens.iter().copied(), displacements, unit, of()?)
        }
        (Combiner::IndexedBlock | Combiner::HindexedBlock, [count, len, displacements @ ..]) => {
            number(*count)?;
            if *len < 0 {
                return Err(Class::ARG);
            }
            let unit = if combiner == Combiner::IndexedBlock { of()?.extent_count() } else { 1 };
            indexed(core::iter::repeat(*len), displacements, unit, of()?)
        }
        (Combiner::Struct, [count, rest @ ..]) => {
            let (lens, displacements) = rest.split_at_checked(number(*count)?).ok_or(Class::ARG)?;
            let blocks = lens.iter().zip(displacements).zip(types).map(|((len, displacement), of)| Blocks {
                displacement: *displacement,
                count: 1,
                stride: 0,
                len: *len,
                of: of.clone(),
            });
            Datatype::of(blocks.collect::<Vec<_>>())
        }
        (Combiner::Resized, [lower, extent]) => Datatype::contiguous(of()?, 1)?.with_bounds(*lower, *extent),
        (Combiner::Subarray, arguments) => arrays::subarray(arguments, of()?),
        (Combiner::Darray, arguments) => arrays::darray(arguments, of()?),
        _ => Err(Class::ARG),
    }
}
