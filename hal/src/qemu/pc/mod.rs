//! What a PC is made of, apart from its memory: controllers of interrupts, the timer, the screen, the firmware.

pub(crate) mod apic_ids;
pub(crate) mod fw_cfg;
pub(crate) mod interrupt_controllers;
pub(crate) mod lapic;
pub(crate) mod pit;
pub(crate) mod screen;
