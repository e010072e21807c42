//! Groups: the functions that a program calls.

use alloc::{rc::Rc, vec::Vec};

use kernel::hal::Core;

use super::{
    super::{
        class::{Class, Fault},
        constants::{GROUP_NULL, PROC_NULL, UNDEFINED},
        handles::Handle,
        place::{Place, give_list, values},
        state::Here,
    },
    Group, distinct, places,
};

/// Handles that are always there.
const EMPTY: Handle = 0x109;

impl<C: Core> Here<'_, '_, '_, C> {
    /// The group of a handle.
    pub(crate) fn group(&self, handle: Handle) -> Result<Rc<Group>, Fault> {
        match handle {
            EMPTY => Ok(Group::new([])),
            _ => self.groups.borrow().get(handle).cloned().ok_or_else(|| Class::GROUP.into()),
        }
    }

    /// A handle of a group.
    pub(crate) fn new_group(&self, group: Rc<Group>) -> Handle {
        if group.size() == 0 { EMPTY } else { self.groups.borrow_mut().insert(group) }
    }
}

/// The places that ranges of a first one, a last one and a stride name.
///
/// # Safety
/// There are so many ranges.
unsafe fn ranges(count: i32, ranges: *const [i32; 3], size: usize) -> Result<Vec<usize>, Fault> {
    let count = usize::try_from(count).map_err(|_| Class::ARG)?;
    // SAFETY: the caller says so.
    let ranges = unsafe { values(count, ranges)? };
    let ranges = ranges.iter().map(|range| range.map(i64::from));
    if ranges.clone().any(|[first, last, stride]| stride == 0 || (last - first).signum() == -stride.signum()) {
        return Err(Class::ARG.into());
    }
    // However many a range names, those that are not there end it.
    let all =
        ranges.flat_map(|[first, last, stride]| (0..=(last - first) / stride).map(move |index| first + index * stride));
    distinct(all, size)
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

pub(crate) fn group_size<C: Core>(here: &Here<'_, '_, '_, C>, group: Handle, size: Place<i32>) -> Result<(), Fault> {
    let group = here.group(group)?;
    size.write(group.size() as i32);
    Ok(())
}

pub(crate) fn group_rank<C: Core>(here: &Here<'_, '_, '_, C>, group: Handle, rank: Place<i32>) -> Result<(), Fault> {
    let place = here.group(group)?.place(here.world.rank());
    rank.write(place.map_or(UNDEFINED, |place| place as i32));
    Ok(())
}

pub(crate) unsafe fn group_translate_ranks<C: Core>(
    here: &Here<'_, '_, '_, C>,
    group: Handle,
    count: i32,
    ranks: *const i32,
    other: Handle,
    translated: *mut i32,
) -> Result<(), Fault> {
    let (group, other) = (here.group(group)?, here.group(other)?);
    if count < 0 {
        return Err(Class::ARG.into());
    }
    let translate = |rank| match usize::try_from(rank) {
        Ok(place) if place < group.size() => {
            Ok(other.place(group.world_rank(place)).map_or(UNDEFINED, |place| place as i32))
        }
        Err(_) if rank == PROC_NULL => Ok(PROC_NULL),
        _ => Err(Class::RANK),
    };
    // SAFETY: see above.
    let ranks = unsafe { values(count as usize, ranks)? };
    let found: Vec<_> = ranks.iter().copied().map(translate).collect::<Result<_, _>>()?;
    // SAFETY: see above.
    unsafe { give_list(translated, found.into_iter()) }
}

pub(crate) fn group_compare<C: Core>(
    here: &Here<'_, '_, '_, C>,
    group: Handle,
    other: Handle,
    result: Place<i32>,
) -> Result<(), Fault> {
    let compared = here.group(group)?.compare(&*here.group(other)?);
    result.write(compared);
    Ok(())
}

/// Makes a group of two.
fn combined<C: Core>(
    here: &Here<'_, '_, '_, C>,
    (group, other, made): (Handle, Handle, Place<Handle>),
    combine: impl FnOnce(&Group, &Group) -> Vec<usize>,
) -> Result<(), Fault> {
    let ranks = combine(&*here.group(group)?, &*here.group(other)?);
    made.write(here.new_group(Group::new(ranks)));
    Ok(())
}

pub(crate) fn group_union<C: Core>(
    here: &Here<'_, '_, '_, C>,
    group: Handle,
    other: Handle,
    made: Place<Handle>,
) -> Result<(), Fault> {
    let union = |one: &Group, other: &Group| {
        let more = other.ranks.iter().filter(|rank| one.place(**rank).is_none());
        one.ranks.iter().chain(more).copied().collect()
    };
    combined(here, (group, other, made), union)
}

pub(crate) fn group_intersection<C: Core>(
    here: &Here<'_, '_, '_, C>,
    group: Handle,
    other: Handle,
    made: Place<Handle>,
) -> Result<(), Fault> {
    let both =
        |one: &Group, other: &Group| one.ranks.iter().filter(|rank| other.place(**rank).is_some()).copied().collect();
    combined(here, (group, other, made), both)
}

pub(crate) fn group_difference<C: Core>(
    here: &Here<'_, '_, '_, C>,
    group: Handle,
    other: Handle,
    made: Place<Handle>,
) -> Result<(), Fault> {
    let rest =
        |one: &Group, other: &Group| one.ranks.iter().filter(|rank| other.place(**rank).is_none()).copied().collect();
    combined(here, (group, other, made), rest)
}

/// Makes a group of those at these places of another, or of all others.
fn chosen<C: Core>(here: &Here<'_, '_, '_, C>, group: &Group, places: &[usize], made: Place<Handle>, are_in: bool) {
    let ranks: Vec<_> = if are_in {
        places.iter().map(|place| group.world_rank(*place)).collect()
    } else {
        let mut is_out = alloc::vec![false; group.size()];
        places.iter().for_each(|place| is_out[*place] = true);
        group.ranks.iter().zip(is_out).filter(|(_, is_out)| !is_out).map(|(rank, _)| *rank).collect()
    };
    made.write(here.new_group(Group::new(ranks)));
}

macro_rules! choosing {
    ($($name:ident by $places:ident of $type:ty, $are_in:literal;)*) => {
        $(pub(crate) unsafe fn $name<C: Core>(
            here: &Here<'_, '_, '_, C>,
            group: Handle,
            count: i32,
            named: *const $type,
            made: Place<Handle>,
        ) -> Result<(), Fault> {
            let group = here.group(group)?;
            // SAFETY: see above.
            let places = unsafe { $places(count, named, group.size())? };
            chosen(here, &group, &places, made, $are_in);
            Ok(())
        })*
    };
}

choosing! {
    group_incl by places of i32, true;
    group_excl by places of i32, false;
    group_range_incl by ranges of [i32; 3], true;
    group_range_excl by ranges of [i32; 3], false;
}

pub(crate) fn group_free<C: Core>(here: &Here<'_, '_, '_, C>, group: Place<Handle>) -> Result<(), Fault> {
    let handle = group.read();
    if handle != EMPTY {
        here.groups.borrow_mut().remove(handle).ok_or(Class::GROUP)?;
    }
    group.write(GROUP_NULL);
    Ok(())
}
