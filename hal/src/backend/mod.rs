//! What cores have in common, emulated or not: how they count, which views and exposures they have, which slots of the
//! lookup table they have pointed where, and when an interrupt handler may run.
//!
//! Backends that share this behave and count alike by construction.

pub(crate) mod deadlock;
pub(crate) mod deferral;
pub(crate) mod exposures;
pub(crate) mod mappings;
pub(crate) mod pieces;
pub(crate) mod runs;
pub(crate) mod transfers;
pub(crate) mod views;
