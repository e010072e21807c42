//! The table of what the C side asks for: one function for each function of MPI, as the lists of `kernel/c/mpi/include/atoll`
//! have them, entry by entry.

use kernel::hal::Core;

use super::{calls, datatypes, windows};

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
