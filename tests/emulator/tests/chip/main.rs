//! What the model of the chip does, rule by rule, and what it refuses.

mod caches;
mod configuration_registers;
mod lookup;
mod mpbt;
mod ports;
mod setup;
