//! The backend for the Intel SCC and boards like it: cores without coherence, as they are.
//!
//! What it does on the hardware, and why, refers to numbered facts about the chip that are collected from public software and documents.
//!
//! What needs no such chip is compiled for tests on the host, too.

#[cfg(target_os = "none")]
pub mod map;
pub mod registers;

#[cfg(test)]
mod testing;
