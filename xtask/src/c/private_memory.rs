//! What a program's own loads and stores take in the simulator where L1 does not answer them.

use super::Sources;
use crate::kernel_line::KernelLine;
use descriptions::machines::Machine;

impl Sources {
    /// Adds to the words of a program whose computation takes virtual time what its accesses to private memory take on a machine, as
    /// hardware takes it.
    pub(crate) fn private_memory(&self, words: KernelLine, machine: &Machine, given: &[String]) -> KernelLine {
        /// What the kernel calls it.
        const WORD: &str = "private_memory";
        if !self.options.priced {
            return words;
        }
        let values = machine.kind.file().values;
        let number = |key| values.number(key);
        let cycles_ps = |cycles: u64| cycles * 1_000_000 / number("prices.core_mhz");
        let hop_ps = number("prices.hop_ps");
        let line_ps = cycles_ps(number("hardware.dram_cycles"));
        // The nearest distance at which words were measured; controllers are near.
        let nearest = values.pairs("prices.word_cycles").first().copied().unwrap_or_default();
        let word_ps = cycles_ps(nearest[1]).saturating_sub(2 * nearest[0] * hop_ps);
        let stack_kib = self.words(given).iter().find_map(|word| word.strip_prefix("stack_kib=").map(str::to_owned));
        let numbers = [
            cycles_ps(number("hardware.l2_cycles")),
            line_ps + number("hardware.dram_read_ps"),
            line_ps + number("hardware.dram_write_ps"),
            word_ps,
            hop_ps,
        ];
        let numbers: Vec<_> = numbers.iter().map(u64::to_string).chain(stack_kib).collect();
        words.value(WORD, Some(numbers.join(",")))
    }
}
