<<<<<<< HEAD
//! The backend for boards like the Intel SCC.
//!
//! What needs no such chip is compiled for tests on the host, too.

pub mod registers;

#[cfg(test)]
mod testing;
=======
//! The backend for the Intel SCC and boards like it: cores without coherence, as they are.
//!
//! What it does on the hardware, and why, refers to numbered facts about the chip that are collected from public software and documents.

pub mod map;
>>>>>>> 253bbd4 (Keep what every backend on bare x86 needs in one place, for the board's to use)
