//! How much memory a guest needs.
//!
//! Every core has a heap and statics of its own, and core 0's is larger because it takes the input apart and puts the
//! result together. The numbers are the ones the kernel lays its memory out by.

use anyhow::{Result, bail};
use std::path::PathBuf;

/// The 64 MiB of shared memory behind four controllers, and 32 MiB for the image and what it starts with.
const BASE_MIB: u64 = SHARED_MIB + 32;

/// The shared memory.
const SHARED_MIB: u64 = 64;

/// What a core has besides its heap and its stack: statics, page tables, private copies of shared memory.
const PER_CORE_KIB: u64 = 896;

/// The stack of a core.
const STACK_KIB: u64 = 256;

/// The heap of a program without input.
const HEAP_KIB: u64 = 4096;

/// What the kernel adds to a trace, for the heap's own account of it.
const TRACE_SLACK_KIB: u64 = 64;

/// A 32-bit PC maps devices above this.
const MOST_MIB: u64 = 3000;

/// Memory of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Heap of every core but the first.
    pub(crate) heap_kib: u64,
    /// Heap of core 0.
    pub(crate) heap0_kib: u64,
    /// Memory of the whole machine.
    pub(crate) memory_mib: u64,
}

impl Plan {
    /// Computes the memory for `cores` cores and input files of `input_bytes` bytes. Given heap sizes win over computed
    /// ones.
    ///
    /// # Errors
    /// When it is more than a 32-bit PC can have.
    pub(crate) fn new(cores: u16, input_bytes: u64, heap_kib: Option<u64>, heap0_kib: Option<u64>) -> Result<Self> {
        let given = [("heap_kib", heap_kib), ("heap0_kib", heap0_kib)];
        let input_kib = input_bytes.div_ceil(1024);
        let [heap_kib, heap0_kib] = heaps(input_bytes, heap_kib, heap0_kib);
        let count = u64::from(cores);
        let others_kib = (PER_CORE_KIB + STACK_KIB) * count;
        let private_kib = heap_kib.saturating_mul(count - 1).saturating_add(heap0_kib).saturating_add(others_kib);
        let memory_mib = BASE_MIB + input_kib.saturating_add(private_kib).div_ceil(1024);
        if memory_mib > MOST_MIB {
            bail!(
                "{} with {input_kib} KiB of input need {memory_mib} MiB of guest memory and a 32-bit PC has {MOST_MIB}: {}",
                crate::cores::cores(cores.into()),
                remedy(cores, input_bytes, given)
            );
        }
        Ok(Self { heap_kib, heap0_kib, memory_mib })
    }

    /// The plan with larger stacks on some cores, where that is more than they have anyway.
    ///
    /// # Errors
    /// When it is more than a 32-bit PC can have.
    pub(crate) fn with_stacks(self, cores: u16, stack_kib: Option<u64>) -> Result<Self> {
        let more_kib = stack_kib.unwrap_or(STACK_KIB).saturating_sub(STACK_KIB).saturating_mul(cores.into());
        let memory_mib = self.memory_mib.saturating_add(more_kib.div_ceil(1024));
        if memory_mib > MOST_MIB {
            bail!(
                "{} with such stacks need {memory_mib} MiB of guest memory and a 32-bit PC has {MOST_MIB}: stack_kib= can be less",
                crate::cores::cores(cores.into())
            );
        }
        Ok(Self { memory_mib, ..self })
    }

    /// This plan with room for a trace of `trace_kib` KiB on each of `cores` cores; the kernel adds it to the heaps.
    ///
    /// # Errors
    /// When it is more than a 32-bit PC can have.
    pub(crate) fn with_traces(self, cores: u16, trace_kib: Option<u64>) -> Result<Self> {
        let Some(trace_kib) = trace_kib else { return Ok(self) };
        let traces_kib = (trace_kib + TRACE_SLACK_KIB).saturating_mul(cores.into());
        let memory_mib = self.memory_mib.saturating_add(traces_kib.div_ceil(1024));
        if memory_mib > MOST_MIB {
            bail!(
                "{} with {trace_kib} KiB of trace each need {memory_mib} MiB of guest memory and a 32-bit PC has \
                 {MOST_MIB}: --trace-kib can be less, or --cores",
                crate::cores::cores(cores.into())
            );
        }
        Ok(Self { memory_mib, ..self })
    }

    /// Memory without what cores share.
    pub(crate) fn private_mib(&self) -> u64 {
        self.memory_mib - SHARED_MIB
    }
}

/// The heaps of every core but the first, and of core 0, in KiB: what the user says, or enough for a program that reads input files of `input_bytes` bytes.
pub(crate) fn heaps(input_bytes: u64, heap_kib: Option<u64>, heap0_kib: Option<u64>) -> [u64; 2] {
    let default = |copies: u64| HEAP_KIB.saturating_add(input_bytes.div_ceil(1024).saturating_mul(copies));
    [heap_kib.unwrap_or_else(|| default(2)), heap0_kib.or(heap_kib).unwrap_or_else(|| default(16))]
}

/// What the user can do about too much memory. When it would be enough without the heaps that he has given, they are
/// it.
fn remedy(cores: u16, input_bytes: u64, given: [(&str, Option<u64>); 2]) -> String {
    let words = given.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", value?)));
    let words = words.collect::<Vec<_>>().join(" ");
    if !words.is_empty() && Plan::new(cores, input_bytes, None, None).is_ok() {
        return format!("{words} is too much; without it there would be enough");
    }
    "use fewer cores or a smaller input".into()
}

