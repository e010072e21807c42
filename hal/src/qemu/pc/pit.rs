//! The timer of the PC AT, as a measure for the processor's counter.

use core::{
    fmt, hint,
    sync::atomic::{AtomicU32, Ordering},
};

use crate::bare::{cpu, port};

/// Oscillations of the timer's clock in a second.
pub(crate) const HZ: u32 = 1_193_182;

/// What is measured at a time: 10 ms.
const SPAN: u16 = 11_932;
const SAMPLES: usize = 3;

/// How often the timer is looked at before it is given up. A look at a port takes a microsecond.
const MAX_LOOKS: u32 = 1_000_000;
/// Steps of a loop from look to look.
const STEPS: u32 = 200;
/// Cycles of the slowest Pentium in 10 ms, by far: fewer show that nothing was measured.
const FEWEST_CYCLES: u64 = 100_000;

const CHANNEL_2: u16 = 0x42;
const COMMAND: u16 = 0x43;
/// Gates of channel 2 and of the speaker, and what channel 2 puts out.
const GATES: u16 = 0x61;
const GATE: u8 = 1 << 0;
const SPEAKER: u8 = 1 << 1;
const OUTPUT: u8 = 1 << 5;

/// Thousands of ticks of the processor's counter in a second, or 0 where nobody has measured them.
#[unsafe(link_section = ".emulator")]
static KHZ: AtomicU32 = AtomicU32::new(0);

/// Ticks of the processor's counter in a second, where [`measure`] has found them out.
pub(crate) fn cycles_per_second() -> Option<u64> {
    match KHZ.load(Ordering::Relaxed) {
        0 => None,
        khz => Some(u64::from(khz) * 1000),
    }
}

/// What has been found out, in words.
pub(crate) struct Rate;

impl fmt::Display for Rate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match KHZ.load(Ordering::Relaxed) {
            0 => out.write_str("the timer does not run, and a cycle is taken for a nanosecond"),
            khz => write!(out, "the counter makes {} MHz", khz / 1000),
        }
    }
}

/// Measures the processor's counter: the median of some spans, as something may come between.
pub(crate) fn measure() {
    let mut samples = [0; SAMPLES];
    for sample in &mut samples {
        let Some(cycles) = cycles_in_span() else { return };
        *sample = cycles;
    }
    samples.sort_unstable();
    let khz = samples[SAMPLES / 2] * u64::from(HZ) / u64::from(SPAN) / 1000;
    KHZ.store(u32::try_from(khz).unwrap_or(0), Ordering::Relaxed);
}

/// Counts while channel 2 counts down; nothing if it does not.
fn cycles_in_span() -> Option<u64> {
    const COUNT_DOWN_ONCE: u8 = 0b1011_0000;
    // SAFETY: registers of the timer and of the speaker, whose gate stays closed; they do not access memory.
    unsafe {
        let gates = port::in8(GATES);
        port::out8(GATES, gates & !SPEAKER | GATE);
        port::out8(COMMAND, COUNT_DOWN_ONCE);
        port::out8(CHANNEL_2, SPAN as u8);
        port::out8(CHANNEL_2, (SPAN >> 8) as u8);
    }
    let start = cpu::rdtsc();
    for _ in 0..MAX_LOOKS {
        // SAFETY: reading the gates has no effect.
        if unsafe { port::in8(GATES) } & OUTPUT != 0 {
            return Some(cpu::rdtsc().wrapping_sub(start)).filter(|cycles| *cycles >= FEWEST_CYCLES);
        }
        (0..STEPS).for_each(|step| _ = hint::black_box(step));
    }
    None
}
