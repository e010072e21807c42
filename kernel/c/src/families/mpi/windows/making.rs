//! How windows are made and freed.

use alloc::{boxed::Box, ffi::CString, rc::Rc, vec::Vec};
use core::{
    cell::{Cell, RefCell},
    ops::Range,
};

use kernel::{collectives::Placement, hal::Core};

use super::{
    Ends, Facts, Window,
    access::on_window,
    ends::{Reach, Sharing},
    part::Part,
    queries::hints_by,
    shared::Shared,
};
use crate::families::mpi::{
    attributes::Attributes,
    class::{Class, Fault},
    communicators::Communicator,
    datatypes::arguments::{Number, give_number},
    errors::ARE_FATAL,
    handles::Handle,
    place::Place,
    state::Here,
};

/// The handle of no window.
const NULL: Handle = 0x110;

/// The ABI's flavours.
const CREATE: i32 = 311;
const ALLOCATE: i32 = 312;
const DYNAMIC: i32 = 313;
const SHARED: i32 = 314;

/// The ABI's models of memory: the same to all, or not.
const UNIFIED: i32 = 321;
const SEPARATE: i32 = 322;

/// What a rank wants its part to be like.
struct Wanted {
    flavor: i32,
    base: usize,
    size: i64,
    unit: i64,
    info: Handle,
}

impl Wanted {
    fn check(&self) -> Result<(), Fault> {
        if self.size < 0 || isize::try_from(self.size).is_err() {
            return Err(Fault::new(Class::SIZE, "the size is below zero"));
        }
        if self.unit <= 0 {
            return Err(Fault::new(Class::DISP, "the unit of displacements is not above zero"));
        }
        if ![DYNAMIC, SHARED].contains(&self.flavor) && self.size > 0 && self.base == 0 {
            return Err(Fault::new(Class::BASE, "the memory is a null pointer"));
        }
        Ok(())
    }
}

/// Makes a window. Collective.
///
/// # Safety
/// The memory is there until the window is freed.
unsafe fn make<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    wanted: &Wanted,
    new: Place<Handle>,
) -> Result<(), Fault> {
    let of = here.intra(comm)?;
    // SAFETY: the caller says so.
    unsafe { make_for(here, &of, wanted, new) }.map_err(|fault| of.blame(fault))
}

/// The same for the ranks of a communicator.
///
/// # Safety
/// As for [`make`].
unsafe fn make_for<C: Core>(
    here: &Here<'_, '_, '_, C>,
    of: &Communicator,
    wanted: &Wanted,
    new: Place<Handle>,
) -> Result<(), Fault> {
    /// What a rank says whose arguments make no sense: all fail together.
    const WRONG: i64 = -1;
    here.session.before_waiting();
    let checked = wanted.check().and_then(|()| hints_by(here, wanted.info));
    let comm = here.copy(of)?;
    here.windows.answer(here)?;
    let number = here.windows.number(here.world.rank());
    let numbers = [if checked.is_ok() { wanted.size } else { WRONG }, wanted.unit, number.into()];
    let own: Vec<u8> = numbers.into_iter().flat_map(i64::to_le_bytes).collect();
    let all = here.gather_all_bytes(&comm, &own)?;
    let word = |place: usize, at: usize| all[place][8 * at..].first_chunk().map_or(0, |word| i64::from_le_bytes(*word));
    if let Some(place) = (0..comm.size()).find(|place| word(*place, 0) == WRONG) {
        here.discard(&comm);
        checked?;
        return Err(Fault::new(Class::OTHER, alloc::format!("the arguments of rank {place} make no sense")));
    }
    let hints = RefCell::new(checked?);
    let is_dynamic = wanted.flavor == DYNAMIC;
    let part = match wanted.flavor {
        DYNAMIC => Part::dynamic(),
        // There is none yet.
        SHARED => Part::fixed(0, 0, 1),
        _ => Part::fixed(wanted.base, wanted.size as usize, wanted.unit as usize),
    };
    let lens = (0..comm.size()).map(|place| word(place, 0) as usize);
    let shared = if wanted.flavor == SHARED { Some(Rc::new(share(here, &comm, lens)?)) } else { None };
    let ends = Rc::new(Ends::new(word(0, 2) as u32, part));
    if !is_dynamic && wanted.size > 0 && shared.is_none() {
        let memory = (wanted.base, wanted.size as usize);
        here.declare_memory(ends.number, here.world.rank(), memory, Some(wanted.unit as usize));
    }
    here.windows.ends.add(ends.clone());
    // Nobody calls before all have the window.
    here.barrier(&comm)?;
    let parts = (0..comm.size()).map(|place| (word(place, 0), word(place, 1)));
    let facts = Facts {
        base: Cell::new(wanted.base),
        size: wanted.size as isize,
        unit: wanted.unit as i32,
        flavor: wanted.flavor,
        model: if shared.is_some() { SEPARATE } else { UNIFIED },
    };
    let window = Window {
        parts: (!is_dynamic).then(|| parts.collect()),
        ends,
        epochs: RefCell::default(),
        facts,
        shared,
        name: RefCell::new(CString::default()),
        hints,
        errhandler: Cell::new(ARE_FATAL),
        attributes: Attributes::default(),
        open: RefCell::default(),
        alone: RefCell::default(),
        comm,
    };
    let handle = here.windows.all.borrow_mut().insert(Rc::new(window));
    new.write(handle);
    Ok(())
}

