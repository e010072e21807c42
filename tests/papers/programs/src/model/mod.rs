//! The LogP model of the OC-Bcast paper (Petrović, Shahmirzadi, Ropars and Schiper, SPAA 2012; sections 3 and 5):
//! what puts, gets and broadcasts take on a machine without contention.
//!
//! * [`parameters`]: the paper's Table 1, distances, and what flags cost;
//! * [`transfer`]: lines, puts and gets (Figure 2);
//! * [`oc_bcast`] and [`two_sided`]: the full latency and throughput of each broadcast, with notification and
//!   polling, derived from the description of the protocol;
//! * [`notification`]: the degree of notification trees.
//!
//! This is a model of the protocols, not of Atoll's code, and shares nothing with it. Flags are where the two
//! can differ, so they are a parameter: with [`Setting::PAPER`] each flag is a line as in the paper, with
//! [`Setting::SIGNALS`] flags are packed as Atoll's [signals](::collectives::mpb::signals) are.
//!
//! ```
//! use measurements::model::{OcBcastModel, Setting};
//!
//! let model = OcBcastModel::new(Setting::PAPER, 2);
//! assert_eq!(format!("{:.2} MB/s", model.peak_throughput(48)), "35.22 MB/s");
//! ```

pub mod notification;
pub mod oc_bcast;
pub mod parameters;
pub mod time;
pub mod transfer;
pub mod two_sided;

pub use notification::notification_latency;
pub use oc_bcast::{OcBcastModel, Round};
pub use parameters::{Flags, Parameters, Seen, Setting};
pub use time::{Time, megabytes_per_second};
pub use two_sided::{Allgather, Source, TwoSidedModel};

#[cfg(test)]
mod tests;
