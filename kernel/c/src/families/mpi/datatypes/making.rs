//! The functions that make, commit and free datatypes. Those with large counts are the same with longer numbers.

use alloc::vec::Vec;

use kernel::hal::Core;

use super::{
    super::{
        class::{Class, Fault},
        handles::Handle,
        place::Place,
        state::Here,
    },
    Combiner, DATATYPE_NULL, Datatype,
    arguments::{Number, list},
};

/// Makes a datatype: numbers in the order of the standard's tables of contents.
fn make<C: Core>(
    here: &Here<'_, '_, '_, C>,
    (combiner, is_large): (Combiner, bool),
    arguments: &[i64],
    of: &[Handle],
    new: Place<Handle>,
) -> Result<(), Fault> {
    let of = of.iter().map(|handle| here.datatypes.get(*handle)).collect::<Result<Vec<_>, _>>()?;
    let made = Datatype::create(combiner, is_large, arguments, &of)?;
    new.write(here.datatypes.add(made));
    Ok(())
}

fn wide<T: Number>(numbers: &[T]) -> impl Iterator<Item = i64> {
    numbers.iter().map(|number| number.wide())
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

pub(super) fn contiguous<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    count: T,
    of: Handle,
    new: Place<Handle>,
) -> Result<(), Fault> {
    make(here, (Combiner::Contiguous, T::IS_LARGE), &[count.wide()], &[of], new)
}

pub(super) fn vector<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    count: T,
    len: T,
    stride: T,
    of: Handle,
    new: Place<Handle>,
) -> Result<(), Fault> {
    let arguments = [count, len, stride].map(Number::wide);
    make(here, (Combiner::Vector, T::IS_LARGE), &arguments, &[of], new)
}

pub(super) fn hvector<C: Core, T: Number, A: Number>(
    here: &Here<'_, '_, '_, C>,
    count: T,
    len: T,
    stride: A,
    of: Handle,
    new: Place<Handle>,
) -> Result<(), Fault> {
    let arguments = [count.wide(), len.wide(), stride.wide()];
    make(here, (Combiner::Hvector, T::IS_LARGE), &arguments, &[of], new)
}

/// Blocks of different lengths: number, lengths and displacements.
///
/// # Safety
/// As for [`list`].
unsafe fn blocks<T: Number, A: Number>(count: T, lens: *const T, places: *const A) -> Result<Vec<i64>, Fault> {
    // SAFETY: the caller says so.
    let (lens, places) = unsafe { (list(lens, count)?, list(places, count)?) };
    Ok(core::iter::once(count.wide()).chain(wide(lens)).chain(wide(places)).collect())
}

pub(super) unsafe fn indexed<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    count: T,
    lens: *const T,
    places: *const T,
    of: Handle,
    new: Place<Handle>,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe { make(here, (Combiner::Indexed, T::IS_LARGE), &blocks(count, lens, places)?, &[of], new) }
}

pub(super) unsafe fn hindexed<C: Core, T: Number, A: Number>(
    here: &Here<'_, '_, '_, C>,
    count: T,
    lens: *const T,
    places: *const A,
    of: Handle,
    new: Place<Handle>,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe { make(here, (Combiner::Hindexed, T::IS_LARGE), &blocks(count, lens, places)?, &[of], new) }
}

/// Blocks of one length.
///
/// # Safety
/// As for [`list`].
unsafe fn equal_blocks<T: Number, A: Number>(count: T, len: T, places: *const A) -> Result<Vec<i64>, Fault> {
    // SAFETY: the caller says so.
    let places = unsafe { list(places, count)? };
    Ok([count.wide(), len.wide()].into_iter().chain(wide(places)).collect())
}

pub(super) unsafe fn indexed_block<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    count: T,
    len: T,
    places: *const T,
    of: Handle,
    new: Place<Handle>,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe { make(here, (Combiner::IndexedBlock, T::IS_LARGE), &equal_blocks(count, len, places)?, &[of], new) }
}

