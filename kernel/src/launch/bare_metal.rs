//! Bare metal: every core runs this by itself, with statics and a heap of its own. What the image is built for says
//! which backend it has.

use alloc::vec::Vec;
use core::{
    fmt,
    panic::PanicInfo,
    sync::atomic::{AtomicBool, Ordering},
};

use hal::Core;

use crate::{Console, Input, output::Plain};

use super::machine::{self, boot, console, exit};
use super::{Programs, Start, heap, run_rank, trace};

/// The serial line.
struct Serial;

impl Console for Serial {
    fn write(&self, text: fmt::Arguments<'_>) {
        console::write_fmt(text);
    }
}

/// What a core does after the boot; [`image!`](crate::image) calls it.
///
/// # Panics
/// If the core has done so already: its heap is in use.
pub fn core_main<P: Programs>() -> ! {
    static RUNS: AtomicBool = AtomicBool::new(false);
    assert!(!RUNS.swap(true, Ordering::Relaxed), "a core starts once");
    heap::initialise();
    let hal = machine::start_core();
    let inputs: Vec<_> = boot::modules().map(|(name, bytes)| Input { name, bytes }).collect();
    let start = Start { line: words(boot::command_line()), inputs: &inputs, console: &Serial };
    // SAFETY: it is the backend's core of this processor, which has just been started.
    let result = unsafe { run_rank::<P, _>(hal, &start) };
    let tell_trace: &dyn Fn() = &|| trace::tell(hal, start.line, start.console);
    machine::finish(result, trace::is_on(start.line).then_some(tell_trace))
}

/// Bytes of this core's heap.
pub(super) fn heap_bytes(_core: &impl Core, _line: &str) -> usize {
    machine::memory::program_heap_bytes()
}

/// The command line without the path of the image, which some loaders put first and others do not.
fn words(line: &str) -> &str {
    let line = line.trim_ascii_start();
    let first = line.split_ascii_whitespace().next().unwrap_or_default();
    let is_path = first.split('=').next().is_some_and(|key| key.contains('/'));
    if is_path { &line[first.len()..] } else { line }
}

/// Names core, place and message, and ends the machine.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    static PANICKING: AtomicBool = AtomicBool::new(false);
    if PANICKING.swap(true, Ordering::Relaxed) {
        // The report itself panicked.
        exit::exit(false);
    }
    let core = machine::this_core_id().index();
    let message = format_args!("{}", info.message());
    let message = Plain(message);
    match info.location() {
        Some(place) => console::write_urgent(format_args!("core {core} panicked at {place}: {}\n", message)),
        None => console::write_urgent(format_args!("core {core} panicked: {}\n", message)),
    }
    match heap::exhausted(core) {
        // The place above is in the library, which knows nothing of the program that called it.
        Some(exhausted) => {
            // SAFETY: a panic on bare metal unwinds nothing: the machine ends below.
            let spot = unsafe { machine::Spot::here() };
            console::write_urgent(format_args!(
                "core {core}: {exhausted}\n  core {core} was {spot}\n@done failed core {core}: {exhausted}\n"
            ));
        }
        None => console::write_urgent(format_args!("@done failed core {core} panicked\n")),
    }
    exit::exit(false)
}
