//! Lai and Panda, *Designing Truly One-Sided MPI-2 RMA Intra-node Communication on Multi-core Systems*.

mod entries;
mod figures;
mod transfers;
mod wave;

use super::Paper;

pub(crate) const PAPER: Paper = Paper {
    name: "Truly one-sided",
    reference: "Lai and Panda: Designing Truly One-Sided MPI-2 RMA Intra-node Communication on Multi-core Systems",
    benches: &[
        wave::WAVE,
        wave::WAVE_SIZES,
        transfers::LATENCY,
        transfers::BANDWIDTH,
        transfers::SCALING,
        transfers::CONTENTION,
        transfers::SKEW,
        transfers::OVERLAP,
        transfers::OFFLOAD,
        transfers::LINES,
        transfers::PRIVATE,
    ],
    entries: entries::ENTRIES,
    figures: figures::FIGURES,
};