/// The most that is noticed little while it is mapped: 384 MiB for a program's own blocks, and the library's part.
const LARGE_KIB: u64 = 392 << 10;

/// The largest heap that every one of `cores` cores can have beside input files of `input_bytes` bytes, in KiB, if that is not
/// more than takes a noticeable time to map.
pub(crate) fn large_heap_kib(cores: u16, input_bytes: u64, stack_kib: Option<u64>) -> u64 {
    let count = u64::from(cores);
    let others_kib = (PER_CORE_KIB + stack_kib.unwrap_or(STACK_KIB).max(STACK_KIB)).saturating_mul(count);
    let all_kib = ((MOST_MIB - BASE_MIB) << 10).saturating_sub(input_bytes.div_ceil(1024)).saturating_sub(others_kib);
    // Parts of a MiB are rounded up twice on the way.
    (all_kib.saturating_sub(2048) / count).clamp(1024, LARGE_KIB)
}

/// Length of all input files together.
pub(crate) fn bytes(inputs: &[PathBuf]) -> u64 {
    inputs.iter().filter_map(|input| input.metadata().ok()).map(|data| data.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_heaps() {
        let plan = Plan::new(48, 0, None, None).unwrap();
        assert_eq!(plan, Plan { heap_kib: 4096, heap0_kib: 4096, memory_mib: 64 + 32 + 48 * 5 + 48 / 8 });
    }

    #[test]
    fn an_input_enlarges_heaps() {
        // 277 365 bytes are 271 KiB rounded up.
        let plan = Plan::new(48, 277_365, None, None).unwrap();
        assert_eq!((plan.heap_kib, plan.heap0_kib), (4096 + 542, 4096 + 4336));
        let kib = 47 * 4638 + 8432 + 48 * 1152 + 271;
        assert_eq!(plan.memory_mib, 96 + u64::div_ceil(kib, 1024));
    }

    #[test]
    fn given_heaps_win() {
        let plan = Plan::new(2, 1 << 20, Some(1024), Some(2048)).unwrap();
        assert_eq!(plan, Plan { heap_kib: 1024, heap0_kib: 2048, memory_mib: 96 + 1 + 1 + 2 + 2 + 1 });
        assert_eq!(Plan::new(2, 0, Some(9000), None).unwrap().heap0_kib, 9000);
    }

    #[test]
    fn a_heap_can_be_large() {
        for (cores, stack_kib) in [(1, None), (2, Some(8192)), (48, Some(8192)), (255, Some(8192)), (255, None)] {
            let heap_kib = large_heap_kib(cores, 12_345, stack_kib);
            let fits = |heap_kib| Plan::new(cores, 12_345, Some(heap_kib), None)?.with_stacks(cores, stack_kib);
            assert!(fits(heap_kib).is_ok(), "{cores}");
            let more = heap_kib + 8192 / u64::from(cores);
            assert!(heap_kib == LARGE_KIB || fits(more).is_err(), "{cores}");
        }
        assert_eq!(large_heap_kib(2, 0, Some(8192)), LARGE_KIB);
    }

    #[test]
    fn larger_stacks_are_added() {
        let plan = || Plan::new(48, 0, None, None).unwrap();
        assert_eq!(plan().with_stacks(48, None).unwrap(), plan());
        assert_eq!(plan().with_stacks(48, Some(64)).unwrap(), plan());
        assert_eq!(plan().with_stacks(48, Some(1280)).unwrap().memory_mib, plan().memory_mib + 48);
        assert!(plan().with_stacks(48, Some(1 << 20)).unwrap_err().to_string().contains("stack_kib="));
    }

    #[test]
    fn traces_are_added() {
        let plan = || Plan::new(48, 0, None, None).unwrap();
        assert_eq!(plan().with_traces(48, None).unwrap(), plan());
        let traced = plan().with_traces(48, Some(960)).unwrap();
        assert_eq!(traced, Plan { memory_mib: plan().memory_mib + 48, ..plan() });
        let message = plan().with_traces(48, Some(1 << 20)).unwrap_err().to_string();
        assert!(message.contains("--trace-kib can be less"), "{message}");
    }

    #[test]
    fn too_much_is_refused() {
        assert!(Plan::new(255, 1 << 20, None, None).is_ok());
        let message = Plan::new(255, 16 << 20, None, None).unwrap_err().to_string();
        assert!(message.contains("255 cores") && message.contains("fewer cores"), "{message}");
        assert!(Plan::new(255, u64::MAX, None, None).is_err());
        assert!(Plan::new(255, 0, Some(u64::MAX), None).is_err());
    }

    #[test]
    fn a_given_heap_that_is_too_large_is_named() {
        let message = |heap, heap0| Plan::new(48, 0, heap, heap0).unwrap_err().to_string();
        assert!(message(Some(99_999), None).contains("heap_kib=99999 is too much"));
        assert!(message(None, Some(9_999_999)).contains("heap0_kib=9999999 is too much"));
        let other = Plan::new(255, 16 << 20, Some(20_000), None).unwrap_err().to_string();
        assert!(other.contains("fewer cores"), "{other}");
    }
}
