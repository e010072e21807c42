//! The lines that programs send to the tools on the host, read: those that begin with `@`, from QEMU's serial line, from
//! the simulator's standard output, or from a file of what was captured.
//!
//! [`console::Console`] takes line after line and leaves a [`console::Transcript`]: text for the user, result files
//! ([`sent_file`]), [findings](finding), [what was asked for](asked_for), what [other runs](explored) have shown, counters, measurements ([`samples`]), traces ([`trace`]), and the program's last word.

pub mod asked_for;
pub mod console;
pub mod explored;
pub mod finding;
pub mod samples;
pub mod sent_file;
pub mod trace;
