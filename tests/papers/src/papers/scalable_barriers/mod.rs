//! Fröning, Giese, Montaner, Silla and Duato, *Highly Scalable Barriers for Future High-Performance Computing Clusters*.

mod barrier;
mod claims;
mod entries;
mod fft;
mod figures;
mod loads;
mod published;
mod report;
mod scaling;

use super::Paper;

pub(crate) const PAPER: Paper = Paper {
    name: "Scalable barriers",
    reference: "Fröning, Giese et al.: Highly Scalable Barriers for Future High-Performance Computing Clusters",
    benches: &[loads::LOADS, fft::FFT, fft::FFT_NODES, barrier::BARRIER, barrier::BARRIER_NODES],
    entries: entries::ENTRIES,
    figures: figures::FIGURES,
};
