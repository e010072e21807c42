//! Christgau and Schnor, *Synchronization of MPI One-Sided Communication on a Non-Cache-Coherent Many-Core System* (SCOSCo).

mod design;
mod entries;
mod epochs;
mod figures;
mod published;

use super::Paper;

pub(crate) const PAPER: Paper = Paper {
    name: "SCOSCo",
    reference: "Christgau and Schnor: Synchronization of MPI One-Sided Communication on a Non-Cache-Coherent \
                Many-Core System",
    benches: &[epochs::PSCW, epochs::LATE, design::PSCW_DESIGN],
    entries: entries::ENTRIES,
    figures: figures::FIGURES,
};
