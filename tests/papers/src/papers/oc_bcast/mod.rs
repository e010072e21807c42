//! Petrović, Shahmirzadi, Ropars and Schiper, *High-Performance RMA-Based Broadcast on the Intel SCC* (OC-Bcast).

mod broadcast;
mod by_board_clock;
mod claims;
mod entries;
mod figures;
mod measured;
mod mpb;
mod notification;
mod published;
mod tables;

use super::Paper;

pub(crate) const PAPER: Paper = Paper {
    name: "OC-Bcast",
    reference: "Petrović, Shahmirzadi, Ropars and Schiper: High-Performance RMA-Based Broadcast on the Intel SCC",
    benches: &[mpb::MPB, notification::NOTIFICATION, broadcast::BROADCAST, by_board_clock::OC_BCAST],
    entries: entries::ENTRIES,
    figures: figures::FIGURES,
};
