//! What the simulator charges a program in C besides its computation: its own loads and stores where L1 does not answer them, and calls of
//! our library.

use super::Sources;
use crate::kernel_line::KernelLine;
use descriptions::{CallPrice, CallPrices, machines::Machine};

impl Sources {
    /// Adds to the words of a program whose computation takes virtual time what that takes on a machine beside the program's own cycles.
    pub(crate) fn prices(&self, words: KernelLine, machine: &Machine, given: &[String]) -> KernelLine {
        /// What the kernel calls them.
        const MEMORY: &str = "private_memory";
        const CALLS: &str = "call_prices";
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
        let prices = CallPrices::measured();
        let calls: Vec<_> =
            prices.all().map(|(name, CallPrice { each, first })| format!("{name}:{each}:{first}")).collect();
        words.value(MEMORY, Some(numbers.join(","))).value(CALLS, Some(calls.join(",")))
    }
}
