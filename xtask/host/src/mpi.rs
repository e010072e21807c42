//! Implementations of MPI on the host, with which Atoll is compared.

use crate::programs;
use std::path::PathBuf;

/// An implementation of MPI.
#[derive(Debug, PartialEq, Eq)]
pub struct Mpi {
    /// What it is called.
    pub name: &'static str,
    /// What it is called in rows, and what distributions that have several add to the names of its programs.
    pub key: &'static str,
    /// Debian's packages of what runs programs, and of what they are built with.
    pub packages: [&'static str; 2],
}

/// MPICH.
pub const MPICH: Mpi = Mpi { name: "MPICH", key: "mpich", packages: ["mpich", "libmpich-dev"] };

/// Open MPI.
pub const OPEN_MPI: Mpi = Mpi { name: "Open MPI", key: "openmpi", packages: ["openmpi-bin", "libopenmpi-dev"] };

impl Mpi {
    /// Its compiler of C and what starts its programs, if both are among these directories.
    pub fn find(&self, directories: &[PathBuf]) -> Option<(PathBuf, PathBuf)> {
        let program = |name: &str| programs::find(&format!("{name}.{}", self.key), directories);
        Some((program("mpicc")?, program("mpirun")?))
    }
}
