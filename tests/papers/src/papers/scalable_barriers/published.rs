//! Numbers of the paper's text. Eq. 2 and its extrapolations are in [`scaling`](super::scaling).

/// Threads of a node, of figures 3 and 5.
pub(crate) const THREADS: u64 = 16;

/// Nodes of the paper's cluster: what is measured up to it is fitted, and extrapolated beyond, as in the paper.
pub(crate) const NODES: u64 = 64;

/// Microseconds of a load from another node (IV.B), from the own node over the engine (IV.C), and from another node with
/// an ASIC (IV.C).
pub(crate) const FAR: f64 = 1.89;
pub(crate) const NEAR: f64 = 1.21;
pub(crate) const FAR_WITH_ASIC: f64 = 0.534;

/// Microseconds of the central barrier of [`THREADS`] through one engine, with the FPGA (Fig. 5) and the ASIC (IV.C).
pub(crate) const CENTRAL: f64 = 94.0;
pub(crate) const CENTRAL_WITH_ASIC: f64 = 43.0;

/// Microseconds of a barrier of [`THREADS`] in a node's own memory (IV.B, Fig. 3).
pub(crate) const LOCAL: f64 = 5.0;

/// Microseconds on 8 nodes of 8 cores, less than which the barrier takes; on [`NODES`] of one core; and on as many of 16
/// cores, less than that (V.B).
pub(crate) const ON_8_OF_8: f64 = 6.0;
pub(crate) const ON_64_OF_1: f64 = 11.0;
pub(crate) const ON_64_OF_16: f64 = 15.0;

/// Nodes from which on the engine at the master of the flat barrier is congested (V.B).
pub(crate) const CONGESTED_NODES: u64 = 40;

/// The least coefficient of determination of logarithmic growth, and that of linear growth (VI.A).
pub(crate) const LOGARITHMIC: f64 = 0.98;
pub(crate) const LINEAR: f64 = 0.88;
