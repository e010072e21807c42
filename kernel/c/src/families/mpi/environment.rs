//! Beginning and end, and what there is around a program.

use core::ffi::{c_char, c_void};

use kernel::hal::Core;

use super::{
    class::{Class, Fault},
    errors::{ARE_FATAL, write_text},
    place::Place,
    state::{Here, Phase},
};

/// `MPI_THREAD_SINGLE` and the level that there is, `MPI_THREAD_FUNNELED`.
const SINGLE: i32 = 0;
const FUNNELED: i32 = 1024;

/// The version of the standard.
const VERSION: [i32; 2] = [5, 0];

/// Bytes of the longest texts, with their ends.
const PROCESSOR_BYTES: usize = 256;
const LIBRARY_BYTES: usize = 8192;

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

/// Opens what all of MPI goes over, if nothing has opened it before: then it is collective over all ranks.
pub(super) fn open<C: Core>(here: &Here<'_, '_, '_, C>) -> Result<(), Fault> {
    here.session.before_waiting();
    if here.messages.borrow().is_none() {
        *here.messages.borrow_mut() = Some(here.world.open_messages()?);
        here.drive_tasks();
    }
    if here.first.borrow().is_none() {
        here.make_first();
    }
    Ok(())
}

/// Refuses what is called before that.
pub(super) fn check_open<C: Core>(here: &Here<'_, '_, '_, C>) -> Result<(), Fault> {
    if here.messages.borrow().is_some() {
        Ok(())
    } else {
        Err(Fault::new(Class::OTHER, "call MPI_Init or MPI_Session_init first"))
    }
}

pub(super) unsafe fn init_thread<C: Core>(
    here: &Here<'_, '_, '_, C>,
    _argument_count: *mut i32,
    _arguments: *mut c_void,
    wanted: i32,
    provided: Option<Place<i32>>,
) -> Result<(), Fault> {
    if here.phase.get() != Phase::Before {
        return Err(Fault::new(Class::OTHER, "MPI begins once"));
    }
    open(here)?;
    here.phase.set(Phase::Running);
    here.thread_level.set(wanted.clamp(SINGLE, FUNNELED));
    if let Some(provided) = provided {
        provided.write(here.thread_level.get());
    }
    Ok(())
}

pub(super) unsafe fn init<C: Core>(
    here: &Here<'_, '_, '_, C>,
    argument_count: *mut i32,
    arguments: *mut c_void,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe { init_thread(here, argument_count, arguments, SINGLE, None) }
}

pub(super) unsafe fn finalize<C: Core>(here: &Here<'_, '_, '_, C>) -> Result<(), Fault> {
    let first = here.first.borrow().clone();
    let Some([world, own]) = first.filter(|_| here.phase.get() == Phase::Running) else {
        return Err(Fault::new(Class::OTHER, "MPI has not begun, or is over"));
    };
    here.session.before_waiting();
    // SAFETY: see above. The others wait for this rank also where a function of its program fails.
    let deleted = unsafe { own.attributes.delete_all(own.handle.get()) };
    // What is under way may be an open session's: it goes on, and the last session waits for it.
    if !here.has_sessions() {
        here.engine.finish()?;
    }
    // Messages stay open: a program may leave some that nobody wants.
    here.world.barrier();
    here.phase.set(Phase::Over);
    *here.first.borrow_mut() = None;
    let handler = if own.errhandler.get() == ARE_FATAL { &world } else { &own }.errhandler.get();
    deleted.map_err(|fault| fault.on_handler(handler))
}

pub(super) fn initialized<C: Core>(here: &Here<'_, '_, '_, C>, flag: Place<i32>) -> Result<(), Fault> {
    flag.write((here.phase.get() != Phase::Before).into());
    Ok(())
}

pub(super) fn finalized<C: Core>(here: &Here<'_, '_, '_, C>, flag: Place<i32>) -> Result<(), Fault> {
    flag.write((here.phase.get() == Phase::Over).into());
    Ok(())
}

pub(super) fn query_thread<C: Core>(here: &Here<'_, '_, '_, C>, provided: Place<i32>) -> Result<(), Fault> {
    provided.write(here.thread_level.get());
    Ok(())
}

/// A rank is one thread.
pub(super) fn is_thread_main<C: Core>(_: &Here<'_, '_, '_, C>, flag: Place<i32>) -> Result<(), Fault> {
    flag.write(1);
    Ok(())
}

/// Ends the machine, whatever the communicator.
pub(super) fn abort<C: Core>(here: &Here<'_, '_, '_, C>, _comm: usize, code: i32) -> Result<(), Fault> {
    here.session.before_waiting();
    panic!("MPI_Abort: rank {} ends the program with {code}", here.world.rank());
}

pub(super) fn get_version<C: Core>(
    _: &Here<'_, '_, '_, C>,
    version: Place<i32>,
    subversion: Place<i32>,
) -> Result<(), Fault> {
    version.write(VERSION[0]);
    subversion.write(VERSION[1]);
    Ok(())
}

pub(super) unsafe fn get_library_version<C: Core>(
    _: &Here<'_, '_, '_, C>,
    text: Place<c_char>,
    len: Place<i32>,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        write_text(concat!("Atoll ", env!("CARGO_PKG_VERSION")).as_bytes(), text.pointer(), Some(len), LIBRARY_BYTES)
    };
    Ok(())
}

pub(super) unsafe fn get_processor_name<C: Core>(
    here: &Here<'_, '_, '_, C>,
    text: Place<c_char>,
    len: Place<i32>,
) -> Result<(), Fault> {
    let core = alloc::format!("core {}", here.world.core_of(here.world.rank()).index());
    // SAFETY: see above.
    unsafe { write_text(core.as_bytes(), text.pointer(), Some(len), PROCESSOR_BYTES) };
    Ok(())
}