/// What brings shared memory and this rank's copy together where others reach while this rank answers them.
fn sharing<C: Core>(here: &Here<'_, '_, '_, C>) -> Sharing {
    type Meet = unsafe fn(*const (), &Shared, &[Range<usize>], Reach);
    /// # Safety
    /// There is a core of this type, and others reach these addresses.
    unsafe fn meet_at<C: Core>(hal: *const (), shared: &Shared, addresses: &[Range<usize>], reach: Reach) {
        // SAFETY: the caller says so; by the standard of MPI, the program has nothing under way that refers to what others store.
        unsafe {
            let hal = &*hal.cast::<C>();
            match reach {
                Reach::Before => shared.read_at(hal, addresses),
                Reach::Done => shared.write_at(hal, addresses),
            }
        }
    }
    let (hal, meet): (_, Meet) = (core::ptr::from_ref(here.world.hal()).cast(), meet_at::<C>);
    // SAFETY: calls are answered by the communicator of all ranks, which refers to its core.
    Box::new(move |shared, addresses, reach| unsafe { meet(hal, shared, addresses, reach) })
}

/// Shared memory for parts of these lengths. Collective.
fn share<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: &Communicator,
    lens: impl Iterator<Item = usize> + Clone,
) -> Result<Shared, Fault> {
    // All ranks know all lengths, and so fail together.
    let len = lens.clone().try_fold(0, usize::checked_add);
    let len = len.filter(|len| isize::try_from(*len).is_ok());
    let len = len.and_then(|len| Shared::region_bytes(len, comm.size())).ok_or_else(|| {
        here.discard(comm);
        Fault::new(Class::NO_MEM, "the parts of all ranks together are more than there are addresses")
    })?;
    if comm.size() == 1 {
        return Ok(Shared::new(None, lens, comm.rank));
    }
    if comm.size() < here.world.size() {
        here.discard(comm);
        let why = "shared memory is for all ranks together, or for one; MPI_Win_allocate is for any";
        return Err(Fault::new(Class::RMA_SHARED, why));
    }
    let region = here.world.share_zeroed(len, Placement::Near(here.world.core_of(0)));
    region.map(|region| Shared::new(Some(region), lens, comm.rank)).map_err(|error| {
        here.discard(comm);
        error.into()
    })
}

impl super::Windows {
    /// Answers others from now on.
    fn answer<C: Core>(&self, here: &Here<'_, '_, '_, C>) -> Result<(), Fault> {
        Ok(here.world.answer_calls(Some(self.ends.clone()))?)
    }

    /// A number that no other window has, if this rank's is the one that counts.
    fn number(&self, rank: usize) -> u32 {
        const OF_A_RANK: u32 = 1 << 20;
        let number = self.numbered.get();
        self.numbered.set(number + 1);
        rank as u32 * OF_A_RANK + number % OF_A_RANK
    }
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

pub(super) unsafe fn create<C: Core, U: Number>(
    here: &Here<'_, '_, '_, C>,
    base: *mut u8,
    size: isize,
    unit: U,
    info: Handle,
    comm: Handle,
    new: Place<Handle>,
) -> Result<(), Fault> {
    let wanted = Wanted { flavor: CREATE, base: base.expose_provenance(), size: size as i64, unit: unit.wide(), info };
    // SAFETY: the program keeps the memory until it frees the window.
    unsafe { make(here, comm, &wanted, new) }
}

/// The memory is what the C side has allocated.
pub(super) unsafe fn allocate(
    here: &Here<'_, '_, '_, impl Core>,
    base: *mut u8,
    size: isize,
    unit: isize,
    info: Handle,
    comm: Handle,
    new: Place<Handle>,
) -> Result<(), Fault> {
    let wanted =
        Wanted { flavor: ALLOCATE, base: base.expose_provenance(), size: size as i64, unit: unit as i64, info };
    // SAFETY: see above.
    unsafe { make(here, comm, &wanted, new) }.map_err(|fault| fault.of_function("win_allocate"))
}

/// A window of shared memory, of which the C side is told how much it is: it allocates as much, and [maps](map_shared) it.
pub(super) unsafe fn allocate_shared<C: Core>(
    here: &Here<'_, '_, '_, C>,
    size: isize,
    unit: isize,
    info: Handle,
    comm: Handle,
    new: Place<Handle>,
    bytes: Place<usize>,
) -> Result<(), Fault> {
    let wanted = Wanted { flavor: SHARED, base: 0, size: size as i64, unit: unit as i64, info };
    // SAFETY: see above.
    unsafe {
        make(here, comm, &wanted, new)?;
    }
    let window = here.windows.get(new.read())?;
    bytes.write(window.shared.as_ref().map_or(0, |shared| shared.len()));
    Ok(())
}

/// Takes the memory for the copy of this rank, and tells where its part is.
pub(super) unsafe fn map_shared<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    memory: *mut u8,
    base: Place<*mut u8>,
) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        here.session.before_waiting();
        let Some(shared) = window.shared.as_ref().filter(|_| !memory.is_null()) else {
            // The others have theirs.
            here.barrier(&window.comm)?;
            return Err(Fault::new(Class::NO_MEM, "no memory for the copy of a shared window"));
        };
        // SAFETY: see above.
        unsafe { shared.take(memory) };
        here.windows.ends.share(shared.clone(), sharing(here));
        let own = shared.address(window.comm.rank);
        window.facts.base.set(own.expose_provenance());
        let (size, unit) = (window.facts.size as usize, window.facts.unit as usize);
        *window.ends.part.borrow_mut() = Part::fixed(own.expose_provenance(), size, unit);
        window.declare_shared(here, shared);
        here.barrier(&window.comm)?;
        base.write(own);
        Ok(())
    })
}

