//! Programs of some instructions on a board: what cores do, and what ends a run.

mod boards;
mod clock;
mod polls;
mod programs;
mod stops;