pub(super) unsafe fn hindexed_block<C: Core, T: Number, A: Number>(
    here: &Here<'_, '_, '_, C>,
    count: T,
    len: T,
    places: *const A,
    of: Handle,
    new: Place<Handle>,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe { make(here, (Combiner::HindexedBlock, T::IS_LARGE), &equal_blocks(count, len, places)?, &[of], new) }
}

pub(super) unsafe fn structure<C: Core, T: Number, A: Number>(
    here: &Here<'_, '_, '_, C>,
    count: T,
    lens: *const T,
    places: *const A,
    of: *const Handle,
    new: Place<Handle>,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let of = list(of, count)?;
        make(here, (Combiner::Struct, T::IS_LARGE), &blocks(count, lens, places)?, of, new)
    }
}

#[expect(clippy::too_many_arguments, reason = "the standard's")]
pub(super) unsafe fn subarray<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    dimensions: i32,
    sizes: *const T,
    lens: *const T,
    starts: *const T,
    order: i32,
    of: Handle,
    new: Place<Handle>,
) -> Result<(), Fault> {
    let mut arguments: Vec<_> = [dimensions.wide()].into();
    for numbers in [sizes, lens, starts] {
        // SAFETY: see above.
        arguments.extend(wide(unsafe { list(numbers, dimensions)? }));
    }
    arguments.push(order.wide());
    make(here, (Combiner::Subarray, T::IS_LARGE), &arguments, &[of], new)
}

#[expect(clippy::too_many_arguments, reason = "the standard's")]
pub(super) unsafe fn darray<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    processes: i32,
    rank: i32,
    dimensions: i32,
    sizes: *const T,
    distributions: *const i32,
    details: *const i32,
    grid: *const i32,
    order: i32,
    of: Handle,
    new: Place<Handle>,
) -> Result<(), Fault> {
    let mut arguments: Vec<_> = [processes, rank, dimensions].map(Number::wide).into();
    // SAFETY: see above.
    arguments.extend(wide(unsafe { list(sizes, dimensions)? }));
    for numbers in [distributions, details, grid] {
        // SAFETY: see above.
        arguments.extend(wide(unsafe { list(numbers, dimensions)? }));
    }
    arguments.push(order.wide());
    make(here, (Combiner::Darray, T::IS_LARGE), &arguments, &[of], new)
}

pub(super) fn resized<C: Core, A: Number>(
    here: &Here<'_, '_, '_, C>,
    of: Handle,
    lower: A,
    extent: A,
    new: Place<Handle>,
) -> Result<(), Fault> {
    make(here, (Combiner::Resized, A::IS_LARGE), &[lower.wide(), extent.wide()], &[of], new)
}

pub(super) unsafe fn dup<C: Core>(here: &Here<'_, '_, '_, C>, of: Handle, new: Place<Handle>) -> Result<(), Fault> {
    let made = Datatype::create(Combiner::Dup, false, &[], &[here.datatypes.get(of)?])?;
    let handle = here.datatypes.add(made);
    let (own, other) = (here.datatypes.attributes(of)?, here.datatypes.attributes(handle)?);
    // SAFETY: see above.
    unsafe {
        let copied = own.copy_to(of, &other);
        if copied.is_err() {
            here.datatypes.free(handle)?;
            new.write(DATATYPE_NULL);
        }
        copied?;
        new.write(handle);
        Ok(())
    }
}

pub(super) fn commit<C: Core>(here: &Here<'_, '_, '_, C>, handle: Place<Handle>) -> Result<(), Fault> {
    here.datatypes.get(handle.read())?.commit();
    Ok(())
}

pub(super) unsafe fn free<C: Core>(here: &Here<'_, '_, '_, C>, handle: Place<Handle>) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let old = handle.read();
        if here.datatypes.get(old)?.recipe().is_none() {
            return Err(Fault::new(Class::TYPE, "a predefined datatype cannot be freed"));
        }
        here.datatypes.attributes(old)?.delete_all(old)?;
        here.datatypes.free(old)?;
        handle.write(DATATYPE_NULL);
        Ok(())
    }
}
