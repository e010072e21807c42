//! How long to leave something alone that others want, too.

#[cfg(target_os = "none")]
use core::arch::asm;

#[cfg(target_os = "none")]
use crate::bare::cpu;

/// Rounds of a pause loop that the first waits take at most.
const FIRST: u32 = 8;
/// Rounds that a wait ever takes at most.
const MOST: u32 = 256;

/// Waits that become longer, and differ from core to core, so that cores which failed together do not come back
/// together. As iRCCE polls the board's counters: 8 to 256 rounds, drawn.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    limit: u32,
    random: u32,
}

impl Backoff {
    /// Nothing has failed yet. Cores have seeds of their own.
    pub(crate) const fn new(seed: u32) -> Self {
        Self { limit: FIRST, random: seed.wrapping_mul(0x9E37_79B9) | 1 }
    }

    /// Rounds to wait after a failure.
    pub(crate) fn rounds(&mut self) -> u32 {
        let limit = self.limit;
        self.limit = (2 * limit).min(MOST);
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        limit / 2 + (self.random >> 16) % (limit / 2) + 1
    }

    /// Waits after a failure.
    #[cfg(target_os = "none")]
    pub(crate) fn wait(&mut self) {
        pause(self.rounds());
    }
}

/// Lets a while pass.
#[cfg(target_os = "none")]
pub(crate) fn pause(rounds: u32) {
    pass(rounds);
    // One for all: to a P54C it is nothing, and who runs several cores in turns takes it for the end of a turn.
    cpu::pause();
}

/// Lets a moment pass between two polls that differ in nothing but what they find.
#[cfg(target_os = "none")]
#[inline(always)]
pub(crate) fn pause_between_polls() {
    pass(1);
    cpu::pause_between_polls();
}

/// Lets a while pass, without any access: a store of each round to a line of the stack that no cache has would go to DRAM,
/// and the next poll wait for it.
#[cfg(target_os = "none")]
#[inline(always)]
fn pass(rounds: u32) {
    for round in 0..rounds {
        // SAFETY: no instruction is executed.
        unsafe { asm!("/* {0} */", in(reg) round, options(nomem, nostack, preserves_flags)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_differ() {
        let waits = |seed| {
            let mut backoff = Backoff::new(seed);
            core::array::from_fn::<_, 8, _>(|_| backoff.rounds())
        };
        for seed in 0..48 {
            for (wait, limit) in waits(seed).into_iter().zip([8, 16, 32, 64, 128, 256, 256, 256]) {
                assert!(limit / 2 < wait && wait <= limit, "{wait} of {limit}");
            }
        }
        assert_ne!(waits(0), waits(1));
    }
}
