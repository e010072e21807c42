//! What a test gets, and how it fails.

use alloc::string::String;
use core::fmt;

use collectives::Comm;
use hal::{Caches, Core, Home};

/// What a test runs with: a rank's view of the machine.
pub struct Context<'t, 'c, C: Core> {
    /// The communicator of all cores.
    pub comm: &'c Comm<'c, C>,
    /// The core's caches.
    pub caches: &'t mut Caches,
    /// Whether all memory is as coherent as a host's, whatever domains the layout has.
    pub all_is_coherent: bool,
}

impl<'c, C: Core> Context<'_, 'c, C> {
    /// The hardware.
    pub fn hal(&self) -> &'c C {
        self.comm.hal()
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.comm.rank()
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.comm.size()
    }

    /// Whether ranks are so many, and the machine so slow, that a part of the sizes, roots and classes stands for all, so
    /// that tests come to their end: from 64 ranks on, and outside the simulator, which does all of 48, from 32 on.
    pub fn has_many_ranks(&self) -> bool {
        self.size() >= if cfg!(target_os = "none") { 32 } else { 64 }
    }

    /// Leaves the arguments of collective operations unchecked, in a test that counts accesses or time, or is about
    /// ranks that run ahead of each other, which they do not where their calls are compared.
    pub fn unchecked(&self) {
        self.comm.check_arguments(false);
    }

    /// Whether this rank and another are cores of one coherence domain.
    pub fn is_near(&self, rank: usize) -> bool {
        let layout = self.hal().layout();
        layout.domain(self.comm.core_of(rank)) == layout.domain(self.hal().core())
    }

    /// Whether loads of memory with this home are always current on this core.
    pub fn is_coherent(&self, home: Home) -> bool {
        let layout = self.hal().layout();
        layout.home_domain(home) == Some(layout.domain(self.hal().core()))
    }
}

/// Why a test failed.
#[derive(Debug)]
pub struct Failed(pub String);

impl fmt::Display for Failed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl<E: core::error::Error> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(alloc::format!("{error}"))
    }
}

/// What a test returns.
pub type Outcome = Result<(), Failed>;

/// Fails the test unless the condition holds.
#[macro_export]
macro_rules! check {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::Failed($crate::format!($($message)+)));
        }
    };
}

/// Fails the test unless both sides are equal.
#[macro_export]
macro_rules! check_eq {
    ($left:expr, $right:expr, $($message:tt)+) => {
        match (&$left, &$right) {
            (left, right) => $crate::check!(
                left == right, "{}: {:?} is not {:?}", ::core::format_args!($($message)+), left, right
            ),
        }
    };
}

/// A byte that depends on its position and a salt, for messages whose every byte is checked.
pub fn pattern(index: usize, salt: usize) -> u8 {
    (index.wrapping_mul(31).wrapping_add(salt.wrapping_mul(101)) ^ (index >> 8)) as u8
}
