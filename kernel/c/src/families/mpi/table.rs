//! The table of what the C side asks for: one function for each function of MPI, as the lists of `kernel/c/mpi/include/atoll`
//! have them, entry by entry.

use core::ffi::c_void;

use kernel::hal::Core;

use super::{Mpi, calls, class::Fault, datatypes, errors, windows};
use crate::session::{Session, with};

/// Where a function of MPI is called.
pub(crate) struct Here<'h, 's, 'r, C: Core> {
    pub(crate) session: &'h Session<'s, 'r, C>,
    mpi: &'h Mpi<'r, C>,
}

impl<'r, C: Core> core::ops::Deref for Here<'_, '_, 'r, C> {
    type Target = Mpi<'r, C>;

    fn deref(&self) -> &Mpi<'r, C> {
        self.mpi
    }
}

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
                            $crate::families::mpi::table::call::<C>(context, stringify!($name), |here| {
                                $crate::families::mpi::table::table!(
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

/// The table.
#[repr(C)]
pub(crate) struct Table {
    bytes: u32,
    core: calls::Table,
    types: datatypes::calls::Table,
    windows: windows::calls::Table,
}

impl Table {
    /// The table for ranks on cores of this type.
    pub(crate) fn of<C: Core>() -> Self {
        Self {
            bytes: size_of::<Self>() as u32,
            core: calls::Table::of::<C>(),
            types: datatypes::calls::Table::of::<C>(),
            windows: windows::calls::Table::of::<C>(),
        }
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
            let mpi = session.families.mpi.get_or_init(|| Mpi::new(session.comm));
            let here = Here { session, mpi };
            match function(&here) {
                Ok(()) => 0,
                Err(fault) => errors::raise(&here, name, fault),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        string::{String, ToString},
        vec::Vec,
    };

    use super::*;

    /// What a list of the C side says: names in small letters, and how many arguments.
    fn listed(text: &str) -> Vec<(String, usize)> {
        let mut calls: Vec<String> = Vec::new();
        for line in text.lines() {
            if line.starts_with("CALL") || line.starts_with("SERVICE") {
                calls.push(line.into());
            } else if let (Some(call), true) = (calls.last_mut(), line.starts_with("    ")) {
                call.push_str(line);
            }
        }
        let parts = |call: &String| {
            let (_, call) = call.split_once('(').unwrap();
            let call = call.rsplit_once(')').unwrap().0;
            let (name, rest) = call.split_once(',').unwrap_or((call, ""));
            let names = rest.rsplit_once("),").map_or("", |(_, names)| names);
            (name.trim().to_lowercase(), names.split(',').filter(|name| !name.trim().is_empty()).count())
        };
        calls.iter().map(parts).collect()
    }

    fn named(functions: &[(&str, usize)]) -> Vec<(String, usize)> {
        functions.iter().map(|(name, arguments)| ((*name).to_string(), *arguments)).collect()
    }

    #[test]
    fn both_sides_have_the_same_table() {
        let core = listed(include_str!("../../../mpi/include/atoll/mpi_core.h"));
        assert!(core.len() > 10);
        assert_eq!(core, named(calls::Table::FUNCTIONS));
        let windows = listed(include_str!("../../../mpi/include/atoll/mpi_windows.h"));
        assert_eq!(windows, named(windows::calls::Table::FUNCTIONS));
        let types = listed(include_str!("../../../mpi/include/atoll/mpi_types.h"));
        assert_eq!(types, named(datatypes::calls::Table::FUNCTIONS));
    }
}
