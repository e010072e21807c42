//! Figures of *Designing Truly One-Sided MPI-2 RMA Intra-node Communication on Multi-core Systems* (Lai and Panda).

use super::figure::Figure;

pub(super) const FIGURES: &[Figure] = &[];
