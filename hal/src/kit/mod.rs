//! What every core keeps alike, whatever machine it is of: [`HardwareCore`], which implements all traits of the HAL on top
//! of the few things that a machine says of one core of its [`Hardware`].
//!
//! A core keeps account of its stores to lines, its views, what it exposes and maps, and its operations; it counts, and it
//! decides when a handler of interrupts may run. Machines that have this in common behave and count alike by construction.
//! The emulated machine and the SCC are two of them.

mod account;
mod announcement;
mod cached;
pub mod deadlock;
mod deferral;
mod event;
mod exposed;
mod exposures;
mod hardware;
mod lines;
mod mappings;
#[cfg(feature = "sim")]
pub mod panics;
mod pieces;
mod runs;
mod slices;
mod terms;
mod time;
mod tracer;
mod tracing;
mod uncached;
mod views;
mod waits;

use crate::{CoreId, Layout, Topology};

pub use self::{
    account::Account,
    announcement::Announcement,
    event::{Event, LoadedFor, Upkeep},
    exposed::map,
    exposures::{Exposures, MAX_EXPOSURES, PAGE_BYTES},
    hardware::{
        CachedMemory, CombinedLines, ExposedMemory, Hardware, Hooks, Registers, Signals, Ticks, Turns, UncachedWords,
    },
    mappings::Slot,
    runs::mask_of,
    slices::{Conflict, Slices},
    terms::{CounterAccess, Expense, Transfer, Watch, Woken, WordCall},
    tracer::{Spot, Tracer},
    tracing::Noting,
};

use self::deferral::Deferral;
#[cfg(any(feature = "qemu", feature = "sim"))]
pub(crate) use self::slices::Under;

/// A core on top of its hardware.
#[repr(C)]
pub struct HardwareCore<H: Hardware> {
    deferral: Deferral<Self>,
    hardware: H,
}

impl<H: Hardware> HardwareCore<H> {
    /// The core that has this hardware.
    pub fn new(hardware: H) -> Self {
        Self { hardware, deferral: Deferral::default() }
    }

    /// What is below. Nobody else's: it is called within operations only, and without the checks that the core makes
    /// before, safe code could end another's exposure or slice.
    ///
    /// ```compile_fail,E0624
    /// # use hal::{Region, kind, kit::{ExposedMemory, Hardware, HardwareCore}};
    /// fn behind_its_back<H: Hardware>(core: &HardwareCore<H>, exposed: Region<kind::Cached>) {
    ///     let _ = core.hardware().conceal(exposed);
    /// }
    /// ```
    #[allow(dead_code, reason = "without features there is no machine of hal's own, which alone looks below")]
    pub(crate) fn hardware(&self) -> &H {
        &self.hardware
    }
}

impl<H: Hardware> Topology for HardwareCore<H> {
    fn core(&self) -> CoreId {
        self.hardware.core()
    }

    fn layout(&self) -> &Layout {
        self.hardware.layout()
    }

    fn machine(&self) -> u64 {
        self.hardware.machine()
    }
}
