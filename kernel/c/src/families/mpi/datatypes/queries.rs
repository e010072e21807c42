//! The functions that tell of datatypes.

use core::ffi::c_char;

use kernel::hal::Core;

use super::{
    super::{
        attributes::Of,
        class::{Class, Fault},
        errors::{read_name, write_name},
        handles::Handle,
        place::{Place, give_list},
        state::Here,
        status::Status,
    },
    Combiner, DATATYPE_NULL,
    arguments::{Number, give_number},
    datatype::Recipe,
};

/// Types of each class by their size, as the ABI numbers classes.
const BY_SIZE: [(i32, &[(i32, Handle)]); 4] = [
    (191, &[(1, 0x2C0), (2, 0x2C8), (4, 0x2D0), (8, 0x2D8), (16, 0x2E0)]),
    (192, &[(1, 0x2C1), (2, 0x2C9), (4, 0x2D1), (8, 0x2D9), (16, 0x2E1)]),
    (193, &[(2, 0x2CA), (4, 0x2D2), (8, 0x2DA), (16, 0x2E2)]),
    (194, &[(4, 0x2D3), (8, 0x2DB), (16, 0x2E3), (32, 0x2EB)]),
];

/// Types of a value and of its index, and of both.
const PAIRS: [[Handle; 3]; 9] = [
    [0x210, 0x209, 0x228],
    [0x214, 0x209, 0x229],
    [0x20A, 0x209, 0x22A],
    [0x209, 0x209, 0x22B],
    [0x208, 0x209, 0x22C],
    [0x220, 0x209, 0x22D],
    [0x21A, 0x21A, 0x230],
    [0x21C, 0x21C, 0x231],
    [0x219, 0x219, 0x232],
];

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

pub(super) fn size<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    size: Place<T>,
) -> Result<(), Fault> {
    give_number(size, here.datatypes.get(handle)?.size_count());
    Ok(())
}

pub(super) fn extent<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    lower: Place<T>,
    extent: Place<T>,
) -> Result<(), Fault> {
    let bounds = here.datatypes.get(handle)?.bounds();
    give_number(lower, bounds.lower);
    give_number(extent, bounds.len());
    Ok(())
}

pub(super) fn true_extent<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    lower: Place<T>,
    extent: Place<T>,
) -> Result<(), Fault> {
    let bounds = here.datatypes.get(handle)?.true_bounds();
    give_number(lower, bounds.lower);
    give_number(extent, bounds.len());
    Ok(())
}

pub(super) fn envelope<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    integers: Place<i32>,
    addresses: Place<i32>,
    types: Place<i32>,
    combiner: Place<i32>,
) -> Result<(), Fault> {
    let datatype = here.datatypes.get(handle)?;
    if datatype.recipe().is_some_and(Recipe::is_large) {
        return Err(Fault::new(Class::TYPE, "the datatype was made with large counts: ask by MPI_Type_get_envelope_c"));
    }
    envelope_c(here, handle, integers, addresses, None, types, combiner)
}

pub(super) fn envelope_c<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    integers: Place<T>,
    addresses: Place<T>,
    large_counts: Option<Place<T>>,
    types: Place<T>,
    combiner: Place<i32>,
) -> Result<(), Fault> {
    let datatype = here.datatypes.get(handle)?;
    let contents = datatype.recipe().map(Recipe::contents).unwrap_or_default();
    give_number(integers, contents.integers.len() as i64);
    give_number(addresses, contents.addresses.len() as i64);
    if let Some(large_counts) = large_counts {
        give_number(large_counts, contents.large_counts.len() as i64);
    }
    give_number(types, datatype.recipe().map_or(0, |recipe| recipe.types().len()) as i64);
    combiner.write(datatype.recipe().map_or(Combiner::Named, Recipe::combiner) as i32);
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "the standard's")]
pub(super) unsafe fn contents<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    most_integers: i32,
    most_addresses: i32,
    most_types: i32,
    integers: *mut i32,
    addresses: *mut isize,
    types: *mut Handle,
) -> Result<(), Fault> {
    let datatype = here.datatypes.get(handle)?;
    if datatype.recipe().is_some_and(Recipe::is_large) {
        return Err(Fault::new(Class::TYPE, "the datatype was made with large counts: ask by MPI_Type_get_contents_c"));
    }
    let most = [most_integers, most_addresses, 0, most_types].map(Number::wide);
    // SAFETY: see above.
    unsafe { give_contents(here, handle, most, integers, addresses, core::ptr::null_mut(), types) }
}

#[expect(clippy::too_many_arguments, reason = "the standard's")]
pub(super) unsafe fn contents_c<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    most_integers: i64,
    most_addresses: i64,
    most_large_counts: i64,
    most_types: i64,
    integers: *mut i32,
    addresses: *mut isize,
    large_counts: *mut i64,
    types: *mut Handle,
) -> Result<(), Fault> {
    let most = [most_integers, most_addresses, most_large_counts, most_types];
    // SAFETY: see above.
    unsafe { give_contents(here, handle, most, integers, addresses, large_counts, types) }
}