/// Where this rank has another one's part, if that has any; of nobody, that of the first one that has.
pub(super) fn shared_query<C: Core, U: Number>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    rank: i32,
    size: Place<isize>,
    unit: Place<U>,
    base: Place<*mut u8>,
) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        let (Some(shared), Some(parts)) = (&window.shared, &window.parts) else {
            return Err(Fault::new(Class::RMA_FLAVOR, "the memory of the window is not shared"));
        };
        let place = match window.target(rank)? {
            Some(of_world) => window.comm.group.place(of_world),
            None => parts.iter().position(|(size, _)| *size > 0),
        };
        let part = place.map_or((0, 1), |place| parts[place]);
        let address = place.filter(|_| part.0 > 0).map_or(core::ptr::null_mut(), |place| shared.address(place));
        size.write(part.0 as isize);
        give_number(unit, part.1);
        base.write(address);
        Ok(())
    })
}

pub(super) unsafe fn create_dynamic<C: Core>(
    here: &Here<'_, '_, '_, C>,
    info: Handle,
    comm: Handle,
    new: Place<Handle>,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe { make(here, comm, &Wanted { flavor: DYNAMIC, base: 0, size: 0, unit: 1, info }, new) }
}

pub(super) unsafe fn attach<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    base: *mut u8,
    size: isize,
) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        let size = usize::try_from(size).map_err(|_| Class::SIZE)?;
        window.ends.part.borrow_mut().attach(base.expose_provenance(), size)?;
        here.declare_memory(window.ends.number, here.world.rank(), (base.addr(), size), None);
        Ok(())
    })
}

pub(super) unsafe fn detach<C: Core>(here: &Here<'_, '_, '_, C>, handle: Handle, base: *const u8) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        window.ends.part.borrow_mut().detach(base.addr())?;
        window.declare_withdrawn(here, Some(base.addr()));
        Ok(())
    })
}

/// Frees a window. Collective. Tells the C side what it has to free.
pub(super) unsafe fn free<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Place<Handle>,
    memory: Place<*mut u8>,
) -> Result<(), Fault> {
    let number = handle.read();
    let window = here.windows.get(number)?;
    here.session.before_waiting();
    on_window(here, number, |window| {
        let can_go = if window.epochs.borrow().are_over() {
            // SAFETY: see above.
            unsafe { window.attributes.delete_all(number) }
        } else {
            Err(Fault::new(Class::RMA_SYNC, "an epoch is open on the window"))
        };
        // When all are here, they have done to this part what they want to.
        here.all_or_none(
            &window.comm,
            can_go,
            "a rank has an epoch open, or could not delete what is attached to the window",
        )
    })?;
    window.declare_withdrawn(here, None);
    here.windows.ends.remove(window.ends.number);
    here.windows.all.borrow_mut().remove(number);
    if let Some(shared) = &window.shared {
        here.windows.ends.unshare(shared);
        if let Some(region) = shared.region()
            && here.world.allocating_rank()? == here.world.rank()
        {
            here.world.allocator().free(region)?;
        }
    }
    here.discard(&window.comm);
    let allocated = match (&window.shared, window.facts.flavor) {
        (Some(shared), _) => shared.address(0).expose_provenance(),
        (None, ALLOCATE) => window.facts.base.get(),
        _ => 0,
    };
    memory.write(core::ptr::with_exposed_provenance_mut(allocated));
    handle.write(NULL);
    Ok(())
}
