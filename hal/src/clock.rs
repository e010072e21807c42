//! Time and computation.

/// The clock of a core.
pub trait Clock {
    /// Ticks since some moment before the program began; the same moment for all cores.
    ///
    /// In the simulator a tick is a nanosecond of virtual time; under QEMU it counts instructions of all cores together
    /// (a measure of work, not of parallel time); on a board it is the clock of that, which all cores read, or the
    /// core's own time stamp counter where there is none.
    fn now(&self) -> u64;

    /// Ticks in a second.
    fn ticks_per_second(&self) -> u64;

    /// Whether ticks are time. Under QEMU they are not, unless their rate was measured, as on clusters and PCs.
    fn tells_time(&self) -> bool {
        true
    }

    /// Accounts for `cycles` core cycles of computation: costs virtual time in the simulator, nothing where the
    /// computation takes its time by itself. [`p54c`] has the latencies to count with.
    fn compute(&self, cycles: u64);

    /// Accounts for lines of private memory that are read or written and that L1 does not hold, where no operation of
    /// the hardware abstraction reads or writes them: the operands of a reduction, say. Costs virtual time in the
    /// simulator, nothing where the accesses take their time by themselves.
    fn account_memory(&self, lines_read: usize, lines_written: usize);

    /// Accounts for software that is not run here but belongs to what is modelled: costs virtual time in the
    /// simulator on machines that are calibrated with it, nothing elsewhere.
    fn account(&self, software: Software);
}

/// Work of a communication library that a protocol stands for and does not do itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Software {
    /// What the progress engine of a message-based library spends on one packet, whatever is in it: to assemble and
    /// send it, or to receive, match and dispatch it. The transfer itself has prices of its own.
    Packet,
}

/// Latencies of the P54C in cycles (Pentium Processor Family Developer's Manual, volume 3, appendix F).
pub mod p54c {
    /// Floating-point addition or subtraction.
    pub const FADD: u64 = 3;
    /// Floating-point multiplication.
    pub const FMUL: u64 = 3;
    /// Floating-point division in double precision (53 bits).
    pub const FDIV: u64 = 33;
    /// Sine and cosine of an angle: the most that it takes.
    pub const FSINCOS: u64 = 137;
    /// Load of a floating-point value that L1 holds.
    pub const FLOAD: u64 = 1;
    /// Store of a floating-point value.
    pub const FSTORE: u64 = 2;
    /// Simple integer instruction.
    pub const INTEGER: u64 = 1;
    /// Multiplication of 32-bit integers.
    pub const IMUL: u64 = 10;
}
