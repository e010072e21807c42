//! What is occupied, and for how long.

use crate::Values;

/// What is occupied, and for how long: where accesses meet, the later ones wait. It is part of the prices of accesses, not
/// on top of them: an access that meets no other takes the time that it takes without contention. What takes 0 is never
/// occupied, which is how one kind of contention is switched off and others are not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contention {
    /// Time in which the port of an MPB serves one read of a line, by its own core or another.
    pub mpb_port_ps: u64,
    /// Time in which it serves one write.
    pub mpb_port_write_ps: u64,
    /// Flits that wait for it at an input of a router before those behind keep more, which decides how unfair it is; at
    /// least the three of a line.
    pub input_flits: usize,
    /// Time for which a packet with data occupies each link of the mesh on its way.
    pub link_ps: u64,
    /// Time in which a memory controller serves one access to a line or a word.
    pub controller_ps: u64,
}

impl Contention {
    /// The Intel SCC's.
    ///
    /// # Panics
    /// If there is no file of it, which tests see to.
    pub fn scc() -> Self {
        Self::of(&crate::machines::MachineFile::built_in("scc").expect("there is a file of the SCC").values)
    }

    /// What a file says, of all that can be occupied.
    pub fn of(values: &Values) -> Self {
        let number = |key| values.number(key);
        Self {
            mpb_port_ps: number("contention.mpb_port_ps"),
            mpb_port_write_ps: number("contention.mpb_port_write_ps"),
            input_flits: number("contention.input_flits") as usize,
            link_ps: number("contention.link_ps"),
            controller_ps: number("contention.controller_ps"),
        }
    }
}
