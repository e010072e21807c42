//! The board's atomic counters: beside the registers the only other thing that is atomic between cores.
//!
//! The FPGA beside the SCC has 96 of them (*System FPGA, Architecture and Programming Guide*, 2.8; sccKit 1.4.0 and
//! later), two words each: reading the first returns the counter and raises it by one, writing it lowers it by one;
//! reading the second returns the counter, and writing it sets it. An access leaves the chip, and takes much longer than
//! one to a test-and-set register.

use crate::Topology;

/// Atomic counters, as many as [`Layout::atomic_counters`](crate::Layout::atomic_counters) says: there may be none.
///
/// All panic if there is no such counter. None pushes out what is in the write-combine buffer, or invalidates.
pub trait AtomicCounters: Topology {
    /// Raises a counter by one and returns what it was.
    fn increment_counter(&self, counter: usize) -> u32;

    /// Lowers a counter by one.
    fn decrement_counter(&self, counter: usize);

    /// What a counter is. Who waits for it waits for [`Place::Counter`](crate::Place::Counter).
    fn read_counter(&self, counter: usize) -> u32;

    /// Sets a counter.
    fn set_counter(&self, counter: usize, value: u32);
}
