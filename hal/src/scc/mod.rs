//! The backend for boards like the Intel SCC.
//!
//! What needs no such chip is compiled for tests on the host, too.

pub mod registers;

#[cfg(test)]
mod testing;
