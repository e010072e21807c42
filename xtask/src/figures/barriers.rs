//! Figures of *Highly Scalable Barriers for Future High-Performance Computing Clusters* (Fröning and Giese).

use super::figure::Figure;

pub(super) const FIGURES: &[Figure] = &[];
