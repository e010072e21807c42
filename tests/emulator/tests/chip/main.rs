//! What the model of the chip does, rule by rule, and what it refuses.

mod caches;
mod lookup;
mod mpbt;
mod ports;
mod registers;
mod setup;