unsafe fn give_contents<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    most: [i64; 4],
    integers: *mut i32,
    addresses: *mut isize,
    large_counts: *mut i64,
    types: *mut Handle,
) -> Result<(), Fault> {
    let datatype = here.datatypes.get(handle)?;
    let Some(recipe) = datatype.recipe() else {
        return Err(Fault::new(Class::TYPE, "a predefined datatype is made of nothing"));
    };
    let contents = recipe.contents();
    let lens = [contents.integers.len(), contents.addresses.len(), contents.large_counts.len(), recipe.types().len()];
    if lens.iter().zip(most).any(|(len, most)| (*len as i64) > most) {
        return Err(Fault::new(Class::ARG, "the lists are shorter than MPI_Type_get_envelope says"));
    }
    // A predefined type is itself; others are new ones, to be freed.
    let handle_of = |of: &alloc::rc::Rc<super::Datatype>| {
        if of.recipe().is_none() { of.handle() } else { here.datatypes.add(of.again()) }
    };
    // SAFETY: see above.
    unsafe {
        give_list(integers, contents.integers.iter().copied())?;
        give_list(addresses, contents.addresses.iter().copied())?;
        give_list(large_counts, contents.large_counts.iter().copied())?;
        give_list(types, recipe.types().iter().map(handle_of))
    }
}

pub(super) unsafe fn get_name<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    name: Place<c_char>,
    len: Place<i32>,
) -> Result<(), Fault> {
    let own = if handle == DATATYPE_NULL { c"MPI_DATATYPE_NULL".into() } else { here.datatypes.name(handle)? };
    // SAFETY: see above; a name has room for as many bytes.
    unsafe { write_name(&own, name, len) };
    Ok(())
}

pub(super) unsafe fn set_name<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    name: *const c_char,
) -> Result<(), Fault> {
    // SAFETY: see above.
    let name = unsafe { read_name(name)? };
    Ok(here.datatypes.set_name(handle, name)?)
}

pub(super) fn match_size<C: Core>(
    _: &Here<'_, '_, '_, C>,
    class: i32,
    size: i32,
    handle: Place<Handle>,
) -> Result<(), Fault> {
    let of_class = BY_SIZE.iter().find(|(of, _)| *of == class).map(|(_, all)| *all);
    let of_class = of_class.ok_or_else(|| Fault::new(Class::ARG, "there is no such class of datatypes"))?;
    let found = of_class.iter().find(|(of, _)| *of == size).map(|(_, handle)| *handle);
    let found = found.ok_or_else(|| Fault::new(Class::ARG, "no datatype of the class has this size"))?;
    handle.write(found);
    Ok(())
}

pub(super) fn value_index<C: Core>(
    here: &Here<'_, '_, '_, C>,
    value: Handle,
    index: Handle,
    pair: Place<Handle>,
) -> Result<(), Fault> {
    here.datatypes.get(value)?;
    here.datatypes.get(index)?;
    let found = PAIRS.iter().find(|[of, by, _]| (*of, *by) == (value, index));
    pair.write(found.map_or(DATATYPE_NULL, |[.., pair]| *pair));
    Ok(())
}

/// Basic values in what was received, or `MPI_UNDEFINED` if one of them is not whole.
pub(super) fn elements<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    status: Place<Status>,
    handle: Handle,
    elements: Place<T>,
) -> Result<(), Fault> {
    let datatype = here.datatypes.get(handle)?;
    match datatype.elements_in(status.read().len_bytes() as i64) {
        (found, true) => give_number(elements, found),
        (_, false) => elements.write(T::undefined()),
    }
    Ok(())
}

pub(super) unsafe fn set_attr<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    key: i32,
    value: usize,
) -> Result<(), Fault> {
    let attributes = here.datatypes.attributes(handle)?;
    // SAFETY: see above.
    unsafe { attributes.set(&here.keys, (Of::Datatype, handle), key, value) }
}

pub(super) fn get_attr<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    key: i32,
    value: Place<usize>,
    flag: Place<i32>,
) -> Result<(), Fault> {
    let found = here.datatypes.attributes(handle)?.get(&here.keys, Of::Datatype, key)?;
    flag.write(found.is_some().into());
    found.into_iter().for_each(|found| value.write(found));
    Ok(())
}

pub(super) unsafe fn delete_attr<C: Core>(here: &Here<'_, '_, '_, C>, handle: Handle, key: i32) -> Result<(), Fault> {
    let attributes = here.datatypes.attributes(handle)?;
    // SAFETY: see above.
    unsafe { attributes.delete(&here.keys, (Of::Datatype, handle), key) }
}
