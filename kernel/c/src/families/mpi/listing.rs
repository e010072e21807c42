//! Lists of functions, of which tables are made.

use core::ffi::c_void;

use kernel::hal::Core;

use super::{
    class::{Fault, On},
    errors::{ARE_FATAL, calls::raise},
    handles::Handle,
    messages::Form,
    place::{Argument, Place, missing},
    state::{Here, Mpi},
};
use crate::families::with;

/// A list of functions: by their names in C, but in small letters, where they are, and their arguments; and how these are passed,
/// where that is not one by one.
macro_rules! table {
    (@call $function:path [$here:ident $($argument:ident)*]) => { $function($here, $($argument),*) };
    (@call $function:path [$here:ident $($argument:ident)*] $($passed:expr),+) => { $function($here, $($passed),+) };
    ($($name:ident = $function:path [$($argument:ident: $type:ty),* $(,)?] $(with ($($passed:expr),+))?;)*) => {
        /// A part of the table.
        #[repr(C)]
        pub(crate) struct Table {
            $($name: unsafe extern "C-unwind" fn(*mut core::ffi::c_void, $($type),*) -> i32,)*
        }

        impl Table {
            /// The part for ranks on cores of this type.
            pub(crate) fn of<C: kernel::hal::Core>() -> Self {
                $(
                    #[allow(unused_variables, clippy::too_many_arguments, reason = "they are those of MPI's functions")]
                    unsafe extern "C-unwind" fn $name<C: kernel::hal::Core>(
                        context: *mut core::ffi::c_void,
                        $($argument: $type),*
                    ) -> i32 {
                        // SAFETY: the context is what the program was given, which runs on this core; pointers are the program's, as
                        // the standard of MPI has them.
                        unsafe {
                            $crate::families::mpi::listing::call::<C>(context, stringify!($name), |here| {
                                here.refuse_missing(&[$($crate::families::mpi::listing::described($argument)),*])?;
                                $crate::families::mpi::listing::table!(
                                    @call $function [here $($argument)*] $($($passed),+)?
                                )
                            })
                        }
                    }
                )*
                Self { $($name: $name::<C>,)* }
            }

            /// Names of the functions, and how many arguments they have.
            #[cfg(test)]
            pub(crate) const FUNCTIONS: &'static [(&'static str, usize)] =
                &[$((stringify!($name), <[&str]>::len(&[$(stringify!($argument)),*])),)*];
        }
    };
}

pub(crate) use table;

/// What is looked at of an argument: whether it is a place that is not there, and what may be a handle.
type Described = (bool, Option<Handle>);

pub(crate) fn described(argument: impl Argument) -> Described {
    (argument.is_missing(), argument.handle())
}

impl<C: Core> Here<'_, '_, '_, C> {
    /// Refuses to do something for a program that has no place for what it is given.
    pub(crate) fn refuse_missing(&self, arguments: &[Described]) -> Result<(), Fault> {
        if arguments.iter().all(|(is_missing, _)| !is_missing) {
            return Ok(());
        }
        let on = arguments.iter().find_map(|(_, handle)| self.whose_errors((*handle)?));
        Err(Fault { on: on.unwrap_or(On::Nothing), ..missing() })
    }

    /// Where a request goes, in forms of a function that make one.
    ///
    /// # Safety
    /// As for [`Place::of`].
    pub(crate) unsafe fn place_of_request(
        &self,
        form: Form,
        comm: Handle,
        request: *mut Handle,
    ) -> Result<Option<Place<Handle>>, Fault> {
        if form == Form::Blocking {
            return Ok(None);
        }
        self.refuse_missing(&[(request.is_null(), Some(comm))])?;
        // SAFETY: the caller says so.
        unsafe { Place::of(request) }.map(Some)
    }

    /// The communicator, window or session that a call names, if its error handler is to hear of a missing place: not if that handler is
    /// the fatal one, which a window has until the program sets another. The error belongs to no object then, and the handler of
    /// `MPI_COMM_SELF` or `MPI_COMM_WORLD` hears of it.
    fn whose_errors(&self, handle: Handle) -> Option<On> {
        let of_comm = || Some((self.communicator(handle).ok()?.errhandler.get(), On::Comm(handle)));
        let of_window = || Some((self.windows.get(handle).ok()?.errhandler.get(), On::Window(handle)));
        let of_session = || Some((*self.sessions.borrow().get(handle)?, On::Session(handle)));
        let (handler, on) = of_comm().or_else(of_window).or_else(of_session)?;
        (handler != ARE_FATAL).then_some(on)
    }
}

/// Calls a function, and says what C gets.
///
/// # Safety
/// As for [`with`].
pub(crate) unsafe fn call<C: Core>(
    context: *mut c_void,
    name: &'static str,
    function: impl for<'h, 's, 'r> FnOnce(&Here<'h, 's, 'r, C>) -> Result<(), Fault>,
) -> i32 {
    // SAFETY: the caller says so.
    unsafe {
        with::<C, _>(context, |session| {
            let mpi = session.mpi.get_or_init(|| Mpi::new(session.comm));
            let here = Here { session, mpi };
            let waits = session.waits();
            let result = function(&here);
            if session.waits() != waits {
                // SAFETY: the function has returned, and what it has borrowed is free.
                mpi.windows.catch_up(mpi.world.hal());
            }
            match result {
                Ok(()) => 0,
                Err(fault) => raise(&here, name, fault),
            }
        })
    }
}
